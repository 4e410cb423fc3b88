"""The life of nodes to its end: silence, taints, evictions, zones, orphans, machines that come back."""

from __future__ import annotations

import pytest

from controllers.admission.taintnodesbycondition import STOPPED
from controllers.log.operations import Create, Delete, Patch
from controllers.log.stamps import unix_ms_of, wire_time
from controllers.nodelifecycle.zones import Emptying, state_of
from scheduler_core.api.document import Document, condition
from tests.tools.lab import Lab, node, pod, workload

UNREACHABLE = "node.kubernetes.io/unreachable"
NOT_READY = "node.kubernetes.io/not-ready"


def stop(lab: Lab, *names: str) -> None:
    since = wire_time(lab.store.epoch_ms + lab.cluster.now_ms)
    for name in names:
        lab.do(Patch("nodes", "", name, {"metadata": {"annotations": {STOPPED: since}}}))


def start(lab: Lab, *names: str) -> None:
    for name in names:
        lab.do(Patch("nodes", "", name, {"metadata": {"annotations": {STOPPED: None}}}))


def flags(lab: Lab, **asked: str) -> None:
    spec = {"kube-controller-manager": {name.replace("_", "-"): value for name, value in asked.items()}}
    if lab.store.get("flags.clustersim.io", "", "flags") is None:
        lab.create({"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": "flags"}, "spec": spec})
    else:
        lab.do(Patch("flags.clustersim.io", "", "flags", {"spec": spec}))
    lab.obey()


def taints(lab: Lab, name: str) -> set[tuple[str, str]]:
    return {(one["key"], one["effect"]) for one in lab.get("nodes", name, "")["spec"].get("taints") or ()}


def executed(lab: Lab) -> list[str]:
    """Return the names of the nodes with a NoExecute taint."""
    return [
        one["metadata"]["name"]
        for one in lab.list("nodes")
        if any(taint["effect"] == "NoExecute" for taint in one["spec"].get("taints") or ())
    ]


def messages(lab: Lab, name: str) -> list[str]:
    found = [row.object for row in lab.rows() if row.resource == "events" and row.verb == "ADDED"]
    return [one["message"] for one in found if one["involvedObject"]["name"] == name]


def source(lab: Lab, reason: str) -> str:
    found = [row.object for row in lab.rows() if row.resource == "events" and row.object["reason"] == reason]
    return str(found[0]["source"]["component"])


def tainted(lab: Lab, name: str, *keys: str) -> None:
    asked = [{"key": key, "effect": "NoExecute"} for key in keys]
    lab.do(Patch("nodes", "", name, {"spec": {"taints": asked or None}}))


def test_every_node_comes_tainted_and_loses_the_taint_when_it_is_ready() -> None:
    lab = Lab([])
    lab.create(node("n1"))
    assert taints(lab, "n1") == {(NOT_READY, "NoSchedule")}
    lab.run(5)
    assert taints(lab, "n1") == set()
    assert "Node n1 event: Registered Node n1 in Controller" in messages(lab, "n1")
    assert source(lab, "RegisteredNode") == "node-controller"


def test_a_pod_that_does_not_tolerate_a_taint_leaves_at_once_and_says_why() -> None:
    lab = Lab([node("n1"), pod("web", nodeName="n1")])
    lab.run(10)
    lab.do(Patch("nodes", "", "n1", {"spec": {"taints": [{"key": "bad", "effect": "NoExecute"}]}}))
    lab.run(5)
    assert lab.store.get("pods", "default", "web") is None
    last = [row.object for row in lab.rows() if row.resource == "pods" and row.verb == "MODIFIED"][-1]
    told = condition(last, "DisruptionTarget")
    assert told is not None
    assert (told["status"], told["reason"], told["message"], told["observedGeneration"]) == (
        "True",
        "DeletionByTaintManager",
        "Taint manager: deleting due to NoExecute taint",
        1,
    )
    assert "Marking for deletion Pod default/web" in messages(lab, "web")
    assert source(lab, "TaintManagerEviction") == "taint-eviction-controller"


@pytest.mark.parametrize(
    ("seconds", "after", "stays"), [(None, 500, True), (30, 25, True), (30, 40, False), (0, 5, False)]
)
def test_toleration_seconds_say_how_long_a_pod_stays(seconds: int | None, after: int, stays: bool) -> None:
    toleration: Document = {"key": "bad", "operator": "Exists"}
    if seconds is not None:
        toleration |= {"tolerationSeconds": seconds, "effect": "NoExecute"}
    lab = Lab([node("n1"), pod("web", nodeName="n1", tolerations=[toleration])])
    lab.run(10)
    tainted(lab, "n1", "bad")
    lab.run(after)
    assert (lab.store.get("pods", "default", "web") is not None) is stays


def test_the_shortest_of_several_tolerations_holds_and_a_taint_taken_away_cancels() -> None:
    long = {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 100}
    short = {"key": "b", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 20}
    lab = Lab([node("n1"), *(pod(name, nodeName="n1", tolerations=[long, short]) for name in ("spared", "late"))])
    lab.run(10)
    tainted(lab, "n1", "a", "b")
    lab.run(15)
    tainted(lab, "n1")
    lab.run(100)
    assert "Cancelling deletion of Pod default/spared" in messages(lab, "spared")
    tainted(lab, "n1", "a", "b")
    lab.run(30)
    assert lab.list("pods") == []


def test_a_silent_node_loses_its_pods_after_their_toleration_and_a_daemon_stays() -> None:
    forever = [{"key": UNREACHABLE, "operator": "Exists", "effect": "NoExecute"}]
    lab = Lab(
        [node("n1"), node("n2"), workload("ReplicaSet", "web", 2), pod("daemon", nodeName="n1", tolerations=forever)]
    )
    lab.run(20)
    stop(lab, "n1")
    lab.run(80)
    assert taints(lab, "n1") == {(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")}
    assert "Node n1 status is now: NodeNotReady" in messages(lab, "n1")
    lab.run(320)
    running = [one for one in lab.list("pods") if "deletionTimestamp" not in one["metadata"]]
    assert sorted(one["spec"]["nodeName"] for one in running) == ["n1", "n2", "n2"]
    assert "deletionTimestamp" not in lab.get("pods", "daemon")["metadata"]
    # Nobody is there to end the others: they wait for their kubelet.
    waiting = [one for one in lab.list("pods") if "deletionTimestamp" in one["metadata"]]
    assert {one["spec"]["nodeName"] for one in waiting} == {"n1"}
    start(lab, "n1")
    lab.run(20)
    assert taints(lab, "n1") == set()
    assert all("deletionTimestamp" not in one["metadata"] for one in lab.list("pods"))


def test_periods_are_flags_and_hold_at_once() -> None:
    lab = Lab([node("n1"), node("n2")])
    lab.run(20)
    stop(lab, "n1")
    lab.run(5)
    flags(lab, node_monitor_grace_period="12s", node_monitor_period="2s")
    lab.run(20)
    ready = condition(lab.get("nodes", "n1", ""), "Ready")
    assert ready is not None
    assert ready["status"] == "Unknown"
    since_ms = unix_ms_of(ready["lastTransitionTime"]) - lab.store.epoch_ms
    assert 25_000 <= since_ms <= 36_000


def test_nodes_of_one_zone_are_emptied_one_in_ten_seconds() -> None:
    lab = Lab([node(f"n{number}") for number in range(6)])
    lab.run(20)
    stop(lab, "n1", "n3")
    lab.run(56)
    found = [executed(lab)]
    while len(found[-1]) < 2:
        lab.run(1)
        found.append(executed(lab))
        assert len(found) < 60, "the second node never had its turn"
    assert found.count(["n1"]) == 10


def test_when_nothing_is_ready_nothing_is_emptied_and_when_something_is_it_goes_on() -> None:
    lab = Lab([node("n1"), node("n2")])
    lab.run(20)
    stop(lab, "n1", "n2")
    lab.run(200)
    assert executed(lab) == []
    assert all((UNREACHABLE, "NoSchedule") in taints(lab, name) for name in ("n1", "n2"))
    start(lab, "n2")
    lab.run(30)
    assert executed(lab) == ["n1"]


def test_a_small_zone_that_is_mostly_lost_is_not_emptied() -> None:
    lab = Lab([node(f"n{number}") for number in range(5)])
    lab.run(20)
    stop(lab, "n0", "n1", "n2")
    lab.run(200)
    # The first may go before the zone counts as lost, never more.
    assert len(executed(lab)) <= 1
    flags(lab, large_cluster_size_threshold="3", secondary_node_eviction_rate="0.5")
    start(lab, "n0")
    lab.run(20)
    stop(lab, "n0")
    lab.run(200)
    assert executed(lab) == ["n0", "n1", "n2"]


@pytest.mark.parametrize(
    ("ready", "unready", "expected"),
    [
        (3, 0, "Normal"),
        (0, 1, "FullDisruption"),
        (1, 2, "Normal"),
        (2, 3, "PartialDisruption"),
        (9, 11, "PartialDisruption"),
        (10, 10, "Normal"),
    ],
)
def test_states_of_zones(ready: int, unready: int, expected: str) -> None:
    assert state_of(ready, unready, 0.55) == expected


def test_a_rate_of_nothing_holds_and_the_next_rate_begins_with_a_wait() -> None:
    emptying = Emptying(0.1)
    emptying.waiting.update(dict.fromkeys("abc"))
    assert (emptying.take(0), emptying.take(9_999), emptying.take(10_000)) == ("a", None, "b")
    emptying.set_rate(0, 10_000)
    assert (emptying.take(60_000), emptying.next_ms()) == (None, None)
    emptying.set_rate(1, 60_000)
    assert (emptying.take(60_999), emptying.take(61_000)) == (None, "c")


def test_pods_of_a_node_that_is_gone_go_after_the_quarantine() -> None:
    lab = Lab([node("n1"), node("n2"), pod("web", nodeName="n1"), pod("stray", nodeName="nowhere")])
    lab.run(20)
    lab.do(Delete("nodes", "", "n1"))
    lab.run(15)
    assert len(lab.list("pods")) == 2
    lab.run(70)
    assert lab.list("pods") == []
    rows = [row for row in lab.rows() if row.resource == "pods" and row.name == "web"]
    marked, ending = rows[-3].object, rows[-2].object
    told = condition(marked, "DisruptionTarget")
    assert marked["status"]["phase"] == "Failed"
    assert told is not None
    assert (told["reason"], told["message"]) == ("DeletionByPodGC", "PodGC: node no longer exists")
    assert ending["metadata"]["deletionGracePeriodSeconds"] == 0
    assert "Node n1 event: Removing Node n1 from Controller" in messages(lab, "n1")


def test_a_node_that_is_registered_anew_keeps_its_pods() -> None:
    lab = Lab([node("n1"), pod("web", nodeName="n1")])
    lab.run(20)
    lab.do(Delete("nodes", "", "n1"))
    lab.run(30)
    lab.create(node("n1"))
    lab.run(120)
    assert lab.get("pods", "web")["status"]["phase"] == "Running"


def test_the_oldest_finished_pods_above_the_threshold_go() -> None:
    lab = Lab([node("n1")])
    flags(lab, terminated_pod_gc_threshold="3")
    for number in range(6):
        lab.create(pod(f"p{number}"))
        lab.run(2)
    for number in range(6):
        lab.do(Patch("pods", "default", f"p{number}", {"status": {"phase": "Succeeded"}}, "merge", "status"))
    lab.run(41)
    assert [one["metadata"]["name"] for one in lab.list("pods")] == ["p3", "p4", "p5"]


def test_pods_that_end_on_a_node_out_of_service_are_removed() -> None:
    lab = Lab([node("n1"), node("n2"), pod("web", nodeName="n1")])
    lab.run(20)
    stop(lab, "n1")
    lab.run(70)
    lab.do(Delete("pods", "default", "web"))
    lab.run(60)
    assert "deletionTimestamp" in lab.get("pods", "web")["metadata"]
    known = lab.get("nodes", "n1", "")["spec"]["taints"]
    outside = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute", "value": "nodeshutdown"}
    lab.do(Patch("nodes", "", "n1", {"spec": {"taints": [*known, outside]}}))
    lab.run(21)
    assert lab.store.get("pods", "default", "web") is None


def test_a_node_whose_machine_is_gone_goes_and_a_new_one_registers() -> None:
    lab = Lab([node("n1"), node("n2"), pod("web", nodeName="n1")])
    lab.run(20)
    lab.do(Patch("nodes", "", "n1", {"metadata": {"annotations": {"clustersim.io/kubelet": "gone"}}}))
    lab.run(40)
    assert lab.store.get("nodes", "", "n1") is not None, "while it is ready nobody asks whether it exists"
    lab.run(40)
    assert lab.store.get("nodes", "", "n1") is None
    assert "Deleting node n1 because it does not exist in the cloud provider" in messages(lab, "n1")
    assert source(lab, "DeletingNode") == "cloud-node-lifecycle-controller"
    lab.run(100)
    assert lab.list("pods", "default") == []
    lab.create(node("n1"))
    lab.run(10)
    assert condition(lab.get("nodes", "n1", ""), "Ready") is not None
    assert taints(lab, "n1") == set()


def test_a_healthy_idle_cluster_looks_at_nothing() -> None:
    lab = Lab([node("n1"), node("n2"), pod("web")])
    lab.run(60)
    revision = lab.store.revision
    lab.run(60)
    # Electors alone go on.
    assert {row.resource for row in lab.rows(revision)} == {"leases.coordination.k8s.io"}


def test_a_pod_deleted_without_a_node_is_removed_by_its_finalizer_alone() -> None:
    lab = Lab([])
    held = pod("web")
    held["metadata"]["finalizers"] = ["example.dev/hold"]
    lab.do(Create("pods", "default", held))
    lab.do(Delete("pods", "default", "web"))
    lab.run(45)
    found = lab.get("pods", "web")
    assert (found["status"]["phase"], "deletionTimestamp" in found["metadata"]) == ("Failed", True)
    lab.do(Patch("pods", "default", "web", {"metadata": {"finalizers": None}}))
    lab.run(1)
    assert lab.list("pods") == []


def test_nodes_are_told_how_long_what_they_read_may_be_kept_longer_the_more_there_are() -> None:
    def told(lab: Lab) -> dict[str, int]:
        values = [one["metadata"]["annotations"]["node.alpha.kubernetes.io/ttl"] for one in lab.list("nodes")]
        return {value: values.count(value) for value in sorted(set(values))}

    lab = Lab([node(f"n{number}") for number in range(100)])
    lab.run(5)
    assert told(lab) == {"0": 100}
    lab.create(node("last"))
    lab.run(5)
    assert told(lab) == {"15": 101}
    lab.do(Patch("nodes", "", "n1", {"metadata": {"annotations": {"node.alpha.kubernetes.io/ttl": "x"}}}))
    for number in range(90, 100):
        lab.do(Delete("nodes", "", f"n{number}"))
    lab.run(5)
    assert told(lab) == {"15": 91}, "fewer by ten are not few enough"
    lab.do(Delete("nodes", "", "n0"))
    lab.do(Delete("nodes", "", "n2"))
    lab.run(5)
    assert told(lab) == {"0": 89}
