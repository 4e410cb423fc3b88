"""What pods say of claims, and the claims that are made from templates.

Source: k8s.io/dynamic-resource-allocation/resourceclaim, v1.34.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from controllers.kit.pods import controller_of, owner_reference
from scheduler_core.api.document import Document

TEMPLATES: Final = "resourceclaimtemplates.resource.k8s.io"

_MADE_FOR: Final = "resource.kubernetes.io/pod-claim-name"
_BASE_LENGTH: Final = 57
"""Letters of a made name before its hyphen and five others."""


def claim_of(pod: Document, asked: Mapping[str, Any]) -> str | None:
    """Return the name of the claim of one entry of a pod; empty: it needs none; None: it is not made yet."""
    named = asked.get("resourceClaimName")
    if named is not None:
        return str(named)
    for status in (pod.get("status") or {}).get("resourceClaimStatuses") or ():
        if status["name"] == asked["name"]:
            return str(status.get("resourceClaimName") or "")
    return None


def uses(pod: Document) -> Iterator[str]:
    """Yield `namespace/name` of each claim that a pod has by now."""
    for asked in pod["spec"]["resourceClaims"]:
        name = claim_of(pod, asked)
        if name:
            yield f"{pod['metadata']['namespace']}/{name}"


def is_for(pod: Document, claim: Document) -> bool:
    """Return whether a claim was made for a pod."""
    owner = controller_of(claim)
    return owner is not None and owner["uid"] == pod["metadata"]["uid"]


def made_for(claim: Document) -> str | None:
    """Return the entry of its pod for which a claim was made."""
    found: str | None = (claim["metadata"].get("annotations") or {}).get(_MADE_FOR)
    return found


def claim_from(pod: Document, entry: str, template: Document) -> Document:
    """Return the claim that a template asks for, for an entry of a pod."""
    given = (template.get("spec") or {}).get("metadata") or {}
    metadata: Document = {
        "generateName": _base(pod["metadata"]["name"], entry),
        "ownerReferences": [owner_reference({"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"]})],
        "annotations": {**(given.get("annotations") or {}), _MADE_FOR: entry},
    }
    if given.get("labels"):
        metadata["labels"] = dict(given["labels"])
    return {"metadata": metadata, "spec": (template.get("spec") or {}).get("spec") or {}}


def _base(pod: str, entry: str) -> str:
    """Return what the name begins with; where it is too long both parts are cut, each by its share."""
    whole = f"{pod}-{entry}-"
    if len(whole) <= _BASE_LENGTH:
        return whole
    share = len(whole)
    return f"{pod[: len(pod) * _BASE_LENGTH // share]}-{entry[: len(entry) * _BASE_LENGTH // share]}"
