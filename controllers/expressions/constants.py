"""What is wrong with the constants that functions of an expression are given.

Source: cel-go/cel (validator.go), cel-go/ext (formatting.go), k8s.io/apiserver/pkg/cel (library/regex.go), v1.34: what
can be seen without running an expression is refused with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from controllers.expressions.formatting import clauses
from controllers.expressions.patterns import pattern_error
from scheduler_core.cel.syntax import Expr, Form, Tree

_TIME: Final = re.compile(
    r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d{2}:\d{2})", re.ASCII
)
_SPAN: Final = re.compile(r"[+-]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)


class Complaint(NamedTuple):
    """What is wrong.

    Attributes:
        why: upstream's words.
        offset: where, in characters of what is compiled.
        runs: whether upstream sees it when it makes the program, and so says nothing of where.
    """

    why: str
    offset: int = 0
    runs: bool = False


def complaints(tree: Tree) -> Iterator[Complaint]:
    """Yield what is wrong with the constants of an expression: first what points at something."""
    found = list(_of(tree.root, tree))
    yield from (one for one in found if not one.runs)
    yield from (one for one in found if one.runs)


def _of(expr: Expr, tree: Tree) -> Iterator[Complaint]:
    for part in expr.parts:
        yield from _of(part, tree)
    if expr.form is Form.CALL:
        yield from _of_call(expr, tree)


def _of_call(expr: Expr, tree: Tree) -> Iterator[Complaint]:
    last = expr.parts[1] if len(expr.parts) > 1 else None
    pattern = last.text if last is not None and last.form is Form.CONSTANT else None
    match expr.name:
        case "matches" if last is not None and pattern is not None and pattern_error(pattern):
            yield Complaint("invalid matches argument", tree.offsets.get(last.id, 0))
        case "timestamp" | "duration" if _misread(expr):
            yield Complaint(f"invalid {expr.name} argument", tree.offsets.get(expr.parts[0].id, 0))
        case "find" | "findAll" if pattern is not None and pattern_error(pattern):
            yield Complaint(pattern_error(pattern), runs=True)
        case "format" if expr.target and last is not None and expr.parts[0].text is not None:
            yield from _of_format(expr, expr.parts[0].text, last, tree)


def _misread(expr: Expr) -> bool:
    """Return whether the one argument of a call is a text that is no time, or no span of it."""
    text = expr.parts[0].text if len(expr.parts) == 1 and not expr.target else None
    return text is not None and not (_TIME if expr.name == "timestamp" else _SPAN).fullmatch(text)


def _of_format(expr: Expr, text: str, values: Expr, tree: Tree) -> Iterator[Complaint]:
    """Yield what is wrong with a text whose places are known, and with how many values there are for them."""
    at = tree.offsets.get(expr.id, 0)
    try:
        places = sum(1 for clause in clauses(text) if clause.verb)
    except ValueError as wrong:
        yield Complaint(str(wrong), at)
        return
    if values.form is not Form.LIST:
        return
    given = len(values.parts)
    if given < places:
        yield Complaint(f"index {given} out of range", at)
    elif given > places:
        yield Complaint(f"too many arguments supplied to string.format (expected {places}, got {given})", at)
