"""Tokens of ServiceAccounts: signed with a key of the session's own, checked against what they name.

A token is good while its account, and what it is bound to, are there. Source: pkg/serviceaccount (claims.go, legacy.go,
jwt.go), v1.34. Tokens are never logged; those in Secrets are stored, as upstream stores them.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from django.conf import settings

from clustersim.classroom.auth import ACCOUNT, Principal
from clustersim.store import SqlStore
from controllers.log.store import Stored
from controllers.serviceaccount.tokens import CLAIM, LEGACY_ISSUER
from scheduler_core.api.document import Document

ISSUER: Final = "https://kubernetes.default.svc.cluster.local"
"""Who issues tokens, and the audience that the API server itself is."""

PREFIX: Final = "system:serviceaccount:"

NOBODY: Final = "system:anonymous"
"""Whoever shows nothing of who they are; bindings may give them something."""

ALGORITHM: Final = "HS256"
_HEAD: Final = {"alg": ALGORITHM, "typ": "JWT"}
_TOKEN_BYTES_MAX: Final = 16_384


class NotGood(Exception):
    """A token of an account that is not good, or not any more; its text says why, in upstream's words."""


class Bearer(NamedTuple):
    """Whose token it is: a UserInfo, and for which of the audiences that were asked for."""

    user: Document
    audiences: tuple[str, ...]


def signer(session_id: int) -> Callable[[Mapping[str, Any]], str]:
    """Return what signs the claims of this session's tokens: those of another session, a fork too, are others."""
    key = hashlib.sha256(f"serviceaccount-token:{session_id}:{settings.SECRET_KEY}".encode()).digest()

    def sign(claims: Mapping[str, Any]) -> str:
        head = f"{_packed(msgspec.json.encode(_HEAD))}.{_packed(msgspec.json.encode(claims))}"
        return f"{head}.{_packed(hmac.new(key, head.encode(), hashlib.sha256).digest())}"

    return sign


def claims_for(said: Document, audiences: Sequence[str], now: int, seconds: int) -> Document:
    """Return the claims of a new token: `said` names the account and what it is bound to, `now` is in Unix seconds."""
    return {
        "aud": list(audiences),
        "exp": now + seconds,
        "iat": now,
        "iss": ISSUER,
        "jti": str(uuid.uuid4()),
        "kubernetes.io": said,
        "nbf": now,
        "sub": f"{PREFIX}{said['namespace']}:{said['serviceaccount']['name']}",
    }


def claims_of(session_id: int, token: str) -> Document | None:
    """Return what a token says; None: this session has not signed it."""
    if not token.isascii() or len(token) > _TOKEN_BYTES_MAX or token.count(".") != 2:
        return None
    text = token.split(".")[1]
    try:
        claims: Document = msgspec.json.decode(urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=dict)
    except (ValueError, msgspec.MsgspecError):
        return None
    return claims if hmac.compare_digest(signer(session_id)(claims), token) else None


def bearer_of(store: SqlStore, token: str, audiences: Sequence[str] = ()) -> Bearer | None:
    """Return whose token this is; None: it is none of an account of this session.

    Args:
        store: the session's.
        token: what was sent.
        audiences: for whom it has to be; none: for the API server.

    Raises:
        NotGood: over, for somebody else, or what it names is gone.
    """
    claims = claims_of(store.session_id, token)
    if claims is None:
        return None
    asked = tuple(audiences) or (ISSUER,)
    own = tuple(claims.get("aud") or (ISSUER,))
    common = tuple(one for one in own if one in asked)
    if not common:
        raise NotGood(f"token audiences {_quoted(own)} is invalid for the target audiences {_quoted(asked)}")
    user = _legacy(store, claims, token) if claims["iss"] == LEGACY_ISSUER else _bound(store, claims)
    return Bearer(user, common)


def principal_of(code: str, store: SqlStore, token: str) -> Principal | None:
    """Return the account that a token of this session is of.

    Raises:
        NotGood: as `bearer_of`.
    """
    bearer = bearer_of(store, token)
    return None if bearer is None else account_principal(code, store.session_id, bearer.user)


def account_principal(code: str, session_id: int, user: Document) -> Principal:
    """Return the principal of an account, from its UserInfo."""
    name = str(user["username"])
    namespace, _, short = name.removeprefix(PREFIX).partition(":")
    # No row of a participant has such a number: what is counted a person is counted an account.
    number = -1 - int.from_bytes(hashlib.sha256(name.encode()).digest()[:6])
    return Principal(session_id, code, number, name, short, ACCOUNT, namespace, user=user)


def nobody(code: str, session_id: int) -> Principal:
    """Return the principal of whoever shows nothing of who they are."""
    return account_principal(code, session_id, {"username": NOBODY, "groups": ["system:unauthenticated"]})


def is_nobody(principal: Principal) -> bool:
    """Return whether a request showed nothing of who sends it."""
    return principal.role == ACCOUNT and "system:unauthenticated" in (principal.user or {}).get("groups", ())


def user_named(name: str, uid: str = "") -> Document:
    """Return the UserInfo of `system:serviceaccount:NAMESPACE:NAME`."""
    namespace = name.removeprefix(PREFIX).partition(":")[0]
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
    return {"username": name, **({"uid": uid} if uid else {}), "groups": groups}


def _bound(store: SqlStore, claims: Document) -> Document:
    now = (store.epoch_ms + store.session_ms()) // 1000
    if claims["exp"] < now:
        raise NotGood("service account token has expired")
    if claims["nbf"] > now:
        raise NotGood("service account token is not valid yet")
    said = claims["kubernetes.io"]
    namespace = said["namespace"]
    account = _account(store, namespace, said["serviceaccount"]["name"])
    uid = said["serviceaccount"]["uid"]
    if account.uid != uid:
        raise NotGood(f"service account UID ({account.uid}) does not match claim ({uid})")
    extra = {"authentication.kubernetes.io/credential-id": [f"JTI={claims['jti']}"]}
    for kind, resource, home, words in _BOUND:
        bound = said.get(kind)
        if bound is None:
            continue
        if kind != "node" or "pod" not in said:
            _check_bound(store.get(resource, namespace if home else "", bound["name"]), bound["uid"], words)
        if kind != "secret":
            extra[f"authentication.kubernetes.io/{kind}-name"] = [bound["name"]]
            if bound.get("uid"):
                extra[f"authentication.kubernetes.io/{kind}-uid"] = [bound["uid"]]
    return {**user_named(claims["sub"], uid), "extra": extra}


_BOUND: Final = (
    ("secret", "secrets", True, "secret UID ({}) does not match service account secret ref claim ({})"),
    ("pod", "pods", True, "pod UID ({}) does not match service account pod ref claim ({})"),
    ("node", "nodes", False, "node UID ({}) does not match service account node ref claim ({})"),
)
"""What a token may be bound to: (claim, resource, whether in the account's namespace, what is said of another uid)."""


def _check_bound(stored: Stored | None, uid: str, words: str) -> None:
    if stored is None:
        raise NotGood("service account token has been invalidated")
    if stored.uid != uid:
        raise NotGood(words.format(stored.uid, uid))
    if "deletionTimestamp" in stored.object["metadata"]:
        raise NotGood("service account token has been invalidated")


def _legacy(store: SqlStore, claims: Document, token: str) -> Document:
    namespace, name, uid = (
        str(claims[CLAIM + key]) for key in ("namespace", "service-account.name", "service-account.uid")
    )
    secret = store.get("secrets", namespace, str(claims[CLAIM + "secret.name"]))
    if secret is None or "deletionTimestamp" in secret.object["metadata"]:
        raise NotGood("Token has been invalidated")
    held = str((secret.object.get("data") or {}).get("token") or "")
    if not hmac.compare_digest(held, b64encode(token.encode()).decode()):
        raise NotGood("Token does not match server's copy")
    account = _account(store, namespace, name)
    if account.uid != uid:
        raise NotGood(f"ServiceAccount UID ({account.uid}) does not match claim ({uid})")
    return user_named(str(claims["sub"]), uid)


def _account(store: SqlStore, namespace: str, name: str) -> Stored:
    account = store.get("serviceaccounts", namespace, name)
    if account is None:
        raise NotGood(f'serviceaccounts "{name}" not found')
    return account


def _quoted(names: Sequence[str]) -> str:
    return "[" + " ".join(f'"{name}"' for name in names) + "]"


def _packed(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
