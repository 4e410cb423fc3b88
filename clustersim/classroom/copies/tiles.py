"""The room view's tiles: each seat's copy in miniature, and on what it is stuck, in kube-scheduler's own words.

A tile's picture is read from the copy's objects and kept by its revision: a class of copies that rest is read once.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import msgspec

from clustersim.classroom.copies import handing
from clustersim.classroom.models import Copy
from clustersim.store import SqlStore, history, open_store, sessions
from controllers.predicates import Moment, Predicate, View
from scheduler_core.api.document import Document, FrozenDocument, has_ended
from scheduler_core.api.quantity import milli_value

IDLE_MS: Final = 120_000
"""A copy in which nobody has done anything for so long is idle."""

NODES_SHOWN: Final = 8
PODS_SHOWN: Final = 12
NAMES_SHOWN: Final = 5
"""Of a tile's nodes, of a node's pods, and of the pods that wait for one reason."""

_REMEMBERED: Final = 1_000
_SEEN: Final = ("pods", "nodes")
_HEAD = re.compile(r"0/\d+ nodes are available: ")
_COUNT = re.compile(r"^\d+ ")
_PART = re.compile(r", (?=\d+ )")


@dataclass(frozen=True, slots=True)
class Picture:
    """What is seen of a copy at one revision."""

    pending: tuple[Document, ...]
    nominated: tuple[Document, ...]
    waiting: Document | None
    nodes: tuple[Document, ...]
    did: Document | None
    acted_ms: int
    done: bool


def tiles(copies: Sequence[Copy], now_ms: int) -> list[Document]:
    """Return the tiles of copies as docs/session-api.md has them."""
    revisions = sessions.revisions([copy.fork_id for copy in copies if copy.fork_id is not None])
    return [_tile(copy, revisions, now_ms) for copy in copies]


def look_of(session_id: int, now_ms: int) -> str:
    """Return what tells the tiles of a session apart from those of another moment."""
    told = msgspec.json.encode(tiles(handing.newest(session_id), now_ms))
    return hashlib.blake2b(told, digest_size=16).hexdigest()


def _tile(copy: Copy, revisions: Mapping[int, int], now_ms: int) -> Document:
    person = copy.participant
    told: Document = {"person": str(person.pk), "seat": person.color, "name": person.name}
    revision = None if copy.fork_id is None else revisions.get(copy.fork_id)
    if copy.fork_id is None or copy.fork is None or revision is None:
        why = copy.problem or "the copy is no longer there: hand out a new one"
        nothing: Document = {"pending": [], "nominated": [], "waiting": None, "nodes": [], "did": None}
        return {**told, **nothing, "code": "", "state": "failed", "problem": why, "since": copy.made_ms}
    picture = _picture(copy, copy.fork_id, revision)
    if picture.done and not copy.done_ms:
        copy.done_ms = now_ms
        Copy.objects.filter(pk=copy.pk, done_ms=0).update(done_ms=now_ms)
    acted = picture.acted_ms or copy.made_ms
    stuck = any(group["reason"] for group in picture.pending)
    state = "done" if copy.done_ms else "stuck" if stuck else "idle" if now_ms - acted >= IDLE_MS else "working"
    return {
        **told,
        "code": f"{copy.fork.code[:3]}-{copy.fork.code[3:]}",
        "state": state,
        "pending": list(picture.pending),
        "nominated": list(picture.nominated),
        "waiting": picture.waiting,
        "nodes": list(picture.nodes),
        "did": picture.did,
        "since": copy.done_ms or acted,
        **({"seconds": max(0, copy.done_ms - copy.made_ms) // 1000} if copy.done_ms else {}),
    }


_pictures: OrderedDict[int, tuple[int, Picture]] = OrderedDict()
_lock: Final = threading.Lock()


def _picture(copy: Copy, fork_id: int, revision: int) -> Picture:
    with _lock:
        known = _pictures.get(fork_id)
    if known is not None and known[0] == revision:
        return known[1]
    if known is not None and not copy.until and not history.is_touched(fork_id, known[0], _SEEN):
        # Leases are renewed, queues told, and nothing of it is seen on a tile.
        return _keep(fork_id, revision, known[1])
    # What somebody did last is looked for in the rows that are new.
    since, before = (copy.revision, None) if known is None else (known[0], known[1])
    picture = _read(open_store(fork_id), since, before, copy.until)
    return _keep(fork_id, revision, picture)


def _keep(fork_id: int, revision: int, picture: Picture) -> Picture:
    with _lock:
        _pictures[fork_id] = (revision, picture)
        _pictures.move_to_end(fork_id)
        while len(_pictures) > _REMEMBERED:
            _pictures.popitem(last=False)
    return picture


def _read(store: SqlStore, since: int, before: Picture | None, until: str) -> Picture:
    pods = [stored.object for stored in store.list("pods")[0]]
    nodes = [stored.object for stored in store.list("nodes")[0]]
    act = history.last_act(store, since)
    did, acted_ms = (before.did, before.acted_ms) if before is not None else (None, 0)
    if act is not None:
        did, acted_ms = {"verb": act.verb, "resource": act.resource, "object": act.name}, act.written_ms
    done = bool(until) and _goal(until).holds(View(store, Moment(store.counters().last_ms)))
    return Picture(_pending(pods), _nominated(pods), _waiting(pods), _nodes(nodes, pods), did, acted_ms, done)


@lru_cache(maxsize=100)
def _goal(until: str) -> Predicate:
    return Predicate.compile(until)


def _pending(pods: Iterable[FrozenDocument]) -> tuple[Document, ...]:
    """Return the pods that wait for a node, by the reason that the scheduler gave; "" none yet."""
    groups: dict[str, list[str]] = {}
    for pod in pods:
        if not pod["spec"].get("nodeName") and (pod.get("status") or {}).get("phase", "Pending") == "Pending":
            nominated = (pod.get("status") or {}).get("nominatedNodeName")
            reason = "" if nominated else reason_of(_message(pod))
            groups.setdefault(reason, []).append(pod["metadata"]["name"])
    found = [
        {"reason": reason, "n": len(names), "pods": sorted(names)[:NAMES_SHOWN]} for reason, names in groups.items()
    ]
    return tuple(sorted(found, key=lambda group: (not group["reason"], -int(str(group["n"])), str(group["reason"]))))


def _message(pod: FrozenDocument) -> str:
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return str(condition.get("message", ""))
    return ""


@lru_cache(maxsize=1_000)
def reason_of(message: str) -> str:
    """Return a FitError's reasons without its counts: of a failed preemption those, as they are the last word.

    `0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 Preemption is not helpful for
    scheduling.` → `Preemption is not helpful for scheduling`
    """
    first, _, second = message.partition(" preemption: ")
    parts = _HEAD.split(second or first)
    told = parts[-1].rstrip(". ") if parts else ""
    return ", ".join(_COUNT.sub("", part) for part in _PART.split(told) if part)


def _nominated(pods: Iterable[FrozenDocument]) -> tuple[Document, ...]:
    found = [
        {"pod": pod["metadata"]["name"], "node": pod["status"]["nominatedNodeName"]}
        for pod in pods
        if (pod.get("status") or {}).get("nominatedNodeName") and not pod["spec"].get("nodeName")
    ]
    return tuple(found[:NAMES_SHOWN])


def _waiting(pods: Iterable[FrozenDocument]) -> Document | None:
    """Return the most important pod that waits for a node, as a tile shows it; None where none does."""
    first = most_important(pods)
    if first is None:
        return None
    node = (first.get("status") or {}).get("nominatedNodeName", "")
    return {"name": first["metadata"]["name"], "cpu": _cpu(first), "node": node}


def is_tried(pod: FrozenDocument) -> bool:
    """Return whether a scheduler has refused a pod, or makes room for it."""
    return bool(_message(pod) or (pod.get("status") or {}).get("nominatedNodeName"))


def most_important(pods: Iterable[FrozenDocument]) -> FrozenDocument | None:
    """Return the most important of the pods that wait for a node; None where none does."""
    found = [
        pod
        for pod in pods
        if not pod["spec"].get("nodeName") and (pod.get("status") or {}).get("phase", "Pending") == "Pending"
    ]
    return min(found, key=lambda pod: (-pod["spec"].get("priority", 0), pod["metadata"]["name"]), default=None)


def _nodes(nodes: Iterable[FrozenDocument], pods: Iterable[FrozenDocument]) -> tuple[Document, ...]:
    by_node: dict[str, list[Document]] = {}
    for pod in pods:
        node = pod["spec"].get("nodeName")
        if node and not has_ended(pod):
            by_node.setdefault(node, []).append(
                {
                    "name": pod["metadata"]["name"],
                    "cpu": _cpu(pod),
                    "priority": pod["spec"].get("priority", 0),
                    "leaving": bool(pod["metadata"].get("deletionTimestamp")),
                }
            )
    shown = []
    for node in list(nodes)[:NODES_SHOWN]:
        name = node["metadata"]["name"]
        there = sorted(by_node.get(name, []), key=lambda pod: (-pod["priority"], pod["name"]))
        allocatable = (node.get("status") or {}).get("allocatable") or {}
        shown.append({"name": name, "cpu": milli_value(str(allocatable.get("cpu", "0"))), "pods": there[:PODS_SHOWN]})
    return tuple(shown)


def _cpu(pod: FrozenDocument) -> int:
    """Return the millicores that a pod's containers ask for."""
    containers: Iterable[Mapping[str, Any]] = pod["spec"].get("containers") or ()
    asked = (((one.get("resources") or {}).get("requests") or {}).get("cpu", "0") for one in containers)
    return sum(milli_value(str(amount)) for amount in asked)
