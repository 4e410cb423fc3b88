"""Arguments of the plugin CEL: read, with every error at its path, expressions compiled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from scheduler_core.api.errors import Cause
from scheduler_core.cel.language import ExpressionError, Program, Wanted, compile_expression

EXPRESSIONS_MAX: Final = 32
"""Filters, and scores, of one profile; more are refused."""

NAME_CHARS_MAX: Final = 63
"""Characters of an expression's name."""

MESSAGE_CHARS_MAX: Final = 200
"""Characters of the reason that a filter gives."""

SCORE_ABS_MAX: Final = 1_000_000_000
"""Largest number, and smallest with a minus, that a score may come to before it is normalised."""

_LISTS: Final[Mapping[str, tuple[Wanted, frozenset[str]]]] = {
    "filters": ("bool", frozenset({"name", "expression", "message"})),
    "scores": ("number", frozenset({"name", "expression"})),
}


@dataclass(frozen=True, slots=True)
class Expression:
    """A named expression.

    Attributes:
        name: told apart by it in reasons and errors.
        program: compiled.
        message: the reason where a filter says no.
    """

    name: str
    program: Program
    message: str


@dataclass(frozen=True, slots=True)
class CelArguments:
    """What the plugin is told: `{"filters": [{name, expression, message?}], "scores": [{name, expression}],
    "normalize"?: bool}`.

    Attributes:
        filters: all must be true.
        scores: their sum is the score.
        normalize: whether the sums are spread over the range of scores.
    """

    filters: tuple[Expression, ...]
    scores: tuple[Expression, ...]
    normalize: bool


def read_cel_arguments(arguments: Mapping[str, Any], path: str = "") -> tuple[CelArguments, list[Cause]]:
    """Return the arguments as far as they can be read, and what is wrong with them; an error in an expression has the
    path of its `expression` and says line and column.
    """
    causes: list[Cause] = []
    found: dict[str, tuple[Expression, ...]] = {}
    at = f"{path}." if path else ""
    for field in arguments:
        if field not in (*_LISTS, "normalize", "apiVersion", "kind"):
            causes.append(_unknown(f"{at}{field}", field))
    for field in _LISTS:
        written = arguments.get(field)
        if written is None:
            found[field] = ()
        elif not isinstance(written, list | tuple):
            causes.append(Cause(f"{at}{field}", "Invalid value: must be a list", "FieldValueTypeInvalid"))
        else:
            found[field] = tuple(_expressions(written, field, f"{at}{field}", causes))
    normalize = arguments.get("normalize", False)
    if not isinstance(normalize, bool):
        causes.append(Cause(f"{at}normalize", "Invalid value: must be true or false", "FieldValueTypeInvalid"))
    return CelArguments(found.get("filters", ()), found.get("scores", ()), normalize is True), causes


def _unknown(path: str, field: str) -> Cause:
    return Cause(path, f'unknown field "{field}"', "FieldValueNotSupported")


def _expressions(written: Any, field: str, path: str, causes: list[Cause]) -> Iterator[Expression]:
    wanted, known = _LISTS[field]
    if len(written) > EXPRESSIONS_MAX:
        causes.append(Cause(path, f"Too many: {len(written)}: must have at most {EXPRESSIONS_MAX} items"))
        return
    names: set[str] = set()
    for index, one in enumerate(written):
        where = f"{path}[{index}]"
        if not isinstance(one, Mapping):
            causes.append(Cause(where, "Invalid value: must be an object", "FieldValueTypeInvalid"))
            continue
        causes.extend(_unknown(f"{where}.{member}", member) for member in one if member not in known)
        name = _text(one, "name", where, NAME_CHARS_MAX, causes)
        source = _text(one, "expression", where, None, causes)
        message = f'node(s) didn\'t satisfy expression "{name}"'
        if one.get("message") is not None:
            message = _text(one, "message", where, MESSAGE_CHARS_MAX, causes)
        if name in names:
            causes.append(Cause(f"{where}.name", f'Duplicate value: "{name}"', "FieldValueDuplicate"))
        names.add(name)
        if not source:
            continue
        try:
            yield Expression(name, compile_expression(source, wanted), message)
        except ExpressionError as wrong:
            causes.extend(Cause(f"{where}.expression", f"Invalid value: {problem}") for problem in wrong.problems)


def _text(one: Mapping[str, Any], member: str, where: str, most: int | None, causes: list[Cause]) -> str:
    """Return a member that must be a text with something in it; the empty text where it is not."""
    text = one.get(member)
    if text is None or text == "":
        causes.append(Cause(f"{where}.{member}", "Required value", "FieldValueRequired"))
    elif not isinstance(text, str):
        causes.append(Cause(f"{where}.{member}", "Invalid value: must be a text", "FieldValueTypeInvalid"))
    elif most is not None and len(text) > most:
        causes.append(Cause(f"{where}.{member}", f"Too long: may not be more than {most} characters"))
    else:
        return text
    return ""
