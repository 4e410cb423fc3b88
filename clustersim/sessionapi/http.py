"""What every route shares: who is asking, the body, and that each refusal is a Status document."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import msgspec
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError

from clustersim.bodies import BODY_BYTES_MAX
from clustersim.classroom import auth, doors, lectern, limits
from clustersim.classroom import roles as roles_module
from clustersim.classroom.auth import Principal
from clustersim.classroom.polls import sealing
from clustersim.classroom.polls.sealing import Seal
from clustersim.feed import hints
from clustersim.sessionapi import sealed
from clustersim.sessionapi.lines import NONE
from clustersim.store import SqlStore, open_store, sessions
from clustersim.store.failures import unavailable
from clustersim.store.sessions import SessionRow
from controllers.scheduler.past import Past
from controllers.scheduler.views import Views
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, bad_request, invalid, unauthorized
from scheduler_core.api.said import said

COOKIE_SECONDS: Final = 30 * 24 * 3600
"""How long a browser keeps its seat; every new sign-in starts it again."""

_logger = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode
_views = Views()


@dataclass
class Call:
    """One request to the API. `code` is empty for routes outside a session."""

    request: HttpRequest
    code: str = ""

    @cached_property
    def session(self) -> SessionRow:
        """Return the session of the path.

        Raises:
            ApiError: 404.
        """
        row = sessions.find(self.code)
        if row is None:
            limits.spend(limits.CODES, self.address)
            raise ApiError(
                404,
                "NotFound",
                said("session.unknown", "there is no session {code!r}: look at the code again", code=self.code[:20]),
                name=self.code[:20],
            )
        return row

    @cached_property
    def headers(self) -> dict[str, str]:
        """Return the headers, names in lower case."""
        return {name.lower(): value for name, value in self.request.headers.items()}

    @cached_property
    def principal(self) -> Principal:
        """Return who is asking; using it also keeps the session awake.

        Raises:
            ApiError: 404, 401 or 403.
        """
        principal = self.principal_or_none
        if principal is None:
            raise unauthorized(said("session.token", "send the session's token; join the session to get one"))
        return principal

    @cached_property
    def principal_or_none(self) -> Principal | None:
        """Return who is asking, None without a good token.

        Raises:
            ApiError: 404 or 403.
        """
        session = self.session
        principal = auth.authenticate(session.code, self.headers, method=self.request.method or "")
        if principal is None:
            limits.check(limits.CODES, self.address)
        else:
            hints.touch(session.id)
        return principal

    def elsewhere(self, session: SessionRow, principal: Principal) -> Call:
        """Return this request as one to another session, by a seat there that was checked already."""
        there = Call(self.request, session.code)
        there.session, there.principal = session, principal
        return there

    @cached_property
    def store(self) -> SqlStore:
        """Return the session's store."""
        return open_store(self.session.id)

    @cached_property
    def seal(self) -> Seal:
        """Return what an open poll keeps from whoever is asking."""
        return sealing.seal_for(self.principal, self.store)

    def past(self, revision: int | None = None) -> Past:
        """Return the session as of a revision; None: the newest. What earlier requests read into views is there."""
        return Past(self.store, revision, _views)

    @property
    def address(self) -> str:
        """Return the address that asks."""
        return str(self.request.META.get("REMOTE_ADDR", ""))

    @property
    def here(self) -> bool:
        """Return whether the request comes from the machine that serves it."""
        return doors.is_here(self.request.META)

    def check_foreign_page(self) -> None:
        """Refuse a page of another origin; for routes that need no token but set a cookie.

        Raises:
            ApiError: 403.
        """
        if "origin" in self.headers:
            auth.check_origin(self.headers)

    def require(self, *roles: str) -> Principal:
        """Return who is asking if the role may.

        Raises:
            ApiError: 401 or 403.
        """
        roles_module.require(self.principal, *roles)
        return self.principal

    def require_acting(self, *roles: str) -> Principal:
        """Return who is asking if the role may, and neither the class is frozen nor they are muted.

        Raises:
            ApiError: 401 or 403.
        """
        principal = self.require(*roles)
        lectern.check_may_act(principal)
        return principal

    def count(self, name: str, default: int, most: int) -> int:
        """Return a whole number from 1 of the query.

        Raises:
            ApiError: 422.
        """
        text = self.request.GET.get(name, str(default))
        if not text.isascii() or not text.isdecimal() or len(text) > len(str(most)) or not 1 <= int(text) <= most:
            raise refuse(Cause(name, said("give.wholeTo", "give a whole number from 1 to {most}", most=most)))
        return int(text)

    def body(self, fields: Sequence[str]) -> Document:
        """Return the JSON object of the body; an empty body is an empty object.

        Raises:
            ApiError: 400, 415, or 422 for fields that the route does not know.
        """
        data = self.request.body
        kind = self.request.content_type or ""
        if data and kind and kind not in ("application/json", "text/plain", "application/octet-stream"):
            raise ApiError(
                415, "UnsupportedMediaType", said("body.json", "send application/json, not {kind}", kind=kind)
            )
        try:
            value = msgspec.json.decode(data) if data.strip() else {}
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise bad_request(said("body.noJson", "the body is no JSON: {error}", error=error)) from error
        if not isinstance(value, dict):
            raise bad_request(said("body.noObject", "the body is no JSON object; send {{…}}"))
        unknown = [name for name in value if name not in fields]
        if unknown:
            raise refuse(
                *(
                    Cause(
                        name[:80],
                        said("field.unknown", "there is no such field; known are {known}", known=", ".join(fields)),
                    )
                    for name in unknown
                )
            )
        return value


def refuse(*causes: Cause) -> ApiError:
    """Return the 422 of fields that are wrong."""
    return invalid("Request", "clustersim.io", "", causes)


View = Callable[..., HttpResponse]
"""A route's function for one method: gets the Call, and what stands in the path by name."""


def answer(value: Any, status: int = 200) -> HttpResponse:
    """Return a JSON answer that no cache keeps."""
    response = HttpResponse(_encode(value), content_type="application/json", status=status)
    response["Cache-Control"] = "no-store"
    return response


def refusal(error: ApiError) -> HttpResponse:
    """Return the Status answer of a refusal."""
    response = answer(error.status(), error.code)
    if error.retry_after_seconds:
        response["Retry-After"] = str(error.retry_after_seconds)
    return response


def route(*, body_bytes_max: int = BODY_BYTES_MAX, line: str = NONE, **methods: View) -> Callable[..., HttpResponse]:
    """Return the Django view of one path, a function for each method it has.

    `body_bytes_max` bounds the body of a request; `clustersim.asgi` refuses more of it while it comes in.
    `line`: in which line requests wait for a thread, whatever their method (`clustersim.answering`).
    """
    allowed = ", ".join(methods)

    def view(request: HttpRequest, code: str = "", **arguments: str) -> HttpResponse:
        chosen = methods.get(request.method or "")
        try:
            if "\x00" in request.path or any("\x00" in text for text in request.GET.values()):
                raise bad_request(said("request.nul", "the address holds a NUL character; leave it out"))
            if chosen is None:
                raise ApiError(
                    405,
                    "MethodNotAllowed",
                    said(
                        "request.method",
                        "{method} is not served here; use {allowed}",
                        method=request.method,
                        allowed=allowed,
                    ),
                )
            call = Call(request, code)
            if code and sealed.way_of(request.resolver_match.route if request.resolver_match else "") == sealed.LATER:
                sealing.refuse_all(sealing.later_for(call.principal, call.store))
            return chosen(call, **arguments)
        except ApiError as error:
            response = refusal(error)
        except sessions.NoSession:
            response = refusal(ApiError(404, "NotFound", said("session.deleted", "the session was deleted")))
        except (SuspiciousOperation, MultiPartParserError) as error:
            response = refusal(bad_request(said("request.form", "the form cannot be read: {error}", error=error)))
        except Exception as error:
            response = refusal(_failed(request, error))
        if response.status_code == 405:
            response["Allow"] = allowed
        return response

    view.methods = tuple(methods)  # type: ignore[attr-defined]
    view.body_bytes_max = body_bytes_max  # type: ignore[attr-defined]
    view.line = line  # type: ignore[attr-defined]
    return view


def _failed(request: HttpRequest, error: Exception) -> ApiError:
    """Return the answer to what no route expects: the database fails (503), or the program does (500)."""
    away = unavailable(error)
    if away is not None:
        _logger.warning("the database failed %s %s: %s", request.method, request.path, error)
        return away
    _logger.error("%s %s failed", request.method, request.path, exc_info=error)
    return ApiError(
        500, "InternalError", said("server.broke", "something broke on the server; its log has the details; try again")
    )


def sign_in(response: HttpResponse, call: Call, token: str) -> HttpResponse:
    """Put the session's cookie on the answer."""
    response.set_cookie(
        auth.cookie_name(call.session.code if call.code else ""),
        token,
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=call.request.is_secure(),
    )
    return response


def text_field(body: Mapping[str, Any], field: str, longest: int) -> str:
    """Return a required text.

    Raises:
        ApiError: 422.
    """
    value = body.get(field)
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        raise refuse(Cause(field, said("give.textTo", "give a text of 1 to {longest} characters", longest=longest)))
    return value


def flag_field(body: Mapping[str, Any], field: str, *, default: bool | None = False) -> bool:
    """Return true or false; without a default it is required.

    Raises:
        ApiError: 422.
    """
    value = body.get(field, default)
    if not isinstance(value, bool):
        raise refuse(Cause(field, said("give.bool", "give true or false")))
    return value


def number_field(
    body: Mapping[str, Any], field: str, least: float, most: float, *, whole: bool = False
) -> float | int | None:
    """Return an optional number within its bounds.

    Raises:
        ApiError: 422.
    """
    value = body.get(field)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or (whole and not isinstance(value, int)):
        in_bounds = False
    else:
        in_bounds = least <= value <= most
    if not in_bounds:
        if whole:
            raise refuse(
                Cause(
                    field, said("give.whole", "give a whole number from {least:g} to {most:g}", least=least, most=most)
                )
            )
        raise refuse(
            Cause(field, said("give.number", "give a number from {least:g} to {most:g}", least=least, most=most))
        )
    return value  # type: ignore[no-any-return]
