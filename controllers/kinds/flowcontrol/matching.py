"""Under which FlowSchema a request falls, and how many seats each priority level has.

Source: k8s.io/apiserver's `util/flowcontrol` (rule.go, apf_controller.go) and `apis/flowcontrol/bootstrap`, v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any, Final, NamedTuple

from scheduler_core.api.document import at

SEATS: Final = 600
"""Requests at a time of an API server with default flags."""

_SHARES: Final = {
    "catch-all": 5,
    "exempt": 0,
    "global-default": 20,
    "leader-election": 10,
    "node-high": 40,
    "system": 30,
    "workload-high": 40,
    "workload-low": 100,
}
"""The levels that every API server has, with their shares."""


class Asked(NamedTuple):
    """What a request asks for: `resource` with its subresource, empty where `path` names none."""

    verb: str
    path: str
    group: str = ""
    resource: str = ""
    namespace: str = ""


def schema_of(schemas: Iterable[Mapping[str, Any]], user: Mapping[str, Any], asked: Asked) -> Mapping[str, Any] | None:
    """Return the first schema that takes a request, None where only the last one does, which takes everything.

    Args:
        schemas: the stored ones, in any order.
        user: a UserInfo.
        asked: what the request asks for.
    """
    ordered = sorted(schemas, key=lambda one: (one["spec"]["matchingPrecedence"], one["metadata"]["name"]))
    rules = ((one, rule) for one in ordered for rule in at(one, "spec", "rules") or ())
    return next((one for one, rule in rules if _matches(rule, user, asked)), None)


def seats_of(levels: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many of the server's seats each level has, those that every server has included."""
    shares = dict(_SHARES)
    for one in levels:
        spec = one["spec"]
        of = spec.get("exempt" if spec["type"] == "Exempt" else "limited") or {}
        shares[one["metadata"]["name"]] = of.get("nominalConcurrencyShares") or 0
    whole = sum(shares.values())
    return {name: ceil(SEATS * share / whole) for name, share in sorted(shares.items())}


def _matches(rule: Mapping[str, Any], user: Mapping[str, Any], asked: Asked) -> bool:
    if not any(_is(subject, user) for subject in rule.get("subjects") or ()):
        return False
    if not asked.resource:
        return any(
            _has(one.get("verbs"), asked.verb)
            and any(_path(url, asked.path) for url in one.get("nonResourceURLs") or ())
            for one in rule.get("nonResourceRules") or ()
        )
    return any(_takes(one, asked) for one in rule.get("resourceRules") or ())


def _is(subject: Mapping[str, Any], user: Mapping[str, Any]) -> bool:
    match subject.get("kind"):
        case "User":
            return at(subject, "user", "name") in ("*", user.get("username"))
        case "Group":
            name = at(subject, "group", "name")
            return name == "*" or name in (user.get("groups") or ())
        case _:
            namespace, name = at(subject, "serviceAccount", "namespace"), at(subject, "serviceAccount", "name")
            who = str(user.get("username") or "")
            return who.startswith(f"system:serviceaccount:{namespace}:") and name in ("*", who.rpartition(":")[2])


def _takes(rule: Mapping[str, Any], asked: Asked) -> bool:
    if not (
        _has(rule.get("verbs"), asked.verb)
        and _has(rule.get("apiGroups"), asked.group)
        and _has(rule.get("resources"), asked.resource)
    ):
        return False
    return _has(rule.get("namespaces"), asked.namespace) if asked.namespace else bool(rule.get("clusterScope"))


def _has(listed: Iterable[str] | None, one: str) -> bool:
    return any(entry in ("*", one) for entry in listed or ())


def _path(pattern: str, path: str) -> bool:
    return pattern in ("*", path) or (pattern.endswith("*") and path.startswith(pattern[:-1]))
