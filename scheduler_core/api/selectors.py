"""Selectors as objects: label selectors and node selectors.

Semantics are upstream's (`k8s.io/apimachinery/pkg/labels`, `k8s.io/component-helpers/scheduling/corev1/nodeaffinity`),
the awkward parts included: a requirement whose values are no label values cannot be read and then matches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import msgspec

from scheduler_core.api.label_names import label_value_errors, qualified_name_errors
from scheduler_core.api.meta import View

_INT64: Final = re.compile(r"[+-]?\d+", re.ASCII)


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


def parse_int64(text: str) -> int | None:
    """Return the number as Go's ParseInt(text, 10, 64) does, None where that fails."""
    if not _INT64.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


class Requirement(msgspec.Struct, frozen=True):
    """One checked condition on a label: `operator` is In, NotIn, Exists, DoesNotExist, Gt or Lt.

    A struct, since selectors are keys of much that is remembered, and it is hashed in no time.
    """

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether a label set satisfies the condition; an absent key satisfies NotIn and DoesNotExist."""
        return self.matches_value(labels.get(self.key))

    def matches_value(self, value: str | None) -> bool:
        """Return whether the label's value (None: absent) satisfies the condition."""
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case _:
                return self._compares(value)

    def _compares(self, value: str | None) -> bool:
        if value is None:
            return False
        number = parse_int64(value)
        if number is None:
            return False
        (limit,) = self.values
        return number > int(limit) if self.operator == "Gt" else number < int(limit)


class SelectorError(ValueError):
    """A selector that cannot be read; the text is upstream's, `errors` its single messages."""

    def __init__(self, errors: Sequence[str]) -> None:
        super().__init__(aggregate(errors))
        self.errors = tuple(errors)


READ_MAX: Final = 4_096
"""Distinct conditions kept as they were read; past it the one used longest ago is read again."""


@lru_cache(maxsize=READ_MAX)
def _equal(key: str, value: str) -> Requirement:
    return requirement(key, "In", (value,))


def requirement(key: str, operator: str, values: Sequence[str], path: str = "") -> Requirement:
    """Return the checked condition.

    Args:
        key: the label's key.
        operator: In, NotIn, Exists, DoesNotExist, Gt or Lt.
        values: none for Exists and DoesNotExist, one whole number for Gt and Lt, at least one for In and NotIn.
        path: field path put before the message, such as `[0].matchExpressions[1]`.

    Raises:
        SelectorError: in the words of `labels.NewRequirement`; for another operator in those of component-helpers'
            `nodeaffinity`, which looks no further.
    """
    errors: list[str] = []
    wrong = qualified_name_errors(key)
    if wrong:
        errors.append(f"{path}key: Invalid value: {_quoted(key)}: {'; '.join(wrong)}")
    # A list without values has come over the wire, which tells none apart from an empty one.
    shown = "[" + ",".join(map(_quoted, values)) + "]" if values else "null"
    match operator:
        case "In" | "NotIn":
            if not values:
                errors.append(
                    f"{path}values: Invalid value: {shown}: for 'in', 'notin' operators, values set can't be empty"
                )
        case "Exists" | "DoesNotExist":
            if values:
                errors.append(
                    f"{path}values: Invalid value: {shown}: values set must be empty for exists and does not exist"
                )
        case "Gt" | "Lt":
            if len(values) != 1:
                errors.append(
                    f"{path}values: Invalid value: {shown}: for 'Gt', 'Lt' operators, exactly one value is required"
                )
            for index, value in enumerate(values):
                if parse_int64(value) is None:
                    errors.append(
                        f'{path}values[{index}]: Invalid value: "{value}": '
                        "for 'Gt', 'Lt' operators, the value must be an integer"
                    )
        case _:
            raise SelectorError(
                [
                    f'{path}operator: Unsupported value: "{operator}": supported values: '
                    '"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
                ]
            )
    for index, value in enumerate(values):
        wrong = label_value_errors(value)
        if wrong:
            errors.append(f"{path}values[{index}][{key}]: Invalid value: {_quoted(value)}: {'; '.join(wrong)}")
    if errors:
        raise SelectorError(errors)
    return Requirement(key, operator, frozenset(values))


def aggregate(errors: Sequence[str]) -> str:
    """Return several messages as upstream's aggregate prints them: repeated ones once, in brackets when many."""
    distinct = list(dict.fromkeys(errors))
    return distinct[0] if len(distinct) == 1 else "[" + ", ".join(distinct) + "]"


class SelectorRequirement(View, frozen=True):
    """One condition as written in an object (label selector or node selector)."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


def _label_requirement(written: SelectorRequirement) -> Requirement:
    if written.operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
        raise SelectorError([f'"{written.operator}" is not a valid label selector operator'])
    return requirement(written.key, written.operator, written.values)


class LabelSelector(View, frozen=True):
    """metav1.LabelSelector: `{}` selects everything; an absent selector (None) nothing."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[SelectorRequirement, ...] = ()

    def requirements(self) -> tuple[Requirement, ...]:
        """Return the checked conditions.

        Raises:
            SelectorError: a condition cannot be read.
        """
        pairs = sorted(self.match_labels.items())
        equal = [_equal(key, value) for key, value in pairs]
        return (*equal, *map(_label_requirement, self.match_expressions))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether the selector selects the label set.

        Raises:
            SelectorError: a condition cannot be read.
        """
        return matches_all(self.requirements(), labels)


def matches_all(requirements: Sequence[Requirement], labels: Mapping[str, str]) -> bool:
    """Return whether every condition holds; no condition at all holds for everything."""
    # A list: `all` of a generator takes twice as long, and this is asked of every pod of a namespace.
    return not [one for one in requirements if not one.matches_value(labels.get(one.key))]


Selector = tuple[Requirement, ...] | None
"""A label selector that was read: every condition must hold, () selects everything, None nothing."""


def read_selector(written: LabelSelector | None) -> Selector:
    """Return the selector with its conditions checked; an absent one selects nothing.

    Raises:
        SelectorError: a condition cannot be read.
    """
    return None if written is None else written.requirements()


def selects(selector: Selector, labels: Mapping[str, str]) -> bool:
    """Return whether a selector that was read selects the label set."""
    return selector is not None and matches_all(selector, labels)


def deciding_labels(selector: Selector) -> tuple[tuple[str, str], ...] | None:
    """Return (key, value) labels of which every label set that the selector selects has one; None: it names none."""
    if selector is None:
        return ()
    wanted = next((one for one in selector if one.operator == "In"), None)
    return None if wanted is None else tuple((wanted.key, value) for value in wanted.values)


class NodeSelectorTerm(View, frozen=True):
    """v1.NodeSelectorTerm: all its conditions must hold; an empty term matches no node."""

    match_expressions: tuple[SelectorRequirement, ...] = ()
    match_fields: tuple[SelectorRequirement, ...] = ()


class NodeSelector(View, frozen=True):
    """v1.NodeSelector: a node matches when any term does."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


@dataclass(frozen=True, slots=True)
class CompiledTerm:
    """A node selector term that was read: conditions on labels, and on the node's name.

    `names` pairs of (wanted equal, name); `errors` say which conditions could not be read; with any, the term
    matches no node.
    """

    labels: tuple[Requirement, ...] = ()
    names: tuple[tuple[bool, str], ...] = ()
    empty: bool = False
    errors: tuple[str, ...] = ()

    @property
    def error(self) -> str:
        """Return why the term could not be read, empty when it was."""
        return aggregate(self.errors) if self.errors else ""

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Return whether a node of this name and these labels matches."""
        if self.empty or self.errors:
            return False
        return all((name == wanted) is equal for equal, wanted in self.names) and matches_all(self.labels, labels)


def compile_term(term: NodeSelectorTerm, path: str = "") -> CompiledTerm:
    """Return the term with its conditions checked; `path` (`nodeSelectorTerms[0]`) stands before messages."""
    if not term.match_expressions and not term.match_fields:
        return CompiledTerm(empty=True)
    errors: list[str] = []
    labels: list[Requirement] = []
    for index, written in enumerate(term.match_expressions):
        try:
            labels.append(
                requirement(written.key, written.operator, written.values, f"{path}.matchExpressions[{index}].")
            )
        except SelectorError as error:
            errors.extend(error.errors)
    names: list[tuple[bool, str]] = []
    for index, written in enumerate(term.match_fields):
        where = f"{path}.matchFields[{index}]"
        if written.operator not in ("In", "NotIn"):
            errors.append(f'{where}.operator: Unsupported value: "{written.operator}": supported values: "In", "NotIn"')
        elif len(written.values) != 1:
            shown = "[" + ",".join(f'"{value}"' for value in written.values) + "]"
            errors.append(f"{where}.values: Invalid value: {shown}: must have one element")
        elif written.key == "metadata.name":
            names.append((written.operator == "In", written.values[0]))
        else:
            # Upstream reads any other field of a node as the empty text.
            names.append((written.operator == "In", "" if written.values[0] else "\x00"))
    return CompiledTerm(tuple(labels), tuple(names), errors=tuple(errors))


def compile_selector(selector: NodeSelector, path: str = "nodeSelectorTerms") -> tuple[CompiledTerm, ...]:
    """Return all terms of a node selector, checked."""
    return tuple(compile_term(term, f"{path}[{index}]") for index, term in enumerate(selector.node_selector_terms))
