"""The eras before the framework in a running control plane: names, reasons, turns, replay, expiry."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import yaml

from controllers.cluster import found
from controllers.log.memory import MemoryStore
from controllers.log.operations import Patch
from controllers.scenario import Start, read, run
from controllers.scheduler.decisions import whole
from controllers.scheduler.past import Past
from scheduler_core.legacy.conflicts import conflicts_of
from scheduler_core.snapshot.node_info import PodInfo
from tests.controllers.scheduler.plane import IDENTITY, AlwaysLeading, Plane

CONFIGS = "schedulerconfigs.clustersim.io"
PORT = [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 8080}]}]


def plane_of(era: str, *, seed: int = 7, **spec: Any) -> Plane:
    store = MemoryStore(seed=seed)
    found(store)
    plane = Plane(store)
    switch(plane, era, **spec)
    return plane


def switch(plane: Plane, era: str, **spec: Any) -> None:
    patch = [{"op": "add", "path": "/spec", "value": {"era": era, **spec}}]
    result = plane.write(Patch(CONFIGS, "", "default", patch, "json"))
    assert result.error is None
    plane.run(plane.loop.now_ms)


def traces(plane: Plane, uid: str) -> list[dict[str, Any]]:
    """Return a pod's traces, newest first, after seeing that each is replayed from its input as it was kept."""
    shown = []
    for envelope, blob in plane.store.traces(uid):
        told = whole(Past(plane.store), envelope, blob)
        assert whole(Past(plane.store), envelope, b"") == told
        shown.append(told["result"])
    return shown


def test_a_trace_speaks_the_era_s_language() -> None:
    plane = plane_of("algorithm-provider")
    plane.node("a")
    plane.node("b", cpu="500m")
    plane.node("c")
    plane.node("off", unschedulable=True)
    plane.pod("first", containers=PORT)
    plane.run(0)
    uid = plane.pod("web", cpu="1", priority=None)
    plane.run(0)
    (result,) = traces(plane, uid)
    assert result["result"] == "scheduled"
    assert result["filters"]["b"] == {"PodFitsResources": {"code": "Unschedulable", "reasons": ["Insufficient CPU"]}}
    assert list(result["filters"]["off"]) == ["NodeLister"]
    assert list(result["scores"]["plugins"]) == [
        "LeastRequestedPriority", "BalancedResourceAllocation", "SelectorSpreadPriority",
    ]  # fmt: skip
    assert result["scores"]["skip"] == ["NodeAffinityPriority"]
    assert all(0 <= score <= 10 for part in result["scores"]["plugins"].values() for score in part["normalized"])
    (note, _) = (event["message"] for event in plane.events("Scheduled"))
    assert note.startswith("Successfully assigned first to ")
    status = plane.store.get(CONFIGS, "", "default").object["status"]  # type: ignore[union-attr]
    assert len(status["profiles"][0]["plugins"]) == 3 + 8 + 4


def test_a_pod_that_fits_nowhere_is_told_so_node_by_node_and_tried_again_without_an_event() -> None:
    plane = plane_of("algorithm-provider")
    plane.node("a")
    plane.node("b")
    for name in ("x", "y", "z"):
        plane.pod(name, containers=PORT)
    plane.run(0)
    message = (
        "pod (z) failed to fit in any node\n"
        "fit failure on node (a): PodFitsHostPorts\n"
        "fit failure on node (b): PodFitsHostPorts\n"
    )
    (condition,) = plane.get("z")["status"]["conditions"]
    assert (condition["reason"], condition["message"]) == ("Unschedulable", message)
    # At 0, then after 1, 2, 4, 8, 16, 32 and from then on 60 seconds: nothing happens, and yet it is tried.
    plane.run(70_000)
    (event,) = plane.events("FailedScheduling")
    assert (event["count"], event["message"]) == (7, message)
    assert plane.queue()["counts"]["unschedulable"] == 0
    assert plane.queue()["backoff"][0]["pod"] == "default/z"
    plane.delete("pods", "x", grace=0)
    plane.run(130_000)
    assert plane.node_of("z") != ""


def test_there_is_no_preemption_and_no_priority_in_the_era() -> None:
    plane = plane_of("algorithm-provider")
    plane.node("a", cpu="1")
    plane.pod("low", cpu="1")
    plane.run(0)
    uid = plane.pod("high", cpu="1", priorityClassName="system-cluster-critical")
    plane.run(10_000)
    assert plane.node_of("high") == ""
    assert plane.node_of("low") == "a"
    assert "preemption" not in traces(plane, uid)[0]


def test_round_robin_takes_the_next_node_whatever_fits() -> None:
    plane = plane_of("round-robin")
    for name in ("a", "b", "c"):
        plane.node(name, cpu="1")
    uids = [plane.pod(f"p{number}", containers=PORT) for number in range(7)]
    plane.run(0)
    assert [plane.node_of(f"p{number}") for number in range(7)] == ["a", "b", "c", "a", "b", "c", "a"]
    for uid in uids:
        (result,) = traces(plane, uid)
        assert result["feasible"] == [result["chosen"]]
        assert "scores" not in result
    pods = [plane.get(f"p{number}") for number in range(7)]
    nodes = [stored.object for stored in plane.store.list("nodes")[0]]
    assert conflicts_of(nodes, pods).counts() == {"hostPorts": 4, "cpu": 0, "memory": 0, "pods": 0}


def test_round_robin_leaves_out_nodes_that_are_not_listed_and_keeps_its_turn() -> None:
    plane = plane_of("round-robin")
    plane.node("a")
    plane.node("b", unschedulable=True)
    plane.node("c")
    uid = ""
    for number in range(4):
        uid = plane.pod(f"p{number}")
    plane.run(0)
    assert [plane.node_of(f"p{number}") for number in range(4)] == ["a", "c", "a", "c"]
    (result,) = traces(plane, uid)
    assert result["firstFail"]["b"]["plugin"] == "NodeLister"
    (envelope, _), *_ = plane.store.traces(uid, 1)
    line = envelope["summary"]
    assert (line["node"], line["feasible"], line["alone"]) == ("c", 1, "turn"), "the first that fits, not the only one"
    assert "points" not in line
    plane.delete("nodes", "a")
    plane.delete("nodes", "c")
    plane.pod("late")
    plane.run(1_000)
    assert plane.get("late")["status"]["conditions"][0]["message"] == "no nodes available to schedule pods"


def test_the_era_changes_at_the_next_cycle_and_traces_of_both_stay_readable() -> None:
    plane = plane_of("round-robin")
    plane.node("a")
    plane.node("b")
    before = plane.pod("before")
    plane.run(0)
    switch(plane, "algorithm-provider", policy={"priorities": [{"name": "EqualPriority", "weight": 4}]})
    after = plane.pod("after")
    plane.run(1_000)
    assert "scores" not in traces(plane, before)[0]
    assert traces(plane, after)[0]["scores"]["total"] == [4, 4]
    assert plane.scheduler.scheduler.cache.expiry_ms == 30_000


def test_an_assumed_pod_is_shown_with_its_expiry_and_counts_no_longer_then() -> None:
    """The watch says nothing of the binding: after 30 s the Modeler forgets it."""
    plane = plane_of("algorithm-provider")
    plane.node("a", cpu="1")
    uid = plane.pod("web", cpu="1")
    scheduler = plane.scheduler.scheduler
    observe = scheduler.observe_pod

    def deaf_to_bindings(info: PodInfo) -> None:
        if not info.pod.spec.node_name:
            observe(info)

    scheduler.observe_pod = deaf_to_bindings  # type: ignore[method-assign]
    plane.run(5_000)
    (assumed,) = plane.queue()["assumed"]
    expires_ms = assumed.pop("expiresAtMs")
    assert assumed == {"pod": "default/web", "uid": uid, "node": "a"}
    assert 30_000 <= expires_ms <= 31_000
    plane.pod("next", cpu="1")
    plane.run(29_000)
    assert plane.node_of("next") == ""
    plane.run(90_000)
    assert plane.node_of("next") == "a"
    assert all(one["pod"] != "default/web" for one in plane.queue()["assumed"])


SCENARIO = """
name: load
scheduler: {{era: {era}}}
nodes: [{{count: 3, name: node, cpu: 4, memory: 8Gi}}]
objects:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {{name: web, namespace: default}}
    spec:
      replicas: 8
      selector: {{matchLabels: {{app: web}}}}
      template:
        metadata: {{labels: {{app: web}}}}
        spec:
          containers:
            - name: web
              image: "i:1"
              ports: [{{containerPort: 80, hostPort: 80}}]
              resources: {{requests: {{cpu: "2"}}}}
until: 30
"""


@pytest.mark.parametrize(
    ("era", "bound", "conflicts"),
    [("round-robin", 8, {"hostPorts": 5, "cpu": 2}), ("algorithm-provider", 3, {"hostPorts": 0, "cpu": 0})],
)
def test_the_same_load_under_both_eras(era: str, bound: int, conflicts: dict[str, int]) -> None:
    scenario = read(yaml.safe_load(SCENARIO.format(era=era)), {"empty": Start((), 1, 0)})
    summaries = [run(scenario, seed=seed)[1] for seed in (3, 3, 4)]
    assert summaries[0] == summaries[1]
    assert summaries[0]["logSha256"] != summaries[2]["logSha256"]
    for summary in summaries:
        assert summary["bound"] == bound
        assert summary["conflicts"] == {"memory": 0, "pods": 0, **conflicts}


def test_equals_are_drawn_and_the_lot_is_in_the_trace() -> None:
    chosen = set()
    for seed in range(12):
        plane = plane_of("algorithm-provider", seed=seed)
        for name in ("a", "b", "c"):
            plane.node(name)
        uid = plane.pod("web")
        plane.run(0)
        (result,) = traces(plane, uid)
        assert result["best"] == ["a", "b", "c"]
        assert result["lot"]["of"][result["lot"]["draw"]] == result["chosen"] == plane.node_of("web")
        chosen.add(result["chosen"])
    assert len(chosen) > 1


def test_traces_are_kept_in_the_common_format() -> None:
    keys = {}
    for era in ("v1.34", "algorithm-provider", "round-robin"):
        plane = plane_of(era)
        plane.node("a")
        uid = plane.pod("web")
        plane.run(0)
        ((envelope, blob),) = plane.store.traces(uid)
        keys[era] = (set(envelope) - {"explanation"}, set(msgspec.json.decode(blob)))
        assert (envelope["era"], envelope["scoreMax"]) == (era, 100 if era == "v1.34" else 10)
    assert keys["algorithm-provider"] == keys["round-robin"] == keys["v1.34"]


def test_a_node_that_is_relabelled_keeps_its_pods() -> None:
    plane = plane_of("algorithm-provider")
    plane.node("a")
    plane.write(Patch("nodes", "", "a", {"metadata": {"labels": {"disk": "ssd"}}}, "merge"))
    plane.pod("web", nodeSelector={"disk": "ssd"})
    plane.run(1_000)
    plane.write(Patch("nodes", "", "a", {"metadata": {"labels": {"disk": "hdd"}}}, "merge"))
    plane.pod("late", nodeSelector={"disk": "ssd"})
    plane.run(120_000)
    assert (plane.node_of("web"), plane.node_of("late")) == ("a", "")
    assert plane.get("late")["status"]["conditions"][0]["message"].endswith(
        "fit failure on node (a): MatchNodeSelector\n"
    )


def test_stopping_closes_every_reflector() -> None:
    """The era's StopEverything: what a stopped scheduler knew stays as it was; the next one lists anew."""
    plane = plane_of("algorithm-provider")
    plane.node("a")
    plane.run(0)
    stopped = plane.scheduler.scheduler
    plane.loop.crash(plane.slot)
    uid = plane.pod("web")
    plane.node("b")
    plane.run(10_000)
    assert uid not in stopped.pods
    assert stopped.cache.node("b") is None
    assert plane.node_of("web") == ""
    plane.scheduler = AlwaysLeading(IDENTITY)
    plane.loop.recover(plane.slot)
    plane.run(20_000)
    assert plane.scheduler.scheduler is not stopped
    assert plane.node_of("web") != ""


def test_a_pod_that_waits_is_tried_again_when_the_era_changes() -> None:
    plane = plane_of("v1.34")
    plane.node("a", cpu="1")
    plane.pod("big", cpu="4")
    plane.run(1_000)
    assert plane.queue()["counts"]["unschedulable"] == 1
    switch(plane, "round-robin")
    plane.run(13_000)
    assert plane.node_of("big") == "a"
