"""Whom a claim of a StatefulSet belongs to, so that the garbage collector deletes or keeps it as the set asks.

Source: `isClaimOwnerUpToDate`, `updateClaimOwnerRefForSetAndPod`,
k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_utils.go; KEP-1847.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kit.pods import owner_reference
from controllers.statefulset.identity import in_range
from scheduler_core.api.document import Document

_KEEP: Final = "Retain"


def policy_of(owner: Mapping[str, Any]) -> tuple[bool, bool]:
    """Return whether claims go (when the set is deleted, when it is scaled down)."""
    policy = owner["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    return policy.get("whenDeleted", _KEEP) != _KEEP, policy.get("whenScaled", _KEEP) != _KEEP


def is_stale(claim: Mapping[str, Any], of: Mapping[str, Any]) -> bool:
    """Return whether the claim still belongs to an earlier object of this kind and name."""
    return any(reference["uid"] != of["metadata"].get("uid") for reference in _references_to(claim, of)[:1])


def is_conflicting(claim: Mapping[str, Any], owner: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    """Return whether something else controls a claim that the set would manage."""
    if not any(policy_of(owner)):
        return False
    for reference in claim["metadata"].get("ownerReferences") or ():
        named = next((one for one in (owner, pod) if _names(reference, one)), None)
        if named is not None:
            if reference["uid"] != named["metadata"].get("uid"):
                return True
        elif reference.get("controller"):
            return True
    return False


def is_settled(claim: Mapping[str, Any], owner: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    """Return whether the claim's owners are as the set's policy asks, or none of the set's business."""
    if is_stale(claim, owner) or is_stale(claim, pod):
        return True
    of_set, of_pod = _has(claim, owner), _has(claim, pod)
    if is_conflicting(claim, owner, pod):
        return not (of_set or of_pod)
    uids = {owner["metadata"]["uid"], pod["metadata"].get("uid")}
    if any(one["uid"] in uids and not one.get("controller") for one in claim["metadata"].get("ownerReferences") or ()):
        return False
    return (of_set, of_pod) == _wanted(owner, pod)


def settled(claim: Mapping[str, Any], owner: Mapping[str, Any], pod: Mapping[str, Any]) -> list[Document]:
    """Return the owner references that the claim ought to have."""
    references = claim["metadata"].get("ownerReferences") or ()
    kept = [one for one in references if not _names(one, owner) and not _names(one, pod)]
    if is_conflicting(claim, owner, pod):
        return kept
    of_set, of_pod = _wanted(owner, pod)
    added = [one for one, wanted in ((pod, of_pod), (owner, of_set)) if wanted]
    present = {one["uid"] for one in kept}
    return kept + [owner_reference(one) for one in added if one["metadata"]["uid"] not in present]


def _wanted(owner: Mapping[str, Any], pod: Mapping[str, Any]) -> tuple[bool, bool]:
    """Return whether (the set, the pod) ought to own the claim."""
    on_delete, on_scale = policy_of(owner)
    condemned = on_scale and not in_range(pod, owner)
    return on_delete and not condemned, condemned


def _names(reference: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
    wanted = (one["apiVersion"], one["kind"], one["metadata"]["name"])
    return (reference["apiVersion"], reference["kind"], reference["name"]) == wanted


def _references_to(claim: Mapping[str, Any], of: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [one for one in claim["metadata"].get("ownerReferences") or () if _names(one, of)]


def _has(claim: Mapping[str, Any], of: Mapping[str, Any]) -> bool:
    uid = of["metadata"].get("uid")
    return any(one["uid"] == uid for one in claim["metadata"].get("ownerReferences") or ())
