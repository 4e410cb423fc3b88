"""What roles and bindings have in common: rules, references and subjects.

Source: pkg/apis/rbac (defaults, validation), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.registry import fields
from controllers.registry.kind import Column
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause

GROUP: Final = "rbac.authorization.k8s.io"
_FOR_ACCOUNTS: Final = ("system:serviceaccount", "system:authenticated")
_SUBJECTS: Final = ("ServiceAccount", "User", "Group")


def role_defaults(document: dict[str, Any]) -> None:
    """Fill in what a role leaves out."""
    document.setdefault("rules", None)


def rules(document: Mapping[str, Any], *, namespaced: bool) -> list[Cause]:
    """Check a role's rules."""
    causes: list[Cause] = []
    for index, rule in enumerate(document["rules"] or ()):
        causes += _rule(f"rules[{index}]", rule, namespaced)
    return causes


def _rule(where: str, rule: Mapping[str, Any], namespaced: bool) -> list[Cause]:
    causes: list[Cause] = []
    if not rule.get("verbs"):
        causes.append(fields.required(f"{where}.verbs", "verbs must contain at least one value"))
    paths, field = rule.get("nonResourceURLs"), f"{where}.nonResourceURLs"
    if paths:
        if namespaced:
            causes.append(fields.bad(field, paths, "namespaced rules cannot apply to non-resource URLs"))
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            why = "rules cannot apply to both regular resources and non-resource URLs"
            causes.append(fields.bad(field, paths, why))
        return causes
    if not rule.get("apiGroups"):
        causes.append(fields.required(f"{where}.apiGroups", "resource rules must supply at least one api group"))
    if not rule.get("resources"):
        causes.append(fields.required(f"{where}.resources", "resource rules must supply at least one resource"))
    return causes


def binding_defaults(document: dict[str, Any]) -> None:
    """Fill in the groups that a binding leaves out."""
    reference = child(document, "roleRef")
    if not reference.get("apiGroup"):
        reference["apiGroup"] = GROUP
    for subject in document.get("subjects") or ():
        if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
            subject["apiGroup"] = GROUP


def binding(document: Mapping[str, Any], kinds: tuple[str, ...], *, namespaced: bool) -> list[Cause]:
    """Check a binding; `kinds` are the roles that it may give."""
    reference = document["roleRef"]
    causes: list[Cause] = []
    if reference["apiGroup"] != GROUP:
        causes.append(fields.unsupported("roleRef.apiGroup", reference["apiGroup"], (GROUP,)))
    if reference.get("kind") not in kinds:
        causes.append(fields.unsupported("roleRef.kind", reference.get("kind") or "", kinds, ordered=False))
    name = reference.get("name") or ""
    causes += fields.path_segment("roleRef.name", name) if name else [fields.required("roleRef.name")]
    for index, subject in enumerate(document.get("subjects") or ()):
        causes += _subject(f"subjects[{index}]", subject, namespaced)
    return causes


def _subject(where: str, subject: Mapping[str, Any], namespaced: bool) -> list[Cause]:
    of, name, group = (subject.get(key) or "" for key in ("kind", "name", "apiGroup"))
    causes = [] if name else [fields.required(f"{where}.name")]
    if of == "ServiceAccount":
        if name:
            causes += fields.subdomain(f"{where}.name", name)
        if group:
            causes.append(fields.unsupported(f"{where}.apiGroup", group, ("",)))
        if not namespaced and not subject.get("namespace"):
            causes.append(fields.required(f"{where}.namespace"))
    elif of not in _SUBJECTS:
        causes.append(fields.unsupported(f"{where}.kind", of, _SUBJECTS, ordered=False))
    elif group != GROUP:
        causes.append(fields.unsupported(f"{where}.apiGroup", group, (GROUP,)))
    return causes


def binding_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Refuse another role."""
    if new["roleRef"] == old.get("roleRef"):
        return []
    return [fields.bad("roleRef", _as_written(new["roleRef"]), "cannot change roleRef")]


def binding_explained(document: Mapping[str, Any]) -> list[str]:
    """Tell of subjects that get nothing: people and components may what their role in the session says."""
    why = "people may what their role in the session says; a binding here gives to ServiceAccounts alone"
    return [
        f"subjects[{index}]: {why}"
        for index, subject in enumerate(document.get("subjects") or ())
        if subject.get("kind") != "ServiceAccount" and not str(subject.get("name")).startswith(_FOR_ACCOUNTS)
    ]


def _as_written(reference: Mapping[str, Any]) -> dict[str, Any]:
    # Upstream shows its internal struct here, whose fields are written with capitals.
    return {
        name: reference.get(key) or "" for name, key in (("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name"))
    }


def _named(of: str) -> Any:
    def cell(document: Mapping[str, Any], age: Any) -> str:
        return ", ".join(
            f"{subject.get('namespace', '')}/{subject['name']}" if of == "ServiceAccount" else subject["name"]
            for subject in document.get("subjects") or ()
            if subject.get("kind") == of
        )

    return cell


def binding_columns(singular: str, role: str) -> tuple[Column, ...]:
    """Return the columns of a binding; `role` describes what it gives."""
    return (
        NAME,
        Column(
            "Role",
            "string",
            role,
            lambda doc, age: f"{at(doc, 'roleRef', 'kind') or ''}/{at(doc, 'roleRef', 'name') or ''}",
        ),
        AGE,
        Column("Users", "string", f"Users in the {singular}", _named("User"), 1),
        Column("Groups", "string", f"Groups in the {singular}", _named("Group"), 1),
        Column("ServiceAccounts", "string", f"ServiceAccounts in the {singular}", _named("ServiceAccount"), 1),
    )
