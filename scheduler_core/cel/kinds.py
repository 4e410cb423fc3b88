"""What the variables of an expression are: the typed views of pods and nodes, looked into member by member."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from msgspec import inspect

from scheduler_core.api.node import Node
from scheduler_core.api.pod import Pod

Kind = inspect.Type | None
"""The type of a value, as msgspec describes it; None: nobody knows."""

_NUMBERS: Final = inspect.DictType(inspect.StrType(), inspect.IntType())
_POD: Final = inspect.type_info(Pod)

VARIABLES: Final[Mapping[str, Kind]] = {
    "pod": _POD,
    "node": inspect.type_info(Node),
    "pods": inspect.VarTupleType(_POD),
    "requests": _NUMBERS,
    "requested": _NUMBERS,
    "allocatable": _NUMBERS,
}
"""The variables that expressions may name.

`pod` is the pod to place and `node` the node asked about, as their documents have them; `pods` are those on the node.
`requests` is what the pod asks for, `requested` what all pods on the node ask for together, `allocatable` what the node
has: resource → a whole number, cpu in millicores, all else in units (bytes)."""


def there_are(variables: Iterable[str], functions: Iterable[str] = ()) -> str:
    """Return a sentence's end that says what may be named."""
    told = {"variables": ", ".join(variables), "functions": ", ".join(functions)}
    return " and ".join(f"{what} are {names}" for what, names in told.items() if names)


_SCALARS: Final = (inspect.StrType, inspect.IntType, inspect.FloatType, inspect.BoolType)


class Value(NamedTuple):
    """What is known of an expression's value: its type, and which part of a variable it is."""

    kind: Kind = None
    root: str = ""
    path: tuple[str, ...] = ()


def _alone(kind: Kind) -> Kind:
    """Return an optional member's type; scalars of several types are as good as one."""
    if not isinstance(kind, inspect.UnionType):
        return kind
    kinds = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
    return kinds[0] if len(kinds) == 1 or all(is_scalar(one) for one in kinds) else None


def is_scalar(kind: Kind) -> bool:
    """Return whether it is certain to be a single value."""
    return isinstance(kind, _SCALARS)


def fields_of(kind: Kind) -> Mapping[str, Any] | None:
    """Return an object's fields by the names in its document; None: it is no object of known fields."""
    if not isinstance(kind, inspect.StructType):
        return None
    return {field.encode_name: field for field in kind.fields}


def element_of(kind: Kind) -> Kind:
    """Return the type of a list's elements or of a map's values."""
    if isinstance(kind, inspect.VarTupleType):
        return _alone(kind.item_type)
    return _alone(kind.value_type) if isinstance(kind, inspect.DictType) else None


def loop_kind(kind: Kind) -> Kind:
    """Return the type of what a loop runs over: a list's elements, a map's keys."""
    return inspect.StrType() if isinstance(kind, inspect.DictType | inspect.StructType) else element_of(kind)


def member_of(value: Value, field: str) -> Value:
    """Return what `.field` of a value is; of an object with known fields the field must be one of them."""
    fields = fields_of(value.kind)
    kind = element_of(value.kind) if fields is None else _alone(fields[field].type)
    path = value.path
    if fields is not None and value.root and len(path) < 2:
        return Value(kind, value.root, (*path, field))
    return Value(kind, value.root, path)
