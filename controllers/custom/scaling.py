"""The subresource scale of custom resources: where the numbers lie, the definition says.

Source: apiextensions-apiserver, pkg/registry/customresource (etcd.go, validator.go), v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from controllers.log.store import Stored, copy_object
from controllers.registry import fields
from controllers.registry.gotext import printed, quoted, type_name
from controllers.registry.kind import Subresource
from controllers.registry.subresources import SCALE_COLUMNS, replicas_asked
from scheduler_core.api.document import Document, at
from scheduler_core.api.errors import ApiError, Cause

_NAME, _DESIRED, _AVAILABLE, _AGE = SCALE_COLUMNS
_COLUMNS: Final = (
    _NAME._replace(names=True),
    _DESIRED._replace(source="", description="Number of desired replicas"),
    _AVAILABLE._replace(source="", description="Number of actual replicas"),
    _AGE._replace(type="date"),
)
"""The columns of a scale of a kind that a definition makes: upstream prints it elsewhere than others."""

_REPLICAS_MAX: Final = 2**31 - 1

_UNSET: Final = -(2**31)
"""What a patch sees in the place of replicas that are not there; whoever leaves it so is refused."""


def _parts(path: str) -> Sequence[str]:
    return path.removeprefix(".").split(".")


def _found(document: Mapping[str, Any], path: str, kind: type, name: str) -> tuple[Any, str]:
    """Return (value or None, what is wrong with it) at a simple path."""
    value: Any = document
    passed: list[str] = []
    for part in _parts(path):
        if not isinstance(value, Mapping):
            where = ".".join([*passed, part])
            shown = f"{printed(value)} is of the type {type_name(value)}, expected map[string]interface{{}}"
            return None, f".{where} accessor error: {shown}"
        passed.append(part)
        if part not in value:
            return None, ""
        value = value[part]
    if type(value) is not kind:
        shown = f"{printed(value)} is of the type {type_name(value)}, expected {name}"
        return None, f".{'.'.join(passed)} accessor error: {shown}"
    return value, ""


def scale_causes(
    document: Mapping[str, Any], scale: Mapping[str, Any] | None, parts: Sequence[str] = ("spec", "status")
) -> list[Cause]:
    """Return what is wrong with the numbers that a scale shows."""
    causes: list[Cause] = []
    if scale is None:
        return causes
    for part, key in (("spec", "specReplicasPath"), ("status", "statusReplicasPath")):
        if part not in parts:
            continue
        path = scale[key]
        value, wrong = _found(document, path, int, "int64")
        if wrong:
            causes.append(fields.bad(path, 0, wrong))
        elif value is not None and value < 0:
            causes.append(fields.bad(path, value, "should be a non-negative integer"))
        elif value is not None and value > _REPLICAS_MAX:
            causes.append(fields.bad(path, value, f"should be less than or equal to {_REPLICAS_MAX}"))
    selector = scale.get("labelSelectorPath")
    if selector and "status" in parts:
        _, wrong = _found(document, selector, str, "string")
        if wrong:
            causes.append(fields.bad(selector, "", wrong))
    return causes


def scale_of(scale: Mapping[str, Any]) -> Subresource:
    """Return the subresource of a definition's `subresources.scale`."""
    return Subresource(
        "scale",
        body=("autoscaling", "v1", "Scale"),
        replicas=tuple(_parts(scale["specReplicasPath"])),
        schema="autoscaling_v1.Scale",
        view=_view(scale),
        to_patch=_to_patch(scale),
        check_shown=_check_shown(scale),
        change=_change(scale),
        students=True,
        columns=_COLUMNS,
    )


def _view(scale: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Document]:
    def view(document: Mapping[str, Any]) -> Document:
        metadata = document["metadata"]
        kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        replicas = _found(document, scale["specReplicasPath"], int, "int64")[0]
        status: Document = {"replicas": _found(document, scale["statusReplicasPath"], int, "int64")[0] or 0}
        selector = scale.get("labelSelectorPath")
        if selector:
            status["selector"] = _found(document, selector, str, "string")[0] or ""
        return {
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": {key: metadata[key] for key in kept if key in metadata},
            "spec": {"replicas": replicas} if replicas else {},
            "status": {key: value for key, value in status.items() if value or key == "replicas"},
        }

    return view


def _to_patch(scale: Mapping[str, Any]) -> Callable[[Mapping[str, Any], Document], Document]:
    def to_patch(document: Mapping[str, Any], shown: Document) -> Document:
        lacks = _found(document, scale["specReplicasPath"], int, "int64")[0] is None
        return {**shown, "spec": {"replicas": _UNSET}} if lacks else shown

    return to_patch


def _check_shown(scale: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], None]:
    def check(document: Mapping[str, Any]) -> None:
        path = scale["specReplicasPath"]
        if _found(document, path, int, "int64")[0] is None:
            why = f"the spec replicas field {quoted(path)} does not exist"
            raise ApiError(500, "InternalError", f"Internal error occurred: {why}", causes=[Cause("", why, "")])

    return check


def _change(scale: Mapping[str, Any]) -> Callable[[Stored, Mapping[str, Any]], Document]:
    def change(stored: Stored, body: Mapping[str, Any]) -> Document:
        replicas = replicas_asked(stored, body, unset=(_UNSET, scale["specReplicasPath"]))
        document = copy_object(stored.object)
        asked = (body.get("metadata") or {}).get("uid")
        if asked:
            document["metadata"]["uid"] = asked
        place: Any = document
        *parts, last = _parts(scale["specReplicasPath"])
        for part in parts:
            if not isinstance(at(place, part), dict):
                place[part] = {}
            place = place[part]
        place[last] = replicas
        return document

    return change
