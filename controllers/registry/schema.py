"""The schema: every field of every kind with its type, read lazily from the model classes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final, Literal, get_args, get_origin

import msgspec

from controllers.registry import decoding
from controllers.registry.descriptions import described
from controllers.registry.merging import MAP_STRUCTS, MAP_VALUES
from controllers.registry.structs import Field, fields_of

Scalar = Literal[
    "string",
    "integer",
    "number",
    "boolean",
    "quantity",
    "int-or-string",
    "time",
    "micro-time",
    "bytes",
    "texts",
    "nothing",
    "any",
]
"""`texts`: a list of them, where a map holds lists; `nothing`: an object without members."""

_SCALARS: Final[dict[str, Scalar]] = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "any": "any",
    "resource.Quantity": "quantity",
    "util_intstr.IntOrString": "int-or-string",
    "Time": "time",
    "MicroTime": "micro-time",
    "meta_v1.Time": "time",
    "meta_v1.MicroTime": "micro-time",
    "FieldsV1": "any",
    "runtime.RawExtension": "any",
    "JSON": "any",
    "CustomResourceSubresourceStatus": "nothing",
    "JSONSchemaPropsOrArray": "any",
    "JSONSchemaPropsOrBool": "any",
    "JSONSchemaPropsOrStringArray": "any",
}

_BYTES: Final = "[]uint8"
_TERSE: Final = frozenset({"str", "int", "float", "bool"})

_GO_NAMES: Final[dict[str, str]] = {
    "string": "string",
    "integer": "int64",
    "number": "float64",
    "boolean": "bool",
    "time": "v1.Time",
    "micro-time": "v1.MicroTime",
    "bytes": "[]uint8",
    "quantity": "resource.Quantity",
    "int-or-string": "intstr.IntOrString",
    "texts": "[]string",
    "any": "object",
}

_INNER: Final[dict[str, str]] = {"time": "string", "micro-time": "string", "int-or-string": "int32"}
"""What Go reads of a scalar that reads itself."""


@dataclass(frozen=True, slots=True)
class FieldType:
    """One field: its wire name, what it holds (a scalar or a model's name), and in what container."""

    name: str
    scalar: Scalar | None
    model: str
    container: Literal["", "list", "map"]
    required: bool
    owner: str = ""
    """The struct that holds it."""
    go: str = ""
    """What Go calls its type, where the rest does not say."""
    terse: bool = False
    """Whether it is left out where it is zero, as Go's encoder leaves it out."""
    kept: bool = False
    """Whether it is told even where it is zero, though it may be left out."""

    @property
    def go_name(self) -> str:
        """Return the type's name as upstream's decoding errors have it."""
        if self.go:
            return self.go
        module, _, name = self.model.partition(".")
        inner = _GO_NAMES[self.scalar] if self.scalar else f"{module.rpartition('_')[2]}.{name}"
        return {"": inner, "list": f"[]{inner}", "map": f"map[string]{inner}"}[self.container]

    @property
    def item_name(self) -> str:
        """Return the name of the type of one value of it."""
        if self.scalar in _INNER:
            return _INNER[self.scalar]
        return decoding.element(self.go_name) if self.container else self.go_name


@dataclass(frozen=True, slots=True)
class Model:
    """One struct of the schema. `key` is `core_v1.PodSpec`."""

    key: str
    description: str
    fields: dict[str, FieldType]
    descriptions: dict[str, str]
    open: bool

    @property
    def name(self) -> str:
        """Return what Go calls the struct in its package."""
        return self.key.rpartition(".")[2]


def _field_type(module: str, owner: str, name: str, annotation: str, default: Any) -> FieldType:
    required = not annotation.startswith("Optional[")
    inner = annotation if required else annotation.removeprefix("Optional[").removesuffix("]")
    container: Literal["", "list", "map"] = ""
    if inner.startswith("List["):
        container, inner = "list", inner.removeprefix("List[").removesuffix("]")
    wire = default["json"] if isinstance(default, dict) and "json" in default else name
    go = decoding.go_types().get(f"{module}.{owner}", {}).get(wire, "")
    terse = not required and not container and inner in _TERSE and go[:1] not in ("*", "!")
    told = (owner, go.lstrip("*!"), terse and decoding.is_told(module), go[:1] == "!")
    if inner == "dict":
        struct = MAP_STRUCTS.get((f"{module}.{owner}", wire))
        if struct is not None:
            return FieldType(wire, None, struct, "map", required, *told)
        return FieldType(wire, MAP_VALUES.get((f"{module}.{owner}", wire), "string"), "", "map", required, *told)
    if inner.startswith("dict["):
        value = inner.removeprefix("dict[").removesuffix("]")
        if value == "any":
            return FieldType(wire, "any", "", container, required, *told)
        return FieldType(wire, _SCALARS[value], "", "map", required, *told)
    if go == _BYTES:
        return FieldType(wire, "bytes", "", container, required, *told)
    if inner in _SCALARS:
        return FieldType(wire, _SCALARS[inner], "", container, required, *told)
    return FieldType(wire, None, inner if "." in inner else f"{module}.{inner}", container, required, *told)


def is_model(key: str) -> bool:
    """Return whether there is a struct of a name that somebody sent."""
    if not re.fullmatch(r"[a-z0-9_]+\.[A-Za-z0-9]+", key):
        return False
    try:
        model(key)
    except (AttributeError, KeyError):
        # AttributeError: what the module of the structs imports is no struct.
        return False
    return True


@cache
def model(key: str) -> Model:
    """Return the struct `<module>.<class>`, reading its module on first use.

    Raises:
        KeyError: no such struct.
    """
    module, _, name = key.partition(".")
    try:
        cls = getattr(import_module(f"controllers.registry.models.{module}"), name)
    except (ImportError, AttributeError) as error:
        raise KeyError(key) from error
    if isinstance(cls, type) and issubclass(cls, msgspec.Struct):
        return _struct_model(key, module, cls)
    description, descriptions = described(cls.__doc__ or "")
    fields = {}
    for python_name, annotation in cls.__annotations__.items():
        entry = _field_type(module, name, python_name, annotation, cls.__dict__.get(python_name))
        fields[entry.name] = entry
    return Model(key, description, fields, descriptions, getattr(cls, "open_fields", False))


def _struct_model(key: str, module: str, cls: type[msgspec.Struct]) -> Model:
    """Return the model of a typed command object; the outermost has the envelope of every object beside its parts."""
    known = {field.wire: _struct_field(module, cls.__name__, field) for field in fields_of(cls)}
    if known.keys() & {"spec", "status"}:
        envelope = {name: FieldType(name, "string", "", "", False) for name in ("apiVersion", "kind")}
        known = {
            **envelope,
            "metadata": FieldType("metadata", None, "meta_v1.ObjectMeta", "", False, cls.__name__),
            **known,
        }
    descriptions = {field.wire: field.meta.description for field in fields_of(cls) if field.meta.description}
    return Model(key, " ".join((cls.__doc__ or "").split()), known, descriptions, getattr(cls, "open_fields", False))


@cache
def places_of(wanted: str, key: str) -> tuple[tuple[str, ...], ...]:
    """Return the paths at which a struct holds another, lists and maps aside: `("spec", "template", "spec")`.

    Args:
        wanted: the model that is looked for, `core_v1.PodSpec`.
        key: the struct that is searched.
    """
    found: list[tuple[str, ...]] = []
    waiting: list[tuple[tuple[str, ...], tuple[str, ...]]] = [((), (key,))]
    while waiting:
        path, above = waiting.pop()
        if above[-1] == wanted:
            found.append(path)
            continue
        waiting += [
            ((*path, entry.name), (*above, entry.model))
            for entry in model(above[-1]).fields.values()
            if entry.model and not entry.container and entry.model not in above
        ]
    return tuple(sorted(found))


_OF_PYTHON: Final[dict[Any, Scalar]] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _struct_field(module: str, owner: str, field: Field) -> FieldType:
    of = field.type
    container: Literal["", "list", "map"] = ""
    if field.options:
        of = str
    elif get_origin(of) is list:
        (of,), container = get_args(of), "list"
    elif get_origin(of) is dict and get_args(of)[1] is not Any:
        of, container = get_args(of)[1], "map"
    if isinstance(of, type) and issubclass(of, msgspec.Struct):
        return FieldType(field.wire, None, f"{module}.{of.__name__}", container, False, owner)
    return FieldType(field.wire, _OF_PYTHON.get(of, "any"), "", container, False, owner)
