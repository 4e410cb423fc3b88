"""Drives cycles: carries out what they ask for, holds them at their points, lets one at a time be in hand.

A *job* is a generator under way. Only one job may be *in hand*: the scheduling cycle, and its binding cycle too while
it is told point by point. Everything else (bindings at full speed, waits at Permit, victims being deleted) runs beside.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from controllers.kit.recorder import Recorder
from controllers.log.operations import Patch
from controllers.loop.loop import Answer, Tick
from controllers.scheduler.asking import DONE, bind_operation, delete_operation, record, reply_of, status_operation
from scheduler_core.framework.asks import (
    Ask,
    BindPod,
    Call,
    CallExtenders,
    DeletePod,
    PatchObject,
    PatchPodStatus,
    RecordEvent,
    Reply,
    Sleep,
    Spawn,
    WaitOnPermit,
)
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.cycle import binding_cycle, scheduling_cycle
from scheduler_core.scheduler.run import Point, Run

PERMIT_TIMER: Final = ("scheduler", "permit")
"""Fires when the first waiting pod's time is up."""

SLEEP_TIMER: Final = ("scheduler", "sleep")
"""Fires when the first sleeping job goes on."""

POINT_TIMER: Final = ("scheduler", "point")
"""Fires when the cycle in hand goes on."""

STOP_POINT: Final = "QueueSort"
"""The last extension point before PreFilter: here a pod that is to be stopped stays, and nothing is known of nodes."""


@dataclass(slots=True, eq=False)
class Job:
    """One generator under way. Emitted operations carry it as their token."""

    steps: Generator[Any, Any, Any]
    run: Run | None = None
    narrated: bool = False
    """It is told point by point: it rests at every point for the pace."""
    binding: bool = False
    begun_ms: int = 0
    """When the attempt began."""
    rests: bool = False
    """It rests at a point."""
    due_ms: int = 0
    """When it goes on from there."""
    slept: bool = False
    """It has waited for time, so that its trace is written already."""
    pending: Ask | None = None
    """An ask that a resumed job has come to, not carried out yet."""
    calls: Sequence[Call] = ()
    """Calls to extenders that it waits for; `records` are their answers so far."""
    records: list[Any] = field(default_factory=list)
    told_of: Run | None = None
    """The attempt that left these steps to be done beside it: its trace tells how they went."""


class Called(NamedTuple):
    """Token of a call to an extender: whose, and which of those that the job waits for."""

    job: Job
    number: int


class Driver:
    """Runs jobs of one scheduler. `tick` is valid only during a call."""

    def __init__(
        self,
        scheduler: Scheduler,
        recorder: Recorder,
        *,
        on_point: Callable[[Job, Tick], None],
        on_outcome: Callable[[Run, str, Tick], None],
        on_idle: Callable[[Tick], None],
    ) -> None:
        """Begin with no job.

        Args:
            scheduler: what the cycles are about.
            recorder: writes Events.
            on_point: called when a told cycle rests at a point.
            on_outcome: called with the point where an attempt stands when it has decided: it is put back, waits at
                Permit, or is about to be bound; and again if that fails.
            on_idle: called when nothing is in hand any more.
        """
        self.scheduler = scheduler
        self.hand: Job | None = None
        self.bindings: dict[str, Job] = {}
        """uid → job between the decision and the end of the binding, waits at Permit included."""
        self.pace_ms = 0
        self.hold = False
        """Rest at every point until told to go on: what a standing clock and stepping ask for."""
        self.stop_at = ""
        """The pod (`namespace/name`) whose cycle stays before PreFilter until this is another; empty: none does."""
        self.points = 0
        """Points that told cycles have passed; grows for ever."""
        self.cycles = 0
        """Scheduling cycles that have ended; grows for ever."""
        self._recorder = recorder
        self._on_point = on_point
        self._on_outcome = on_outcome
        self._on_idle = on_idle
        self._waits: dict[str, Job] = {}
        self._asleep: list[tuple[int, Job]] = []
        """(when it goes on, job), in order of falling asleep."""

    # Scheduling cycles.

    def begin(self, run: Run, tick: Tick, *, narrated: bool) -> None:
        """Take a new attempt in hand and drive it."""
        job = Job(scheduling_cycle(self.scheduler, run), run, narrated, begun_ms=tick.now_ms)
        self.hand = job
        self._drive(job, None, tick)

    def go_on(self, tick: Tick) -> None:
        """Let the cycle in hand leave the point where it rests."""
        job = self.hand
        if job is not None and job.rests and not self.stays:
            job.narrated = self.pace_ms > 0 or self.hold
            job.rests = False
            self._drive(job, None, tick)

    @property
    def stays(self) -> bool:
        """Return whether the cycle in hand rests before PreFilter because its pod is to be stopped there."""
        job = self.hand
        return job is not None and job.rests and self._stops(job.run)

    def _stops(self, run: Run | None) -> bool:
        """Return whether an attempt has come to the place at which it is to stop."""
        if not self.stop_at or run is None or run.info.key != self.stop_at:
            return False
        return run.point == run.framework.rules.point(STOP_POINT)

    def resume(self, run: Run, point: str, tick: Tick) -> None:
        """Run an attempt again up to a point and rest there, as its former owner had left it."""
        job = Job(scheduling_cycle(self.scheduler, run), run, narrated=True, begun_ms=run.given.now_ms)
        self.hand = job
        while run.point != point and job.pending is None:
            if not self._advance_to_point(job):
                break
        self._rest(job, tick)

    def bind_again(self, run: Run, tick: Tick) -> None:
        """Go on with a pod that a former owner had left waiting at Permit."""
        job = Job(binding_cycle(self.scheduler, run), run, binding=True, begun_ms=tick.now_ms)
        self.bindings[run.uid] = job
        self._drive(job, None, tick)

    def _advance_to_point(self, job: Job) -> bool:
        """Run a resumed job silently to its next point; an ask on the way is kept for `_drive`."""
        try:
            item = next(job.steps)
        except StopIteration:
            return self._turn_to_binding(job)
        if isinstance(item, Point):
            return True
        job.pending = item
        return True

    # Jobs.

    def _drive(self, job: Job, reply: Reply | None, tick: Tick) -> None:
        """Run a job until it rests, waits or ends."""
        self.scheduler.now_ms = tick.now_ms
        if job.run is not None:
            job.run.followed = job.narrated or bool(self.stop_at)
        while True:
            item: Any = job.pending
            if item is not None:
                job.pending = None
            else:
                try:
                    item = job.steps.send(reply)
                except StopIteration:
                    if not self._end(job, tick):
                        return
                    reply = None
                    continue
            if isinstance(item, Point):
                reply = None
                if job.narrated or self._stops(job.run):
                    self._rest(job, tick)
                    return
                continue
            reply = self._carry_out(job, item, tick)
            if reply is None:
                return

    def _rest(self, job: Job, tick: Tick) -> None:
        self.points += 1
        job.rests = True
        self._plan_point(job, tick)
        self._on_point(job, tick)

    def _plan_point(self, job: Job, tick: Tick) -> None:
        job.due_ms = tick.now_ms if self.hold or self.stays else tick.now_ms + self.pace_ms
        if not self.hold and not self.stays:
            tick.plan(POINT_TIMER, job.due_ms)

    def retell(self, tick: Tick) -> None:
        """Plan anew when the resting cycle goes on: the pace has changed, or the clock runs again."""
        if self.hand is not None and self.hand.rests:
            tick.cancel(POINT_TIMER)
            self._plan_point(self.hand, tick)

    def _end(self, job: Job, tick: Tick) -> bool:
        """A generator is through: return whether the job goes on as a binding cycle."""
        if not job.binding and job.run is not None:
            if self._turn_to_binding(job):
                # Told bindings stay in hand, unless Permit makes the pod wait.
                if not job.narrated or job.run.waits:
                    job.narrated = False
                    self._let_go(job, tick)
                return True
            self._on_outcome(job.run, job.run.point, tick)
        elif job.run is not None:
            self.bindings.pop(job.run.uid, None)
            if not job.run.bound or job.run.bound_outside:
                self._on_outcome(job.run, job.run.point, tick)
        elif job.told_of is not None:
            self._on_outcome(job.told_of, job.told_of.point, tick)
        self._let_go(job, tick)
        return False

    def _turn_to_binding(self, job: Job) -> bool:
        run = job.run
        if job.binding or run is None or run.result != "scheduled":
            return False
        job.steps = binding_cycle(self.scheduler, run)
        job.binding = True
        self.bindings[run.uid] = job
        return True

    def _let_go(self, job: Job, tick: Tick) -> None:
        if self.hand is job:
            self.hand = None
            self.cycles += 1
            tick.cancel(POINT_TIMER)
            self._on_idle(tick)

    # Asks.

    def _carry_out(self, job: Job, ask: Ask, tick: Tick) -> Reply | None:
        """Do what is asked; return the reply, or None when it comes later."""
        match ask:
            case BindPod():
                if job.run is not None:
                    # In one transaction with the binding: whoever sees the pod on its node can ask why.
                    self._on_outcome(job.run, "Bind", tick)
                tick.emit(bind_operation(ask), job)
                return None
            case RecordEvent():
                record(self._recorder, ask, tick)
                return DONE
            case PatchPodStatus():
                return self._patch_status(job, ask, tick)
            case DeletePod():
                tick.emit(delete_operation(ask), job)
                return None
            case PatchObject():
                patch = Patch(ask.resource, ask.namespace, ask.name, dict(ask.patch), "merge", ask.subresource)
                tick.emit(patch, job)
                return None
            case Sleep():
                self._sleep(job, ask, tick)
                return None
            case WaitOnPermit():
                return self._wait(job, ask, tick)
            case CallExtenders():
                self._call(job, ask, tick)
                return None
            case Spawn():
                beside = Job(ask.steps)
                self._drive(beside, None, tick)
                beside.told_of = job.run
                return DONE

    def _patch_status(self, job: Job, ask: PatchPodStatus, tick: Tick) -> Reply | None:
        latest = self.scheduler.pods.get(ask.pod.uid)
        pod = ask.pod if latest is None else latest.pod
        operation = status_operation(ask, pod, tick.epoch_ms + tick.now_ms)
        if operation is None:
            return DONE
        tick.emit(operation, job if ask.awaited else None)
        return None if ask.awaited else DONE

    def _call(self, job: Job, ask: CallExtenders, tick: Tick) -> None:
        if job.binding and job.run is not None:
            # The extender's own write may be seen before its answer.
            self._on_outcome(job.run, "Bind", tick)
        job.calls, job.records = ask.calls, [None] * len(ask.calls)
        for index, call in enumerate(ask.calls):
            tick.call(call, Called(job, index))
        if job.narrated:
            self._on_point(job, tick)

    def settle(self, answer: Answer, tick: Tick) -> None:
        """Take the result of an operation that a job waits for."""
        token = answer.token
        if isinstance(token, Job):
            self._drive(token, reply_of(answer.result), tick)
        elif isinstance(token, Called):
            job = token.job
            job.records[token.number] = answer.result.object
            if None not in job.records:
                job.calls = ()
                self._drive(job, Reply(value=job.records), tick)

    # Waiting for time: it is nothing that stepping could pass, so other pods have their turn meanwhile.

    def _sleep(self, job: Job, ask: Sleep, tick: Tick) -> None:
        self._asleep.append((tick.now_ms + ask.ms, job))
        tick.plan(SLEEP_TIMER, min(due_ms for due_ms, _ in self._asleep))
        if job.run is not None and not job.slept:
            self._on_outcome(job.run, job.run.point, tick)
        job.slept = True
        job.narrated = False
        self._let_go(job, tick)

    def wake(self, tick: Tick) -> None:
        """Let jobs go on that have slept long enough."""
        due = [job for due_ms, job in self._asleep if due_ms <= tick.now_ms]
        if due:
            self._asleep = [entry for entry in self._asleep if entry[0] > tick.now_ms]
            for job in due:
                self._drive(job, DONE, tick)
        if self._asleep:
            tick.plan(SLEEP_TIMER, min(due_ms for due_ms, _ in self._asleep))

    # Permit.

    def _wait(self, job: Job, ask: WaitOnPermit, tick: Tick) -> Reply | None:
        waiting = self.scheduler.waiting.get(ask.uid)
        if waiting is None:
            return DONE
        if waiting.is_decided:
            return Reply(waiting.reason, waiting.rejected_by)
        self._waits[ask.uid] = job
        if job.run is not None:
            self._on_outcome(job.run, job.run.point, tick)
        self._plan_permit(tick)
        return None

    def check_waits(self, tick: Tick) -> None:
        """Let pods go on whose wait is decided, by a word, a deletion or the clock."""
        if not self._waits:
            return
        waiting = self.scheduler.waiting
        waiting.expire(tick.now_ms)
        for uid in list(self._waits):
            held = waiting.get(uid)
            if held is None or held.is_decided:
                job = self._waits.pop(uid)
                reason, plugin = ("removed", "") if held is None else (held.reason, held.rejected_by)
                self._drive(job, Reply(reason, plugin), tick)
        self._plan_permit(tick)

    def _plan_permit(self, tick: Tick) -> None:
        due = [held.next_timeout_ms for held in self.scheduler.waiting.listed()]
        times = [at_ms for at_ms in due if at_ms is not None]
        if times:
            tick.plan(PERMIT_TIMER, min(times))
