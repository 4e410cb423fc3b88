"""The scheduling cycle and the binding cycle of one pod, as generators.

A generator yields `Point` after each extension point (there it can be held) and an `Ask` for whatever only the loop can
do; the driver sends back a `Reply`. Of a run that nobody follows (`Run.followed`) it yields no points. Nothing else
differs between a cycle in slow motion and one at full speed.

    PreEnqueue QueueSort │ PreFilter Filter (PostFilter) PreScore Score │ Reserve Permit │ PreBind Bind PostBind
    said by the queue    │ scheduling cycle, one at a time                              │ binding cycle, many at once
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler_core.api.draw import draw_lot
from scheduler_core.extender.extending import KEY as EXTENDING
from scheduler_core.framework.asks import Ask, PatchPodStatus, RecordEvent, Reply, Spawn, WaitOnPermit
from scheduler_core.framework.events import ASSIGNED_POD_DELETE
from scheduler_core.framework.fit_error import event_note
from scheduler_core.framework.interface import PreFilterResult, Steps
from scheduler_core.framework.metrics import PERMIT_WAIT, POD_ATTEMPTS, SCHEDULE_ATTEMPTS
from scheduler_core.framework.status import SUCCESS, Code, Status, error, unresolvable, unschedulable
from scheduler_core.framework.verdicts import ABSENT, FilterOutcome
from scheduler_core.preemption.evaluator import why_not_eligible
from scheduler_core.preemption.steps import read_afresh
from scheduler_core.scheduler.peers import Core
from scheduler_core.scheduler.run import Point, Run
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.cache import CacheError

_Came = TypeVar("_Came")

Cycle = Generator["Point | Ask", "Reply | None", None]


class HasFollowUp(Protocol):
    """A PostFilter's detail that leaves work to be done after the decision (deleting victims)."""

    inline: bool
    """The cycle itself does it, before it ends; else it goes on beside the cycles."""

    def follow_up(self, core: Core) -> Steps | None:
        """Return the steps, None where nothing is left to do; asked before the pod is put back."""
        ...

    def nominated(self, node_name: str) -> None:
        """Take that the queue counts the pod on the node."""
        ...

    def nomination_written(self, node_name: str, refusal: str) -> None:
        """Take what came of the API call that sets the nomination; empty: it was done."""
        ...


def scheduling_cycle(core: Core, run: Run) -> Cycle:
    """Find a node for the pod and assume it there, or put the pod back with the reason."""
    yield from decide(core, run)
    core.searched(run)
    if run.result != "scheduled":
        yield from _give_up(core, run)
        return
    try:
        core.assume(run)
    except CacheError as known:
        if core.cache.is_assumed(run.uid):
            raise
        # Meanwhile the watch has shown the pod bound, by another scheduler: upstream's assume fails as well.
        _break(run, error(str(known)))
        yield from _give_up(core, run)
        return
    status = run.framework.run_reserve(run.state, run.info, run.chosen)
    if run.passed("Reserve"):
        yield run.here
    if not status.ok:
        yield from _undo(core, run, status)
        return
    status, waits = run.framework.run_permit(run.state, run.info, run.chosen)
    if status.code is Code.WAIT:
        run.waits = dict(waits)
        core.wait(run)
    if run.passed("Permit"):
        yield run.here
    if not status.ok and status.code is not Code.WAIT:
        yield from _undo(core, run, status)


def decide(core: Core, run: Run) -> Cycle:
    """Run the points from PreEnqueue to Score and choose; changes nothing but the run.

    Afterwards `run.result` says what came of it. This is all that a replay needs.
    """
    # The queue asked these two before it handed the pod out.
    if "preEnqueue" in run.framework.rules.extension_points and run.passed("PreEnqueue"):
        yield run.here
    if run.passed("QueueSort"):
        yield run.here
    if not len(run.snapshot):
        run.result, run.status = "no_nodes", unresolvable(run.framework.rules.no_nodes)
        run.message, run.nominated_node_name = run.framework.rules.no_nodes, ""
        return
    framework, state = run.framework, run.state
    if not (run.followed or run.extenders):
        again = framework.run_again(state, run.info, run.snapshot)
        if again is not None:
            run.pre_filter, run.outcome, run.scores = again
            run.passed("Score")
            _choose(core, run, run.outcome.feasible)
            return
    run.pre_filter, status, run.narrowing = framework.run_pre_filter(state, run.info, run.snapshot)
    run.pre_filter_status = status
    if run.passed("PreFilter"):
        yield run.here
    if not status.ok and not status.rejected:
        _break(run, status)
        return
    rows = np.zeros(0, dtype=np.intp)
    if status.ok:
        rows = yield from _filter(core, run, run.pre_filter)
        if run.passed("Filter"):
            yield run.here
        if run.status.code is Code.ERROR:
            return
    if not len(rows):
        yield from _post_filter(core, run)
        return
    if run.outcome is not None and (len(rows) > 1 or framework.rules.pre_score_of_one):
        status = framework.run_pre_score(state, run.info, run.snapshot, rows)
        if run.passed("PreScore"):
            yield run.here
        if len(rows) > 1:
            if status.ok:
                run.scores, status = framework.run_score(state, run.info, run.snapshot, run.outcome)
                if run.extenders and run.scores is not None:
                    yield from _steps(run.extending.prioritize(run.info, run.snapshot, run.scores))
            if run.passed("Score"):
                yield run.here
        if not status.ok:
            _break(run, status)
            return
        if not (run.followed or run.extenders):
            framework.learn(state, run.info, run.snapshot, run.outcome, run.scores)
    _choose(core, run, rows)


def _filter(core: Core, run: Run, left: PreFilterResult) -> Generator[Point | Ask, Reply | None, NDArray[np.intp]]:
    """Run Filter and the extenders, and return the feasible rows; one node's error breaks the attempt."""
    status = _search(core, run, left, nominated_first=run.framework.rules.nominated_first)
    assert run.outcome is not None
    if run.extenders:
        if status.ok:
            status = yield from _steps(run.extending.filter(run.info, run.outcome))
        if run.outcome.used_nominated_node and not (status.ok and len(run.outcome.feasible)):
            # An extender turned the nominated node away, or broke at it: all nodes have their turn.
            status = _search(core, run, left, nominated_first=False)
            if status.ok:
                status = yield from _steps(run.extending.filter(run.info, run.outcome))
    if not status.ok:
        _break(run, status)
    return run.outcome.feasible


def _search(core: Core, run: Run, left: PreFilterResult, *, nominated_first: bool) -> Status:
    """Run the filters; return the error that ends the search, or success."""
    run.outcome = run.framework.run_filter(
        run.state,
        run.info,
        run.snapshot,
        left,
        run.narrowing,
        percentage=core.percentage_of(run.framework),
        start=run.given.start,
        nominated_first=nominated_first,
    )
    if len(run.outcome.feasible) < len(run.snapshot):
        broken = run.outcome.cancel(run.given.start)
        if broken is not None:
            return run.outcome.status_of(broken)
    return SUCCESS


def _break(run: Run, status: Status) -> None:
    run.result, run.status, run.message = "error", status, status.message
    run.nominated_node_name = ""


def _post_filter(core: Core, run: Run) -> Cycle:
    """Nobody fits: let PostFilter try to make room, and word the failure."""
    outcome = run.outcome
    status = run.pre_filter_status
    if outcome is None:
        first = np.full(len(run.snapshot), ABSENT, dtype=np.int8)
        outcome = FilterOutcome(run.snapshot, (), {}, first, absent_status=status, processed=len(run.snapshot))
        run.unschedulable_plugins = frozenset({status.plugin} if status.plugin else run.narrowing)
        if status.code is Code.PENDING:
            run.pending_plugins, run.unschedulable_plugins = run.unschedulable_plugins, frozenset()
    else:
        rejectors = outcome.failed_plugins()
        run.unschedulable_plugins = (run.extending.rejectors(rejectors) if run.extenders else rejectors) | run.narrowing
        run.pending_plugins = frozenset(outcome.status_of(row).plugin for row in outcome.rows_with(Code.PENDING))
        run.unschedulable_plugins -= run.pending_plugins
    text = ""
    fits = run.outcome is not None or run.framework.rules.pre_filter_fits
    if fits and run.framework.profile.at("postFilter"):
        core.before_post_filter(run)
        preemptor = read_afresh(run.state, run.info) or run.info
        nominated = run.snapshot.row_of.get(preemptor.pod.status.nominated_node_name)
        tried = SUCCESS if nominated is None else outcome.status_of(nominated)
        run.eligible = not why_not_eligible(preemptor, run.snapshot, tried)
        if run.extenders:
            run.state.write(EXTENDING, run.extending)
        steps = run.framework.run_post_filter(run.state, run.info, outcome)
        run.post_filter, run.post_filter_status = yield from _steps(steps)
        text = run.post_filter_status.message
        if run.post_filter is not None:
            run.nominated_node_name = run.post_filter.nominated_node_name
    run.result = "unschedulable"
    rules = run.framework.rules
    if rules.node_fit_error is not None and run.outcome is not None:
        run.message = rules.node_fit_error(run.info.pod.name, outcome)
    else:
        run.message = rules.fit_error(
            len(run.snapshot),
            {} if run.outcome is None else outcome.reasons(),
            pre_filter=status.message if run.outcome is None else "",
            post_filter=text,
        )
    run.status = unschedulable(run.message)
    if run.passed("PostFilter"):
        yield run.here


def _choose(core: Core, run: Run, feasible: NDArray[np.intp]) -> None:
    """Take the best node; among equals a keyed lot decides over their names in order."""
    scores, snapshot = run.scores, run.snapshot
    if scores is not None and scores.ranking is not None:
        run.best_count = scores.ranking.count
        row = scores.ranking.row(_lot(core, run))
    else:
        best = feasible if scores is None else scores.best()
        run.best_count = len(best)
        row = snapshot.by_name.nth(best, _lot(core, run))
    run.chosen = snapshot.names[row]
    run.result = "scheduled"


def _lot(core: Core, run: Run) -> int:
    """Return which of the best is taken."""
    if run.best_count < 2:
        return 0
    run.draw = draw_lot(core.seed, run.uid, run.given.attempt, below=run.best_count)
    return run.draw


def _undo(core: Core, run: Run, status: Status) -> Cycle:
    """Reserve, Permit or the binding said no: give everything back, in reverse order, and put the pod back."""
    run.framework.run_unreserve(run.state, run.info, run.chosen)
    core.forget(run)
    if not status.rejected:
        # What the assumed pod took is free again: others may fit, this one too.
        core.queue.move(ASSIGNED_POD_DELETE, run.assumed, None, core.now_ms)
        _break(run, status)
        yield from _give_up(core, run)
        return
    run.result, run.status, run.nominated_node_name = "unschedulable", status, ""
    rules = run.framework.rules
    if rules.refusal is None:
        run.message = rules.fit_error(1, Counter(status.reasons))
    else:
        run.message = rules.refusal(run.info.pod.name, status, bool(run.waits))
    if status.code is Code.PENDING:
        run.pending_plugins = frozenset({status.plugin})
    else:
        run.unschedulable_plugins = frozenset({status.plugin} if status.plugin else ())
    yield from _give_up(core, run)
    # After the pod is back, so that its own release does not wake it.
    core.queue.move(ASSIGNED_POD_DELETE, run.assumed, None, core.now_ms, spare_uid=run.uid)


def _give_up(core: Core, run: Run) -> Cycle:
    """Put the pod back, say why in its condition and in an Event, and start what PostFilter left to do."""
    rejected = run.result in ("unschedulable", "no_nodes")
    if core.metrics is not None:
        core.metrics.count(SCHEDULE_ATTEMPTS, "unschedulable" if rejected else "error", run.framework.name)
    detail = run.post_filter.detail if run.post_filter is not None else None
    # Asking the protocol itself takes longer than all the rest here.
    left: HasFollowUp | None = detail if hasattr(detail, "follow_up") else None
    steps = None if left is None else left.follow_up(core)
    current = core.put_back(run)
    node_name = run.nominated_node_name
    if current is not None:
        if left is not None and node_name:
            left.nominated(node_name)
        yield RecordEvent(current.pod, "Warning", "FailedScheduling", "Scheduling", event_note(run.message))
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable" if rejected else "SchedulerError",
            "message": run.message,
        }
        reply = yield PatchPodStatus(current.pod, condition, node_name, awaited=bool(node_name))
        if left is not None and node_name:
            left.nomination_written(node_name, reply.error if reply is not None else "")
    if steps is None:
        return
    if left is None or not left.inline:
        yield Spawn("preemption", steps)
    elif current is not None:
        yield from _steps(steps)


def binding_cycle(core: Core, run: Run) -> Cycle:
    """Wait for Permit, then bind; on failure undo everything."""
    if run.waits:
        began_ms = core.now_ms
        reply = yield WaitOnPermit(run.uid)
        core.waiting.remove(run.uid)
        if core.metrics is not None:
            code = Code.UNSCHEDULABLE if reply is not None and reply.error else Code.SUCCESS
            core.metrics.observe(PERMIT_WAIT, (core.now_ms - began_ms) / 1000, code.wire)
        if reply is not None and reply.error:
            yield from _undo(core, run, unschedulable(reply.error).by(str(reply.value or "")))
            return
    # From here on a failure is an error, and errors wait for no event: the queue need keep none.
    core.queue.done(run.uid)
    assert run.assumed is not None
    if run.framework.prepares_binding(run.state, run.assumed):
        status = yield from _steps(run.framework.run_pre_bind(run.state, run.assumed, run.chosen))
        if not status.ok:
            yield from _undo(core, run, status)
            return
    if run.passed("PreBind"):
        yield run.here
    status = yield from _bind(run, run.assumed)
    if not status.ok:
        yield from _undo(core, run, status if not status.skipped else Status(Code.ERROR, status.reasons, status.plugin))
        return
    run.bound = True
    core.cache.finish_binding(run.uid, core.now_ms)
    if core.metrics is not None:
        core.metrics.count(SCHEDULE_ATTEMPTS, "scheduled", run.framework.name)
        core.metrics.observe(POD_ATTEMPTS, run.given.attempt)
    pod = run.info.pod
    note = run.framework.rules.scheduled_note(pod.namespace, pod.name, run.chosen)
    yield RecordEvent(pod, "Normal", "Scheduled", "Binding", note)
    if run.passed("Bind"):
        yield run.here
    run.framework.run_post_bind(run.state, run.assumed, run.chosen)
    if run.passed("PostBind"):
        yield run.here


def _bind(run: Run, assumed: PodInfo) -> Generator[Point | Ask, Reply | None, Status]:
    """Bind: an extender that does so comes before the plugins."""
    if run.extenders:
        status = yield from _steps(run.extending.bind(run.info, run.chosen))
        if not status.skipped:
            run.bound_outside = status.ok
            return status
    return (yield from _steps(run.framework.run_bind(run.state, assumed, run.chosen)))


def _steps(steps: Generator[Ask, Reply, _Came]) -> Generator[Point | Ask, Reply | None, _Came]:
    """Hand asks on and replies back; return what the steps come to."""
    try:
        ask = next(steps)
        while True:
            reply = yield ask
            ask = steps.send(reply if reply is not None else Reply())
    except StopIteration as stop:
        came: _Came = stop.value
        return came
