"""What is wrong with the constants that functions of an expression are given.

Source: cel-go/cel (validator.go), cel-go/ext (formatting.go), k8s.io/apiserver/pkg/cel (library/regex.go), v1.34: what
can be seen without running an expression is refused with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from scheduler_core.api.booleans import FALSE, TRUE
from scheduler_core.cel.syntax import Expr, Form, Tree
from scheduler_core.expressions.formatting import clauses
from scheduler_core.expressions.patterns import pattern_error

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


def _of(expr: Expr, tree: Tree, *, mixed: bool = False) -> Iterator[Complaint]:
    """Yield what is wrong inside an expression; `mixed`: its lists may hold anything."""
    inside = mixed or (expr.form is Form.CALL and expr.name == "format")
    for part in expr.parts:
        yield from _of(part, tree, mixed=inside)
    if expr.form is Form.CALL:
        yield from _of_call(expr, tree)
    elif expr.form is Form.LIST and not mixed:
        yield from _unlike(expr.parts, tree)
    elif expr.form is Form.STRUCT and not expr.name and not mixed:
        yield from _unlike(expr.parts[::2], tree)
        yield from _unlike(expr.parts[1::2], tree)


def _unlike(parts: Sequence[Expr], tree: Tree) -> Iterator[Complaint]:
    """Yield that something is of another type than the first of a list or map that is written out."""
    first, *others = [tree.types.get(part.id, "dyn") for part in parts] or [""]
    for part, given in zip(parts[1:], others, strict=True):
        # What may be left out is known as an optional.
        if _bare(given) != _bare(first):
            yield Complaint(f"expected type '{first}' but found '{given}'", tree.offsets.get(part.id, 0))
            return


def _bare(name: str) -> str:
    return name.removeprefix("optional_type(").removesuffix(")") if name.startswith("optional_type(") else name


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
        case "bool" | "double" | "int" | "uint" if len(expr.parts) == 1 and _unreadable(expr.name, expr.parts[0]):
            yield Complaint(f"type conversion error from 'string' to '{expr.name}'", runs=True)
        case "sets.contains" | "sets.equivalent" | "sets.intersects" if len(expr.parts) == 2:
            yield from _of_sets(expr, tree)
        case "format" if expr.target and last is not None and expr.parts[0].text is not None:
            yield from _of_format(expr, expr.parts[0].text, last, tree)


_READ: Final[Mapping[str, Callable[[str], bool]]] = {
    "bool": lambda text: text in TRUE or text in FALSE,
    "double": lambda text: (
        re.fullmatch(r"[+-]?(\d[\d_]*\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?|nan", text, re.I) is not None
    ),
    "int": lambda text: re.fullmatch(r"[+-]?\d+", text, re.ASCII) is not None and -(2**63) <= int(text) < 2**63,
    "uint": lambda text: re.fullmatch(r"\d+", text, re.ASCII) is not None and int(text) < 2**64,
}
"""Types whose constants upstream converts when it makes the program: whether a text is one."""


def _unreadable(name: str, part: Expr) -> bool:
    return part.form is Form.CONSTANT and part.text is not None and not _READ[name](part.text)


def _of_sets(expr: Expr, tree: Tree) -> Iterator[Complaint]:
    """Yield that two lists cannot have anything in common."""
    first, other = (tree.types.get(part.id, "dyn") for part in expr.parts)
    if first != other and "dyn" not in f"{first} {other}":
        why = f"found no matching overload for '{expr.name}' applied to '({first}, {other})'"
        yield Complaint(why, tree.offsets.get(expr.id, 0))


_WHOLE: Final = ("int", "uint")
_REAL: Final = ("double", "string")
_TEXTS: Final = (
    *_WHOLE, *_REAL, "bool", "bytes", "list", "map", "google.protobuf.Timestamp", "google.protobuf.Duration", "type",
    "null_type",
)  # fmt: skip
_CLAUSES: Final[Mapping[str, tuple[Sequence[str], str]]] = {
    "s": (
        _TEXTS,
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
        "timestamps",
    ),
    "d": (_WHOLE, "decimal clause can only be used on integers"),
    "f": (_REAL, "fixed-point clause can only be used on doubles"),
    "e": (_REAL, "scientific clause can only be used on doubles"),
    "b": ((*_WHOLE, "bool"), "only integers and bools can be formatted as binary"),
    "o": (_WHOLE, "octal clause can only be used on integers"),
    **dict.fromkeys(
        "xX", ((*_WHOLE, "string", "bytes"), "only integers, byte buffers, and strings can be formatted as hex")
    ),
}
"""What a clause takes, and upstream's sentence where it is given something else."""


def _misfit(verb: str, value: Expr, tree: Tree) -> Expr | None:
    """Return what a clause cannot be given: the value, or something in it that is written out; None: it can."""
    known = tree.types.get(value.id, "dyn").partition("(")[0]
    if known != "dyn" and known not in _CLAUSES[verb][0]:
        return value
    if verb == "s" and value.form in (Form.LIST, Form.STRUCT):
        return next((wrong for part in value.parts if (wrong := _misfit(verb, part, tree)) is not None), None)
    return None


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
    verbs = [clause.verb for clause in clauses(text) if clause.verb]
    for verb, value in zip(verbs, values.parts, strict=False):
        if (misfit := _misfit(verb, value, tree)) is not None:
            known = tree.types.get(misfit.id, "dyn").partition("(")[0]
            yield Complaint(f"error during formatting: {_CLAUSES[verb][1]}, was given {known}", tree.offsets[misfit.id])
            return
    given = len(values.parts)
    if given < places:
        yield Complaint(f"index {given} out of range", at)
    elif given > places:
        yield Complaint(f"too many arguments supplied to string.format (expected {places}, got {given})", at)
