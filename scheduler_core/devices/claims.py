"""A pod's ResourceClaims: which they are, and what is known of each.

Source: k8s.io/dynamic-resource-allocation/resourceclaim, v1.34.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from scheduler_core.api.document import FrozenDocument, at
from scheduler_core.api.pod import Pod, PodResourceClaim
from scheduler_core.framework.interface import Listers

CLAIMS: Final = "resourceclaims.resource.k8s.io"
CLASSES: Final = "deviceclasses.resource.k8s.io"
SLICES: Final = "resourceslices.resource.k8s.io"

RESERVED_FOR_MAX: Final = 256
"""Pods for which a claim may be reserved (ResourceClaimReservedForMaxSize)."""

FINALIZER: Final = "resource.kubernetes.io/delete-protection"
"""On claims that have devices: they do not go while they have."""


class LackingError(Exception):
    """A claim of the pod is not there, or not its own; the text is upstream's."""


def claims_of(pod: Pod, listers: Listers) -> list[FrozenDocument]:
    """Return the pod's claims, in the order of its spec.

    Raises:
        LackingError: one is not there, or not the pod's.
    """
    found = (_claim(pod, wanted, listers) for wanted in pod.spec.resource_claims)
    return [claim for claim in found if claim is not None]


def _claim(pod: Pod, wanted: PodResourceClaim, listers: Listers) -> FrozenDocument | None:
    """Return one claim, None where the template needed none for this pod."""
    name, generated = wanted.resource_claim_name, False
    if name is None:
        if wanted.resource_claim_template_name is None:
            unset = "none of the supported fields are set"
            raise LackingError(f'pod "{pod.key}", spec.resourceClaim "{wanted.name}": {unset}')
        told = next((one for one in pod.status.resource_claim_statuses if one.name == wanted.name), None)
        if told is None:
            raise LackingError(f'pod "{pod.key}": ResourceClaim not created yet')
        if told.resource_claim_name is None:
            return None
        name, generated = told.resource_claim_name, True
    document = listers.get(CLAIMS, pod.namespace, name)
    if document is None:
        raise LackingError(f'could not find ResourceClaim "{pod.namespace}/{name}"')
    meta = document["metadata"]
    if meta.get("deletionTimestamp"):
        raise LackingError(f'resourceclaim "{name}" is being deleted')
    owners = meta.get("ownerReferences") or ()
    if generated and not any(one.get("controller") and one.get("uid") == pod.uid for one in owners):
        raise LackingError(f"ResourceClaim {pod.namespace}/{name} was not created for pod {pod.key} (pod is not owner)")
    return document


def key_of(claim: FrozenDocument) -> str:
    """Return a claim's `namespace/name`."""
    return f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"


def allocation_of(claim: FrozenDocument) -> Mapping[str, Any] | None:
    """Return the devices that a claim has, as its status tells them; None: none yet."""
    found: Mapping[str, Any] | None = at(claim, "status", "allocation")
    return found


def reserved_for(claim: FrozenDocument) -> list[Mapping[str, Any]]:
    """Return for whom a claim is reserved."""
    return list(at(claim, "status", "reservedFor") or ())


def is_reserved_for(claim: FrozenDocument, uid: str) -> bool:
    """Return whether a claim is reserved for a pod."""
    return any(one.get("uid") == uid for one in reserved_for(claim))


def requests_of(claim: FrozenDocument) -> list[Mapping[str, Any]]:
    """Return what a claim asks for."""
    return list(at(claim, "spec", "devices", "requests") or ())


def devices_in(allocation: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield driver, pool and name of each device that an allocation has for itself.

    Administrators look at devices beside those who have them.
    """
    for one in at(allocation, "devices", "results") or ():
        if not one.get("adminAccess"):
            yield one["driver"], one["pool"], one["device"]
