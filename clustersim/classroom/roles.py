"""What each role may do (contract of roles: docs/session-api.md). One table of rules for every route.

Reads and the shape of a write are checked from the request (`check`); what a write would store is checked on the final
object, after patches, defaults and admission (`guard_for`), so that no detour of spelling leads around a rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from clustersim.classroom import allowance, escalation, lectern, rbac
from clustersim.classroom.auth import ACCOUNT, COMPONENT, CREATED_BY, STUDENT, TEACHER, Principal
from clustersim.extenders import refusals
from clustersim.store import SqlStore, open_store
from controllers.kinds.table import TABLE, find_resource
from controllers.log.draft import Draft
from controllers.log.operations import Bind, Create, Delete, Operation
from controllers.log.store import Stored
from controllers.registry.context import Guard
from controllers.registry.kind import CLUSTERSIM_GROUP, Kind
from controllers.registry.schema import places_of
from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.errors import ApiError, forbidden, invalid, split_resource
from scheduler_core.api.said import said

READ_VERBS: Final = frozenset({"get", "list", "watch"})

STUDENT_PRIORITY_MAX: Final = 1_000_000_000
"""The highest priority of a person's class, upstream's HighestUserDefinablePriority; above it pods are the system's."""

IMPERSONATE: Final = "impersonate"
"""The verb of acting as somebody else."""

POD_SPEC: Final = "core_v1.PodSpec"
"""Wherever a kind's schema has one, the rules on pods hold."""


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
    if commanded or not _may(principal, verb, resource, namespace or "", name, subresource):
        raise _denied(principal, verb, resource, namespace or "", name, subresource)


def check_path(principal: Principal, verb: str, path: str) -> None:
    """Refuse an account a path that is no resource, unless a role of its lets it; people read all of them.

    Raises:
        ApiError: 403.
    """
    if principal.role == ACCOUNT and not rbac.allows_path(principal, verb, path):
        why = f'forbidden: User "{principal.slug}" cannot {verb} path "{path}"'
        raise ApiError(403, "Forbidden", why, extra={"details": {}})


def _may(principal: Principal, verb: str, resource: str, namespace: str, name: str, subresource: str) -> bool:
    if principal.role == TEACHER:
        return True
    if principal.role == ACCOUNT:
        return bool(rbac.allows(principal, verb, resource, namespace, name, subresource))
    if verb == IMPERSONATE:
        return False
    kind = _kind_of(principal, resource)
    at_home = principal.role == STUDENT and namespace == principal.namespace
    if verb in READ_VERBS:
        return at_home or kind is None or not kind.secret
    if kind is None:
        return False
    part = kind.subresource(subresource)
    if principal.role == STUDENT:
        return (
            at_home and kind.namespaced and kind.students and (not subresource or (part is not None and part.students))
        )
    if principal.role != COMPONENT:
        return False
    if subresource:
        return kind.components or (part is not None and part.components)
    return kind.components or verb in kind.component_verbs


def _kind_of(principal: Principal, resource: str) -> Kind | None:
    """Return a kind of the session, which may have defined it itself."""
    return find_resource(resource) or TABLE.of(open_store(principal.session_id)).find_resource(resource)


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

    def guard(operation: Operation, old: Stored | None, new: Draft | None) -> None:
        resource, namespace, name, subresource = place_of(operation)
        if new is not None:
            _check_calls(find_resource(resource), name, new.object)
        if principal.role == TEACHER and commands:
            return
        if principal.role != ACCOUNT:
            # What an account may was decided by the request's own verb: a patch is no update there.
            check(principal, verb_of(operation), resource, namespace, name, subresource)
        lectern.check_may_act(principal)
        if new is None:
            return
        before = None if old is None else old.object
        _check_author(resource, name, principal, before, new.object)
        if principal.role == ACCOUNT:
            escalation.check(principal, resource, namespace, name, before, new.object)
        if principal.role == STUDENT:
            _check_student_object(resource, name, before, new.object)
            assert store is not None, "a student's writes go into a store"
            allowance.spend(store, principal, resource, name, old, new, dry_run=dry_run)

    return guard


def _check_calls(kind: Kind | None, name: str, new: FrozenDocument) -> None:
    """What the server calls is the operator's affair: not even a teacher may send it elsewhere."""
    if kind is None:
        return
    causes = refusals(kind.calls(new))
    if causes:
        raise invalid(kind.kind, kind.group, name, causes)


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
        raise forbidden(
            resource,
            name,
            said(
                "role.annotation",
                "the annotation {created_by} says who made this and stays as it is",
                created_by=CREATED_BY,
            ),
        )


def _annotations(document: FrozenDocument) -> Mapping[str, str]:
    return document["metadata"].get("annotations") or {}


def _check_student_object(resource: str, name: str, old: FrozenDocument | None, new: FrozenDocument) -> None:
    """The rules on pods hold for the pods of templates too: a controller would make them in the student's name."""
    kind = find_resource(resource)
    for place in places_of(POD_SPEC, kind.schema) if kind is not None else ():
        path, spec, before = ".".join(place), _inner(new, place), _inner(old, place)
        node_name, old_name = spec.get("nodeName") or "", before.get("nodeName") or ""
        if node_name and node_name != old_name:
            raise forbidden(
                resource,
                name,
                said(
                    "role.nodeName",
                    "{path}.nodeName: choosing the node is the scheduler's work; leave it out",
                    path=path,
                ),
            )
        class_name = str(spec.get("priorityClassName") or "")
        priority = spec.get("priority")
        too_high = isinstance(priority, int) and priority > STUDENT_PRIORITY_MAX
        if class_name.startswith("system-") or too_high:
            raise forbidden(
                resource,
                name,
                said(
                    "role.priority",
                    "{path}.priorityClassName: system priority classes are the cluster's own",
                    path=path,
                ),
            )


def _inner(document: FrozenDocument | None, path: Sequence[str]) -> FrozenDocument:
    """Return what lies at a path, or nothing."""
    inner: Any = document
    for field in path:
        inner = inner.get(field) if isinstance(inner, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def require(principal: Principal, *roles: str) -> None:
    """Refuse a session route to other roles.

    Raises:
        ApiError: 403.
    """
    if principal.role not in roles:
        wanted = " or ".join(roles)
        raise ApiError(
            403,
            "Forbidden",
            said(
                "role.needs",
                "this needs the role {wanted}, yours is {role}; ask the teacher",
                wanted=wanted,
                role=principal.role,
            ),
        )
