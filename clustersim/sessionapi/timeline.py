"""Routes of the timeline: marks of the log by lane, how many there are when, what differs between moments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final

import msgspec
from django.http import HttpResponse

from clustersim.classroom import opening, people, roles
from clustersim.classroom.auth import COMPONENT, Principal
from clustersim.classroom.polls.sealing import Seal
from clustersim.feed.batch import Decision, encode
from clustersim.feed.palette import Palette
from clustersim.feed.seal import PODS
from clustersim.sessionapi.http import Call, answer, refuse
from clustersim.sessionapi.past import revision_of
from clustersim.store import SqlStore, history
from clustersim.store.history import Key
from clustersim.timeline.marks import LANES, Mark, counted, marks, thinned
from clustersim.timeline.moments import Moment, backwards
from clustersim.timeline.words import LANGUAGES, text_of
from controllers.kinds.table import find_resource
from controllers.log.store import Gone, Stored
from scheduler_core.api.errors import ApiError, Cause, one_of
from scheduler_core.api.said import said

MARKS_MAX: Final = 2_000
"""Marks of one answer; more are refused with 422."""

MARKS_DEFAULT: Final = 500

SLOTS_MAX: Final = 600
"""Parts into which a stretch of time is cut to count marks; more are refused with 422."""

SLOTS_DEFAULT: Final = 120

BEFORE_SECONDS: Final = 240
BEFORE_SECONDS_MAX: Final = 1_000_000
"""Simulated seconds that the way back from a moment may lead; more are refused with 422."""

MOMENTS_MAX: Final = 240
"""Moments on the way back; more are refused with 422."""

MOMENTS_DEFAULT: Final = 120

DOCUMENTS_MAX: Final = 2_000
"""Objects told on the way back, each as often as it was another one: a busy session's way is shorter."""

DECISIONS_TOLD: Final = 1_000
"""The newest scheduling attempts on the way back."""

CHARTED: Final = (PODS, "nodes", "queues.clustersim.io", "replicas.clustersim.io")
"""Of what the page's charts are drawn."""

DECODED_AT_ONCE: Final = 200
"""Objects of an answer that are decoded together."""


def show(call: Call) -> HttpResponse:
    """Answer `GET …/timeline?from=&to=&limit=&lane=&language=`: marks in order."""
    principal = call.principal
    limit = call.count("limit", MARKS_DEFAULT, MARKS_MAX)
    language = call.request.GET.get("language", LANGUAGES[0])
    if language not in LANGUAGES:
        raise refuse(Cause("language", one_of(LANGUAGES)))
    lane = call.request.GET.get("lane", "")
    if lane and lane not in LANES:
        raise refuse(
            Cause("lane", said("give.oneOrNone", "give one of {known}, or none for all", known=", ".join(LANES)))
        )
    chosen = thinned([mark for mark in _marks(call, principal)[2] if lane in ("", mark.lane)], limit)
    return answer(told(call.store, chosen, language))


def counts(call: Call) -> HttpResponse:
    """Answer `GET …/timeline/counts?from=&to=&slots=`: how many marks of each lane fall into each part of the time."""
    slots = call.count("slots", SLOTS_DEFAULT, SLOTS_MAX)
    first, last, found = _marks(call, call.principal)
    # A fork's log begins after the moment that it goes on from.
    from_ms, to_ms = call.store.ms_at(min(first, last)), call.store.ms_at(last)
    return answer(
        {
            "from": first,
            "to": last,
            "compacted": call.store.compacted,
            "fromTime": from_ms / 1000,
            "toTime": to_ms / 1000,
            "lanes": counted(found, from_ms, to_ms, slots),
        }
    )


def before(call: Call, revision: str) -> HttpResponse:
    """Answer `GET …/before/<rv>?seconds=&moments=`: the way back from a moment, as charts of what was want it."""
    _ = call.principal
    store = call.store
    until = revision_of(revision, store.revision)
    seconds = call.count("seconds", BEFORE_SECONDS, BEFORE_SECONDS_MAX)
    count = call.count("moments", MOMENTS_DEFAULT, MOMENTS_MAX)
    try:
        to_ms = store.ms_at(until)
        first = history.last_before(store, to_ms - 1000 * seconds, until)
        from_ms = max(to_ms - 1000 * seconds, store.ms_at(min(first + 1, until)))
        rows = history.log_rows(store, first, until, CHARTED)
    except Gone as error:
        raise opening.past_gone(until, store.compacted) from error
    told, at = [], until
    palette = Palette(call.session.id)
    for moment, objects in _documents(store, backwards(rows, first, from_ms, to_ms, count)):
        absent = [key for key, row in moment.rows.items() if not row]
        gone = [{"resource": key[0], "namespace": key[1], "name": key[2]} for key in absent]
        shape = {"from": at, "to": moment.revision, "simTimeMs": moment.now_ms}
        told.append({**shape, "objects": shown(call.seal.all_stored(objects), palette), "gone": gone})
        at, from_ms = moment.revision, moment.now_ms
    # Of the rows of moments that there was no room for nothing is told, nor of what was decided then.
    kept = [Decision.of(*found) for found in store.envelopes(at if told else until, until, DECISIONS_TOLD)]
    lines = [msgspec.Raw(one.row) for one in kept if not call.seal.hides_pod(one.pod)]
    return answer({"fromMs": from_ms if told else to_ms, "toMs": to_ms, "moments": told, "decisions": lines})


def _documents(store: SqlStore, moments: Iterable[Moment]) -> Iterator[tuple[Moment, list[Stored]]]:
    """Go through moments with what was there then, as long as there is room for whole ones."""
    chosen: list[Moment] = []
    room = DOCUMENTS_MAX
    for moment in moments:
        room -= len(moment.rows)
        if room < 0:
            break
        chosen.append(moment)
    documents = store.rows(sorted({row for moment in chosen for row in moment.rows.values() if row}))
    for moment in chosen:
        # What a compaction has taken meanwhile is left as it was later.
        kept = {key: row for key, row in moment.rows.items() if row in documents}
        yield moment, [Stored(*key, documents[row][0], row, documents[row][1]) for key, row in kept.items()]


def changes(call: Call, there: str, here: str) -> HttpResponse:
    """Answer `GET …/changes/<there>/<here>`: what the cluster of one moment has other than that of another."""
    _ = call.principal
    newest = call.store.revision
    one, other = revision_of(there, newest), revision_of(here, newest)
    try:
        found = history.changes(call.store, one, other)
        at_ms = call.store.ms_at(other)
    except Gone as error:
        raise opening.past_gone(min(one, other), call.store.compacted) from error
    objects = shown(call.seal.all_stored(found.objects), Palette(call.session.id))
    gone = [{"resource": key[0], "namespace": key[1], "name": key[2]} for key in found.gone]
    return answer({"from": one, "to": other, "simTimeMs": at_ms, "objects": objects, "gone": gone})


def shown(objects: Iterable[Stored], palette: Palette) -> list[msgspec.Raw]:
    """Return objects as the page reads them, a few of them decoded at a time."""
    told: list[msgspec.Raw] = []
    rest = iter(objects)
    while some := list(islice(rest, DECODED_AT_ONCE)):
        palette.learn(stored for stored in some if stored.resource == PODS)
        told += [msgspec.Raw(encode(stored.resource, stored.object, palette)) for stored in some]
    return told


def _marks(call: Call, principal: Principal) -> tuple[int, int, list[Mark]]:
    """Return (first revision, last revision, marks between them) as the request asks for them.

    Raises:
        ApiError: 410 or 422.
    """
    store = call.store
    counters = store.counters()
    newest = counters.revision
    first = _revision(call, "from", newest, counters.compacted + 1)
    last = _revision(call, "to", newest, newest)
    if last < first <= newest:
        raise refuse(Cause("to", said("timeline.to", "give a revision not before from, {first}", first=first)))
    return first, last, marks_between(store, principal, call.seal, first, last)


def marks_between(store: SqlStore, principal: Principal, seal: Seal, first: int, last: int) -> list[Mark]:
    """Return the marks from one revision to another, both with them, that somebody may be told of.

    Raises:
        ApiError: 410.
    """
    try:
        rows = history.log_rows(store, first - 1, last)
    except Gone as error:
        raise opening.past_gone(first, store.compacted) from error
    components = {person.slug for person in people.of_session(principal.session_id) if person.role == COMPONENT}
    hidden = _Hidden(principal, seal)
    return [mark for mark in marks(rows, components) if not hidden.hides(mark.row.key)]


def told(store: SqlStore, found: Sequence[Mark], language: str) -> list[dict[str, Any]]:
    """Return marks as `GET …/timeline` answers them."""
    wanted = {mark.row.revision for mark in found} | {mark.row.previous_revision for mark in found}
    documents = store.rows(sorted(wanted))
    return [_told(mark, documents, language) for mark in found]


class _Hidden:
    """What somebody may not list is not told of: others' Secrets, and what became of a pod that a poll is about."""

    def __init__(self, principal: Principal, seal: Seal) -> None:
        self._seal = seal
        self._may = lru_cache(maxsize=None)(lambda resource, namespace: _may_list(principal, resource, namespace))

    def hides(self, key: Key) -> bool:
        """Return whether a row of this object is left out."""
        told = key[0] == PODS and self._seal.hides_pod(f"{key[1]}/{key[2]}")
        return told or not self._may(key[0], key[1])


def _may_list(principal: Principal, resource: str, namespace: str) -> bool:
    try:
        roles.check(principal, "list", resource, namespace or None)
    except ApiError:
        return False
    return True


def _told(mark: Mark, documents: Mapping[int, tuple[str, bytes]], language: str) -> dict[str, Any]:
    row = mark.row
    known = find_resource(row.resource)
    name = f"{row.namespace}/{row.name}" if row.namespace else row.name
    now, before = documents.get(row.revision), documents.get(row.previous_revision)
    text = text_of(language, row.verb, row.resource, name, _document(now), _document(before) if before else None)
    return {
        "rv": row.revision,
        "simTime": row.now_ms / 1000,
        "lane": mark.lane,
        "kind": known.kind if known is not None else (_document(now or before) or {}).get("kind", ""),
        "verb": row.verb,
        "object": name,
        "actor": row.actor,
        "text": text,
    }


def _document(row: tuple[str, bytes] | None) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(row[1]) if row is not None else {}
    return found


def _revision(call: Call, field: str, newest: int, default: int) -> int:
    text = call.request.GET.get(field, "")
    return revision_of(text, newest, field) if text else default
