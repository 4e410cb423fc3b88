"""A seeded run of everything that can happen to a scheduler; after each step the books must balance."""

from __future__ import annotations

from random import Random

import pytest

from scheduler_core.framework.asks import DeletePod
from scheduler_core.framework.interface import BindPod, Reply
from scheduler_core.framework.snapshot import Snapshot
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.cycle import Spawn
from scheduler_core.scheduler.run import Run
from scheduler_core.state.cache import Cache
from scheduler_core.state.queued import Lane
from tests.scheduler.kit import Hand, node, pod, scheduler


class SometimesWaits:
    """Permit plugin that holds some pods."""

    name = "SometimesWaits"

    def permit(self, state, info, node_name):
        return (Status(Code.WAIT), 3_000) if info.uid.endswith("7") else (SUCCESS, 0)


class World:
    """The cluster as the API server has it, and one scheduler that hears of it late."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.core = scheduler(SometimesWaits(), seed=seed)
        self.hand = Hand(self.core)
        self.nodes: dict[str, int] = {}
        self.sizes: dict[str, int] = {}
        self.pods: dict[str, dict] = {}
        self.waiting: list[Run] = []
        self.unheard: list[str] = []
        self.number = 0

    def step(self) -> None:
        self.core.now_ms += self.random.choice((0, 1, 40, 900, 5_000))
        actions = (
            [self.add_pod] * 4 + [self.schedule] * 8 + [self.hear] * 5 + [self.permit] * 2
            + [self.delete_pod, self.add_node, self.change_node, self.remove_node, self.flush]
        )  # fmt: skip
        self.random.choice(actions)()

    def add_pod(self) -> None:
        self.number += 1
        name = f"p{self.number}"
        cpu, priority = self.random.choice(("250m", "1", "2", "9")), self.random.choice((0, 0, 5))
        self.pods[name] = {"cpu": cpu, "priority": priority, "on": ""}
        self.core.observe_pod(pod(name, cpu, priority=priority))

    def add_node(self) -> None:
        name = f"n{self.random.randrange(8)}"
        if name not in self.nodes:
            # A machine that comes back is no smaller: its pods may still be there.
            self.nodes[name] = self.sizes.setdefault(name, self.random.choice((1, 2, 4)))
            self.core.observe_node(node(name, cpu=str(self.nodes[name])))

    def change_node(self) -> None:
        if self.nodes:
            name = self.random.choice(sorted(self.nodes))
            self.nodes[name] = self.sizes[name] = max(self.sizes[name], self.random.choice((1, 2, 4)))
            self.core.observe_node(node(name, cpu=str(self.nodes[name])))

    def remove_node(self) -> None:
        if self.nodes and self.random.random() < 0.3:
            name = self.random.choice(sorted(self.nodes))
            del self.nodes[name]
            self.core.remove_node(name)

    def schedule(self) -> None:
        run = self.hand.attempt(self.reply)
        if run is not None and run.waits and run.result == "scheduled":
            self.waiting.append(run)

    def reply(self, ask: object) -> Reply:
        if isinstance(ask, Spawn):
            self.hand.drive(ask.steps, self.reply)
        if isinstance(ask, DeletePod):
            self.end(ask.pod.name)
        if not isinstance(ask, BindPod):
            return Reply()
        if ask.name not in self.pods or ask.node_name not in self.nodes or self.random.random() < 0.1:
            return Reply("refused", code=409)
        assert self.pods[ask.name]["on"] == "", "bound twice"
        self.pods[ask.name]["on"] = ask.node_name
        self.unheard.append(ask.name)
        return Reply()

    def hear(self) -> None:
        if self.unheard:
            name = self.unheard.pop(0)
            if name in self.pods:
                told = self.pods[name]
                self.core.observe_pod(pod(name, told["cpu"], priority=told["priority"], on=told["on"]))

    def permit(self) -> None:
        if self.random.random() < 0.5:
            for run in self.waiting[:1]:
                self.core.waiting.allow(run.uid, "SometimesWaits")
        self.core.waiting.expire(self.core.now_ms)
        for run in list(self.waiting):
            if self.core.waiting.get(run.uid).is_decided:
                self.waiting.remove(run)
                self.hand.bind(run, self.reply)

    def delete_pod(self) -> None:
        if self.pods:
            self.end(self.random.choice(sorted(self.pods)))

    def end(self, name: str) -> None:
        if self.pods.pop(name, None) is not None:
            self.core.remove_pod(f"uid-{name}")

    def flush(self) -> None:
        self.core.queue.flush(self.core.now_ms)


def check(world: World) -> None:
    core = world.core
    lanes = (Lane.ACTIVE, Lane.BACKOFF, Lane.UNSCHEDULABLE, Lane.GATED)
    queued = [one.uid for lane in lanes for one in core.queue.listed(lane, 10_000)]
    assert len(queued) == len(set(queued))
    on_their_way = set(core.assumed) | {f"uid-{name}" for name in world.unheard}
    for name, told in world.pods.items():
        uid = f"uid-{name}"
        if told["on"] == "":
            assert (uid in queued) != (uid in on_their_way), f"{name} is lost, or in two places"
        else:
            assert uid not in queued, f"{name} is bound and still queued"
    known = {f"uid-{name}" for name in world.pods}
    assert set(queued) <= known
    assert {run.uid for run in world.waiting} >= {one.info.uid for one in core.waiting.listed() if not one.is_decided}
    check_capacity(world)
    check_cache(core)


def check_capacity(world: World) -> None:
    for name, cpu in world.nodes.items():
        info = world.core.cache.node(name)
        assert info.requested.get("cpu", 0) <= cpu * 1000, f"{name} is over-committed"


def check_cache(core: Scheduler) -> None:
    rebuilt = Cache()
    level = core.cache.snapshot()
    for info in level.infos:
        rebuilt.add_node(info.node)
    for info in core.cache.pods():
        rebuilt.add_pod(info)
    fresh: Snapshot = rebuilt.snapshot()
    assert fresh.names == level.names
    assert (fresh.requested == level.requested[: len(fresh.requested)]).all()
    assert (fresh.pod_count == level.pod_count).all()


@pytest.mark.parametrize("seed", range(8))
def test_no_pod_is_lost_and_no_node_over_committed(seed: int) -> None:
    world = World(seed)
    for step in range(400):
        try:
            world.step()
            check(world)
        except AssertionError as wrong:
            raise AssertionError(f"seed {seed}, step {step}: {wrong}") from wrong
    assert sum(bool(told["on"]) for told in world.pods.values()) > 5
