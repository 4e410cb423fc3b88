"""ClusterRoleBindings: who has a role in the whole cluster. ServiceAccounts get it."""

from __future__ import annotations

from typing import Any, Final

from controllers.kinds.rbac import bootstrap, rules
from controllers.registry.kind import Kind
from scheduler_core.api.errors import Cause

_ROLE: Final = (
    "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, "
    "the Authorizer must return an error."
)


def _validate(document: dict[str, Any]) -> list[Cause]:
    return rules.binding(document, ("ClusterRole",), namespaced=False)


KIND: Final = Kind(
    "ClusterRoleBinding",
    "clusterrolebindings",
    group=rules.GROUP,
    namespaced=False,
    names="path",
    rank=8,
    explains=rules.binding_explained,
    students=False,
    made_by_put=True,
    whole_rules=True,
    computed=bootstrap.computed(bootstrap.CLUSTER_ROLE_BINDINGS),
    defaults=rules.binding_defaults,
    rule_checks=2,
    validate=_validate,
    validate_update=rules.binding_update,
    columns=rules.binding_columns("clusterRoleBinding", _ROLE),
    metadata_looks="wwc",
)
