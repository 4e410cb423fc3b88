"""A document as its struct, with the path of every field that is wrong; `msgspec.convert` alone stops at the first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import FieldInfo

from scheduler_core.api.errors import Cause
from scheduler_core.api.said import said

_Struct = TypeVar("_Struct", bound=msgspec.Struct)
_PLACE = re.compile(r" - at `(?:key in )?\$(.*)`$")


def convert(document: Any, of: type[_Struct], path: str = "") -> tuple[_Struct | None, list[Cause]]:
    """Return a document as a struct, or None with what is wrong with it, at most one cause a leaf."""
    causes = list(_struct(document, of, path))
    return (None, causes) if causes else (msgspec.convert(document, of), [])


def _struct(document: Any, of: type[msgspec.Struct], path: str) -> Iterator[Cause]:
    if not isinstance(document, dict):
        yield Cause(path, said("package.mapping", "must be a mapping"))
        return
    fields, hints = _shape(of)
    for key in document:
        if key not in fields:
            close = get_close_matches(str(key), fields, 1, 0.6)
            hint = (
                said("package.meant", "did you mean {close}?", close=close[0])
                if close
                else said("package.known", "known are {known}", known=", ".join(sorted(fields)))
            )
            yield Cause(_below(path, key), said("package.unknownField", "unknown field: {hint}", hint=hint))
    for name, field in fields.items():
        if name in document:
            yield from _value(document[name], hints[field.name], _below(path, name))
        elif field.required:
            yield Cause(_below(path, name), said("package.required", "is required"))


@cache
def _shape(of: type[msgspec.Struct]) -> tuple[dict[str, FieldInfo], dict[str, Any]]:
    """Return a struct's fields by the names that they have in a document, and the types by their own."""
    return {field.encode_name: field for field in msgspec.structs.fields(of)}, get_type_hints(of, include_extras=True)


def _value(value: Any, hint: Any, path: str) -> Iterator[Cause]:
    bare = _bare(hint)
    if isinstance(bare, type) and issubclass(bare, msgspec.Struct):
        yield from _struct(value, bare, path)
        return
    (item, *_) = get_args(bare) or (None,)
    if get_origin(bare) is list and isinstance(value, list) and isinstance(item, type):
        inner = item if issubclass(item, msgspec.Struct) else None
        found = [cause for index, one in enumerate(value) if inner for cause in _struct(one, inner, f"{path}[{index}]")]
        if found:
            yield from found
            return
    try:
        msgspec.convert(value, hint)
    except msgspec.ValidationError as wrong:
        place = _PLACE.search(str(wrong))
        text = _PLACE.sub("", str(wrong))
        yield Cause(path + (place[1] if place else ""), text[:1].lower() + text[1:])


def _bare(hint: Any) -> Any:
    """Return a hint without `Annotated` and None."""
    while True:
        if get_origin(hint) is Annotated:
            hint = hint.__origin__
        elif get_origin(hint) in (Union, UnionType) and type(None) in get_args(hint):
            left = tuple(part for part in get_args(hint) if part is not type(None))
            hint = left[0] if len(left) == 1 else Union[left]  # noqa: UP007
            if len(left) > 1:
                return hint
        else:
            return hint


def _below(path: str, key: Any) -> str:
    return f"{path}.{key}" if path else str(key)
