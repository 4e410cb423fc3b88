"""What a pod's status tells of its containers, of whatever kind they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

STATUSES: Final = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
LASTING: Final = STATUSES[:2]
"""Those of containers that stand in the pod from its beginning."""


def told_of_containers(pod: Mapping[str, Any], *, ephemeral: bool = True) -> Iterator[Mapping[str, Any]]:
    """Return the statuses of a pod's containers, those of its main ones first."""
    status = pod.get("status") or {}
    for group in STATUSES if ephemeral else LASTING:
        yield from status.get(group) or ()


def told_of(pod: Mapping[str, Any], container: str) -> Mapping[str, Any]:
    """Return the status of one container; empty where nothing is told of it."""
    return next((one for one in told_of_containers(pod) if one.get("name") == container), {})
