"""NoVolumeZoneConflict: a node has the zone and region of the volumes behind the pod's claims.

Only claims count, by the labels of the volume that they are bound to. A node that says nothing of zone or region will
do; one that says more than the volume, too. The era's labels are `failure-domain.beta.kubernetes.io/zone` and
`/region`; today's `topology.kubernetes.io/*` count where those are missing, and a volume in several zones
(`a__b`, which came later) is in each of them. Source: `VolumeZoneChecker`, Kubernetes 1.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Detail, PreFilterResult, Reads
from scheduler_core.framework.registry import Handle
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.legacy.claims import volume_of
from scheduler_core.legacy.places import KEYS, place_of
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot
from scheduler_core.volumes.migration import ZONE_DELIMITER
from scheduler_core.volumes.objects import StorageObjects

NAME: Final = "NoVolumeZoneConflict"

_Place = tuple[str | None, str | None]


class NoVolumeZoneConflict:
    """PreFilter and Filter."""

    name: ClassVar[str] = NAME
    filter_reads: ClassVar[Reads] = Reads.CLUSTER

    def __init__(self, arguments: Mapping[str, Any], handle: Handle) -> None:
        """Take no arguments."""
        self._objects = StorageObjects(handle.listers)

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> tuple[PreFilterResult | None, Status]:
        """Return Skip for a pod without claims."""
        claimed = any(volume.persistent_volume_claim is not None for volume in pod.pod.spec.volumes)
        return None, SUCCESS if claimed else SKIP

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        """Return failure for nodes elsewhere than a volume.

        Raises:
            ClaimError: a claim is not bound; asked only if some node has a place.
            MissingError: a claim or its volume do not exist.
        """
        infos = snapshot.infos_of(rows)
        places = [place_of(info.labels) for info in infos]
        wanted: list[_Place] = []
        if any(place != (None, None) for place in places):
            wanted = self._wanted(pod)
        failed = np.fromiter(
            (any(_elsewhere(volume, place) for volume in wanted) for place in places),
            dtype=np.bool_,
            count=len(infos),
        )
        return single_reason(failed, Code.UNSCHEDULABLE, NAME)

    def refusal_details(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, row: int) -> Sequence[Detail]:
        """Return the places of the pod's volumes that are not the node's, with the node's own."""
        node = place_of(snapshot.infos[row].labels)
        where = {"kind": "label", "source": "volume", "term": 0, "operator": "In"}
        return [
            {**where, "key": key, "values": sorted(wanted.split(ZONE_DELIMITER)), "value": has}
            for volume in self._wanted(pod)
            for (key, _), wanted, has in zip(KEYS, volume, node, strict=True)
            if wanted is not None and (has or "") not in wanted.split(ZONE_DELIMITER)
        ]

    def _wanted(self, pod: PodInfo) -> list[_Place]:
        """Return the places of the volumes behind the pod's claims."""
        claims = (volume.persistent_volume_claim for volume in pod.pod.spec.volumes)
        return [
            place_of(volume_of(self._objects, pod.pod.namespace, claim).metadata.labels)
            for claim in claims
            if claim is not None
        ]


def _elsewhere(volume: _Place, node: _Place) -> bool:
    if node == (None, None):
        return False
    return any(
        wanted is not None and (has or "") not in wanted.split(ZONE_DELIMITER)
        for wanted, has in zip(volume, node, strict=True)
    )
