"""Traces made whole: matrices that were not kept are recomputed from the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from controllers.commands import REPLICAS
from controllers.log.store import Gone, Store
from controllers.scheduler.past import Past
from controllers.scheduler.reporting import cycle_of, envelope_of
from scheduler_core.framework.interface import Listers
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.profiles.configuration import SchedulerConfiguration
from scheduler_core.scheduler.replay import Seen, all_refusals_again, prepared, replay

ATTEMPT_DIGITS_MAX: Final = 9
"""Digits of an attempt's number in an id; no pod is tried a thousand million times."""


def whole(past: Past, envelope: Mapping[str, Any], blob: bytes) -> dict[str, Any]:
    """Return a trace with its `result`: as kept, or replayed from its input.

    Past the log's end, or where the configuration that decided is no longer in it, there is no result and
    `detail` is `compacted`.

    Args:
        past: the session, at any revision; what is read of others is kept there for the next trace.
        envelope: as `Store.traces` gave it.
        blob: the same; empty where only the input was kept.
    """
    if blob:
        return {**envelope, "result": msgspec.json.decode(blob)}
    replayed = _replayed(past, envelope, "")
    known = envelope.get("explanation", {})
    account = replayed.get("explanation", {}).get("preemption")
    told = known.get("preemption", {}).get("steps")
    if account is not None and told is not None:
        # A replay decides again; what was done about it, and how the API took it, only the envelope knows.
        account["steps"] = told
    if "extenders" in known:
        # The binding is no decision: what an extender said of it only the envelope knows.
        replayed.setdefault("explanation", {})["extenders"] = known["extenders"]
    return {**envelope, **replayed}


class Located(NamedTuple):
    """A decision. `until` is the point at which a cycle in hand stands, empty where the attempt was decided."""

    envelope: Mapping[str, Any]
    blob: bytes
    until: str = ""


def locate(store: Store, decision: str) -> Located | None:
    """Return a decision by its id: a kept one, or the cycle in some replica's hand.

    None: there is none, or it is no longer kept.
    """
    uid, _, attempt = decision.rpartition("-")
    if uid and attempt.isdecimal() and len(attempt) <= ATTEMPT_DIGITS_MAX:
        kept = store.trace(uid, int(attempt))
        if kept is not None:
            return Located(*kept)
    for stored in store.list(REPLICAS)[0]:
        cycle = cycle_of(stored.object)
        if cycle is not None and cycle["traceId"] == decision:
            envelope = envelope_of(cycle, stored.name, stored.revision, cycle["startedAtMs"])
            return Located(envelope, b"", cycle["point"])
    return None


def find(past: Past, decision: str) -> dict[str, Any] | None:
    """Return one trace by its id: a kept one, or that of the cycle in some replica's hand as far as it has come.

    None: there is none, or it is no longer kept.
    """
    located = locate(past.store, decision)
    if located is None:
        return None
    if located.until:
        return {**located.envelope, **_replayed(past, located.envelope, located.until)}
    return whole(past, located.envelope, located.blob)


def _replayed(past: Past, envelope: Mapping[str, Any], until: str) -> dict[str, Any]:
    """Return `result` (and `explanation`) of an input run again, or what says that it cannot be."""
    given = envelope["input"]
    then = past.at(given["seenRevision"])
    try:
        settings = then.settings
        if settings.hash != given["configuration"]:
            return {"detail": "compacted"}
        shown = taken_again(
            then.seen, envelope["uid"], given, settings.configuration, settings.registry(), then, past.store.seed, until
        )
    except (Gone, KeyError):
        return {"detail": "compacted"}
    shown["result"] |= envelope.get("undone", {})
    return shown


def refusals(past: Past, envelope: Mapping[str, Any], names: Sequence[str] = ()) -> dict[str, list[dict[str, Any]]]:
    """Return node → every filter's no in an attempt, with its amounts, whatever the filters before it said.

    Args:
        past: the session, at any revision.
        envelope: as `Store.trace` gave it.
        names: the nodes asked about; none: all that were refused, the first by name.

    Raises:
        Gone: what the attempt saw, or its configuration, is no longer kept.
    """
    given = envelope["input"]
    then = past.at(given["seenRevision"])
    settings = then.settings
    if settings.hash != given["configuration"]:
        raise Gone
    try:
        core, run = prepared(
            then.seen,
            envelope["uid"],
            given,
            settings.configuration,
            settings.registry(),
            seed=past.store.seed,
            listers=then,
        )
    except KeyError as missing:
        raise Gone from missing
    return all_refusals_again(core, run, names)


def taken_again(
    seen: Seen,
    uid: str,
    given: Mapping[str, Any],
    configuration: SchedulerConfiguration,
    registry: PluginRegistry,
    listers: Listers,
    seed: int,
    until: str = "",
) -> dict[str, Any]:
    """Return the `result` (and `explanation`) of an attempt that is run again; see `replay` for what it takes.

    Raises:
        KeyError: the pod is not there.
    """
    result, explained = replay(seen, uid, given, configuration, registry, seed=seed, listers=listers, until=until)
    shown = {"result": result, "explanation": explained} if explained else {"result": result}
    # By way of JSON, so that a replayed result is told apart from a kept one by nothing.
    decoded: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(shown))
    return decoded
