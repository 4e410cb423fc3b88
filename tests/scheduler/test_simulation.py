"""Seeded runs of everything that can happen to a scheduler; after each step the books must balance."""

from __future__ import annotations

import pytest

from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.run import Run
from tests.scheduler.simulation.shrink import Failure, failing_step, run
from tests.scheduler.simulation.steps import Step, steps_of

STEPS = 10_000


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_rule_is_broken_in_ten_thousand_steps(seed: int) -> None:
    world, books = run(seed, STEPS)
    # The run must have been about something.
    assert len(world.bound) > 200
    assert world.preempted >= 5
    assert world.lost
    assert min(books.compared[what] for what in ("filter", "score", "preemption")) >= 5


class ForgetsToForget(Scheduler):
    """Leaves a pod counted whose binding has failed."""

    def forget(self, run: Run) -> None:
        self.assumed.pop(run.uid, None)


class LosesPods(Scheduler):
    """Drops pods that come back with an error."""

    def put_back(self, run: Run):  # type: ignore[no-untyped-def]
        if run.result == "error":
            self.queue.done(run.uid)
            return None
        return super().put_back(run)


@pytest.mark.parametrize(("broken", "most"), [(ForgetsToForget, 14), (LosesPods, 14)])
def test_a_planted_bug_is_found_and_shrunk_to_a_few_steps(broken: type[Scheduler], most: int) -> None:
    with pytest.raises(Failure, match="seed 5, step") as failed:
        run(5, 2_000, broken)
    listed = [line.strip().removesuffix(",") for line in str(failed.value).splitlines() if "Step(" in line]
    steps = [eval(line, {"Step": Step}) for line in listed]
    assert len(steps) <= most
    # What is printed fails when it is run, and passes without the bug.
    assert failing_step(steps, broken) is not None
    assert failing_step(steps) is None


def test_a_seed_means_the_same_steps_every_time() -> None:
    assert steps_of(4, 50) == steps_of(4, 50)
    assert steps_of(4, 50) != steps_of(5, 50)
