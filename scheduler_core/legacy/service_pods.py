"""The pods of a pod's first Service, which the era's service affinity and anti-affinity went by."""

from __future__ import annotations

from scheduler_core.api.pod import Pod
from scheduler_core.api.selectors import matches_all
from scheduler_core.framework.interface import Listers
from scheduler_core.legacy.selector_spread import service_selectors
from scheduler_core.snapshot.snapshot import Snapshot


def service_rows(pod: Pod, listers: Listers, snapshot: Snapshot) -> list[int]:
    """Return the row of each placed pod that the first Service selects which selects the pod; by row, then arrival."""
    selectors = service_selectors(pod, listers)
    if not selectors:
        return []
    return [
        row
        for row, info in enumerate(snapshot.infos)
        for other in info.pods
        if other.pod.namespace == pod.namespace and matches_all(selectors[0], other.pod.metadata.labels)
    ]
