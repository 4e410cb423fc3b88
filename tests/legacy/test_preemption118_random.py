"""The era's preemption against the document's code, written down again for cpu alone, on random clusters."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from scheduler_core.scheduler.core import Scheduler
from tests.legacy.era118 import era_scheduler
from tests.scheduler.kit import Hand, node, pod

MILLI = (250, 500, 1000)
APPS = ("", "web", "db")


@dataclass(frozen=True)
class Small:
    """A pod as the document's code needs it."""

    name: str
    node: str
    milli: int
    priority: int
    started: int
    app: str


@dataclass(frozen=True)
class World:
    sizes: dict[str, int]
    pods: tuple[Small, ...]
    allowed: dict[str, int]
    boss: Small


def world(seed: int) -> World:
    random = Random(seed)
    sizes = {f"n{number}": random.choice((1000, 2000)) for number in range(random.randint(1, 5))}
    pods: list[Small] = []
    for name, size in sizes.items():
        used = 0
        while used < size and len(pods) < 30:
            milli = min(random.choice(MILLI), size - used)
            used += milli
            number = len(pods)
            pods.append(
                Small(f"p{number}", name, milli, random.randint(0, 4), random.randint(0, 3), random.choice(APPS))
            )
    allowed = {app: random.randint(0, 1) for app in APPS[1:] if random.random() < 0.7}
    return World(sizes, tuple(pods), allowed, Small("boss", "", random.choice((500, 1000, 2000)), 3, 0, ""))


def more_important(one: Small) -> tuple[int, int]:
    return -one.priority, one.started


def victims_on(name: str, of: World) -> tuple[list[str], int] | None:
    """Return (victims in the document's order, how many break a budget); None where the preemptor does not fit."""
    here = [one for one in of.pods if one.node == name]
    lesser = sorted((one for one in here if one.priority < of.boss.priority), key=more_important)
    free = of.sizes[name] - sum(one.milli for one in here if one not in lesser)
    if of.boss.milli > free:
        return None
    free -= of.boss.milli
    violating = [one for one in lesser if one.app in of.allowed and of.allowed[one.app] <= 0]
    victims: list[Small] = []
    broken = 0
    for one in [*violating, *(other for other in lesser if other not in violating)]:
        if one.milli <= free:
            free -= one.milli
            continue
        victims.append(one)
        broken += one in violating
    return [one.name for one in victims], broken


def cheapest(of: World) -> set[str]:
    """Return the nodes that the five criteria leave."""
    by_name = {one.name: one for one in of.pods}
    found = {name: victims for name in of.sizes if (victims := victims_on(name, of)) is not None and victims[0]}

    def costs(name: str) -> tuple[float, ...]:
        victims, broken = [by_name[one] for one in found[name][0]], found[name][1]
        top = max(one.priority for one in victims)
        return (
            broken,
            victims[0].priority,
            sum(one.priority + 2**31 for one in victims),
            len(victims),
            -min(one.started for one in victims if one.priority == top),
        )

    least = min(map(costs, found), default=())
    return {name for name in found if costs(name) == least}


class Budgets:
    def __init__(self, allowed: dict[str, int]) -> None:
        self._documents = [
            {
                "metadata": {"name": app, "namespace": "default"},
                "spec": {"selector": {"matchLabels": {"app": app}}},
                "status": {"disruptionsAllowed": number},
            }
            for app, number in allowed.items()
        ]

    def list(self, resource: str) -> Any:
        return self._documents if resource == "poddisruptionbudgets.policy" else ()

    def get(self, resource: str, namespace: str, name: str) -> None:
        return None


def built(of: World) -> Scheduler:
    core = era_scheduler(listers=Budgets(of.allowed))
    for name, size in of.sizes.items():
        core.observe_node(node(name, cpu=f"{size}m"))
    for one in of.pods:
        core.observe_pod(
            pod(
                one.name,
                f"{one.milli}m",
                on=one.node,
                priority=one.priority,
                metadata={"labels": {"app": one.app} if one.app else {}},
                status={"startTime": f"2030-01-01T0{one.started}:00:00Z"},
            )
        )
    core.observe_pod(pod(of.boss.name, f"{of.boss.milli}m", priority=of.boss.priority))
    return core


@pytest.mark.parametrize("block", range(10))
def test_victims_and_choice_are_the_document_s(block: int) -> None:
    preempted = 0
    for seed in range(block * 30, block * 30 + 30):
        of = world(seed)
        run = Hand(built(of)).attempt()
        assert run is not None
        if run.result == "scheduled":
            continue
        found = run.post_filter.detail
        expected = {name: victims_on(name, of) for name in of.sizes}
        got = {one.node_name: ([info.pod.name for info in one.victims], one.violations) for one in found.candidates}
        assert got == {name: victims for name, victims in expected.items() if victims is not None}, seed
        assert set(found.choice.ties if found.choice else ()) == cheapest(of), seed
        preempted += found.chosen is not None
    assert preempted > 5
