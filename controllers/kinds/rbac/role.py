"""Roles: what may be done in a namespace. Stored; what a person may do follows from the role in the session."""

from __future__ import annotations

from typing import Any, Final

from controllers.kinds.columns import CREATED_AT, NAME
from controllers.kinds.rbac import bootstrap, rules
from controllers.registry.kind import Kind
from scheduler_core.api.errors import Cause


def _validate(document: dict[str, Any]) -> list[Cause]:
    return rules.rules(document, namespaced=True)


KIND: Final = Kind(
    "Role",
    "roles",
    group=rules.GROUP,
    namespaced=True,
    names="path",
    rank=7,
    students=False,
    made_by_put=True,
    whole_rules=True,
    computed=bootstrap.computed(bootstrap.ROLES),
    defaults=rules.role_defaults,
    rule_checks=2,
    validate=_validate,
    metadata_looks="wwc",
    columns=(NAME, CREATED_AT),
)
