"""What a cycle uses of the scheduler around it, as a protocol: the live scheduler and a replay both are one."""

from __future__ import annotations

from typing import Protocol

from scheduler_core.framework.metrics import Metrics
from scheduler_core.framework.runtime import Framework
from scheduler_core.scheduler.run import Run
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.cache import Cache
from scheduler_core.state.nominator import Nominator
from scheduler_core.state.queue import SchedulingQueue
from scheduler_core.state.waiting import WaitingPods


class Core(Protocol):
    """The scheduler around a cycle."""

    seed: int
    now_ms: int

    @property
    def metrics(self) -> Metrics | None:
        """Return what records counts and durations; None: nobody wants them."""
        ...

    @property
    def cache(self) -> Cache:
        """Return nodes and the pods counted on them."""
        ...

    @property
    def queue(self) -> SchedulingQueue:
        """Return the pods that wait for a node."""
        ...

    @property
    def nominator(self) -> Nominator:
        """Return who hopes to land where."""
        ...

    @property
    def waiting(self) -> WaitingPods:
        """Return the pods that Permit holds."""
        ...

    def percentage_of(self, framework: Framework) -> int:
        """Return percentageOfNodesToScore for a profile; 0 is adaptive."""
        ...

    def before_post_filter(self, run: Run) -> None:
        """Give PostFilter plugins what they may need of the attempt (its keyed lots)."""
        ...

    def searched(self, run: Run) -> None:
        """Take where the attempt's search ended."""
        ...

    def assume(self, run: Run) -> None:
        """Count the pod on its chosen node.

        Raises:
            CacheError: the watch has shown it on a node meanwhile.
        """
        ...

    def forget(self, run: Run) -> None:
        """Undo `assume`."""
        ...

    def wait(self, run: Run) -> None:
        """Hold the pod at Permit."""
        ...

    def put_back(self, run: Run) -> PodInfo | None:
        """Return the pod to the queue, with its newest view; None: it is gone, or has a node by now."""
        ...

    def activate(self, uid: str) -> None:
        """Move a pod to the active lane at once."""
        ...

    def reject_waiting(self, uid: str, plugin: str, reason: str) -> bool:
        """Reject a pod that Permit holds; return whether there was one."""
        ...
