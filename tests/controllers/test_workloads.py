"""ReplicaSets and Deployments: sizes, rollouts, ranking, adoption."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from controllers.kit import pods
from controllers.kit.expectations import EXPECTATIONS_TTL_MS, Expectations
from controllers.kit.pods import deletion_order
from controllers.log.operations import Delete, Patch
from tests.tools.lab import Document, Lab, node, pod, workload

NODES = [node("n1"), node("n2"), node("n3")]


def images(lab: Lab) -> list[str]:
    return sorted(one["spec"]["containers"][0]["image"] for one in lab.list("pods"))


def test_a_replicaset_makes_as_many_pods_as_it_asks_for_and_counts_them() -> None:
    lab = Lab([*NODES, workload("ReplicaSet", "web", 7)])
    lab.run(15)
    pods = lab.list("pods")
    assert len(pods) == 7
    assert all(one["metadata"]["name"].startswith("web-") for one in pods)
    owner = lab.get("replicasets.apps", "web")
    assert {one["metadata"]["ownerReferences"][0]["uid"] for one in pods} == {owner["metadata"]["uid"]}
    assert owner["status"] == {
        "replicas": 7,
        "fullyLabeledReplicas": 7,
        "readyReplicas": 7,
        "availableReplicas": 7,
        "observedGeneration": 1,
    }
    assert lab.reasons("web") == ["SuccessfulCreate"] * 7


def test_more_than_a_burst_comes_in_bursts_of_slowly_growing_batches() -> None:
    lab = Lab([node("n1", cpu="400", pods="2000"), workload("ReplicaSet", "web", 620)], kubelets=False)
    lab.run(5)
    rows = [row for row in lab.rows() if row.resource == "pods" and row.verb == "ADDED"]
    assert len(rows) == 620
    assert len({row.uid for row in rows}) == 620
    sizes = [len(group) for group in _groups([row.read for row in rows])]
    assert sizes[:4] == [1, 2, 4, 8]


def test_a_workload_may_ask_for_more_pods_than_a_session_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pods, "WORKLOAD_PODS_MAX", 5)
    lab = Lab([*NODES, workload("ReplicaSet", "web", 100_000), workload("StatefulSet", "db", 100_000)])
    lab.run(15)
    assert sorted(Counter(one["metadata"]["name"].partition("-")[0] for one in lab.list("pods")).items()) == [
        ("db", 5),
        ("web", 5),
    ]
    assert lab.get("replicasets.apps", "web")["spec"]["replicas"] == 100_000


def _groups(values: list[int]) -> list[list[int]]:
    groups: list[list[int]] = []
    for value in values:
        if groups and groups[-1][0] == value:
            groups[-1].append(value)
        else:
            groups.append([value])
    return groups


def test_a_template_that_is_refused_is_refused_a_few_times_and_said_so() -> None:
    lab = Lab([*NODES, workload("ReplicaSet", "web", 100)])
    lab.do(Patch("replicasets.apps", "default", "web", {"spec": {"template": {"spec": {"priorityClassName": "none"}}}}))
    lab.run(3)
    condition = lab.get("replicasets.apps", "web")["status"]["conditions"][0]
    assert (condition["type"], condition["status"], condition["reason"]) == ("ReplicaFailure", "True", "FailedCreate")
    assert "no PriorityClass with name none was found" in condition["message"]
    assert lab.list("pods") == []
    assert set(lab.reasons("web")) == {"FailedCreate"}


def test_an_orphan_that_matches_is_adopted_and_a_pod_that_does_not_any_more_is_let_go() -> None:
    orphan = pod("stray")
    orphan["metadata"]["labels"] = {"app": "web"}
    lab = Lab([*NODES, orphan, workload("ReplicaSet", "web", 2)])
    lab.run(10)
    assert len(lab.list("pods")) == 2
    assert lab.get("pods", "stray")["metadata"]["ownerReferences"][0]["name"] == "web"
    lab.do(Patch("pods", "default", "stray", {"metadata": {"labels": {"app": "other"}}}))
    lab.run(10)
    assert not lab.get("pods", "stray")["metadata"].get("ownerReferences")
    assert len(lab.list("pods")) == 3


def test_expectations_hold_until_seen_or_five_minutes() -> None:
    expected = Expectations()
    expected.expect_creations("a", 2, 0)
    expected.created("a")
    assert not expected.satisfied("a", EXPECTATIONS_TTL_MS)
    assert expected.satisfied("a", EXPECTATIONS_TTL_MS + 1)
    expected.created("a")
    assert expected.satisfied("a", 0)
    expected.expect_deletions("a", ["u"], 0)
    assert not expected.satisfied("a", 0)
    expected.deleted("a", "u")
    assert expected.satisfied("a", 0)


EPOCH = "2026-01-01T00:00:"


def ranked(name: str, **facts: Any) -> Document:
    metadata: Document = {"name": name, "uid": name, "creationTimestamp": EPOCH + facts.get("created", "00Z")}
    if "cost" in facts:
        metadata["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": facts["cost"]}
    status: Document = {"phase": facts.get("phase", "Running")}
    if "ready" in facts:
        since = EPOCH + facts["ready"]
        status["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": since}]
    if "restarts" in facts:
        status["containerStatuses"] = [{"restartCount": facts["restarts"]}]
    return {"metadata": metadata, "spec": {"nodeName": facts.get("node", "n1")}, "status": status}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({"node": ""}, {}, id="unassigned before assigned"),
        pytest.param({"phase": "Pending"}, {"phase": "Unknown"}, id="pending before unknown"),
        pytest.param({"phase": "Unknown"}, {}, id="unknown before running"),
        pytest.param({}, {"ready": "00Z"}, id="unready before ready"),
        pytest.param({"cost": "-5"}, {}, id="lower deletion cost first"),
        pytest.param({"node": "crowded"}, {"node": "n1"}, id="where more of them run first"),
        pytest.param({"ready": "50Z"}, {"ready": "01Z"}, id="ready for a shorter time first"),
        pytest.param({"restarts": 3}, {"restarts": 1}, id="more restarts first"),
        pytest.param({"created": "50Z"}, {"created": "01Z"}, id="younger first"),
    ],
)
def test_which_pod_is_deleted_first(first: Document, second: Document) -> None:
    ranks = {"n1": 1, "crowded": 2}
    unix_ms = 1_767_225_660_000
    # Named so that the uid, which decides last, would choose the other one.
    chosen = deletion_order([ranked("a", **second), ranked("b", **first)], ranks, unix_ms)
    assert [one["metadata"]["name"] for one in chosen] == ["b", "a"]


def test_about_the_same_age_is_decided_by_uid() -> None:
    unix_ms = 1_767_225_660_000
    chosen = deletion_order([ranked("b", ready="10Z"), ranked("a", ready="05Z")], {}, unix_ms)
    assert [one["metadata"]["name"] for one in chosen] == ["a", "b"]


# -- Deployments --------------------------------------------------------------------------------------------------


def rolled(**spec: Any) -> tuple[Lab, list[tuple[int, int]]]:
    """Roll a Deployment of four; return the lab, and (pods there, pods available) at every change of them."""
    lab = Lab([*NODES, workload("Deployment", "web", 4, **spec)])
    lab.run(20)
    after = lab.store.revision
    change = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:1.28"}]}}}}
    lab.do(Patch("deployments.apps", "default", "web", change, "strategic"))
    lab.run(60)
    pods = {one["metadata"]["name"]: one for one in lab.list("pods")}
    pods = {stored.name: stored.object for stored in lab.store.list_at("pods", after)}
    seen: list[tuple[int, int]] = []
    for row in lab.rows(after):
        if row.resource == "pods":
            if row.verb == "DELETED":
                pods.pop(row.name, None)
            else:
                pods[row.name] = row.object
            active = [one for one in pods.values() if "deletionTimestamp" not in one["metadata"]]
            seen.append((len(active), sum(1 for one in active if _ready(one))))
    return lab, seen


def _ready(document: Document) -> bool:
    return any(
        entry["type"] == "Ready" and entry["status"] == "True" for entry in document["status"].get("conditions", [])
    )


@pytest.mark.parametrize(("surge", "unavailable"), [(1, 0), (0, 1), (2, 1), ("50%", "25%")])
def test_a_rolling_update_stays_within_surge_and_unavailable(surge: int | str, unavailable: int | str) -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    lab, seen = rolled(strategy=rolling)
    assert images(lab) == ["nginx:1.28"] * 4
    most = 4 + {1: 1, 0: 0, 2: 2, "50%": 2}[surge]
    least = 4 - {0: 0, 1: 1, "25%": 1}[unavailable]
    assert max(count for count, _ in seen) <= most
    assert min(available for _, available in seen) >= least


def test_recreate_waits_for_the_last_old_pod() -> None:
    lab, seen = rolled(strategy={"type": "Recreate"})
    assert images(lab) == ["nginx:1.28"] * 4
    assert min(count for count, _ in seen) == 0
    sets = lab.list("replicasets.apps")
    assert sorted(one["spec"]["replicas"] for one in sets) == [0, 4]
    old = next(one for one in sets if one["spec"]["replicas"] == 0)
    new = next(one for one in sets if one["spec"]["replicas"] == 4)
    gone = max(row.revision for row in lab.rows() if row.verb == "DELETED" and row.resource == "pods")
    made = next(row for row in lab.rows() if row.resource == "replicasets.apps" and row.uid == new["metadata"]["uid"])
    assert made.revision > gone
    assert old["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"


def test_a_rollout_ends_complete_available_and_numbered() -> None:
    lab, _ = rolled()
    deployment = lab.get("deployments.apps", "web")
    assert deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2"
    assert deployment["metadata"]["generation"] == deployment["status"]["observedGeneration"] == 2
    conditions = {entry["type"]: entry for entry in deployment["status"]["conditions"]}
    assert (conditions["Available"]["status"], conditions["Available"]["reason"]) == (
        "True",
        "MinimumReplicasAvailable",
    )
    assert (conditions["Progressing"]["status"], conditions["Progressing"]["reason"]) == (
        "True",
        "NewReplicaSetAvailable",
    )
    new = next(one for one in lab.list("replicasets.apps") if one["spec"]["replicas"] == 4)
    code = new["metadata"]["labels"]["pod-template-hash"]
    assert new["metadata"]["name"] == f"web-{code}"
    assert new["spec"]["selector"]["matchLabels"] == {"app": "web", "pod-template-hash": code}
    assert all(one["metadata"]["labels"]["pod-template-hash"] == code for one in lab.list("pods"))


def test_going_back_takes_the_old_set_up_again_under_a_new_revision() -> None:
    lab, _ = rolled()
    change = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:1.27"}]}}}}
    lab.do(Patch("deployments.apps", "default", "web", change, "strategic"))
    lab.run(60)
    assert images(lab) == ["nginx:1.27"] * 4
    sets = lab.list("replicasets.apps")
    assert len(sets) == 2
    current = next(one for one in sets if one["spec"]["replicas"] == 4)
    annotations = current["metadata"]["annotations"]
    assert annotations["deployment.kubernetes.io/revision"] == "3"
    assert annotations["deployment.kubernetes.io/revision-history"] == "1"
    assert lab.get("deployments.apps", "web")["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "3"


def test_history_is_kept_up_to_its_limit() -> None:
    lab = Lab([*NODES, workload("Deployment", "web", 1, revisionHistoryLimit=1)])
    for number in range(4):
        image = f"nginx:1.{30 + number}"
        change = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}}
        lab.do(Patch("deployments.apps", "default", "web", change, "strategic"))
        lab.run(30)
    revisions = [
        one["metadata"]["annotations"]["deployment.kubernetes.io/revision"] for one in lab.list("replicasets.apps")
    ]
    assert sorted(revisions) == ["3", "4"]


def test_scaling_in_the_middle_of_a_rollout_is_shared_in_proportion() -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}
    lab = Lab([node("n1", cpu="64"), workload("Deployment", "web", 10, strategy=rolling)])
    lab.run(20)
    # Pods of the new template fit nowhere, so the rollout stands at 8 old and 5 new.
    change = {"spec": {"template": {"spec": {"nodeSelector": {"no": "where"}}}}}
    lab.do(Patch("deployments.apps", "default", "web", change))
    lab.run(20)
    sizes = sorted(one["spec"]["replicas"] for one in lab.list("replicasets.apps"))
    assert sizes == [5, 8]
    lab.do(Patch("deployments.apps", "default", "web", {"spec": {"replicas": 15}}))
    lab.run(5)
    assert sorted(one["spec"]["replicas"] for one in lab.list("replicasets.apps")) == [7, 11]


def test_a_paused_deployment_is_scaled_but_not_rolled() -> None:
    lab = Lab([*NODES, workload("Deployment", "web", 2)])
    lab.run(15)
    lab.do(Patch("deployments.apps", "default", "web", {"spec": {"paused": True}}))
    change = {"spec": {"replicas": 4, "template": {"spec": {"containers": [{"name": "main", "image": "nginx:1.28"}]}}}}
    lab.do(Patch("deployments.apps", "default", "web", change, "strategic"))
    lab.run(15)
    assert images(lab) == ["nginx:1.27"] * 4
    conditions = {entry["type"]: entry for entry in lab.get("deployments.apps", "web")["status"]["conditions"]}
    assert conditions["Progressing"]["reason"] == "DeploymentPaused"
    lab.do(Patch("deployments.apps", "default", "web", {"spec": {"paused": False}}))
    lab.run(60)
    assert images(lab) == ["nginx:1.28"] * 4


def test_a_rollout_that_stands_still_is_called_stuck_after_its_deadline() -> None:
    lab = Lab([*NODES, workload("Deployment", "web", 1, progressDeadlineSeconds=30)])
    lab.run(15)
    lab.do(Patch("deployments.apps", "default", "web", {"spec": {"template": {"spec": {"nodeSelector": {"no": "x"}}}}}))
    lab.run(60)
    conditions = {entry["type"]: entry for entry in lab.get("deployments.apps", "web")["status"]["conditions"]}
    assert (conditions["Progressing"]["status"], conditions["Progressing"]["reason"]) == (
        "False",
        "ProgressDeadlineExceeded",
    )


def test_min_ready_seconds_hold_back_availability() -> None:
    lab = Lab([*NODES, workload("Deployment", "web", 2, minReadySeconds=30)])
    lab.run(20)
    status = lab.get("deployments.apps", "web")["status"]
    assert (status["readyReplicas"], status.get("availableReplicas", 0)) == (2, 0)
    lab.run(30)
    assert lab.get("deployments.apps", "web")["status"]["availableReplicas"] == 2


# -- owners and namespaces ----------------------------------------------------------------------------------------


def order_of_deletion(lab: Lab, *resources: str) -> list[str]:
    return [row.resource for row in lab.rows() if row.verb == "DELETED" and row.resource in resources]


def test_background_deletion_takes_the_owner_first() -> None:
    lab = Lab([*NODES, workload("Deployment", "web", 2)])
    lab.run(15)
    lab.do(Delete("deployments.apps", "default", "web", propagation="Background"))
    lab.run(30)
    kinds = order_of_deletion(lab, "deployments.apps", "replicasets.apps", "pods")
    assert kinds == ["deployments.apps", "replicasets.apps", "pods", "pods"]


def test_foreground_deletion_takes_the_owner_last() -> None:
    lab = Lab([*NODES, workload("Deployment", "web", 2)])
    lab.run(15)
    lab.do(Delete("deployments.apps", "default", "web", propagation="Foreground"))
    lab.run(30)
    kinds = order_of_deletion(lab, "deployments.apps", "replicasets.apps", "pods")
    assert kinds == ["pods", "pods", "replicasets.apps", "deployments.apps"]


def test_orphaned_dependents_stay() -> None:
    lab = Lab([*NODES, workload("Deployment", "web", 2)])
    lab.run(15)
    lab.do(Delete("deployments.apps", "default", "web", propagation="Orphan"))
    lab.run(30)
    assert lab.list("deployments.apps") == []
    (left,) = lab.list("replicasets.apps")
    assert not left["metadata"].get("ownerReferences")
    assert len(lab.list("pods")) == 2


def test_an_object_with_one_of_two_owners_left_stays_and_forgets_the_other() -> None:
    lab = Lab([*NODES, workload("ReplicaSet", "one", 0), workload("ReplicaSet", "two", 0)])
    owners = [lab.get("replicasets.apps", name) for name in ("one", "two")]
    shared = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shared", "namespace": "default"}}
    shared["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": one["metadata"]["name"], "uid": one["metadata"]["uid"]}
        for one in owners
    ]
    lab.create(shared)
    lab.run(1)
    lab.do(Delete("replicasets.apps", "default", "one", propagation="Background"))
    lab.run(1)
    assert [entry["name"] for entry in lab.get("configmaps", "shared")["metadata"]["ownerReferences"]] == ["two"]
    lab.do(Delete("replicasets.apps", "default", "two", propagation="Background"))
    lab.run(1)
    assert [one["metadata"]["name"] for one in lab.list("configmaps", "default")] == ["kube-root-ca.crt"]


def test_an_owner_that_never_was_does_not_keep_its_dependent() -> None:
    lab = Lab(NODES)
    lab.run(1)
    orphan = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "lost", "namespace": "default"}}
    orphan["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "never", "uid": "00000000-0000-4000-8000-000000000000"}
    ]
    lab.create(orphan)
    lab.run(1)
    assert [one["metadata"]["name"] for one in lab.list("configmaps", "default")] == ["kube-root-ca.crt"]


def test_a_namespace_goes_when_its_content_has_gone() -> None:
    team = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    lab = Lab([*NODES, team, workload("Deployment", "web", 3, namespace="team")])
    lab.run(15)
    lab.do(Delete("namespaces", "", "team"))
    lab.run(0.2)
    waiting = lab.get("namespaces", "team", "")
    assert waiting["status"]["phase"] == "Terminating"
    assert len(lab.list("pods", "team")) == 3
    lab.run(60)
    assert [one["metadata"]["name"] for one in lab.list("namespaces") if one["metadata"]["name"] == "team"] == []
    assert lab.list("pods", "team") == lab.list("events", "team") == lab.list("replicasets.apps", "team") == []
    last = [row for row in lab.rows() if row.verb == "DELETED"][-1]
    assert (last.resource, last.name) == ("namespaces", "team")
