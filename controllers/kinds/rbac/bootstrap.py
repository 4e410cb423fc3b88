"""The default roles and bindings of every cluster (`cluster-admin`, `view`, `system:*`), computed when they are read.

They are the same in every session, so no row of a log holds them; what is stored under the name of one stands before
it. `defaults.jsonl` holds them, a line each, as upstream's server (v1.34) makes them, without the marks that all have.

Source: k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

import msgspec

from controllers.kinds.rbac.rules import GROUP
from controllers.log.store import Stored
from controllers.registry.computed import Computed, Facts
from controllers.registry.standing import defaults_beside, standing
from scheduler_core.api.document import Document, FrozenDocument
from scheduler_core.api.selectors import LabelSelector, SelectorError, matches_all

CLUSTER_ROLES: Final = f"clusterroles.{GROUP}"
ROLES: Final = f"roles.{GROUP}"
CLUSTER_ROLE_BINDINGS: Final = f"clusterrolebindings.{GROUP}"
ROLE_BINDINGS: Final = f"rolebindings.{GROUP}"

_RESOURCES: Final = {
    "ClusterRole": CLUSTER_ROLES,
    "Role": ROLES,
    "ClusterRoleBinding": CLUSTER_ROLE_BINDINGS,
    "RoleBinding": ROLE_BINDINGS,
}
_FIXED: Final = "{name} is the cluster's own and stays as it is; make one of another name with what you need"


@cache
def defaults(resource: str) -> Mapping[tuple[str, str], FrozenDocument]:
    """Return the default objects of a resource by (namespace, name), as upstream's server makes them.

    Rules that are gathered from others are not in them yet: `gathered` says them.
    """
    found: dict[tuple[str, str], FrozenDocument] = {}
    for entry in defaults_beside(__file__):
        kind, name, namespace = entry.pop("kind"), entry.pop("name"), entry.pop("namespace", "")
        if _RESOURCES[kind] != resource:
            continue
        metadata: Document = {
            "name": name,
            **({"namespace": namespace} if namespace else {}),
            "labels": {"kubernetes.io/bootstrapping": "rbac-defaults", **entry.pop("labels", {})},
            "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
        }
        found[namespace, name] = {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata, **entry}
    return found


def gathered(role: Mapping[str, Any], stored: Iterable[Mapping[str, Any]]) -> list[FrozenDocument]:
    """Return the rules that a ClusterRole with an `aggregationRule` has, from the defaults and the stored ClusterRoles.

    Source: pkg/controller/clusterroleaggregation, v1.34. Defaults gather from each other and never in a circle; what
    a stored role gathers stands in it already.
    """
    roles = {name: document for (_, name), document in defaults(CLUSTER_ROLES).items()}
    roles |= {document["metadata"]["name"]: document for document in stored}
    return _gathered(role, roles)


def _gathered(role: Mapping[str, Any], roles: Mapping[str, Mapping[str, Any]]) -> list[FrozenDocument]:
    rules: list[FrozenDocument] = []
    for selector in (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or ():
        for name in sorted(roles):
            other = roles[name]
            if name != role["metadata"]["name"] and _selects(selector, other["metadata"].get("labels") or {}):
                gathers = other is defaults(CLUSTER_ROLES).get(("", name)) and other.get("aggregationRule")
                for rule in (_gathered(other, roles) if gathers else other.get("rules")) or ():
                    if rule not in rules:
                        rules.append(rule)
    return rules


def _selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    try:
        return matches_all(msgspec.convert(selector, LabelSelector).requirements(), labels)
    except (SelectorError, msgspec.ValidationError):
        return False


def role_of(name: str, stored: Sequence[Mapping[str, Any]]) -> FrozenDocument | None:
    """Return the default ClusterRole of a name with all its rules; `stored` are the ClusterRoles that are stored."""
    role = defaults(CLUSTER_ROLES).get(("", name))
    if role is None or not role.get("aggregationRule"):
        return role
    return {**role, "rules": gathered(role, stored)}


def computed(resource: str) -> Computed:
    """Return how the defaults of a resource are shown."""

    def objects(facts: Facts, namespace: str | None, name: str) -> Iterator[Stored]:
        stored: list[Mapping[str, Any]] = []
        for (where, own), document in defaults(resource).items():
            if namespace not in (None, where) or name not in ("", own):
                continue
            if document.get("aggregationRule"):
                stored = stored or [one.object for one in facts.stored(resource)]
                document = {**document, "rules": gathered(document, stored)}
            yield standing(facts, resource, document)

    return Computed(objects, _FIXED)
