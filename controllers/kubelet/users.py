"""As whom a container runs: what its pod and it say, else what its image says, which here is root.

Source: pkg/kubelet/kuberuntime/security_context.go, and containerd's CRI plugin for the order of groups, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

NOBODY: Final = 65_532
"""Who runs an image that must not run as root and is not told as whom: `nonroot`, as images without a shell have it."""


class User(NamedTuple):
    """User and groups of a container's first process."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    """All of them, that of the user among them."""


def user_of(spec: Mapping[str, Any], container: Mapping[str, Any]) -> User:
    """Return as whom a container of a pod with this spec runs."""
    of_pod = spec.get("securityContext") or {}
    security = {**of_pod, **(container.get("securityContext") or {})}
    image = NOBODY if security.get("runAsNonRoot") and security.get("runAsUser") is None else 0
    uid, gid = security.get("runAsUser"), security.get("runAsGroup")
    uid, gid = int(image if uid is None else uid), int(image if gid is None else gid)
    more = [*(of_pod.get("supplementalGroups") or ())]
    if of_pod.get("fsGroup") is not None:
        more.append(of_pod["fsGroup"])
    return User(uid, gid, tuple(sorted({gid, *map(int, more)})))
