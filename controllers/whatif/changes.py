"""The changes of a what-if, read from a request: one type each, one line in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from controllers.scheduler.settings import spec_of
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, invalid, one_of
from scheduler_core.api.quantity import QuantityError, nano_of
from scheduler_core.api.said import said
from scheduler_core.profiles.era import below

CHANGES_MAX: Final = 50
"""Changes of one what-if; more are refused with 422."""

WEIGHT_MAX: Final = 1_000_000
"""Largest weight that a what-if gives to a plugin."""


@dataclass(frozen=True, slots=True)
class Weight:
    """A score plugin of the pod's profile counts as much; with 0 it does not score."""

    plugin: str
    weight: int


@dataclass(frozen=True, slots=True)
class Disable:
    """A plugin of the pod's profile does not run, at no point."""

    plugin: str


@dataclass(frozen=True, slots=True)
class Reconfigure:
    """The session's scheduler has another spec."""

    spec: Document


@dataclass(frozen=True, slots=True)
class Request:
    """The pod asks for so much of these resources, as a whole."""

    amounts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Add:
    """An object is there besides."""

    document: Document


@dataclass(frozen=True, slots=True)
class Place:
    """Which object: its kind's name is enough, of those that a scheduler reads."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Remove:
    """An object is not there."""

    place: Place


@dataclass(frozen=True, slots=True)
class Patch:
    """An object is another: a merge patch (RFC 7396) over the whole of it, status included."""

    place: Place
    patch: Document


Change = Weight | Disable | Reconfigure | Request | Add | Remove | Patch


def refused(*causes: Cause) -> ApiError:
    """Return the refusal of a what-if."""
    return invalid("WhatIf", "clustersim.io", "", causes)


def read_changes(value: Any) -> list[Change]:
    """Return the changes of a request's `changes`.

    Raises:
        ApiError: 422, with a cause for each change that is wrong; fields as in the request.
    """
    if not isinstance(value, list) or not value:
        raise refused(
            Cause(
                "changes", said("whatif.changes", 'give a list of changes, such as [{{"request": {{"cpu": "500m"}}}}]')
            )
        )
    if len(value) > CHANGES_MAX:
        raise refused(
            Cause("changes", said("whatif.changesMost", "give at most {changes_max} changes", changes_max=CHANGES_MAX))
        )
    changes: list[Change] = []
    causes: list[Cause] = []
    for index, one in enumerate(value):
        try:
            changes.append(_read(one, f"changes[{index}]"))
        except ApiError as wrong:
            causes.extend(wrong.causes)
    if causes:
        raise refused(*causes)
    return changes


def _read(value: Any, path: str) -> Change:
    if not isinstance(value, dict) or len(value) != 1:
        raise refused(
            Cause(path, said("whatif.objectOf", "give an object with one of {known}", known=", ".join(_READERS)))
        )
    (name, body), *_ = value.items()
    reader = _READERS.get(name)
    if reader is None:
        raise refused(
            Cause(
                f"{path}.{name}",
                one_of(_READERS),
                "FieldValueNotSupported",
            )
        )
    return reader(body, f"{path}.{name}")


def _fields(body: Any, path: str, texts: tuple[str, ...], others: tuple[str, ...] = ()) -> Document:
    """Return an object that has these texts, and of other fields none but those of `others`."""
    if not isinstance(body, dict):
        raise refused(
            Cause(
                path,
                said("whatif.objectWith", "give an object with {known}", known=", ".join((*texts, *others))),
                "FieldValueTypeInvalid",
            )
        )
    causes = [
        Cause(f"{path}.{name}", said("give.textFilled", "give a text that is not empty"), "FieldValueRequired")
        for name in texts
        if not (isinstance(body.get(name), str) and body[name])
    ]
    causes += [
        Cause(f"{path}.{name}", said("whatif.notKnown", "is not known here; leave it out"), "FieldValueNotSupported")
        for name in body
        if name not in (*texts, *others)
    ]
    if causes:
        raise refused(*causes)
    return body


def _weight(body: Any, path: str) -> Weight:
    _fields(body, path, ("plugin",), ("weight",))
    weight = body.get("weight")
    if not isinstance(weight, int) or isinstance(weight, bool) or not 0 <= weight <= WEIGHT_MAX:
        raise refused(
            Cause(f"{path}.weight", said("give.wholeFromNone", "give a whole number from 0 to {most}", most=WEIGHT_MAX))
        )
    return Weight(body["plugin"], weight)


def _disable(body: Any, path: str) -> Disable:
    if not isinstance(body, str) or not body:
        raise refused(Cause(path, said("whatif.plugin", "give the name of a plugin")))
    return Disable(body)


def _scheduler(body: Any, path: str) -> Reconfigure:
    if not isinstance(body, dict):
        raise refused(Cause(path, said("whatif.scheduler", "give what PUT …/scheduler takes"), "FieldValueTypeInvalid"))
    try:
        return Reconfigure(spec_of(body)[0])
    except ApiError as wrong:
        raise below(wrong, path) from wrong


def _request(body: Any, path: str) -> Request:
    if not isinstance(body, dict) or not body:
        raise refused(
            Cause(
                path,
                said("whatif.amounts", 'give amounts by resource, such as {{"cpu": "500m"}}'),
                "FieldValueTypeInvalid",
            )
        )
    causes = []
    for resource, amount in body.items():
        try:
            if not isinstance(amount, str) or nano_of(amount) < 0:
                raise QuantityError(f"{amount!r} is no amount")
        except QuantityError:
            causes.append(
                Cause(f"{path}.{resource}", said("whatif.amount", 'give an amount as a text, such as "500m" or "2Gi"'))
            )
    if causes:
        raise refused(*causes)
    return Request(dict(body))


def _add(body: Any, path: str) -> Add:
    if not isinstance(body, dict):
        raise refused(Cause(path, said("give.object", "give an object"), "FieldValueTypeInvalid"))
    return Add(body)


def _place(body: Document, path: str) -> Place:
    namespace = body.get("namespace") or ""
    if not isinstance(namespace, str):
        raise refused(Cause(f"{path}.namespace", said("give.text", "give a text"), "FieldValueTypeInvalid"))
    return Place(body["kind"], namespace, body["name"])


def _remove(body: Any, path: str) -> Remove:
    return Remove(_place(_fields(body, path, ("kind", "name"), ("namespace",)), path))


def _patch(body: Any, path: str) -> Patch:
    _fields(body, path, ("kind", "name"), ("patch", "namespace"))
    if not isinstance(body.get("patch"), dict):
        raise refused(
            Cause(f"{path}.patch", said("whatif.patch", "give a merge patch, an object"), "FieldValueTypeInvalid")
        )
    return Patch(_place(body, path), body["patch"])


_READERS: Final[Mapping[str, Callable[[Any, str], Change]]] = {
    "weight": _weight,
    "disable": _disable,
    "scheduler": _scheduler,
    "request": _request,
    "add": _add,
    "remove": _remove,
    "patch": _patch,
}
