"""What upstream's end-to-end tests of the garbage collector, namespaces and quotas do (apimachinery, v1.34)."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Create, Delete
from scheduler_core.api.errors import ApiError
from tests.tools.lab import Document, Lab, node, pod, workload
from tests.tools.upstream import deleted, does, make, names, patched

RCS = "replicationcontrollers"
GC = "[sig-api-machinery] Garbage collector"
NAMESPACES = "[sig-api-machinery] Namespaces [Serial]"
QUOTA = "[sig-api-machinery] ResourceQuota should verify ResourceQuota"


def lab_with_nodes() -> Lab:
    lab = Lab([node(f"n{number}", cpu="16") for number in range(2)])
    lab.run(5)
    return lab


def with_controller(replicas: int) -> Lab:
    lab = lab_with_nodes()
    make(lab, RCS, workload("ReplicationController", "simpletest", replicas))
    lab.run(30)
    assert len(names(lab)) == replicas
    return lab


def owned_by(name: str, uid: str, kind: str, **more: Any) -> Document:
    return {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": kind, "name": name, "uid": uid, **more}]}}


# -- the garbage collector ------------------------------------------------------------------------------------------


@does(GC, "should delete pods created by rc when not orphaning [Conformance]")
def test_pods_go_after_their_controller() -> None:
    lab = with_controller(4)
    deleted(lab, RCS, "simpletest")
    assert names(lab, RCS) == []
    lab.run(40)
    assert names(lab) == []


@does(GC, "should orphan pods created by rc if delete options say so [Serial] [Conformance]")
@does(GC, "should orphan pods created by rc if deleteOptions.OrphanDependents is nil")
@pytest.mark.parametrize("asked", ["Orphan", ""])
def test_pods_stay_without_their_controller(asked: str) -> None:
    # A ReplicationController leaves its pods alone unless a delete says otherwise.
    lab = with_controller(3)
    before = names(lab)
    deleted(lab, RCS, "simpletest", propagation=asked)
    lab.run(60)
    assert names(lab, RCS) == []
    assert names(lab) == before
    assert [one["metadata"].get("ownerReferences") for one in lab.list("pods", "default")] == [None] * 3


@does(
    GC, "should keep the rc around until all its pods are deleted if the deleteOptions says so [Serial] [Conformance]"
)
def test_a_controller_stays_until_its_pods_are_gone() -> None:
    lab = with_controller(3)
    after = lab.store.revision
    deleted(lab, RCS, "simpletest", propagation="Foreground")
    assert lab.get(RCS, "simpletest")["metadata"]["finalizers"] == ["foregroundDeletion"]
    lab.run(60)
    assert (names(lab), names(lab, RCS)) == ([], [])
    gone = [row.resource for row in lab.rows(after) if row.verb == "DELETED" and row.resource in ("pods", RCS)]
    assert gone == ["pods"] * 3 + [RCS]


@does(
    GC,
    "should not delete dependents that have both valid owner and owner that's waiting for dependents to be deleted",
    "[Serial] [Conformance]",
)
def test_pods_with_another_owner_that_stays_stay() -> None:
    lab = with_controller(4)
    stays = make(lab, RCS, workload("ReplicationController", "stay", 0))
    half = names(lab)[:2]
    for name in half:
        patched(lab, "pods", name, owned_by("stay", stays["metadata"]["uid"], "ReplicationController"))
    deleted(lab, RCS, "simpletest", propagation="Foreground")
    lab.run(60)
    assert names(lab, RCS) == ["stay"]
    assert names(lab) == half
    for one in lab.list("pods", "default"):
        assert "deletionTimestamp" not in one["metadata"]
        assert [owner["name"] for owner in one["metadata"]["ownerReferences"]] == ["stay"]


@does(GC, "should not be blocked by dependency circle [Conformance]")
def test_a_circle_of_owners_goes() -> None:
    lab = lab_with_nodes()
    uids = {name: make(lab, "pods", pod(name))["metadata"]["uid"] for name in ("pod1", "pod2", "pod3")}
    for name, owner in (("pod1", "pod3"), ("pod2", "pod1"), ("pod3", "pod2")):
        patched(lab, "pods", name, owned_by(owner, uids[owner], "Pod", controller=True, blockOwnerDeletion=True))
    lab.run(10)
    deleted(lab, "pods", "pod1", propagation="Foreground")
    lab.run(90)
    assert names(lab) == []


@does(GC, "should delete jobs and pods created by cronjob")
def test_what_a_cron_job_made_goes_with_it() -> None:
    lab = lab_with_nodes()
    template = {"spec": {"containers": [{"name": "c", "image": "sleep:300"}], "restartPolicy": "OnFailure"}}
    spec = {"schedule": "*/1 * * * *", "jobTemplate": {"spec": {"template": template}}}
    make(
        lab,
        "cronjobs.batch",
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": "simple", "namespace": "default"},
            "spec": spec,
        },
    )
    lab.run(90)
    assert names(lab, "jobs.batch") != []
    assert names(lab) != []
    deleted(lab, "cronjobs.batch", "simple")
    lab.run(60)
    assert (names(lab, "jobs.batch"), names(lab)) == ([], [])


# -- namespaces -----------------------------------------------------------------------------------------------------


@does(NAMESPACES, "should ensure that all pods are removed when a namespace is deleted [Conformance]")
@does(NAMESPACES, "should ensure that all services are removed when a namespace is deleted [Conformance]")
def test_what_is_in_a_namespace_goes_with_it() -> None:
    lab = lab_with_nodes()
    lab.do(Create("namespaces", "", {"metadata": {"name": "nsdeletetest"}}))
    lab.run(5)
    lab.do(Create("pods", "nsdeletetest", pod("test-pod", namespace="nsdeletetest")))
    service = {"metadata": {"name": "test-service"}, "spec": {"ports": [{"port": 80, "targetPort": 80}]}}
    lab.do(Create("services", "nsdeletetest", service))
    lab.run(10)
    lab.do(Delete("namespaces", "", "nsdeletetest"))
    lab.run(60)
    assert lab.store.get("namespaces", "", "nsdeletetest") is None
    lab.do(Create("namespaces", "", {"metadata": {"name": "nsdeletetest"}}))
    lab.run(5)
    assert (lab.list("pods", "nsdeletetest"), lab.list("services", "nsdeletetest")) == ([], [])


@does(NAMESPACES, "should delete fast enough (90 percent of 100 namespaces in 150 seconds)")
def test_many_namespaces_go_fast_enough() -> None:
    lab = lab_with_nodes()
    spaces = [f"nslifetest-{number}" for number in range(100)]
    for name in spaces:
        lab.do(Create("namespaces", "", {"metadata": {"name": name}}))
    lab.run(10)
    for name in spaces:
        lab.do(Delete("namespaces", "", name))
    lab.run(150)
    assert len({one["metadata"]["name"] for one in lab.list("namespaces")} & set(spaces)) <= 10


# -- the scopes of quotas -------------------------------------------------------------------------------------------


def quota(name: str, hard: Document, **spec: Any) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"hard": hard, **spec},
    }


def scoped(by_selector: bool, name: str, scope: str, hard: Document) -> Document:
    if not by_selector:
        return quota(name, hard, scopes=[scope])
    return quota(name, hard, scopeSelector={"matchExpressions": [{"scopeName": scope, "operator": "Exists"}]})


def used(lab: Lab, name: str) -> Document:
    lab.run(10)
    status: Document = lab.get("resourcequotas", name)["status"]
    return dict(status["used"])


@does(QUOTA, "with best effort scope. [Conformance]")
@does(QUOTA, "with best effort scope using scope-selectors.")
@pytest.mark.parametrize("by_selector", [False, True])
def test_a_quota_of_pods_that_ask_for_nothing(by_selector: bool) -> None:
    lab = lab_with_nodes()
    make(lab, "resourcequotas", scoped(by_selector, "best", "BestEffort", {"pods": "5"}))
    make(lab, "resourcequotas", scoped(by_selector, "not-best", "NotBestEffort", {"pods": "5"}))
    assert (used(lab, "best"), used(lab, "not-best")) == ({"pods": "0"}, {"pods": "0"})
    asks_nothing = pod("free")
    asks_nothing["spec"]["containers"][0].pop("resources")
    make(lab, "pods", asks_nothing)
    assert (used(lab, "best"), used(lab, "not-best")) == ({"pods": "1"}, {"pods": "0"})
    deleted(lab, "pods", "free", grace=0)
    assert used(lab, "best") == {"pods": "0"}
    make(lab, "pods", pod("bound"))
    assert (used(lab, "best"), used(lab, "not-best")) == ({"pods": "0"}, {"pods": "1"})
    deleted(lab, "pods", "bound", grace=0)
    assert used(lab, "not-best") == {"pods": "0"}


@does(QUOTA, "with terminating scopes. [Conformance]")
@does(QUOTA, "with terminating scopes through scope selectors.")
@pytest.mark.parametrize("by_selector", [False, True])
def test_a_quota_of_pods_that_end(by_selector: bool) -> None:
    lab = lab_with_nodes()
    hard = {"pods": "5", "requests.cpu": "1", "requests.memory": "500Mi", "limits.cpu": "2", "limits.memory": "1Gi"}
    make(lab, "resourcequotas", scoped(by_selector, "ends", "Terminating", hard))
    make(lab, "resourcequotas", scoped(by_selector, "stays", "NotTerminating", hard))
    nothing = dict.fromkeys(hard, "0")
    asked = {"requests": {"cpu": "500m", "memory": "200Mi"}, "limits": {"cpu": "1", "memory": "400Mi"}}
    taken = {
        "pods": "1",
        "requests.cpu": "500m",
        "requests.memory": "200Mi",
        "limits.cpu": "1",
        "limits.memory": "400Mi",
    }
    for name, deadline, counts, other in (("long", None, "stays", "ends"), ("short", 3600, "ends", "stays")):
        made = pod(name, **({} if deadline is None else {"activeDeadlineSeconds": deadline}))
        made["spec"]["containers"][0]["resources"] = asked
        make(lab, "pods", made)
        assert (used(lab, counts), used(lab, other)) == (taken, nothing)
        deleted(lab, "pods", name, grace=0)
        assert used(lab, counts) == nothing


@does(QUOTA, "with terminating scopes through scope selectors.")
def test_a_pod_that_begins_to_end_by_itself_counts_elsewhere_at_once() -> None:
    lab = lab_with_nodes()
    make(lab, "resourcequotas", scoped(True, "ends", "Terminating", {"pods": "1"}))
    make(lab, "resourcequotas", scoped(True, "stays", "NotTerminating", {"pods": "1"}))
    assert (used(lab, "ends"), used(lab, "stays")) == ({"pods": "0"}, {"pods": "0"})
    make(lab, "pods", pod("first"))
    patched(lab, "pods", "first", {"spec": {"activeDeadlineSeconds": 3600}})
    # No controller had its turn in between: the change itself was charged.
    with pytest.raises(ApiError, match="exceeded quota: ends, requested: pods=1, used: pods=1, limited: pods=1"):
        make(lab, "pods", pod("second", activeDeadlineSeconds=3600))
    assert (used(lab, "ends"), used(lab, "stays")) == ({"pods": "1"}, {"pods": "0"})


@pytest.mark.parametrize(
    ("operator", "values", "classes", "counted"),
    [
        pytest.param("In", ["pc1"], ["pc1"], 1, id="one of the class"),
        pytest.param("In", ["pc1"], ["pc2"], 0, id="one of another class"),
        pytest.param("In", ["pc1", "pc2"], ["pc1", "pc2"], 2, id="several classes"),
        pytest.param("NotIn", ["pc1"], ["pc1"], 0, id="not in"),
        pytest.param("NotIn", ["pc1"], ["pc2"], 1, id="not in, another"),
        pytest.param("Exists", [], ["pc1"], 1, id="any class"),
    ],
)
@does(QUOTA + "'s priority class scope (quota set to pod count: 1) against a pod with same priority class.")
@does(QUOTA + "'s priority class scope (quota set to pod count: 1) against 2 pods with different priority class.")
@does(QUOTA + "'s multiple priority class scope (quota set to pod count: 2) against 2 pods with same priority classes.")
@does(
    QUOTA + "'s priority class scope (quota set to pod count: 1) against a pod with different priority class",
    "(ScopeSelectorOpNotIn).",
)
@does(
    QUOTA + "'s priority class scope (quota set to pod count: 1) against a pod with different priority class",
    "(ScopeSelectorOpExists).",
)
def test_a_quota_of_pods_of_a_class(operator: str, values: list[str], classes: list[str], counted: int) -> None:
    lab = lab_with_nodes()
    for number, name in enumerate(("pc1", "pc2"), 1):
        make(
            lab,
            "priorityclasses.scheduling.k8s.io",
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": number,
            },
        )
    expression = {"scopeName": "PriorityClass", "operator": operator, **({"values": values} if values else {})}
    make(lab, "resourcequotas", quota("of", {"pods": "2"}, scopeSelector={"matchExpressions": [expression]}))
    assert used(lab, "of") == {"pods": "0"}
    for number, name in enumerate(classes):
        make(lab, "pods", pod(f"p{number}", priorityClassName=name))
    assert used(lab, "of") == {"pods": str(counted)}
    for number in range(len(classes)):
        deleted(lab, "pods", f"p{number}", grace=0)
    assert used(lab, "of") == {"pods": "0"}


@does(QUOTA + "'s priority class scope (quota set to pod count: 1) against 2 pods with same priority class.")
def test_a_quota_of_a_class_refuses_a_second_pod() -> None:
    lab = lab_with_nodes()
    make(
        lab,
        "priorityclasses.scheduling.k8s.io",
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "pc3"}, "value": 1000},
    )
    expression = {"scopeName": "PriorityClass", "operator": "In", "values": ["pc3"]}
    make(lab, "resourcequotas", quota("of", {"pods": "1"}, scopeSelector={"matchExpressions": [expression]}))
    assert used(lab, "of") == {"pods": "0"}
    make(lab, "pods", pod("first", priorityClassName="pc3"))
    assert used(lab, "of") == {"pods": "1"}
    with pytest.raises(ApiError, match="exceeded quota: of"):
        make(lab, "pods", pod("second", priorityClassName="pc3"))


@does(QUOTA, "with cross namespace pod affinity scope using scope-selectors.")
def test_a_quota_of_pods_that_look_into_other_namespaces() -> None:
    lab = lab_with_nodes()
    expression = {"scopeName": "CrossNamespacePodAffinity", "operator": "Exists"}
    make(lab, "resourcequotas", quota("across", {"pods": "5"}, scopeSelector={"matchExpressions": [expression]}))
    assert used(lab, "across") == {"pods": "0"}

    def affine(name: str, namespaces: list[str]) -> Document:
        term = {"labelSelector": {}, "topologyKey": "region", **({"namespaces": namespaces} if namespaces else {})}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        return pod(name, affinity={"podAffinity": required})

    make(lab, "pods", affine("no-cross", []))
    assert used(lab, "across") == {"pods": "0"}
    make(lab, "pods", affine("with-namespaces", ["ns1"]))
    assert used(lab, "across") == {"pods": "1"}
    deleted(lab, "pods", "with-namespaces", grace=0)
    assert used(lab, "across") == {"pods": "0"}
