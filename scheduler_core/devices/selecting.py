"""Expressions that select devices.

Source: k8s.io/dynamic-resource-allocation/cel (compile.go), v1.34. An expression sees `device`: its driver, and its
attributes and capacities by domain and name; a name without a domain is of the driver's. A domain of which nothing is
known is empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from scheduler_core.cel.syntax import Expr, Form
from scheduler_core.devices.pools import Device
from scheduler_core.expressions.language import OUT_OF_BUDGET, CompileError, Expression, Failed, compiled
from scheduler_core.expressions.library import quantity_of
from scheduler_core.expressions.shapes import TEXT, Shape, object_of
from scheduler_core.expressions.versions import version_of

_OF_DOMAIN: Final = Shape("map<string,map<string,dyn>>")
DEVICE: Final = object_of(driver=TEXT, attributes=_OF_DOMAIN, capacity=_OF_DOMAIN)
"""`device` in a selector: attributes and capacities by domain and name."""

DOMAINS_MAX: Final = 64
"""Domains that an expression may look up in vain."""

_INDEX: Final = "_[_]"
_MISSED: Final = "no such key: "


class SelectorError(Exception):
    """A selector without an answer; the text is upstream's."""


def compile_selector(source: str) -> Expression:
    """Return a compiled expression about a device.

    Raises:
        CompileError: it is none.
    """
    return compiled(source, {"device": DEVICE}, binds=True)


def selects(source: str, device: Device) -> bool:
    """Return whether an expression selects a device.

    Raises:
        SelectorError: it cannot be compiled, or has no value for this device.
    """
    found = _read(source)
    if isinstance(found, str):
        raise SelectorError(f"CEL compile error: {found}")
    value = _asked(found, device)
    if not isinstance(value, bool):
        raise SelectorError("CEL runtime error: CEL result could not be converted to bool")
    return value


def _asked(expression: Expression, device: Device) -> Any:
    """Return what an expression says of a device.

    A domain of which nothing is known is empty where it is looked up, and not there where that is asked: so it is put
    in when it has been missed.
    """
    variable = _variable(device)
    for _ in range(DOMAINS_MAX):
        try:
            return expression.evaluate({"device": variable})
        except Failed as failed:
            missed = str(failed).removeprefix(_MISSED)
            lacking = [of for of in (variable["attributes"], variable["capacity"]) if missed not in of]
            if missed not in domains(expression) | {device.id[0]} or not lacking:
                raise SelectorError(f"CEL runtime error: {failed}") from failed
            for of in lacking:
                of[missed] = {}
    raise SelectorError(f"CEL runtime error: {OUT_OF_BUDGET}")


@lru_cache(maxsize=256)
def _read(source: str) -> Expression | str:
    """Return a compiled expression, or what is wrong with it."""
    try:
        found = compile_selector(source)
    except CompileError as wrong:
        return wrong.told
    if found.type not in ("bool", "dyn", "any"):
        return f"must evaluate to bool or the unknown type, not {found.type}"
    return found


def _variable(device: Device) -> dict[str, Any]:
    driver = device.id[0]
    attributes: dict[str, dict[str, Any]] = {}
    capacity: dict[str, dict[str, Any]] = {}
    for name, attribute in (device.told.get("attributes") or {}).items():
        domain, key = _qualified(name, driver)
        attributes.setdefault(domain, {})[key] = _value(name, attribute)
    for name, told in (device.told.get("capacity") or {}).items():
        domain, key = _qualified(name, driver)
        capacity.setdefault(domain, {})[key] = quantity_of(str(told["value"]))
    return {"driver": driver, "attributes": attributes, "capacity": capacity}


def _qualified(name: str, driver: str) -> tuple[str, str]:
    domain, slash, key = name.partition("/")
    return (domain, key) if slash else (driver, name)


def _value(name: str, attribute: Mapping[str, Any]) -> Any:
    for kind in ("int", "bool", "string"):
        if kind in attribute:
            return attribute[kind]
    if "version" not in attribute:
        raise SelectorError(f"CEL runtime error: attribute {name}: unsupported attribute value")
    try:
        return version_of(attribute["version"])
    except ValueError as wrong:
        raise SelectorError(f"CEL runtime error: attribute {name}: parse semantic version: {wrong}") from wrong


def domains(expression: Expression) -> frozenset[str]:
    """Return the texts by which an expression looks something up: among them the domains that it asks about."""
    return frozenset(_indices(expression.root))


def _indices(expr: Expr) -> Iterator[str]:
    if expr.form is Form.CALL and expr.name == _INDEX and expr.parts[1].text is not None:
        yield expr.parts[1].text
    for part in expr.parts:
        yield from _indices(part)
