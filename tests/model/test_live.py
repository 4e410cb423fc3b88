"""What a screen shows of a live cluster is what the definitions say; past the limits it says less, never wrong."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from scheduler_core.eras import ERAS, read_spec, registry_of
from scheduler_core.model import live, loop
from scheduler_core.model.deviations import AS_WRITTEN, DEVIATIONS, TODAY
from scheduler_core.model.filters import FILTERS
from scheduler_core.model.live import evaluate
from scheduler_core.model.multistep import judge, place_one_by_one
from scheduler_core.model.objects import Objects
from scheduler_core.profiles.configuration import read_configuration
from scheduler_core.profiles.defaults import in_tree_registry
from scheduler_core.snapshot.node_info import PodInfo
from tests.model.clusters import ZONE, draw_objects, node, pod

LATER = "2030-01-01T00:01:00Z"


@settings(max_examples=150)
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


@settings(max_examples=100)
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
    assert told["engine"] == {
        "feasible": ["n", "m", "soft"],
        "best": ["m"],
        "step": {"kind": "Bind", "node": "m", "victims": []},
        "deviations": [],
    }
    soft = told["nodes"][2]
    assert [one["section"] for one in soft["filters"] if not one["holds"]] == ["1.4"]
    assert soft["filters"][3]["deviations"] == ("prefer-no-schedule-only-scores",)
    assert soft["engine"]["total"] == sum(soft["engine"]["scores"].values())
    assert soft["engine"]["total"] < told["nodes"][0]["engine"]["total"] < told["nodes"][1]["engine"]["total"]


@settings(max_examples=100)
@given(random=st.randoms(use_true_random=False))
def test_the_engines_step_is_told_with_its_deviations(random: Random) -> None:
    objects = draw_objects(random)
    for one in objects.pods:
        run = judge(one, objects, read_configuration({}), in_tree_registry(), seed=1)
        told = evaluate(one, objects, run)["engine"]
        assert told["deviations"] is not None, told
        assert told["deviations"] == [name for name in DEVIATIONS if name in told["deviations"]]


def test_a_preemptor_is_told_its_victims_and_one_that_waits_for_them_the_reason() -> None:
    full = pod("v", on="n")
    one = pod("p", priority=5)
    objects = Objects((full, one), (node("n", "1"),))
    run = judge(one, objects, read_configuration({}), in_tree_registry(), seed=1)
    told = evaluate(one, objects, run)
    assert told["engine"]["step"] == {"kind": "Preempt", "node": "n", "victims": ["default/v"]}
    assert told["engine"]["deviations"] == []
    gone = Objects((one,), objects.nodes)
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    leaving = pod("v", on="n", status={"conditions": [condition]})
    leaving = PodInfo(replace(leaving.pod, metadata=replace(leaving.pod.metadata, deletion_timestamp=LATER)))
    nominated = PodInfo(replace(one.pod, status=replace(one.pod.status, nominated_node_name="n")))
    waits = Objects((nominated,), gone.nodes)
    run = judge(nominated, waits.with_bound([(leaving, "n")]), read_configuration({}), in_tree_registry(), seed=1)
    told = evaluate(nominated, waits, run, (leaving,))
    assert (told["case"], told["engine"]["step"]["kind"]) == ("Scheduling", "Fail")
    assert told["engine"]["deviations"] == ["victims-leave-later"]


def test_a_filter_that_is_not_written_out_is_named() -> None:
    spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    one = pod("p", topologySpreadConstraints=[spread])
    objects = Objects((one,), (node("n"),))
    run = judge(one, objects, read_configuration({}), in_tree_registry(), seed=1)
    told = evaluate(one, objects, run)
    assert (told["case"], told["engine"]["step"]["kind"]) == ("Scheduling", "Fail")
    assert told["engine"]["deviations"] == ["more-filters"]


@pytest.mark.parametrize("era", ERAS)
def test_every_era_has_its_verdicts_and_its_placement(era: str) -> None:
    spec = {"era": era}
    objects = Objects((pod("p", "1"), pod("q", "3", on="n")), (node("n", "4"), node("m", "1"), node("tiny", "1")))
    one = objects.pods[0]
    run = judge(one, objects, read_spec(spec), registry_of(spec), seed=1)
    told = evaluate(one, objects, run)["engine"]
    assert told["step"]["kind"] == "Bind"
    assert told["step"]["node"] in told["feasible"]
    huge = objects.with_bound([(pod("huge", "9"), "")])
    placed = place_one_by_one(huge.pods, huge, read_spec(spec), registry_of(spec), seed=1)
    # Only the round robin asks for no room: it has a node for every pod.
    assert set(placed) == {"uid-p", "uid-q"} | ({"uid-huge"} if era == "round-robin" else set())


def test_a_gated_pod_has_no_attempt_of_the_engine() -> None:
    one = pod("p", schedulingGates=[{"name": "g"}])
    objects = Objects((one,), (node("n"),))
    assert judge(one, objects, read_configuration({}), in_tree_registry(), seed=1) is None
    told = evaluate(one, objects)
    assert (told["case"], told["engine"], told["nodes"][0]["engine"]) == ("Scheduling", None, None)
