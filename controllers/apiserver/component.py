"""What API servers do beside answering: they keep the Service `kubernetes` and its endpoints, one address each.

Source: pkg/controlplane (controller/kubernetesservice/controller.go, reconcilers/lease.go), v1.34. Upstream looks every
ten seconds; here what could have changed plans one look, so that an idle session is left alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from controllers.apiserver.documents import api_server
from controllers.kinds.coordination.apiservers import API_SERVER, EXPIRES_MS, api_servers, components_of
from controllers.kit.informer import RELIST_TIMER, Informers
from controllers.log.operations import Create, Update
from controllers.log.store import Event
from controllers.loop.loop import Answer, Tick
from scheduler_core.api.document import Document

INTERVAL_MS: Final = 10_000
"""How long what is wrong may stand (EndpointReconcilerInterval)."""

NODES: Final = "nodes"
KEPT: Final = ("services", "endpoints", "endpointslices.discovery.k8s.io")
_HOME: Final = "default"
_SERVICE: Final = "kubernetes"
_LOOK: Final = "look"


class ApiServers:
    """`Component` of all API servers of a session: they would all write the same."""

    resources = frozenset({NODES, *KEPT})

    def __init__(self) -> None:
        """Begin with empty memory."""
        self._informers = Informers(self.resources, identity=API_SERVER)
        self._due_ms: int | None = None
        self._changed = False
        self._informers[NODES].add_handler(self._node_changed)
        for resource in KEPT:
            self._informers[resource].add_handler(self._kept_changed)

    def _node_changed(self, old: Document | None, new: Document | None) -> None:
        if any(document is not None and components_of(document) for document in (old, new)):
            self._changed = True

    def _kept_changed(self, old: Document | None, new: Document | None) -> None:
        metadata = (new or old or {})["metadata"]
        if (metadata.get("namespace"), metadata["name"]) == (_HOME, _SERVICE):
            self._changed = True

    @property
    def informers(self) -> Informers | None:
        """Return its copies of what it watches."""
        return self._informers

    # -- Component ----------------------------------------------------------------------------------------------

    def start(self, tick: Tick) -> None:
        """Put right what is wrong at once."""
        self._informers.start(tick)
        self._look(tick)

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Take watch rows."""
        self._informers.observe(rows)
        self._plan(tick)

    def observe_gone(self, tick: Tick) -> None:
        """List again, after a wait."""
        self._informers.observe_gone(tick)

    def settle(self, answers: Sequence[Answer], tick: Tick) -> None:
        """What was refused is looked at again."""
        self._changed = self._changed or any(answer.result.error is not None for answer in answers)
        self._plan(tick)

    def fire(self, timer: Hashable, tick: Tick) -> None:
        """List again, or look."""
        if timer == RELIST_TIMER:
            self._informers.relist(tick)
            self._plan(tick)
        else:
            self._look(tick)

    # -- the endpoints ------------------------------------------------------------------------------------------

    def _plan(self, tick: Tick) -> None:
        """Look within an interval, if something has changed; later again where a machine's time runs out."""
        if self._changed:
            self._changed = False
            # What is right already needs no look: an own write comes back here too.
            if self._wrong(tick):
                tick.plan(_LOOK, tick.now_ms + INTERVAL_MS)
            elif (ends_ms := self._next_end_ms(tick)) is not None:
                tick.plan(_LOOK, ends_ms)

    def _look(self, tick: Tick) -> None:
        for operation in self._wrong(tick):
            tick.emit(operation)
        ends_ms = self._next_end_ms(tick)
        if ends_ms is not None:
            tick.plan(_LOOK, ends_ms)

    def _next_end_ms(self, tick: Tick) -> int | None:
        """Return when the next silent machine is an endpoint no more."""
        servers = api_servers(self._informers[NODES].all(), tick.epoch_ms)
        ends = [one.stopped_ms + EXPIRES_MS - tick.epoch_ms for one in servers if one.stopped_ms is not None]
        return min((end for end in ends if end > tick.now_ms), default=None)

    def _wrong(self, tick: Tick) -> list[Create | Update]:
        """Return what has to be written so that the Service and its endpoints are as they should be."""
        now_ms = tick.epoch_ms + tick.now_ms
        alive = [
            one
            for one in api_servers(self._informers[NODES].all(), tick.epoch_ms)
            if one.stopped_ms is None or now_ms < one.stopped_ms + EXPIRES_MS
        ]
        if not alive or tick.get("namespaces", "", _HOME) is None:
            # Nobody is left who could change anything.
            return []
        found: list[Create | Update] = []
        for resource, wanted in zip(KEPT, api_server([one.address for one in alive]), strict=True):
            present = self._informers[resource].get(_HOME, _SERVICE)
            if present is None:
                found.append(Create(resource, _HOME, wanted))
            elif resource != KEPT[0] and any(present.get(key) != wanted[key] for key in _PARTS[resource]):
                changed = {**present, **{key: wanted[key] for key in _PARTS[resource]}}
                found.append(Update(resource, _HOME, _SERVICE, changed))
        return found


_PARTS: Final = {"endpoints": ("subsets",), "endpointslices.discovery.k8s.io": ("endpoints", "ports")}
