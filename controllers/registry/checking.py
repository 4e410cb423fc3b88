"""The check of documents against the schema, in place.

`check` normalises a document that the caller owns: nulls go (as upstream's decoding drops them) but of times that
upstream always tells, numbers given for quantities become strings, unknown fields are reported and go.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Final

import msgspec

from controllers.log.stamps import wire_form
from controllers.registry import decoding
from controllers.registry.gotext import json_number
from controllers.registry.schema import FieldType, Model, model
from controllers.registry.zerotimes import ZERO_TIMES
from scheduler_core.api import quantity
from scheduler_core.api.errors import Cause

DEPTH_MAX: Final = 64
"""Levels of nesting in a document; the deepest field of a served kind lies at 14. It bounds recursion."""

QUANTITY_LETTERS_MAX: Final = 48
"""Letters of a quantity; int64 in nano units has 28. Bounds the arithmetic on hostile input."""


@dataclass(slots=True)
class Report:
    """What a check found: wrong types (fatal), missing required fields (fatal), unknown fields (as asked)."""

    wrong: list[Cause] = field(default_factory=list)
    missing: list[Cause] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    emptied: dict[str, Any] = field(default_factory=dict)
    """Where empty lists and maps were left out, metadata's aside."""
    off: dict[str, Any] = field(default_factory=dict)
    """Where something was left out because its feature is off, and what."""
    stops: int = 0
    """How many of `wrong`, its first ones, are of types that read themselves: at those Go's decoder stops."""

    def stop(self, cause: Cause) -> None:
        """Take what is wrong with a value of a type that reads itself: it is told before what is of another type."""
        self.wrong.insert(self.stops, cause)
        self.stops += 1


def json_of(value: Any) -> bytes:
    """Return a value as JSON; empty: it cannot be written so."""
    try:
        return msgspec.json.encode(value)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return b""


def too_deep(value: Any, encoded: bytes | None = None) -> bool:
    """Return whether a JSON value nests deeper than `DEPTH_MAX`, without recursion.

    `encoded`: what `json_of` makes of it, where that is known.
    """
    if encoded is None:
        encoded = json_of(value)
    if encoded and encoded.count(b"{") + encoded.count(b"[") <= DEPTH_MAX:
        # So few that they cannot nest deeper, whatever stands in texts.
        return False
    level = [value]
    for _ in range(DEPTH_MAX):
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item if isinstance(item, list) else ())
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return True


NULLS: Final[Mapping[str, tuple[str, ...]]] = {
    "batch_v1.PodFailurePolicy": ("rules",),
    "batch_v1.SuccessPolicy": ("rules",),
    "core_v1.ContainerImage": ("names",),
    "core_v1.LimitRangeSpec": ("limits",),
    "core_v1.ProjectedVolumeSource": ("sources",),
    "core_v1.TypedLocalObjectReference": ("apiGroup",),
    "core_v1.TypedObjectReference": ("apiGroup",),
    "rbac_v1.ClusterRole": ("rules",),
    "rbac_v1.Role": ("rules",),
    "resource_v1.AllocatedDeviceStatus": ("conditions",),
    "resource_v1.DeviceClaim": ("requests",),
    "resource_v1.ResourceSliceSpec": ("devices",),
    "storage_v1.CSINodeDriver": ("topologyKeys",),
    "storage_v1.CSINodeSpec": ("drivers",),
}
"""Struct → its lists and texts that upstream always tells, as null where there are none (no `omitempty`), among those
that may be so."""

_OFF: Final[Mapping[str, tuple[str, ...]]] = {
    "apps_v1.DeploymentStatus": ("terminatingReplicas",),
    "apps_v1.ReplicaSetStatus": ("terminatingReplicas",),
    "apps_v1.RollingUpdateStatefulSetStrategy": ("maxUnavailable",),
    "autoscaling_v2.HPAScalingRules": ("tolerance",),
    "coordination_v1.LeaseSpec": ("preferredHolder", "strategy"),
    "core_v1.ContainerStatus": ("allocatedResourcesStatus",),
    "core_v1.NodeSpec": ("configSource",),
    "core_v1.NodeStatus": ("config",),
    "core_v1.PodStatus": ("extendedResourceClaimStatus",),
    "discovery_v1.Endpoint": ("deprecatedTopology",),
    "resource_v1.Device": (
        "taints",
        "consumesCounters",
        "nodeName",
        "nodeSelector",
        "allNodes",
        "bindingConditions",
        "bindingFailureConditions",
        "bindsToNode",
        "allowMultipleAllocations",
    ),
    "resource_v1.DeviceCapacity": ("requestPolicy",),
    "resource_v1.DeviceClassSpec": ("extendedResourceName",),
    "resource_v1.DeviceSubRequest": ("capacity",),
    "resource_v1.ExactDeviceRequest": ("capacity",),
    "resource_v1.ResourceSliceSpec": ("sharedCounters", "perDeviceNodeSelection"),
    "storage_v1.CSIDriverSpec": ("nodeAllocatableUpdatePeriodSeconds",),
}
"""Struct → fields of features that v1.34 has off: what is sent is read, and goes (upstream's DropDisabledFields), as
does what an older version alone takes. Of the specs of pods see controllers/kinds/core/pod/defaults.py."""

_NOT_NONE: Final[Mapping[str, tuple[str, ...]]] = {"autoscaling_v2.HPAScalingRules": ("policies",)}
"""Struct → lists that upstream's defaults fill where there are none, and not where they are empty."""

GOOD_SPECS_MAX: Final = 1_000
"""Specs remembered as good, so that the pods of one template are checked once; past it all are forgotten."""

GOOD_SPEC_BYTES_MAX: Final = 16_384
"""Larger specs are checked each time."""

GOOD_SPEC_BYTES_MIN: Final = 256
"""Smaller ones, too: no two Leases are the same, and they would drive out what many objects have."""

TIMES_MAX: Final = 4_096
"""Times whose reading is remembered: objects of one second have one, and keep it."""

_GOOD_SPECS: set[tuple[str, bool, bytes]] = set()


def _remember(known: tuple[str, bool, bytes]) -> None:
    if len(_GOOD_SPECS) >= GOOD_SPECS_MAX:
        _GOOD_SPECS.clear()
    _GOOD_SPECS.add(known)


def check(document: dict[str, Any], key: str, path: str = "", *, require: bool = True) -> Report:
    """Check a document (or the part of one at `path`) against a struct and normalise it in place.

    `require` asks for the fields that v1.34 names required; what `status` lacks is never asked for.
    """
    report = Report()
    spec = document.get("spec")
    known = None
    if isinstance(spec, dict) and not path:
        encoded = msgspec.json.encode(spec)
        if GOOD_SPEC_BYTES_MIN <= len(encoded) <= GOOD_SPEC_BYTES_MAX:
            known = (key, require, encoded)
    if known is not None and known in _GOOD_SPECS:
        _check_struct(document, _shape(key), path, report, require, good="spec")
        return report
    _check_struct(document, _shape(key), path, report, require)
    clean = not (report.wrong or report.unknown or report.missing)
    # Only what the check left as it was: a normalised spec would have to be normalised again.
    if clean and known is not None and msgspec.json.encode(document["spec"]) == known[2]:
        _remember(known)
    return report


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the check of one struct goes by."""

    struct: Model
    fields: Mapping[str, FieldType]
    plain: Mapping[str, type]
    """Fields of which a value of this type is good and kept as it is, unless it is zero, or no number of `_SMALL`."""
    off: tuple[str, ...]
    """Fields that are read, and go."""
    zero_times: tuple[str, ...]
    nulls: tuple[str, ...]
    required: tuple[str, ...]


_PLAIN: Final[Mapping[str | None, type]] = {"string": str, "integer": int, "boolean": bool}


@cache
def _shape(key: str) -> _Shape:
    struct, off = model(key), _OFF.get(key, ())
    plain = {
        name: _PLAIN[entry.scalar]
        for name, entry in struct.fields.items()
        if entry.scalar in _PLAIN and not entry.container and name not in off
    }
    required = tuple(name for name, entry in struct.fields.items() if entry.required)
    return _Shape(struct, struct.fields, plain, off, ZERO_TIMES.get(key, ()), NULLS.get(key, ()), required)


def _check_struct(
    document: dict[str, Any], shape: _Shape, path: str, report: Report, require: bool, good: str | None = None
) -> None:
    fields, plain, off = shape.fields, shape.plain, shape.off
    for name, value in list(document.items()):
        of = type(value)
        if of is plain.get(name) and value and (of is not int or 0 < value < _SMALL):
            # Most of what documents hold.
            continue
        if name == good:
            continue
        entry = fields.get(name)
        where = f"{path}.{name}" if path else name
        if entry is None:
            if not shape.struct.open:
                report.unknown.append(where)
                del document[name]
            continue
        if value is None:
            del document[name]
            continue
        checked = _check_field(value, entry, where, report, require and where != "status")
        if name in off:
            if checked or not entry.container:
                report.off[where] = checked
            del document[name]
            continue
        if not checked and (entry.terse or _leaves_out(shape.struct, name, entry)):
            del document[name]
            if entry.container and not where.startswith("metadata"):
                report.emptied[where] = checked
            continue
        document[name] = checked
    for name in shape.zero_times:
        document.setdefault(name, None)
    for name in shape.nulls:
        # Of a change only the members of the object that are new come here.
        if path or name in document:
            value = document.get(name)
            if value == []:
                report.emptied[f"{path}.{name}" if path else name] = value
                value = None
            document[name] = value
    if require:
        for name in shape.required:
            if name not in document:
                where = f"{path}.{name}" if path else name
                report.missing.append(Cause(where, "Required value", "FieldValueRequired"))


_SMALL: Final = 2**31
"""Whole numbers below it are good for each of Go's types that a field has."""

_ZEROES: Final[Mapping[str | None, Any]] = {"integer": 0, "number": 0, "boolean": False, "string": "", "quantity": "0"}
_NULL_ITEMS: Final[Mapping[str | None, Any]] = {**_ZEROES, "bytes": "", "int-or-string": 0}


def fill(value: Any, schema: str) -> None:
    """Put into a struct what Go always writes of it: what is told though it is zero, lists and maps aside."""
    if isinstance(value, list):
        for item in value:
            fill(item, schema)
        return
    if not isinstance(value, dict):
        return
    for name, entry in model(schema).fields.items():
        if name in value:
            if entry.model and entry.container != "map":
                fill(value[name], entry.model)
        elif (entry.required or entry.kept) and not entry.container and entry.scalar in _ZEROES:
            value[name] = _ZEROES[entry.scalar]


def zero_of(key: str, parts: Sequence[str]) -> Any:
    """Return what Go writes of a field that is told though nobody sent it; None: of lists and maps other rules tell.

    Args:
        key: the struct of the document.
        parts: the way from there to the field, places in lists and keys of maps among it.
    """
    waiting = list(parts)
    entry = model(key).fields[waiting.pop(0)]
    while waiting:
        if entry.container:
            waiting.pop(0)
        entry = model(entry.model).fields[waiting.pop(0)]
    if entry.container:
        return None
    return {} if entry.model else _ZEROES.get(entry.scalar)


def _leaves_out(struct: Model, name: str, entry: FieldType) -> bool:
    """Return whether an empty list or map goes: upstream leaves most of those out that may be left out."""
    if not entry.container or entry.required or struct.key.startswith("clustersim_"):
        return False
    return name not in _NOT_NONE.get(struct.key, ())


def _check_field(value: Any, entry: FieldType, path: str, report: Report, require: bool) -> Any:
    if entry.container == "list":
        if not isinstance(value, list):
            return _mismatch(value, entry, path, report)
        return [
            _check_item(_empty(entry) if item is None else item, entry, f"{path}[{index}]", report, require)
            for index, item in enumerate(value)
        ]
    if entry.container == "map":
        if not isinstance(value, dict):
            return _mismatch(value, entry, path, report)
        if entry.scalar == "string" and not [one for one in value.values() if not isinstance(one, str)]:
            return value
        held = {key: _null_of(entry) if item is None else item for key, item in value.items()}
        return {
            key: None if item is None else _check_member(item, entry, path, key, report, require)
            for key, item in held.items()
        }
    return _check_item(value, entry, path, report, require)


def _null_of(entry: FieldType) -> Any:
    """Return what Go makes of a null in a map."""
    if entry.scalar in ("texts", "time"):
        return None
    return _empty(entry)


def _empty(entry: FieldType) -> Any:
    """Return what Go makes of a null in a list: the zero value of the items' type."""
    return {} if entry.scalar is None else _NULL_ITEMS.get(entry.scalar)


def _check_member(value: Any, entry: FieldType, path: str, key: str, report: Report, require: bool) -> Any:
    """Check what lies in a map under a key. Of what is unknown there upstream's decoder tells with a point."""
    where, before = f"{path}[{key}]", len(report.unknown)
    checked = _check_item(value, entry, where, report, require)
    report.unknown[before:] = [f"{path}.{key}{name.removeprefix(where)}" for name in report.unknown[before:]]
    return checked


def _check_item(value: Any, entry: FieldType, path: str, report: Report, require: bool) -> Any:
    if entry.scalar is None:
        if not isinstance(value, dict):
            return _mismatch(value, entry, path, report, entry.item_name)
        _check_struct(value, _shape(entry.model), path, report, require)
        return value
    match entry.scalar:
        case "string":
            good = isinstance(value, str)
        case "integer":
            good = decoding.fits(value, entry.item_name)
        case "boolean":
            good = isinstance(value, bool)
        case "number":
            good = isinstance(value, (int, float)) and not isinstance(value, bool)
        case "int-or-string":
            good = isinstance(value, str) or decoding.fits(value, "int32")
        case "time" | "micro-time":
            return _check_time(value, entry, path, report)
        case "bytes" if isinstance(value, list):
            return _check_numbers(value, entry, path, report)
        case "bytes":
            good = isinstance(value, str)
            if good and (why := decoding.base64_error(value)):
                report.wrong.append(Cause(path, why, "FieldValueInvalid"))
                return value
            if good and ("\n" in value or "\r" in value):
                return value.replace("\n", "").replace("\r", "")
        case "quantity":
            return _check_quantity(value, path, report)
        case "texts":
            return _check_texts(value, entry, path, report)
        case "nothing":
            good = isinstance(value, dict)
            if good:
                report.unknown.extend(f"{path}.{name}" for name in value)
                return {}
        case "any":
            good = True
    return value if good else _mismatch(value, entry, path, report, entry.item_name)


def _check_texts(value: Any, entry: FieldType, path: str, report: Report) -> Any:
    if not isinstance(value, list):
        return _mismatch(value, entry, path, report, entry.item_name)
    texts = ["" if text is None else text for text in value]
    for text in texts:
        if not isinstance(text, str):
            return _mismatch(text, entry, path, report, decoding.element(entry.item_name))
    return texts


def _check_numbers(value: list[Any], entry: FieldType, path: str, report: Report) -> Any:
    """Return bytes that were sent as numbers, as base64: Go reads them too."""
    numbers = [0 if number is None else number for number in value]
    for number in numbers:
        if type(number) is not int or not 0 <= number < decoding.BYTE:
            return _mismatch(number, entry, path, report, decoding.NUMBER_OF_BYTE)
    return base64.b64encode(bytes(numbers)).decode()


def _check_time(value: Any, entry: FieldType, path: str, report: Report) -> Any:
    if not isinstance(value, str):
        return _mismatch(value, entry, path, report, entry.item_name)
    why, written = _read_time(value, entry.scalar == "micro-time")
    return _unread(value, why, path, report) if written is None else written


@lru_cache(maxsize=TIMES_MAX)
def _read_time(value: str, micro: bool) -> tuple[str, str | None]:
    """Return what is wrong with a time, and as what it is kept; None: it is not."""
    why = decoding.time_error(value, micro=micro)
    written = None if why else wire_form(value, micro=micro)
    return why or f'parsing time "{value}": out of range', written


def _check_quantity(value: Any, path: str, report: Report) -> Any:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    text = (json_number(value) if isinstance(value, float) else text).strip()
    try:
        if len(text) > QUANTITY_LETTERS_MAX:
            raise quantity.QuantityError("quantity is too long")
        return quantity.canonical(text)
    except quantity.QuantityError:
        return _unread(value, decoding.quantity_error(text[:QUANTITY_LETTERS_MAX]), path, report)


def _unread(value: Any, why: str, path: str, report: Report) -> Any:
    report.stop(Cause(path, why, "FieldValueInvalid"))
    return value


_SELF_READING: Final = ("int-or-string", "time", "micro-time")


def _mismatch(value: Any, entry: FieldType, path: str, report: Report, type_name: str = "") -> Any:
    message = decoding.mismatch(value, entry.owner, path, type_name or entry.go_name)
    cause = Cause(path, message, "FieldValueTypeInvalid")
    if entry.scalar in _SELF_READING and not (entry.container and isinstance(value, (dict, list))):
        report.stop(cause)
    else:
        report.wrong.append(cause)
    return value
