"""What an evaluation may cost at most, worked out from the expression and from what it looks at, before it runs.

Upstream counts while it evaluates (apiserver `cel.PerCallLimit`, `cel.RuntimeCELCostBudget`); the library here does not
tell. So every part of an expression gets a bound of its size: what is selected out of a document is known exactly, what
a function makes is no larger than what it can make of its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from scheduler_core.cel.syntax import Expr, Form
from scheduler_core.expressions.authorizing import CHECK_COST
from scheduler_core.expressions.rewriting import KEYS

COST_MAX: Final = 1_000_000
"""Units of work that one evaluation may cost, estimated from above: a unit is an operation, the look at one value of a
list or map, or at 16 characters of a text. Upstream's limit of one call has the same number."""

_TURNS_MAX: Final = 10_000
"""Turns of loops that the library makes in one evaluation; more end it."""

_CHARS_PER_UNIT: Final = 16
_MACHINE_PER_CHAR: Final = 256
_COUNTED: Final = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_WIDE: Final = re.compile(r"\.\d{3,}")
_UNIT: Final = "#unused"
_CHOICES: Final = frozenset({"_?_:_", "orValue", "or"})
_MEMBERS: Final = frozenset({"_[_]", "_[?_]", "_?._"})
_TRUTHS: Final = frozenset({"_&&_", "_||_", "!_", "@not_strictly_false"})
_PATTERNS: Final = frozenset({"matches", "find", "findAll"})
_GROWING: Final = frozenset({"replace", "join", "format"})


class Size(NamedTuple):
    """How large a value is at most: single values, characters, elements of the longest list or map, longest text."""

    values: int = 1
    chars: int = 0
    longest: int = 0
    text: int = 0

    def with_(self, other: Size) -> Size:
        """Return the size of both together, put one after the other."""
        return Size(*(a + b for a, b in zip(self, other, strict=True)))

    def or_(self, other: Size) -> Size:
        """Return the size of whichever is larger."""
        return Size(*map(max, self, other))

    def times(self, often: int) -> Size:
        """Return the size of a list of so many of them."""
        return Size(1 + self.values * often, self.chars * often, max(self.longest, often), self.text)

    @property
    def units(self) -> int:
        """Return what it costs to look at all of it."""
        return self.values + self.chars // _CHARS_PER_UNIT


@dataclass(frozen=True, slots=True)
class Known:
    """A value that is known."""

    value: Any


_Value = Known | Size
_SCALAR: Final = Size()


def measure(value: Any) -> Size:
    """Return the size of a JSON value."""
    values = chars = longest = text = 0
    left = [value]
    while left:
        one = left.pop()
        values += 1
        if isinstance(one, str | bytes | bytearray):
            chars += len(one)
            text = max(text, len(one))
        elif isinstance(one, dict):
            longest = max(longest, len(one))
            left.extend(one)
            left.extend(one.values())
        elif isinstance(one, list | tuple):
            longest = max(longest, len(one))
            left.extend(one)
    return Size(values, chars, longest, text)


def price(root: Expr, variables: Mapping[str, Any]) -> int:
    """Return the units of work that an evaluation costs at most; it stops counting soon after COST_MAX."""
    walker = _Walker()
    try:
        walker.walk(root, {name: Known(value) for name, value in variables.items()}, 1)
    except _TooMuch:
        return max(walker.cost, COST_MAX + 1)
    return walker.cost


class _TooMuch(Exception):
    pass


class _Walker:
    def __init__(self) -> None:
        self.cost = 0
        self._sizes: dict[int, Size] = {}

    def _charge(self, units: int) -> None:
        self.cost += units
        if self.cost > COST_MAX:
            raise _TooMuch

    def _size(self, value: _Value) -> Size:
        if isinstance(value, Size):
            return value
        if not isinstance(value.value, dict | list | str | bytes | tuple):
            return _SCALAR
        found = self._sizes.get(id(value.value))
        if found is None:
            found = self._sizes[id(value.value)] = measure(value.value)
        return found

    def walk(self, expr: Expr, scope: Mapping[str, _Value], often: int) -> _Value:
        """Charge an expression that is evaluated so often, and return what is known of its value."""
        self._charge(often)
        match expr.form:
            case Form.CONSTANT:
                return Known(expr.text) if expr.text is not None else _SCALAR
            case Form.NAME:
                return scope.get(expr.name, _SCALAR)
            case Form.SELECT:
                value = self.walk(expr.parts[0], scope, often)
                return _SCALAR if expr.test else _member(value, expr.name)
            case Form.CALL:
                return self._call(expr, scope, often)
            case Form.MACRO:
                return self._macro(expr, scope, often)
            case Form.LIST | Form.STRUCT:
                inner = Size(1, 0, len(expr.parts), 0)
                for part in expr.parts:
                    inner = inner.with_(self._size(self.walk(part, scope, often)))
                self._charge(often * len(expr.parts))
                return inner

    def _call(self, expr: Expr, scope: Mapping[str, _Value], often: int) -> _Value:
        values = [self.walk(part, scope, often) for part in expr.parts]
        name = expr.name
        if name in _TRUTHS:
            return _SCALAR
        if name == "check":
            self._charge(often * CHECK_COST)
            return _SCALAR
        if name in _MEMBERS:
            key = expr.parts[1].text
            return _member(values[0], key) if key is not None else self._element(values[0])
        sizes = [self._size(value) for value in values]
        if name == KEYS:
            # As many as there are, and none larger than what it is the place of.
            return sizes[0]._replace(values=1 + sizes[0].longest)
        if name in _CHOICES:
            chosen = sizes[-2:] if name == "_?_:_" else sizes
            return chosen[0].or_(chosen[-1])
        together = Size(0)
        for size in sizes:
            together = together.with_(size)
        if name == "_+_":
            own = expr.parts[0].form is Form.NAME and expr.parts[0].name.startswith("@result")
            # What macros are made of appends in place.
            self._charge(often * (sizes[1] if own else together).units)
            return together
        weight = together.units
        if name in _PATTERNS and len(values) > 1:
            machine = _pattern(values[1], sizes[1])
            weight = ((1 + sizes[0].text) * (1 + machine // _MACHINE_PER_CHAR) + machine) // _CHARS_PER_UNIT
        if name in _GROWING:
            together = _grown(name, values, sizes)
            weight += together.units
        self._charge(often * weight)
        # As many parts as there are characters: `split`, `findAll`.
        return together._replace(
            values=together.values + together.text, longest=max(together.longest, together.text + 1)
        )

    def _element(self, value: _Value) -> _Value:
        """Return an element of a list, or a key of a map, whichever is largest."""
        if isinstance(value, Size):
            return value
        size = _SCALAR
        if isinstance(value.value, list | tuple | dict):
            for one in value.value:
                size = size.or_(self._size(Known(one)))
                if isinstance(value.value, dict):
                    size = size.or_(self._size(Known(value.value[one])))
        return size

    def _macro(self, expr: Expr, scope: Mapping[str, _Value], often: int) -> _Value:
        over, initial, condition, step, result = expr.parts
        ranged = self.walk(over, scope, often)
        first = self.walk(initial, scope, often)
        if expr.name == _UNIT:
            # optMap and its like bind a name and loop over nothing.
            return self.walk(result, {**scope, expr.other: first}, often)
        # What stands in a list that is written out is no larger than all of it, and known to be so many.
        turns = len(over.parts) if over.form is Form.LIST else self._turns(ranged)
        inside = {**scope, expr.name: self._element(ranged), expr.other: _SCALAR}
        if turns:
            many = min(often * turns, _TURNS_MAX)
            self.walk(condition, inside, many)
            grown = self._size(self.walk(step, inside, many)).times(turns)
        else:
            grown = _SCALAR
        return self.walk(result, {**scope, expr.other: grown}, often)

    def _turns(self, value: _Value) -> int:
        if isinstance(value, Known):
            return len(value.value) if isinstance(value.value, list | tuple | dict) else 0
        return value.longest


def _member(value: _Value, field: str) -> _Value:
    if isinstance(value, Known):
        return Known(value.value.get(field)) if isinstance(value.value, dict) else _SCALAR
    return value


def _pattern(value: _Value, size: Size) -> int:
    """Return how large the machine of a regular expression may be: counted repetitions are written out in it."""
    if not isinstance(value, Known) or not isinstance(value.value, str):
        return 1 + size.text * 1_000
    machine = 1 + len(value.value)
    for least, most in _COUNTED.findall(value.value):
        machine += len(value.value) * max(int(least), int(most or 0), 1)
    nested = len(re.findall(r"\)\{", value.value))
    return machine * (1 + nested) * (1_000 if nested > 1 else 1)


def _grown(name: str, values: list[_Value], sizes: list[Size]) -> Size:
    """Return the size of a text that may be longer than what it is made of."""
    if name == "format":
        text = values[0].value if isinstance(values[0], Known) else None
        wide = 1_000_000 if not isinstance(text, str) or _WIDE.search(text) else 32
        chars = sizes[0].chars + sum(size.chars + wide * size.values for size in sizes[1:])
        return Size(1, chars, 0, chars)
    between = sizes[-1].text if len(sizes) > 1 else 0
    chars = sizes[0].chars + (sizes[0].values + sizes[0].chars + 1) * between
    return Size(1, chars, 0, chars)
