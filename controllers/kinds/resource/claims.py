"""What claims of devices have in common: requests, constraints and configuration.

Source: pkg/apis/resource (defaults, validation), v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from controllers.kinds.storage.common import driver_name
from controllers.registry import fields
from controllers.registry.kind import Lookup
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause
from scheduler_core.devices.selecting import compile_selector
from scheduler_core.expressions.language import CompileError

GROUP: Final = "resource.k8s.io"
ITEMS_MAX: Final = 32
"""Requests, constraints, configurations and selectors of one claim, as upstream."""

SUBREQUESTS_MAX: Final = 8
"""Alternatives of one request, as upstream."""

EXPRESSION_BYTES_MAX: Final = 10_240
"""Bytes of one selector's expression, as upstream."""

_MODES: Final = ("All", "ExactCount")
_ONE_OF: Final = "exactly one of `exactly` or `firstAvailable` is required"
_NOT_A_REQUEST: Final = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)

_ADMIN_LABEL: Final = "resource.kubernetes.io/admin-access"
_POOL_LETTERS_MAX: Final = 253
_NAME_BYTES_MAX: Final = 32
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_IDENTIFIER_TEXT: Final = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
)

Check = Callable[[str, Any], list[Cause]]


def defaults(spec: Mapping[str, Any] | None) -> None:
    """Fill in how many devices each request means."""
    for request in at(spec or {}, "devices", "requests") or ():
        for one in (request.get("exactly"), *(request.get("firstAvailable") or ())):
            if one is not None:
                if not one.get("allocationMode"):
                    one["allocationMode"] = "ExactCount"
                if one["allocationMode"] == "ExactCount" and not one.get("count"):
                    one["count"] = 1
                for toleration in one.get("tolerations") or ():
                    if not toleration.get("operator"):
                        toleration["operator"] = "Equal"


def spec(field: str, document: Mapping[str, Any] | None) -> list[Cause]:
    """Check a ResourceClaimSpec."""
    devices = (document or {}).get("devices") or {}
    requests = devices.get("requests") or ()
    names = request_names(requests)
    where = f"{field}.devices"

    def constraint(place: str, one: Mapping[str, Any]) -> list[Cause]:
        causes = references(f"{place}.requests", one.get("requests") or (), names)
        for key in ("matchAttribute", "distinctAttribute"):
            if key in one:
                return causes + _qualified(f"{place}.{key}", one[key])
        return [*causes, fields.required(f"{place}.matchAttribute")]

    def configuration(place: str, one: Mapping[str, Any]) -> list[Cause]:
        return references(f"{place}.requests", one.get("requests") or (), names) + config(place, one)

    causes = distinct(f"{where}.requests", requests, ITEMS_MAX, _request)
    causes += each(f"{where}.constraints", devices.get("constraints") or (), ITEMS_MAX, constraint)
    return causes + each(f"{where}.config", devices.get("config") or (), ITEMS_MAX, configuration)


def each(field: str, items: Sequence[Any], most: int, check: Check) -> list[Cause]:
    """Check each item of a list that has at most so many."""
    causes = [fields.too_many(field, len(items), most)] if len(items) > most else []
    for index, item in enumerate(items):
        causes += check(f"{field}[{index}]", item)
    return causes


def distinct(field: str, items: Sequence[Mapping[str, Any]], most: int, check: Check, key: str = "name") -> list[Cause]:
    """Check each item of a list, and that no two have the same name, or what else tells them apart."""
    causes = each(field, items, most, check)
    seen: set[str] = set()
    for index, item in enumerate(items):
        name = item.get(key) or ""
        if name in seen:
            causes.append(fields.duplicate(f"{field}[{index}].{key}", name))
        seen.add(name)
    return causes


def admin_access(document: Mapping[str, Any], requests: Sequence[Mapping[str, Any]], lookup: Lookup) -> list[Cause]:
    """Check that the namespace lets in who asks for the access of an administrator (AuthorizedForAdmin)."""
    asking = (index for index, one in enumerate(requests) if at(one, "exactly", "adminAccess"))
    first = next(asking, None)
    if first is None:
        return []
    home = lookup.get("namespaces", "", document["metadata"].get("namespace") or "") or {}
    if (at(home, "metadata", "labels") or {}).get(_ADMIN_LABEL) == "true":
        return []
    why = f"admin access to devices requires the `{_ADMIN_LABEL}: true` label on the containing namespace"
    return [fields.not_allowed(f"spec.devices.requests[{first}].adminAccess", why)]


def selectors(field: str, items: Sequence[Mapping[str, Any]]) -> list[Cause]:
    """Check CEL selectors."""

    def selector(place: str, one: Mapping[str, Any]) -> list[Cause]:
        if "cel" not in one:
            return [fields.required(f"{place}.cel")]
        expression = at(one, "cel", "expression") or ""
        if len(expression.encode()) > EXPRESSION_BYTES_MAX:
            return [fields.too_long(f"{place}.cel.expression", EXPRESSION_BYTES_MAX)]
        return _compiles(f"{place}.cel.expression", expression)

    return each(field, items, ITEMS_MAX, selector)


def _compiles(where: str, source: str) -> list[Cause]:
    try:
        found = compile_selector(source)
    except CompileError as wrong:
        return [fields.bad(where, source, f"compilation failed: {wrong}")]
    if found.type in ("bool", "any", "dyn"):
        return []
    return [fields.bad(where, source, f"must evaluate to bool or the unknown type, not {found.type}")]


def config(place: str, one: Mapping[str, Any]) -> list[Cause]:
    """Check a DeviceConfiguration."""
    opaque = one.get("opaque")
    if opaque is None:
        return [fields.required(f"{place}.opaque")]
    causes = driver_name(f"{place}.opaque.driver", opaque.get("driver") or "")
    parameters, field = opaque.get("parameters"), f"{place}.opaque.parameters"
    if parameters is None:
        return [*causes, fields.required(field)]
    if not isinstance(parameters, dict):
        causes.append(fields.bad(field, "<value omitted>", "must be a valid JSON object"))
    return causes


def request_names(requests: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return how requests, and their alternatives, may be called."""
    names: set[str] = set()
    for request in requests:
        name = request.get("name") or ""
        names |= {name, *(f"{name}/{one.get('name')}" for one in request.get("firstAvailable") or ())}
    return names


def reference(where: str, name: str, names: set[str]) -> list[Cause]:
    """Check what names a request of the claim."""
    parts = name.split("/")
    causes = [cause for part in parts for cause in _request_name(where, part)] if len(parts) <= 2 else []
    return causes if name in names else [*causes, fields.bad(where, name, _NOT_A_REQUEST)]


def references(field: str, listed: Sequence[str], names: set[str]) -> list[Cause]:
    """Check what names requests of the claim, none of them twice."""
    causes: list[Cause] = []
    for index, name in enumerate(listed):
        where = f"{field}[{index}]"
        causes += reference(where, name, names)
        if name in listed[:index]:
            causes.append(fields.duplicate(where, name))
    return causes


def pool_name(field: str, name: str) -> list[Cause]:
    """Check what a pool of devices is called."""
    if not name:
        return [fields.required(field)]
    causes = [fields.too_long(field, _POOL_LETTERS_MAX)] if len(name) > _POOL_LETTERS_MAX else []
    return causes + [cause for part in name.split("/") for cause in fields.subdomain(field, part)]


def _qualified(field: str, name: str) -> list[Cause]:
    """Check the name of an attribute with its domain (validateFullyQualifiedName)."""
    causes = attribute_name(field, name)
    bare = name and "/" not in name
    return [*causes, fields.bad(field, name, "must include a domain")] if bare else causes


def attribute_name(field: str, name: str) -> list[Cause]:
    """Check the name of an attribute or a capacity, its domain being the driver's if it has none."""
    parts = name.split("/")
    if not name:
        return [fields.required(field, "name required")]
    if len(parts) == 1:
        return _identifier(field, name)
    if len(parts) > 2:
        return []
    domain, bare = parts
    causes = driver_name(field, domain) if domain else [fields.required(field, "the domain must not be empty")]
    return causes + (_identifier(field, bare) if bare else [fields.required(field, "the name must not be empty")])


def _identifier(field: str, name: str) -> list[Cause]:
    causes = [fields.too_long(field, _NAME_BYTES_MAX)] if len(name.encode()) > _NAME_BYTES_MAX else []
    return causes if _IDENTIFIER.fullmatch(name) else [*causes, fields.bad(field, name, _IDENTIFIER_TEXT)]


def _toleration(where: str, one: Mapping[str, Any]) -> list[Cause]:
    """Check a DeviceToleration."""
    causes = fields.qualified_name(f"{where}.key", one["key"]) if one.get("key") else []
    operator, value, effect = one.get("operator") or "", one.get("value") or "", one.get("effect")
    if operator == "Exists":
        why = "must be empty for operator `Exists`"
        causes += [fields.bad(f"{where}.value", value, why)] if value else []
    elif operator == "Equal":
        causes += fields.label_value(f"{where}.value", value)
    else:
        causes += fields.one_of(f"{where}.operator", operator, ("Equal", "Exists"), needed=True)
    return causes + fields.one_of(f"{where}.effect", effect, ("NoExecute", "NoSchedule"))


def _request_name(field: str, name: str) -> list[Cause]:
    return fields.label_name(field, name)


def _request(where: str, request: Mapping[str, Any]) -> list[Cause]:
    causes = _request_name(f"{where}.name", request.get("name") or "")
    exactly, first = request.get("exactly"), request.get("firstAvailable") or ()
    if first:
        causes += distinct(f"{where}.firstAvailable", first, SUBREQUESTS_MAX, _alternative)
    if exactly is not None:
        causes += _devices(f"{where}.exactly", exactly)
    if exactly is None and not first:
        causes.append(fields.required(where, _ONE_OF))
    elif exactly is not None and first:
        causes.append(fields.bad(where, None, f"{_ONE_OF}, but multiple fields are set"))
    return causes


def _alternative(where: str, request: Mapping[str, Any]) -> list[Cause]:
    return _request_name(f"{where}.name", request.get("name") or "") + _devices(where, request)


def _devices(where: str, request: Mapping[str, Any]) -> list[Cause]:
    name = request.get("deviceClassName") or ""
    field = f"{where}.deviceClassName"
    causes = fields.subdomain(field, name) if name else [fields.required(field)]
    causes += selectors(f"{where}.selectors", request.get("selectors") or ())
    mode, count = request["allocationMode"], request.get("count") or 0
    if mode not in _MODES:
        causes.append(fields.unsupported(f"{where}.allocationMode", mode, _MODES))
    elif mode == "All" and count:
        causes.append(fields.bad(f"{where}.count", count, "must not be specified when allocationMode is 'All'"))
    elif mode == "ExactCount" and count <= 0:
        causes.append(fields.bad(f"{where}.count", count, "must be greater than zero"))
    for index, one in enumerate(request.get("tolerations") or ()):
        causes += _toleration(f"{where}.tolerations[{index}]", one)
    return causes
