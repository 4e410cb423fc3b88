"""A lesson played headless, deterministically, over a cluster in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from controllers.bootstrap import initial_objects
from controllers.cluster import Cluster, found
from controllers.lesson.performing import Performer
from controllers.lesson.scripts import actions
from controllers.log.memory import DEFAULT_EPOCH_MS, MemoryStore
from controllers.predicates import View
from scheduler_core.api.document import Document
from scheduler_core.framework.registry import PluginRegistry

EVENTS_PER_SECOND: Final = 1_000
"""Events of the loop that a run gets for each real second that it may take: what a slow worker makes of a small
session. Counted, so that a lesson that plays here in time does so everywhere."""

_SLICE_EVENTS: Final = 50


class TooLong(Exception):
    """A script takes more events than there may be."""


class Player:
    """One session in memory on which scripts are performed."""

    def __init__(
        self,
        *,
        seed: int,
        replicas: int,
        pace: int,
        plugins: PluginRegistry | None = None,
        events_max: int | None = None,
    ) -> None:
        """Make the session; nothing is on it yet.

        Args:
            seed: chance is drawn from it.
            replicas: of the scheduler and of the controller manager, each.
            pace: simulated milliseconds that a scheduling cycle spends at each extension point.
            plugins: scheduler plugins that are installed beside the in-tree ones.
            events_max: events of the loop that may run; None: any number.
        """
        self.store = MemoryStore(seed=seed, epoch_ms=DEFAULT_EPOCH_MS, plugins=plugins)
        for result in found(self.store, initial_objects(replicas=replicas, pace=pace)):
            if result.error is not None:
                raise result.error
        self.cluster = Cluster(self.store)
        self.cluster.start()
        self._performer = Performer(self.cluster)
        self.events = 0
        """Events of the loop that have run, waits in which nothing was due counted as many."""
        self._events_max = events_max
        self._obey()

    def play(self, script: Sequence[Document], path: str) -> str:
        """Perform a script; return why it did not come to its end, empty where it did.

        Raises:
            TooLong: more events than there may be.
        """
        performer = self._performer
        performer.begin(actions(script, path))
        while performer.busy:
            performer.go_on()
            self._obey()
            while self.cluster.clock.runs_on:
                self._run()
        return performer.error

    def view(self) -> View:
        """Return what predicates look at now."""
        return self._performer.view()

    @property
    def now_ms(self) -> int:
        """Return session milliseconds."""
        return self.cluster.now_ms

    def _run(self) -> None:
        if self._events_max is not None and self.events > self._events_max:
            raise TooLong(f"it takes more than {self._events_max} events: play it with manage.py lesson check")
        cluster = self.cluster
        for _ in range(_SLICE_EVENTS):
            due_ms = cluster.next_event_ms()
            ran = 0 if due_ms is None else cluster.run_tick(due_ms)
            # With nothing to do at all a run comes to its end, too.
            self.events += ran or EVENTS_PER_SECOND
            if not cluster.clock.runs_on:
                break
        self._obey()

    def _obey(self) -> None:
        self.cluster.pull()
        self.cluster.obey(DEFAULT_EPOCH_MS + self.events * 1000 // EVENTS_PER_SECOND)
