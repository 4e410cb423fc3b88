"""Routes of wrong rules: which there are, what each makes of a decision, a disagreement, and a world under one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from django.http import HttpResponse

from clustersim.classroom import limits, opening, worlds
from clustersim.classroom.auth import STUDENT, TEACHER
from clustersim.classroom.polls import telling as polls_telling
from clustersim.classroom.polls import votes
from clustersim.sessionapi import playing, polling
from clustersim.sessionapi.engine import unknown
from clustersim.sessionapi.http import Call, answer, flag_field, number_field, refuse, text_field
from clustersim.sessionapi.opening import opened_answer
from controllers.kinds.clustersim.poll import RESOURCE as POLLS
from controllers.log.store import Gone
from controllers.rules import telling
from controllers.rules.cases import SORTS, Size
from controllers.rules.deciding import scene_at
from controllers.rules.finding import NODES_MAX as FOUND_NODES_MAX
from controllers.rules.finding import PODS_MAX as FOUND_PODS_MAX
from controllers.rules.finding import Found, find
from controllers.rules.rule import Rule
from controllers.rules.table import RULES
from controllers.scheduler.decisions import Located, locate
from scheduler_core.api.errors import ApiError, Cause, missing, one_of
from scheduler_core.api.said import said

SEARCH_SECONDS: Final = 8.0
"""Real seconds that a finder may search; then it ends, and the answer says that it found nothing yet."""

KEPT_MAX: Final = 128
"""Clusters found that one process keeps, to open them as sessions; past it the one used longest ago is found anew."""

NEXT, BACK, CLOSE = "next", "back", "close"

SHOWN: Final = (NEXT, BACK, CLOSE)
"""What a teacher does with the world under a rule that walls show."""

SEED_MAX: Final = 2**53 - 1


def show(call: Call) -> HttpResponse:
    """Answer `GET …/rules`: the table, in its order; with what the finder can look for."""
    _ = call.principal
    return answer([{**rule.as_dict(), "findable": rule.id in SORTS} for rule in RULES.values()])


def made_of(call: Call, decision: str) -> HttpResponse:
    """Answer `GET …/decisions/<id>/rules?rule=`: what rules make of what an attempt saw; none named: all."""
    principal = call.principal
    wanted = call.request.GET.getlist("rule")
    for name in wanted:
        _rule(name)
    limits.spend(limits.WHAT_IFS, principal.participant_id)
    located = _located(call, decision)
    try:
        scene = scene_at(call.past(), located.envelope)
        return answer(telling.compared(scene, wanted or RULES))
    except Gone as error:
        raise opening.past_gone(located.envelope["input"]["seenRevision"], call.store.compacted) from error


def search(call: Call, rule: str) -> HttpResponse:
    """Answer `POST …/rules/<id>/find`: a smallest cluster on which the rule and the engine disagree."""
    principal = call.principal
    seed, size = _wish(call, rule)
    limits.spend(limits.SEARCHES, principal.participant_id)
    try:
        found = telling.found(_found(rule, seed, size))
    except LookupError:
        found = None
    return answer({"rule": rule, "seed": seed, "found": found})


def play(call: Call, rule: str) -> HttpResponse:
    """Answer `POST …/rules/<id>/play`: the cluster that `…/find` finds, as a session of one's own."""
    principal = call.require_acting(TEACHER, STUDENT)
    seed, size = _wish(call, rule)
    limits.spend(limits.FORKS, principal.participant_id)
    try:
        found = _found(rule, seed, size)
    except LookupError as error:
        message = said(
            "rule.agree", "kube-scheduler and the rule agree on every cluster that was looked at: try another seed"
        )
        raise ApiError(409, "Conflict", message, name=rule) from error
    title = str(RULES[rule].title["en"])
    return opened_answer(call, playing.open_case(found.case, title, seed, principal.name), {"rule": rule})


def _wish(call: Call, rule: str) -> tuple[int, Size | None]:
    """Return (the seed, the size or None for the smallest) that a search is asked for.

    Raises:
        ApiError: 404, no such rule; 422, nothing can be looked for, or not so.
    """
    one = _rule(rule)
    body = call.body(("seed", "nodes", "pods"))
    seed = number_field(body, "seed", 0, SEED_MAX, whole=True)
    nodes = number_field(body, "nodes", 1, FOUND_NODES_MAX, whole=True)
    pods = number_field(body, "pods", 0, FOUND_PODS_MAX, whole=True)
    if (nodes is None) != (pods is None):
        raise refuse(
            Cause(
                "pods" if pods is None else "nodes",
                said("rule.size", "give both nodes and pods, or neither: the smallest"),
            )
        )
    if one.mistake is None:
        raise refuse(
            Cause(
                "rule",
                said(
                    "rule.nothing", "{rule} says nothing of where a pod goes: there is nothing to look for", rule=rule
                ),
            )
        )
    size = None if nodes is None or pods is None else Size(int(nodes), int(pods))
    return call.store.seed if seed is None else int(seed), size


@lru_cache(maxsize=KEPT_MAX)
def _found(rule: str, seed: int, size: Size | None) -> Found:
    """Return what a search finds.

    Raises:
        LookupError: nothing. It is not kept: another time the search may come further in its time.
    """
    found = find(RULES[rule], seed, size=size, go_on=for_a_while(SEARCH_SECONDS))
    if found is None:
        raise LookupError(rule)
    return found


def open_world(call: Call, rule: str) -> HttpResponse:
    """Answer `POST …/rules/<id>/world`: a fork in which the rule decides, from what an attempt saw or from now on."""
    principal = call.require(TEACHER)
    one = _rule(rule)
    body = call.body(("decision", "wall"))
    decision, wall = body.get("decision"), flag_field(body, "wall")
    if decision is not None and not isinstance(decision, str):
        raise refuse(
            Cause("decision", said("rule.decision", "give the id of a decision, or leave it out: from now on"))
        )
    revision = call.store.revision if decision is None else _located(call, decision).envelope["input"]["seenRevision"]
    limits.spend(limits.FORKS, principal.participant_id)
    return opened_answer(call, worlds.open_world(principal, call.store, one, revision, wall=wall), {"rule": rule})


def open_world_of_poll(call: Call, poll: str) -> HttpResponse:
    """Answer `POST …/polls/<id>/world {"rule", "wall"?}`: the same, from what the poll's own decision saw."""
    principal = call.require(TEACHER)
    body = call.body(("rule", "wall"))
    one, wall = _rule(text_field(body, "rule", 40)), flag_field(body, "wall")
    row = votes.find(call.session.id, poll)
    if row is None:
        raise ApiError(
            404, "NotFound", said("poll.unknown", "there is no poll {poll!r}", poll=poll[:40]), name=poll[:40]
        )
    if row.state != votes.REVEALED or row.answer is None:
        raise ApiError(
            409,
            "Conflict",
            said("rule.revealFirst", "the engine has not said yet what is right: reveal the poll first"),
        )
    decision = (row.answer.get("explain") or {}).get("decision")
    # Who leads is decided by no attempt: such a world begins now.
    revision = _located(call, decision).envelope["input"]["seenRevision"] if decision else call.store.revision
    limits.spend(limits.FORKS, principal.participant_id)
    opened = worlds.open_world(principal, call.store, one, revision, wall=wall)
    return opened_answer(call, opened, {"rule": one.id})


def show_in_poll(call: Call, poll: str) -> HttpResponse:
    """Answer `POST …/polls/<id>/rule {"do"}`: walls show the world under the next rule, the one before, or none."""
    principal = call.require(TEACHER)
    do = call.body(("do",)).get("do")
    if do not in SHOWN:
        raise refuse(Cause("do", one_of(SHOWN)))
    stored, row = call.store.get(POLLS, "", poll), votes.find(call.session.id, poll)
    if stored is None or row is None:
        raise missing(POLLS, poll)
    decision = ((row.answer or {}).get("explain") or {}).get("decision")
    if row.state != votes.REVEALED or not decision:
        raise ApiError(
            409,
            "Conflict",
            said("rule.undecided", "the engine has decided nothing here: rules are compared once a poll is revealed"),
        )
    status = stored.object.get("status") or {}
    rules = status.get("rules") or _apart(call, decision, polls_telling.whole(stored, row, principal)["models"])
    if not rules:
        raise ApiError(
            409,
            "Conflict",
            said("rule.allAgree", "every rule comes to what the engine does here: there is no other world to show"),
        )
    at = rules.index(status["rule"]) if status.get("rule") in rules else -1
    wanted = "" if do == CLOSE else rules[(at + (1 if do == NEXT else -1 if at > 0 else 0)) % len(rules)]
    stored = polling.show_rule(call, stored, wanted, rules)
    return answer(polls_telling.whole(stored, row, principal))


def _apart(call: Call, decision: str, models: Mapping[str, int]) -> list[str]:
    """Return the rules that differ from the engine, the one that most votes believed first."""
    limits.spend(limits.WHAT_IFS, call.principal.participant_id)
    located = _located(call, decision)
    try:
        found = telling.apart(scene_at(call.past(), located.envelope))
    except Gone as error:
        raise opening.past_gone(located.envelope["input"]["seenRevision"], call.store.compacted) from error
    return sorted(found, key=lambda name: -models.get(name, 0))


def for_a_while(seconds: float) -> Callable[[], bool]:
    """Return what says whether so many real seconds from now are not over."""
    until = time.monotonic() + seconds
    return lambda: time.monotonic() < until


def _rule(name: str) -> Rule:
    found = RULES.get(name)
    if found is None:
        known: Any = ", ".join(RULES)
        raise ApiError(
            404,
            "NotFound",
            said("rule.unknown", "there is no rule {name!r}; there are {known}", name=name[:40], known=known),
            name=name[:40],
        )
    return found


def _located(call: Call, decision: str) -> Located:
    located = locate(call.store, decision)
    if located is None:
        raise unknown(decision)
    return located
