"""What is kept of each decision: always its input, and its matrices while the rate allows."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from controllers.loop.loop import Tick
from controllers.scheduler.reporting import attempt_of, envelope_of
from controllers.scheduler.summary import summary_of
from scheduler_core.preemption.evaluator import Preemption
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.replay import explained, extenders_account, outcome_of
from scheduler_core.scheduler.run import Run

MATRIX_CELLS_PER_SECOND_MAX: Final = 200_000
"""Node × plugin cells written in a second as the clock runs; past it traces keep their input alone, and matrices are
recomputed for whoever asks. A cell costs 0.2 µs and 8 bytes: some 40 ms and 1.6 MB a second."""

LIVE_NODES_MAX: Final = 100
"""Nodes up to which the cycle under way shows its matrices in the replica's status; past it the page asks for them."""

_encode = msgspec.json.Encoder().encode


class Tracer:
    """Writes one replica's traces."""

    def __init__(self, identity: str, scheduler: Scheduler) -> None:
        self._identity = identity
        self._scheduler = scheduler
        self.rate = 1.0
        """Simulated seconds per real second, as the clock is asked to run."""
        self._window = -1
        self._cells = 0

    def live(self, run: Run) -> dict[str, Any] | None:
        """Return the result so far, for the replica's status; None: too large to show there."""
        if len(run.snapshot) > LIVE_NODES_MAX:
            return None
        outcome = outcome_of(self._scheduler, run)
        told = {**explained(run, outcome), **extenders_account(run)}
        shown = outcome.as_dict()
        return {**shown, "explanation": told} if told else shown

    def write(self, run: Run, point: str, tick: Tick) -> None:
        """Keep the attempt's trace, as it stands at a point, in the transaction of what was emitted around it."""
        envelope = envelope_of(attempt_of(run, point), self._identity, tick.revision, tick.now_ms)
        if run.undone:
            envelope["undone"] = {"result": run.result, "fitError": run.message}
            if run.status.plugin:
                envelope["undoneBy"] = run.status.plugin
        result = self._result(run, tick.now_ms)
        if run.summary is None:
            run.summary = summary_of(run)
        envelope["summary"] = {"result": run.result or "scheduled", **run.summary}
        told = {**run.explanation, **extenders_account(run)}
        account = run.post_filter.detail if run.post_filter is not None else None
        if isinstance(account, Preemption):
            # Known even where the rest is replayed for whoever asks: no replay knows what the API answered.
            told["preemption"] = {**told.get("preemption", {}), "steps": account.told()}
        if told:
            envelope["explanation"] = told
        blob = b"" if result is None else _encode(result | envelope.get("undone", {}))
        tick.trace(run.uid, run.given.attempt, envelope, blob)

    def _result(self, run: Run, now_ms: int) -> dict[str, Any] | None:
        """Return the outcome, worked out when it is first asked for: later cycles use its arrays again."""
        if run.decided is None and not run.over_budget:
            if self._may_spend(len(run.snapshot) * len(run.framework.plugins), now_ms):
                outcome = outcome_of(self._scheduler, run)
                run.decided = outcome.as_dict()
                run.explanation = explained(run, outcome)
            else:
                run.over_budget = True
        return run.decided

    def _may_spend(self, cells: int, now_ms: int) -> bool:
        window = now_ms // int(1000 * max(1.0, self.rate))
        if window != self._window:
            self._window, self._cells = window, 0
        # The first of a window is always kept, however large.
        if self._cells and self._cells + cells > MATRIX_CELLS_PER_SECOND_MAX:
            return False
        self._cells += cells
        return True
