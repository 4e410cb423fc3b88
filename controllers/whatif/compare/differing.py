"""Where two sides put a pod, and why it is not the same node: taken from the decisions that they kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from controllers.scheduler.decisions import whole
from controllers.scheduler.past import Past
from controllers.whatif.compare.inputs import Given
from controllers.whatif.compare.running import Played
from scheduler_core.api.document import Document

EXPLAINED_MAX: Final = 200
"""Pods of a comparison that are told why: those that came first; the others only where they went."""

Result = Mapping[str, Any]


class _Side(NamedTuple):
    played: Played
    past: Past


def differences(given: Given, first: Played, second: Played) -> list[Document]:
    """Return a row for each pod that is played, those that came first in front.

    Returns:
        `pod`, `uid`, `a` and `b` (`node`, None where there is none; `waited` in seconds; `evicted`), `points` (what the
        node of a and the node of b have on side b, None where they were not scored), and `why`, None for a pod that
        went to the same node or is not among the first EXPLAINED_MAX that differ. `why` is one of
        `{"kind": "refused", "side", "node", "plugin", "reasons"}`: on that side the other side's node said no;
        `{"kind": "score", "plugin", "by"}`: the plugin that speaks more for b's node than it did on side a, in points;
        `{"kind": "lot"}`: both nodes score alike on side b;
        `{"kind": "none", "side", "message"}`: on that side no node took it, in upstream's words;
        `{"kind": "unseen"}`: one of the nodes was not looked at.
    """
    sides = _Side(first, Past(first.store)), _Side(second, Past(second.store))
    names = _names(given)
    rows: list[Document] = []
    explained = 0
    for uid in sorted(given.played, key=lambda one: (first.came[one], names[one])):
        nodes = [played.bound.get(uid, ("", 0))[0] for played in (first, second)]
        row: Document = {
            "pod": names[uid],
            "uid": uid,
            "a": _where(first, uid),
            "b": _where(second, uid),
            "points": [None, None],
            "why": None,
        }
        if nodes[0] != nodes[1] and explained < EXPLAINED_MAX:
            explained += 1
            row |= _why(sides, uid, nodes)
        rows.append(row)
    return rows


def _names(given: Given) -> dict[str, str]:
    documents = [document for resource, document in given.objects if resource == "pods"]
    documents += [arrival.pod for arrival in given.arrivals]
    metadata = [document["metadata"] for document in documents]
    return {one["uid"]: f"{one['namespace']}/{one['name']}" for one in metadata if one["uid"] in given.played}


def _where(played: Played, uid: str) -> Document:
    node, at_ms = played.bound.get(uid, ("", 0))
    waited = (at_ms - played.came[uid]) / 1000 if node else None
    return {"node": node or None, "waited": waited, "evicted": uid in played.evicted}


def _why(sides: Sequence[_Side], uid: str, nodes: Sequence[str]) -> Document:
    results = [_decision(side, uid, node) for side, node in zip(sides, nodes, strict=True)]
    points = [_total(results[1], node) for node in nodes]
    return {"points": points, "why": _reason(results, nodes, points)}


def _reason(results: Sequence[Result], nodes: Sequence[str], points: Sequence[int | None]) -> Document:
    for side, node, result in zip("ab", nodes, results, strict=True):
        if not node:
            return {"kind": "none", "side": side, "message": result.get("fitError") or ""}
    for side, node, result in (("b", nodes[0], results[1]), ("a", nodes[1], results[0])):
        said = (result.get("firstFail") or {}).get(node)
        if said is not None:
            reasons = list(said.get("reasons") or ())
            return {"kind": "refused", "side": side, "node": node, "plugin": said.get("plugin", ""), "reasons": reasons}
    before, after = (_ahead(result, nodes) for result in results)
    if None in points or before is None or after is None:
        return {"kind": "unseen"}
    if points[0] == points[1]:
        return {"kind": "lot"}
    gains = {plugin: after.get(plugin, 0) - before.get(plugin, 0) for plugin in sorted({*before, *after})}
    plugin = max(gains, key=lambda name: gains[name])
    return {"kind": "score", "plugin": plugin, "by": gains[plugin]}


def _decision(side: _Side, uid: str, node: str) -> Result:
    """Return the result of the attempt that chose the node, of the newest one where none did."""
    newest: Result = {}
    for envelope, blob in side.played.store.traces(uid):
        result: Result = whole(side.past, envelope, blob).get("result") or {}
        if result.get("chosen") == node or not node:
            return result
        newest = newest or result
    return newest


def _total(result: Result, node: str) -> int | None:
    scores = result.get("scores") or {}
    found = dict(zip(scores.get("nodes") or (), scores.get("total") or (), strict=True)).get(node)
    return None if found is None else int(found)


def _ahead(result: Result, nodes: Sequence[str]) -> dict[str, int] | None:
    """Return by plugin how many points the second node has more than the first; None where one was not scored."""
    scores = result.get("scores") or {}
    rows = list(scores.get("nodes") or ())
    if any(node not in rows for node in nodes):
        return None
    first, second = (rows.index(node) for node in nodes)
    plugins = scores.get("plugins") or {}
    return {plugin: part["weighted"][second] - part["weighted"][first] for plugin, part in plugins.items()}
