"""Paths: which resource, object and subresource a request is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from controllers.kinds.table import KINDS, kind_of
from controllers.registry.incoming import HOMES
from controllers.registry.kind import Kind
from scheduler_core.api.errors import ApiError

COMPUTED: Final = (
    Kind(
        "NodeMetrics",
        "nodes",
        group="metrics.k8s.io",
        version="v1beta1",
        singular="node",
        namespaced=False,
        verbs=("get", "list"),
    ),
    Kind("PodMetrics", "pods", group="metrics.k8s.io", version="v1beta1", singular="pod", verbs=("get", "list")),
)
"""Kinds of which nothing is stored: they are got and listed alone."""

_BY_PATH: Final = {(kind.group, kind.version, kind.plural): kind for kind in (*KINDS, *COMPUTED)}

_OLD: Final = (
    "v1beta1",
    "v1beta2",
    "v1alpha1",
    "v2beta1",
    "v2beta2",
)


@dataclass(frozen=True, slots=True)
class Target:
    """What a path names: a collection (empty `name`), an object, or a subresource of one."""

    kind: Kind
    namespace: str | None
    name: str
    subresource: str

    @property
    def simulated(self) -> bool:
        """Return whether only a running process could answer."""
        subresource = self.kind.subresource(self.subresource)
        return subresource is not None and subresource.simulated


def unknown_path(path: str) -> ApiError:
    """Return the 404 of a path that nothing is served under."""
    return ApiError(
        404,
        "NotFound",
        f"the server could not find the requested resource: nothing is served at {path[:200]}; "
        "kubectl api-resources lists what is",
    )


def parse(path: str) -> Target:
    """Return what `/api/v1/…` or `/apis/<group>/<version>/…` names.

    Raises:
        ApiError: 404.
    """
    if not path.isprintable():
        raise unknown_path("that path")
    parts = [part for part in path.split("/") if part]
    if parts and parts[0] == "api":
        group, rest = "", parts[1:]
    elif len(parts) > 1 and parts[0] == "apis":
        group, rest = parts[1], parts[2:]
    else:
        raise unknown_path(path)
    if len(rest) < 2:
        raise unknown_path(path)
    version, rest = rest[0], rest[1:]
    namespace: str | None = None
    if rest[0] == HOMES and len(rest) > 2 and not (group == "" and _is_namespace_part(rest[2])):
        namespace, rest = rest[1], rest[2:]
    kind = _BY_PATH.get((group, version, rest[0]))
    if kind is None:
        raise _missing(path, group, version, rest[0])
    homeless = kind.namespaced and namespace is None and len(rest) > 1
    if len(rest) > 3 or homeless or (namespace is not None and not kind.namespaced):
        raise unknown_path(path)
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    if subresource and kind.subresource(subresource) is None:
        raise unknown_path(path)
    return Target(kind, namespace, name, subresource)


def _is_namespace_part(part: str) -> bool:
    return kind_of(HOMES).subresource(part) is not None


def _missing(path: str, group: str, version: str, plural: str) -> ApiError:
    """Return a 404 that says which version is served instead, where one is."""
    for kind in KINDS:
        if kind.plural == plural and (kind.group == group or version in _OLD):
            message = (
                f"the server could not find the requested resource: {group or 'core'}/{version} {plural} is not "
                f"served; write apiVersion: {kind.api_version}"
            )
            return ApiError(404, "NotFound", message, kind=plural, group=group)
    return unknown_path(path)
