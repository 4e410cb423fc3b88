"""Acting as somebody else (`kubectl --as`): as any person of the session, account or name.

A teacher may; accounts may what bindings give them of the verb `impersonate`; nobody else may.
Source: k8s.io/apiserver/pkg/endpoints/filters/impersonation.go, v1.34. A name that nobody has may what bindings
give it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple
from urllib.parse import unquote

from clustersim.apiserver.faults import FaultError
from clustersim.apiserver.messages import Request
from clustersim.classroom import people, roles
from clustersim.classroom.accounttokens import NOBODY, PREFIX, account_principal, user_named
from clustersim.classroom.auth import Principal
from controllers.kinds.core.serviceaccount import KIND as ACCOUNT_KIND
from scheduler_core.api.document import Document

VALUES_BETWEEN: Final = "\n"
"""What stands between several values of one header: no value has a line's end."""

USER: Final = "impersonate-user"
GROUP: Final = "impersonate-group"
UID: Final = "impersonate-uid"
EXTRA: Final = "impersonate-extra-"
"""What a header begins with whose rest names one of the extra facts of a user."""

AUTHENTICATION: Final = "authentication.k8s.io"
_AUTHENTICATED: Final = "system:authenticated"
_UNAUTHENTICATED: Final = "system:unauthenticated"


class Wished(NamedTuple):
    """One thing that a request wants to be taken for."""

    kind: str
    resource: str
    name: str
    namespace: str = ""
    group: str = ""
    field: str = ""

    def shown(self) -> str:
        """Return it as Go writes a reference to an object."""
        version = f"{self.group}/v1" if self.group else ""
        return f"{{{self.kind} {self.namespace} {self.name}  {version}  {self.field}}}"


class WithoutUser(FaultError):
    """Groups, a uid or more without a user whose they are: answered by a line of text, as upstream's filter does."""

    def __init__(self, request: Request, wished: Sequence[Wished]) -> None:
        """Say what was asked for."""
        told = " ".join(one.shown() for one in wished)
        super().__init__(request, f"requested [{told}] without impersonating a user")


def is_impersonating(header: str) -> bool:
    """Return whether a header, in lower case, says as whom a request acts."""
    return header in (USER, GROUP, UID) or header.startswith(EXTRA)


def acting(request: Request, principal: Principal) -> Principal:
    """Return as whom a request acts: who sends it, unless its headers say otherwise.

    Raises:
        ApiError: 403, worded as upstream words that of a user without the verb; 500, groups without a user.
    """
    wished = list(_wished(request.headers))
    if not wished:
        return principal
    name = request.headers.get(USER, "")[:512]
    if not name:
        raise WithoutUser(request, wished)
    for one in wished:
        resource = f"{one.resource}.{one.group}" if one.group else one.resource
        roles.check(principal, roles.IMPERSONATE, resource, one.namespace, one.name, one.field)
    extra: dict[str, list[str]] = {}
    for one in wished:
        if one.kind == "UserExtra":
            extra.setdefault(one.field, []).append(one.name)
    groups = [one.name for one in wished if one.kind == "Group"]
    user = find(principal, name, request.headers.get(UID, ""), groups)
    return replace(user, user={**user.info, "extra": {**user.info.get("extra", {}), **extra}}) if extra else user


def _wished(headers: Mapping[str, str]) -> Iterator[Wished]:
    """Yield what the headers of a request want it to be taken for, in the order in which upstream asks."""
    name = headers.get(USER, "")[:512]
    if _is_account(name):
        namespace, _, short = name.removeprefix(PREFIX).partition(":")
        yield Wished(ACCOUNT_KIND.kind, ACCOUNT_KIND.plural, short, namespace)
    elif name:
        yield Wished("User", "users", name)
    if GROUP in headers:
        for group in headers[GROUP].split(VALUES_BETWEEN):
            yield Wished("Group", "groups", group)
    for header, values in headers.items():
        if header.startswith(EXTRA):
            key = unquote(header.removeprefix(EXTRA))
            for value in values.split(VALUES_BETWEEN):
                yield Wished("UserExtra", "userextras", value, group=AUTHENTICATION, field=key)
    if headers.get(UID):
        yield Wished("UID", "uids", headers[UID], group=AUTHENTICATION)


def _is_account(name: str) -> bool:
    return name.startswith(PREFIX) and name.count(":") == 3 and not name.endswith(":") and "::" not in name


def find(principal: Principal, name: str, uid: str = "", groups: Sequence[str] = ()) -> Principal:
    """Return as whom a request acts that names this user, and these groups: what it does not say is made up.

    Who is not said to have shown who they are, or not to have, has, unless their name is that of nobody.
    """
    if _is_account(name) and not groups:
        return account_principal(principal.code, principal.session_id, user_named(name, uid))
    said = {_UNAUTHENTICATED} if name == NOBODY else {_UNAUTHENTICATED, _AUTHENTICATED}
    added = () if said & set(groups) else (_UNAUTHENTICATED if name == NOBODY else _AUTHENTICATED,)
    return somebody(principal, name, uid, [*groups, *added])


def somebody(principal: Principal, name: str, uid: str, groups: Sequence[str]) -> Principal:
    """Return the principal of a name in just these groups: a person of the session, or whom nobody knows."""
    for person in people.of_session(principal.session_id):
        if person.slug == name:
            return people.principal_for(people.find(principal.session_id, str(person.id)), principal.code)
    user: Document = {"username": name, **({"uid": uid} if uid else {}), "groups": list(groups)}
    return account_principal(principal.code, principal.session_id, user)
