"""A person as the scheduler: a drawn workload, what filters say of a drop, and what others make of the same pods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from controllers.log.memory import MemoryStore
from controllers.log.store import DELETED, Verb
from controllers.scheduler.decisions import refusals
from controllers.scheduler.modelling import Modelling
from controllers.scheduler.past import Past
from controllers.whatif.compare.differing import differences
from controllers.whatif.compare.inputs import PODS, Given, present
from controllers.whatif.compare.running import Played, begin, play
from controllers.whatif.compare.summing import of_side
from controllers.whatif.deciding import attempt_now, is_pending
from controllers.whatif.wishes import amount_told
from scheduler_core.api.document import Document
from scheduler_core.api.draw import draw
from scheduler_core.api.errors import ApiError
from scheduler_core.api.requests import amounts
from scheduler_core.framework.profile import DEFAULT_SCHEDULER_NAME
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.snapshot.node_info import PodInfo

BY_HAND: Final = "by-hand"
"""schedulerName of pods that people bind: no profile has it, so no scheduler takes them."""

GAME: Final = "clustersim.io/by-hand"
"""Label of such a pod: the number of the round that it belongs to."""

QUEUE: Final = "clustersim.io/queue"
"""Label of such a pod: the slug of who has it to place; without it anybody does."""

PODS_MIN: Final = 6
PODS_MAX: Final = 24
"""Pods of one round: as many as ask together for all the cpu that is free, within these."""

CLASS: Final = "by-hand-first"
"""PriorityClass of the pods that matter more; a round makes it where it is missing."""

PRIORITY: Final = 1_000

_SIZES: Final = ((500, 1), (1000, 2), (1500, 2), (2000, 4), (3000, 4))
"""(millicores, GiB) that a pod may ask for."""

_IMPORTANT_ONE_IN: Final = 5


class Row(NamedTuple):
    """A row of the log about a round's pod."""

    uid: str
    verb: Verb
    revision: int
    now_ms: int
    object: Mapping[str, Any]


def name_of(number: int, index: int) -> str:
    """Return the name of a round's pod; `index` from 1."""
    return f"hand-{number}-{index:02}"


def workload(past: Past, seed: int, number: int, queues: Sequence[str], count: int | None = None) -> list[Document]:
    """Return the pods of a round, drawn.

    Args:
        past: the session; the cpu that is free there says how many pods there are.
        seed: what is drawn depends on nothing else.
        number: of the round.
        queues: slugs of those that the pods are dealt to, in turn; none: one queue for all.
        count: so many pods; None: as many as fill the cluster.
    """
    free = _free_cpu(past)
    made: list[Document] = []
    while len(made) < (PODS_MAX if count is None else count):
        index = len(made)
        cpu, memory = _SIZES[draw(seed, "by-hand/size", str(number), index, below=len(_SIZES))]
        if count is None and len(made) >= PODS_MIN and free < cpu:
            break
        free -= cpu
        labels = {GAME: str(number)} | ({QUEUE: queues[index % len(queues)]} if queues else {})
        first = not draw(seed, "by-hand/priority", str(number), index, below=_IMPORTANT_ONE_IN)
        made.append(_pod(name_of(number, index + 1), cpu, memory, labels, important=first))
    return made


def _pod(name: str, cpu: int, memory: int, labels: Mapping[str, str], *, important: bool) -> Document:
    requests = {"cpu": f"{cpu}m", "memory": f"{memory}Gi"}
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests}}
    spec: Document = {"schedulerName": BY_HAND, "containers": [container]}
    if important:
        spec["priorityClassName"] = CLASS
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": dict(labels)},
        "spec": spec,
    }


def important() -> Document:
    """Return the PriorityClass of the pods that matter more."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": CLASS},
        "value": PRIORITY,
        "description": "Pods of a round by hand that matter more.",
    }


def _free_cpu(past: Past) -> int:
    usable = {node.name: node for node in past.nodes if not node.spec.unschedulable}
    whole = sum(amounts(node.status.allocatable).get("cpu", 0) for node in usable.values())
    there = (info for info in past.pods if info.pod.spec.node_name in usable and not info.pod.is_finished)
    return whole - sum(info.requests.get("cpu", 0) for info in there)


def round_of(info: PodInfo) -> int:
    """Return the number of the round that a pod belongs to; 0: it belongs to none."""
    text = info.pod.metadata.labels.get(GAME, "")
    if info.pod.spec.scheduler_name != BY_HAND or not text.isdecimal() or len(text) > 6:
        return 0
    return int(text)


def newest_round(past: Past) -> int:
    """Return the number of the newest round; 0: there has been none."""
    return max(map(round_of, past.pods), default=0)


def queue_of(info: PodInfo) -> str:
    """Return the slug of who has a pod to place; empty: anybody."""
    return info.pod.metadata.labels.get(QUEUE, "")


def told(info: PodInfo) -> Document:
    """Return a pod of a round as the page shows it."""
    return {
        "key": info.key,
        "uid": info.uid,
        "name": info.pod.name,
        "priority": info.priority,
        "cpu": info.asked.get("cpu", 0),
        "memory": info.asked.get("memory", 0),
        "queue": queue_of(info),
        "node": info.pod.spec.node_name or None,
    }


def rooms(past: Past) -> list[Document]:
    """Return of every node `name`, `cpu` and `memory`, and as `usedCpu` and `usedMemory` what its pods ask for."""
    found: dict[str, Document] = {}
    for node in past.nodes:
        size = amounts(node.status.allocatable)
        whole = {"cpu": size.get("cpu", 0), "memory": size.get("memory", 0)}
        found[node.name] = {"name": node.name, **whole, "usedCpu": 0, "usedMemory": 0}
    for info in past.pods:
        room = found.get(info.pod.spec.node_name)
        if room is not None and not info.pod.is_finished:
            room["usedCpu"] += info.requests.get("cpu", 0)
            room["usedMemory"] += info.requests.get("memory", 0)
    return list(found.values())


def refused_there(past: Past, pod: PodInfo, node: str) -> list[dict[str, Any]]:
    """Return every filter's no to a pod on a node, with its amounts, as the filters say it on this cluster.

    Raises:
        ApiError: 422, the session's scheduler cannot run.
        LookupError: there is no such node.
    """
    if all(one.name != node for one in past.nodes):
        raise LookupError(node)
    envelope = attempt_now(past, pod, 1)
    envelope["input"]["profile"] = past.settings.configuration.profiles[0].scheduler_name
    found: list[dict[str, Any]] = refusals(past, {**envelope, "seenRevision": past.revision}, [node]).get(node, [])
    return found


def in_words(refusal: Mapping[str, Any]) -> str:
    """Return one filter's no as a person reads it: its reasons, and how much there is and would have to be."""
    reasons = ", ".join(refusal["reasons"])
    amounts_told = []
    for detail in refusal.get("details") or ():
        if detail.get("kind") == "resource":
            resource = detail["resource"]
            asked, free = amount_told(resource, detail["asked"]), amount_told(resource, detail["free"])
            amounts_told.append(f"{resource}: asks {asked}, free are {free}")
    return f"{reasons} ({'; '.join(amounts_told)})" if amounts_told else reasons


def is_open(info: PodInfo) -> bool:
    """Return whether a pod still waits for somebody to place it."""
    return is_pending(info)


def given_of(past: Past, number: int) -> Given:
    """Return what a round began with, as kube-scheduler would be given it: its pods wait for the default scheduler.

    Args:
        past: the session when the round's pods had been made, before any was placed.
        number: of the round.
    """
    found = present(past, anew=False)
    mine = frozenset(info.uid for info in past.pods if round_of(info) == number)
    objects = [
        (resource, _for_scheduler(document) if resource == PODS and document["metadata"]["uid"] in mine else document)
        for resource, document in found.objects
    ]
    return replace(found, objects=objects, played=mine)


def _for_scheduler(document: Document) -> Document:
    return {**document, "spec": {**document["spec"], "schedulerName": DEFAULT_SCHEDULER_NAME}}


def played_by_hand(past: Past, given: Given, rows: Sequence[Row], began_ms: int) -> Played:
    """Return what people made of a round, from the rows of its pods since it began."""
    played = Played(past.store, at_rest=True, came=dict.fromkeys(given.played, 0))
    for row in rows:
        if row.uid not in given.played:
            continue
        node = row.object["spec"].get("nodeName") if row.verb != DELETED else None
        if node and row.uid not in played.bound:
            played.bound[row.uid] = node, row.now_ms - began_ms
        if row.verb == DELETED and row.uid in played.bound:
            # Who makes room by hand deletes what is in the way.
            played.evicted.setdefault(row.uid)
    played.end_ms = past.store.ms_at(past.revision) - began_ms
    return played


def outcome(
    given: Given,
    hand: Played,
    *,
    seed: int,
    spec: Mapping[str, Any],
    go_on: Callable[[], bool] = lambda: True,
) -> Document:
    """Return what came of a round beside what the engine and the solver make of it.

    Args:
        given: what it began with.
        hand: what people made of it.
        seed: chance is drawn from it.
        spec: of the session's scheduler.
        go_on: asked between the events of the engine's side.

    Returns:
        `sums` ({"hand", "engine"}, see `summing.of_side`), `optimum` (`placed`, `proven`, `placement`, or `problem`),
        `rows` (a row a pod: `pod`, `hand`, `engine`, `optimum` (nodes, None: it waits), `points` (the engine's for the
        hand's node and its own), `why` the engine did otherwise) and `parted` (the first pod, in the order in which
        people placed them, that the engine puts elsewhere; None: nowhere).
    """
    engine = play(given, dict(spec), seed=seed, plugins=hand.store.plugins, go_on=go_on)
    best = _optimum(given, spec, seed, hand.store.plugins)
    placed = best.get("placement") or {}
    rows = [
        {
            "pod": row["pod"],
            "uid": row["uid"],
            "hand": row["a"]["node"],
            "engine": row["b"]["node"],
            "optimum": placed.get(row["pod"]),
            "points": row["points"],
            "why": row["why"],
        }
        for row in differences(given, hand, engine)
    ]
    order = {uid: place for place, uid in enumerate(hand.bound)}
    apart = [row for row in rows if row["hand"] != row["engine"]]
    apart.sort(key=lambda row: order.get(row["uid"], len(order)))
    return {
        "sums": {"hand": of_side(given, hand), "engine": of_side(given, engine)},
        "optimum": best,
        "rows": rows,
        "parted": apart[0]["pod"] if apart else None,
    }


def _optimum(given: Given, spec: Mapping[str, Any], seed: int, plugins: PluginRegistry | None) -> Document:
    store = MemoryStore(seed=seed, epoch_ms=given.epoch_ms, plugins=plugins)
    begin(store, given, dict(spec))
    try:
        solver = Modelling(Past(store)).optima(lambda pod: pod.uid in given.played)["solver"]
    except ApiError as no:
        return {"problem": no.causes[0].message if no.causes else no.message}
    return {
        "placed": sum(one["pods"] for one in solver["utility"]["placed"]),
        "proven": solver["proven"],
        "placement": solver["placement"],
    }
