"""What the compiler complains of, where upstream's complains of it otherwise.

Source: cel-go's checker (checker/checker.go, checker/printer.go) as k8s.io/apiserver v0.34 uses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_optional

from scheduler_core.cel.syntax import Expr, Form, read_parsed
from scheduler_core.expressions.shapes import NAMESPACE, REQUEST, Object

ERROR: Final = "*error*"
"""The type of what something is wrong with already."""

_LOGICAL: Final = re.compile(r"found no matching overload for '(_&&_|_\|\|_)' applied to '\((.*)\)'")
_MESSAGE: Final = re.compile(r"undeclared reference to '([^']+)' \(in container ''\)")
_SELECTED: Final = re.compile(r"expression of type '([^']+)' cannot be the operand of a select operation")
_RANGED: Final = re.compile(r"expression of type '([^']+)' cannot be the range of a comprehension")
_FIELD: Final = re.compile(r"\.\s*\??\s*([A-Za-z_]\w*)")
_BRACE: Final = re.compile(r"[\w.]+\s*(?=\{)")
_TRUTHS: Final = frozenset({"bool", "dyn", "any", "wrapper(bool)", ERROR})

_KUBERNETES: Final = "kubernetes."

_TOLD: Final = (
    (re.compile(r"google\.protobuf\.Timestamp"), "timestamp"),
    (re.compile(r"google\.protobuf\.Duration"), "duration"),
    (re.compile(r"T%\d+"), "dyn"),
    (re.compile(r"\bnull_type\b"), "null"),
    (re.compile(r"\*error\*"), "!error!"),
)
"""How the two compilers print types."""


def _titles(shape: Object) -> Iterator[str]:
    yield shape.cel
    for inner in shape.fields.values():
        if isinstance(inner, Object):
            yield from _titles(inner)


_OBJECTS: Final = frozenset((*_titles(REQUEST), *_titles(NAMESPACE)))
"""Types with fields that upstream knows."""


def complaints(text: str, offset: int, message: str) -> Iterator[tuple[int, str]]:
    """Yield (characters from the beginning, message) of what upstream says in the place of a complaint."""
    if logical := _LOGICAL.fullmatch(message):
        yield from _untrue(text, offset, logical[1], logical[2]) or ((offset, message),)
    elif (found := _SELECTED.fullmatch(message)) or (found := _RANGED.match(message)):
        if found[1] == ERROR:
            # It follows from another.
            return
        yield offset, _unselected(text, offset, found[1]) if found.re is _SELECTED else message
    elif _MESSAGE.fullmatch(message) and (brace := _BRACE.match(text, offset)):
        yield brace.end(), message
    else:
        yield offset, message


def types_told(message: str) -> str:
    """Return a complaint with its types as upstream prints them."""
    for ours, theirs in _TOLD:
        message = ours.sub(theirs, message)
    return message


def _unselected(text: str, offset: int, of: str) -> str:
    field = _FIELD.match(text, offset)
    if of in _OBJECTS and field is not None:
        return f"undefined field '{field[1]}'"
    if of.startswith(_KUBERNETES):
        return f"unexpected failed resolution of '{of}'"
    return f"type '{of}' does not support field selection"


def _untrue(text: str, offset: int, operator: str, types: str) -> list[tuple[int, str]]:
    """Return which operands of `&&` and `||` are no truth values: upstream asks each for itself."""
    environment = cel.NewEnv(variables={}, extensions=(ext_optional.ExtOptional(), ext_bindings.ExtBindings()))
    tree = read_parsed(environment.compile(text, disable_check=True).serialize())
    told: list[tuple[int, str]] = []
    for one in _all(tree.root):
        if one.form is Form.CALL and one.name == operator and tree.offsets.get(one.id) == offset:
            for part, of in zip(one.parts, split(types), strict=True):
                if of not in _TRUTHS:
                    told.append((tree.offsets.get(part.id, offset), f"expected type 'bool' but found '{of}'"))
    return told


def _all(expr: Expr) -> Iterator[Expr]:
    yield expr
    for part in expr.parts:
        yield from _all(part)


def split(text: str) -> Iterator[str]:
    """Yield the types of a list of types: commas inside of brackets belong to them."""
    depth, begun = 0, 0
    for index, letter in enumerate(text):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and not depth:
            yield text[begun:index].strip()
            begun = index + 1
    yield text[begun:].strip()
