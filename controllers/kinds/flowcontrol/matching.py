"""Under which FlowSchema a request falls, and how many seats each priority level has.

Source: k8s.io/apiserver's `util/flowcontrol` (rule.go, apf_controller.go), v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any, Final, NamedTuple

from controllers.kinds.flowcontrol.bootstrap import LAST
from scheduler_core.api.document import at

SEATS: Final = 600
"""Requests at a time of an API server with default flags."""


class Asked(NamedTuple):
    """What a request asks for: `resource` with its subresource, empty where `path` names none."""

    verb: str
    path: str
    group: str = ""
    resource: str = ""
    namespace: str = ""


def level_of(schema: Mapping[str, Any]) -> str:
    """Return the name of the level to which a schema leads."""
    name: str = schema["spec"]["priorityLevelConfiguration"].get("name") or ""
    return name


def place_of(schema: Mapping[str, Any]) -> tuple[int, str]:
    """Return by what schemas are looked at in order (FlowSchemaSequence)."""
    return schema["spec"]["matchingPrecedence"], schema["metadata"]["name"]


def schema_of(schemas: Sequence[Mapping[str, Any]], user: Mapping[str, Any], asked: Asked) -> Mapping[str, Any]:
    """Return the first schema that takes a request; where none does, `catch-all`.

    Args:
        schemas: all that count, in order; `catch-all` is among them.
        user: a UserInfo.
        asked: what the request asks for.
    """
    rules = ((one, rule) for one in schemas for rule in at(one, "spec", "rules") or ())
    taken = next((one for one, rule in rules if _matches(rule, user, asked)), None)
    return taken or next(one for one in schemas if one["metadata"]["name"] == LAST)


def seats_of(levels: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many of the server's seats each level has; `levels` are all that there are."""
    shares = {}
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
