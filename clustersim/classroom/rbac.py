"""What an account may do: what stored Roles and ClusterRoles allow that stored bindings give. People have other roles.

Source: k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac, pkg/apis/rbac/v1/evaluation_helpers.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clustersim.classroom.auth import Principal
from clustersim.store import SqlStore, open_store
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


def rules_for(principal: Principal, namespace: str) -> list[dict[str, Any]]:
    """Return the rules that an account has in a namespace, as SelfSubjectRulesReview tells them."""
    keys = ("verbs", "apiGroups", "resources", "resourceNames")
    return [
        {key: list(rule[key]) for key in keys if rule.get(key)}
        for rule, _ in _rules_for(principal, namespace)
        if rule.get("resources")
    ]


def _rules_for(principal: Principal, namespace: str) -> Iterator[tuple[Rule, str]]:
    """Yield (rule, the binding that gives it): those of the whole cluster first."""
    store = open_store(principal.session_id)
    for kind, where in (("ClusterRoleBinding", ""), ("RoleBinding", namespace)):
        if kind == "RoleBinding" and not namespace:
            return
        for stored in store.list(f"{kind.lower()}s.{GROUP}", where or None)[0]:
            binding, reference = stored.object, stored.object["roleRef"]
            subject = next((one for one in binding.get("subjects") or () if _is(principal, one, where)), None)
            if subject is None:
                continue
            shown = f"{stored.name}/{where}" if where else stored.name
            why = f'RBAC: allowed by {kind} "{shown}" of {reference["kind"]} "{reference["name"]}" to {_shown(subject)}'
            for rule in _rules_of(store, reference, where):
                yield rule, why


def _rules_of(store: SqlStore, reference: Mapping[str, Any], namespace: str) -> Iterable[Rule]:
    if reference["kind"] == "Role":
        role = store.get(f"roles.{GROUP}", namespace, reference["name"])
    else:
        role = store.get(f"clusterroles.{GROUP}", "", reference["name"])
    return () if role is None else role.object.get("rules") or ()


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
