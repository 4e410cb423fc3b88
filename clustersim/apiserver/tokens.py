"""TokenRequests: a token of a ServiceAccount is made on demand, and nothing is stored.

Source: pkg/registry/core/serviceaccount/storage/token.go and pkg/apis/authentication/validation, v1.34. What such a
token is good for: `classroom.accounttokens`.
"""

from __future__ import annotations

from typing import Any, Final

from clustersim.apiserver.messages import Request, Response, checked_body, json_response, warned
from clustersim.apiserver.patching import check_options, manager_of
from clustersim.apiserver.routes import Target
from clustersim.apiserver.sessiontime import session_unix_ms
from clustersim.apiserver.virtual import ReadView
from clustersim.classroom.accounttokens import ISSUER, claims_for, signer
from controllers.admission.namespacelifecycle import NAMESPACES, check_home
from controllers.kinds.table import find_kind
from controllers.log.stamps import wire_time
from controllers.log.store import Stored
from controllers.registry import fields
from controllers.registry.fieldowners.managers import Scope, updated
from scheduler_core.api.errors import Cause, bad_request, conflict, invalid, not_found

SECONDS_DEFAULT: Final = 3600
SECONDS_MIN: Final = 600
SECONDS_MAX: Final = 1 << 32

SECONDS_OF_PODS: Final = 3607
"""What pods' own volumes ask for: such a token is good for a year, and is meant to be renewed after this long."""

SECONDS_EXTENDED: Final = 365 * 24 * 3600

_BOUND: Final = ("Pod", "Secret", "Node")
_GROUP: Final = "authentication.k8s.io"
_SCHEMA: Final = "authentication_v1.TokenRequest"


def create(view: ReadView, request: Request, target: Target) -> Response:
    """Answer a TokenRequest.

    Raises:
        ApiError: 400, 404, 409, 422.
    """
    check_options(request, "CreateOptions")
    body, warnings = checked_body(request, "TokenRequest", _SCHEMA, _GROUP)
    return warned(lambda: _made(view, target, body, manager_of(request)), warnings)


def _made(view: ReadView, target: Target, body: dict[str, Any], manager: str) -> Response:
    spec, metadata = (found if isinstance(found := body.get(key), dict) else {} for key in ("spec", "metadata"))
    namespace = target.namespace or ""
    if metadata.get("namespace") not in (None, "", namespace):
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    if metadata.get("name") not in (None, "", target.name):
        why = "must match the service account name if specified"
        raise invalid("TokenRequest", _GROUP, target.name, [fields.bad("metadata.name", metadata["name"], why)])
    home = view.get(NAMESPACES, "", namespace)
    check_home(None if home is None else home.object, namespace, target.kind.resource, target.name)
    account = view.get(target.kind.resource, namespace, target.name)
    if account is None:
        raise not_found(target.kind.resource, target.name)
    if metadata.get("uid") not in (None, "", account.uid):
        why = f"the UID in the token request ({metadata['uid']}) does not match the UID of the service account"
        raise conflict(f"TokenRequest.{_GROUP}", target.name, f"{why} ({account.uid})")
    seconds = spec.get("expirationSeconds")
    seconds = SECONDS_DEFAULT if seconds is None else seconds
    causes = _wrong(seconds)
    if causes:
        raise invalid("TokenRequest", _GROUP, "", causes)
    bound = spec.get("boundObjectRef")
    named = _bound_to(view, account, bound) if isinstance(bound, dict) else {}
    audiences = [str(one) for one in spec.get("audiences") or ()] or [ISSUER]
    now = session_unix_ms(view.store) // 1000
    said = {"namespace": namespace, "serviceaccount": {"name": account.name, "uid": account.uid}, **named}
    lasts = seconds
    if seconds == SECONDS_OF_PODS and "pod" in named and audiences == [ISSUER]:
        lasts, said["warnafter"] = SECONDS_EXTENDED, now + seconds
    claims = claims_for(said, audiences, now, lasts)
    shown = {
        "name": account.name,
        "namespace": namespace,
        "uid": account.uid,
        "creationTimestamp": wire_time(now * 1000),
    }
    owned = updated(
        Scope(_SCHEMA, f"{_GROUP}/v1", "token"),
        None,
        {"metadata": shown, "spec": {**spec, "expirationSeconds": seconds}},
        None,
        manager,
        wire_time(now * 1000),
    )
    asked = {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": bound}
    status = {"token": signer(view.session_id)(claims), "expirationTimestamp": wire_time((now + seconds) * 1000)}
    head = {"kind": "TokenRequest", "apiVersion": f"{_GROUP}/v1", "metadata": {**shown, "managedFields": owned}}
    return json_response({**head, "spec": asked, "status": status}, 201)


def _wrong(seconds: Any) -> list[Cause]:
    field = "spec.expirationSeconds"
    if isinstance(seconds, bool) or not isinstance(seconds, int) or seconds < SECONDS_MIN:
        return [fields.bad(field, seconds, "may not specify a duration less than 10 minutes")]
    if seconds > SECONDS_MAX:
        return [fields.bad(field, seconds, "may not specify a duration larger than 2^32 seconds")]
    return []


def _bound_to(view: ReadView, account: Stored, bound: dict[str, Any]) -> dict[str, Any]:
    """Return what a token says of the object with which it ends."""
    version, kind, name = (str(bound.get(key) or "") for key in ("apiVersion", "kind", "name"))
    group, _, short = version.rpartition("/")
    found = find_kind("v1", kind) if not group and kind in _BOUND else None
    if found is None:
        raise bad_request(f"cannot bind token to object of type {group}/{short}, Kind={kind}")
    if not name:
        raise bad_request("Name parameter required.")
    stored = view.get(found.resource, account.namespace if found.namespaced else "", name)
    if stored is None:
        raise not_found(found.resource, name)
    spec = stored.object.get("spec") or {}
    if kind == "Pod" and spec.get("serviceAccountName") != account.name:
        why = (
            f'cannot bind token for serviceaccount "{account.name}" to pod running with different serviceaccount name.'
        )
        raise bad_request(why)
    uid = bound.get("uid")
    if uid and uid != stored.uid:
        why = (
            f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise conflict(kind, name, why)
    said = {kind.lower(): {"name": stored.name, "uid": stored.uid}}
    home = spec.get("nodeName") if kind == "Pod" else ""
    if home:
        node = view.get("nodes", "", home)
        said["node"] = {"name": home, **({} if node is None else {"uid": node.uid})}
    return said
