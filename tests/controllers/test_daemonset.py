"""DaemonSets: a pod on every node that fits, renewed node by node."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.daemonset.backoff import FIRST_MS, LONGEST_MS, FailureBackoff
from controllers.daemonset.placement import placement_of
from controllers.log.operations import Create, Delete, Patch
from tests.tools.lab import Document, Lab, node, pod, workload

RESOURCE = "daemonsets.apps"
NODES = ("n1", "n2", "n3", "n4")


def daemon(**spec: Any) -> Document:
    document = workload("DaemonSet", "agent", 0, **spec)
    del document["spec"]["replicas"]
    return document


def lab_of(document: Document, *names: str) -> Lab:
    lab = Lab([*(node(name) for name in names or NODES), document])
    lab.run(20)
    return lab


def placed(lab: Lab) -> list[str]:
    return sorted(one["spec"].get("nodeName", "?") for one in lab.list("pods"))


def images(lab: Lab) -> list[str]:
    return sorted(one["spec"]["containers"][0]["image"] for one in lab.list("pods"))


def set_image(lab: Lab, image: str) -> None:
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}}
    lab.do(Patch(RESOURCE, "default", "agent", patch, "strategic"))


def extremes(lab: Lab) -> tuple[int, int]:
    """Return (fewest ready pods, most living pods) there were at once, after all nodes had one."""
    ready: dict[str, bool] = {}
    began, fewest, most = False, len(NODES), 0
    for row in lab.rows():
        if row.resource != "pods":
            continue
        uid = row.object["metadata"]["uid"]
        if row.verb == "DELETED" or "deletionTimestamp" in row.object["metadata"]:
            ready.pop(uid, None)
        else:
            conditions = (row.object.get("status") or {}).get("conditions") or ()
            ready[uid] = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
        began = began or sum(ready.values()) == len(NODES)
        if began:
            fewest, most = min(fewest, sum(ready.values())), max(most, len(ready))
    return fewest, most


def test_each_node_gets_a_pod_that_the_scheduler_binds_there() -> None:
    lab = lab_of(daemon())
    assert placed(lab) == list(NODES)
    revision = lab.list("controllerrevisions.apps")[0]
    code = revision["metadata"]["labels"]["controller-revision-hash"]
    assert revision["metadata"]["name"] == f"agent-{code}"
    one = lab.list("pods")[0]
    assert one["metadata"]["labels"] == {
        "app": "agent",
        "controller-revision-hash": code,
        "pod-template-generation": "1",
    }
    tolerated = {(entry.get("key"), entry.get("effect")) for entry in one["spec"]["tolerations"]}
    assert ("node.kubernetes.io/unschedulable", "NoSchedule") in tolerated
    assert ("node.kubernetes.io/not-ready", "NoExecute") in tolerated
    assert all("tolerationSeconds" not in entry for entry in one["spec"]["tolerations"])
    assert lab.get(RESOURCE, "agent")["status"] == {
        "currentNumberScheduled": 4,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 4,
        "numberReady": 4,
        "updatedNumberScheduled": 4,
        "numberAvailable": 4,
        "observedGeneration": 1,
    }
    events = [event for event in lab.list("events") if event["involvedObject"]["name"] == "agent"]
    assert {event["source"]["component"] for event in events} == {"daemonset-controller"}
    assert lab.reasons("agent") == ["SuccessfulCreate"] * 4


def test_a_node_that_joins_gets_one_and_one_that_leaves_takes_its_own_along() -> None:
    lab = lab_of(daemon())
    lab.create(node("n5"))
    lab.run(20)
    assert placed(lab) == [*NODES, "n5"]
    lab.do(Delete("nodes", "", "n5"))
    lab.run(120)
    assert placed(lab) == list(NODES)
    assert lab.get(RESOURCE, "agent")["status"]["desiredNumberScheduled"] == 4


def test_labels_decide_where_it_runs() -> None:
    chosen = daemon()
    chosen["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    lab = lab_of(chosen)
    assert placed(lab) == []
    lab.do(Patch("nodes", "", "n2", {"metadata": {"labels": {"disk": "ssd"}}}))
    lab.run(20)
    assert placed(lab) == ["n2"]
    lab.do(Patch("nodes", "", "n2", {"metadata": {"labels": {"disk": None}}}))
    lab.run(60)
    assert placed(lab) == []


def test_affinity_decides_where_it_runs() -> None:
    chosen = daemon()
    field = {"key": "metadata.name", "operator": "NotIn", "values": ["n3"]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    chosen["spec"]["template"]["spec"]["affinity"] = affinity
    assert placed(lab_of(chosen)) == ["n1", "n2", "n4"]


@pytest.mark.parametrize(("effect", "left"), [("NoSchedule", list(NODES)), ("NoExecute", ["n2", "n3", "n4"])])
def test_a_taint_keeps_new_ones_away_and_only_no_execute_drives_out(effect: str, left: list[str]) -> None:
    lab = lab_of(daemon())
    lab.do(Patch("nodes", "", "n1", {"spec": {"taints": [{"key": "a", "effect": effect}]}}))
    lab.run(60)
    assert placed(lab) == left
    status = lab.get(RESOURCE, "agent")["status"]
    # Where a pod may stay nothing calls for a look: upstream's counts are as before until the set changes, too.
    wanted = (4, 0) if effect == "NoSchedule" else (3, 0)
    assert (status["desiredNumberScheduled"], status["numberMisscheduled"]) == wanted
    lab.do(Patch(RESOURCE, "default", "agent", {"metadata": {"labels": {"a": "b"}}}))
    lab.run(10)
    status = lab.get(RESOURCE, "agent")["status"]
    assert (status["desiredNumberScheduled"], status["numberMisscheduled"]) == (3, len(left) - 3)


@pytest.mark.parametrize(("unavailable", "fewest"), [(1, 3), ("50%", 2), ("100%", 0)])
def test_a_rolling_update_takes_as_many_down_at_once_as_may_be_missing(unavailable: Any, fewest: int) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": unavailable}}
    lab = lab_of(daemon(updateStrategy=strategy))
    set_image(lab, "agent:2")
    lab.run(300)
    assert images(lab) == ["agent:2"] * 4
    assert extremes(lab) == (fewest, 4)
    status = lab.get(RESOURCE, "agent")["status"]
    assert (status["updatedNumberScheduled"], status["observedGeneration"]) == (4, 2)
    labels = {one["metadata"]["labels"]["pod-template-generation"] for one in lab.list("pods")}
    assert labels == {"2"}


def test_with_surge_the_new_one_is_there_before_the_old_one_goes() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    lab = lab_of(daemon(updateStrategy=strategy))
    set_image(lab, "agent:2")
    lab.run(300)
    assert images(lab) == ["agent:2"] * 4
    assert extremes(lab) == (4, 5)


def test_on_delete_renews_only_what_a_person_deletes() -> None:
    lab = lab_of(daemon(updateStrategy={"type": "OnDelete"}))
    set_image(lab, "agent:2")
    lab.run(60)
    assert set(images(lab)) == {"nginx:1.27"}
    lab.do(Delete("pods", "default", lab.list("pods")[0]["metadata"]["name"]))
    lab.run(60)
    assert images(lab).count("agent:2") == 1
    assert lab.get(RESOURCE, "agent")["status"]["updatedNumberScheduled"] == 1


def test_going_back_takes_the_old_revision_up_and_leaves_its_pods_alone() -> None:
    lab = lab_of(daemon(updateStrategy={"type": "OnDelete"}))
    before = {one["metadata"]["uid"] for one in lab.list("pods")}
    set_image(lab, "agent:2")
    lab.run(10)
    set_image(lab, "nginx:1.27")
    lab.run(30)
    lab.do(Patch(RESOURCE, "default", "agent", {"spec": {"updateStrategy": {"type": "RollingUpdate"}}}))
    lab.run(60)
    assert {one["metadata"]["uid"] for one in lab.list("pods")} == before
    assert sorted(one["revision"] for one in lab.list("controllerrevisions.apps")) == [2, 3]


def test_old_revisions_are_kept_up_to_the_limit() -> None:
    lab = lab_of(daemon(revisionHistoryLimit=1), "n1")
    for number in range(2, 6):
        set_image(lab, f"agent:{number}")
        lab.run(60)
    assert sorted(one["revision"] for one in lab.list("controllerrevisions.apps")) == [4, 5]


def test_a_daemon_that_failed_is_replaced_and_said_so() -> None:
    lab = lab_of(daemon(), "n1")
    failed = lab.list("pods")[0]["metadata"]
    lab.do(Patch("pods", "default", failed["name"], {"status": {"phase": "Failed"}}, subresource="status"))
    lab.run(60)
    left = lab.list("pods")
    assert [one["status"]["phase"] for one in left] == ["Running"]
    assert left[0]["metadata"]["uid"] != failed["uid"]
    assert "FailedDaemonPod" in lab.reasons("agent")


def test_each_failure_on_a_node_makes_the_next_one_stay_longer() -> None:
    backoff = FailureBackoff()
    assert backoff.wait_ms("a", 0) == 0
    backoff.failed("a", 0)
    assert backoff.wait_ms("a", 0) == FIRST_MS
    assert backoff.wait_ms("b", 0) == 0
    backoff.failed("a", FIRST_MS)
    assert backoff.wait_ms("a", FIRST_MS) == 2 * FIRST_MS
    for _ in range(20):
        backoff.failed("a", FIRST_MS)
    assert backoff.wait_ms("a", FIRST_MS) == LONGEST_MS
    assert backoff.wait_ms("a", 2 * FIRST_MS + 2 * LONGEST_MS) == 0


def test_orphans_it_selects_are_adopted_and_what_it_does_not_select_is_let_go() -> None:
    lab = lab_of(daemon(), "n1")
    name = lab.list("pods")[0]["metadata"]["name"]
    lab.do(Patch("pods", "default", name, {"metadata": {"labels": {"app": "other"}}}))
    lab.run(30)
    assert not lab.get("pods", name)["metadata"].get("ownerReferences")
    assert len(lab.list("pods")) == 2
    stray = pod("stray", nodeName="n1")
    stray["metadata"]["labels"] = {"app": "agent"}
    lab.do(Create("pods", "default", stray))
    lab.run(60)
    assert len([one for one in lab.list("pods") if one["metadata"].get("ownerReferences")]) == 1


def test_min_ready_seconds_hold_back_availability() -> None:
    lab = lab_of(daemon(minReadySeconds=60), "n1")
    assert lab.get(RESOURCE, "agent")["status"].get("numberAvailable", 0) == 0
    lab.run(60)
    assert lab.get(RESOURCE, "agent")["status"]["numberAvailable"] == 1


def test_once_it_is_as_asked_nothing_more_is_written() -> None:
    lab = lab_of(daemon())
    kinds = (RESOURCE, "pods", "controllerrevisions.apps")
    before = len([row for row in lab.rows() if row.resource in kinds])
    lab.run(600)
    assert len([row for row in lab.rows() if row.resource in kinds]) == before


def test_a_status_counts_the_pod_that_was_just_made() -> None:
    """A node whose pod is renewed is never told to be without one."""
    document = daemon()
    document["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 0
    lab = lab_of(document, "n1", "n2")
    before = len(lab.rows())
    set_image(lab, "nginx:2")
    lab.run(60)
    assert images(lab) == ["nginx:2", "nginx:2"]
    told = [row.object["status"] for row in lab.rows()[before:] if row.resource == RESOURCE]
    assert {status["currentNumberScheduled"] for status in told} == {2}


def test_what_a_template_asks_of_nodes_is_read_once_whatever_else_its_owner_says() -> None:
    first = daemon()
    assert placement_of({**first, "status": {"numberReady": 1}}) is placement_of(first)
    elsewhere = daemon()
    elsewhere["spec"]["template"]["spec"]["nodeSelector"] = {"zone": "a"}
    assert placement_of(first).fit(node("n1")).runs
    assert not placement_of(elsewhere).fit(node("n1")).runs
