"""Sets of fields, in the form in which they are told (FieldsV1): `{"f:spec": {"f:replicas": {}}}`.

A path is in the set where the map below it is empty or holds `.`; what else it holds are its children. A set is never
changed: each function returns a new one and shares what it can (structured-merge-diff, fieldpath).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from controllers.registry.gotext import quoted

Fields = Mapping[str, Any]
"""A set of fields as it is told."""

SELF: Final = "."
_ELEMENT_KINDS: Final = frozenset("fikv")
_INDEX: Final = re.compile(r"[+-]?[0-9]{1,18}")
_ELEMENTS_KEPT: Final = 4_096
"""Path elements of which the parsed form is remembered."""


def _holds(node: Fields | None) -> bool:
    """Return whether a path is in the set."""
    return node is not None and (not node or SELF in node)


def _node(member: bool, children: dict[str, Any]) -> dict[str, Any] | None:
    """Return what is told of a path: None when neither it nor anything below it is in the set."""
    if not children:
        return {} if member else None
    return {SELF: {}, **children} if member else children


def union(one: Fields, other: Fields) -> Fields:
    """Return what is in one of two sets."""
    if not one or one is other:
        return other
    if not other:
        return one
    found = dict(one)
    for key, right in other.items():
        left = found.get(key)
        if left is None:
            found[key] = right
        elif left != right and key != SELF:
            member = _holds(left) or _holds(right)
            children = union(_children(left), _children(right))
            found[key] = _node(member, dict(children))
    return found


def intersection(one: Fields, other: Fields) -> Fields:
    """Return what is in both of two sets."""
    found: dict[str, Any] = {}
    for key, left in one.items():
        right = other.get(key)
        if right is None or key == SELF:
            continue
        node = _node(_holds(left) and _holds(right), dict(intersection(_children(left), _children(right))))
        if node is not None:
            found[key] = node
    return found


def difference(one: Fields, other: Fields) -> Fields:
    """Return what is in the first set and not in the second; children do not go with their parents."""
    if not other:
        return one
    found: dict[str, Any] = {}
    for key, left in one.items():
        right = other.get(key)
        if right is None:
            found[key] = left
            continue
        node = _node(
            _holds(left) and not _holds(right),
            dict(difference(_children(left), _children(right))),
        )
        if node is not None:
            found[key] = node
    return found


def _children(node: Fields) -> Fields:
    return {key: child for key, child in node.items() if key != SELF} if SELF in node else node


def has(fields: Fields, element: str) -> bool:
    """Return whether a path of one element is in the set."""
    return _holds(fields.get(element))


def below(fields: Fields, element: str) -> Fields:
    """Return what of the set lies below one element."""
    node = fields.get(element)
    return _children(node) if node else {}


def with_member(node: Fields) -> dict[str, Any]:
    """Return what is told of a path, with the path itself."""
    return {SELF: {}, **_children(node)} if node else {}


def paths(fields: Fields, above: str = "") -> Iterator[str]:
    """Yield the paths in a set as messages name them, in upstream's order: a level first, then what lies below."""
    elements = sorted((key for key in fields if key != SELF), key=rank)
    for key in elements:
        if _holds(fields[key]):
            yield above + shown(key)
    for key in elements:
        yield from paths(_children(fields[key]), above + shown(key))


def read(told: Any) -> Fields | None:
    """Return the set that somebody sent, but for elements of kinds that nobody knows; None: none (Set.FromJSON)."""
    if told is None:
        return {}
    if not isinstance(told, dict):
        return None
    found: dict[str, Any] = {}
    for key, node in told.items():
        if key == SELF:
            found[key] = {}
        elif not _is_element(key):
            return None
        elif key[0] in _ELEMENT_KINDS:
            below_it = read(node)
            if below_it is None:
                return None
            found[key] = below_it
    return found


def _is_element(key: str) -> bool:
    """Return whether a path element can be read (DeserializePathElement)."""
    kind, colon, text = key[:1], key[1:2], key[2:]
    if colon != ":":
        return False
    if kind == "i":
        return bool(_INDEX.fullmatch(text))
    if kind not in "kv":
        return True
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return kind == "v" or isinstance(value, dict)


def ordered(fields: Fields) -> dict[str, Any]:
    """Return the set in the order in which it is told."""
    return {key: ordered(fields[key]) for key in sorted(fields, key=rank)}


def rank(element: str) -> tuple[Any, ...]:
    """Return what path elements are ordered by: fields, then items by their keys, then values."""
    if element == SELF:
        return (-1,)
    kind, text = element[:1], element[2:]
    if kind == "f":
        return (0, text)
    value = _parsed(text)
    if kind == "k" and isinstance(value, dict):
        return (1, [(name, *_rank(one)) for name, one in sorted(value.items())])
    return (2, *_rank(value))


def _rank(value: Any) -> tuple[Any, ...]:
    """Order JSON scalars of all types (structured-merge-diff, value.Compare)."""
    if isinstance(value, bool):
        return (2, value)
    if isinstance(value, (int, float)):
        return (0, value)
    return (1, value) if isinstance(value, str) else (3, str(value))


def shown(element: str) -> str:
    """Return a path element as messages name it: `.spec`, `[name="main"]`, `[="a"]`."""
    kind, text = element[:1], element[2:]
    if kind == "f":
        return f".{text}"
    value = _parsed(text)
    if kind == "k" and isinstance(value, dict):
        return "[" + ",".join(f"{name}={_text(one)}" for name, one in sorted(value.items())) + "]"
    return f"[={_text(value)}]" if kind == "v" else f"[{text}]"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


@lru_cache(_ELEMENTS_KEPT)
def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def key_element(keys: Sequence[tuple[str, Any]]) -> str:
    """Return the element of a list's item that is told apart by its keys."""
    return "k:" + _compact(dict(sorted(keys)))


def value_element(value: Any) -> str:
    """Return the element of a set's item."""
    return "v:" + _compact(value)


def _compact(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    # Go's encoder writes these so that JSON may stand in a page.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
