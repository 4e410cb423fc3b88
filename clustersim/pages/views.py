"""Home, join and session pages, and the language switch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language_from_request
from django.views.decorators.http import require_GET, require_POST

from clustersim.classroom import auth, doors, lessons
from clustersim.pages.catalogue import LANGUAGES, sentence, texts
from clustersim.store import sessions
from clustersim.store.sessions import SessionRow
from scheduler_core.api.errors import ApiError

TEMPLATES: Final = (
    "empty",
    "three-nodes",
    "gpu-lab",
    "ha",
    "two-masters",
    "zones",
    "nodes-100",
    "nodes-1000",
    "import",
)
THEMES: Final = ("light", "dark", "projector")
THEME_COOKIE: Final = "clustersim_theme"
_WORDS: Final = {"session": ("page",), "desk": ("stage", "make", "presenting")}
"""Parts of the words (static/js/lib/text.js) that the session page needs at once, and on a desk."""
STARTER: Final = Path(__file__).parent / "starter"
STARTER_FILES: Final = (("yaml", "lesson.yaml", 24), ("en", "en.md", 12), ("zh", "zh.md", 12))
"""The files of a lesson to begin from, with the lines that are seen of each."""

PREFERENCE_SECONDS: Final = 365 * 24 * 3600
"""How long a browser remembers language and theme; after that it starts again from its own settings."""


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Show both big choices, start and join, and what this browser opened lately."""
    words = texts(_language(request))
    cards = [
        {"name": name, "title": words[name], "hint": words[f"{name}_hint"], "thumb": f"thumbs/{name}.svg"}
        for name in TEMPLATES
    ]
    return render(
        request,
        "home.html",
        {
            **_common(request),
            "cards": cards,
            "chosen": "three-nodes",
            "ask_phrase": _asks_phrase(request),
            "lessons": lessons.all_packages(),
        },
    )


@require_GET
def write(request: HttpRequest) -> HttpResponse:
    """Show the editor of a lesson, with one to begin from."""
    files = [
        {"part": part, "name": name, "rows": rows, "text": (STARTER / name).read_text(encoding="utf-8")}
        for part, name, rows in STARTER_FILES
    ]
    return render(request, "write.html", {**_common(request), "files": files, "ask_phrase": _asks_phrase(request)})


def _asks_phrase(request: HttpRequest) -> bool:
    """Return whether a session opened from where this page is asked for takes the pass phrase."""
    return doors.phrase_needed(doors.is_here(request.META))


@require_GET
def join(request: HttpRequest, code: str) -> HttpResponse:
    """Ask for a name: the code came with the address."""
    found = _session_of(request, code)
    if isinstance(found, HttpResponse):
        return found
    row, seated = found
    if seated:
        # Whoever has a seat here is not asked for a name that would change nothing.
        return _to_session(request, row)
    return render(request, "join.html", {**_common(request), "row": row})


@require_GET
def session(request: HttpRequest, code: str) -> HttpResponse:
    """Show the session page. Who may see what is decided by the API; this page holds nothing of the session."""
    found = _session_of(request, code)
    if isinstance(found, HttpResponse):
        return found
    row, _ = found
    if row.display_code != code:
        return _to_session(request, row)
    start = {
        "code": row.display_code,
        "title": row.title,
        "lang": _language(request),
        "release": settings.RELEASE,
    }
    words = {moment: [f"page/lib/text/{part}.{start['lang']}.js" for part in parts] for moment, parts in _WORDS.items()}
    return render(request, "session.html", {**_common(request), "row": row, "start": start, "words": words})


def _to_session(request: HttpRequest, row: SessionRow) -> HttpResponse:
    """Lead to the session's page; what the address says beside the code (docs/protocol.md) comes along."""
    query = request.META.get("QUERY_STRING", "")
    return HttpResponseRedirect(reverse("pages:session", args=[row.display_code]) + (f"?{query}" if query else ""))


def _session_of(request: HttpRequest, code: str) -> tuple[SessionRow, bool] | HttpResponse:
    """Return a page's session and whether the browser has a seat there, or the page that says why there is none."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    try:
        seated = auth.authenticate(code, headers, method="GET") is not None
        row = sessions.find(code) if seated else doors.look_up(code, str(request.META.get("REMOTE_ADDR", "")))
    except ApiError as error:
        # An address that tries codes is told the same of those that somebody has.
        return refused(request, error.status())
    return (row, seated) if row else _message(request, "not_found", 404, code=code)


@require_GET
def to_home(request: HttpRequest) -> HttpResponse:
    """Send who left the code out of a join address to the page that asks for it."""
    return HttpResponseRedirect(reverse("pages:home"))


def unknown_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an address that no page has."""
    return _message(request, "no_page", 404)


def broken_page(request: HttpRequest) -> HttpResponse:
    """Answer what no page expects: the log has what it was."""
    return _message(request, "broken", 500)


def refused(request: HttpRequest, status: Mapping[str, Any]) -> HttpResponse:
    """Answer what a Status refuses."""
    return _message(request, "refused", status["code"], why=sentence(status, _language(request)))


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Remember the language and go back to the page that asked."""
    wanted = request.POST.get("language", "")
    back = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        back = "/"
    response = HttpResponseRedirect(back)
    if wanted in LANGUAGES:
        response.set_cookie(settings.LANGUAGE_COOKIE_NAME, wanted, max_age=PREFERENCE_SECONDS, samesite="Lax", path="/")
    return response


def _language(request: HttpRequest) -> str:
    """Return the language as LocaleMiddleware chooses it: the cookie's, else the browser's, else English."""
    chosen = get_language_from_request(request)
    return chosen if chosen in LANGUAGES else "en"


def _chosen_theme(request: HttpRequest) -> str:
    """Return the theme that somebody chose in this browser, empty where nobody did."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return theme if theme in THEMES else ""


def _theme(request: HttpRequest) -> str:
    """Return what the page is sent with; without a choice the browser goes on to its system's theme."""
    return _chosen_theme(request) or "light"


def _common(request: HttpRequest) -> dict[str, Any]:
    """Return what every page's frame needs."""
    lang = _language(request)
    return {
        "t": texts(lang),
        "lang": lang,
        "html_lang": "zh-Hans" if lang == "zh-hans" else "en",
        "languages": LANGUAGES,
        "theme": _theme(request),
        "theme_follows": "" if _chosen_theme(request) else "system",
        "texts": dict(texts(lang)),
        "here": request.path,
    }


def _message(request: HttpRequest, name: str, status: int, **values: str) -> HttpResponse:
    """Answer with a page that says one thing, and leads home."""
    context = _common(request)
    for part in ("title", "hint"):
        context[part] = context["t"][f"{name}_{part}"].format(**values)
    return render(request, "not_found.html", context, status=status)
