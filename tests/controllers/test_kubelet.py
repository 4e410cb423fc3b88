"""Hollow kubelets and what the node life-cycle controller makes of them."""

from __future__ import annotations

import pytest

from controllers.kinds.coordination.heartbeat import node_lease, renewed_unix_ms
from controllers.log.memory import DEFAULT_EPOCH_MS
from controllers.log.operations import Delete, Patch
from controllers.log.stamps import unix_ms_of
from tests.tools.lab import Document, Lab, node, pod, workload

STOPPED = "clustersim.io/kubelet-stopped-at"


def conditions(document: Document) -> dict[str, str]:
    return {entry["type"]: entry["status"] for entry in document["status"]["conditions"]}


def test_a_pod_comes_up_in_the_order_that_people_know() -> None:
    lab = Lab([node("n1"), pod("web")])
    lab.run(10)
    assert lab.reasons("web") == ["Scheduled", "Pulling", "Pulled", "Created", "Started"]
    states = [
        (row.object["status"]["phase"], next(iter(entry["state"])))
        for row in lab.rows()
        if row.resource == "pods"
        for entry in row.object["status"].get("containerStatuses", [])
    ]
    assert states == [("Pending", "waiting"), ("Running", "running")]
    status = lab.get("pods", "web")["status"]
    assert conditions(lab.get("pods", "web")) == {
        "PodReadyToStartContainers": "True",
        "Initialized": "True",
        "Ready": "True",
        "ContainersReady": "True",
        "PodScheduled": "True",
    }
    assert status["podIP"].startswith("10.128.1.")
    assert status["podIPs"] == [{"ip": status["podIP"]}]
    assert status["hostIP"] == "192.168.0.1"
    (container,) = status["containerStatuses"]
    assert container["ready"]
    assert container["containerID"].startswith("containerd://")


def test_an_image_is_pulled_once_and_listed_by_its_node() -> None:
    lab = Lab([node("n1"), workload("ReplicaSet", "web", 3)])
    lab.run(30)
    messages = [row.object["message"] for row in lab.rows() if row.resource == "events" and row.verb == "ADDED"]
    first = [text for text in messages if text.startswith("Successfully pulled")]
    assert first
    lab.create(pod("late"))
    lab.run(10)
    assert lab.reasons("late") == ["Scheduled", "Pulled", "Created", "Started"]
    (image,) = lab.get("nodes", "n1", "")["status"]["images"]
    (told,) = lab.get("pods", "late")["status"]["containerStatuses"]
    assert image["names"] == [told["imageID"], told["image"], "nginx:1.27"]
    assert f"Image size: {image['sizeBytes']} bytes." in first[0]


def test_init_containers_run_before_and_sidecars_beside() -> None:
    init = [{"name": "setup", "image": "busybox:1"}, {"name": "side", "image": "envoy:1", "restartPolicy": "Always"}]
    lab = Lab([node("n1"), pod("web", initContainers=init)])
    lab.run(20)
    setup, side = lab.get("pods", "web")["status"]["initContainerStatuses"]
    assert setup["state"]["terminated"]["reason"] == "Completed"
    assert "running" in side["state"]
    started = [
        row.object["message"] for row in lab.rows() if row.resource == "events" and row.object["reason"] == "Started"
    ]
    assert started == [f"Started container {name}" for name in ("setup", "side", "main")]


def test_deletion_is_graceful_and_quick_for_the_well_behaved() -> None:
    lab = Lab([node("n1"), pod("web")])
    lab.run(10)
    lab.do(Delete("pods", "default", "web"))
    marked = lab.get("pods", "web")["metadata"]
    assert marked["deletionGracePeriodSeconds"] == 30
    asked_ms = lab.cluster.now_ms
    lab.run(5)
    assert lab.list("pods") == []
    gone = next(row for row in lab.rows() if row.resource == "pods" and row.verb == "DELETED")
    assert gone.actor == "kubelet/n1"
    assert asked_ms + 500 <= gone.now_ms <= asked_ms + 2_100
    assert lab.reasons("web")[-1] == "Killing"


@pytest.mark.parametrize(("sleeps", "seconds"), [(10, 10), (60, 30)], ids=["its sleep", "its grace, which is shorter"])
def test_a_hook_that_sleeps_before_the_stop_keeps_the_pod(sleeps: int, seconds: int) -> None:
    sleeper = {"name": "main", "image": "nginx:1.27", "lifecycle": {"preStop": {"sleep": {"seconds": sleeps}}}}
    lab = Lab([node("n1"), pod("web", containers=[sleeper], terminationGracePeriodSeconds=60)])
    lab.run(10)
    lab.do(Delete("pods", "default", "web", grace_period_seconds=30))
    asked_ms = lab.cluster.now_ms
    lab.run(40)
    gone = next(row for row in lab.rows() if row.resource == "pods" and row.verb == "DELETED")
    assert asked_ms + seconds * 1_000 <= gone.now_ms <= asked_ms + seconds * 1_000 + 2_100


def test_one_second_of_grace_is_one_second_at_most() -> None:
    lab = Lab([node("n1"), *(pod(f"web-{number}") for number in range(20))])
    lab.run(20)
    for number in range(20):
        lab.do(Delete("pods", "default", f"web-{number}", grace_period_seconds=1))
    asked_ms = lab.cluster.now_ms
    lab.run(3)
    gone = [row.now_ms for row in lab.rows() if row.resource == "pods" and row.verb == "DELETED"]
    assert len(gone) == 20
    assert max(gone) <= asked_ms + 1_000 + 50


def test_every_running_pod_has_an_address_of_its_own_also_after_the_kubelets_lost_their_memory() -> None:
    lab = Lab([node("n1"), node("n2"), workload("ReplicaSet", "web", 10)])
    lab.run(20)
    again = Lab(store=lab.store)
    again.do(Patch("replicasets.apps", "default", "web", {"spec": {"replicas": 30}}, "merge", "scale"))
    again.run(30)
    addresses = [one["status"]["podIP"] for one in again.list("pods")]
    assert len(set(addresses)) == len(addresses) == 30


def test_a_kubelet_without_memory_plays_on_from_where_pods_stand() -> None:
    lab = Lab([node("n1"), workload("ReplicaSet", "web", 5)])
    lab.run(0.4)
    assert {one["status"]["phase"] for one in lab.list("pods")} == {"Pending"}
    again = Lab(store=lab.store)
    again.run(30)
    assert {one["status"]["phase"] for one in again.list("pods")} == {"Running"}


def test_a_node_registers_with_what_its_kubelet_knows() -> None:
    bare = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "bare"}}
    lab = Lab([bare])
    lab.run(1)
    found = lab.get("nodes", "bare", "")
    assert (
        found["status"]["capacity"] == found["status"]["allocatable"] == {"cpu": "4", "memory": "16Gi", "pods": "110"}
    )
    assert conditions(found) == {
        "MemoryPressure": "False",
        "DiskPressure": "False",
        "PIDPressure": "False",
        "Ready": "True",
    }
    assert found["spec"]["podCIDR"] == "10.128.1.0/24"
    assert found["metadata"]["labels"]["kubernetes.io/hostname"] == "bare"
    assert found["status"]["nodeInfo"]["kubeletVersion"] == "v1.34.1"


def test_a_silent_kubelet_makes_its_node_unknown_tainted_and_its_pods_unready_until_it_is_back() -> None:
    lab = Lab([node("n1"), node("n2"), pod("web", nodeName="n1")])
    lab.run(20)
    lab.do(Patch("nodes", "", "n1", {"metadata": {"annotations": {STOPPED: "2026-01-01T00:00:20Z"}}}))
    lab.run(45)
    assert conditions(lab.get("nodes", "n1", ""))["Ready"] == "True"
    lab.run(20)
    silent = lab.get("nodes", "n1", "")
    assert set(conditions(silent).values()) == {"Unknown"}
    assert [(taint["key"], taint["effect"]) for taint in silent["spec"]["taints"]] == [
        ("node.kubernetes.io/unreachable", "NoSchedule"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
    ]
    assert conditions(lab.get("pods", "web"))["Ready"] == "False"
    started = lab.get("pods", "web")["status"]["containerStatuses"][0]["state"]["running"]["startedAt"]
    lab.do(Patch("nodes", "", "n1", {"metadata": {"annotations": {STOPPED: None}}}))
    lab.run(10)
    back = lab.get("nodes", "n1", "")
    assert conditions(back)["Ready"] == "True"
    assert not back["spec"].get("taints")
    assert conditions(lab.get("pods", "web"))["Ready"] == "True"
    assert lab.get("pods", "web")["status"]["containerStatuses"][0]["state"]["running"]["startedAt"] == started


def test_a_node_whose_kubelet_never_spoke_gets_no_pods_and_is_told_unknown() -> None:
    lab = Lab([node("there")])
    lab.run(100)
    dead = node("dead")
    dead["metadata"]["annotations"] = {STOPPED: "2026-01-01T00:00:05Z"}
    lab.do(Patch("nodes", "", "there", {"spec": {"unschedulable": True}}))
    lab.create(pod("web"))
    lab.create(dead)
    lab.run(30)
    assert [taint["key"] for taint in lab.get("nodes", "dead", "")["spec"]["taints"]] == [
        "node.kubernetes.io/not-ready"
    ]
    lab.run(90)
    silent = lab.get("nodes", "dead", "")
    told = {entry["type"]: (entry["status"], entry["reason"]) for entry in silent["status"]["conditions"]}
    assert told == dict.fromkeys(
        ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure"), ("Unknown", "NodeStatusNeverUpdated")
    )
    assert [(taint["key"], taint["effect"]) for taint in silent["spec"]["taints"]] == [
        ("node.kubernetes.io/unreachable", "NoSchedule"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
    ]
    assert not lab.get("pods", "web")["spec"].get("nodeName")
    lab.do(Patch("nodes", "", "dead", {"metadata": {"annotations": {STOPPED: None}}}))
    lab.run(20)
    back = lab.get("nodes", "dead", "")
    assert (conditions(back)["Ready"], back["spec"].get("taints")) == ("True", None)
    assert lab.get("pods", "web")["spec"]["nodeName"] == "dead"


def test_a_kubelet_that_stops_later_comes_up_first() -> None:
    later = node("later")
    later["metadata"]["annotations"] = {STOPPED: "2026-01-01T00:01:00Z"}
    lab = Lab([later])
    lab.run(10)
    found = lab.get("nodes", "later", "")
    assert (conditions(found)["Ready"], found["spec"].get("taints")) == ("True", None)


def test_the_pods_of_a_deleted_node_go_after_a_while_and_are_replaced() -> None:
    lab = Lab([node("n1"), workload("ReplicaSet", "web", 3)])
    lab.run(20)
    lab.create(node("n2"))
    lab.do(Delete("nodes", "", "n1"))
    lab.run(35)
    assert {one["spec"]["nodeName"] for one in lab.list("pods")} == {"n1"}
    lab.run(60)
    pods = lab.list("pods")
    assert {one["spec"]["nodeName"] for one in pods} == {"n2"}
    assert [one["status"]["phase"] for one in pods] == ["Running"] * 3
    failed = [row.object["status"] for row in lab.rows() if row.resource == "pods" and row.verb == "DELETED"]
    assert {
        entry["reason"] for one in failed for entry in one["conditions"] if entry["type"] == "DisruptionTarget"
    } == {"DeletionByPodGC"}


def test_a_node_that_is_registered_anew_in_time_keeps_its_pods() -> None:
    lab = Lab([node("n1"), pod("web")])
    lab.run(20)
    uid = lab.get("pods", "web")["metadata"]["uid"]
    lab.do(Delete("nodes", "", "n1"))
    lab.run(25)
    lab.create(node("n1"))
    lab.run(100)
    assert lab.get("pods", "web")["metadata"]["uid"] == uid


def test_a_cordoned_node_carries_the_taint_that_says_so_and_keeps_others() -> None:
    lab = Lab([node("n1")])
    own = {"key": "team", "value": "blue", "effect": "NoSchedule"}
    lab.do(Patch("nodes", "", "n1", {"spec": {"unschedulable": True, "taints": [own]}}))
    lab.run(1)
    keys = [taint["key"] for taint in lab.get("nodes", "n1", "")["spec"]["taints"]]
    assert keys == ["team", "node.kubernetes.io/unschedulable"]
    lab.do(Patch("nodes", "", "n1", {"spec": {"unschedulable": False}}))
    lab.run(1)
    assert lab.get("nodes", "n1", "")["spec"]["taints"] == [own]


def test_heartbeats_are_a_function_of_the_kubelets_facts() -> None:
    created = {"name": "n1", "uid": "u", "creationTimestamp": "2026-01-01T00:00:05Z"}
    alive: Document = {"metadata": created}
    stopped: Document = {"metadata": {**created, "annotations": {STOPPED: "2026-01-01T00:01:00Z"}}}

    def renewed(document: Document, now_ms: int) -> int:
        return renewed_unix_ms(document, DEFAULT_EPOCH_MS + now_ms) - DEFAULT_EPOCH_MS

    assert [renewed(alive, now_ms) for now_ms in (5_000, 14_999, 15_000, 99_000)] == [5_000, 5_000, 15_000, 95_000]
    assert [renewed(stopped, now_ms) for now_ms in (30_000, 60_000, 99_000)] == [25_000, 55_000, 55_000]
    first, later, silent = (
        node_lease(document, DEFAULT_EPOCH_MS, now_ms)
        for document, now_ms in ((alive, 20_000), (alive, 90_000), (stopped, 90_000))
    )
    assert first["metadata"] == later["metadata"]
    assert first["spec"]["renewTime"] == "2026-01-01T00:00:15.000000Z"
    assert later["spec"]["renewTime"] == "2026-01-01T00:01:25.000000Z"
    assert silent["metadata"]["resourceVersion"] != first["metadata"]["resourceVersion"]


def told(name: str, **orders: str) -> Document:
    """Return a pod with annotations that its kubelet obeys."""
    document = pod(name)
    keys = {"run": "run", "seconds": "run-seconds", "code": "exit-code"}
    document["metadata"]["annotations"] = {f"clustersim.io/{keys[key]}": text for key, text in orders.items()}
    return document


def phases(lab: Lab, name: str) -> list[str]:
    """Return the phases that a pod has had, in order."""
    rows = [row for row in lab.rows() if row.resource == "pods" and row.object["metadata"]["name"] == name]
    return list(dict.fromkeys(row.object["status"]["phase"] for row in rows))


@pytest.mark.parametrize(
    ("orders", "seen", "ended"),
    [
        ({"run": "complete"}, ["Pending", "Succeeded"], (0, "Completed")),
        ({"run": "complete", "seconds": "20"}, ["Pending", "Running", "Succeeded"], (0, "Completed")),
        ({"run": "fail"}, ["Pending", "Failed"], (1, "Error")),
        ({"run": "fail", "seconds": "5", "code": "42"}, ["Pending", "Running", "Failed"], (42, "Error")),
    ],
)
def test_a_pod_ends_as_it_is_told(orders: dict[str, str], seen: list[str], ended: tuple[int, str]) -> None:
    lab = Lab([node("n1"), told("task", **orders)])
    lab.run(40)
    assert phases(lab, "task") == seen
    (container,) = lab.get("pods", "task")["status"]["containerStatuses"]
    state = container["state"]["terminated"]
    assert (state["exitCode"], state["reason"]) == ended
    took = (unix_ms_of(state["finishedAt"]) - unix_ms_of(state["startedAt"])) // 1000
    assert took in range(int(orders.get("seconds", "0")), int(orders.get("seconds", "0")) + 2)
    assert conditions(lab.get("pods", "task"))["Ready"] == "False"


def test_a_pod_that_is_told_so_is_never_ready_until_it_is_told_nothing() -> None:
    lab = Lab([node("n1"), told("web", run="unready")])
    lab.run(20)
    assert lab.get("pods", "web")["status"]["phase"] == "Running"
    assert conditions(lab.get("pods", "web"))["Ready"] == "False"
    lab.do(Patch("pods", "default", "web", {"metadata": {"annotations": {"clustersim.io/run": None}}}))
    lab.run(5)
    assert conditions(lab.get("pods", "web"))["Ready"] == "True"
    lab.do(Patch("pods", "default", "web", {"metadata": {"annotations": {"clustersim.io/run": "unready"}}}))
    lab.run(5)
    assert conditions(lab.get("pods", "web"))["Ready"] == "False"


def test_a_pod_that_is_held_stays_where_it_is_bound_and_goes_when_it_is_deleted() -> None:
    lab = Lab([node("n1"), told("web", run="hold")])
    lab.run(60)
    assert lab.get("pods", "web")["spec"]["nodeName"] == "n1"
    assert lab.get("pods", "web")["status"]["phase"] == "Pending"
    lab.do(Delete("pods", "default", "web"))
    lab.run(35)
    assert lab.list("pods") == []


def test_a_machine_that_is_off_is_silent_until_it_is_on_again() -> None:
    off: Document = node("n1")
    off["metadata"]["annotations"] = {"clustersim.io/kubelet": "off"}
    lab = Lab([off])
    lab.run(30)
    assert not lab.get("nodes", "n1", "")["status"].get("conditions")
    assert {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"} in lab.get("nodes", "n1", "")["spec"][
        "taints"
    ]
    lab.do(Patch("nodes", "", "n1", {"metadata": {"annotations": {"clustersim.io/kubelet": None}}}))
    lab.run(10)
    assert conditions(lab.get("nodes", "n1", ""))["Ready"] == "True"
    assert not lab.get("nodes", "n1", "")["spec"].get("taints")
    lab.do(Patch("nodes", "", "n1", {"metadata": {"annotations": {"clustersim.io/kubelet": "off"}}}))
    lab.run(1)
    since_ms = DEFAULT_EPOCH_MS + lab.cluster.now_ms
    lab.run(120)
    present = lab.get("nodes", "n1", "")
    assert conditions(present)["Ready"] == "Unknown"
    assert renewed_unix_ms(present, DEFAULT_EPOCH_MS + lab.cluster.now_ms) <= since_ms
