"""What each role may do (contract of roles: docs/session-api.md). One table of rules for every route.

Reads and the shape of a write are checked from the request (`check`); what a write would store is checked on the final
object, after patches, defaults and admission (`guard_for`), so that no detour of spelling leads around a rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from clustersim.classroom import allowance
from clustersim.classroom.auth import COMPONENT, CREATED_BY, STUDENT, TEACHER, Principal
from clustersim.extenders import refusals
from clustersim.store import SqlStore
from controllers.kinds.table import find_resource
from controllers.log.operations import Bind, Create, Delete, Operation
from controllers.registry.context import Guard
from controllers.registry.kind import CLUSTERSIM_GROUP
from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.errors import ApiError, forbidden, split_resource
from scheduler_core.profiles.era import below, refused

READ_VERBS: Final = frozenset({"get", "list", "watch"})

STUDENT_PRIORITY_MAX: Final = 1_000_000_000
"""The highest priority of a person's class, upstream's HighestUserDefinablePriority; above it pods are the system's."""

_STUDENT_SUBRESOURCES: Final = frozenset({"", "scale", "eviction", "log"})
_STUDENT_NEVER: Final = frozenset({"resourcequotas", "csistoragecapacities.storage.k8s.io", "events"})
"""Namespaced resources that a student does not write: the limits of their namespace are the teacher's, what storage
there is holds for everybody's claims, and Events are told by components (upstream's role `edit` reads them alone)."""

SCHEDULERS: Final = "schedulerconfigs.clustersim.io"

_COMPONENT_SUBRESOURCES: Final = frozenset({"binding", "status"})
_COMPONENT_RESOURCES: Final = frozenset({"leases.coordination.k8s.io", "events", "events.events.k8s.io"})


def check(
    principal: Principal, verb: str, resource: str, namespace: str | None, name: str = "", subresource: str = ""
) -> None:
    """Refuse what the role may not do, judged by the request alone. `namespace` None or empty: the whole cluster.

    Raises:
        ApiError: 403.
    """
    group = split_resource(resource)[1]
    # What nobody commands on this surface the engine need not withstand.
    commanded = group == CLUSTERSIM_GROUP and verb not in READ_VERBS
    if commanded or not _may(principal, verb, resource, namespace or "", subresource):
        raise _denied(principal, verb, resource, namespace or "", name, subresource)


def _may(principal: Principal, verb: str, resource: str, namespace: str, subresource: str) -> bool:
    if principal.role == TEACHER:
        return True
    if verb in READ_VERBS:
        own = principal.role == STUDENT and namespace == principal.namespace
        return own or resource != "secrets"
    if principal.role == STUDENT:
        kind = find_resource(resource)
        return (
            kind is not None
            and kind.namespaced
            and namespace == principal.namespace
            and subresource in _STUDENT_SUBRESOURCES
            and resource not in _STUDENT_NEVER
        )
    return principal.role == COMPONENT and (subresource in _COMPONENT_SUBRESOURCES or resource in _COMPONENT_RESOURCES)


def _denied(principal: Principal, verb: str, resource: str, namespace: str, name: str, subresource: str) -> ApiError:
    """Return the 403 in the words of upstream's RBAC authorizer."""
    plural, group = split_resource(resource)
    asked = f"{plural}/{subresource}" if subresource else plural
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    return forbidden(
        resource,
        name,
        f'User "{principal.slug}" cannot {verb} resource "{asked}" in API group "{group}" {where}',
    )


def guard_for(
    principal: Principal, *, commands: bool = False, store: SqlStore | None = None, dry_run: bool = False
) -> Guard:
    """Return the check of final objects for the registry's context.

    Args:
        principal: who writes.
        commands: the write is a route's of the session API, which alone make and change command objects.
        store: where it goes; needed for what students may keep (`allowance`).
        dry_run: it is only tried, and uses nothing up.
    """

    def guard(operation: Operation, old: FrozenDocument | None, new: FrozenDocument | None) -> None:
        resource, namespace, name, subresource = place_of(operation)
        if resource == SCHEDULERS and new is not None:
            _check_extenders(new)
        if principal.role == TEACHER and commands:
            return
        check(principal, verb_of(operation), resource, namespace, name, subresource)
        if new is None:
            return
        _check_author(resource, name, principal, old, new)
        if principal.role == STUDENT:
            _check_student_object(resource, name, old, new)
            assert store is not None, "a student's writes go into a store"
            allowance.spend(store, principal, resource, name, old, new, dry_run=dry_run)

    return guard


def _check_extenders(new: FrozenDocument) -> None:
    """What the server calls is the operator's affair: not even a teacher may send it elsewhere."""
    causes = refusals(new.get("spec") or {})
    if causes:
        raise below(refused(*causes), "spec")


def verb_of(operation: Operation) -> str:
    """Return the API verb of an operation."""
    if isinstance(operation, Create | Bind):
        return "create"
    return "delete" if isinstance(operation, Delete) else "update"


def place_of(operation: Operation) -> tuple[str, str, str, str]:
    """Return (resource, namespace, name, subresource) that an operation writes."""
    if isinstance(operation, Delete):
        return operation.resource, operation.namespace, operation.name, ""
    if isinstance(operation, Create):
        name = str((operation.object.get("metadata") or {}).get("name", ""))
        return operation.resource, operation.namespace, name, operation.subresource
    return operation.resource, operation.namespace, operation.name, operation.subresource


def _check_author(
    resource: str, name: str, principal: Principal, old: FrozenDocument | None, new: FrozenDocument
) -> None:
    """Nobody writes another's name on an object, nor their own on another's."""
    claimed = _annotations(new).get(CREATED_BY)
    if claimed is not None and claimed != (principal.slug if old is None else _annotations(old).get(CREATED_BY)):
        raise forbidden(resource, name, f"the annotation {CREATED_BY} says who made this and stays as it is")


def _annotations(document: FrozenDocument) -> Mapping[str, str]:
    return document["metadata"].get("annotations") or {}


def _check_student_object(resource: str, name: str, old: FrozenDocument | None, new: FrozenDocument) -> None:
    """The rules on pods hold for the pods of templates too: a controller would make them in the student's name."""
    for path, spec, before in _pod_specs(resource, old, new):
        node_name, old_name = spec.get("nodeName") or "", before.get("nodeName") or ""
        if node_name and node_name != old_name:
            raise forbidden(resource, name, f"{path}.nodeName: choosing the node is the scheduler's work; leave it out")
        class_name = str(spec.get("priorityClassName") or "")
        priority = spec.get("priority")
        too_high = isinstance(priority, int) and priority > STUDENT_PRIORITY_MAX
        if class_name.startswith("system-") or too_high:
            raise forbidden(resource, name, f"{path}.priorityClassName: system priority classes are the cluster's own")


def _pod_specs(
    resource: str, old: FrozenDocument | None, new: FrozenDocument
) -> list[tuple[str, FrozenDocument, FrozenDocument]]:
    def specs(document: FrozenDocument | None) -> dict[str, FrozenDocument]:
        spec = (document or {}).get("spec") or {}
        if resource == "pods":
            return {"spec": spec}
        found: dict[str, FrozenDocument] = {}
        for path, holder in (
            ("spec.template", spec),
            ("spec.jobTemplate.spec.template", _inner(spec, "jobTemplate", "spec")),
        ):
            template = holder.get("template")
            if isinstance(template, Mapping):
                found[f"{path}.spec"] = template.get("spec") or {}
        return found

    before = specs(old)
    return [(path, spec, before.get(path, {})) for path, spec in specs(new).items()]


def _inner(document: FrozenDocument, *path: str) -> FrozenDocument:
    for field in path:
        member = document.get(field)
        document = member if isinstance(member, Mapping) else {}
    return document


def require(principal: Principal, *roles: str) -> None:
    """Refuse a session route to other roles.

    Raises:
        ApiError: 403.
    """
    if principal.role not in roles:
        wanted = " or ".join(roles)
        raise ApiError(403, "Forbidden", f"this needs the role {wanted}, yours is {principal.role}; ask the teacher")
