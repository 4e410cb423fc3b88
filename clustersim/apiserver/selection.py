"""What a list or watch selects: namespace, label selector, field selector."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from clustersim.apiserver.messages import Request
from clustersim.apiserver.routes import Target
from controllers.log.store import Stored
from controllers.registry.gotext import quoted
from controllers.registry.kind import Kind
from scheduler_core.api.errors import bad_request
from scheduler_core.api.selector_text import FieldRequirement, parse_field_selector, parse_label_selector
from scheduler_core.api.selectors import Requirement, matches_all

_PLACE = ("metadata.name", "metadata.namespace")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which objects of one resource are meant; None for `namespace` means all."""

    resource: str
    namespaced: bool
    namespace: str | None
    labels: tuple[Requirement, ...]
    place: tuple[FieldRequirement, ...]
    fields: tuple[FieldRequirement, ...]
    selectable: Mapping[str, Callable[[Mapping[str, Any]], str]]
    """What the kind's objects are selected by."""

    @property
    def everything(self) -> bool:
        """Return whether no selector narrows it."""
        return not (self.labels or self.place or self.fields)

    @property
    def single(self) -> bool:
        """Return whether it names the one object that it can be, which is read alone and never in pages."""
        named = any(requirement.equal and requirement.field == "metadata.name" for requirement in self.place)
        return named and bool(self.namespace or not self.namespaced)

    def matches(self, stored: Stored, document: Mapping[str, Any] | None = None) -> bool:
        """Return whether an object is selected; `document` stands in for another state of the same object."""
        if self.namespace is not None and stored.namespace != self.namespace:
            return False
        for requirement in self.place:
            value = stored.name if requirement.field == "metadata.name" else stored.namespace
            if (value == requirement.value) is not requirement.equal:
                return False
        if not self.labels and not self.fields:
            return True
        state = stored.object if document is None else document
        if self.labels and not matches_all(self.labels, state["metadata"].get("labels") or {}):
            return False
        return all(
            (self.selectable[requirement.field](state) == requirement.value) is requirement.equal
            for requirement in self.fields
        )


def selection_of(request: Request, target: Target, check: Callable[[], None] = lambda: None) -> Selection:
    """Return what a request selects; `check` is asked when the selectors are read and before fields are looked for.

    Raises:
        ApiError: 400, a selector cannot be read or names a field that cannot be selected by.
    """
    labels = parse_label_selector(request.query.get("labelSelector", ""))
    fields = parse_field_selector(request.query.get("fieldSelector", ""))
    check()
    known = target.kind.selectable
    fields = tuple(requirement for requirement in fields if requirement.field or requirement.value)
    place = _PLACE if target.kind.namespaced or not known else _PLACE[:1]
    for requirement in fields:
        if requirement.field not in known and requirement.field not in place:
            raise bad_request(_unknown(requirement.field, target.kind))
    if target.name and fields and FieldRequirement("metadata.name", True, target.name) not in fields:
        raise bad_request("fieldSelector metadata.name doesn't match requested name")
    if target.name:
        fields = (*fields, FieldRequirement("metadata.name", True, target.name))
    return Selection(
        target.kind.resource,
        target.kind.namespaced,
        target.namespace,
        labels,
        tuple(requirement for requirement in fields if requirement.field in _PLACE),
        tuple(requirement for requirement in fields if requirement.field not in _PLACE),
        known,
    )


def _unknown(field: str, kind: Kind) -> str:
    """Return upstream's words for a field that a kind cannot be selected by."""
    if kind.selectable or kind.kept_in:
        return kind.unselectable.format(field)
    return f'{quoted(field)} is not a known field selector: only "metadata.name", "metadata.namespace"'
