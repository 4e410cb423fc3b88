"""Nobody gives away more than they have: what accounts write into roles and bindings is measured by their own rules.

Source: pkg/registry/rbac (escalation_check.go, */policybased), k8s.io/component-helpers/auth/rbac/validation, v1.34.
People's roles in the session are not made of rules: teachers may all of it, students none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

from clustersim.classroom import rbac
from clustersim.classroom.auth import Principal
from clustersim.classroom.rbac import Rule
from clustersim.store import open_store
from controllers.kinds.rbac import bootstrap
from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.errors import forbidden, not_found

_ROLES: Final = (bootstrap.ROLES, bootstrap.CLUSTER_ROLES)
_BINDINGS: Final = (bootstrap.ROLE_BINDINGS, bootstrap.CLUSTER_ROLE_BINDINGS)
_ALL: Final[tuple[Rule, ...]] = (
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
)
_COLLECTED: Final = ("finalizers", "ownerReferences", "managedFields", "resourceVersion", "generation")
"""What of the metadata the garbage collector changes, and what changes with every write."""
_PARTS: Final = (
    ("APIGroups", "apiGroups"),
    ("Resources", "resources"),
    ("NonResourceURLs", "nonResourceURLs"),
    ("ResourceNames", "resourceNames"),
    ("Verbs", "verbs"),
)


def check(
    principal: Principal, resource: str, namespace: str, name: str, old: FrozenDocument | None, new: FrozenDocument
) -> None:
    """Refuse a role or a binding by which an account would give what it does not have.

    Args:
        principal: the account.
        resource: of what is written; all but roles and bindings pass.
        namespace: where; empty for the whole cluster.
        name: of the object.
        old: the object before; None for creates.
        new: the object as it would be stored.

    Raises:
        ApiError: 403, in upstream's words; 404, there is no such role.
    """
    if resource not in (*_ROLES, *_BINDINGS) or "system:masters" in (principal.user or {}).get("groups", ()):
        return
    if old is not None and _without_marks(old) == _without_marks(new):
        return
    if resource in _ROLES:
        # A POST has no name in its path, so a rule on names allows none.
        if rbac.allows(principal, "escalate", resource, namespace, "" if old is None else name, ""):
            return
        _confirm(principal, resource, namespace, name, new.get("rules") or ())
        if _gathers(new) or _gathers(old or {}):
            why = "must have cluster-admin privileges to use the aggregationRule"
            if _missing(principal, namespace, _ALL):
                raise forbidden(resource, name, why)
        return
    reference = new["roleRef"]
    given = bootstrap.CLUSTER_ROLES if reference["kind"] == "ClusterRole" else bootstrap.ROLES
    if rbac.allows(principal, "bind", given, namespace, reference["name"], ""):
        return
    rules = rbac.rules_of(open_store(principal.session_id), reference, namespace)
    if rules is None:
        raise not_found(given, reference["name"])
    _confirm(principal, resource, namespace, name, rules)


def _without_marks(document: FrozenDocument) -> dict[str, Any]:
    metadata = {key: value for key, value in document["metadata"].items() if key not in _COLLECTED}
    return {**document, "metadata": metadata}


def _gathers(role: Mapping[str, Any]) -> bool:
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def _confirm(principal: Principal, resource: str, namespace: str, name: str, rules: Iterable[Rule]) -> None:
    missing = _missing(principal, namespace, rules)
    if missing:
        user = principal.user or {}
        groups = _quoted(user.get("groups") or ())
        told = "\n".join(sorted({_text(rule) for rule in _together(missing)}))
        who = f"user {_quoted_one(str(user.get('username')))} (groups={groups})"
        raise forbidden(resource, name, f"{who} is attempting to grant RBAC permissions not currently held:\n{told}")


def _missing(principal: Principal, namespace: str, rules: Iterable[Rule]) -> list[Rule]:
    """Return what of some rules an account does not have, in the smallest parts."""
    own = list(rbac.rules_held(principal, namespace))
    return [part for rule in rules for part in _parts(rule) if not any(_covers(held, part) for held in own)]


def _parts(rule: Rule) -> Iterator[Rule]:
    verbs = rule.get("verbs") or ()
    names: Sequence[list[str]] = [[one] for one in rule.get("resourceNames") or ()] or [[]]
    for group, resource, verb, named in product(rule.get("apiGroups") or (), rule.get("resources") or (), verbs, names):
        part = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
        yield {**part, "resourceNames": named} if named else part
    for path, verb in product(rule.get("nonResourceURLs") or (), verbs):
        yield {"nonResourceURLs": [path], "verbs": [verb]}


def _covers(held: Rule, part: Rule) -> bool:
    """Return whether a rule allows what a smallest part of one does."""
    for key in ("verbs", "apiGroups"):
        wanted, own = part.get(key) or (), held.get(key) or ()
        if "*" not in own and any(one not in own for one in wanted):
            return False
    names = held.get("resourceNames") or ()
    if names and (not part.get("resourceNames") or any(one not in names for one in part["resourceNames"])):
        return False
    own_paths = held.get("nonResourceURLs") or ()
    if not all(any(rbac.path_matches(own, path) for own in own_paths) for path in part.get("nonResourceURLs") or ()):
        return False
    return all(_covers_resource(held.get("resources") or (), one) for one in part.get("resources") or ())


def _covers_resource(held: Sequence[str], one: str) -> bool:
    _, slash, inner = one.partition("/")
    return "*" in held or one in held or (bool(slash) and f"*/{inner}" in held)


def _together(parts: Iterable[Rule]) -> list[Rule]:
    """Return the parts with the verbs of one resource together."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for part in parts:
        key = tuple((name, *(part.get(name) or ())) for _, name in _PARTS if name != "verbs")
        if part.get("nonResourceURLs"):
            key = (*key, *part["verbs"])
        if key in found:
            found[key]["verbs"] = [*found[key]["verbs"], *part["verbs"]]
        else:
            found[key] = dict(part)
    return list(found.values())


def _text(rule: Rule) -> str:
    return "{" + ", ".join(f"{shown}:{_quoted(rule[key])}" for shown, key in _PARTS if rule.get(key)) + "}"


def _quoted(texts: Iterable[str]) -> str:
    return "[" + " ".join(map(_quoted_one, texts)) + "]"


def _quoted_one(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
