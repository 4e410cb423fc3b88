"""Adoption and release: which of the objects that a selector finds belong to one controller.

Source: `PodControllerRefManager`, k8s.io/kubernetes/pkg/controller/controller_ref_manager.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from controllers.kit.informer import Lister, by_controller
from controllers.kit.interest import OWNERS
from controllers.kit.pods import controller_of, owner_reference
from controllers.log.operations import Operation, Patch
from scheduler_core.api.document import Document
from scheduler_core.api.selectors import LabelSelector, Requirement, SelectorError, matches_all

_NO_LABELS: Final[Mapping[str, str]] = {}


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
    counts: Callable[[Document], bool] | None = None,
    belongs: Callable[[Document], bool] | None = None,
) -> tuple[list[Document], list[Operation], list[Document]]:
    """Sort out what belongs to `owner`.

    Args:
        owner: the controlling object.
        requirements: what it selects.
        lister: the objects, indexed by `index_ownership`.
        counts: which objects matter, None: all; others are neither adopted, nor released, nor returned.
        belongs: what must be true of an object beside that it is selected; None: nothing.

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

    def sorted_out(documents: Iterable[Document]) -> Iterator[tuple[Document, bool]]:
        """Yield what counts, and whether it is selected and belongs: a workload may have thousands."""
        for document in documents:
            if counts is not None and not counts(document):
                continue
            labels = document["metadata"].get("labels") or _NO_LABELS
            selected = asked.get(id(labels))
            if selected is None:
                selected = asked[id(labels)] = matches_all(requirements, labels)
            yield document, selected and (belongs is None or belongs(document))

    deleting = "deletionTimestamp" in metadata
    for document, is_its in sorted_out(lister.indexed("controller", metadata["uid"])):
        if is_its:
            mine.append(document)
        elif not deleting:
            operations.append(_release(resource, document, metadata["uid"]))
    adopted: list[Document] = []
    if deleting:
        return mine, operations, adopted
    orphans = lister.indexed("orphans", metadata["namespace"])
    for document, is_its in sorted_out(one for one in orphans if "deletionTimestamp" not in one["metadata"]):
        if is_its:
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
