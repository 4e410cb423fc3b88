"""A session as of one revision, for whoever asks about the past: decisions, the model, the optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeVar

import msgspec

from controllers.log.store import Store, Stored
from controllers.scheduler.settings import NAME, RESOURCE, Settings
from controllers.scheduler.views import Kept, Views
from controllers.scheduler.watching import WATCHED
from scheduler_core.api.errors import ApiError
from scheduler_core.api.meta import parsed
from scheduler_core.api.node import Node
from scheduler_core.api.pod import Pod
from scheduler_core.api.quantity import QuantityError
from scheduler_core.api.requests import amounts
from scheduler_core.scheduler.replay import Seen
from scheduler_core.snapshot.node_info import PodInfo

_View = TypeVar("_View")
_OTHERS: Final = WATCHED - {"nodes", "pods", RESOURCE}


class Past:
    """What a request reads of one revision, each kind when it is first asked for and no more than once.

    It is `framework.Listers` over the kinds that plugins read. `at` leads to other revisions of the same session; what
    has not changed in between is not read into views again, nor what `views` has of earlier requests. Everything that
    reads raises `Gone` where the revision is compacted.
    """

    def __init__(self, store: Store, revision: int | None = None, views: Views | None = None) -> None:
        """Read nothing yet.

        Args:
            store: the session's.
            revision: as of which; None: the newest.
            views: those that a process keeps between its requests; None: this one's own.
        """
        self.store = store
        self.revision = store.revision if revision is None else revision
        self._lists: dict[str, Mapping[tuple[str, str], Mapping[str, Any]]] = {}
        self._known: dict[int, Past] = {self.revision: self}
        self._views = Views() if views is None else views
        self._kept: Mapping[int, Kept] = {}

    def at(self, revision: int) -> Past:
        """Return the session as of another revision."""
        found = self._known.get(revision)
        if found is None:
            found = self._known[revision] = Past(self.store, revision, self._views)
            found._known = self._known
        return found

    @cached_property
    def nodes(self) -> Sequence[Node]:
        """Return the nodes, in order of name; without those that no scheduler can read."""
        found = (self._view(stored, _node) for stored in self._stored["nodes"])
        return tuple(node for node in found if node is not None)

    @cached_property
    def pods(self) -> Sequence[PodInfo]:
        """Return the pods, in order of namespace and name; without those that no scheduler can read."""
        found = (self._view(stored, _pod) for stored in self._stored["pods"])
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
        stored = next((one for one in self._stored[RESOURCE] if one.name == NAME), None)
        plugins = self.store.plugins
        if stored is None:
            return Settings.of(None, plugins)
        # What is installed is the process's, so that one reading holds for all its requests.
        return self._view(stored, lambda data: Settings.of(msgspec.json.decode(data).get("spec"), plugins))

    def list(self, resource: str) -> Sequence[Mapping[str, Any]]:
        """Return all documents of a kind that plugins read."""
        return tuple(self._read(resource).values())

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return one document."""
        return self._read(resource).get((namespace, name))

    @cached_property
    def _stored(self) -> Mapping[str, Sequence[Stored]]:
        """Everything that an attempt sees: whoever asks for some of it needs the rest, and the log is read once."""
        self._kept = self._views.known(self.store.scope)
        return self.store.lists_at(WATCHED, self.revision, self._kept)

    def _view(self, stored: Stored, read: Callable[[bytes], _View]) -> _View:
        return self._views.of(self.store.scope, stored, read, self._kept)

    def _read(self, resource: str) -> Mapping[tuple[str, str], Mapping[str, Any]]:
        if resource not in _OTHERS:
            return {}
        found = self._lists.get(resource)
        if found is None:
            stored = self._stored[resource]
            found = self._lists[resource] = {
                (one.namespace, one.name): self._view(one, msgspec.json.decode) for one in stored
            }
        return found


def _node(data: bytes) -> Node | None:
    try:
        node = parsed(data, Node)
        amounts(node.status.allocatable)
    except (ApiError, QuantityError):
        return None
    return node


def _pod(data: bytes) -> PodInfo | None:
    try:
        info = PodInfo(parsed(data, Pod))
        _ = info.requests
    except (ApiError, QuantityError):
        return None
    return info
