"""A session as one HTML file that opens without a server: what it holds, and how much of a long one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
from django.conf import settings

from clustersim.classroom import opening, people
from clustersim.classroom.auth import VIEWER
from clustersim.classroom.titles import session_told
from clustersim.feed.batch import Batch, line
from clustersim.feed.palette import Palette
from clustersim.recording.document import DOCUMENT_BYTES_MAX, document
from clustersim.recording.words import WORDS
from clustersim.sessionapi.http import Call, refuse
from clustersim.sessionapi.timeline import marks_between, shown, told
from clustersim.timeline.marks import thinned
from clustersim.timeline.words import LANGUAGES
from controllers.custom.kinds import RESOURCE
from controllers.kinds.table import TABLE
from controllers.log.store import Event, Gone, Stored
from controllers.scheduler.decisions import whole
from scheduler_core.api.errors import Cause, one_of

ROWS_BYTES_MAX: Final = 24_000_000
"""Bytes of the log's newest documents that are looked at; packed they are about a tenth."""

ROWS_MAX: Final = 20_000
"""Rows of the log that a file begins to try with."""

MARKS_MAX: Final = 2_000
"""Marks on a file's timeline; of more the likeliest to be asked for, as on the page."""

TRACES_MAX: Final = 400
"""Whole decisions in a file, the newest; it has lines of more."""

LINES_MAX: Final = 2_000
"""Lines about decisions in a file."""

_LANGUAGE_FIELD: Final = "language"


def document_of(call: Call) -> bytes:
    """Return the file: of a session that is too long for it, the newest part.

    Raises:
        ApiError: 410, the log was compacted meanwhile; 422.
    """
    language = call.request.GET.get(_LANGUAGE_FIELD, LANGUAGES[0])
    if language not in LANGUAGES:
        raise refuse(Cause(_LANGUAGE_FIELD, one_of(LANGUAGES)))
    start = {
        "code": call.session.display_code,
        "title": call.session.title,
        "lang": language,
        "release": settings.RELEASE,
    }
    rows, traces = _newest_rows(call), TRACES_MAX
    while True:
        try:
            made = document(_recorded(call, rows, traces), title=start["title"], start=start, words=WORDS[language])
        except Gone as error:
            raise opening.past_gone(rows[0].revision if rows else 1, call.store.compacted) from error
        if len(made) <= DOCUMENT_BYTES_MAX or (not rows and not traces):
            return made
        rows, traces = rows[(len(rows) + 1) // 2 :], traces // 2


def _newest_rows(call: Call) -> list[Event]:
    """Return the newest rows of the log within the bounds, in order."""
    counters = call.store.counters()
    after = max(counters.compacted, counters.revision - ROWS_MAX)
    found: list[Event] = []
    while some := call.store.events(found[-1].revision if found else after):
        found += some
    size, first = 0, len(found)
    while first and size + len(found[first - 1].data) <= ROWS_BYTES_MAX:
        first -= 1
        size += len(found[first].data)
    return found[first:]


def _recorded(call: Call, rows: Sequence[Event], traces: int) -> dict[str, Any]:
    """Return `Recorded` of static/js/recording/recording.js."""
    store, session = call.store, call.session
    newest = rows[-1].revision if rows else store.revision
    base = rows[0].revision - 1 if rows else newest
    palette = Palette(session.id)
    # The first revision has nothing before it.
    objects = shown(_objects_at(call, base), palette) if base else []
    palette.learn(rows)
    found = marks_between(store, call.principal, call.seal, base + 1, newest) if rows else []
    chosen = thinned(found, MARKS_MAX)
    past = call.past()
    newest_ms = rows[-1].now_ms if rows else store.counters().last_ms
    # Who opens the file looks on, whoever saved it.
    me = {"id": "", "name": "", "role": VIEWER, "namespace": "default", "slug": "", "color": 0, "recorded": True}
    return {
        "hello": {
            "type": "hello",
            "protocol": 1,
            "release": settings.RELEASE,
            "revision": newest,
            "compacted": base,
            "epochMs": session.epoch_ms,
            "serverUnixMs": session.epoch_ms + newest_ms,
            "newestMs": newest_ms,
            "session": session_told(call.session),
            "me": me,
            "clock": None,
        },
        "info": {
            **session_told(call.session),
            "role": VIEWER,
            "release": settings.RELEASE,
            "me": me,
            "people": [],
            **_no_network(),
        },
        "base": base,
        "baseMs": store.ms_at(base) if base else 0,
        "objects": objects,
        "rows": list(_encoded(rows, base, newest, palette)),
        "people": [{**person.as_dict(), "online": False} for person in people.all_of_session(session.id)],
        "marks": {language: told(store, chosen, language) for language in LANGUAGES},
        "lines": [line(revision, envelope) for revision, envelope in store.envelopes(base, newest, LINES_MAX)],
        "traces": [whole(past, envelope, blob) for envelope, blob in store.newest_traces(traces)] if traces else [],
    }


def _no_network() -> dict[str, Any]:
    return {"joinUrl": "", "network": {"reachable": True, "joinUrl": None}}


def _objects_at(call: Call, revision: int) -> Iterator[Stored]:
    kinds = TABLE.of_objects(call.store.list_at(RESOURCE, revision)).kinds
    resources = [kind.resource for kind in kinds if not kind.passing]
    for stored in call.store.lists_at(resources, revision).values():
        yield from stored


def _encoded(rows: Sequence[Event], base: int, newest: int, palette: Palette) -> Iterator[msgspec.Raw]:
    for made in Batch(base, newest, rows, palette=palette).encoded:
        yield msgspec.Raw(made.row)
