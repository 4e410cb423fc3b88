"""A decision taken again on changed input: what it says is what would have happened, and nothing is changed."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.cluster import found
from controllers.log.memory import MemoryStore
from controllers.log.operations import Create
from controllers.log.store import Gone
from controllers.scheduler.decisions import locate
from controllers.scheduler.past import Past
from controllers.whatif.changes import read_changes
from controllers.whatif.deciding import Decision, difference
from controllers.whatif.many import again
from scheduler_core.api.errors import ApiError
from tests.controllers.scheduler.plane import Plane

Change = dict[str, Any]

BIG = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "big", "labels": {"kubernetes.io/hostname": "big"}},
    "status": {"capacity": {"cpu": "16", "memory": "64Gi", "pods": "110"}},
}


URGENT = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 9}


@pytest.fixture
def plane() -> Plane:
    store = MemoryStore(seed=7)
    found(store)
    return Plane(store)


def decision(plane: Plane, uid: str) -> Decision:
    (envelope, _), *_ = plane.store.traces(uid, 1)
    return Decision(Past(plane.store), envelope)


def asked(plane: Plane, uid: str, *changes: Change) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return (before, after, difference) of the pod's newest attempt."""
    taken = decision(plane, uid)
    revision = plane.store.revision
    before, after = taken.taken(taken.world()), taken.taken(taken.world(read_changes(list(changes))))
    assert plane.store.revision == revision
    return before["result"], after["result"], difference(before, after)


def refusal(plane: Plane, uid: str, *changes: Any) -> list[tuple[str, str]]:
    taken = decision(plane, uid)
    with pytest.raises(ApiError) as caught:
        taken.world(read_changes(list(changes)))
    assert caught.value.code == 422
    return [(cause.field, cause.message) for cause in caught.value.causes]


@pytest.fixture
def stuck(plane: Plane) -> str:
    """Return the uid of a pod that no node takes: `a` is too small, `b` is cordoned, `c` has a taint."""
    plane.node("a", cpu="1")
    plane.node("b", unschedulable=True)
    plane.node("c", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    uid = plane.pod("p", "2")
    plane.run(plane.loop.now_ms)
    assert plane.node_of("p") == ""
    return uid


TOLERATION = {"kind": "Pod", "name": "p", "patch": {"spec": {"tolerations": [{"key": "gpu", "operator": "Exists"}]}}}


@pytest.mark.parametrize(
    ("change", "node"),
    [
        ({"request": {"cpu": "1"}}, "a"),
        ({"patch": TOLERATION}, "c"),
        ({"patch": {"kind": "Node", "name": "b", "patch": {"spec": {"unschedulable": None}}}}, "b"),
        ({"patch": {"kind": "Node", "name": "c", "patch": {"spec": {"taints": None}}}}, "c"),
        ({"patch": {"kind": "Node", "name": "a", "patch": {"status": {"allocatable": {"cpu": "2"}}}}}, "a"),
        ({"add": BIG}, "big"),
        ({"disable": "NodeUnschedulable"}, "b"),
        ({"disable": "TaintToleration"}, "c"),
        ({"scheduler": {"era": "round-robin"}}, "a"),
        (
            {"scheduler": {"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "NodeUnschedulable"}]}}}]}},
            "b",
        ),
    ],
)
def test_one_change_lets_the_pod_in(plane: Plane, stuck: str, change: Change, node: str) -> None:
    before, after, differs = asked(plane, stuck, change)
    assert (before["result"], after["result"]) == ("unschedulable", "scheduled")
    assert differs["chosen"] == [None, after["chosen"]]
    told = {one["node"]: one for one in differs["verdicts"]}
    assert told[node]["after"] == "fits"
    assert "scores" in differs
    assert plane.node_of("p") == ""


def test_what_is_thought_of_is_what_would_have_been(plane: Plane, stuck: str) -> None:
    """The same change made for good gives the pod's next attempt the same verdicts, scores and ties."""
    _, thought, _ = asked(plane, stuck, {"add": BIG}, {"patch": TOLERATION})
    plane.node("big", cpu="16", memory="64Gi")
    uid = plane.pod("q", "2", tolerations=[{"key": "gpu", "operator": "Exists"}])
    plane.run(plane.loop.now_ms)
    (envelope, _), *_ = plane.store.traces(uid, 1)
    taken = Decision(Past(plane.store), envelope)
    made = taken.taken(taken.world())["result"]
    for key in ("result", "feasible", "firstFail", "scores", "best"):
        assert thought[key] == made[key], key


def test_nothing_changed_gives_the_decision_that_was_taken(plane: Plane, stuck: str) -> None:
    before, after, differs = asked(plane, stuck, {"patch": {"kind": "Pod", "name": "p", "patch": {}}})
    assert before == after
    assert differs == {"chosen": [None, None], "verdicts": [], "scores": []}


def test_weights_move_the_pod(plane: Plane) -> None:
    plane.node("full", cpu="8")
    plane.node("empty", cpu="4")
    plane.pod("there", "1", nodeName="full")
    uid = plane.pod("p", "1")
    plane.run(plane.loop.now_ms)
    before, after, differs = asked(plane, uid, {"weight": {"plugin": "NodeResourcesFit", "weight": 100}})
    names = before["scores"]["nodes"]
    for row, name in enumerate(names):
        assert after["scores"]["plugins"]["NodeResourcesFit"]["weighted"][row] == (
            100 * before["scores"]["plugins"]["NodeResourcesFit"]["weighted"][row]
        ), name
    told = {one["node"]: one for one in differs["scores"]}
    assert set(told) == set(names)
    for row, name in enumerate(names):
        assert (told[name]["before"], told[name]["after"]) == (
            before["scores"]["total"][row],
            after["scores"]["total"][row],
        )
        assert [one["plugin"] for one in told[name]["plugins"]] == ["NodeResourcesFit"]


def test_a_weight_of_zero_takes_the_plugin_out_of_the_scores_and_leaves_its_filter(plane: Plane) -> None:
    plane.node("full", cpu="8")
    plane.node("empty", cpu="4")
    plane.node("small", cpu="500m")
    uid = plane.pod("p", "1")
    plane.run(plane.loop.now_ms)
    before, after, _ = asked(plane, uid, {"weight": {"plugin": "NodeResourcesFit", "weight": 0}})
    assert after["scores"]["plugins"].keys() == before["scores"]["plugins"].keys() - {"NodeResourcesFit"}
    assert after["firstFail"] == before["firstFail"]
    assert set(after["firstFail"]) == {"small"}


def test_the_newest_decisions_are_each_taken_again_on_their_own_input(plane: Plane) -> None:
    plane.node("full", cpu="8")
    plane.node("empty", cpu="4")
    for number in range(6):
        plane.pod(f"p{number}", "500m")
        plane.run(plane.loop.now_ms)
    past = Past(plane.store)
    kept = plane.store.newest_traces(6)
    assert [envelope["pod"] for envelope, _ in kept] == [f"default/p{number}" for number in reversed(range(6))]
    same = [again(past, envelope, blob, []) for envelope, blob in kept]
    assert all(row["before"] == row["after"] == plane.node_of(row["pod"].partition("/")[2]) for row in same)
    most = read_changes(
        [{"disable": "NodeResourcesBalancedAllocation"}, {"weight": {"plugin": "NodeResourcesFit", "weight": 0}}]
    )
    for envelope, blob in kept:
        row = again(past, envelope, blob, most)
        alone = decision(plane, envelope["uid"])
        taken = alone.taken(alone.world(most))["result"]
        assert row["after"] == taken["chosen"]
        total = dict(zip(taken["scores"]["nodes"], taken["scores"]["total"], strict=True))
        assert row["points"] == [total[row["before"]], total[row["after"]]]


def test_a_pod_that_is_gone_makes_room_and_one_that_comes_takes_it(plane: Plane) -> None:
    plane.node("a", cpu="2")
    plane.pod("holder", "2", nodeName="a")
    uid = plane.pod("p", "1")
    plane.run(plane.loop.now_ms)
    _, after, _ = asked(plane, uid, {"remove": {"kind": "Pod", "namespace": "default", "name": "holder"}})
    assert after["chosen"] == "a"
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}
    comes = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "comes"},
        "spec": {"nodeName": "a", "containers": [container]},
    }
    _, after, _ = asked(plane, uid, {"remove": {"kind": "Pod", "name": "holder"}}, {"add": comes})
    assert after["result"] == "unschedulable"


def test_a_class_gives_the_pod_its_priority_and_so_victims(plane: Plane) -> None:
    plane.write(Create("priorityclasses.scheduling.k8s.io", "", URGENT))
    plane.node("a", cpu="2")
    plane.pod("holder", "2", nodeName="a")
    uid = plane.pod("p", "1")
    plane.run(plane.loop.now_ms)
    patch = {"kind": "Pod", "name": "p", "patch": {"spec": {"priorityClassName": "urgent"}}}
    before, after, _ = asked(plane, uid, {"patch": patch})
    assert before["preemption"].get("victims") in (None, [])
    assert after["preemption"]["code"] == "Success"


def test_what_came_of_a_choice_is_no_part_of_the_decision_taken_again(plane: Plane) -> None:
    """A preemptor that would have fitted has no victims left over from the attempt as it went."""
    plane.write(Create("priorityclasses.scheduling.k8s.io", "", URGENT))
    plane.node("a", cpu="2")
    plane.pod("holder", "2", nodeName="a")
    uid = plane.pod("p", "1", priorityClassName="urgent")
    plane.run(plane.loop.now_ms)
    taken = decision(plane, uid)
    assert taken.envelope["explanation"]["preemption"]["steps"]
    after = taken.taken(taken.world(read_changes([{"remove": {"kind": "Pod", "name": "holder"}}])))
    assert after["result"]["chosen"] == "a"
    assert "preemption" not in after.get("explanation", {})
    refused = Decision(Past(plane.store), {**taken.envelope, "undone": {"result": "error"}, "undoneBy": "X"})
    assert {"undone", "undoneBy"} & refused.taken(refused.world()).keys() == set()


def test_a_cycle_in_hand_can_be_asked_about() -> None:
    store = MemoryStore(seed=7)
    found(store)
    held = Plane(store, hold=True)
    held.node("a", cpu="1")
    held.pod("p", "2")
    held.run(held.loop.now_ms)
    held.step_to("Filter")
    cycle = held.cycle()
    assert cycle is not None
    located = locate(store, cycle["traceId"])
    assert located is not None
    taken = Decision(Past(store), located.envelope)
    assert taken.taken(taken.world())["result"]["result"] == "unschedulable"
    assert taken.taken(taken.world(read_changes([{"request": {"cpu": "1"}}])))["result"]["chosen"] == "a"


@pytest.mark.parametrize(
    ("change", "field", "says"),
    [
        ("x", "changes[0]", "give an object with one of"),
        ({}, "changes[0]", "give an object with one of"),
        ({"paint": 1}, "changes[0].paint", "give one of weight, disable"),
        ({"weight": {"plugin": "NodeResourcesFit"}}, "changes[0].weight.weight", "whole number"),
        (
            {"weight": {"plugin": "Nobody", "weight": 2}},
            "changes[0].weight",
            "does not run in profile default-scheduler",
        ),
        ({"weight": {"plugin": "NodeName", "weight": 2}}, "changes[0].weight", "does not extend ScorePlugin plugin"),
        ({"disable": "PrioritySort"}, "changes[0].disable", "no queue sort plugin is enabled"),
        ({"disable": 3}, "changes[0].disable", "name of a plugin"),
        ({"request": {"cpu": "much"}}, "changes[0].request.cpu", "give an amount"),
        ({"request": {"cpu": "-1"}}, "changes[0].request.cpu", "give an amount"),
        (
            {"add": {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "x"}}},
            "changes[0].add.kind",
            "does not read",
        ),
        ({"add": {**BIG, "metadata": {"name": "a"}}}, "changes[0].add", "already exists"),
        ({"add": {**BIG, "metadata": {"name": "no good"}}}, "changes[0].add.metadata.name", "Invalid value"),
        ({"add": {**BIG, "colour": "red"}}, "changes[0].add", "unknown field"),
        ({"remove": {"kind": "Node", "name": "z"}}, "changes[0].remove.name", "saw no Node z"),
        ({"remove": {"kind": "Pod", "name": "p"}}, "changes[0].remove", "remove another"),
        ({"remove": {"kind": "Node"}}, "changes[0].remove.name", "not empty"),
        ({"patch": {"kind": "Node", "name": "a", "patch": 3}}, "changes[0].patch.patch", "merge patch"),
        (
            {"patch": {"kind": "Node", "name": "a", "patch": {"metadata": {"name": "b"}}}},
            "changes[0].patch.patch.metadata.name",
            "does not change it",
        ),
        (
            {"patch": {"kind": "Node", "name": "a", "patch": {"status": {"allocatable": {"cpu": "so"}}}}},
            "changes[0].patch.patch.status.allocatable[cpu]",
            "quantities must match",
        ),
        ({"scheduler": {"era": "stone"}}, "changes[0].scheduler.era", "Unsupported value"),
        ({"scheduler": {"profiles": [{"schedulerName": "other"}]}}, "changes[0].scheduler", "default-scheduler"),
        (
            {"scheduler": {"extenders": [{"urlPrefix": "http://127.0.0.1:1/", "filterVerb": "f"}]}},
            "changes[0].scheduler",
            "leave the extenders out",
        ),
    ],
)
def test_what_cannot_be_is_refused_where_it_stands(
    plane: Plane, stuck: str, change: Any, field: str, says: str
) -> None:
    told = refusal(plane, stuck, change)
    assert told[0][0].startswith(field), told
    assert says in told[0][1], told


def test_every_change_that_is_wrong_is_told(plane: Plane, stuck: str) -> None:
    assert [field for field, _ in refusal(plane, stuck, {"x": 1}, {"disable": "NodeName"}, {"disable": ""})] == [
        "changes[0].x",
        "changes[2].disable",
    ]


def test_a_decision_whose_configuration_is_gone_cannot_be_taken_again(plane: Plane, stuck: str) -> None:
    (envelope, _), *_ = plane.store.traces(stuck, 1)
    with pytest.raises(Gone):
        Decision(Past(plane.store), {**envelope, "input": {**envelope["input"], "configuration": "another"}})
    with pytest.raises(Gone):
        Decision(Past(plane.store), {**envelope, "uid": "gone"})
