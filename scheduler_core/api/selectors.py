"""Selectors: label selectors (as objects and as query text), node selectors, field selectors.

Semantics are upstream's (`k8s.io/apimachinery/pkg/labels`, `k8s.io/component-helpers/scheduling/corev1/nodeaffinity`),
the awkward parts included: a requirement whose values are no label values cannot be read and then matches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from scheduler_core.api.errors import bad_request
from scheduler_core.api.meta import View

LABEL_VALUE_LENGTH_MAX: Final = 63
"""Characters of a label value or of the name part of a label key; longer ones are refused."""

_VALUE: Final = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", re.ASCII)
_NAME: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
_PREFIX: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_INT64: Final = re.compile(r"[+-]?\d+", re.ASCII)

_VALUE_RULE: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_NAME_RULE: Final = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


def label_value_errors(text: str) -> list[str]:
    """Return what is wrong with a label value, in upstream's words; empty when nothing is."""
    errors = []
    if len(text) > LABEL_VALUE_LENGTH_MAX:
        errors.append(f"must be no more than {LABEL_VALUE_LENGTH_MAX} bytes")
    if not _VALUE.fullmatch(text):
        errors.append(_VALUE_RULE)
    return errors


def qualified_name_errors(text: str) -> list[str]:
    """Return what is wrong with a label key (`prefix/name`), in upstream's words."""
    prefix, slash, name = text.rpartition("/")
    errors = []
    if slash:
        if not prefix:
            errors.append("prefix part must be non-empty")
        elif len(prefix) > 253:
            errors.append("prefix part must be no more than 253 bytes")
        elif not _PREFIX.fullmatch(prefix):
            errors.append(
                "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
                "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
                "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
            )
    if not name:
        errors.append("name part must be non-empty")
    elif len(name) > LABEL_VALUE_LENGTH_MAX:
        errors.append(f"name part must be no more than {LABEL_VALUE_LENGTH_MAX} bytes")
    if not _NAME.fullmatch(name):
        errors.append(_NAME_RULE)
    return errors


def parse_int64(text: str) -> int | None:
    """Return the number as Go's ParseInt(text, 10, 64) does, None where that fails."""
    if not _INT64.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


@dataclass(frozen=True, slots=True)
class Requirement:
    """One checked condition on a label: `operator` is In, NotIn, Exists, DoesNotExist, Gt or Lt."""

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
    """A selector that cannot be read; the text is upstream's."""


def requirement(key: str, operator: str, values: Sequence[str], path: str = "") -> Requirement:
    """Return the checked condition.

    Args:
        key: the label's key.
        operator: In, NotIn, Exists, DoesNotExist, Gt or Lt.
        values: none for Exists and DoesNotExist, one whole number for Gt and Lt, at least one for In and NotIn.
        path: field path put before the message, such as `[0].matchExpressions[1]`.

    Raises:
        SelectorError: in the words of `labels.NewRequirement`.
    """
    errors: list[str] = []
    for text in qualified_name_errors(key):
        errors.append(f'{path}key: Invalid value: "{key}": {text}')
    shown = "[" + ",".join(f'"{value}"' for value in values) + "]"
    match operator:
        case "In" | "NotIn":
            if not values:
                errors.append(
                    f"{path}values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"
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
            errors.append(
                f'{path}operator: Unsupported value: "{operator}": supported values: '
                '"!", "!=", "=", "==", "exists", "gt", "in", "lt", "notin"'
            )
    for index, value in enumerate(values):
        for text in label_value_errors(value):
            errors.append(f'{path}values[{index}]: Invalid value: "{value}": {text}')
    if errors:
        raise SelectorError(aggregate(errors))
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
        equal = [requirement(key, "In", (value,)) for key, value in pairs]
        return (*equal, *(requirement(r.key, r.operator, r.values) for r in self.match_expressions))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether the selector selects the label set.

        Raises:
            SelectorError: a condition cannot be read.
        """
        return matches_all(self.requirements(), labels)


def matches_all(requirements: Sequence[Requirement], labels: Mapping[str, str]) -> bool:
    """Return whether every condition holds; no condition at all holds for everything."""
    return all(one.matches(labels) for one in requirements)


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
            errors.append(str(error))
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


# Query text: `?labelSelector=` and `?fieldSelector=`.

_TOKEN: Final = re.compile(r"\s*(?:(?P<op>==|!=|=|!|,|\(|\)|<|>)|(?P<word>[^\s=!,()<>]+))")


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise bad_request(f"unable to parse requirement: {text!r} at column {position}; correct the selector")
        tokens.append(match["op"] or match["word"])
        position = match.end()
    return tokens


_SYMBOLS: Final = frozenset({"==", "!=", "=", "!", ",", "(", ")", "<", ">"})


class _LabelParser:
    """Recursive descent over the tokens of one label selector."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.position = 0

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.position += 1
        return token

    def word(self, what: str) -> str:
        token = self.take()
        if not token or token in _SYMBOLS:
            raise self.error(f"found '{token}', expected: {what}")
        return token

    def error(self, why: str) -> Exception:
        return bad_request(f"unable to parse requirement: {why}; correct the label selector {self.text!r}")

    def value(self) -> str:
        return "" if self.peek() in (",", "") else self.word("a value")

    def value_set(self) -> list[str]:
        if self.take() != "(":
            raise self.error("expected: '('")
        values: list[str] = []
        while True:
            if self.peek() in (",", ")"):
                values.append("")
            else:
                values.append(self.word("a value"))
            token = self.take()
            if token == ")":
                return values
            if token != ",":
                raise self.error(f"found '{token}', expected: ',' or ')'")

    def one(self) -> Requirement:
        if self.peek() == "!":
            self.take()
            return requirement(self.word("a key"), "DoesNotExist", ())
        key = self.word("a key")
        token = self.peek()
        if token in ("", ","):
            return requirement(key, "Exists", ())
        self.take()
        match token:
            case "=" | "==":
                return requirement(key, "In", (self.value(),))
            case "!=":
                return requirement(key, "NotIn", (self.value(),))
            case "in":
                return requirement(key, "In", self.value_set())
            case "notin":
                return requirement(key, "NotIn", self.value_set())
            case ">":
                return requirement(key, "Gt", (self.value(),))
            case "<":
                return requirement(key, "Lt", (self.value(),))
            case _:
                raise self.error(f"found '{token}', expected: in, notin, =, ==, !=, gt, lt")

    def all(self) -> tuple[Requirement, ...]:
        found: list[Requirement] = []
        while self.position < len(self.tokens):
            found.append(self.one())
            token = self.take()
            if token not in (",", ""):
                raise self.error(f"found '{token}', expected: ',' or end of selector")
            if token == "," and self.position == len(self.tokens):
                raise self.error("found '', expected: identifier after ','")
        return tuple(found)


@lru_cache(maxsize=1024)
def parse_label_selector(text: str) -> tuple[Requirement, ...]:
    """Return the conditions of `?labelSelector=` text; the empty text selects everything.

    Raises:
        ApiError: 400, the text cannot be read.
    """
    try:
        return _LabelParser(text).all()
    except SelectorError as error:
        raise bad_request(f"unable to parse requirement: {error}; correct the label selector") from error


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """One condition of a field selector: the field's text equals the value, or does not."""

    field: str
    equal: bool
    value: str

    def matches(self, read: Callable[[str], str]) -> bool:
        """Return whether the condition holds; `read` returns a field's text, empty when absent."""
        return (read(self.field) == self.value) is self.equal


@lru_cache(maxsize=1024)
def parse_field_selector(text: str) -> tuple[FieldRequirement, ...]:
    """Return the conditions of `?fieldSelector=` text (`metadata.name=web,status.phase!=Running`).

    Backslash escapes `,`, `=` and itself. Which fields exist is the caller's to check.

    Raises:
        ApiError: 400, the text cannot be read.
    """
    found: list[FieldRequirement] = []
    for part in re.findall(r"(?:\\.|[^,\\])+", text):
        match = re.fullmatch(r"((?:\\.|[^=!\\])*)(!=|==|=)((?:\\.|[^=\\])*)", part, re.DOTALL)
        if match is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        value = re.sub(r"\\([\\,=])", r"\1", match[3])
        found.append(FieldRequirement(match[1], match[2] != "!=", value))
    return tuple(found)
