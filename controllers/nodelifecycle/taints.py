"""Which taints a node's conditions bring, and taints changed.

Source: k8s.io/kubernetes/pkg/controller/nodelifecycle/node_lifecycle_controller.go (doNoScheduleTaintingPass),
pkg/controller/util/node (SwapNodeControllerTaint).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controllers.admission.taintnodesbycondition import NOT_READY
from controllers.kinds.coordination.heartbeat import is_running
from controllers.log.operations import Patch
from controllers.log.stamps import wire_time
from scheduler_core.api.document import Document, condition

UNREACHABLE: Final = "node.kubernetes.io/unreachable"
UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"

CONDITION_TAINTS: Final[Mapping[tuple[str, str], str]] = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
}
"""(condition, status) → key of the NoSchedule taint that it brings."""

EXECUTE_TAINTS: Final[Mapping[str, str]] = {"False": NOT_READY, "Unknown": UNREACHABLE}
"""Status of Ready → key of the NoExecute taint that it brings."""

_OWN_KEYS: Final = frozenset({*CONDITION_TAINTS.values(), UNSCHEDULABLE})

_LABELS: Final = (("kubernetes.io/os", "beta.kubernetes.io/os"), ("kubernetes.io/arch", "beta.kubernetes.io/arch"))
"""Labels and their older names, which say the same."""


def taints_of(node: Document) -> list[Document]:
    """Return spec.taints."""
    taints: list[Document] = (node.get("spec") or {}).get("taints") or []
    return taints


def has_execute(node: Document, key: str) -> bool:
    """Return whether the node has the NoExecute taint of this key."""
    return any(taint["key"] == key and taint.get("effect") == "NoExecute" for taint in taints_of(node))


def no_schedule(node: Document, unix_ms: int) -> list[Document]:
    """Return the node's taints with those NoSchedule ones that its conditions and cordon ask for, without others."""
    wanted = [
        key
        for entry in (node.get("status") or {}).get("conditions") or ()
        if (key := CONDITION_TAINTS.get((entry["type"], entry["status"]))) is not None
    ]
    if condition(node, "Ready") is None and not is_running(node, unix_ms):
        # It was tainted as it came (NodeTaint), and there is nobody to say that it is ready.
        wanted.append(NOT_READY)
    if (node.get("spec") or {}).get("unschedulable"):
        wanted.append(UNSCHEDULABLE)
    kept = [
        taint
        for taint in taints_of(node)
        if taint.get("effect") != "NoSchedule" or taint["key"] not in _OWN_KEYS or taint["key"] in wanted
    ]
    known = {taint["key"] for taint in kept if taint.get("effect") == "NoSchedule"}
    now = wire_time(unix_ms)
    added = [{"key": key, "effect": "NoSchedule", "timeAdded": now} for key in wanted if key not in known]
    return kept + added


def swapped(node: Document, unix_ms: int, *, add: str = "", remove: tuple[str, ...]) -> Patch | None:
    """Return the write that gives a node one NoExecute taint and takes others away; None where nothing changes."""
    taints = taints_of(node)
    kept = [taint for taint in taints if taint.get("effect") != "NoExecute" or taint["key"] not in remove]
    if add and not has_execute(node, add):
        kept = [*kept, {"key": add, "effect": "NoExecute", "timeAdded": wire_time(unix_ms)}]
    return None if len(kept) == len(taints) and kept == taints else patch(node, {"spec": {"taints": kept or None}})


def patch(node: Document, change: Document) -> Patch:
    """Return a write of a node as it was read: a conflict if it has changed since."""
    metadata = node["metadata"]
    own = {**(change.get("metadata") or {}), "resourceVersion": metadata["resourceVersion"]}
    return Patch("nodes", "", metadata["name"], {**change, "metadata": own})


def missing_labels(node: Document) -> dict[str, str]:
    """Return the older names of labels that do not say what the labels say."""
    labels = node["metadata"].get("labels") or {}
    return {older: labels[key] for key, older in _LABELS if key in labels and labels.get(older) != labels[key]}
