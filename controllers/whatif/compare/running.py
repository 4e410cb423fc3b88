"""One side of a comparison: the control plane itself over the input, in memory, until nothing moves any more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from controllers.bootstrap import CONTROLLER_MANAGER, SCHEDULER, initial_objects
from controllers.cluster import Cluster, found
from controllers.flags.table import NAME as FLAGS_NAME
from controllers.log.memory import MemoryStore
from controllers.log.store import DELETED, Event, Store
from controllers.registry.context import SESSION
from controllers.whatif.compare.inputs import PODS, Given
from scheduler_core.api.document import Document
from scheduler_core.framework.registry import PluginRegistry

QUIET_MS: Final = 60_000
"""A side has come to rest when its scheduler has written nothing about any pod for so long: longer than a pod backs
off, and than a victim's grace."""

LONGEST_MS: Final = 3_600_000
"""Simulated milliseconds after the last arrival at which a side ends that never rests."""

EVENTS_AT_ONCE: Final = 50
"""Events of the loop between two looks at whether to go on."""

VOLUMES: Final = "persistentvolume,volume-provisioner,ephemeral-volume"
"""Controllers that run beside the scheduler: those without which a pod with a claim is never bound. No other: what
would make or delete pods would give each side pods of its own."""

_PREEMPTED: Final = "PreemptionByScheduler"


@dataclass(slots=True)
class Played:
    """What became of one side.

    Attributes:
        store: what it wrote.
        at_rest: it was not stopped before nothing moved any more.
        end_ms: simulated milliseconds since the beginning.
        came: uid → when the pod came.
        bound: uid → node, and when the pod was bound to it.
        evicted: uids of all pods that were preempted, in order.
        gone: uids of pods that are no longer there.
    """

    store: Store
    at_rest: bool = False
    end_ms: int = 0
    came: dict[str, int] = field(default_factory=dict)
    bound: dict[str, tuple[str, int]] = field(default_factory=dict)
    evicted: dict[str, None] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)


def play(
    given: Given,
    spec: Document,
    *,
    seed: int,
    plugins: PluginRegistry | None = None,
    go_on: Callable[[], bool] = lambda: True,
) -> Played:
    """Run one side.

    Args:
        given: the input.
        spec: of the scheduler.
        seed: chance is drawn from it.
        plugins: those of installed packages.
        go_on: asked between events; when it says no, the side ends where it is.
    """
    store = MemoryStore(seed=seed, epoch_ms=given.epoch_ms, plugins=plugins)
    begin(store, given, spec)
    cluster = Cluster(store)
    cluster.obeys_pause = False
    played = Played(store, came=dict.fromkeys(given.played, 0) | _coming(given))
    cluster.start()
    heard, active_ms = store.revision, 0
    coming = list(reversed(given.arrivals))
    while go_on():
        next_ms = cluster.next_event_ms()
        if coming and (next_ms is None or coming[-1].at_ms <= next_ms):
            # With all that stands at the same moment, in one go.
            at_ms = active_ms = coming[-1].at_ms
            cluster.advance(at_ms)
            while coming and coming[-1].at_ms == at_ms:
                _put(store, PODS, coming.pop().pod)
            continue
        resting_ms = min(active_ms + QUIET_MS, LONGEST_MS + (given.arrivals[-1].at_ms if given.arrivals else 0))
        until_ms = coming[-1].at_ms if coming else resting_ms
        cluster.advance(until_ms, max_events=EVENTS_AT_ONCE)
        while rows := store.events(heard):
            heard = rows[-1].revision
            written = [row.now_ms for row in rows if row.resource == PODS and _take(played, row)]
            active_ms = max(active_ms, *written) if written else active_ms
        settled = all(uid in played.bound or uid in played.gone for uid in given.played)
        if not coming and (settled or cluster.now_ms >= resting_ms):
            played.at_rest = True
            break
    played.end_ms = cluster.now_ms
    return played


def _coming(given: Given) -> dict[str, int]:
    return {arrival.pod["metadata"]["uid"]: arrival.at_ms for arrival in given.arrivals}


def begin(store: MemoryStore, given: Given, spec: Document) -> None:
    """Write what a side begins with: the control plane's own objects and what is given, but for arrivals."""
    claims = any(resource == "persistentvolumeclaims" for resource, _ in given.objects)
    documents = [
        document
        for document in initial_objects(pace=given.pace, scheduler=spec)
        if claims or not document["metadata"]["name"].startswith(CONTROLLER_MANAGER)
    ]
    flags = {component: dict(section) for component, section in given.flags.items()}
    # One replica of each: nobody to elect among.
    for component in (SCHEDULER, CONTROLLER_MANAGER):
        flags.setdefault(component, {})["leader-elect"] = "false"
    flags[CONTROLLER_MANAGER]["controllers"] = VOLUMES
    in_force = {"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": FLAGS_NAME}, "spec": flags}
    documents.append(in_force)
    for result in found(store, documents):
        if result.error is not None:
            raise result.error
    with store.transaction(SESSION) as transaction:
        for resource, document in given.objects:
            metadata = document["metadata"]
            transaction.put(resource, metadata.get("namespace") or "", metadata["name"], document)


def _put(store: MemoryStore, resource: str, document: Document) -> None:
    metadata = document["metadata"]
    with store.transaction(SESSION) as transaction:
        transaction.put(resource, metadata.get("namespace") or "", metadata["name"], document)


def _take(played: Played, row: Event) -> bool:
    """Note what a row tells of a pod; return whether a scheduler wrote it."""
    if row.verb == DELETED:
        played.gone.add(row.uid)
        return False
    pod = row.object
    node = pod["spec"].get("nodeName")
    if node and row.uid in played.came and row.uid not in played.bound:
        played.bound[row.uid] = node, row.now_ms
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition["type"] == "DisruptionTarget" and condition.get("reason") == _PREEMPTED:
            played.evicted.setdefault(row.uid)
    return row.actor.startswith(SCHEDULER)
