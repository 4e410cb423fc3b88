"""How a poll goes: time is held and the options made, rounds close and open, the engine's own cycle judges.

The object in the log says how far a poll has come, for every page; the row beside it is what votes meet, so that no
vote is counted after a round ended. Seals follow the object: they are there before time is held.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from clustersim.classroom import writing
from clustersim.classroom.auth import Principal
from clustersim.classroom.polls import asking, judging, votes
from clustersim.classroom.polls.models import Poll
from clustersim.classroom.roles import guard_for
from clustersim.runtime import commands
from clustersim.sessionapi.http import Call, refuse
from controllers.kinds.clustersim.poll import RESOURCE as POLLS
from controllers.log.operations import Create, Delete, Operation, Patch
from controllers.log.stamps import unix_ms_of
from controllers.log.store import Gone, Stored
from controllers.predicates import Moment, Predicate, View
from controllers.rules.deciding import scene_of
from controllers.rules.diagnosing import models_of
from controllers.rules.rule import OTHER
from controllers.rules.table import RULES
from controllers.scheduler.decisions import whole
from controllers.scheduler.past import Past
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, missing
from scheduler_core.api.said import said
from scheduler_core.framework.profile import ProfileError
from scheduler_core.snapshot.node_info import PodInfo

CLOCKS: Final = "clocks.clustersim.io"
CLOCK: Final = "clock"
REPLICAS: Final = "replicas.clustersim.io"
LEASES: Final = "leases.coordination.k8s.io"
LEASE_NAMESPACE: Final = "kube-system"

BEFORE_PREFILTER, NOW, PAPER = "before-prefilter", "now", "paper"
HOLDS: Final = (BEFORE_PREFILTER, NOW)
"""Ways of asking in which time stands until the reveal."""

_ABOUT_A_POD: Final = ("node", "victims")


@dataclass
class Asked:
    """A poll as it was asked for; see docs/session-api.md."""

    kind: str
    pod: str = ""
    component: str = ""
    question: Document = field(default_factory=dict)
    options: list[Document] = field(default_factory=list)
    because: list[Document] | None = None
    hold: str | None = None
    limit: int = 0
    models: dict[str, str] = field(default_factory=dict)
    alone: bool = False
    lesson: Document | None = None


# -- opening ----------------------------------------------------------------------------------------------------------


def open_poll(call: Call, principal: Principal, asked: Asked) -> tuple[Stored, Poll]:
    """Ask a class: seal, let time stand, make the options, open the first round.

    Raises:
        ApiError: 404, 409, 422 as docs/session-api.md says; 503, the owner does not obey. Nothing is left then.
    """
    pod = _pod_of(call, asked)
    hold = asked.hold or (BEFORE_PREFILTER if pod is not None and not pod.pod.spec.node_name else NOW)
    if hold == BEFORE_PREFILTER and (not asked.pod or (pod is not None and pod.pod.spec.node_name)):
        raise refuse(
            Cause(
                "hold",
                said("poll.notWaiting", "only a pod that waits for a node comes in hand: give now, or another pod"),
            )
        )
    if votes.open_poll(principal.session_id) is not None:
        raise votes.busy()
    spec = {
        "kind": asked.kind,
        "pod": asked.pod,
        "question": asked.question,
        "options": [_shown(option) for option in asked.options],
        "because": asked.because or [],
        "hold": hold,
        "limit": asked.limit,
        "alone": asked.alone,
        "node": "" if pod is None else pod.pod.spec.node_name,
        **({} if asked.lesson is None else {"lesson": asked.lesson}),
    }
    document = {"apiVersion": "clustersim.io/v1", "kind": "Poll", "metadata": {"generateName": "poll-"}, "spec": spec}
    stored = _write(call, Create(POLLS, "", document))
    secret = {
        "since": stored.revision,
        "models": {**asked.models, **{one["id"]: one["model"] for one in asked.options if one.get("model")}},
        "predicates": {one["id"]: one["right"] for one in asked.options if one.get("right")},
        "component": asked.component,
        "beganMs": call.store.session_ms(),
    }
    row: Poll | None = None
    try:
        row = votes.create(principal.session_id, stored.name, secret)
        stored = _tell(call, stored.name, {"state": votes.OPENING, "round": 1, "seals": True})
        stand(call, stored.name, asked.pod if hold == BEFORE_PREFILTER else "", hold)
        stored = _with_options(call, stored, row, asked)
        votes.begin_round(row, 1, asked.limit)
        stored = _tell(call, stored.name, _round_of(row))
    except BaseException:
        remove(call, stored, row)
        raise
    return stored, row


def _pod_of(call: Call, asked: Asked) -> PodInfo | None:
    if asked.kind in _ABOUT_A_POD and not asked.pod:
        raise refuse(Cause("pod", said("poll.needsPod", "give pod=<namespace>/<name>: this kind of poll is about one")))
    if not asked.pod:
        return None
    found = next((info for info in call.past().pods if info.key == asked.pod), None)
    if found is None and asked.kind in _ABOUT_A_POD:
        raise missing("pods", asked.pod.partition("/")[2] or asked.pod)
    if found is not None and found.pod.spec.node_name and asked.kind in _ABOUT_A_POD:
        raise refuse(
            Cause(
                "pod",
                said(
                    "poll.hasNode",
                    "{pod} has a node already, so nothing decides about it: give one that waits",
                    pod=asked.pod,
                ),
            )
        )
    return found


def stand(call: Call, name: str, pod: str, hold: str) -> None:
    """Let time stand: now, or when the pod comes in hand; return when it does, or when that takes too long.

    Raises:
        ApiError: 503, the owner does not obey.
    """
    if hold == NOW:
        _command(call, {"paused": True})
    if hold != BEFORE_PREFILTER:
        return
    clock = call.store.get(CLOCKS, "", CLOCK)
    # A lesson has brought it there already: time need not go on for it.
    held = clock is not None and is_held(clock.object, pod)
    _command(call, {"paused": held, "hold": {"id": name, "pod": pod}})
    session_id = call.principal.session_id
    commands.wait_until(session_id, CLOCKS, CLOCK, lambda clock: is_held(clock, pod))


def is_held(clock: Document, pod: str) -> bool:
    """Return whether time stands with this pod in hand."""
    return ((clock.get("status") or {}).get("held") or {}).get("pod") == pod


def _with_options(call: Call, stored: Stored, row: Poll, asked: Asked) -> Stored:
    """Make the options of what the scheduler sees now, and note what it would do."""
    past = call.past()
    options = [_shown(option) for option in asked.options]
    pod = next((info for info in past.pods if info.key == asked.pod), None)
    if asked.kind in _ABOUT_A_POD and pod is not None:
        result = asking.forecast(past, pod)
        if result is not None:
            row.secret["forecast"] = judging.rights(asked.kind, result)
        make = asking.node_options if asked.kind == "node" else asking.victim_options
        options = make(past, pod, result)
        row.secret["models"] = {**_believed(past, pod, asked.kind, options), **row.secret["models"]}
    elif asked.kind == "leader":
        options = asking.leader_options((one.object for one in call.store.list(REPLICAS)[0]), asked.component)
    if len(options) < 2:
        raise refuse(
            Cause(
                "kind", said("poll.noOptions", "there is nothing to choose from: add what the question is about first")
            )
        )
    spec: Document = {"options": options}
    if asked.because is None:
        spec["because"] = _reasons(row.secret["models"].values())
    return _write(call, Patch(POLLS, "", stored.name, {"spec": spec}))


def _reasons(believed: Iterable[str]) -> list[Document]:
    """Return the reasons of the rules that options follow, in the table's order: nothing of them tells which option."""
    wanted = {OTHER, *believed}
    found = [name for name in RULES if name in wanted]
    return [{"id": name, "label": dict(RULES[name].because)} for name in found] if len(found) > 1 else []


def _believed(past: Past, pod: PodInfo, kind: str, options: list[Document]) -> dict[str, str]:
    """Return option → the rule that gives it; nothing where the scheduler cannot say."""
    try:
        return models_of(scene_of(past, pod.uid), kind, [one["id"] for one in options])
    except (Gone, ApiError, ProfileError, KeyError):
        return {}


def _shown(option: Document) -> Document:
    """Return what of an option may be read by everybody."""
    return {name: option[name] for name in ("id", "label", "facts") if name in option}


# -- rounds -----------------------------------------------------------------------------------------------------------


def close(call: Call, stored: Stored, row: Poll) -> tuple[Stored, Poll]:
    """End the round."""
    votes.move(row, votes.CLOSED)
    return _tell(call, stored.name, _round_of(row)), row


def reopen(call: Call, stored: Stored, row: Poll) -> tuple[Stored, Poll]:
    """Begin the second round; what was said in the first stays counted there."""
    votes.begin_round(row, row.round + 1, int(stored.object["spec"].get("limit") or 0))
    return _tell(call, stored.name, _round_of(row)), row


def _round_of(row: Poll) -> Document:
    return {"state": row.state, "round": row.round, "seals": row.state in votes.SEALING, "openedMs": row.opened_ms,
            "endsMs": row.ends_ms}  # fmt: skip


# -- the reveal -------------------------------------------------------------------------------------------------------


def check_learner(stored: Stored, row: Poll, principal: Principal) -> None:
    """Refuse the reveal to somebody who learns alone and has not said what they think.

    Raises:
        ApiError: 409.
    """
    spec = stored.object["spec"]
    if not spec.get("alone"):
        return
    given = votes.of_person(row, principal.participant_id)
    if not given:
        raise ApiError(
            409, "Conflict", said("poll.chooseFirst", "choose an answer first: then the engine says what it does")
        )
    if spec.get("because") and not given[-1].because:
        raise ApiError(409, "Conflict", said("poll.whyFirst", "say why first: then the engine says what it does"))


def reveal(call: Call, stored: Stored, row: Poll, *, goes_on: bool = True) -> tuple[Stored, Poll]:
    """End the votes, break the seal, let time go on, and judge as soon as the engine has decided.

    Args:
        call: the request.
        stored: the poll in the log.
        row: the poll beside it.
        goes_on: whether time goes on; a lesson lets it run itself, and has the poll judged when it has waited.
    """
    if row.state not in votes.DONE:
        row.secret["revealedMs"] = call.store.session_ms()
        row.save(update_fields=["secret"])
        votes.move(row, votes.REVEALED)
        stored = _tell(call, stored.name, _round_of(row))
    hold = stored.object["spec"].get("hold")
    if hold in HOLDS:
        release(call, stored.name, goes_on=goes_on)
    if not goes_on:
        return stored, row
    spec = stored.object["spec"]
    if spec["pod"] and (spec["kind"] in _ABOUT_A_POD or hold == BEFORE_PREFILTER) and hold in HOLDS:
        _wait_for(call, row, spec)
    return judge(call, stored, row)


def release(call: Call, name: str, *, goes_on: bool) -> None:
    """Let go of what a poll held; time goes on, or stands as it does."""

    def mutate(document: Document) -> None:
        spec = document.setdefault("spec", {})
        if (spec.get("hold") or {}).get("id") == name:
            spec["hold"] = None
        spec["paused"] = not goes_on

    _ask_clock(call, mutate)


def _wait_for(call: Call, row: Poll, spec: Document) -> None:
    """Wait until the cycle has decided, for a few seconds: at a slow pace the answer comes later."""
    uid = _uid_of(call, spec["pod"])
    session_id = call.principal.session_id

    def decided(_: Document) -> bool:
        return _trace(call, uid, row, spec) is not None

    if uid:
        commands.wait_until(session_id, CLOCKS, CLOCK, decided)


def judge(call: Call, stored: Stored, row: Poll) -> tuple[Stored, Poll]:
    """Say what is right, if the engine has said it; the poll is as it was if it has not yet."""
    spec = stored.object["spec"]
    told: dict[str, Any] | None = None
    if spec["kind"] == "choice":
        told = _chosen(call, spec, row)
    elif spec["kind"] in _ABOUT_A_POD:
        uid = _uid_of(call, spec["pod"])
        found = _trace(call, uid, row, spec) if uid else None
        told = None if found is None else judging.answer_of(spec["kind"], whole(call.past(), *found))
    else:
        holder = _leader_since(call, row.secret["component"], row.secret["revealedMs"])
        told = None if holder is None else judging.answer_of_leader(holder)
    if told is None:
        return stored, row
    return note(call, stored, row, told)


def _chosen(call: Call, spec: Document, row: Poll) -> dict[str, Any] | None:
    """Return what is told of a poll of predicates; None: the pod that it held has not been decided on yet."""
    uid = _uid_of(call, spec["pod"]) if spec.get("pod") else ""
    found = _trace(call, uid, row, spec) if uid else None
    if uid and found is None and spec.get("hold") == BEFORE_PREFILTER:
        return None
    view = View(call.store, Moment(call.store.session_ms(), row.secret.get("beganMs", 0)))
    wanted = row.secret["predicates"]
    right = [name for name in wanted if Predicate.compile(wanted[name]).holds(view)]
    return judging.answer_of_options(right, "" if found is None else found[0]["id"])


def note(call: Call, stored: Stored, row: Poll, told: dict[str, Any]) -> tuple[Stored, Poll]:
    """Keep what is right, and tell it in the log."""
    if not Poll.objects.filter(pk=row.pk, answer__isnull=True).update(answer=told):
        row.refresh_from_db()
        return stored, row
    row.answer = told
    return _tell(call, stored.name, {"right": told["right"], "chosen": told["chosen"]}), row


def _uid_of(call: Call, pod: str) -> str:
    namespace, _, name = pod.partition("/")
    stored = call.store.get("pods", namespace, name)
    return "" if stored is None else stored.uid


def _trace(call: Call, uid: str, row: Poll, spec: Document) -> tuple[dict[str, Any], bytes] | None:
    """Return the attempt that decides: the first since the poll was opened; the newest where time was not held."""
    found = [one for one in call.store.traces(uid) if one[0]["revision"] > row.secret["since"]]
    return None if not found else found[-1] if spec.get("hold") in HOLDS else found[0]


def _leader_since(call: Call, component: str, since_ms: int) -> str | None:
    """Return who renewed the lease of a component after a moment; None: nobody has."""
    stored = call.store.get(LEASES, LEASE_NAMESPACE, component)
    if stored is None:
        return None
    spec = stored.object["spec"]
    renewed = spec.get("renewTime")
    if not renewed or unix_ms_of(renewed) - call.store.epoch_ms <= since_ms:
        return None
    return str(spec.get("holderIdentity") or "")


# -- taking back ------------------------------------------------------------------------------------------------------


def end(call: Call, stored: Stored, row: Poll) -> tuple[Stored, Poll]:
    """End the showing of a poll that is revealed; what was voted stays."""
    votes.move(row, votes.OVER)
    return _tell(call, stored.name, {**_round_of(row), "rule": ""}), row


def show_rule(call: Call, stored: Stored, rule: str, rules: Sequence[str]) -> Stored:
    """Show the class the world under a rule, one of those that differ from the engine; empty: no longer."""
    return _tell(call, stored.name, {"rule": rule, "rules": list(rules)})


def remove(call: Call, stored: Stored, row: Poll | None) -> None:
    """Take a poll back: the hold, the votes, the object. Time stands where it stood."""
    clock = call.store.get(CLOCKS, "", CLOCK)
    if clock is not None and ((clock.object.get("spec") or {}).get("hold") or {}).get("id") == stored.name:
        release(call, stored.name, goes_on=False)
    if row is not None:
        votes.remove(row.session_id, row.name)
    if call.store.get(POLLS, "", stored.name) is not None:
        _write(call, Delete(POLLS, "", stored.name))


# -- writing ----------------------------------------------------------------------------------------------------------


def _command(call: Call, wanted: Document) -> Document:
    return _ask_clock(call, lambda document: document.setdefault("spec", {}).update(wanted))


def _ask_clock(call: Call, mutate: Any) -> Document:
    principal = call.principal
    guard = guard_for(principal, commands=True)
    return commands.ask(principal.session_id, CLOCKS, CLOCK, mutate, actor=principal.actor, guard=guard)


def _tell(call: Call, name: str, status: Document) -> Stored:
    return _write(call, Patch(POLLS, "", name, {"status": status}, "merge", "status"))


def _write(call: Call, operation: Operation) -> Stored:
    """Write a poll's object in the name of whoever asks; roles were checked by the route."""
    context = writing.web_context(call.principal.actor, call.store, creator=call.principal.creator)
    try:
        return writing.apply(call.store, operation, context)
    except ApiError as error:
        if not error.causes:
            raise
        raise refuse(*(replace(one, field=one.field.removeprefix("spec.")) for one in error.causes)) from error
