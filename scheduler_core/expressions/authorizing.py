"""`authorizer`: who may do what, asked by expressions.

Source: k8s.io/apiserver/pkg/cel/library (authz.go), v1.34. Whoever evaluates says whom the questions are put to; who
is told of nobody may do everything, as upstream's own components.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, NamedTuple

from scheduler_core.api.dns_names import label_errors, subdomain_errors
from scheduler_core.expressions.declaring import Function, Own, Way, part

_PLACE: Final = "kubernetes.authorization."
AUTHORIZER: Final = f"{_PLACE}Authorizer"
RESOURCE: Final = f"{_PLACE}ResourceCheck"
_PATH: Final = f"{_PLACE}PathCheck"
_GROUP: Final = f"{_PLACE}GroupCheck"
_DECISION: Final = f"{_PLACE}Decision"

CHECK_COST: Final = 350_000
"""Units of work that one check costs, as upstream."""


class Access(NamedTuple):
    """What is asked: a verb on a path, or on a resource where there is no path.

    Attributes:
        user: the UserInfo of who would do it; None: whoever writes.
    """

    user: Mapping[str, Any] | None
    verb: str
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


class Answer(NamedTuple):
    """Whether it may be done, and why."""

    allowed: bool
    reason: str = ""


Authorize = Callable[[Access], Answer]

_ASKED: ContextVar[Authorize | None] = ContextVar("authorize", default=None)


@contextmanager
def asking(authorize: Authorize | None) -> Iterator[None]:
    """Put the questions of expressions that are evaluated inside to somebody."""
    before = _ASKED.set(authorize)
    try:
        yield
    finally:
        _ASKED.reset(before)


def authorizer_of(group: str, resource: str, subresource: str, namespace: str, name: str) -> Own:
    """Return the variable `authorizer` of a request for a resource."""
    asked = {"group": group, "resource": resource, "subresource": subresource, "namespace": namespace, "name": name}
    return {AUTHORIZER: {"user": None}, "requestResource": {RESOURCE: {"user": None, **asked}}}


def _account(one: Own, namespace: str, name: str) -> Own:
    if subdomain_errors(name):
        raise ValueError("Invalid service account name")
    if label_errors(namespace):
        raise ValueError("Invalid service account namespace")
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}"]
    part(one, AUTHORIZER)
    return {AUTHORIZER: {"user": {"username": f"system:serviceaccount:{namespace}:{name}", "groups": groups}}}


def _path(one: Own, path: str) -> Own:
    if not path.strip():
        raise ValueError("path must not be empty")
    return {_PATH: {**part(one, AUTHORIZER), "path": path}}


def _resource(one: Own, resource: str) -> Own:
    if not resource.strip():
        raise ValueError("resource must not be empty")
    return {RESOURCE: {**part(one, _GROUP), "resource": resource}}


def _with(field: str) -> Function:
    """Return the method that says one more thing of a resource."""
    return Function(
        field,
        Way(RESOURCE, (RESOURCE, "string"), lambda one, text: {RESOURCE: {**part(one, RESOURCE), field: text}}, True),
    )


def _asked(kind: str) -> Callable[[Own, str], Own]:
    def check(one: Own, verb: str) -> Own:
        authorize, given = _ASKED.get(), part(one, kind)
        known = {key: given[key] for key in given if key in Access._fields}
        answer = Answer(True) if authorize is None else authorize(Access(verb=verb, **known))
        return {_DECISION: {"allowed": answer.allowed, "reason": answer.reason}}

    return check


def _told(name: str, answer: str, of: Callable[[Mapping[str, Any]], Any]) -> Function:
    return Function(name, Way(answer, (_DECISION,), lambda one: of(part(one, _DECISION)), member=True))


FUNCTIONS: Final[tuple[Function, ...]] = (
    Function("path", Way(_PATH, (AUTHORIZER, "string"), _path, member=True)),
    Function(
        "group",
        Way(
            _GROUP,
            (AUTHORIZER, "string"),
            lambda one, group: {_GROUP: {**part(one, AUTHORIZER), "group": group}},
            member=True,
        ),
    ),
    Function("serviceAccount", Way(AUTHORIZER, (AUTHORIZER, "string", "string"), _account, member=True)),
    Function("resource", Way(RESOURCE, (_GROUP, "string"), _resource, member=True)),
    # Selectors narrow what is asked for; nobody here decides by them.
    *map(_with, ("subresource", "namespace", "name", "fieldSelector", "labelSelector")),
    Function(
        "check",
        Way(_DECISION, (_PATH, "string"), _asked(_PATH), member=True),
        Way(_DECISION, (RESOURCE, "string"), _asked(RESOURCE), member=True),
    ),
    _told("allowed", "bool", lambda decision: decision["allowed"]),
    _told("reason", "string", lambda decision: decision["reason"]),
    _told("errored", "bool", lambda decision: False),
    _told("error", "string", lambda decision: ""),
)
