"""Acting as somebody else (`kubectl --as`): a teacher may, as any person of the session, account or name.

Source: k8s.io/apiserver/pkg/endpoints/filters/impersonation.go, v1.34. A name that nobody has may what bindings
give it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from clustersim.apiserver.messages import Request
from clustersim.apiserver.routes import PlainError
from clustersim.classroom import people
from clustersim.classroom.accounttokens import NOBODY, PREFIX, account_principal, user_named
from clustersim.classroom.auth import TEACHER, Principal
from scheduler_core.api.document import Document
from scheduler_core.api.errors import forbidden

GROUPS_BETWEEN: Final = "\n"
"""What stands between several values of one header: no value has a line's end."""

_KINDS: Final = {"impersonate-group": ("Group", ""), "impersonate-uid": ("UID", "authentication.k8s.io/v1")}
"""Of what kind what a header names is, and of which version, as Go writes a reference to it."""

IMPERSONATED: Final = {"impersonate-user": "users", "impersonate-group": "groups", "impersonate-uid": "uids"}
"""Headers of `kubectl --as` and its sisters, and what they name."""


class WithoutUser(PlainError):
    """Groups or a uid without a user whose they are: answered by a line of text, as upstream's filter does."""

    def __init__(self, path: str, named: Mapping[str, str]) -> None:
        """Say what was asked for."""
        asked = [
            "{{{0}  {2}  {1}  }}".format(*_KINDS[header], one)
            for header, value in named.items()
            for one in value.split(GROUPS_BETWEEN)
            if header in _KINDS
        ]
        why = f'Internal Server Error: "{path}": requested [{" ".join(asked)}] without impersonating a user'
        super().__init__(500, "InternalError", why)


def acting(request: Request, principal: Principal) -> Principal:
    """Return as whom a request acts: who sends it, unless its headers say otherwise.

    Raises:
        ApiError: 403, worded as upstream words that of a user without the verb; 500, groups without a user.
    """
    named = {header: request.headers[header] for header in IMPERSONATED if header in request.headers}
    if not named:
        return principal
    if principal.role != TEACHER:
        header, value = next(iter(named.items()))
        resource = IMPERSONATED[header]
        why = f'User "{principal.slug}" cannot impersonate resource "{resource}" in API group "" at the cluster scope'
        raise forbidden(resource, value[:253], why)
    name = named.get("impersonate-user", "")[:512]
    if not name:
        raise WithoutUser(request.path, named)
    known = name != NOBODY
    groups = named.get("impersonate-group", "") or ("" if known else "system:unauthenticated")
    return find(principal, name, named.get("impersonate-uid", ""), groups, authenticated=known)


def find(principal: Principal, name: str, uid: str = "", groups: str = "", *, authenticated: bool = True) -> Principal:
    """Return the principal of a name: a person of the session, an account, or somebody of whom nothing is known.

    `authenticated`: whether who is not known is in the group of those who have shown who they are.
    """
    for person in people.of_session(principal.session_id):
        if person.slug == name:
            return people.principal_for(people.find(principal.session_id, str(person.id)), principal.code)
    if name.startswith(PREFIX) and name.count(":") == 3:
        return account_principal(principal.code, principal.session_id, user_named(name, uid))
    listed = [group for group in groups.split(GROUPS_BETWEEN) if group]
    user: Document = {"username": name, **({"uid": uid} if uid else {})}
    user["groups"] = list(dict.fromkeys([*listed, "system:authenticated"] if authenticated else listed))
    return account_principal(principal.code, principal.session_id, user)
