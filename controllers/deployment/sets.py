"""What a Deployment's ReplicaSets say: templates, hashes, revisions, counts. Pure functions over documents.

Source: k8s.io/kubernetes/pkg/controller/deployment/util/deployment_util.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from controllers.kit.hashing import template_hash
from controllers.kit.pods import owner_reference
from scheduler_core.api.document import Document

HASH_LABEL: Final = "pod-template-hash"
REVISION: Final = "deployment.kubernetes.io/revision"
REVISION_HISTORY: Final = "deployment.kubernetes.io/revision-history"
DESIRED_REPLICAS: Final = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS: Final = "deployment.kubernetes.io/max-replicas"
ROLLBACK_TO: Final = "deprecated.deployment.rollback.to"

REVISION_HISTORY_MAX: Final = 2000
"""Characters of the revision-history annotation; the oldest revisions are dropped first."""

SKIPPED_ANNOTATIONS: Final = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        REVISION,
        REVISION_HISTORY,
        DESIRED_REPLICAS,
        MAX_REPLICAS,
        ROLLBACK_TO,
    }
)
"""Annotations of a Deployment that its ReplicaSets do not inherit."""

NAME_LETTERS: Final = 252
"""Letters that the name of a set has for the Deployment's name and the hash, beside the hyphen between them."""

NO_PROGRESS_DEADLINE: Final = 2**31 - 1
"""progressDeadlineSeconds of this value means that there is none."""


def replicas_of(document: Mapping[str, Any]) -> int:
    """Return spec.replicas, 1 where it is absent."""
    replicas: int = document["spec"].get("replicas", 1)
    return replicas


def status_of(document: Mapping[str, Any], field: str) -> int:
    """Return a count of the status, 0 where it is absent."""
    count: int = (document.get("status") or {}).get(field, 0)
    return count


def asked_replicas(sets: Iterable[Mapping[str, Any]]) -> int:
    """Return how many pods these sets ask for."""
    return sum(replicas_of(one) for one in sets)


def active_sets(sets: Iterable[Document]) -> list[Document]:
    """Return the sets that ask for any pod."""
    return [one for one in sets if replicas_of(one) > 0]


def by_creation(sets: Iterable[Document]) -> list[Document]:
    """Return the oldest first; same-second sets by name."""
    return sorted(sets, key=lambda one: (one["metadata"]["creationTimestamp"], one["metadata"]["name"]))


def revision_of(document: Mapping[str, Any]) -> int:
    """Return the revision annotation, 0 where there is none that can be read."""
    text = (document["metadata"].get("annotations") or {}).get(REVISION, "")
    return int(text) if text.isascii() and text.isdigit() else 0


def template_of(document: Mapping[str, Any]) -> Document:
    """Return the pod template without the hash label: what makes two sets the same."""
    template = document["spec"].get("template") or {}
    metadata = dict(template.get("metadata") or {})
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != HASH_LABEL}
    metadata = {key: value for key, value in {**metadata, "labels": labels}.items() if value}
    return {**template, "metadata": metadata}


def find_new(deployment: Mapping[str, Any], sets: Sequence[Document]) -> Document | None:
    """Return the oldest set whose template is the Deployment's."""
    wanted = template_of(deployment)
    return next((one for one in by_creation(sets) if template_of(one) == wanted), None)


def new_set(deployment: Document, revision: int, replicas: int, surge: int) -> Document:
    """Return the ReplicaSet that the Deployment's present template asks for."""
    metadata = deployment["metadata"]
    code = template_hash(deployment["spec"]["template"], (deployment.get("status") or {}).get("collisionCount"))
    template = msgspec.json.decode(msgspec.json.encode(deployment["spec"]["template"]))
    labels = {**(template.get("metadata") or {}).get("labels", {}), HASH_LABEL: code}
    template["metadata"] = {**(template.get("metadata") or {}), "labels": labels}
    selector = deployment["spec"]["selector"]
    selector = {**selector, "matchLabels": {**selector.get("matchLabels", {}), HASH_LABEL: code}}
    spec: Document = {"replicas": replicas, "selector": selector, "template": template}
    if deployment["spec"].get("minReadySeconds"):
        spec["minReadySeconds"] = deployment["spec"]["minReadySeconds"]
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{metadata['name'][: NAME_LETTERS - len(code)]}-{code}",
            "namespace": metadata["namespace"],
            "labels": labels,
            "annotations": set_annotations(deployment, None, revision, surge),
            "ownerReferences": [owner_reference(deployment)],
        },
        "spec": spec,
    }


def set_annotations(deployment: Mapping[str, Any], existing: Document | None, revision: int, surge: int) -> Document:
    """Return the annotations that the Deployment's newest set carries."""
    own = (deployment["metadata"].get("annotations") or {}).items()
    annotations: Document = dict(existing["metadata"].get("annotations") or {}) if existing is not None else {}
    annotations.update((key, value) for key, value in own if key not in SKIPPED_ANNOTATIONS)
    before = annotations.get(REVISION, "")
    if before and not before.isdigit():
        return annotations
    if revision > (int(before) if before.isdigit() else 0):
        if before:
            annotations[REVISION_HISTORY] = _history(annotations.get(REVISION_HISTORY, ""), before)
        annotations[REVISION] = str(revision)
    if existing is None:
        annotations.update(size_annotations(deployment, surge))
    return annotations


def size_annotations(deployment: Mapping[str, Any], surge: int) -> dict[str, str]:
    """Return the annotations by which a later scaling is recognised."""
    wanted = replicas_of(deployment)
    return {DESIRED_REPLICAS: str(wanted), MAX_REPLICAS: str(wanted + surge)}


def _history(history: str, revision: str) -> str:
    entries = [*history.split(","), revision] if history else [revision]
    while len(",".join(entries)) > REVISION_HISTORY_MAX:
        entries.pop(0)
    return ",".join(entries)


def surge_and_unavailable(deployment: Mapping[str, Any]) -> tuple[int, int]:
    """Return (maxSurge, maxUnavailable) in pods; never both 0, or nothing could move."""
    strategy = deployment["spec"].get("strategy") or {}
    if strategy.get("type") == "Recreate":
        return 0, 0
    rolling = strategy.get("rollingUpdate") or {}
    wanted = replicas_of(deployment)
    surge = _scaled(rolling.get("maxSurge", "25%"), wanted, up=True)
    unavailable = _scaled(rolling.get("maxUnavailable", "25%"), wanted, up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return surge, min(unavailable, wanted)


def _scaled(value: int | str, total: int, *, up: bool) -> int:
    if isinstance(value, int):
        return value
    share = int(value.removesuffix("%")) * total
    return -(-share // 100) if up else share // 100


def new_set_size(deployment: Document, sets: Sequence[Document], new: Document | None, surge: int) -> int:
    """Return how many pods the newest set may ask for now."""
    wanted = replicas_of(deployment)
    if (deployment["spec"].get("strategy") or {}).get("type") == "Recreate":
        return wanted
    present = replicas_of(new) if new is not None else 0
    room = wanted + surge - asked_replicas(sets)
    return present if room <= 0 else present + min(room, wanted - present)


def is_saturated(deployment: Document, new: Document | None) -> bool:
    """Return whether the newest set carries the whole Deployment."""
    if new is None:
        return False
    desired = (new["metadata"].get("annotations") or {}).get(DESIRED_REPLICAS, "")
    wanted = replicas_of(deployment)
    return desired == str(wanted) and replicas_of(new) == wanted and status_of(new, "availableReplicas") == wanted


def proportions(deployment: Document, sets: Sequence[Document], surge: int) -> dict[str, int]:
    """Return each set's new size when a Deployment is scaled in the middle of a rollout, by name of set.

    Larger sets take the larger share; what rounding leaves over goes to the first.
    """
    wanted = replicas_of(deployment)
    allowed = wanted + surge if wanted > 0 else 0
    to_add = allowed - asked_replicas(sets)
    newest_first = sorted(sets, key=lambda one: one["metadata"]["creationTimestamp"], reverse=to_add > 0)
    ordered = sorted(newest_first, key=replicas_of, reverse=True)
    sizes: dict[str, int] = {}
    added = 0
    for one in ordered:
        size = replicas_of(one)
        if to_add:
            share = _share(deployment, one, allowed, to_add, added)
            size += share
            added += share
        sizes[one["metadata"]["name"]] = size
    if ordered and to_add:
        first = ordered[0]["metadata"]["name"]
        sizes[first] = max(0, sizes[first] + to_add - added)
    return sizes


def _share(deployment: Document, one: Document, allowed: int, to_add: int, added: int) -> int:
    size, left = replicas_of(one), to_add - added
    if size == 0 or left == 0:
        return 0
    text = (one["metadata"].get("annotations") or {}).get(MAX_REPLICAS, "")
    whole = int(text) if text.isdigit() and int(text) > 0 else status_of(deployment, "replicas")
    share = -size if allowed == 0 else _rounded(size * allowed, whole) - size if whole else 0
    return min(share, left) if to_add > 0 else max(share, left)


def _rounded(numerator: int, denominator: int) -> int:
    """Return the quotient of two natural numbers, halves rounded up."""
    return (2 * numerator + denominator) // (2 * denominator)
