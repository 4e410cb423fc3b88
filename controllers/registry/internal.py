"""How the API server shows what it holds: structs of its internal version, and how two of them differ.

Source: pkg/apis/core/types.go, apimachinery/pkg/util/diff, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import unified_diff
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from controllers.registry.fields import Written, bad, selector_form
from scheduler_core.api.errors import Cause

_TABLE: Final = Path(__file__).with_name("internal_types.txt")
_ZEROES: Final[Mapping[str, Any]] = {"s": "", "i": 0, "b": False, "q": "0", "I": 0}
_METADATA: Final = (
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers",
    "managedFields",
)  # fmt: skip
_LIFTED: Final = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
"""Fields of a pod's spec that the internal version keeps in its security context."""


@cache
def _structs() -> dict[str, tuple[tuple[str, str, str], ...]]:
    """Return by struct its fields: (Go name, name on the wire, type); embedded ones have no names."""
    table: dict[str, tuple[tuple[str, str, str], ...]] = {}
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        struct, *fields = line.split(" ")
        table[struct] = tuple(map(_field, fields))
    return table


def _field(text: str) -> tuple[str, str, str]:
    if text.startswith("+"):
        return "", "", text[1:]
    if ">" in text:
        return "", "metadata", "m"
    name, _, of = text.partition(":")
    name, _, wire = name.partition("=")
    return name, wire or name[0].lower() + name[1:], of


def form(value: Any, of: str) -> Any:
    """Return a value of the wire as the internal version has it, ready to be written as JSON.

    Args:
        value: what the wire has; None: nothing.
        of: the struct (`core.PodSpec`), or another type of the table.
    """
    pointer, of = of.startswith("*"), of.removeprefix("*")
    if value is None and pointer:
        return None
    if of.startswith("[]"):
        return None if value is None else [form(item, of[2:]) for item in value]
    if of == "{}":
        return None if value is None else dict(sorted(value.items()))
    if of == "?":
        return value
    if of == "l":
        return selector_form(value)
    if of in _ZEROES:
        return _ZEROES[of] if value is None else value
    return _struct(value or {}, of)


def _struct(value: Mapping[str, Any], of: str) -> dict[str, Any]:
    if of == "core.PodSpec":
        lifted = {key: value[key] for key in _LIFTED if key in value}
        value = {**value, "securityContext": {**(value.get("securityContext") or {}), **lifted}}
    told: dict[str, Any] = {}
    for name, wire, kind in _structs()[of]:
        if name:
            told[name] = form(value.get(wire), kind)
        elif kind == "m":
            metadata = value.get(wire) or {}
            told.update({key: _by_key(metadata[key]) for key in _METADATA if key in metadata})
        else:
            told.update(_struct(value, kind))
    return told


def _by_key(value: Any) -> Any:
    return dict(sorted(value.items())) if isinstance(value, Mapping) else value


def _escaped(text: str) -> str:
    """Return JSON as Go writes it, which lets no mark-up through."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def shown(value: Any, of: str) -> Written:
    """Return a struct as a sentence about it shows it."""
    return Written(_escaped(msgspec.json.encode(form(value, of)).decode()))


def immutable(field: str, new: Any, old: Any, of: str) -> list[Cause]:
    """Refuse that a struct changes, which the sentence shows as it is held."""
    return [] if new == old else [bad(field, shown(new, of), "field is immutable")]


def difference(old: Mapping[str, Any], new: Mapping[str, Any], of: str) -> str:
    """Return how two structs differ, as upstream tells it: hunks with three lines around, each line ended."""

    def lines(value: Mapping[str, Any]) -> list[str]:
        written = msgspec.json.format(msgspec.json.encode(form(value, of)), indent=1).decode()
        return [f"{line}\n" for line in _escaped(written).split("\n")]

    return "".join(list(unified_diff(lines(old), lines(new)))[2:])
