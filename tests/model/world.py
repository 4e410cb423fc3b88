"""A real scheduler over a tiny cluster, one step at a time; each step comes with the situation it was taken in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from msgspec.structs import replace

from scheduler_core.api.pod import PodCondition
from scheduler_core.framework.asks import Ask, BindPod, DeletePod, PatchPodStatus, Reply, Spawn
from scheduler_core.model.deviations import BACKOFF, GATED, PARKED
from scheduler_core.model.objects import Objects
from scheduler_core.model.steps import Fail, Leave, Situation, Step, examined_of, step_of, totals_of
from scheduler_core.oracle import CaseListers
from scheduler_core.preemption.budgets import RESOURCE, budgets_of
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.run import Run
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.nominator import Nominator
from scheduler_core.state.queued import Lane
from tests.scheduler.kit import Hand

LANES = {Lane.GATED: GATED, Lane.BACKOFF: BACKOFF, Lane.UNSCHEDULABLE: PARKED}


class World:
    """The API server's truth, and one scheduler that hears of everything at once."""

    def __init__(
        self, objects: Objects, *, seed: int = 1, budgets: Sequence[dict[str, Any]] = (), percentage: int = 100
    ) -> None:
        nominator = Nominator()
        listers = CaseListers({RESOURCE: list(budgets)})
        built = Configuration(
            [default_configuration()],
            in_tree_registry(),
            hash="model",
            percentage=percentage,
            listers=listers,
            nominator=nominator,
        )
        self.core = Scheduler(built, nominator, seed=seed)
        self.hand = Hand(self.core)
        self.budgets = budgets_of(budgets)
        self.nodes = objects.nodes
        self.pods: dict[str, PodInfo] = {}
        self.refuses = False
        for node in objects.nodes:
            self.core.observe_node(node)
        for pod in objects.pods:
            self.add(pod)

    def add(self, pod: PodInfo) -> None:
        self.pods[pod.uid] = pod
        self.core.observe_pod(pod)

    def situation(self) -> Situation:
        """Return what the next step will be taken in; pods on nodes in the order in which they came."""
        level = self.core.cache.snapshot()
        on_nodes = [pod.uid for info in level.infos for pod in info.pods]
        order = [*on_nodes, *(uid for uid in self.pods if uid not in on_nodes)]
        assert set(order) == set(self.pods)
        pods = [self.pods[uid] for uid in order]
        return Situation(
            Objects(tuple(pod for pod in pods if not pod.pod.is_terminating), self.nodes, self.budgets),
            leaving=tuple(pod for pod in pods if pod.pod.is_terminating),
            waiting={one.uid: name for lane, name in LANES.items() for one in self.core.queue.listed(lane, 1_000)},
            nominations={pod.uid: name for name, pod in self.core.nominator.items()},
        )

    def attempt(self) -> tuple[Step, Situation] | None:
        """Let the scheduler take its next step."""
        self.core.queue.flush(self.core.now_ms)
        before = self.situation()
        run = self.hand.attempt(self._reply)
        return None if run is None else (self._step(run), self._scored(before, run))

    def _step(self, run: Run) -> Step:
        return Fail(run.uid, refused=run.chosen) if run.chosen and not run.bound else step_of(run)

    def _scored(self, before: Situation, run: Run) -> Situation:
        totals = totals_of(run)
        examined = examined_of(run)
        return Situation(
            before.objects, before.leaving, before.waiting, before.nominations, totals=totals, examined=examined
        )

    def _reply(self, ask: Ask) -> Reply:
        match ask:
            case Spawn(steps=steps):
                self.hand.drive(steps, self._reply)
            case BindPod():
                if self.refuses:
                    return Reply("refused", code=409)
                uid = next(uid for uid, pod in self.pods.items() if pod.pod.name == ask.name)
                self._change(self.pods[uid].placed(ask.node_name))
            case PatchPodStatus() if ask.pod.uid in self.pods:
                self._patch(ask)
            case DeletePod() if ask.pod.uid in self.pods:
                pod = self.pods[ask.pod.uid].pod
                self._change(
                    PodInfo(replace(pod, metadata=replace(pod.metadata, deletion_timestamp="2030-01-01T00:01:00Z")))
                )
        return Reply()

    def _patch(self, ask: PatchPodStatus) -> None:
        pod = self.pods[ask.pod.uid].pod
        status = pod.status
        if ask.condition is not None:
            status = replace(status, conditions=(PodCondition(**ask.condition),))
        if ask.nominated_node_name is not None:
            status = replace(status, nominated_node_name=ask.nominated_node_name)
        self._change(PodInfo(replace(pod, status=status)))

    def _change(self, pod: PodInfo) -> None:
        self.pods[pod.uid] = pod
        self.core.observe_pod(pod)

    def leave(self) -> tuple[Step, Situation] | None:
        """Let a victim that is leaving be gone."""
        before = self.situation()
        if not before.leaving:
            return None
        uid = before.leaving[0].uid
        del self.pods[uid]
        self.core.remove_pod(uid)
        return Leave(uid), before

    def wait(self, ms: int) -> None:
        self.core.now_ms += ms
        self.core.queue.flush(self.core.now_ms)


def walk(world: World, random: Random, arriving: Iterable[PodInfo], steps: int) -> Iterable[tuple[Step, Situation]]:
    """Yield what happens in a random life of the cluster."""
    coming = list(arriving)
    for _ in range(steps):
        chance = random.random()
        if coming and chance < 0.25:
            world.add(coming.pop())
        elif chance < 0.4:
            world.wait(random.choice((500, 2_000, 11_000, 400_000)))
        world.refuses = random.random() < 0.05
        taken = world.leave() if random.random() < 0.2 else world.attempt()
        if taken is not None:
            yield taken
