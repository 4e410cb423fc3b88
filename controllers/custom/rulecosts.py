"""What a rule of a schema costs at most, worked out from the schema before there is any object.

Every value of a schema has a largest size (letters, items, pairs): what it says itself, or what fits into one request.
A rule is walked through once; each call costs what upstream charges for it with arguments of those sizes.

Source: cel-go v0.26, checker/cost.go; apiserver v0.34, pkg/cel/library/cost.go and pkg/cel/common/schemas.go;
apiextensions-apiserver v0.34, pkg/apiserver/schema/cel/compilation.go.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from controllers.custom.node import Node
from controllers.custom.ruletypes import ACCUMULATORS, Types, Unescaped, member, type_of
from scheduler_core.cel.syntax import Expr, Form, Tree
from scheduler_core.expressions.addresses import CIDR, IP
from scheduler_core.expressions.library import QUANTITY
from scheduler_core.expressions.named import FORMAT
from scheduler_core.expressions.versions import SEMVER

MOST: Final = 2**64 - 1
"""What stands for any number that is too large to be told."""

REQUEST_BYTES: Final = 3 * 1024 * 1024
"""Bytes of the largest request, which bounds what a schema leaves open."""

_LETTER: Final = 0.1
_LETTER_OF_PATTERN: Final = 0.25
_LETTERS_OF_NAME: Final = 128
_CHECK: Final = 350_000
"""What asking who may do something costs."""

_ITEMS: Final = "@items"
_VALUES: Final = "@values"
_KEYS: Final = "@keys"

_LEAST: Final[Mapping[str, int]] = {"string": 2, "boolean": 4, "array": 2}
_LEAST_OF_FORMATS: Final[Mapping[str, int]] = {"byte": 2, "duration": 3, "date": 12, "date-time": 21}
_MOST_OF_FORMATS: Final[Mapping[str, int]] = {"duration": 32, "date": 12, "date-time": 32}
_TEXTS: Final = ("string", "bytes")
_SCALARS: Final = ("bool", "double", "int", "uint", "google.protobuf.Duration", "google.protobuf.Timestamp")


class Range(NamedTuple):
    """The least and the most of a size or cost."""

    low: int = 0
    high: int = 0

    def plus(self, other: Range) -> Range:
        """Return the sum."""
        return Range(min(self.low + other.low, MOST), min(self.high + other.high, MOST))

    def times(self, other: Range) -> Range:
        """Return the product."""
        return Range(min(self.low * other.low, MOST), min(self.high * other.high, MOST))

    def by(self, factor: float) -> Range:
        """Return it times a factor, rounded up."""
        return Range(*(min(math.ceil(float(one) * factor), MOST) for one in self))

    def or_(self, other: Range) -> Range:
        """Return the range that has both in it."""
        return Range(min(self.low, other.low), max(self.high, other.high))


_ONE: Final = Range(1, 1)
_UNKNOWN: Final = Range(0, MOST)


def least_bytes(node: Node) -> int:
    """Return of how many bytes a value is at least: of an object what it must say, and no default says for it."""
    if node.int_or_string:
        return 1
    if node.type == "string":
        return _LEAST_OF_FORMATS.get(node.source.get("format") or "", _LEAST["string"])
    if node.type == "object" and node.extra is None:
        said = [(name, node.properties.get(name)) for name in node.source.get("required") or ()]
        return 2 + sum(
            len(name) + 4 + least_bytes(one) for name, one in said if one is not None and one.default is None
        )
    return _LEAST.get(node.type, 2 if node.type == "object" else 1)


def cardinality(node: Node) -> int:
    """Return how often a value may stand in an object where lists around it are of any length."""
    return REQUEST_BYTES // (least_bytes(node) + 1)


def _most(node: Node) -> int:
    """Return the largest size of a value."""
    source = node.source
    length = source.get("maxLength")
    if node.int_or_string:
        return REQUEST_BYTES - 2 if length is None else max(int(length), 0) * 4
    if node.type == "array" and node.items is not None:
        bound = source.get("maxItems")
        return (REQUEST_BYTES - 2) // (least_bytes(node.items) + 1) if bound is None else max(int(bound), 0)
    if node.type == "object" and node.extra is not None:
        bound = source.get("maxProperties")
        return (REQUEST_BYTES - 2) // (least_bytes(node.extra) + 6) if bound is None else max(int(bound), 0)
    if node.type != "string":
        return 0
    of = source.get("format") or ""
    if of in _MOST_OF_FORMATS:
        return _MOST_OF_FORMATS[of]
    if length is not None:
        return max(int(length), 0) * (1 if of == "byte" else 4)
    words = [one for one in source.get("enum") or () if isinstance(one, str)]
    return max((len(one.encode()) for one in words), default=REQUEST_BYTES - 2)


_KEY: Final = Node({"type": "string", "maxLength": 0}, "string")
"""A key of a map: upstream charges nothing for its length."""


class Local(NamedTuple):
    """A variable of a loop: where it lies in the schema, and its size where that is known otherwise."""

    path: tuple[str, ...] | None
    size: Range | None


class Costs:
    """Walks through one rule."""

    def __init__(self, tree: Tree, node: Node, unescaped: Unescaped, *, root: bool) -> None:
        """Begin.

        Args:
            tree: the rule.
            node: what `self` is.
            unescaped: tells the names of members.
            root: whether `self` is a whole object.
        """
        self._tree = tree
        self._node = node
        self._unescaped = unescaped
        self._root = root
        self._types = Types(tree, node, unescaped, root=root)
        self._paths: dict[int, tuple[str, ...]] = {}
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, Range] = {}
        self._locals: dict[str, list[Local]] = {}

    def most(self) -> int:
        """Return what the rule costs at most."""
        return self._cost(self._tree.root).high

    # What is known of a part of the rule.

    def _at(self, path: Sequence[str]) -> Node | None:
        node: Node | None = self._node
        whole = self._root
        for name in path[1:]:
            if node is None:
                return None
            if name in (_ITEMS, _VALUES):
                node = node.items if node.type == "array" else node.extra
            elif name == _KEYS:
                node = _KEY if node.extra is not None else None
            else:
                node = member(node, name, self._unescaped, whole=whole)
            whole = node is not None and node.embedded
        return node

    def _path(self, one: Expr) -> tuple[str, ...]:
        if one.form is Form.NAME and (found := self._locals.get(one.name)):
            return found[-1].path or ()
        return self._paths.get(one.id, ())

    def _known(self, one: Expr) -> Node | None:
        path = self._path(one)
        return self._at(path) if path and path[0] not in ACCUMULATORS else None

    def _type(self, one: Expr) -> str:
        return self._types.of(one)

    def _size(self, one: Expr) -> Range | None:
        if one.id in self._sizes:
            return self._sizes[one.id]
        if one.form is Form.CONSTANT:
            length = 1 if one.text is None else len(one.text)
            return Range(length, length)
        if one.form is Form.LIST:
            return Range(len(one.parts), len(one.parts))
        if one.form is Form.STRUCT:
            return Range(len(one.parts) // 2, len(one.parts) // 2)
        node = self._known(one)
        if node is not None and type_of(node) != "any":
            return Range(0, _most(node))
        if self._type(one).removeprefix("optional_type(").removesuffix(")") in _SCALARS:
            return _ONE
        if one.form is Form.NAME and (found := self._locals.get(one.name)):
            return found[-1].size
        return None

    def _sized(self, one: Expr) -> Range:
        found = self._size(one)
        return _UNKNOWN if found is None else found

    def _item_size(self, one: Expr) -> Range:
        """Return the size of an item of a list, by its place in the schema alone."""
        path = self._path(one)
        node = self._at((*path, _ITEMS)) if path and path[0] not in ACCUMULATORS else None
        return _UNKNOWN if node is None else Range(0, _most(node))

    # What it costs.

    def _cost(self, one: Expr) -> Range:
        match one.form:
            case Form.CONSTANT:
                return Range()
            case Form.NAME:
                if one.name not in self._locals or not self._locals[one.name]:
                    self._paths[one.id] = (one.name,)
                return _ONE
            case Form.SELECT:
                return self._select(one)
            case Form.CALL:
                return self._call(one)
            case Form.MACRO:
                return self._loop(one)
            case _:
                return self._made(one)

    def _select(self, one: Expr) -> Range:
        (operand,) = one.parts
        cost = self._cost(operand)
        if one.test:
            return cost
        # What is selected out of something worked out is looked for in `self`, too: upstream does so.
        self._paths[one.id] = (*self._path(operand), one.name)
        of = self._type(operand)
        return cost.plus(_ONE) if of == "object" or of.startswith("map(") else cost

    def _made(self, one: Expr) -> Range:
        cost = Range(10, 10) if one.form is Form.LIST else Range(30, 30)
        size: Range | None = None
        for index, part in enumerate(one.parts):
            cost = cost.plus(self._cost(part))
            if one.form is Form.LIST or index % 2:
                size = self._sized(part) if size is None else size.or_(self._sized(part))
        self._entries[one.id] = Range() if size is None else size
        return cost

    def _loop(self, one: Expr) -> Range:
        over, begin, condition, step, result = one.parts
        cost = self._cost(over).plus(self._cost(begin))
        self._locals.setdefault(one.other, []).append(Local(self._path(begin) or None, self._size(begin)))
        if one.other not in ACCUMULATORS:
            # A name for a value: no loop at all.
            cost = cost.plus(self._cost(result))
            self._locals[one.other].pop()
            self._same(one, result)
            return cost
        place = _KEYS if self._type(over).startswith("map(") else _ITEMS
        path = self._path(over)
        entry = self._entries.get(over.id)
        # What was worked out lies nowhere: upstream takes it for `self`, which has no length.
        self._locals.setdefault(one.name, []).append(Local((*path, place), entry))
        turn = self._cost(condition).plus(self._cost(step))
        self._locals[one.name].pop()
        cost = cost.plus(self._cost(result))
        self._locals[one.other].pop()
        turns = self._sized(over)
        if begin.form in (Form.LIST, Form.STRUCT):
            self._sizes[one.id] = turns
            if step.id in self._entries:
                self._entries[one.id] = self._entries[step.id]
        elif begin.form is Form.CONSTANT:
            self._sizes[one.id] = _ONE
        return cost.plus(turns.times(turn))

    def _same(self, one: Expr, other: Expr) -> None:
        size = self._size(other)
        if size is not None:
            self._sizes[one.id] = size
        if other.id in self._entries:
            self._entries[one.id] = self._entries[other.id]

    def _call(self, one: Expr) -> Range:
        given = one.parts[1:] if one.target else one.parts
        costs = [self._cost(part) for part in given]
        if one.name == "optional.ofNonZeroValue" and given[0].name in _VALIDATES:
            # Ours: what upstream's function gives back is an optional.
            return costs[0]
        if one.name == "dyn":
            self._same(one, given[0])
            return costs[0].plus(_ONE)
        cost = self._cost(one.parts[0]) if one.target else Range()
        if one.name == "_[_]":
            place = _VALUES if self._type(given[0]).startswith("map(") else _ITEMS
            path = self._path(given[0])
            if path:
                self._paths[one.id] = (*path, place)
            elif given[0].id in self._entries:
                self._sizes[one.id] = self._entries[given[0].id]
        charged, size = self._charged(one, list(given), costs)
        if size is not None:
            self._sizes[one.id] = size
        return cost.plus(charged)

    def _charged(self, one: Expr, given: list[Expr], costs: list[Range]) -> tuple[Range, Range | None]:
        """Return what a call costs with its arguments, and the size of what it comes to; None: that is not known."""
        every = Range()
        for cost in costs:
            every = every.plus(cost)
        if one.name in ("_&&_", "_||_"):
            return Range(costs[0].low, every.high), None
        if one.name == "_?_:_":
            either = self._sized(given[1]).or_(self._sized(given[2]))
            return costs[0].plus(costs[1].or_(costs[2])), either
        charged, size = self._function(one, given)
        return charged.plus(every), size

    def _function(self, one: Expr, given: list[Expr]) -> tuple[Range, Range | None]:
        target = one.parts[0] if one.target else None
        if one.name == "check":
            return Range(_CHECK, _CHECK), None
        if one.name in ("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"):
            return self._compared(one, given), None
        if one.name == "_+_":
            return self._added(given)
        if one.name == "@in":
            is_map = self._type(given[1]).startswith("map(")
            return (_ONE if is_map else self._sized(given[1])), None
        if target is not None and (found := self._method(one.name, target, given)) is not None:
            return found
        if given and one.name in _CONVERSIONS and self._type(given[0]) == _CONVERSIONS[one.name]:
            size = self._sized(given[0])
            changed = Range(size.low, size.high * 4) if one.name == "bytes" else Range(size.low // 4, size.high)
            return size.by(_LETTER), changed
        if given and one.name in ("url", "jsonpatch.escapeKey"):
            return self._sized(given[0]).by(_LETTER), self._sized(given[0])
        if given and one.name in _READS:
            return self._sized(given[0]).by(_LETTER * _READS[one.name]), None
        return _ONE, None

    def _compared(self, one: Expr, given: list[Expr]) -> Range:
        types = [self._type(part) for part in given]
        if one.name not in ("_==_", "_!=_") and not any(of in (*_TEXTS, "dyn") for of in types):
            return _ONE
        if one.name == "_==_" and types[0] == types[1] and types[0] in _OWN:
            return _OWN[types[0]]
        most = min(self._sized(part).high for part in given)
        return Range(1 if most else 0, most).by(_LETTER)

    def _added(self, given: list[Expr]) -> tuple[Range, Range | None]:
        types = [self._type(part) for part in given]
        if any(of in _SCALARS for of in types):
            return _ONE, None
        size = self._sized(given[0]).plus(self._sized(given[1]))
        if all(part.id in self._entries for part in given):
            entry = self._entries[given[0].id].or_(self._entries[given[1].id])
            self._entries[given[0].id] = entry
        if any(of.startswith("list(") for of in types):
            return _ONE, size
        return size.by(_LETTER), size

    def _method(self, name: str, target: Expr, given: list[Expr]) -> tuple[Range, Range | None] | None:
        """Return what a call of a method of texts and lists costs, with the size of its result; None: of another."""
        size = self._sized(target)
        if name in ("startsWith", "endsWith"):
            return self._sized(given[0]).by(_LETTER), None
        if name == "contains":
            return size.by(_LETTER).times(self._sized(given[0]).by(_LETTER)), None
        if name in ("matches", "find", "findAll"):
            pattern = self._sized(given[0]).by(_LETTER_OF_PATTERN)
            cost = size.plus(_ONE).by(_LETTER).times(pattern)
            return cost, None if name == "matches" else Range(0, size.high)
        if name in ("lowerAscii", "upperAscii", "substring", "trim"):
            return size.by(_LETTER), size
        if name in ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"):
            return self._looked_through(target, size), None
        if name == "replace" and len(given) > 1:
            return size.by(2 * _LETTER), _replaced(size, self._sized(given[0]), self._sized(given[1]))
        if name == "split":
            return size.by(2 * _LETTER), Range(0, size.high)
        if name == "join":
            return self._joined(target, size, given)
        if name == "format":
            return size.by(_LETTER), None
        if name in _VALIDATES:
            return self._sized(given[0]).by(_LETTER).by(_LETTERS_OF_NAME * _LETTER_OF_PATTERN), None
        return None

    def _looked_through(self, target: Expr, size: Range) -> Range:
        of = self._type(target)
        if not of.startswith("list("):
            return size.by(_LETTER)
        item = of[5:-1]
        return size.times(_ONE.plus(self._item_size(target).by(_LETTER)) if item in _TEXTS else _ONE)

    def _joined(self, target: Expr, size: Range, given: list[Expr]) -> tuple[Range, Range | None]:
        whole = size.times(self._item_size(target))
        if given:
            gaps = Range(max(size.low - 1, 0), max(size.high - 1, 0))
            whole = whole.plus(self._sized(given[0]).times(gaps))
        return whole.by(_LETTER), whole


_OWN: Final[Mapping[str, Range]] = {IP: _ONE, CIDR: _ONE, QUANTITY: _ONE, SEMVER: _ONE, FORMAT: Range(1, 7)}
"""Types of upstream's own, and what it costs to ask whether two of one are equal."""

_VALIDATES: Final = ("validate", "validatE")
_CONVERSIONS: Final[Mapping[str, str]] = {"bytes": "string", "string": "bytes", "strinG": "bytes"}
"""Conversions of which every letter counts: the function, and the type that it is given."""

_READS: Final[Mapping[str, float]] = {
    "cidr": 1, "isCIDR": 1, "ip": 1, "isIP": 1, "ip.isCanonical": 2,
    "quantity": 1, "isQuantity": 1, "semver": 1, "isSemver": 1, "fieldSelector": 1, "labelSelector": 1,
}  # fmt: skip
"""Functions that read a text, and how often they go through it."""


def _replaced(size: Range, old: Range, new: Range) -> Range:
    """Return the size of a text in which every `old` became `new`."""
    if old.low == 0:
        most = min((size.high + 1) * new.high + size.high, MOST)
    elif new.high <= old.low:
        most = size.high
    else:
        most = min(math.ceil(size.high / old.low) * new.high, MOST)
    if old.high == 0:
        least = min((size.low + 1) * new.low + size.low, MOST)
    elif old.high <= new.low:
        least = size.low
    else:
        least = min(math.ceil(size.low / old.high) * new.low, MOST)
    return Range(least, most)
