"""You are the scheduler: people bind a round's pods by hand, and see what the engine and the solver make of them."""

from __future__ import annotations

from typing import Final

import msgspec
from django.http import HttpResponse

from clustersim.classroom import limits, opening, people
from clustersim.classroom.auth import STUDENT, TEACHER, Principal
from clustersim.classroom.opening import creation
from clustersim.classroom.writing import apply, refuse_first, web_context, write
from clustersim.sessionapi.http import Call, answer, number_field, refuse, text_field
from clustersim.sessionapi.rules import SEED_MAX, for_a_while
from clustersim.store import SqlStore, history
from controllers.log.operations import Bind, Delete
from controllers.log.store import ADDED, Gone
from controllers.scheduler.past import Past
from controllers.scheduler.settings import DEFAULT_SPEC
from controllers.whatif.compare import byhand
from controllers.whatif.compare.inputs import PODS
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.api.said import said
from scheduler_core.snapshot.node_info import PodInfo

ENGINE_SECONDS: Final = 4.0
"""Real seconds that the engine's side of a round may run; then it ends where it is, and its sums say so."""

NAME_LENGTH_MAX: Final = 320
"""Characters of a pod's key, or of a node's name; a longer one is refused with 422."""


def show(call: Call) -> HttpResponse:
    """Answer `GET …/byhand`: the newest round, null where there has been none."""
    _ = call.principal
    return answer(_round(call.past()))


def begin(call: Call) -> HttpResponse:
    """Answer `POST …/byhand`: a round begins; what nobody has placed of the one before is taken away."""
    principal = call.require(TEACHER)
    body = call.body(("seed", "pods", "queues"))
    seed = number_field(body, "seed", 0, SEED_MAX, whole=True)
    count = number_field(body, "pods", 1, byhand.PODS_MAX, whole=True)
    queues = body.get("queues", "one")
    if queues not in ("one", "seats"):
        raise refuse(
            Cause("queues", said("byhand.queueOrSeats", "give one: a queue for all, or seats: one for each student"))
        )
    slugs = [one.slug for one in people.of_session(principal.session_id) if one.role == STUDENT and not one.left]
    if queues == "seats" and not slugs:
        raise refuse(
            Cause("queues", said("byhand.nobody", "nobody has joined yet: there is no seat that could have a queue"))
        )
    past = call.past()
    number = byhand.newest_round(past) + 1
    pods = byhand.workload(
        past,
        call.store.seed if seed is None else int(seed),
        number,
        sorted(slugs) if queues == "seats" else (),
        None if count is None else int(count),
    )
    first = [] if call.store.get("priorityclasses.scheduling.k8s.io", "", byhand.CLASS) else [byhand.important()]
    left = [info for info in past.pods if byhand.round_of(info) and byhand.is_open(info)]
    gone = [Delete(PODS, info.pod.namespace, info.pod.name, uid=info.uid) for info in left]
    refuse_first(write(call.store, [*gone, *(creation(one) for one in first), *(creation(one) for one in pods)]))
    return answer(_round(call.past()), 201)


def place(call: Call) -> HttpResponse:
    """Answer `POST …/byhand/place {"pod", "node"}`: the binding, by whoever asks; 409 with what forbids it."""
    principal = call.require(TEACHER, STUDENT)
    body = call.body(("pod", "node"))
    name, node = (text_field(body, field, NAME_LENGTH_MAX) for field in ("pod", "node"))
    if principal.role == STUDENT:
        limits.spend(limits.STUDENT_WRITES, principal.participant_id)
    past = call.past()
    info = _pod(past, name)
    _check_queue(principal, info)
    if not byhand.is_open(info):
        raise ApiError(
            409,
            "Conflict",
            said(
                "byhand.placed",
                "{name} has its node already: {node_name}",
                name=info.pod.name,
                node_name=info.pod.spec.node_name,
            ),
        )
    try:
        refusals = byhand.refused_there(past, info, node)
    except LookupError as missing:
        raise refuse(
            Cause("node", said("node.unknown", "there is no node {node!r}", node=node[:80]), "FieldValueNotFound")
        ) from missing
    if refusals:
        causes = tuple(Cause(one["plugin"], byhand.in_words(one), "Filter") for one in refusals)
        message = said(
            "byhand.refused",
            "{node} does not take {name}: {known}",
            node=node,
            name=info.pod.name,
            known="; ".join(cause.message for cause in causes),
        )
        refusal = ApiError(409, "Conflict", message, causes=causes, name=info.pod.name, kind="Pod")
        return answer({**refusal.status(), "refusals": refusals}, 409)
    # The person's own binding: what they may not do by themselves, the rules of the round let them do.
    binding = Bind(info.pod.namespace, info.pod.name, info.uid, node)
    apply(call.store, binding, web_context(principal.actor, call.store))
    return answer({"pod": info.key, "node": node})


def result(call: Call) -> HttpResponse:
    """Answer `GET …/byhand/result`: what came of the newest round, beside the engine and the optimum."""
    _ = call.principal
    limits.spend(limits.COMPARISONS, call.session.id)
    past, store = call.past(), call.store
    number = byhand.newest_round(past)
    if not number:
        raise ApiError(
            404,
            "NotFound",
            said("byhand.noRound", "no round has been played by hand here: begin one with POST …/byhand"),
        )
    try:
        rows = _rows(store, number, past.revision)
        made = [row for row in rows if row.verb == ADDED]
        if len(made) < len([info for info in past.pods if byhand.round_of(info) == number]):
            raise Gone
        given = byhand.given_of(past.at(made[-1].revision), number)
    except Gone as error:
        raise opening.past_gone(store.compacted, store.compacted) from error
    hand = byhand.played_by_hand(past, given, rows, made[-1].now_ms)
    told = byhand.outcome(
        given, hand, seed=store.seed, spec=past.settings.spec or DEFAULT_SPEC, go_on=for_a_while(ENGINE_SECONDS)
    )
    return answer({"round": number, "revision": past.revision, **told})


def _round(past: Past) -> Document | None:
    number = byhand.newest_round(past)
    if not number:
        return None
    pods = [info for info in past.pods if byhand.round_of(info) == number]
    left = [info for info in pods if byhand.is_open(info)]
    return {
        "round": number,
        "pods": [byhand.told(info) for info in pods],
        "left": len(left),
        "nodes": byhand.rooms(past),
        "queues": sorted({byhand.queue_of(info) for info in pods}),
    }


def _pod(past: Past, name: str) -> PodInfo:
    """Return a pod of the newest round by its name or key.

    Raises:
        ApiError: 404.
    """
    number = byhand.newest_round(past)
    for info in past.pods:
        if number and byhand.round_of(info) == number and name in (info.key, info.pod.name):
            return info
    raise ApiError(
        404,
        "NotFound",
        said("byhand.noPod", "there is no pod {name!r} to be placed by hand", name=name[:80]),
        name=name[:80],
        kind="Pod",
    )


def _check_queue(principal: Principal, info: PodInfo) -> None:
    """Refuse what stands in another's queue.

    Raises:
        ApiError: 403.
    """
    queue = byhand.queue_of(info)
    if principal.role == STUDENT and queue and queue != principal.slug:
        raise ApiError(
            403,
            "Forbidden",
            said("byhand.othersQueue", "{name} stands in another's queue: place one of your own", name=info.pod.name),
        )


def _rows(store: SqlStore, number: int, until: int) -> list[byhand.Row]:
    """Return the rows of a round's pods, in order.

    Raises:
        Gone: the log no longer reaches back to where the round began.
    """
    named = byhand.name_of(number, 0).rpartition("-")[0] + "-"
    found = [
        row
        for row in history.log_rows(store, store.compacted, until)
        if row.resource == PODS and row.name.startswith(named)
    ]
    documents = store.rows([row.revision for row in found])
    found_rows: list[byhand.Row] = []
    for row in found:
        uid, data = documents[row.revision]
        found_rows.append(byhand.Row(uid, row.verb, row.revision, row.now_ms, msgspec.json.decode(data)))
    return found_rows
