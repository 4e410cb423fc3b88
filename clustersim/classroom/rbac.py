"""What an account may do: what Roles and ClusterRoles allow that bindings give. People have other roles.

Source: k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac, pkg/apis/rbac/v1/evaluation_helpers.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clustersim.classroom.auth import Principal
from clustersim.store import SqlStore, open_store
from controllers.kinds.rbac import bootstrap
from controllers.kinds.rbac.rules import GROUP
from scheduler_core.api.errors import split_resource

Rule = Mapping[str, Any]


def allows(principal: Principal, verb: str, resource: str, namespace: str, name: str, subresource: str) -> str:
    """Return which binding lets an account do this, in upstream's words; empty: none does."""
    plural, group = split_resource(resource)
    asked = f"{plural}/{subresource}" if subresource else plural
    for rule, why in _rules_for(principal, namespace):
        if (
            _has(rule.get("verbs"), verb)
            and _has(rule.get("apiGroups"), group)
            and _covers(rule.get("resources") or (), asked, subresource)
            and (not rule.get("resourceNames") or name in rule["resourceNames"])
        ):
            return why
    return ""


def allows_path(principal: Principal, verb: str, path: str) -> str:
    """Return which binding lets an account read a path that is no resource, in upstream's words; empty: none does."""
    for rule, why in _rules_for(principal, ""):
        if _has(rule.get("verbs"), verb) and any(path_matches(one, path) for one in rule.get("nonResourceURLs") or ()):
            return why
    return ""


def path_matches(pattern: str, path: str) -> bool:
    """Return whether a rule's path, which may end in `*`, covers another."""
    return pattern == path or (pattern.endswith("*") and path.startswith(pattern.rstrip("*")))


def rules_for(principal: Principal, namespace: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rules on resources and on paths that an account has, as SelfSubjectRulesReview tells them."""
    keys = ("verbs", "apiGroups", "resources", "resourceNames")
    held = list(rules_held(principal, namespace))
    return (
        [{key: list(rule[key]) for key in keys if rule.get(key)} for rule in held if rule.get("resources")],
        [
            {key: list(rule[key]) for key in ("verbs", "nonResourceURLs")}
            for rule in held
            if rule.get("nonResourceURLs")
        ],
    )


def rules_held(principal: Principal, namespace: str) -> Iterator[Rule]:
    """Yield the rules that bindings give an account in a namespace; empty: in the whole cluster."""
    return (rule for rule, _ in _rules_for(principal, namespace))


def _rules_for(principal: Principal, namespace: str) -> Iterator[tuple[Rule, str]]:
    """Yield (rule, the binding that gives it): those of the whole cluster first."""
    store = open_store(principal.session_id)
    for kind, where in (("ClusterRoleBinding", ""), ("RoleBinding", namespace)):
        if kind == "RoleBinding" and not namespace:
            return
        for binding in _bindings(store, f"{kind.lower()}s.{GROUP}", where):
            reference = binding["roleRef"]
            subject = next((one for one in binding.get("subjects") or () if _is(principal, one, where)), None)
            if subject is None:
                continue
            name = binding["metadata"]["name"]
            shown = f"{name}/{where}" if where else name
            why = f'RBAC: allowed by {kind} "{shown}" of {reference["kind"]} "{reference["name"]}" to {_shown(subject)}'
            for rule in rules_of(store, reference, where) or ():
                yield rule, why


def _bindings(store: SqlStore, resource: str, namespace: str) -> list[Mapping[str, Any]]:
    """Return the bindings of a namespace by name: those of every cluster, and in their place what is stored."""
    found: dict[str, Mapping[str, Any]] = {
        name: document for (where, name), document in bootstrap.defaults(resource).items() if where == namespace
    }
    found |= {stored.name: stored.object for stored in store.list(resource, namespace or None)[0]}
    return [found[name] for name in sorted(found)]


def rules_of(store: SqlStore, reference: Mapping[str, Any], namespace: str) -> Iterable[Rule] | None:
    """Return the rules of a role that a binding names; None: there is no such role."""
    name = reference["name"]
    if reference["kind"] == "Role":
        role = store.get(bootstrap.ROLES, namespace, name)
        found = bootstrap.defaults(bootstrap.ROLES).get((namespace, name)) if role is None else role.object
    else:
        role = store.get(bootstrap.CLUSTER_ROLES, "", name)
        found = bootstrap.role_of(name, _stored(store)) if role is None else role.object
    return None if found is None else found.get("rules") or ()


def _stored(store: SqlStore) -> list[Mapping[str, Any]]:
    return [one.object for one in store.list(bootstrap.CLUSTER_ROLES)[0]]


def _is(principal: Principal, subject: Mapping[str, Any], home: str) -> bool:
    user = principal.user or {}
    match subject.get("kind"):
        case "User":
            return bool(subject.get("name") == user.get("username"))
        case "Group":
            return subject.get("name") in (user.get("groups") or ())
        case "ServiceAccount":
            named = f"system:serviceaccount:{subject.get('namespace') or home}:{subject.get('name')}"
            return bool(named == user.get("username"))
        case _:
            return False


def _shown(subject: Mapping[str, Any]) -> str:
    if subject["kind"] == "ServiceAccount":
        return f'ServiceAccount "{subject["name"]}/{subject.get("namespace", "")}"'
    return f'{subject["kind"]} "{subject["name"]}"'


def _has(listed: Iterable[str] | None, one: str) -> bool:
    names = listed or ()
    return "*" in names or one in names


def _covers(listed: Iterable[str], asked: str, subresource: str) -> bool:
    return any(one in ("*", asked) or (bool(subresource) and one == f"*/{subresource}") for one in listed)
