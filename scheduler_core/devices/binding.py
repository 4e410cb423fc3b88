"""Writes what a pod's claims got: devices that are not stored yet, and that they are reserved for the pod.

Source: plugins/dynamicresources (bindClaim), v1.34.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, Final

from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.pod import Pod
from scheduler_core.devices.allocations import Allocations
from scheduler_core.devices.claims import CLAIMS, FINALIZER, allocation_of, key_of, reserved_for
from scheduler_core.framework.asks import Ask, PatchObject, Reply

TRIES: Final = 5
"""How often a write that somebody else was faster than is tried (retry.DefaultRetry)."""

_CONFLICT: Final = 409


def bind(
    claim: FrozenDocument, allocation: Mapping[str, Any] | None, pod: Pod, allocations: Allocations
) -> Generator[Ask, Reply, str]:
    """Store a claim's devices and its reservation; return what went wrong, empty: nothing.

    Args:
        claim: as the attempt saw it.
        allocation: what it was given; None: it had devices already.
        pod: for whom.
        allocations: told of the outcome.
    """
    error = ""
    for _ in range(TRIES):
        error, again = yield from _write(claim, allocation, pod, allocations)
        if not again:
            break
        namespace, name = claim["metadata"]["namespace"], claim["metadata"]["name"]
        # A patch of nothing tells how the claim is now.
        reply = yield PatchObject(CLAIMS, namespace, name, {})
        if reply.error:
            return f"get updated claim {key_of(claim)} after conflict: {reply.error}"
        claim = reply.value
    return error


def _write(
    claim: FrozenDocument, allocation: Mapping[str, Any] | None, pod: Pod, allocations: Allocations
) -> Generator[Ask, Reply, tuple[str, bool]]:
    """Try once; return what went wrong, and whether only because somebody else was faster."""
    metadata, key = claim["metadata"], key_of(claim)
    if metadata.get("deletionTimestamp"):
        return f"claim {key} got deleted in the meantime", False
    status: dict[str, Any] = {}
    if allocation is not None:
        if allocation_of(claim) is not None:
            return f"claim {key} got allocated elsewhere in the meantime", False
        finalizers = metadata.get("finalizers") or []
        if FINALIZER not in finalizers:
            held = {"resourceVersion": metadata["resourceVersion"], "finalizers": [*finalizers, FINALIZER]}
            reply = yield PatchObject(CLAIMS, metadata["namespace"], metadata["name"], {"metadata": held})
            if reply.error:
                return f"add finalizer to claim {key}: {reply.error}", reply.code == _CONFLICT
            claim = reply.value
        status["allocation"] = allocation
    consumer = {"resource": "pods", "name": pod.name, "uid": pod.uid}
    status["reservedFor"] = [*reserved_for(claim), consumer]
    patch = {"metadata": {"resourceVersion": claim["metadata"]["resourceVersion"]}, "status": status}
    reply = yield PatchObject(CLAIMS, metadata["namespace"], metadata["name"], patch, "status")
    if reply.error:
        what = "add allocation and reservation" if allocation is not None else "add reservation"
        return f"{what} to claim {key}: {reply.error}", reply.code == _CONFLICT
    allocations.keep(reply.value)
    return "", False


def freed(claim: FrozenDocument) -> PatchObject:
    """Return the write that takes a claim's devices away."""
    metadata = claim["metadata"]
    status = {"reservedFor": None, "allocation": None, "devices": None}
    patch = {"metadata": {"resourceVersion": metadata["resourceVersion"]}, "status": status}
    return PatchObject(CLAIMS, metadata["namespace"], metadata["name"], patch, "status")
