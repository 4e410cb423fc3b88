"""Traces made whole: matrices that were not kept are recomputed from the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from controllers.log.store import Gone, Store
from controllers.scheduler.reporting import REPLICAS
from controllers.scheduler.settings import NAME, RESOURCE, Settings
from controllers.scheduler.watching import WATCHED
from scheduler_core.scheduler.replay import replay

_OF_THE_CYCLE: Final = ("pod", "uid", "profile", "era", "scoreMax", "attempt", "point", "input")
"""Members of a trace's envelope that the cycle in a replica's status has, too."""

_ASIDE = frozenset({"nodes", "pods", RESOURCE})


class RevisionListers:
    """`framework.Listers` over a store as of one revision; lists are read when they are first asked for."""

    def __init__(self, store: Store, revision: int) -> None:
        self._store = store
        self._revision = revision
        self._lists: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}

    def list(self, resource: str) -> Sequence[Mapping[str, Any]]:
        """Return all documents of a watched resource."""
        return tuple(self._read(resource).values())

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return one document."""
        return self._read(resource).get((namespace, name))

    def _read(self, resource: str) -> dict[tuple[str, str], dict[str, Any]]:
        if resource not in WATCHED - _ASIDE:
            return {}
        found = self._lists.get(resource)
        if found is None:
            stored = self._store.list_at(resource, self._revision)
            found = self._lists[resource] = {(one.namespace, one.name): one.object for one in stored}
        return found


def whole(store: Store, envelope: Mapping[str, Any], blob: bytes) -> dict[str, Any]:
    """Return a trace with its `result`: as kept, or replayed from its input.

    Past the log's end, or where the configuration that decided is no longer in it, there is no result and
    `detail` is `compacted`.

    Args:
        store: the session's.
        envelope: as `Store.traces` gave it.
        blob: the same; empty where only the input was kept.
    """
    if blob:
        return {**envelope, "result": msgspec.json.decode(blob)}
    replayed = _replayed(store, envelope, "")
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


def find(store: Store, decision: str) -> dict[str, Any] | None:
    """Return one trace by its id: a kept one, or that of the cycle in some replica's hand as far as it has come.

    None: there is none, or it is no longer kept.
    """
    uid, _, attempt = decision.rpartition("-")
    for envelope, blob in store.traces(uid) if uid and attempt.isdecimal() else ():
        if envelope["id"] == decision:
            return whole(store, envelope, blob)
    for stored in store.list(REPLICAS)[0]:
        cycle = (stored.object.get("status") or {}).get("cycle") or {}
        if cycle.get("traceId") == decision:
            envelope = {
                "id": decision,
                "revision": stored.revision,
                "seenRevision": cycle["seenRevision"],
                "simTime": cycle["startedAtMs"] / 1000,
                **{key: cycle[key] for key in _OF_THE_CYCLE if key in cycle},
                "replica": stored.name,
            }
            return {**envelope, **_replayed(store, envelope, cycle["point"])}
    return None


def _replayed(store: Store, envelope: Mapping[str, Any], until: str) -> dict[str, Any]:
    """Return `result` (and `explanation`) of an input run again, or what says that it cannot be."""
    given = envelope["input"]
    revision = given["seenRevision"]
    try:
        configurations = store.list_at(RESOURCE, revision)
        spec = next((one.object.get("spec") for one in configurations if one.name == NAME), None)
        settings = Settings.of(spec, store.plugins)
        if settings.hash != given["configuration"]:
            return {"detail": "compacted"}
        result, explained = replay(
            [one.object for one in store.list_at("nodes", revision)],
            [one.object for one in store.list_at("pods", revision)],
            envelope["uid"],
            given,
            settings.configuration,
            settings.registry(),
            seed=store.seed,
            listers=RevisionListers(store, revision),
            until=until,
        )
    except (Gone, KeyError):
        return {"detail": "compacted"}
    shown: dict[str, Any] = {"result": result | dict(envelope.get("undone", {}))}
    if explained:
        shown["explanation"] = explained
    # By way of JSON, so that a replayed result is told apart from a kept one by nothing.
    decoded: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(shown))
    return decoded
