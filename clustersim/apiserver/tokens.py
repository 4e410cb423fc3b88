"""Tokens of ServiceAccounts: made on demand, good for TokenReviews; a session knows people by their own tokens.

Source: pkg/registry/core/serviceaccount/storage/token.go and pkg/apis/authentication/validation, v1.34.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, Final

import msgspec
from django.conf import settings

from clustersim.apiserver.messages import Request, Response, decode_body, json_response, warning
from clustersim.apiserver.routes import Target
from clustersim.apiserver.sessiontime import session_unix_ms
from clustersim.apiserver.virtual import ReadView
from controllers.kinds.table import find_kind
from controllers.log.stamps import wire_time
from controllers.registry import fields
from scheduler_core.api.errors import Cause, conflict, invalid, not_found

ISSUER: Final = "https://kubernetes.default.svc.cluster.local"
SECONDS_DEFAULT: Final = 3600
SECONDS_MIN: Final = 600
SECONDS_MAX: Final = 1 << 32

_WARNING: Final = "this token is good for TokenReviews alone; a session knows people and components by their own tokens"
_HEAD: Final = {"alg": "HS256", "typ": "JWT"}
_BOUND: Final = (("v1", "Pod"), ("v1", "Secret"), ("v1", "Node"))


def create(view: ReadView, request: Request, target: Target) -> Response:
    """Answer a TokenRequest.

    Raises:
        ApiError: 400, 404, 409, 422.
    """
    body = decode_body(request)
    given = body.get("spec")
    spec: dict[str, Any] = given if isinstance(given, dict) else {}
    seconds = spec.get("expirationSeconds")
    seconds = SECONDS_DEFAULT if seconds is None else seconds
    causes = _wrong(seconds)
    if causes:
        raise invalid("TokenRequest", "authentication.k8s.io", "", causes)
    namespace = target.namespace or ""
    account = view.get(target.kind.resource, namespace, target.name)
    if account is None:
        raise not_found(target.kind.resource, target.name)
    bound = spec.get("boundObjectRef")
    if isinstance(bound, dict):
        _check_bound(view, namespace, bound)
    audiences = [str(one) for one in spec.get("audiences") or ()] or [ISSUER]
    now = session_unix_ms(view.store) // 1000
    claims = {
        "aud": audiences,
        "exp": now + seconds,
        "iat": now,
        "iss": ISSUER,
        "kubernetes.io": {"namespace": namespace, "serviceaccount": {"name": account.name, "uid": account.uid}},
        "sub": f"system:serviceaccount:{namespace}:{account.name}",
    }
    metadata = {
        "name": account.name,
        "namespace": namespace,
        "uid": account.uid,
        "creationTimestamp": wire_time(now * 1000),
    }
    asked = {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": bound}
    status = {"token": _signed(request.code, claims), "expirationTimestamp": wire_time((now + seconds) * 1000)}
    head = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "metadata": metadata}
    response = json_response({**head, "spec": asked, "status": status}, 201)
    response.headers.append(warning(_WARNING))
    return response


def _wrong(seconds: Any) -> list[Cause]:
    field = "spec.expirationSeconds"
    if isinstance(seconds, bool) or not isinstance(seconds, int) or seconds < SECONDS_MIN:
        return [fields.bad(field, seconds, "may not specify a duration less than 10 minutes")]
    if seconds > SECONDS_MAX:
        return [fields.bad(field, seconds, "may not specify a duration larger than 2^32 seconds")]
    return []


def _check_bound(view: ReadView, namespace: str, bound: dict[str, Any]) -> None:
    version, kind, name = (str(bound.get(key) or "") for key in ("apiVersion", "kind", "name"))
    found = find_kind(version, kind) if (version, kind) in _BOUND else None
    if found is None:
        why = "cannot bind token for serviceaccount to object of this type"
        raise invalid("TokenRequest", "authentication.k8s.io", "", [fields.bad("spec.boundObjectRef.kind", kind, why)])
    stored = view.get(found.resource, namespace if found.namespaced else "", name)
    if stored is None:
        raise not_found(found.resource, name)
    uid = bound.get("uid")
    if uid and uid != stored.uid:
        why = (
            f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise conflict(found.resource, name, why)


def account_of(code: str, token: str, unix_ms: int) -> dict[str, Any] | None:
    """Return the UserInfo of the account that a token of this session names; None: it is none, or is over."""
    head, _, signature = token.rpartition(".")
    if not hmac.compare_digest(_signature(code, head).encode(), signature.encode()):
        return None
    text = head.partition(".")[2]
    claims = msgspec.json.decode(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    if claims["exp"] * 1000 <= unix_ms:
        return None
    said = claims["kubernetes.io"]
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{said['namespace']}", "system:authenticated"]
    return {"username": claims["sub"], "uid": said["serviceaccount"]["uid"], "groups": groups}


def _signed(code: str, claims: dict[str, Any]) -> str:
    head = f"{_packed(msgspec.json.encode(_HEAD))}.{_packed(msgspec.json.encode(claims))}"
    return f"{head}.{_signature(code, head)}"


def _signature(code: str, head: str) -> str:
    key = hashlib.sha256(f"serviceaccount-token:{code}:{settings.SECRET_KEY}".encode()).digest()
    return _packed(hmac.new(key, head.encode(), hashlib.sha256).digest())


def _packed(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
