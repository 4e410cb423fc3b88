"""Calls to extenders in a session's loop: when they go out, when answers come in, and that nobody is asked twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from controllers.log.operations import Patch
from controllers.log.store import Event
from controllers.rerun import first_difference, rerun
from controllers.scenario import Start, read, run
from controllers.scheduler.decisions import find, whole
from controllers.scheduler.past import Past
from scheduler_core.extender import wire
from scheduler_core.extender.calls import ExtenderCall, HttpAnswer, Record
from tests.extender.server import keep, names_in
from tests.tools.lab import Lab, node, pod

SCHEDULER = "kube-scheduler-0"
URL = "http://extender.example:8888"
BOTH = {"urlPrefix": URL, "filterVerb": "filter", "prioritizeVerb": "rank", "weight": 5, "nodeCacheCapable": True}
TWO = {"urlPrefix": f"{URL}/two", "prioritizeVerb": "rank", "weight": 1, "nodeCacheCapable": True}


def answered(asked: ExtenderCall) -> Record:
    """Answer as an extender would that refuses n1 and prefers the last node."""
    if asked.purpose == "filter":
        others = [name for name in names_in(asked.body) if name != "n1"]
        body: Any = keep(*others, FailedNodes={"n1": "taken"})(asked.body)
    elif asked.purpose == "prioritize":
        body = [{"Host": name, "Score": place} for place, name in enumerate(names_in(asked.body))]
    else:
        body = {"NodeNameToMetaVictims": asked.body["NodeNameToMetaVictims"]}
    return wire.read(asked, HttpAnswer(200, json.dumps(body).encode(), duration_ms=7.25))


class Line:
    """Calls that wait for the test to answer them."""

    def __init__(self) -> None:
        self.made: list[tuple[int, ExtenderCall]] = []
        self.open: list[tuple[int, ExtenderCall]] = []

    def __call__(self, number: int, asked: ExtenderCall) -> None:
        self.made.append((number, asked))
        self.open.append((number, asked))

    def answer(self, lab: Lab, place: int = 0) -> None:
        number, asked = self.open.pop(place)
        lab.cluster.outside.answer(number, answered(asked))


def lab_with(
    call: Callable[[int, ExtenderCall], Record | None], *extenders: Any, nodes: int = 4, **options: Any
) -> Lab:
    lab = Lab([node(f"n{number}") for number in range(nodes)], call=call, **options)
    lab.do(configuration(*extenders))
    lab.obey()
    lab.run(3)
    return lab


def configuration(*extenders: Any) -> Patch:
    spec = {"configuration": {"extenders": list(extenders)}}
    return Patch("schedulerconfigs.clustersim.io", "", "default", {"spec": spec})


def node_of(lab: Lab, name: str) -> str:
    return str(lab.get("pods", name)["spec"].get("nodeName", ""))


def traces_of(lab: Lab, name: str) -> list[tuple[dict[str, Any], bytes]]:
    return [(dict(envelope), blob) for envelope, blob in lab.store.traces(lab.get("pods", name)["metadata"]["uid"])]


def test_an_answer_at_once_decides_at_the_same_simulated_time() -> None:
    lab = lab_with(lambda number, asked: answered(asked), BOTH)
    lab.create(pod("web"))
    lab.run(1)
    assert node_of(lab, "web") == "n3"
    ((envelope, blob),) = traces_of(lab, "web")
    kept = whole(Past(lab.store), envelope, blob)
    assert [(one["verb"], one["nodesIn"]) for one in kept["explanation"]["extenders"]] == [
        ("filter", 4),
        ("prioritize", 3),
    ]
    assert kept["result"]["scores"]["plugins"][URL]["weighted"] == [0, 50, 100]
    assert [one["verb"] for one in kept["input"]["extenders"]] == ["filter", "prioritize"]
    assert kept["input"]["extenders"][0]["answer"]["nodes"] == ["n0", "n2", "n3"]


def test_a_replayed_trace_is_the_kept_one_and_calls_nobody() -> None:
    made: list[ExtenderCall] = []

    def call(number: int, asked: ExtenderCall) -> Record:
        made.append(asked)
        return answered(asked)

    lab = lab_with(call, BOTH, TWO)
    lab.create(pod("web"), pod("wide", cpu="99"))
    lab.run(2)
    calls = len(made)
    for name in ("web", "wide"):
        for envelope, blob in traces_of(lab, name):
            assert whole(Past(lab.store), envelope, b"") == whole(Past(lab.store), envelope, blob)
    assert len(made) == calls == 3


def test_time_goes_on_while_an_extender_thinks_and_the_next_pod_waits() -> None:
    line = Line()
    lab = lab_with(line, BOTH)
    lab.create(pod("web"), pod("next"))
    lab.run(5)
    began_ms = lab.cluster.now_ms
    assert [asked.purpose for _, asked in line.open] == ["filter"]
    line.answer(lab)
    lab.run(2)
    line.answer(lab)
    lab.run(0.001)
    assert node_of(lab, "web") == "n3"
    bound = next(row for row in lab.rows() if row.name == "web" and row.object.get("spec", {}).get("nodeName"))
    assert bound.now_ms >= began_ms + 2_000
    assert node_of(lab, "next") == ""
    assert [asked.body["Pod"]["metadata"]["name"] for _, asked in line.open] == ["next"]


def test_scoring_extenders_are_asked_together_and_may_answer_in_any_order() -> None:
    line = Line()
    lab = lab_with(line, {**BOTH, "filterVerb": ""}, TWO)
    lab.create(pod("web"))
    lab.run(1)
    assert [asked.extender.url_prefix for _, asked in line.open] == [URL, f"{URL}/two"]
    line.answer(lab, 1)
    lab.run(1)
    assert node_of(lab, "web") == ""
    line.answer(lab)
    lab.run(1)
    assert node_of(lab, "web") == "n3"
    ((envelope, _),) = traces_of(lab, "web")
    assert [one["extender"] for one in envelope["input"]["extenders"]] == [URL, f"{URL}/two"]


def test_a_step_waits_for_the_answer_and_then_goes_to_its_point() -> None:
    line = Line()
    lab = lab_with(line, BOTH, pace=50)
    lab.ask("clocks.clustersim.io", "clock", {"paused": True})
    lab.create(pod("web"))
    for _ in range(3):
        lab.step("point")
    status = lab.step("point")
    assert (status["stepped"], status["stepping"]) == (0, True)
    replica = lab.get("replicas.clustersim.io", SCHEDULER, "")["status"]
    assert (replica["cycle"]["point"], replica["cycle"]["calls"]) == (
        "PreFilter",
        [{"extender": URL, "verb": "filter"}],
    )
    line.answer(lab)
    lab.obey()
    clock = lab.get("clocks.clustersim.io", "clock", "")["status"]
    assert clock["held"]["point"] == "Filter"
    assert (clock["stepped"], clock["stepping"]) == (1, False)
    replica = lab.get("replicas.clustersim.io", SCHEDULER, "")["status"]
    assert "calls" not in replica["cycle"]
    assert replica["cycle"]["trace"]["explanation"]["extenders"][0]["nodesOut"] == 3


def test_a_whole_cycle_asked_for_at_once_goes_on_from_answer_to_answer() -> None:
    line = Line()
    lab = lab_with(line, BOTH)
    lab.ask("clocks.clustersim.io", "clock", {"paused": True})
    lab.create(pod("web"), pod("next"))
    lab.step("cycle", 2)
    for _ in range(4):
        assert len(line.open) == 1
        line.answer(lab)
    lab.obey()
    assert lab.get("clocks.clustersim.io", "clock", "")["status"]["stepped"] == 2
    assert line.open == []
    assert [asked.purpose for _, asked in line.made] == ["filter", "prioritize"] * 2


def test_an_answer_while_time_stands_waits_for_time_to_go_on() -> None:
    line = Line()
    lab = lab_with(line, {**BOTH, "prioritizeVerb": ""})
    lab.create(pod("web"))
    lab.run(1)
    lab.ask("clocks.clustersim.io", "clock", {"paused": True})
    line.answer(lab)
    assert node_of(lab, "web") == ""
    lab.ask("clocks.clustersim.io", "clock", {"paused": False})
    lab.run(0.1)
    assert node_of(lab, "web") != ""


def test_what_was_asked_before_a_crash_is_answered_to_nobody() -> None:
    line = Line()
    lab = lab_with(line, {**BOTH, "prioritizeVerb": ""})
    lab.create(pod("web"))
    lab.run(1)
    lab.ask("replicas.clustersim.io", SCHEDULER, {"fault": {"id": 1, "kind": "crash", "seconds": 1}})
    revision = lab.store.revision
    line.answer(lab)
    assert lab.store.revision == revision
    lab.run(30)
    assert [asked.purpose for _, asked in line.made] == ["filter", "filter"]
    line.answer(lab)
    lab.run(1)
    assert node_of(lab, "web") != ""


def test_a_new_owner_takes_the_held_cycle_up_and_asks_nobody_again() -> None:
    line = Line()
    first = lab_with(line, BOTH, pace=50)
    first.ask("clocks.clustersim.io", "clock", {"paused": True})
    first.create(pod("web"))
    while first.get("clocks.clustersim.io", "clock", "")["status"].get("held", {}) != {
        "pod": "default/web",
        "point": "Filter",
        "replica": SCHEDULER,
    }:
        first.step("point")
        if line.open:
            line.answer(first)
            first.obey()
    left = first.get("replicas.clustersim.io", SCHEDULER, "")["status"]["cycle"]
    again = Line()
    second = Lab(store=first.store, call=again)
    second.obey()
    taken = second.get("replicas.clustersim.io", SCHEDULER, "")["status"]["cycle"]
    assert taken["point"] == "Filter"
    assert taken["trace"] == left["trace"]
    assert taken["input"] == left["input"]
    assert again.made == []
    shown = find(Past(second.store), taken["traceId"])
    assert shown is not None
    assert shown["result"]["feasible"] == ["n0", "n2", "n3"]
    second.step("point", 2)
    assert [asked.purpose for _, asked in again.made] == ["prioritize"]
    again.answer(second)
    second.ask("clocks.clustersim.io", "clock", {"paused": False})
    second.run(5)
    assert node_of(second, "web") == "n3"


def test_an_owner_that_stopped_in_the_middle_of_a_call_leaves_a_cycle_that_asks_once_more() -> None:
    line = Line()
    first = lab_with(line, BOTH, pace=50)
    first.ask("clocks.clustersim.io", "clock", {"paused": True})
    first.create(pod("web"))
    while not line.open:
        first.step("point")
    again = Line()
    second = Lab(store=first.store, call=again)
    second.ask("clocks.clustersim.io", "clock", {"paused": False})
    for _ in range(2):
        second.run(3)
        again.answer(second)
    second.run(3)
    assert [asked.purpose for _, asked in again.made] == ["filter", "prioritize"]
    assert node_of(second, "web") == "n3"


def _random_life(seed: int, call: Any) -> Lab:
    random = Random(seed)
    line = call if isinstance(call, Line) else None
    lab = Lab([node(f"n{number}") for number in range(4)], seed=seed, replicas=2, call=call)
    lab.do(configuration(BOTH, {**TWO, "ignorable": True, "preemptVerb": "preempt"}))
    paused = False
    for turn in range(50):
        lab.obey()
        if not paused:
            lab.cluster.advance(lab.cluster.now_ms + random.randrange(1, 700), max_events=random.choice([1, 5, 64]))
        while line is not None and line.open and random.random() < 0.7:
            line.answer(lab, random.randrange(len(line.open)))
        if random.random() < 0.5:
            lab.create(pod(f"p{turn}", cpu="900m"))
        if random.random() < 0.1:
            fault = {"id": turn + 1, "kind": random.choice(["crash", "recover", "recover"])}
            lab.do(
                Patch("replicas.clustersim.io", "", f"kube-scheduler-{random.randrange(2)}", {"spec": {"fault": fault}})
            )
        if random.random() < 0.2:
            lab.step(random.choice(["event", "point", "cycle", "seconds"]), random.randrange(1, 4))
            paused = True
        elif paused and random.random() < 0.6:
            lab.ask("clocks.clustersim.io", "clock", {"paused": False, "pace": random.choice([0, 0, 20])})
            paused = False
    lab.ask("clocks.clustersim.io", "clock", {"paused": False})
    lab.obey()
    for _ in range(30):
        lab.run(1)
        while line is not None and line.open:
            line.answer(lab)
    return lab


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("at_once", [False, True])
def test_a_session_run_again_from_its_log_gives_the_same_log_without_a_call(seed: int, at_once: bool) -> None:
    lab = _random_life(seed, (lambda number, asked: answered(asked)) if at_once else Line())
    log: list[Event] = lab.rows()
    answers = [
        row for row in log if row.resource == "replicas.clustersim.io" and row.object.get("status", {}).get("answer")
    ]
    assert answers
    again = rerun(log, seed=seed, epoch_ms=lab.store.epoch_ms)
    assert first_difference(log, list(again.events(0, len(log) + 1))) == "", f"_random_life({seed}, {at_once})"


# Earlier schedulers.


def test_a_policy_s_extender_scores_in_the_range_of_its_era() -> None:
    lab = Lab([node(f"n{number}") for number in range(4)], call=lambda number, asked: answered(asked))
    policy = {
        "kind": "Policy",
        "apiVersion": "v1",
        "predicates": [{"name": "PodFitsResources"}],
        "priorities": [{"name": "EqualPriority", "weight": 1}],
        "extenders": [{name: value for name, value in BOTH.items() if name != "nodeCacheCapable"}],
    }
    spec = {"era": "algorithm-provider", "policy": policy}
    lab.do(Patch("schedulerconfigs.clustersim.io", "", "default", {"spec": spec}))
    lab.obey()
    lab.run(3)
    lab.create(pod("web"))
    lab.run(2)
    assert node_of(lab, "web") == "n3"
    ((envelope, blob),) = traces_of(lab, "web")
    part = whole(Past(lab.store), envelope, blob)["result"]["scores"]["plugins"][URL]
    assert (part["raw"], part["normalized"], part["weighted"]) == ([0, 1, 2], [0, 1, 2], [0, 5, 10])


@pytest.mark.parametrize("era", ["v1.34", "framework-1.18"])
def test_an_extender_sees_the_preemption_of_each_era_that_has_one(era: str) -> None:
    def veto(number: int, asked: ExtenderCall) -> Record:
        victims = asked.body["NodeNameToMetaVictims"]
        left = {name: pods for name, pods in victims.items() if name == "n2"}
        return wire.read(asked, HttpAnswer(200, json.dumps({"NodeNameToMetaVictims": left}).encode()))

    lab = Lab([node(f"n{number}", cpu="1") for number in range(3)], call=veto, kubelets=False)
    extenders = [{"urlPrefix": URL, "preemptVerb": "preempt", "nodeCacheCapable": True}]
    spec = {"era": era, "configuration": {"extenders": extenders}}
    lab.do(Patch("schedulerconfigs.clustersim.io", "", "default", {"spec": spec}))
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    lab.create(high, *(pod(f"low{number}", cpu="1") for number in range(3)))
    lab.obey()
    lab.run(5)
    lab.create(pod("boss", cpu="1", priorityClassName="high"))
    lab.run(1)
    assert lab.get("pods", "boss")["status"]["nominatedNodeName"] == "n2"
    (gone,) = [one["metadata"]["name"] for one in lab.list("pods") if "deletionTimestamp" in one["metadata"]]
    assert node_of(lab, gone) == "n2"
    envelope = traces_of(lab, "boss")[-1][0]
    told = envelope["explanation"]
    assert [(one["verb"], one["nodesIn"], one["nodesOut"]) for one in told["extenders"]] == [("preempt", 3, 1)]
    assert {one["node"]: one["eliminatedBy"] for one in told["preemption"]["candidates"]} == {
        "n0": URL,
        "n1": URL,
        "n2": "",
    }


def test_a_scenario_calls_extenders_where_it_is_given_a_transport() -> None:
    document = {
        "nodes": [{"count": 3, "name": "n"}],
        "objects": [pod("web")],
        "scheduler": {"configuration": {"extenders": [BOTH]}},
        "until": 20,
    }
    store, _ = run(read(document, {"empty": Start((), 1, 0)}), seed=1, call=lambda number, asked: answered(asked))
    stored = store.get("pods", "default", "web")
    assert stored is not None
    assert stored.object["spec"]["nodeName"] == "n-3"
    store, _ = run(read(document, {"empty": Start((), 1, 0)}), seed=1)
    (event,) = {one.object["message"] for one in store.list("events")[0] if one.object["reason"] == "FailedScheduling"}
    assert event.startswith("the extender was not called")
