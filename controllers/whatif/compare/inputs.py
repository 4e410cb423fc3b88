"""What both sides of a comparison are given: a cluster as it stood, and the pods that come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Any, Final

from controllers.commands import CLOCKS
from controllers.flags.table import RESOURCE as FLAGS
from controllers.scheduler.past import Past
from controllers.scheduler.settings import RESOURCE as CONFIGURATIONS
from controllers.scheduler.watching import WATCHED
from scheduler_core.api.document import Document
from scheduler_core.snapshot.node_info import PodInfo

PODS: Final = "pods"

COPIED: Final = (WATCHED - {CONFIGURATIONS}) | {"configmaps", "secrets", "serviceaccounts"}
"""What the scheduler and the kubelets of a side find: everything that decides, and what starting pods need."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A pod that comes: `at_ms` after the beginning, as it was created."""

    at_ms: int
    pod: Document


@dataclass(frozen=True, slots=True)
class Size:
    """A pod's request: millicores and bytes."""

    cpu: int
    memory: int


@dataclass(frozen=True, slots=True)
class Given:
    """What a comparison is made on.

    Attributes:
        objects: (group resource, document), as they stand at the beginning.
        arrivals: in order of time.
        played: uids of the pods that are placed anew.
        flags: spec of the session's flags.
        pace: simulated milliseconds of a cycle at each extension point.
        epoch_ms: Unix milliseconds of the beginning.
        size: the middle one of the played pods' requests; what is left of a cluster is measured with it.
    """

    objects: Sequence[tuple[str, Document]]
    arrivals: Sequence[Arrival]
    played: frozenset[str]
    flags: Mapping[str, Any]
    pace: int
    epoch_ms: int
    size: Size


def present(past: Past, *, anew: bool) -> Given:
    """Return the cluster at a revision with its pending pods; `anew`: with every pod that has not finished pending.

    Raises:
        Gone: the revision is compacted.
    """
    played: list[PodInfo] = []
    for info in past.pods:
        leaves = info.pod.metadata.deletion_timestamp is not None
        if not (leaves or info.pod.is_finished) and (not info.pod.spec.node_name or (anew and not _is_static(info))):
            played.append(info)
    return _given(past, (), played)


def with_arrivals(past: Past, arrivals: Sequence[tuple[int, Document]]) -> Given:
    """Return the cluster at a revision, and the pods that came after it.

    Args:
        past: the session before the first of them.
        arrivals: (simulated milliseconds, the pod as it was created), in order.

    Raises:
        Gone: the revision is compacted.
    """
    begun_ms = past.store.ms_at(past.revision)
    played = [PodInfo.of(document) for _, document in arrivals]
    coming = [Arrival(at_ms - begun_ms, document) for at_ms, document in arrivals]
    return _given(past, coming, played)


def _given(past: Past, arrivals: Sequence[Arrival], played: Sequence[PodInfo]) -> Given:
    uids = frozenset(info.uid for info in played)
    found = past.store.lists_at({*COPIED, FLAGS, CLOCKS}, past.revision)
    objects: list[tuple[str, Document]] = []
    for resource in sorted(COPIED):
        for stored in found[resource]:
            document = stored.object
            objects.append((resource, _unplaced(document) if resource == PODS and stored.uid in uids else document))
    flags = next((stored.object.get("spec") for stored in found[FLAGS]), None) or {}
    clock = next((stored.object.get("spec") for stored in found[CLOCKS]), None) or {}
    return Given(
        objects,
        arrivals,
        uids,
        flags,
        int(clock.get("pace") or 0),
        past.store.epoch_ms + past.store.ms_at(past.revision),
        _middle(played),
    )


def _is_static(info: PodInfo) -> bool:
    """Return whether a kubelet runs the pod from a file of its own: no scheduler ever places it."""
    return any(owner.kind == "Node" for owner in info.pod.metadata.owner_references)


def _unplaced(document: Document) -> Document:
    """Return a pod as it was before any scheduler looked at it."""
    spec = {key: value for key, value in document["spec"].items() if key != "nodeName"}
    return {**document, "spec": spec, "status": {"phase": "Pending"}}


def _middle(played: Sequence[PodInfo]) -> Size:
    """Return the middle CPU and the middle memory that pods ask for."""
    sums = [info.sums.asked for info in played]
    if not sums:
        return Size(0, 0)
    return Size(median_low(asked.get("cpu", 0) for asked in sums), median_low(asked.get("memory", 0) for asked in sums))
