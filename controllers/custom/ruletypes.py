"""What type each part of a rule has: as the compiler tells it, and by the schema where that knows none.

The compiler takes objects for values of any type, so what becomes of their members is of any type to it. Upstream's
knows their members, and what a rule costs hangs on the types.

Source: cel-go v0.26, checker/checker.go and common/stdlib; apiserver v0.34, pkg/cel/common/schemas.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from controllers.custom.node import Node
from scheduler_core.cel.syntax import Expr, Form, Tree

ACCUMULATORS: Final = ("@result", "__result__")
"""What macros call the value that they make; any other name is one that was given to a value."""

TEXT: Final = Node({"type": "string"}, "string")
_NAMES: Final = Node({"type": "object"}, "object", properties={"name": TEXT, "generateName": TEXT})
_ENVELOPE: Final[Mapping[str, Node]] = {"apiVersion": TEXT, "kind": TEXT, "metadata": _NAMES}

_FORMATS: Final = {
    "byte": "bytes",
    "duration": "google.protobuf.Duration",
    "date": "google.protobuf.Timestamp",
    "date-time": "google.protobuf.Timestamp",
}
_SINGLE: Final = {"boolean": "bool", "number": "double", "integer": "int"}
_TOLD: Final[Mapping[str, Node]] = {
    "string": TEXT,
    **{of: Node({"type": name}, name) for name, of in _SINGLE.items()},
    **{of: Node({"type": "string", "format": name}, "string") for name, of in _FORMATS.items()},
}
"""What the compiler calls types → what a schema says of a value of it."""

_ROOTS: Final = ("self", "oldSelf")
_ALIKE: Final = ("_+_", "_-_", "_*_", "_/_", "_%_", "-_", "value", "or", "orValue", "optional.of", "optional.none")
"""Functions of values of one type, or of optionals of it, that come to one of it or to an optional of it."""

_ITEMS: Final = ("_[_]", "_[?_]", "sum", "min", "max")
"""Functions of a list or map that come to one of what is in it."""

Unescaped = Callable[[Node], Mapping[str, str]]
"""What the members of a value are called in rules → their names."""


def type_of(node: Node) -> str:
    """Return what a value of a schema is to the language; `any`: rules do not see it."""
    if node.int_or_string:
        return "dyn"
    if node.type == "array":
        return "any" if node.items is None else f"list({type_of(node.items)})"
    if node.type == "object":
        return "object" if node.extra is None else f"map(string, {type_of(node.extra)})"
    if node.type == "string":
        return _FORMATS.get(node.source.get("format") or "", "string")
    return _SINGLE.get(node.type, "any")


def member(node: Node, name: str, unescaped: Unescaped, *, whole: bool) -> Node | None:
    """Return what a member is; None: nothing is said of it.

    Args:
        node: what it is a member of.
        name: what rules call it.
        unescaped: tells the names of members.
        whole: whether that is a whole object.
    """
    if whole and name in _ENVELOPE and name not in node.properties:
        return _ENVELOPE[name]
    if node.extra is not None:
        return node.extra
    return node.properties.get(unescaped(node).get(name, name))


def _first(nodes: Iterable[Node | None]) -> Node | None:
    return next((one for one in nodes if one is not None), None)


def _inside(node: Node | None) -> Node | None:
    """Return what an item of a list or a value of a map is."""
    return None if node is None else node.items if node.type == "array" else node.extra


class Types:
    """The types of the parts of one rule. An optional of a value is told by what the value is."""

    def __init__(self, tree: Tree, node: Node, unescaped: Unescaped, *, root: bool) -> None:
        """Walk through a rule.

        Args:
            tree: the rule.
            node: what `self` is.
            unescaped: tells the names of members.
            root: whether `self` is a whole object.
        """
        self._tree = tree
        self._self = node
        self._unescaped = unescaped
        self._root = root
        self._nodes: dict[int, Node] = {}
        self._walk(tree.root, {})

    def of(self, one: Expr) -> str:
        """Return the type of a part, as the language's makers write it; `dyn`: it is not known."""
        told = self._tree.types.get(one.id, "dyn")
        node = self._nodes.get(one.id) if "dyn" in told else None
        if node is None:
            return told
        return f"optional_type({type_of(node)})" if told.startswith("optional_type") else type_of(node)

    def _walk(self, one: Expr, names: Mapping[str, Node | None]) -> Node | None:
        found = self._found(one, names)
        if found is None:
            found = _TOLD.get(self._tree.types.get(one.id, "dyn"))
        if found is not None:
            self._nodes[one.id] = found
        return found

    def _found(self, one: Expr, names: Mapping[str, Node | None]) -> Node | None:
        match one.form:
            case Form.NAME:
                return names.get(one.name, self._self if one.name in _ROOTS else None)
            case Form.SELECT:
                of = self._walk(one.parts[0], names)
                return None if one.test else self._member(of, one.name)
            case Form.MACRO:
                return self._loop(one, names)
            case Form.CALL:
                return self._call(one, [self._walk(part, names) for part in one.parts])
            case Form.LIST:
                item = _first([self._walk(part, names) for part in one.parts])
                return None if item is None else Node({"type": "array"}, "array", items=item)
            case Form.STRUCT:
                value = _first([self._walk(part, names) for part in one.parts][1::2])
                return None if value is None else Node({"type": "object"}, "object", extra=value)
            case Form.CONSTANT:
                return None

    def _call(self, one: Expr, parts: list[Node | None]) -> Node | None:
        if one.name in _ALIKE:
            return _first(parts)
        if one.name == "_?_:_":
            return _first(parts[1:])
        if one.name in _ITEMS:
            return _inside(parts[0])
        return self._member(parts[0], one.parts[1].text or "") if one.name == "_?._" else None

    def _member(self, node: Node | None, name: str) -> Node | None:
        if node is None:
            return None
        return member(node, name, self._unescaped, whole=node.embedded or (self._root and node is self._self))

    def _loop(self, one: Expr, names: Mapping[str, Node | None]) -> Node | None:
        over, begin, condition, step, result = one.parts
        ranged, made = self._walk(over, names), self._walk(begin, names)
        if one.other in ACCUMULATORS:
            item = TEXT if ranged is not None and ranged.type == "object" else _inside(ranged)
            inner = {**names, one.other: made, one.name: item}
            self._walk(condition, inner)
            made = _first((self._walk(step, inner), made))
        return self._walk(result, {**names, one.other: made})
