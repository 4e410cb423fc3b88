"""Typed command objects: reading documents into their structs, and the limits that the structs state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from controllers.registry import fields
from scheduler_core.api.errors import Cause

_Struct = TypeVar("_Struct", bound=msgspec.Struct)


class Field(NamedTuple):
    """One field of a struct: its names, its type without None and `Annotated`, its bounds."""

    name: str
    wire: str
    type: Any
    meta: Meta

    @property
    def options(self) -> tuple[str, ...]:
        """Return the texts that a `Literal` allows; empty for others."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()


@cache
def fields_of(of: type[msgspec.Struct]) -> tuple[Field, ...]:
    """Return the fields of a struct, in order."""
    hints = get_type_hints(of, include_extras=True)
    return tuple(Field(one.name, one.encode_name, *_bare(hints[one.name])) for one in msgspec.structs.fields(of))


def _bare(hint: Any) -> tuple[Any, Meta]:
    """Return a hint without None and `Annotated`, and what the latter said."""
    meta = Meta()
    while True:
        if get_origin(hint) is Annotated:
            hint, meta = hint.__origin__, hint.__metadata__[0]
        elif type(None) in get_args(hint) and get_origin(hint) is not Literal:
            hint = Union[tuple(part for part in get_args(hint) if part is not type(None))]  # noqa: UP007
        else:
            return hint, meta


def bounds(of: type[msgspec.Struct], name: str) -> tuple[Any, Any]:
    """Return the lowest and the highest value of a field; both are allowed."""
    meta = next(one.meta for one in fields_of(of) if one.name == name)
    return meta.ge, meta.le


def options(of: type[msgspec.Struct], name: str) -> tuple[str, ...]:
    """Return the texts that a field allows."""
    return next(one.options for one in fields_of(of) if one.name == name)


def beyond(value: Mapping[str, Any], of: type[msgspec.Struct], path: str) -> list[Cause]:
    """Return what goes beyond a struct's limits in a part of a document whose types have been checked."""
    return list(_beyond(value, of, path))


def _beyond(value: Mapping[str, Any], of: type[msgspec.Struct], path: str) -> Iterator[Cause]:
    for field in fields_of(of):
        found, where = value.get(field.wire), f"{path}.{field.wire}"
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            if isinstance(found, Mapping):
                yield from _beyond(found, field.type, where)
        elif field.options:
            # A request without it says nothing that can be obeyed.
            yield from fields.one_of(where, found, field.options)
        elif found is not None and not _is_within(found, field.meta):
            yield fields.bad(where, found, _told(field.meta))


def _is_within(value: Any, meta: Meta) -> bool:
    low, high, above = meta.ge, meta.le, meta.gt
    return (low is None or value >= low) and (high is None or value <= high) and (above is None or value > above)


def _told(meta: Meta) -> str:
    if meta.gt is not None:
        return f"must be greater than {meta.gt}"
    return (
        f"must be between {meta.ge:g} and {meta.le:g}"
        if isinstance(meta.ge, float)
        else (f"must be between {meta.ge} and {meta.le}")
    )


def read(document: Mapping[str, Any] | None, of: type[_Struct]) -> _Struct:
    """Return a document, or a part of one, as its struct; a member that is not as it should be counts as absent.

    What stands in the log may be of another time, or of somebody else: nothing that is read back may stop the engine.
    """
    document = document if isinstance(document, Mapping) else {}
    try:
        return msgspec.convert(document, of)
    except msgspec.ValidationError:
        return of(**dict(_members(document, of)))


def is_whole(value: Any, of: type[msgspec.Struct]) -> bool:
    """Return whether a value has all that a struct asks for."""
    try:
        msgspec.convert(value, of)
    except msgspec.ValidationError:
        return False
    return True


def _members(document: Mapping[str, Any], of: type[msgspec.Struct]) -> Iterator[tuple[str, Any]]:
    hints = get_type_hints(of, include_extras=True)
    for field in fields_of(of):
        if field.wire not in document:
            continue
        value = document[field.wire]
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct) and isinstance(value, Mapping):
            yield field.name, read(value, field.type)
            continue
        try:
            yield field.name, msgspec.convert(value, hints[field.name])
        except msgspec.ValidationError:
            continue
