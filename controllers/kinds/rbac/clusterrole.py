"""ClusterRoles: what may be done in the whole cluster. Stored; what a person may do follows from their own role."""

from __future__ import annotations

from typing import Any, Final

from controllers.kinds.columns import CREATED_AT, NAME
from controllers.kinds.rbac import bootstrap, rules
from controllers.registry import fields
from controllers.registry.kind import Kind
from scheduler_core.api.errors import Cause


def _validate(document: dict[str, Any]) -> list[Cause]:
    causes = rules.rules(document, namespaced=False)
    gathered = document.get("aggregationRule")
    if gathered is None:
        return causes
    field, selectors = "aggregationRule.clusterRoleSelectors", gathered.get("clusterRoleSelectors") or ()
    if not selectors:
        why = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        causes.append(fields.required(field, why))
    for index, selector in enumerate(selectors):
        wrong = fields.label_selector(f"{field}[{index}]", selector)
        # Upstream shows what it made of the selector: nothing.
        causes += [*wrong, fields.bad(f"{field}[{index}]", None, "invalid label selector.")] if wrong else []
    return causes


KIND: Final = Kind(
    "ClusterRole",
    "clusterroles",
    group=rules.GROUP,
    namespaced=False,
    names="path",
    rank=7,
    students=False,
    made_by_put=True,
    whole_rules=True,
    computed=bootstrap.computed(bootstrap.CLUSTER_ROLES),
    defaults=rules.role_defaults,
    rule_checks=2,
    validate=_validate,
    keeper="clusterrole-aggregation",
    metadata_looks="wwc",
    columns=(NAME, CREATED_AT),
)
