"""What a screen shows of a live cluster is what the definitions say; past the limits it says less, never wrong."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.model import live, loop
from scheduler_core.model.deviations import AS_WRITTEN, TODAY
from scheduler_core.model.filters import FILTERS
from scheduler_core.model.live import evaluate
from scheduler_core.model.multistep import judge
from scheduler_core.model.objects import Objects
from scheduler_core.profiles.configuration import read_configuration
from scheduler_core.profiles.defaults import in_tree_registry
from tests.model.clusters import draw_objects, node, pod


@settings(max_examples=150, deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_the_answer_is_what_the_definitions_say(random: Random) -> None:
    objects = draw_objects(random)
    for one in objects.pods:
        told = evaluate(one, objects)
        others = objects.without((one,))
        assert told["bound"] == loop.bound(one, objects)
        assert told["schedulingEnabled"] == loop.scheduling_enabled(one, others)
        assert told["preemptionEnabled"] == loop.preemption_enabled(one, others)
        assert told["feasible"] == [each.name for each in loop.feasible(one, others)]
        assert told["viable"] == [each.name for each in loop.viable(one, others)]
        least, _ = loop.least_casualties(one, others)
        assert told["casualty"] == (None if least is None else {"brokenBudgets": least[0], "pods": least[1]})
        assert told["case"] == ("Bound" if told["bound"] else loop.case(one, others))
        for shown, each in zip(told["nodes"], objects.nodes, strict=True):
            for filtered in shown["filters"]:
                holds = FILTERS[filtered["section"]]
                granted = AS_WRITTEN | set(filtered["deviations"])
                assert filtered["holds"] == holds(one, each, others, AS_WRITTEN)
                assert filtered["today"] == holds(one, each, others, TODAY) == holds(one, each, others, granted)


@settings(max_examples=100, deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_with_few_subsets_allowed_the_answer_says_less_and_nothing_wrong(random: Random) -> None:
    objects = draw_objects(random, nodes=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live, "JEOPARDY_MAX", 0)
        for one in loop.unbound(objects):
            told = evaluate(one, objects)
            if told["preemptionEnabled"] is not None:
                assert told["preemptionEnabled"] == loop.preemption_enabled(one, objects)
            if told["case"] is not None:
                assert told["case"] == loop.case(one, objects)
            if told["casualty"] is not None:
                least, _ = loop.least_casualties(one, objects)
                assert least == (told["casualty"]["brokenBudgets"], told["casualty"]["pods"])


def test_the_engines_verdicts_and_sums_stand_beside_the_documents() -> None:
    prefers = [{"key": "k", "value": "v", "effect": "PreferNoSchedule"}]
    objects = Objects((pod("p"), pod("q", on="n")), (node("n"), node("m"), node("soft", taints=prefers)))
    one = objects.pods[0]
    run = judge(one, objects, read_configuration({}), in_tree_registry(), seed=1)
    told = evaluate(one, objects, run)
    assert told["viable"] == ["n", "m"]
    assert told["engine"] == {"feasible": ["n", "m", "soft"], "best": ["m"]}
    soft = told["nodes"][2]
    assert [one["section"] for one in soft["filters"] if not one["holds"]] == ["1.4"]
    assert soft["filters"][3]["deviations"] == ("prefer-no-schedule-only-scores",)
    assert soft["engine"]["total"] < told["nodes"][0]["engine"]["total"] < told["nodes"][1]["engine"]["total"]


def test_a_gated_pod_has_no_attempt_of_the_engine() -> None:
    one = pod("p", schedulingGates=[{"name": "g"}])
    objects = Objects((one,), (node("n"),))
    assert judge(one, objects, read_configuration({}), in_tree_registry(), seed=1) is None
    told = evaluate(one, objects)
    assert (told["case"], told["engine"], told["nodes"][0]["engine"]) == ("Scheduling", None, None)
