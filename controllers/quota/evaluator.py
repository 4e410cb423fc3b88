"""What one object counts for in a quota, by its kind.

Three kinds have a way of their own, and claims to devices; every other kind counts objects.

Source: k8s.io/kubernetes/pkg/quota/v1/evaluator/core, k8s.io/apiserver/pkg/quota/v1/generic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from controllers.quota import claims, pods, services
from controllers.quota.usage import NONE, ONE, Usage
from scheduler_core.api.document import Document

COUNT: Final = "count/"
"""What the name of a number of objects begins with."""

LEGACY_NAMES: Final = frozenset({"configmaps", "replicationcontrollers", "resourcequotas", "secrets"})
"""Kinds whose number a quota also limits under their own name, beside `count/<name>`."""


def _no_scope(scope: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    return False


def _nothing_missing(names: Iterable[str], document: Mapping[str, Any]) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Evaluator:
    """How objects of one kind count."""

    resource: str
    """The group resource: `pods`, `jobs.batch`."""
    is_counted: Callable[[str], bool]
    """Whether objects of the kind have a part in a name of a quota."""
    usage: Callable[[Mapping[str, Any], int], Usage]
    """(object, wire time in Unix milliseconds) → what it counts for."""
    usage_of_stored: Callable[[Mapping[str, Any], int], Usage] | None = None
    """The same of an object as it is stored, which nobody changes, where that is quicker; None: it is not."""
    charged: frozenset[tuple[str, str]] = frozenset({("create", "")})
    """(verb, subresource) of the writes that are charged; the verb is `create` or `update`."""
    matches_scope: Callable[[Mapping[str, Any], Mapping[str, Any]], bool] = _no_scope
    """(scoped selector requirement, object) → whether the object is in it."""
    moves: Callable[[Mapping[str, Any], Mapping[str, Any]], bool] | None = None
    """(object, as it was) → whether an update moves it into another scope: it is charged, and counted anew; None: none
    does."""
    missing: Callable[[Iterable[str], Mapping[str, Any]], str] = _nothing_missing
    """(names of a quota, object) → upstream's sentence on what the object must say before it can be charged, as
    `must specify limits.cpu for: main`; empty where it says enough."""

    def matching(self, names: Iterable[str]) -> list[str]:
        """Return which names of a quota this kind has a part in."""
        return [name for name in names if self.is_counted(name)]

    def in_scope(self, quota: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
        """Return whether an object is in every scope of a quota."""
        return all(self.matches_scope(scope, document) for scope in scopes_of(quota))

    def total(
        self, quota: Mapping[str, Any], documents: Iterable[Mapping[str, Any]], names: Iterable[str], unix_ms: int
    ) -> Usage:
        """Return what objects count for in all, under these names: stored ones that are in every scope of a quota."""
        scopes, usage = scopes_of(quota), self.usage_of_stored or self.usage
        total = dict.fromkeys(names, NONE)
        for document in documents:
            if not all(self.matches_scope(scope, document) for scope in scopes):
                continue
            for name, amount in usage(document, unix_ms).items():
                if name in total:
                    total[name] = total[name].plus(amount)
        return total

    def concerns(self, quota: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
        """Return whether a quota counts an object: it is in its scopes, and names something that it counts for."""
        hard = (quota.get("status") or {}).get("hard") or {}
        return bool(self.matching(hard)) and self.in_scope(quota, document)


_OWN: Final[Mapping[str, Evaluator]] = {
    own.resource: own
    for own in (
        Evaluator(
            "pods",
            pods.is_counted,
            pods.usage,
            pods.usage_of_stored,
            frozenset({("create", ""), ("update", "resize")}),
            pods.matches_scope,
            pods.moves,
            pods.missing,
        ),
        Evaluator(
            "services",
            services.NAMES.__contains__,
            services.usage,
            None,
            frozenset({("create", ""), ("update", "")}),
        ),
        Evaluator(
            "persistentvolumeclaims",
            claims.is_counted,
            claims.usage,
            None,
            frozenset({("create", ""), ("update", ""), ("update", "status")}),
            claims.matches_scope,
            claims.moves,
        ),
        Evaluator(
            "resourceclaims.resource.k8s.io",
            claims.is_device_counted,
            claims.device_usage,
            None,
            frozenset({("create", ""), ("update", "")}),
        ),
    )
}


def evaluator_of(resource: str) -> Evaluator:
    """Return how objects of a kind count."""
    return _OWN.get(resource) or _counter(resource)


def counted_for(names: Iterable[str]) -> list[str]:
    """Return the group resources whose objects have a part in some of these names of a quota."""
    asked = list(names)
    single = {name.removeprefix(COUNT) for name in asked if name.startswith(COUNT) or name in LEGACY_NAMES}
    return sorted(resource for resource in single | _OWN.keys() if evaluator_of(resource).matching(asked))


def _counter(resource: str) -> Evaluator:
    """Return the evaluator of a kind that is only counted."""
    names = {COUNT + resource} | ({resource} & LEGACY_NAMES)
    return Evaluator(resource, names.__contains__, lambda document, unix_ms: dict.fromkeys(names, ONE))


def scopes_of(quota: Mapping[str, Any]) -> list[Document]:
    """Return a quota's scopes as scoped selector requirements; plain scopes ask for existence."""
    spec = quota.get("spec") or {}
    plain = [{"scopeName": name, "operator": "Exists"} for name in spec.get("scopes") or ()]
    return [*plain, *((spec.get("scopeSelector") or {}).get("matchExpressions") or ())]
