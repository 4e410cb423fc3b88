"""What the components watch: lists, watch events, how far behind each is, 410 and when it lists again.

Nothing of it is stored: it is read off the living components when somebody asks. Source of the words: client-go
`tools/cache/reflector.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controllers.commands import SESSION
from controllers.inside import behind_of
from controllers.kit.informer import Informed, Informers
from controllers.leaderelection.replica import Replica
from controllers.loop.loop import Loop, Slot
from controllers.registry.kind import CLUSTERSIM_GROUP
from scheduler_core.api.document import Document

_MACHINERY: Final = frozenset({SESSION, "replay"})
"""Components of the simulator, which no cluster has."""


def watches(loop: Loop) -> list[Document]:
    """Return what each component of the cluster watches, in the order in which they were added.

    Each has `name`, `count` (of a component that runs on every node: how many), `running`, `connected` (its watch is on
    its way), `lateMs`, `revision` (what it has heard), `lag` (revisions of its own resources that it has not; null: the
    log no longer reaches back), `gones`, `relistAtMs` (simulated milliseconds; null: no list is due after a 410),
    `pollMs` (how often one that polls lists, simulated milliseconds; 0: it watches) and `resources`.
    """
    return [_told(loop, slot) for slot in loop.slots.values() if slot.name not in _MACHINERY]


def _told(loop: Loop, slot: Slot) -> Document:
    informers = _informers(slot)
    late = {} if informers is None else behind_of(loop.store, slot, informers)
    # Who polls lists again and again; that is no answer to a 410.
    due = (
        []
        if informers is None
        else [one.list_at_ms for name, one in informers.reflectors.items() if not informers.polls(name)]
    )
    list_at_ms = min((at_ms for at_ms in due if at_ms is not None), default=None)
    return {
        "name": slot.name,
        "count": len(loop.store.list("nodes")[0]) if slot.name in _ON_EACH_NODE else 1,
        "running": slot.running and informers is not None,
        "connected": slot.link.watch and slot.link.runs and not slot.stale,
        "lateMs": slot.link.late_ms,
        "revision": slot.position,
        "lag": None if late is None else sum(late.values()),
        "gones": 0 if informers is None else informers.gones,
        "relistAtMs": None if list_at_ms is None else slot.clock.world(list_at_ms),
        "pollMs": 0 if informers is None else informers.poll_ms,
        "resources": [] if informers is None else _resources(informers, late),
    }


_ON_EACH_NODE: Final = frozenset({"kubelet", "kube-proxy"})


def _resources(informers: Informers, late: Mapping[str, int] | None) -> list[Document]:
    return [
        {
            "resource": resource,
            "rows": len(informers[resource]),
            "revision": reflector.revision,
            "lag": None if late is None else late.get(resource, 0),
            "lists": reflector.lists,
            "listedObjects": reflector.objects,
            "watchEvents": reflector.rows,
        }
        for resource, reflector in informers.reflectors.items()
        # Of the session's own commands no component of a real cluster would hear.
        if not resource.endswith(f".{CLUSTERSIM_GROUP}")
    ]


def _informers(slot: Slot) -> Informers | None:
    """Return the copies of a component that has begun; those of a replica are its inner component's."""
    component: object = slot.component
    if isinstance(component, Replica):
        component = component.inner if component.running else None
    return component.informers if isinstance(component, Informed) else None
