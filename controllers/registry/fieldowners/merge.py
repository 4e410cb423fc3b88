"""What an object's fields are, what differs between two objects, and how what is applied enters one.

The rules are those of structured-merge-diff (`typed`): a list without keys has one owner, a map or struct none but its
parts, unless upstream's schema says otherwise. None is a null that was written; what is absent is `ABSENT`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from controllers.registry.fieldowners import sets
from controllers.registry.fieldowners.sets import Fields
from controllers.registry.fieldowners.types import Type, blank_fields, key_default
from controllers.registry.gotext import printed, quoted, syntax, type_name

ABSENT: Final = object()


class Untyped(Exception):
    """A value does not fit the schema; the text is upstream's."""


@dataclass(slots=True)
class Comparison:
    """What differs between two objects. No field is in two of the sets."""

    removed: dict[str, Any] = field(default_factory=dict)
    modified: dict[str, Any] = field(default_factory=dict)
    added: dict[str, Any] = field(default_factory=dict)

    @property
    def changed(self) -> Fields:
        """Return what was modified or added."""
        return sets.union(self.modified, self.added)


def _is_map(of: Type, value: Any) -> bool:
    return of.form in ("struct", "map") or (of.form == "any" and isinstance(value, dict))


def _is_leaf(of: Type, value: Any) -> bool:
    """Return whether a value is owned as a whole."""
    return of.atomic or not (_is_map(of, value) or of.form == "list")


def _strays(of: Type, value: Any) -> bool:
    """Return whether a value is of another kind than its type: it is refused later, once owners are known."""
    return bool(value) and not isinstance(value, list if of.form == "list" else Mapping)


def element_of(of: Type, item: Any) -> str:
    """Return the path element of an item of a list that has keys, or is a set.

    Raises:
        Untyped: it has none.
    """
    if not of.keys:
        if isinstance(item, dict):
            raise Untyped("associative list without keys has an element that's a map type")
        if isinstance(item, list):
            raise Untyped("not supported: associative list with lists as elements")
        if item is None:
            raise Untyped("associative list without keys has an element that's an explicit null")
        return sets.value_element(item)
    if item is None:
        raise Untyped("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise Untyped("associative list with keys may not have non-map elements")
    keys = []
    for name in of.keys:
        value = item.get(name, ABSENT)
        if value is ABSENT:
            value = key_default(of.element or of, name)
            if value is None:
                continue
        keys.append((name, value))
    if not keys:
        named = " ".join(map(quoted, of.keys))
        raise Untyped(
            f"associative list with keys has an element that omits all key fields [{named}] "
            "(and doesn't have default values for any key fields)"
        )
    return sets.key_element(keys)


# What is applied has to fit the schema.


def validate(value: Any, of: Type) -> None:
    """Check what is applied against the schema; no key may stand twice in a list.

    Raises:
        Untyped: with all that does not fit.
    """
    wrong = list(_wrong(value, of, ""))
    if wrong:
        raise Untyped(wrong[0] if len(wrong) == 1 else "\n  ".join(["errors:", *wrong]))


def _wrong(value: Any, of: Type, path: str) -> Iterator[str]:
    if value is None:
        return
    where = f"{path}: " if path else ""
    if of.form == "any":
        return
    if of.form == "scalar":
        why = _wrong_scalar(value, of)
        if why:
            yield where + why
    elif of.form == "list":
        if not isinstance(value, list):
            yield f"{where}expected list, got &{{{printed(value)}}}"
            return
        yield from _wrong_items(value, of, path, where)
    elif not isinstance(value, dict):
        yield f"{where}expected map, got &{{{printed(value)}}}"
    else:
        for key in sorted(value):
            inner = of.field(key)
            if inner is None:
                yield f"{path}.{key}: field not declared in schema"
                return
            yield from _wrong(value[key], inner, f"{path}.{key}")


def _wrong_items(value: list[Any], of: Type, path: str, where: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, item in enumerate(value):
        shown = f"[{index}]"
        if not of.atomic:
            try:
                element = element_of(of, item)
            except Untyped as error:
                yield f"{where}element {index}: {error}"
                return
            shown = sets.shown(element)
            if element in seen:
                yield f"{where}duplicate entries for key {shown}"
            seen.add(element)
        yield from _wrong(item, of.element or of, path + shown)


def _wrong_scalar(value: Any, of: Type) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    match of.scalar:
        case "numeric":
            return "" if number else f"expected numeric (int or float), got {type_name(value)}"
        case "string":
            wrong = not isinstance(value, str)
            return f"expected string, got &value.valueUnstructured{{Value:{syntax(value)}}}" if wrong else ""
        case "boolean":
            return "" if isinstance(value, bool) else f"expected boolean, got &{{{printed(value)}}}"
        case _:
            wrong = isinstance(value, (dict, list))
            return f"expected any scalar, got &{{{printed(value)}}}" if wrong else ""


# The fields of an object.


def field_set(value: Any, of: Type) -> dict[str, Any]:
    """Return the fields that a value sets."""
    if value is None or _is_leaf(of, value):
        return {}
    found: dict[str, Any] = {}
    if of.form == "list":
        if not isinstance(value, list):
            return {}
        for element, items in _indexed(value, of).items():
            below = field_set(items[0], of.element or of) if len(items) == 1 else {}
            found[element] = sets.with_member(below)
        return found
    if not isinstance(value, dict):
        return {}
    for key in sorted(value):
        inner = of.field(key)
        if inner is None:
            continue
        one = value[key]
        element = f"f:{key}"
        if one is None or one == {} or _is_leaf(inner, one):
            found[element] = {}
            continue
        below = field_set(one, inner)
        if not of.names(key):
            found[element] = sets.with_member(below)
        elif below:
            found[element] = below
    return found


def _indexed(items: list[Any], of: Type) -> dict[str, list[Any]]:
    """Return the items of a list by their elements, as they stand; what has no element is left out."""
    found: dict[str, list[Any]] = {}
    for item in items:
        try:
            found.setdefault(element_of(of, item), []).append(item)
        except Untyped:
            continue
    return found


# What differs.


def compare(left: Any, right: Any, of: Type) -> Comparison:
    """Return what differs between two objects of a type; nothing at all counts as an empty one."""
    found = Comparison()
    _compare_maps(left, right, of, found.removed, found.modified, found.added)
    return found


def _grown(value: Any, of: Type) -> dict[str, Any]:
    """Return what is told of a field that came or went whole: itself and all below."""
    if not value or _is_leaf(of, value) or _strays(of, value):
        return {}
    found: dict[str, Any] = {sets.SELF: {}}
    if of.form == "list":
        for element, items in _indexed(value, of).items():
            found[element] = _grown(items[0], of.element or of) if len(items) == 1 else {}
    else:
        for key in sorted(value):
            inner = of.field(key)
            if inner is not None:
                found[f"f:{key}"] = _grown(value[key], inner)
    return found


def _compare_maps(
    left: Mapping[str, Any],
    right: Mapping[str, Any],
    of: Type,
    removed: dict[str, Any],
    modified: dict[str, Any],
    added: dict[str, Any],
) -> None:
    blank = blank_fields(of.struct) if of.form == "struct" else {}
    keys = [*left, *(key for key in right if key not in left)]
    for key in sorted(keys):
        one, other = left.get(key, ABSENT), right.get(key, ABSENT)
        if one is other or (one is not ABSENT and one == other and type(one) is type(other)):
            continue
        inner = of.field(key)
        if inner is None:
            continue
        if one is ABSENT and key in blank:
            one = blank[key]
        elif other is ABSENT and key in blank:
            other = blank[key]
        _compare(f"f:{key}", one, other, inner, removed, modified, added)


def _compare(
    element: str,
    left: Any,
    right: Any,
    of: Type,
    removed: dict[str, Any],
    modified: dict[str, Any],
    added: dict[str, Any],
) -> None:
    if left is ABSENT:
        added[element] = _grown(right, of)
        return
    if right is ABSENT:
        removed[element] = _grown(left, of)
        return
    whole = any(_is_leaf(of, one) or _strays(of, one) for one in (left, right))
    if (not left and not right) or whole:
        if left != right or type(left) is not type(right):
            modified[element] = {}
        return
    below: tuple[dict[str, Any], dict[str, Any], dict[str, Any]] = ({}, {}, {})
    if of.form == "list":
        _compare_lists(left or [], right or [], of, *below)
    else:
        _compare_maps(left or {}, right or {}, of, *below)
    for where, what in zip((removed, modified, added), below, strict=True):
        if what:
            where[element] = what


def _compare_lists(
    left: list[Any],
    right: list[Any],
    of: Type,
    removed: dict[str, Any],
    modified: dict[str, Any],
    added: dict[str, Any],
) -> None:
    before, after = _indexed(left, of), _indexed(right, of)
    inner = of.element or of
    for element in sorted({**before, **after}, key=sets.rank):
        one, other = before.get(element, []), after.get(element, [])
        if len(one) <= 1 and len(other) <= 1:
            if one != other:
                pair = (one[0] if one else ABSENT, other[0] if other else ABSENT)
                _compare(element, *pair, inner, removed, modified, added)
        elif len(one) >= 2 and len(other) >= 2:
            # What stands several times is owned as a whole.
            if one != other:
                modified[element] = {}
        elif len(one) >= 2:
            if other:
                added[element] = _grown(other[0], inner)
            removed[element] = {}
        else:
            if one:
                removed[element] = _grown(one[0], inner)
            added[element] = {}


# How what is applied enters.


def merged(live: Any, applied: Any, of: Type) -> Any:
    """Return what comes of applying a value to another; either may be ABSENT.

    Raises:
        Untyped: an item of the live object has no key.
    """
    if applied is ABSENT or live is ABSENT:
        return live if applied is ABSENT else applied
    if _is_leaf(of, applied) or _is_leaf(of, live):
        return applied
    left, right = live or None, applied or None
    if left is None and right is None:
        return applied
    if of.form == "list":
        return _merged_lists(left or [], right or [], of)
    found = dict(left or {})
    for key, value in (right or {}).items():
        inner = of.field(key)
        found[key] = value if inner is None else merged(found.get(key, ABSENT), value, inner)
    return found


def _merged_lists(left: list[Any], right: list[Any], of: Type) -> list[Any]:
    """Return a list with what is applied, in an order that keeps to both as far as it can (mergingWalker)."""
    inner = of.element or of
    lefts, rights = [element_of(of, item) for item in left], [element_of(of, item) for item in right]
    values: dict[str, Any] = {}
    for element, item in zip(lefts, left, strict=True):
        # Items that stand several times are not merged with what is applied.
        values[element] = None if element in values else item
    applied = dict(zip(rights, right, strict=True))
    shared = iter([element for element in rights if element in values])
    wanted = next(shared, None)
    done: set[str] = set()
    found: list[Any] = []

    def take(element: str, live: Any) -> None:
        found.append(merged(live, applied.get(element, ABSENT), inner))

    at, to = 0, 0
    while at < len(lefts) or to < len(rights):
        if at < len(lefts) and to < len(rights):
            element = lefts[at]
            if element == rights[to]:
                done.add(element)
                take(element, values[element])
                at, to, wanted = at + 1, to + 1, next(shared, None)
                continue
            if element in applied and wanted is not None and wanted != element:
                # Both have it, but another comes first in what is applied.
                at += 1
                continue
        if at < len(lefts):
            element = lefts[at]
            if element not in applied:
                take(element, left[at])
                at += 1
                continue
            if element in done:
                at += 1
        if to < len(rights):
            element = rights[to]
            done.add(element)
            take(element, values.get(element, ABSENT))
            to += 1
            if wanted == element:
                wanted = next(shared, None)
    return found


def without(value: Any, fields: Fields, of: Type) -> Any:
    """Return a value without the fields of a set; None: nothing is left."""
    if of.form == "scalar" or not (_is_map(of, value) or of.form == "list"):
        return value
    if not value or of.atomic:
        return None
    inner = of.element or of
    if of.form == "list":
        items = []
        for item in value:
            element = element_of(of, item)
            if not sets.has(fields, element):
                below = sets.below(fields, element)
                items.append(without(item, below, inner) if below else item)
        return items or None
    found = {}
    for key, item in value.items():
        element = f"f:{key}"
        if not sets.has(fields, element):
            below = sets.below(fields, element)
            field_type = of.field(key)
            found[key] = without(item, below, field_type) if below and field_type is not None else item
    return found or None


def with_named(fields: Fields, of: Type | None) -> dict[str, Any]:
    """Return a set with the declared fields of structs in which something is set."""
    found: dict[str, Any] = {}
    for element in fields:
        if element == sets.SELF:
            continue
        name = element[2:] if element.startswith("f:") else ""
        inner: Type | None = None
        if of is not None:
            inner = of.field(name) if name and of.form != "list" else of.element
        below = with_named(sets.below(fields, element), inner)
        declared = bool(below) and bool(name) and of is not None and of.names(name)
        found[element] = sets.with_member(below) if declared or sets.has(fields, element) else below
    return found
