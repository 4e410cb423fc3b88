"""The engine refines the model: in thousands of tiny clusters each step is one of the model, or a named deviation."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.api.pod import PodSchedulingGate
from scheduler_core.model.deviations import DEVIATIONS, TODAY
from scheduler_core.model.objects import Objects
from scheduler_core.model.steps import Situation, Step, explain
from scheduler_core.snapshot.node_info import PodInfo
from tests.model.clusters import draw_objects, maybe
from tests.model.normalised import sums
from tests.model.world import World, walk

CLUSTERS = 2_000
BLOCKS = 10


def draw_budgets(random: Random) -> list[dict[str, Any]]:
    return [
        {
            "metadata": {"name": f"b{index}", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": random.choice("xy")}}},
            "status": {"disruptionsAllowed": random.choice((0, 1))},
        }
        for index in range(random.choice((0, 1, 2)))
    ]


def gated(pod: PodInfo) -> PodInfo:
    return PodInfo(replace(pod.pod, spec=replace(pod.pod.spec, scheduling_gates=(PodSchedulingGate("g"),))))


def world_of(seed: int) -> tuple[World, Random, list[PodInfo]]:
    random = Random(seed)
    objects = draw_objects(random)
    pods = [gated(pod) if not pod.pod.spec.node_name and maybe(random, 0.05) else pod for pod in objects.pods]
    late = [pod for pod in pods if not pod.pod.spec.node_name and maybe(random, 0.3)]
    first = Objects(tuple(pod for pod in pods if pod not in late), objects.nodes)
    return World(first, seed=seed, budgets=draw_budgets(random)), random, late


def check_sums(step: Step, situation: Situation, where: str) -> None:
    """The engine's sums are those of the formulas: only what images and spreading add to all nodes alike may differ."""
    if not situation.totals:
        return
    objects, pod = situation.seen(TODAY), situation.objects.pod(step.pod)
    wanted = sums(pod, [objects.node_of[name] for name in situation.totals], objects)
    apart = {situation.totals[name] - wanted[name] for name in wanted}
    assert len(apart) == 1, f"{where}: {dict(situation.totals)} is not {wanted}"


def deviations_of(seed: int) -> Counter[str]:
    """Walk through one cluster and return how often each deviation was needed; "" counts steps that needed none."""
    world, random, late = world_of(seed)
    told: Counter[str] = Counter()
    for number, (step, situation) in enumerate(walk(world, random, late, 14)):
        check_sums(step, situation, f"seed {seed}, step {number}")
        names = explain(step, situation)
        assert names is not None, f"seed {seed}, step {number}: the model has no {step}"
        told.update(names or [""])
    return told


@pytest.mark.parametrize("seed", [75, 2169, 5614, 5695])
def test_a_cluster_that_once_was_not_explained_is(seed: int) -> None:
    deviations_of(seed)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_every_step_is_a_step_of_the_model_or_a_named_deviation(block: int) -> None:
    told: Counter[str] = Counter()
    size = CLUSTERS // BLOCKS
    for seed in range(block * size, (block + 1) * size):
        told += deviations_of(seed)
    assert told[""] > size, "most steps need no deviation"
    assert set(told) - {""} <= set(DEVIATIONS)
