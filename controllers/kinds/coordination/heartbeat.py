"""Heartbeats as a function: what a node's Lease says follows from facts and the present time; nothing is written.

A kubelet renews its Lease every ten seconds from its start on. Two facts stop that: the annotations `STOPPED` and
`SILENCED` on its node hold since when the kubelet is silent, and a node that is deleted has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from zlib import crc32

from controllers.admission.taintnodesbycondition import STOPPED
from controllers.kinds.core.node import SILENCED
from controllers.log.stamps import unix_ms_of, wire_micro_time
from scheduler_core.api.draw import draw_uid

LEASE_NAMESPACE: Final = "kube-node-lease"
LEASE_DURATION_SECONDS: Final = 40
RENEW_MS: Final = 10_000
"""How often a kubelet renews: a quarter of the lease's duration."""


def stopped_unix_ms(node: Mapping[str, Any]) -> int | None:
    """Return since when the kubelet is silent; None where it is not. A time that cannot be read counts as the start."""
    annotations = node["metadata"].get("annotations") or {}
    texts = [text for key in (STOPPED, SILENCED) if (text := annotations.get(key)) is not None]
    return min((_time_of(text, node) for text in texts), default=None)


def _time_of(text: str, node: Mapping[str, Any]) -> int:
    try:
        return unix_ms_of(text)
    except ValueError:
        return unix_ms_of(node["metadata"]["creationTimestamp"])


def is_running(node: Mapping[str, Any], unix_ms: int) -> bool:
    """Return whether the node's kubelet is alive."""
    stopped_ms = stopped_unix_ms(node)
    return stopped_ms is None or stopped_ms > unix_ms


def renewed_unix_ms(node: Mapping[str, Any], unix_ms: int) -> int:
    """Return when the node's Lease was last renewed, in Unix milliseconds."""
    started_ms = unix_ms_of(node["metadata"]["creationTimestamp"])
    stopped_ms = stopped_unix_ms(node)
    until_ms = unix_ms if stopped_ms is None else min(unix_ms, stopped_ms)
    return started_ms + max(0, until_ms - started_ms) // RENEW_MS * RENEW_MS


def node_lease(node: Mapping[str, Any], epoch_ms: int, now_ms: int) -> dict[str, Any]:
    """Return the node's Lease as of simulated time `now_ms`: a read-only object that no row of the log holds.

    Its resourceVersion changes with the facts alone, never with a renewal.
    """
    metadata = node["metadata"]
    name, uid = metadata["name"], metadata["uid"]
    annotations = metadata.get("annotations") or {}
    facts = "/".join((uid, *(annotations.get(key, "") for key in (STOPPED, SILENCED))))
    renewed_ms = renewed_unix_ms(node, epoch_ms + now_ms)
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": name,
            "namespace": LEASE_NAMESPACE,
            "uid": draw_uid(0, "node-lease", uid),
            "resourceVersion": str(crc32(facts.encode()) or 1),
            "creationTimestamp": metadata["creationTimestamp"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}],
        },
        "spec": {
            "holderIdentity": name,
            "leaseDurationSeconds": LEASE_DURATION_SECONDS,
            "renewTime": wire_micro_time(renewed_ms),
        },
    }
