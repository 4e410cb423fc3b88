"""Who may do what, as reviews and expressions are told: what roles of the session may, and what bindings give."""

from __future__ import annotations

from typing import Any

from clustersim.classroom import rbac, roles
from clustersim.classroom.accounttokens import account_principal
from clustersim.classroom.auth import ACCOUNT, TEACHER, Principal
from clustersim.store import open_store
from controllers.kinds.table import TABLE, find_resource
from scheduler_core.api.errors import ApiError
from scheduler_core.expressions.authorizing import Access, Answer, Authorize


def authorizer_for(principal: Principal) -> Authorize:
    """Return what answers the questions of expressions that are asked about a write of somebody."""

    def authorize(access: Access) -> Answer:
        about = principal
        if access.user is not None:
            about = account_principal(principal.code, principal.session_id, dict(access.user))
        if access.path:
            found = decide_path(about, access.verb, access.path)
        else:
            resource = f"{access.resource}.{access.group}" if access.group else access.resource
            found = decide(about, access.verb, resource, access.namespace, access.name, access.subresource)
        return Answer(found["allowed"], found.get("reason", ""))

    return authorize


def decide_path(principal: Principal, verb: str, path: str) -> dict[str, Any]:
    """Return the status of an access review of a path that is no resource."""
    if principal.role == TEACHER or _is_master(principal):
        return {"allowed": True}
    if principal.role == ACCOUNT:
        reason = rbac.allows_path(principal, verb, path)
        return {"allowed": True, "reason": reason} if reason else {"allowed": False}
    allowed = verb.lower() in ("get", "head")
    return {
        "allowed": allowed,
        "reason": "everybody in the session reads discovery and versions" if allowed else "",
    }


def decide(
    principal: Principal, verb: str, resource: str, namespace: str, name: str, subresource: str
) -> dict[str, Any]:
    """Return the status of an access review."""
    if resource not in ("", "*") and find_resource(resource) is None and not _is_defined(principal, resource):
        return {"allowed": False, "reason": f"no resource {resource!r} is served here"}
    if _is_master(principal):
        return {"allowed": True}
    if principal.role == ACCOUNT:
        reason = rbac.allows(principal, verb, resource, namespace, name, subresource)
        return {"allowed": True, "reason": reason} if reason else {"allowed": False}
    try:
        roles.check(principal, verb, resource, namespace, name, subresource)
    except ApiError as error:
        return {"allowed": False, "reason": error.message}
    # As with upstream's privileged groups, what the role may has no reason of its own.
    return {"allowed": True}


def _is_master(principal: Principal) -> bool:
    """Return whether somebody is of upstream's privileged group, which no rule has to let in."""
    return principal.role == ACCOUNT and "system:masters" in principal.info.get("groups", ())


def _is_defined(principal: Principal, resource: str) -> bool:
    return TABLE.of(open_store(principal.session_id)).find_resource(resource) is not None
