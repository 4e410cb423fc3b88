"""A session as of one revision, for whoever asks about the past: decisions, the model, the optimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from controllers.log.store import Store, Stored
from controllers.scheduler.settings import NAME, RESOURCE, Settings
from controllers.scheduler.watching import WATCHED
from scheduler_core.api.errors import ApiError
from scheduler_core.api.meta import parsed
from scheduler_core.api.node import Node
from scheduler_core.api.pod import Pod
from scheduler_core.api.quantity import QuantityError
from scheduler_core.api.requests import amounts
from scheduler_core.scheduler.replay import Seen
from scheduler_core.snapshot.node_info import PodInfo

_OTHERS: Final = WATCHED - {"nodes", "pods", RESOURCE}


class Past:
    """What a request reads of one revision, each kind when it is first asked for and no more than once.

    It is `framework.Listers` over the kinds that plugins read. `at` leads to other revisions of the same session; what
    has not changed in between is not read into views again. Everything that reads raises `Gone` where the revision is
    compacted.
    """

    def __init__(self, store: Store, revision: int | None = None) -> None:
        """Read nothing yet.

        Args:
            store: the session's.
            revision: as of which; None: the newest.
        """
        self.store = store
        self.revision = store.revision if revision is None else revision
        self._lists: dict[str, Mapping[tuple[str, str], Mapping[str, Any]]] = {}
        self._known: dict[int, Past] = {self.revision: self}
        self._nodes: dict[int, Node | None] = {}
        self._pods: dict[int, PodInfo | None] = {}
        self._settings: dict[int, Settings] = {}

    def at(self, revision: int) -> Past:
        """Return the session as of another revision."""
        found = self._known.get(revision)
        if found is None:
            found = Past(self.store, revision)
            found._known, found._nodes, found._pods = self._known, self._nodes, self._pods
            found._settings = self._settings
            self._known[revision] = found
        return found

    @cached_property
    def nodes(self) -> Sequence[Node]:
        """Return the nodes, in order of name; without those that no scheduler can read."""
        found = (self._node(stored) for stored in self.store.list_at("nodes", self.revision))
        return tuple(node for node in found if node is not None)

    @cached_property
    def pods(self) -> Sequence[PodInfo]:
        """Return the pods, in order of namespace and name; without those that no scheduler can read."""
        found = (self._pod(stored) for stored in self.store.list_at("pods", self.revision))
        return tuple(info for info in found if info is not None)

    @cached_property
    def seen(self) -> Seen:
        """Return nodes and pods as attempts that saw this revision are replayed on them."""
        return Seen(self.nodes, self.pods)

    @cached_property
    def settings(self) -> Settings:
        """Return the scheduler's configuration.

        Raises:
            ApiError: 422, the plugins that are installed now cannot run it.
        """
        stored = next((one for one in self.store.list_at(RESOURCE, self.revision) if one.name == NAME), None)
        version = 0 if stored is None else stored.revision
        if version not in self._settings:
            spec = None if stored is None else stored.object.get("spec")
            self._settings[version] = Settings.of(spec, self.store.plugins)
        return self._settings[version]

    def list(self, resource: str) -> Sequence[Mapping[str, Any]]:
        """Return all documents of a kind that plugins read."""
        return tuple(self._read(resource).values())

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return one document."""
        return self._read(resource).get((namespace, name))

    def _read(self, resource: str) -> Mapping[tuple[str, str], Mapping[str, Any]]:
        if resource not in _OTHERS:
            return {}
        found = self._lists.get(resource)
        if found is None:
            stored = self.store.list_at(resource, self.revision)
            found = self._lists[resource] = {(one.namespace, one.name): one.object for one in stored}
        return found

    def _node(self, stored: Stored) -> Node | None:
        if stored.revision not in self._nodes:
            try:
                node = parsed(stored.data, Node)
                amounts(node.status.allocatable)
                self._nodes[stored.revision] = node
            except (ApiError, QuantityError):
                self._nodes[stored.revision] = None
        return self._nodes[stored.revision]

    def _pod(self, stored: Stored) -> PodInfo | None:
        if stored.revision not in self._pods:
            try:
                info = PodInfo(parsed(stored.data, Pod))
                _ = info.requests
                self._pods[stored.revision] = info
            except (ApiError, QuantityError):
                self._pods[stored.revision] = None
        return self._pods[stored.revision]
