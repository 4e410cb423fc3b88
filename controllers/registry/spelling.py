"""Members whose spelling counts: upstream keeps the bytes that were sent (RawExtension), and compares them.

What a patch makes of an object was written by the server: without spaces, and by its keys where its types took it
apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from controllers.log.operations import Operation, Patch
from controllers.registry import fields
from controllers.registry.kind import Kind
from scheduler_core.api.errors import Cause

_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_sent_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw] | None).decode
_by_keys: Final = msgspec.json.Encoder(order="sorted").encode
_as_it_stands: Final = msgspec.json.Encoder().encode


def sent(kind: Kind, body: bytes) -> dict[str, bytes]:
    """Return how members of a JSON body are spelled where that counts; `null` has none."""
    members = _sent_members(body) or {}
    return {name: bytes(members[name]) for name in kind.spelled if name in members}


def rewritten(kind: Kind, document: Mapping[str, Any]) -> dict[str, bytes]:
    """Return how such members are spelled where the body was YAML, of which upstream makes JSON first."""
    return {name: _by_keys(document[name]) for name in kind.spelled if name in document}


def of_document(
    kind: Kind, document: Mapping[str, Any], operation: Operation, spelled: Mapping[str, bytes] | None
) -> dict[str, msgspec.Raw] | None:
    """Return how members of a document are to be stored where their spelling counts; `spelled`: as they were sent."""
    if not kind.spelled:
        return None
    known = spelled or {}
    return {
        name: msgspec.Raw(known.get(name) or (_by_keys if _apart(operation, name) else _as_it_stands)(document[name]))
        for name in kind.spelled
        if name in document
    }


def _apart(operation: Operation, name: str) -> bool:
    """Return whether a write took a member apart, so that it is put together by its keys."""
    if not isinstance(operation, Patch):
        return False
    merged = isinstance(operation.patch, dict) and isinstance(operation.patch.get(name), dict)
    return operation.patch_type in ("strategic", "apply") or (operation.patch_type == "merge" and merged)


def kept(kind: Kind, data: bytes) -> dict[str, msgspec.Raw] | None:
    """Return how such members of an object are stored, `data`, where a write leaves them alone."""
    if not kind.spelled:
        return None
    members = _members(data)
    return {name: members[name] for name in kind.spelled if name in members}


def as_stored(kind: Kind, data: bytes) -> dict[str, bytes]:
    """Return how such members of an object are stored, `data`, for a write that sends them so."""
    return {name: bytes(text) for name, text in (kept(kind, data) or {}).items()}


def unchanged(
    kind: Kind, document: Mapping[str, Any], old: Mapping[str, Any], data: bytes, now: Mapping[str, msgspec.Raw] | None
) -> list[Cause]:
    """Refuse another spelling of what may not change; `data`: the object as it is stored."""
    causes: list[Cause] = []
    if now:
        was = _members(data)
        for name, text in now.items():
            if document[name] == old.get(name) and bytes(text) != bytes(was[name]):
                causes += [fields.bad(name, fields.written(msgspec.json.decode(text)), "field is immutable")]
    return causes
