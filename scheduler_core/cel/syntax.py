"""A checked expression as a tree, read from the compiler's own serialised form.

The compiler hands out `cel.expr.CheckedExpr` (cel-spec, proto/cel/expr/checked.proto and syntax.proto) in protobuf's
wire format. What is needed of it is small, so it is read here, field by field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Form(Enum):
    """What an expression is made as."""

    CONSTANT = 3
    NAME = 4
    SELECT = 5
    CALL = 6
    LIST = 7
    STRUCT = 8
    MACRO = 9
    """A loop (`all`, `exists`, `map`, `filter` …) or a binding."""


@dataclass(frozen=True, slots=True)
class Expr:
    """One node of the tree.

    Attributes:
        id: names the node in `Tree`'s tables.
        form: what it is.
        name: the variable, field, function, message or loop variable.
        parts: what it is made of: a select's operand; a call's target, if any, then its arguments; elements; keys and
            values in turn; a macro's range, initial value, condition, step and result.
        target: whether the call is a method: its first part is the target.
        test: whether a select is `has()`.
        text: a string constant's value, None for other constants.
        other: the macro's accumulator.
    """

    id: int
    form: Form
    name: str = ""
    parts: tuple[Expr, ...] = ()
    target: bool = False
    test: bool = False
    text: str | None = None
    other: str = ""


@dataclass(frozen=True, slots=True)
class Tree:
    """A checked expression.

    Attributes:
        root: the whole.
        overloads: call's id → the functions that it may come to, by the types known.
        scalars: ids of what is certain to be a single value (number, text, truth, time), no list or map.
        offsets: id → where it stands, in characters from the beginning.
        types: id → its type as far as it is known, as the language's makers write it: `list(int)`.
    """

    root: Expr
    overloads: Mapping[int, tuple[str, ...]]
    scalars: frozenset[int]
    offsets: Mapping[int, int]
    types: Mapping[int, str]


_PRIMITIVE: Final = (2, 3, 5)
"""Fields of `Type` that mean null, a primitive type, or a well-known one (time stamp, duration)."""


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7


def _numbers_and_bytes(data: bytes) -> list[tuple[int, int, bytes]]:
    """Return (field, number, bytes) of each field; the one that the field does not have is empty."""
    found: list[tuple[int, int, bytes]] = []
    at, end = 0, len(data)
    while at < end:
        # Most keys and lengths are one byte: this is most of what compiling an expression costs.
        key = data[at]
        at += 1
        if key > 127:
            key, at = _varint(data, at - 1)
        wire = key & 7
        number, length = 0, 8
        if wire in (0, 2):
            number = data[at]
            at += 1
            if number > 127:
                number, at = _varint(data, at - 1)
        if wire == 0:
            found.append((key >> 3, number, b""))
            continue
        if wire == 2:
            length = number
        found.append((key >> 3, 0, data[at : at + length]))
        at += length
    return found


def _messages(data: bytes, field: int) -> list[bytes]:
    return [value for found, _, value in _numbers_and_bytes(data) if found == field]


def _message(data: bytes, field: int) -> bytes:
    """Return the first of a field; empty where there is none."""
    return next((value for found, _, value in _numbers_and_bytes(data) if found == field), b"")


def _text(data: bytes, field: int) -> str:
    return _message(data, field).decode()


def _number(data: bytes, field: int) -> int:
    return next((number for found, number, _ in _numbers_and_bytes(data) if found == field), 0)


def _expressions(data: bytes, *fields: int) -> tuple[Expr, ...]:
    return tuple(_expression(value) for found, _, value in _numbers_and_bytes(data) if found in fields)


def _expression(data: bytes) -> Expr:
    own = _number(data, 2)
    field, body = next((found, value) for found, _, value in _numbers_and_bytes(data) if found != 2)
    match Form(field):
        case Form.CONSTANT:
            text = next((value.decode() for found, _, value in _numbers_and_bytes(body) if found == 6), None)
            return Expr(own, Form.CONSTANT, text=text)
        case Form.NAME:
            return Expr(own, Form.NAME, _text(body, 1))
        case Form.SELECT:
            return Expr(own, Form.SELECT, _text(body, 2), _expressions(body, 1), test=bool(_number(body, 3)))
        case Form.CALL:
            target = _expressions(body, 1)
            return Expr(own, Form.CALL, _text(body, 2), target + _expressions(body, 3), target=bool(target))
        case Form.LIST:
            return Expr(own, Form.LIST, parts=_expressions(body, 1))
        case Form.STRUCT:
            entries = tuple(one for entry in _messages(body, 2) for one in _expressions(entry, 3, 4))
            return Expr(own, Form.STRUCT, _text(body, 1), entries)
        case Form.MACRO:
            parts = tuple(one for part in (2, 4, 5, 6, 7) for one in _expressions(body, part))
            return Expr(own, Form.MACRO, _text(body, 1), parts, other=_text(body, 3))


_PRIMITIVES: Final = ("", "bool", "int", "uint", "double", "string", "bytes")
_KNOWN: Final = ("", "any", "google.protobuf.Timestamp", "google.protobuf.Duration")


def _type(data: bytes) -> str:
    """Return a `Type` as its makers write it; what is not told apart here is `dyn`."""
    field, number, body = next(iter(_numbers_and_bytes(data)), (1, 0, b""))
    match field:
        case 2:
            return "null_type"
        case 3:
            return _PRIMITIVES[number]
        case 4:
            return f"wrapper({_PRIMITIVES[number]})"
        case 5:
            return _KNOWN[number]
        case 6:
            return f"list({_type(_message(body, 1))})"
        case 7:
            return f"map({_type(_message(body, 1))}, {_type(_message(body, 2))})"
        case 9:
            return body.decode()
        case 11:
            return f"type({_type(body)})" if body else "type"
        case 14:
            inner = ", ".join(map(_type, _messages(body, 2)))
            return _text(body, 1) + (f"({inner})" if inner else "")
        case _:
            return "dyn"


def _offsets(source: bytes) -> dict[int, int]:
    """Return from what is known of its text where each node stands."""
    return {_number(entry, 1): _number(entry, 2) for entry in _messages(source, 4)}


def read_tree(serialized: bytes) -> Tree:
    """Return the tree of a serialised checked expression, wrapped in `google.protobuf.Any` as the compiler does."""
    checked = _message(serialized, 2)
    overloads: dict[int, tuple[str, ...]] = {}
    for entry in _messages(checked, 2):
        overloads[_number(entry, 1)] = tuple(value.decode() for value in _messages(_message(entry, 2), 3))
    types = {_number(entry, 1): _message(entry, 2) for entry in _messages(checked, 3)}
    single = (own for own, data in types.items() if any(kind in _PRIMITIVE for kind, _, _ in _numbers_and_bytes(data)))
    offsets = _offsets(_message(checked, 5))
    told = {own: _type(data) for own, data in types.items()}
    return Tree(_expression(_message(checked, 4)), overloads, frozenset(single), offsets, told)


def read_parsed(serialized: bytes) -> Tree:
    """Return the tree of a serialised expression that was not checked: nothing is known of its types."""
    parsed = _message(serialized, 2)
    return Tree(_expression(_message(parsed, 2)), {}, frozenset(), _offsets(_message(parsed, 3)), {})
