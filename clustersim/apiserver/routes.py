"""Paths: which resource, object and subresource a request is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from controllers.admission.namespacelifecycle import NAMESPACES as HOMES
from controllers.kinds.table import SERVED, TABLE, kind_of
from controllers.registry.kind import Kind, Leads
from controllers.registry.table import Kinds
from scheduler_core.api.errors import ApiError, not_found, unknown_resource

_REVIEW_GROUPS: Final = ("authentication.k8s.io", "authorization.k8s.io")
_GROUPS: Final = frozenset({*(kind.group for kind in SERVED), *_REVIEW_GROUPS})

WATCH: Final = "watch"
"""The verb, and what the old paths of watches begin with."""

_COLLECTIONS: Final = {
    (kind.group, kind.version, subresource.collection): (kind, subresource.name)
    for kind in SERVED
    for subresource in kind.subresources
    if subresource.collection
}


@dataclass(frozen=True, slots=True)
class Target:
    """What a path names: a collection (empty `name`), an object, or a subresource of one."""

    kind: Kind
    namespace: str | None
    name: str
    subresource: str
    watched: bool = False
    """Whether the path is one of the old ones below `watch/`: they are watches whatever the query says."""
    below: str = ""
    """Of a way through the server: the path that it is asked for there; empty where there is none, not even `/`."""

    @property
    def verbs(self) -> tuple[str, ...]:
        """Return what may be done with it."""
        subresource = self.kind.subresource(self.subresource) if self.subresource else None
        return self.kind.verbs if subresource is None else subresource.verbs

    @property
    def simulated(self) -> bool:
        """Return whether only a running process could answer."""
        subresource = self.kind.subresource(self.subresource)
        return subresource is not None and subresource.simulated

    @property
    def leads(self) -> Leads | None:
        """Return what finds out where a way through the server leads; None: this is none."""
        subresource = self.kind.subresource(self.subresource)
        return subresource.leads if subresource is not None else None


class PlainError(ApiError):
    """A refusal that is answered by a line of text, without a Status."""


class PageNotFound(PlainError):
    """Nothing is served under a path at all: answered as upstream's last handler does, by a line of text."""

    def __init__(self) -> None:
        super().__init__(404, "NotFound", "404 page not found")


def unknown_path(path: str, kinds: Kinds = TABLE) -> ApiError:
    """Return the 404 of a path that names nothing: a Status below the groups that are served, else a line of text."""
    parts = [part for part in path.split("/") if part]
    served = parts[:1] == ["api"] or (parts[:1] == ["apis"] and (len(parts) == 1 or _is_group(parts[1], kinds)))
    return unknown_resource() if served else PageNotFound()


def _is_group(name: str, kinds: Kinds) -> bool:
    """Return whether a group has a handler of its own; those of custom resources pass on what they do not know."""
    return name in _GROUPS or any(kind.group == name and not kind.kept_in for kind in (*kinds.served, *kinds.computed))


def parse(path: str, kinds: Kinds = TABLE) -> Target:
    """Return what `/api/v1/…` or `/apis/<group>/<version>/…` names among the kinds of a session.

    Raises:
        ApiError: 404.
    """
    if not path.isprintable():
        raise PageNotFound
    if "//" in path:
        raise unknown_path(path, kinds)
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
    watched = rest[0] == WATCH and len(rest) > 1
    rest = rest[1:] if watched else rest
    namespace: str | None = None
    if rest[0] == HOMES and len(rest) > 2 and not (group == "" and _is_namespace_part(rest[2])):
        namespace, rest = rest[1], rest[2:]
    if namespace is not None and len(rest) == 1 and (group, version, rest[0]) in _COLLECTIONS:
        owner, posted = _COLLECTIONS[group, version, rest[0]]
        return Target(owner, namespace, "", posted)
    kind = kinds.find_plural(group, version, rest[0])
    if kind is None:
        raise unknown_path(path, kinds)
    homeless = kind.namespaced and namespace is None and len(rest) > 1
    if homeless or (namespace is not None and not kind.namespaced):
        raise unknown_path(path, kinds)
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    found = kind.subresource(subresource) if subresource else None
    if subresource and found is None and kind.kept_in and len(rest) == 3:
        # Upstream's server of defined kinds asks for the object before it knows its parts.
        raise not_found(kind.resource, name)
    if (subresource and found is None) or (len(rest) > 3 and not (found and found.below)):
        raise unknown_path(path, kinds)
    if watched and (subresource or WATCH not in kind.verbs):
        raise unknown_path(path, kinds)
    below = "".join(f"/{part}" for part in rest[3:]) + ("/" if path.endswith("/") else "")
    return Target(kind, namespace, name, subresource, watched, below if found and found.below else "")


def _is_namespace_part(part: str) -> bool:
    return kind_of(HOMES).subresource(part) is not None
