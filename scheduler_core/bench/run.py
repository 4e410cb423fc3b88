"""Runs a workload through the scheduler's own cycles and times each pod. The clocks are handed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.bench.workloads import VICTIMS_PER_NODE, WORKLOADS, Workload, node
from scheduler_core.framework.asks import Reply, Spawn
from scheduler_core.framework.interface import Steps
from scheduler_core.plugins import default_preemption
from scheduler_core.preemption.evaluator import Preemption
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.cycle import scheduling_cycle
from scheduler_core.scheduler.run import Run
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.nominator import Nominator

_DONE: Final = Reply()

Timer = Callable[[], int]
"""Nanoseconds that only ever grow."""


class WorkloadError(ValueError):
    """A workload that cannot be run as asked."""


@dataclass(slots=True)
class Result:
    """What a run took.

    Attributes:
        workload: its name.
        nodes: nodes in the cluster.
        percentage: percentageOfNodesToScore.
        chosen: node per pod in order, empty where none was found.
        spent_ns: time per pod in order.
        cpu_ns: processor time of all pods together.
    """

    workload: str
    nodes: int
    percentage: int
    chosen: list[str] = field(default_factory=list)
    spent_ns: list[int] = field(default_factory=list)
    cpu_ns: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        ordered = sorted(self.spent_ns)
        total_s = sum(ordered) / 1e9
        pods = len(ordered)
        return {
            "workload": self.workload,
            "nodes": self.nodes,
            "pods": pods,
            "percentage": self.percentage,
            "podsPerSecond": round(pods / total_s, 1) if total_s else 0.0,
            "scheduled": sum(1 for one in self.chosen if one),
            "seconds": round(total_s, 3),
            "p50Ms": round(ordered[pods // 2] / 1e6, 4) if pods else 0.0,
            "p99Ms": round(ordered[min(pods - 1, pods * 99 // 100)] / 1e6, 4) if pods else 0.0,
            "cpuMsPerPod": round(self.cpu_ns / 1e6 / pods, 4) if pods else 0.0,
        }


def run(
    workload: str,
    nodes: int,
    pods: int,
    timer: Timer,
    cpu_timer: Timer,
    *,
    percentage: int = 100,
    reuse: bool = True,
) -> Result:
    """Schedule `pods` pods on `nodes` nodes, one after another.

    A pod's time is that of its cycle: taking it from the queue, filtering, scoring, choosing, assuming it, Reserve and
    Permit; with preemption, of both cycles and the removal of the victims between them. Making the pod, with
    what it asks for in numbers, and confirming the placement are not timed.

    Args:
        workload: a name in `WORKLOADS`.
        nodes: how many nodes, at least 1.
        pods: how many pods, at least 1.
        timer: the clock.
        cpu_timer: the processor time that this process has used; others that share the machine do not count in it.
        percentage: percentageOfNodesToScore; 0 is adaptive.
        reuse: whether answers are reused between pods of one shape; the slow path gives the same placements.

    Raises:
        WorkloadError: the workload is unknown, needs a plugin that does not exist here, or a number is out of range.
    """
    asked = _checked(workload, nodes, pods, percentage)
    scheduler = _cluster(asked, nodes, percentage, reuse)
    result = Result(workload, nodes, percentage)
    for number in range(pods):
        info = PodInfo.of(asked.pod(number))
        # As whoever watches does, who keeps a pod out whose amounts cannot be read.
        _ = info.requests
        scheduler.observe_pod(info)
        started, cpu_started = timer(), cpu_timer()
        attempt = _cycle(scheduler)
        if asked.victims and attempt.result != "scheduled":
            _make_room(scheduler, attempt)
            attempt = _cycle(scheduler)
        result.cpu_ns += cpu_timer() - cpu_started
        result.spent_ns.append(timer() - started)
        result.chosen.append(attempt.chosen)
        if attempt.assumed is not None:
            scheduler.observe_pod(attempt.assumed)
    return result


def _checked(workload: str, nodes: int, pods: int, percentage: int) -> Workload:
    found = WORKLOADS.get(workload)
    if found is None:
        raise WorkloadError(f"workload {workload!r} is unknown; take one of {', '.join(WORKLOADS)}")
    missing = sorted(name for name in found.needs if name not in in_tree_registry())
    if missing:
        raise WorkloadError(f"workload {workload!r} needs {', '.join(missing)}, which this scheduler does not have")
    if nodes < 1 or pods < 1 or not 0 <= percentage <= 100:
        raise WorkloadError("nodes and pods must be at least 1, the percentage from 0 to 100")
    return found


def _cluster(workload: Workload, nodes: int, percentage: int, reuse: bool) -> Scheduler:
    nominator = Nominator()
    profile = default_configuration()
    if percentage == 100:
        # All nodes means all candidates of a preemption, too.
        profile = replace(profile, arguments={default_preemption.NAME: {"minCandidateNodesPercentage": 100}})
    configuration = Configuration(
        [profile],
        in_tree_registry(),
        hash="bench",
        percentage=percentage,
        nominator=nominator,
        reuse=reuse,
    )
    scheduler = Scheduler(configuration, nominator, seed=1)
    for number in range(nodes):
        scheduler.observe_node(view(node(number), Node))
        if workload.running is not None:
            for place in range(VICTIMS_PER_NODE):
                scheduler.observe_pod(PodInfo.of(workload.running(number, place)))
    return scheduler


def _cycle(scheduler: Scheduler) -> Run:
    """Run the next pod's scheduling cycle to its end; what it asks of the loop is answered at once."""
    attempt = scheduler.begin(0)
    if attempt is None:
        raise WorkloadError("the queue is empty")
    # As at full speed, where nobody holds a cycle at its points.
    attempt.followed = False
    steps = scheduling_cycle(scheduler, attempt)
    try:
        told = next(steps)
        while True:
            if isinstance(told, Spawn):
                _drain(told.steps)
            told = steps.send(_DONE)
    except StopIteration:
        return attempt


def _drain(steps: Steps) -> None:
    """Run what a cycle leaves to be done beside it; every request succeeds at once."""
    try:
        next(steps)
        while True:
            steps.send(_DONE)
    except StopIteration:
        return


def _make_room(scheduler: Scheduler, attempt: Run) -> None:
    """Remove the victims as their deletion would, and let the pod try again at once."""
    detail = attempt.post_filter.detail if attempt.post_filter is not None else None
    if isinstance(detail, Preemption) and detail.chosen is not None:
        for victim in detail.chosen.victims:
            scheduler.remove_pod(victim.uid)
    scheduler.activate(attempt.uid)
