"""Adoption and release: which of the objects that a selector finds belong to one controller.

Source: `PodControllerRefManager`, k8s.io/kubernetes/pkg/controller/controller_ref_manager.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from controllers.kit.informer import Lister, by_controller
from controllers.kit.interest import OWNERS
from controllers.kit.pods import controller_of, owner_reference
from controllers.log.operations import Operation, Patch
from scheduler_core.api.document import Document
from scheduler_core.api.selectors import LabelSelector, Requirement, SelectorError, matches_all


def orphans_by_namespace(document: Document) -> Iterable[str]:
    """Index the objects that no controller owns by their namespace."""
    if controller_of(document) is None:
        yield document["metadata"].get("namespace", "")


def index_ownership(lister: Lister) -> None:
    """Keep the indexes that `claim` reads."""
    lister.add_index("controller", by_controller, of=(OWNERS,))
    lister.add_index("orphans", orphans_by_namespace, of=(OWNERS,))


def requirements_of(selector: Mapping[str, Any] | None) -> tuple[Requirement, ...] | None:
    """Return a workload's selector as conditions; None where it selects nothing or cannot be read."""
    if selector is None:
        return None
    try:
        return msgspec.convert(selector, LabelSelector).requirements()
    except (SelectorError, msgspec.ValidationError):
        return None


def requirements_of_labels(selector: Mapping[str, str] | None) -> tuple[Requirement, ...] | None:
    """Return plain labels, as older kinds select by, as conditions; None where there are none."""
    return requirements_of({"matchLabels": selector}) if selector else None


def labels_of(document: Mapping[str, Any]) -> Mapping[str, str]:
    """Return metadata.labels."""
    labels: Mapping[str, str] = document["metadata"].get("labels") or {}
    return labels


def claim(
    owner: Document,
    requirements: tuple[Requirement, ...],
    lister: Lister,
    *,
    counts: Callable[[Document], bool] = lambda document: True,
    belongs: Callable[[Document], bool] = lambda document: True,
) -> tuple[list[Document], list[Operation], list[Document]]:
    """Sort out what belongs to `owner`.

    Args:
        owner: the controlling object.
        requirements: what it selects.
        lister: the objects, indexed by `index_ownership`.
        counts: which objects matter; others are neither adopted, nor released, nor returned.
        belongs: what must be true of an object beside that it is selected.

    Returns:
        The objects it controls and selects; the patches that adopt orphans and release what it selects no longer; the
        orphans that those patches adopt, in order of the patches that do.
    """
    resource = lister.resource
    metadata = owner["metadata"]
    mine: list[Document] = []
    operations: list[Operation] = []
    asked: dict[int, bool] = {}
    """Identity of labels → whether they are selected: what was made of one template shares them."""

    def is_selected(document: Document) -> bool:
        labels = document["metadata"].get("labels")
        if not labels:
            return matches_all(requirements, {})
        known = asked.get(id(labels))
        if known is None:
            known = asked[id(labels)] = matches_all(requirements, labels)
        return known

    deleting = "deletionTimestamp" in metadata
    for document in lister.indexed("controller", metadata["uid"]):
        if not counts(document):
            continue
        if is_selected(document) and belongs(document):
            mine.append(document)
        elif not deleting:
            operations.append(_release(resource, document, metadata["uid"]))
    adopted: list[Document] = []
    if deleting:
        return mine, operations, adopted
    for document in lister.indexed("orphans", metadata["namespace"]):
        if "deletionTimestamp" in document["metadata"] or not counts(document):
            continue
        if is_selected(document) and belongs(document):
            operations.append(_adopt(resource, document, owner))
            adopted.append(document)
    return mine, operations, adopted


def _adopt(resource: str, document: Document, owner: Document) -> Patch:
    metadata = document["metadata"]
    references = [*(metadata.get("ownerReferences") or ()), owner_reference(owner)]
    patch = {"metadata": {"ownerReferences": references, "uid": metadata["uid"]}}
    return Patch(resource, metadata["namespace"], metadata["name"], patch)


def _release(resource: str, document: Document, owner_uid: str) -> Patch:
    metadata = document["metadata"]
    references = [reference for reference in metadata["ownerReferences"] if reference["uid"] != owner_uid]
    patch = {"metadata": {"ownerReferences": references or None, "uid": metadata["uid"]}}
    return Patch(resource, metadata["namespace"], metadata["name"], patch)
