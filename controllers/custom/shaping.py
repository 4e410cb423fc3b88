"""What becomes of an object on its way in and out: unknown fields go, nulls go, defaults come.

Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema (pruning, defaulting, objectmeta), v1.34. Documents are
changed in place: the caller owns them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from controllers.custom.node import META, Node
from controllers.registry import fields
from controllers.registry.checking import Report, check
from scheduler_core.api.errors import Cause


def checked(document: dict[str, Any], node: Node, *, keeps_nulls: bool = False) -> Report:
    """Normalise an object, or some members of one, and report what was unknown or of a wrong type."""
    report = Report()
    _whole_numbers(document)
    prune(document, node.as_embedded(), "", report.unknown)
    if not keeps_nulls:
        _drop_nulls(document, node)
    # Upstream tells them by the alphabet: its maps have no order.
    report.unknown.sort()
    _metadata(document, "", report, root=True)
    _embedded(document, node, "", report)
    return report


_WHOLE_MAX: Final = 1e21
"""From here on Go writes a number by its exponent, as Python does."""


def _whole_numbers(value: Any) -> None:
    """Write numbers without a fraction as Go writes them: `1.0` is `1`."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in members:
        if isinstance(one, float):
            if one.is_integer() and abs(one) < _WHOLE_MAX:
                value[key] = int(one)
        elif isinstance(one, (dict, list)):
            _whole_numbers(one)


def pruned(document: dict[str, Any], node: Node) -> None:
    """Take away what a schema does not know, as objects are when they are read."""
    prune(document, node.as_embedded(), "", [])
    _drop_nulls(document, node)


def prune(value: Any, node: Node | None, path: str, unknown: list[str], *, keeps: bool = False) -> None:
    """Take away what is not known; `keeps`: only below what is."""
    keeps = keeps or (node is not None and node.preserves)
    if isinstance(value, list):
        for index, item in enumerate(value):
            prune(item, node.items if node is not None else None, f"{path}[{index}]", unknown, keeps=keeps)
        return
    if not isinstance(value, dict) or (keeps and node is None):
        return
    for name in list(value):
        if node is not None and node.embedded and name in META:
            continue
        where = f"{path}.{name}" if path else name
        if node is not None and (name in node.properties or (node.open and (node.extra is not None or not keeps))):
            prune(value[name], node.member(name), where, unknown)
        elif not keeps:
            unknown.append(where)
            del value[name]


def _drop_nulls(value: Any, node: Node | None) -> None:
    """Take away nulls where none may be and nothing stands for them."""
    if isinstance(value, dict):
        for name in list(value):
            found = node.member(name) if node is not None else None
            if value[name] is None and found is not None and not found.nullable and found.default is None:
                del value[name]
            else:
                _drop_nulls(value[name], found)
    elif isinstance(value, list):
        for item in value:
            _drop_nulls(item, node.items if node is not None else None)


def fill(value: Any, node: Node | None) -> None:
    """Put into a value what stands for what it leaves out."""
    if node is None or not node.defaults_below:
        return
    if isinstance(value, dict):
        for name, found in node.properties.items():
            missing = name not in value or (value[name] is None and not found.nullable)
            if found.default is not None and missing:
                value[name] = _copied(found.default)
        for name in value:
            found_ = node.member(name)
            if found_ is None:
                continue
            if name not in node.properties and value[name] is None and not found_.nullable:
                value[name] = _copied(found_.default)
            fill(value[name], found_)
    elif isinstance(value, list) and node.items is not None:
        for index, item in enumerate(value):
            if item is None and not node.items.nullable:
                value[index] = _copied(node.items.default)
            fill(value[index], node.items)


def lacks_defaults(value: Any, node: Node | None) -> bool:
    """Return whether `fill` would change a value."""
    if node is None or not node.defaults_below:
        return False
    if isinstance(value, Mapping):
        if any(one.default is not None and value.get(name) is None for name, one in node.properties.items()):
            return True
        return any(lacks_defaults(inner, node.member(name)) for name, inner in value.items())
    return isinstance(value, list) and any(item is None or lacks_defaults(item, node.items) for item in value)


def _copied(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def _embedded(value: Any, node: Node | None, path: str, report: Report) -> None:
    """Check the metadata of objects inside an object."""
    if node is None:
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            where = f"{path}.{name}" if path else name
            if node.embedded and path:
                if name in ("apiVersion", "kind") and not isinstance(inner, str):
                    why = f"{where}: Invalid value: {fields.shown(inner)}: must be a string"
                    report.wrong.append(Cause(where, why))
                elif name == "metadata":
                    continue
            _embedded(inner, node.member(name), where, report)
        if node.embedded and path:
            _metadata(value, path, report)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _embedded(item, node.items, f"{path}[{index}]", report)


def _metadata(value: dict[str, Any], path: str, report: Report, *, root: bool = False) -> None:
    metadata = value.get("metadata")
    if metadata is None:
        value.pop("metadata", None)
        return
    where = f"{path}.metadata" if path else "metadata"
    # Of what lies further in upstream says where, and shows it.
    told = "" if root else f"{where}: Invalid value: {fields.shown(metadata)}: "
    if not isinstance(metadata, dict):
        kind = "array" if isinstance(metadata, list) else "string" if isinstance(metadata, str) else "number"
        why = f"{told}json: cannot unmarshal {kind} into Go value of type v1.ObjectMeta"
        report.wrong.append(Cause(where, why, "FieldValueInvalid"))
        return
    found = check(metadata, "meta_v1.ObjectMeta", "", require=False)
    report.wrong += [Cause(f"{where}.{one.field}", f"{told}{one.message}", one.reason) for one in found.wrong]
    report.unknown += [f"{where}.{name}" for name in found.unknown]
    if not root and not metadata.get("creationTimestamp", True):
        del metadata["creationTimestamp"]
