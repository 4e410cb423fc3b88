"""Each deviation has the smallest example that shows it; without its clause the model refuses the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.api.pod import PodSchedulingGate
from scheduler_core.model import deviations as names
from scheduler_core.model.deviations import AS_WRITTEN, DEVIATIONS, TODAY
from scheduler_core.model.objects import Objects
from scheduler_core.model.steps import Bind, Fail, Leave, Preempt, Situation, Step, enabled, explain
from scheduler_core.snapshot.node_info import PodInfo
from tests.model.clusters import HOST, near, node, pod, preferred, required
from tests.model.test_filters import EXAMPLES
from tests.model.world import World

Taken = tuple[Step, Situation]


def world(*pods: PodInfo, nodes: tuple[Any, ...] = (node("n"),), **options: Any) -> World:
    return World(Objects(pods, nodes), **options)


def attempt(living: World) -> Taken:
    taken = living.attempt()
    assert taken is not None
    return taken


def likes(name: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": HOST, "operator": "In", "values": [name]}]}
    weighted = [{"weight": 1, "preference": term}]
    return {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}}


def gated(one: PodInfo) -> PodInfo:
    return PodInfo(replace(one.pod, spec=replace(one.pod.spec, scheduling_gates=(PodSchedulingGate("g"),))))


def promise(living: World, name: str, **more: Any) -> World:
    """Let a gated pod hope for the node: its own change says so, as a pod that comes gated hopes for none."""
    living.add(gated(pod(name, **more)))
    living.add(gated(pod(name, **more, status={"nominatedNodeName": "n"})))
    return living


def started(second: int) -> dict[str, str]:
    return {"startTime": f"2030-01-01T00:00:0{second}Z"}


def normalised() -> Taken:
    away = preferred("podAntiAffinity", 10, near(HOST, app="x"))
    crowd = pod("q", on="n", labels={"app": "x"})
    return attempt(world(crowd, pod("p", affinity=away), nodes=(node("n"), node("m"))))


def sampling() -> Taken:
    nodes = tuple(node(f"n{index:03}") for index in range(101))
    return attempt(world(pod("p", **likes("n100")), nodes=nodes, percentage=1))


def nominated_first() -> Taken:
    one = pod("p", **likes("m"), status={"nominatedNodeName": "n"})
    return attempt(world(one, nodes=(node("n"), node("m"))))


def gates() -> Taken:
    return attempt(world(gated(pod("first", priority=5)), pod("p")))


def backoff() -> Taken:
    living = world(pod("first", priority=5), pod("p"))
    living.refuses = True
    assert attempt(living)[0] == Fail("uid-first", refused="n")
    living.refuses = False
    return attempt(living)


def parked() -> Taken:
    living = world(pod("first", "9", priority=5), pod("p"))
    assert attempt(living)[0] == Fail("uid-first")
    return attempt(living)


def nominations() -> Taken:
    return attempt(promise(world(pod("p"), nodes=(node("n", "1"),)), "first"))


def later() -> Taken:
    living = world(pod("v", on="n"), pod("p", priority=5), nodes=(node("n", "1"),))
    assert attempt(living)[0] == Preempt("uid-p", "n", frozenset({"uid-v"}))
    taken = living.leave()
    assert taken is not None
    return taken


def greedy() -> Taken:
    # The one that has run the longest is the most important: it comes back first, and then nobody else can.
    oldest = pod("a", "2", on="n", status=started(0))
    lesser = (oldest, pod("b", on="n", status=started(1)), pod("c", on="n", status=started(1)))
    return attempt(world(*lesser, pod("p", "2", priority=5)))


def criteria() -> Taken:
    lesser = (pod("a", "2", on="n", priority=1), pod("b", on="m"), pod("c", on="m"))
    return attempt(world(*lesser, pod("p", "2", priority=5), nodes=(node("n", "2"), node("m", "2"))))


def never() -> Taken:
    return attempt(world(pod("v", on="n"), pod("p", priority=5, preemptionPolicy="Never"), nodes=(node("n", "1"),)))


def refused() -> Taken:
    living = world(pod("p"))
    living.refuses = True
    return attempt(living)


LOOP: dict[str, tuple[Callable[[], Taken], Step]] = {
    names.NORMALISED: (normalised, Bind("uid-p", "m")),
    names.SAMPLING: (sampling, Bind("uid-p", "")),
    names.NOMINATED_FIRST: (nominated_first, Bind("uid-p", "n")),
    names.GATED: (gates, Bind("uid-p", "n")),
    names.BACKOFF: (backoff, Bind("uid-p", "n")),
    names.PARKED: (parked, Bind("uid-p", "n")),
    names.NOMINATIONS: (nominations, Fail("uid-p")),
    names.LATER: (later, Leave("uid-v")),
    names.GREEDY: (greedy, Preempt("uid-p", "n", frozenset({"uid-b", "uid-c"}))),
    names.CRITERIA: (criteria, Preempt("uid-p", "m", frozenset({"uid-b", "uid-c"}))),
    names.NEVER: (never, Fail("uid-p")),
    names.BIND_FAILS: (refused, Fail("uid-p", refused="n")),
}
"""Deviation of the loop → how its smallest example comes about, and the engine's step in it."""


def check(name: str, step: Step, situation: Situation) -> None:
    assert not enabled(step, situation, AS_WRITTEN), "the model as written has this step: it shows no deviation"
    assert enabled(step, situation, frozenset({name}))
    assert explain(step, situation) == {name}


@pytest.mark.parametrize("name", LOOP)
def test_the_smallest_example_of_a_deviation_of_the_loop(name: str) -> None:
    example, told = LOOP[name]
    step, situation = example()
    assert type(step) is type(told)
    if name != names.SAMPLING:
        assert step == told
    check(name, step, situation)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_smallest_example_of_a_deviation_of_the_filters(name: str) -> None:
    _, objects, one, written = EXAMPLES[name]
    step, situation = attempt(World(Objects((*objects.pods, one), objects.nodes)))
    assert step == (Fail("uid-p") if written else Bind("uid-p", "n"))
    check(name, step, situation)


def test_every_deviation_has_its_example() -> None:
    assert {*LOOP, *EXAMPLES} == set(DEVIATIONS)


def test_a_preemptor_waits_for_its_victims_and_then_takes_their_place() -> None:
    living = world(pod("v", on="n"), pod("p", priority=5), nodes=(node("n", "1"),))
    assert explain(*attempt(living)) == AS_WRITTEN
    living.wait(60_000)
    assert living.leave() is not None
    living.wait(60_000)
    step, situation = attempt(living)
    assert step == Bind("uid-p", "n")
    assert explain(step, situation) == AS_WRITTEN


def test_a_nominated_pods_anti_affinity_is_asked_only_where_some_term_concerned_the_newcomer() -> None:
    away = required("podAntiAffinity", near(HOST, app="x"))
    step, situation = attempt(promise(world(pod("p", labels={"app": "x"})), "first", affinity=away))
    assert step == Bind("uid-p", "n")
    assert enabled(step, situation, TODAY)
    elsewhere = required("podAntiAffinity", near(HOST, app="nobody"))
    newcomer = pod("p", labels={"app": "x"}, affinity=elsewhere)
    step, situation = attempt(promise(world(newcomer), "first", affinity=away))
    assert step == Fail("uid-p")
    assert explain(step, situation) == {names.NOMINATIONS, names.MUTUAL}


def test_a_step_that_nothing_explains_is_refused() -> None:
    living = world(pod("p", "9"))
    assert explain(Bind("uid-p", "n"), living.situation()) is None
    assert explain(Leave("uid-p"), living.situation()) is None
    assert explain(Preempt("uid-p", "n", frozenset()), living.situation()) is None
    assert explain(Fail("uid-p"), living.situation()) == AS_WRITTEN
