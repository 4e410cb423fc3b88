"""From a request to its answer, in one thread with a database connection: who asks, may they, what is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from django.db import close_old_connections

from clustersim.apiserver import (
    asked,
    containers,
    deleting,
    discovery,
    fairness,
    forwarding,
    health,
    openapi,
    openid,
    processtelling,
    proxying,
    reviews,
    tokens,
    writing,
)
from clustersim.apiserver.containers import ExecPlan, LogPlan
from clustersim.apiserver.faults import check_readable
from clustersim.apiserver.forwarding import ForwardPlan
from clustersim.apiserver.impersonating import acting, is_impersonating
from clustersim.apiserver.limits import Watches
from clustersim.apiserver.listing import list_objects
from clustersim.apiserver.messages import (
    JSON,
    Request,
    Response,
    check_timeout,
    error_response,
    plain_response,
    warning,
)
from clustersim.apiserver.negotiation import ACCEPTED, STREAMED_TOO, check_acceptable, formed, wanted_of
from clustersim.apiserver.noting import Noted
from clustersim.apiserver.routes import WATCH, PageNotFound, Target, parse, unknown_path
from clustersim.apiserver.virtual import ReadView, check_writable
from clustersim.apiserver.watching import WatchPlan, plan_watch
from clustersim.classroom import accounttokens, clientcertificates, doors, roles
from clustersim.classroom import limits as person_limits
from clustersim.classroom.auth import ACCOUNT, Principal, authenticate, is_basic, token_in
from clustersim.classroom.callers import CALLERS, Standing, agent_of
from clustersim.classroom.polls import sealing
from clustersim.feed import hints
from clustersim.feed.seal import CUT, NO_SEAL, PODS, Seal
from clustersim.store import SqlStore, open_store, sessions
from controllers.kinds.flowcontrol.bootstrap import GROUP as FLOW_GROUP
from controllers.kinds.table import TABLE
from controllers.registry import fields
from scheduler_core.api.errors import (
    ApiError,
    bad_request,
    method_not_allowed,
    not_supported,
    unauthorized,
    unknown_resource,
)

watches: Final = Watches()

_MORE: Final = ("HEAD", "OPTIONS")
"""What a way through the server takes, too."""

_ASKS: Final = ("GET", "POST", *_MORE)
"""Methods by which somebody asks to run something."""

_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")

_ANSWERED: Final = {("serviceaccounts", "token"): tokens.create}
"""(resource, subresource) that is answered here and stores nothing."""

_SENDER: Final = ("authorization", "cookie", "host", "origin")
"""Headers that say who sends a request."""

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})

_Plan = WatchPlan | LogPlan | ExecPlan | ForwardPlan


@dataclass(frozen=True, slots=True)
class Watch:
    """A request that is answered by a stream: its plan and whose it is."""

    request: Request
    principal: Principal
    plan: _Plan
    headers: list[tuple[str, str]] = field(default_factory=list)
    """What is told before the stream begins."""


def handle(request: Request) -> Response | Watch:
    """Answer a request, or say how its watch begins. What changes something, and what is refused, leaves marks.

    Raises:
        ApiError: refused.
    """
    noted = Noted(request)
    try:
        answer = _handle(noted.request, noted)
    except ApiError as error:
        noted.refused(error)
        raise
    noted.answered(answer.status if isinstance(answer, Response) else 200)
    answer.headers.extend(_flow(noted))
    return formed(request, answer) if isinstance(answer, Response) else answer


def _flow(noted: Noted) -> list[tuple[str, str]]:
    """Return what tells which flow a request belongs to; what changes flows is seen at once."""
    principal, request = noted.principal, noted.request
    if principal is None:
        return []
    if noted.target is not None and noted.target.kind.group == FLOW_GROUP and request.method != "GET":
        fairness.forget(principal.session_id)
    verb = noted.verb or request.method.lower()
    return fairness.headers(principal.session_id, principal.info, request.path, verb, noted.target)


def _handle(request: Request, noted: Noted) -> Response | Watch:
    check_readable(request)
    with noted.marks.step("authentication") as known:
        principal = _authenticated(request) or _nobody(request)
        noted.principal = principal
        noted.principal = principal = acting(request, principal)
        known.message = ", ".join([principal.info["username"], *(principal.info.get("groups") or ())])
    person_limits.spend(person_limits.REQUESTS, principal.participant_id)
    with noted.marks.step("authorization"):
        asked.check(request, principal)
    if request.method != "GET":
        person_limits.check_write(principal)
    if not accounttokens.is_nobody(principal):
        hints.touch(principal.session_id)
    check_timeout(request)
    path = request.path.rstrip("/")
    if reviews.review_of(path) is not None:
        return reviews.answer(request, principal)
    parts = [part for part in path.split("/") if part]
    if request.path.startswith("//"):
        raise PageNotFound
    if "//" in request.path and parts[:1] in (["api"], ["apis"]):
        raise unknown_path(request.path, TABLE.of(noted.open(principal.session_id)))
    if not parts or request.path == "/index.html":
        return plain_response({"paths": discovery.root_paths(TABLE.of(noted.open(principal.session_id)))})
    if parts[0] in ("api", "apis") and len(parts) <= (2 if parts[0] == "api" else 3):
        found = discovery.answer(request, TABLE.of(noted.open(principal.session_id)))
        if parts[0] == "api" or len(parts) == 3:
            # The handlers of groups ask for no method, upstream neither.
            _only_get(request)
        return found
    match parts[0]:
        case "version":
            if len(parts) > 1:
                raise unknown_resource()
            _only_get(request)
            check_acceptable(request, produced=(JSON,))
            return plain_response(discovery.VERSION)
        case "openapi" if parts[1:2] in (["v2"], ["v3"]):
            return openapi.answer(request, TABLE.of(noted.open(principal.session_id)))
        case "livez" | "readyz" | "healthz":
            return health.answer(request, parts)
        case "metrics" if request.path == "/metrics":
            return fairness.metrics(principal.session_id, forget=request.method == "DELETE")
        case "metrics" if request.path == "/metrics/slis":
            return processtelling.slis()
        case "debug" if request.path.startswith(fairness.DUMPS):
            return fairness.dump(principal.session_id, request)
        case "debug":
            return processtelling.debug(request)
        case ".well-known" | "openid" if path in openid.PATHS:
            return openid.answer(request, path)
        case "api" | "apis":
            kinds = TABLE.of(noted.open(principal.session_id))
            return _with_deprecation(request, parse(request.path, kinds), principal, noted)
        case _:
            raise unknown_path(request.path)


def _authenticated(request: Request) -> Principal | None:
    """Return who sends this: who has a seat in the session, a ServiceAccount with a good token, or whom a certificate
    of the session names.
    """
    principal = authenticate(request.code, request.headers, method=_way(request))
    if principal is not None:
        return principal
    token, from_cookie = token_in(request.code, request.headers)
    shows = request.certificate if not token else ""
    session = sessions.find(request.code) if shows or (not from_cookie and token.count(".") == 2) else None
    if session is None:
        return None
    if shows:
        return clientcertificates.principal_of(session.code, open_store(session.id), shows)
    try:
        return accounttokens.principal_of(session.code, open_store(session.id), token)
    except accounttokens.NotGood:
        return None


def _nobody(request: Request) -> Principal:
    """Return as whom a request is taken that shows nothing of who sends it.

    Raises:
        ApiError: 401, what it shows is no good; 404, there is no such session; 429.
    """
    session = doors.look_up(request.code, request.address)
    if session is None:
        raise ApiError(404, "NotFound", f"there is no session {request.code[:20]!r}; check the code")
    # Upstream's authenticators look for a bearer's token alone: a name with a password shows nothing.
    if (token_in(request.code, request.headers)[0] and not is_basic(request.headers)) or request.certificate:
        raise unauthorized()
    return accounttokens.nobody(session.code, session.id)


def _way(request: Request) -> str:
    """Return by what a request comes, for the rules on cookies."""
    return "WEBSOCKET" if request.protocols else request.method


def _only_get(request: Request) -> None:
    if request.method != "GET":
        raise method_not_allowed()


def still_allowed(watch: Watch) -> bool:
    """Return whether a watch may go on: its token is still good; marks the session as used."""
    close_old_connections()
    request = watch.request
    if accounttokens.is_nobody(watch.principal):
        return sessions.find(request.code) is not None
    principal = _authenticated(request)
    if principal is None or acting(request, principal).participant_id != watch.principal.participant_id:
        return False
    hints.touch(principal.session_id)
    return True


def _allowed(principal: Principal, verb: str, target: Target) -> str:
    """Return who lets somebody do what, as a request's way tells it: a person's seat, or an account's roles."""
    by = "RBAC" if principal.role == ACCOUNT else f"clustersim:{principal.role}"
    what = f"{target.kind.plural}/{target.subresource}" if target.subresource else target.kind.plural
    return f"{by} allows {verb} {what}" + (f" in {target.namespace}" if target.namespace else "")


def _with_deprecation(request: Request, target: Target, principal: Principal, noted: Noted) -> Response | Watch:
    """Answer about a resource; a deprecated one warns in every answer, a refusal too."""
    if not target.kind.deprecated or _is_unrouted(request, target):
        return _resource(request, target, principal, noted)
    answer: Response | Watch
    try:
        answer = _resource(request, target, principal, noted)
    except ApiError as error:
        if error.code == 405 and not error.kind:
            # No route leads to whoever would warn.
            raise
        noted.refused(error)
        answer = error_response(error)
    answer.headers.append(warning(target.kind.deprecated))
    return answer


def _is_unrouted(request: Request, target: Target) -> bool:
    """Return whether upstream has no route for a method there, or for a patch of this type: nobody warns then."""
    if request.method == "PATCH" and request.content_type_as_sent not in writing.PATCH_TYPES:
        return True
    return request.method != "GET" and _verb(request, target) not in target.verbs


def _resource(request: Request, target: Target, principal: Principal, noted: Noted) -> Response | Watch:
    if request.method not in (_METHODS if target.leads is None else (*_METHODS, *_MORE)):
        raise method_not_allowed()
    verb = _verb(request, target)
    noted.target, noted.verb = target, verb
    if target.subresource and not target.name and verb != "create":
        raise method_not_allowed()
    with noted.marks.step("authorization") as allowed:
        roles.check(principal, verb, target.kind.resource, target.namespace, target.name, target.subresource)
        allowed.message = _allowed(principal, verb, target)
    if verb not in target.verbs or not _routed(target, verb):
        if target.kind.kept_in and target.subresource:
            raise not_supported(target.kind.resource, verb)
        if verb == WATCH and "list" in target.verbs:
            raise not_supported(target.kind.resource, verb)
        raise method_not_allowed()
    if target.leads is None:
        check_acceptable(request, produced=STREAMED_TOO if verb in ("list", "watch") else ACCEPTED)
    _check_path_name(target.name)
    if not target.simulated:
        # Nothing is written for whoever could not read the answer.
        want = wanted_of(request, target.kind)
        if verb not in ("get", "list"):
            want.check_include()
    store = noted.open(principal.session_id)
    view = ReadView(store, _seal(principal, store, target, verb))
    _check_unsealed(view.seal, target, verb)
    if target.name and verb in ("update", "patch", "delete"):
        check_writable(view, target.kind, target.namespace or "", target.name)
    if target.simulated:
        if target.subresource != "log" and "dryRun" in request.query:
            raise bad_request("dryRun is not supported")
        return _of_container(view, request, target, principal)
    match verb:
        case "list":
            return list_objects(view, request, target)
        case "watch":
            return _opened(request, principal, lambda: plan_watch(view, request, target, principal.role))
        case "get":
            return writing.read(view, request, target)
        case "create" if (target.kind.resource, target.subresource) in _ANSWERED:
            return _ANSWERED[target.kind.resource, target.subresource](view, request, target)
        case "create":
            return writing.create(store, request, target, principal)
        case "update":
            return writing.update(store, request, target, principal)
        case "patch":
            return writing.patch(store, request, target, principal)
        case "delete":
            return deleting.delete(store, request, target, principal)
        case _:
            return deleting.delete_collection(store, request, target, principal)


def _seal(principal: Principal, store: SqlStore, target: Target, verb: str) -> Seal:
    """Return what an open poll keeps from whoever asks, as far as the request could tell it."""
    told = target.kind.stored_resource in CUT or target.kind.computed is not None or target.simulated
    # Nothing is known yet of what is only being made; it is also what is asked most often.
    return sealing.seal_for(principal, store) if told and (verb != "create" or target.name) else NO_SEAL


def _check_unsealed(seal: Seal, target: Target, verb: str) -> None:
    """Refuse to whom a pod is sealed what would change it or show its inside: answers have the object in them.

    Raises:
        ApiError: 409.
    """
    if target.kind.stored_resource != PODS or (verb in roles.READ_VERBS and not target.simulated):
        return
    if target.name:
        sealing.refuse_pod(seal, f"{target.namespace}/{target.name}")
    elif any(one.pod.startswith(f"{target.namespace}/") for one in seal.polls):
        sealing.refuse_all(seal)


def _routed(target: Target, verb: str) -> bool:
    """Return whether there is a route: new objects go to a collection, changes to an object."""
    if target.subresource:
        return True
    homed = not target.kind.namespaced or target.namespace is not None
    match verb:
        case "create":
            return not target.name and homed
        case "update" | "patch":
            return bool(target.name)
        case "deletecollection":
            return homed
        case _:
            return True


def _check_path_name(name: str) -> None:
    """Refuse a name that no path can have (registry/generic, NamespaceKeyFunc)."""
    causes = fields.path_segment("", name) if name else []
    if causes:
        why = ";".join(cause.message.rpartition(": ")[2] for cause in causes)
        raise bad_request(f"Name parameter invalid: {json.dumps(name, ensure_ascii=False)}: {why}")


def _of_container(view: ReadView, request: Request, target: Target, principal: Principal) -> Response | Watch:
    """Answer what only a running process could answer, from the stages."""
    match target.subresource:
        case "log":
            answer = containers.log(view, request, target, _answered)
            return answer if isinstance(answer, Response) else _opened(request, principal, lambda: answer)
        case "exec" | "attach":
            plan = containers.execute(view, request, target, _answered, owns=_acts_as_account(view, target, principal))
            return _opened(request, principal, lambda: plan)
        case "portforward":
            forwarded = forwarding.plan(view, request, target, principal.participant_id)
            return _opened(request, principal, lambda: forwarded)
        case _:
            assert target.leads is not None, "what else is simulated is a way through the server"
            return proxying.through(view, request, target, target.leads)


def _answered(request: Request) -> Response:
    """Return the whole answer to a request that comes from within the session."""
    try:
        answer = handle(request)
    except ApiError as error:
        return formed(request, error_response(error))
    if isinstance(answer, Response):
        return answer
    closed(answer)
    return error_response(ApiError(501, "NotImplemented", "no stream is read in a simulated container"))


def _acts_as_account(view: ReadView, target: Target, principal: Principal) -> bool:
    """Return whether what somebody runs in a pod may act as the pod's account: who may have a token of that anyway."""
    stored = view.get(target.kind.resource, target.namespace or "", target.name)
    account = "" if stored is None else str(stored.object["spec"].get("serviceAccountName") or "default")
    try:
        roles.check(principal, "create", "serviceaccounts", target.namespace, account, "token")
    except ApiError:
        return False
    return True


def _opened(request: Request, principal: Principal, plan: Callable[[], _Plan]) -> Watch:
    """Count a stream of this person's, and say how it begins."""
    watches.open(principal.participant_id)
    try:
        return Watch(_sender_of(request), principal, _known(plan(), request, principal))
    except BaseException:
        watches.close(principal.participant_id)
        raise


def _known(plan: _Plan, request: Request, principal: Principal) -> _Plan:
    """Know of a watch while it stands."""
    if not isinstance(plan, WatchPlan):
        return plan
    agent = agent_of(request.headers.get("user-agent", ""))
    selection = plan.selection
    standing = Standing(
        plan.session_id,
        principal.slug,
        principal.name,
        agent,
        selection.resource,
        selection.namespace,
        max(plan.after, plan.known),
    )
    CALLERS.stands(standing)
    return replace(plan, standing=standing)


def closed(watch: Watch) -> None:
    """Count a stream that has ended."""
    watches.close(watch.principal.participant_id)
    if isinstance(watch.plan, WatchPlan) and watch.plan.standing is not None:
        CALLERS.ends(watch.plan.standing)


def _sender_of(request: Request) -> Request:
    """Return of a request what is asked of it as long as its stream stands: who sends it, and as whom."""
    headers = {name: told for name, told in request.headers.items() if name in _SENDER or is_impersonating(name)}
    return replace(request, path="", query=_NOTHING, headers=headers, body=b"", values=_NOTHING, marks=None)


def _verb(request: Request, target: Target) -> str:
    """Return the API verb of a request, as roles and discovery name it."""
    if target.simulated and target.subresource != "log" and request.method in _ASKS:
        # Who runs commands sees Secrets, and reads more than a GET: a websocket opens with one all the same.
        return "create"
    if target.watched and request.method != "GET":
        raise method_not_allowed()
    match request.method:
        case "GET":
            if target.watched or (not target.name and request.flag(WATCH)):
                return WATCH
            return "get" if target.name else "list"
        case "POST":
            return "create"
        case "PUT":
            return "update"
        case "PATCH":
            return "patch"
        case _:
            return "delete" if target.name else "deletecollection"
