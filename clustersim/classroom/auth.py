"""Who is asking: a token in a header or a cookie, looked up by its hash. Tokens are never stored and never logged."""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast
from urllib.parse import urlsplit

from clustersim.classroom.models import Token
from clustersim.store.sessions import normal_code
from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said

Role = Literal["teacher", "student", "viewer", "component", "account"]

TEACHER: Final = "teacher"
STUDENT: Final = "student"
VIEWER: Final = "viewer"
COMPONENT: Final = "component"
ACCOUNT: Final = "account"
"""A ServiceAccount, by a token of its own; on the Kubernetes API alone."""

CREATED_BY: Final = "clustersim.io/created-by"
"""Annotation of every object that a person or their import created: the person's slug."""

ACTOR_LENGTH: Final = 320
"""Letters of an author that the log keeps."""

TOKEN_BYTES: Final = 24
"""Random bytes of a token or link secret: 192 bits cannot be guessed, and the text still fits a Basic password."""

REMEMBER_SECONDS: Final = 1.0
"""How long a token's answer is believed without asking the database; a withdrawn token lives on for at most this."""

REMEMBERED_MAX: Final = 4_096
"""Tokens remembered at once; the least recently used is asked for again."""

_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody with a seat in one session. `namespace` is where their objects go when they name none."""

    session_id: int
    code: str
    participant_id: int
    slug: str
    name: str
    role: Role
    namespace: str
    color: int = 1
    user: Mapping[str, Any] | None = None
    """An account's UserInfo."""

    @property
    def actor(self) -> str:
        """Return what the log names as the author."""
        return f"user:{self.slug}"[:ACTOR_LENGTH]

    @property
    def info(self) -> Mapping[str, Any]:
        """Return the UserInfo that the API tells of them."""
        if self.user is not None:
            return dict(self.user)
        return {
            "username": self.slug,
            "uid": str(self.participant_id),
            "groups": [f"clustersim:{self.role}", "system:authenticated"],
            "extra": {"clustersim.io/name": [self.name], "clustersim.io/namespace": [self.namespace]},
        }

    @property
    def creator(self) -> dict[str, str]:
        """Return the annotations of objects that this person creates; a component's and an account's are nobody's."""
        return {} if self.role in (COMPONENT, ACCOUNT) else {CREATED_BY: self.slug}


def new_secret() -> str:
    """Return a token or link secret that has never been given out; never one that a command reads as an option."""
    while True:
        secret = secrets.token_urlsafe(TOKEN_BYTES)
        if secret[0].isalnum():
            return secret


def digest(secret: str) -> str:
    """Return what is stored of a secret. It is random and long, so a plain hash is as good as a slow one."""
    return hashlib.sha256(secret.encode()).hexdigest()


def cookie_name(code: str) -> str:
    """Return the cookie of one session, so that a browser can sit in several."""
    return f"clustersim-{normal_code(code)}"


def cookies_in(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the cookies of a request's headers, of each name the first."""
    cookies: dict[str, str] = {}
    for part in headers.get("cookie", "").split(";"):
        name, equals, value = part.strip().partition("=")
        if equals:
            cookies.setdefault(name, value.strip('"'))
    return cookies


def token_in(code: str, headers: Mapping[str, str]) -> tuple[str, bool]:
    """Return (token, whether it came as a cookie); empty when there is none. A header wins over the cookie."""
    scheme, _, credentials = headers.get("authorization", "").strip().partition(" ")
    if scheme.lower() == "bearer":
        return credentials.strip(), False
    if scheme.lower() == "basic":
        return _basic_password(credentials.strip()), False
    return cookies_in(headers).get(cookie_name(code), ""), True


def is_basic(headers: Mapping[str, str]) -> bool:
    """Return whether a request shows a name with a password."""
    return headers.get("authorization", "").strip().partition(" ")[0].lower() == "basic"


def _basic_password(credentials: str) -> str:
    try:
        text = base64.b64decode(credentials, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return text.partition(":")[2]


def authenticate(code: str, headers: Mapping[str, str], *, method: str) -> Principal | None:
    """Return who sends this request, None without a good token of this session. Header names are lower-case.

    `method` decides whether a cookie needs a matching Origin: everything but GET, HEAD and OPTIONS does, and so do
    websockets (pass `WEBSOCKET`).

    Raises:
        ApiError: 403, the cookie came from a page of another origin.
    """
    token, from_cookie = token_in(code, headers)
    if not token:
        return None
    if from_cookie and method.upper() not in _SAFE_METHODS:
        check_origin(headers)
    return principal_of(code, token)


def check_origin(headers: Mapping[str, str]) -> None:
    """Refuse a request that a page of another origin sent.

    Raises:
        ApiError: 403.
    """
    origin, host = headers.get("origin", ""), headers.get("host", "")
    if not host or urlsplit(origin).netloc.lower() != host.lower():
        raise ApiError(
            403,
            "Forbidden",
            said(
                "request.origin",
                "this request came with a cookie but not from a page of this server: open the session here and try "
                "again, or send the token as Authorization: Bearer",
            ),
        )


class _Memory:
    """Principals by (code, token hash), believed for a moment: the API is asked hundreds of times a second."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], tuple[float, Principal]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[str, str]) -> Principal | None:
        with self._lock:
            entry = self._known.get(key)
            if entry is None or entry[0] < time.monotonic():
                return None
            self._known.move_to_end(key)
            return entry[1]

    def put(self, key: tuple[str, str], principal: Principal) -> None:
        with self._lock:
            self._known[key] = (time.monotonic() + REMEMBER_SECONDS, principal)
            while len(self._known) > REMEMBERED_MAX:
                self._known.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._known.clear()


_memory = _Memory()
_teachers: Final[OrderedDict[tuple[str, str], None]] = OrderedDict()
_teachers_lock: Final = threading.Lock()


def forget_remembered() -> None:
    """Ask the database again for every token: call it after tokens were withdrawn or people renamed."""
    _memory.clear()


def principal_of(code: str, token: str) -> Principal | None:
    """Return whose token this is in the session with that code."""
    key = (normal_code(code), digest(token))
    known = _memory.get(key)
    if known is not None:
        return known
    if not key[0].isalnum():
        return None
    row = (
        Token.objects.filter(digest=key[1], participant__session__code=key[0], participant__left=False)
        .values_list(
            "participant__session_id",
            "participant__session__code",
            "participant_id",
            "participant__slug",
            "participant__name",
            "participant__role",
            "participant__namespace",
            "participant__color",
        )
        .first()
    )
    if row is None:
        return None
    session_id, session_code, participant_id, slug, name, role, namespace, color = row
    principal = Principal(session_id, session_code, participant_id, slug, name, cast(Role, role), namespace, color)
    _memory.put(key, principal)
    if role == TEACHER:
        with _teachers_lock:
            _teachers[key] = None
            _teachers.move_to_end(key)
            while len(_teachers) > REMEMBERED_MAX:
                _teachers.popitem(last=False)
    return principal


def session_of_token(token: str) -> str:
    """Return the code of the session in which somebody has a seat with this token, empty where nobody has."""
    found = Token.objects.filter(digest=digest(token), participant__left=False)
    return str(found.values_list("participant__session__code", flat=True).first() or "")


def is_known_teacher(code: str, headers: Mapping[str, str]) -> bool:
    """Return whether the token of a request was a teacher's when this process asked last.

    It costs no look into the database and may be out of date: it says who need not wait in line, nothing more.
    """
    token, _ = token_in(code, headers)
    return bool(token) and (normal_code(code), digest(token)) in _teachers
