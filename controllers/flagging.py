"""Flags as the owner obeys them: read from the command object, handed to the components, told in its status."""

from __future__ import annotations

from collections.abc import Callable

from controllers.commands import SESSION, generation_of, status_of
from controllers.flags.flag import InForce
from controllers.flags.table import NAME as FLAGS_NAME
from controllers.flags.table import RESOURCE as FLAGS
from controllers.flags.table import read_flags
from controllers.kit.client import Client
from controllers.log.operations import Patch
from controllers.log.store import Store
from controllers.loop.component import Flagged
from controllers.loop.loop import Loop
from scheduler_core.api.document import Document


class Flagging:
    """Obeys the flags of one session."""

    def __init__(
        self, store: Store, loop: Loop, client: Client, in_force: InForce, place: Callable[[], Document]
    ) -> None:
        """Obey nothing yet.

        Args:
            store: holds the command object.
            loop: whose components are told.
            client: writes its status.
            in_force: what components were handed.
            place: returns the present place in the loop's run.
        """
        self._store = store
        self._loop = loop
        self._client = client
        self._in_force = in_force
        self._place = place
        self._generation = 0

    def take_up(self) -> None:
        """Begin with the flags that are set."""
        stored = self._store.get(FLAGS, "", FLAGS_NAME)
        if stored is not None:
            self._in_force.current = read_flags(stored.object.get("spec"))
            self._generation = int(status_of(stored.object).get("observedGeneration") or 0)

    def obey(self) -> None:
        """Obey a new generation, and say so."""
        stored = self._store.get(FLAGS, "", FLAGS_NAME)
        if stored is None or generation_of(stored.object) == self._generation:
            return
        place = self._place()
        self.change(stored.object)
        patch = {"status": {"observedGeneration": self._generation, "engine": place}}
        self._client.apply(Patch(FLAGS, "", FLAGS_NAME, patch, "merge", "status"), SESSION)

    def change(self, document: Document) -> None:
        """Let the flags of a document be in force."""
        self._generation = generation_of(document)
        self._in_force.current = read_flags(document.get("spec"))
        for slot in self._loop.slots.values():
            component: object = slot.component
            if isinstance(component, Flagged):
                component.flags_changed(self._loop.tick_of(slot))
