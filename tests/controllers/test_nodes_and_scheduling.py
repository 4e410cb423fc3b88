"""What upstream's end-to-end tests of nodes and scheduling do (test/e2e/{node,common/node,scheduling}, v1.34).

Each test's docstring names those of upstream's that it does again; docs/e2e-nodes.md lists them.
"""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Delete, Patch
from scheduler_core.api.document import condition
from scheduler_core.api.errors import ApiError
from tests.tools.lab import Document, Lab, node, pod, workload

ZONE = "topology.kubernetes.io/zone"


def cluster(*documents: Document, nodes: int = 2, **options: Any) -> Lab:
    lab = Lab([*(node(f"n{number}", **options) for number in range(1, nodes + 1)), *documents])
    lab.run(2)
    return lab


def labelled(lab: Lab, name: str, **labels: str) -> None:
    lab.do(Patch("nodes", "", name, {"metadata": {"labels": labels}}))
    lab.run(1)


def taint(lab: Lab, name: str, effect: str, *, key: str = "kubernetes.io/e2e") -> None:
    lab.do(Patch("nodes", "", name, {"spec": {"taints": [{"key": key, "value": "yes", "effect": effect}]}}))
    lab.run(1)


def place(lab: Lab, name: str) -> str:
    return str(lab.get("pods", name)["spec"].get("nodeName", ""))


def refusal(lab: Lab, document: Document) -> ApiError:
    with pytest.raises(ApiError) as refused:
        lab.create(document)
    return refused.value


def waits(lab: Lab, name: str) -> str:
    told = condition(lab.get("pods", name), "PodScheduled")
    assert told is not None
    return str(told["reason"])


def cheap(kind: str, name: str, api: str = "v1", **fields: Any) -> Document:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "default"}, **fields}


def whole(kind: str, name: str, api: str, **fields: Any) -> Document:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, **fields}


# -- [sig-node] -----------------------------------------------------------------------------------------------------


def test_pods_leave_a_tainted_node_when_their_seconds_are_over() -> None:
    """[sig-node] NoExecuteTaintManager Multiple Pods [Serial] evicts pods with minTolerationSeconds"""
    seconds = {"short": 5, "long": 25}
    key = "kubernetes.io/e2e-evict"
    lab = cluster(
        *(
            pod(
                name,
                terminationGracePeriodSeconds=1,
                tolerations=[{"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": stays}],
            )
            for name, stays in seconds.items()
        ),
        nodes=1,
    )
    lab.run(20)
    taint(lab, "n1", "NoExecute", key=key)
    lab.run(10)
    assert [one["metadata"]["name"] for one in lab.list("pods")] == ["long"]
    lab.run(20)
    assert lab.list("pods") == []


def test_taking_the_taint_away_cancels_the_eviction() -> None:
    """[sig-node] NoExecuteTaintManager Single Pod [Serial] removing taint cancels eviction"""
    key = "kubernetes.io/e2e-evict"
    stays = [{"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}]
    lab = cluster(pod("stays", tolerations=stays), nodes=1)
    lab.run(20)
    taint(lab, "n1", "NoExecute", key=key)
    lab.run(10)
    lab.do(Patch("nodes", "", "n1", {"spec": {"taints": []}}))
    lab.run(90)
    assert "deletionTimestamp" not in lab.get("pods", "stays")["metadata"]


def test_runtime_classes() -> None:
    """[sig-node] RuntimeClass should schedule a Pod requesting a RuntimeClass and initialize its Overhead
    [sig-node] RuntimeClass should schedule a Pod requesting a RuntimeClass without PodOverhead
    [sig-node] RuntimeClass should reject a Pod requesting a non-existent RuntimeClass
    [sig-node] RuntimeClass should reject a Pod requesting a deleted RuntimeClass
    """
    overhead = {"podFixed": {"cpu": "10m", "memory": "1Mi"}}
    api = "node.k8s.io/v1"
    lab = cluster(
        whole("RuntimeClass", "heavy", api, handler="test", overhead=overhead),
        whole("RuntimeClass", "plain", api, handler="test"),
    )
    lab.create(pod("one", runtimeClassName="heavy"), pod("two", runtimeClassName="plain"))
    lab.run(5)
    assert lab.get("pods", "one")["spec"]["overhead"] == overhead["podFixed"]
    assert "overhead" not in lab.get("pods", "two")["spec"]
    assert place(lab, "one")
    assert place(lab, "two")
    assert refusal(lab, pod("three", runtimeClassName="none")).code == 403
    lab.do(Delete("runtimeclasses.node.k8s.io", "", "plain"))
    assert refusal(lab, pod("four", runtimeClassName="plain")).code == 403


def test_kernel_parameters_that_are_none_are_refused() -> None:
    """[sig-node] Sysctls [LinuxOnly] should reject invalid sysctls"""
    names = ("foo-", "kernel.shmmax", "safe-and-unsafe", "bar..")
    context = {"sysctls": [{"name": name, "value": "100000000"} for name in names]}
    refused = refusal(cluster(), pod("sysctl", securityContext=context))
    assert refused.code == 422
    assert sorted({cause.field for cause in refused.causes}) == [
        "spec.securityContext.sysctls[0].name",
        "spec.securityContext.sysctls[3].name",
    ]


def test_a_deadline_can_be_set_on_a_pod_that_runs() -> None:
    """[sig-node] Pods should allow activeDeadlineSeconds to be updated"""
    lab = cluster(pod("web"))
    lab.run(20)
    lab.do(Patch("pods", "default", "web", {"spec": {"activeDeadlineSeconds": 25}}))
    lab.run(20)
    status = lab.get("pods", "web")["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")


def test_empty_keys_are_refused() -> None:
    """[sig-node] ConfigMap should fail to create ConfigMap with empty key
    [sig-node] Secrets should fail to create secret due to empty secret key
    """
    lab = cluster()
    for kind, value in (("ConfigMap", "value-1"), ("Secret", "dmFsdWUtMQ==")):
        assert refusal(lab, cheap(kind, "empty-key", data={"": value})).code == 422


def test_a_secret_and_a_config_map_are_patched() -> None:
    """[sig-node] Secrets should patch a secret
    [sig-node] ConfigMap should run through a ConfigMap lifecycle
    """
    lab = cluster(cheap("Secret", "s", data={"key": "dmFsdWU="}), cheap("ConfigMap", "c", data={"key": "value"}))
    for resource, name, value in (("secrets", "s", "dmFsdWUx"), ("configmaps", "c", "value1")):
        change = {"metadata": {"labels": {"testsecret": "true"}}, "data": {"key": value}}
        patched = lab.do(Patch(resource, "default", name, change))
        assert (patched["data"]["key"], patched["metadata"]["labels"]) == (value, {"testsecret": "true"})
        lab.do(Delete(resource, "default", name))
        assert lab.store.get(resource, "default", name) is None


def test_pods_are_submitted_updated_and_removed() -> None:
    """[sig-node] Pods should be submitted and removed
    [sig-node] Pods should be updated
    [sig-node] Pods should get a host IP
    [sig-node] Pods Extended Pods Set QOS Class should be set on Pods with matching resource requests and limits for memory and cpu
    """  # noqa: E501 (upstream's names)
    same = {"cpu": "100m", "memory": "100Mi"}
    web = pod("web")
    web["spec"]["containers"][0]["resources"] = {"requests": same, "limits": same}
    lab = cluster(web)
    lab.run(20)
    status = lab.get("pods", "web")["status"]
    assert (status["phase"], status["qosClass"]) == ("Running", "Guaranteed")
    assert status["hostIP"].startswith("192.168.")
    updated = lab.do(Patch("pods", "default", "web", {"metadata": {"labels": {"time": "now"}}}))
    assert updated["metadata"]["labels"] == {"time": "now"}
    lab.do(Delete("pods", "default", "web", grace_period_seconds=30))
    assert lab.get("pods", "web")["metadata"]["deletionGracePeriodSeconds"] == 30
    lab.run(40)
    assert lab.store.get("pods", "default", "web") is None


# -- [sig-scheduling] -----------------------------------------------------------------------------------------------


def test_a_limit_range_gives_defaults_and_refuses() -> None:
    """[sig-scheduling] LimitRange should create a LimitRange with defaults and ensure pod has those defaults applied."""  # noqa: E501
    amounts = {
        "type": "Container",
        "min": {"cpu": "50m", "memory": "100Mi"},
        "max": {"cpu": "500m", "memory": "500Mi"},
        "default": {"cpu": "500m", "memory": "500Mi"},
        "defaultRequest": {"cpu": "100m", "memory": "200Mi"},
    }
    lab = cluster(cheap("LimitRange", "limits", spec={"limits": [amounts]}))
    bare = pod("bare")
    del bare["spec"]["containers"][0]["resources"]
    lab.create(bare)
    assert lab.get("pods", "bare")["spec"]["containers"][0]["resources"] == {
        "limits": amounts["default"],
        "requests": amounts["defaultRequest"],
    }
    for name, cpu in (("too-small", "10m"), ("too-large", "600m")):
        wrong = pod(name)
        wrong["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}
        assert refusal(lab, wrong).code == 403


def test_a_pod_with_gates_waits_until_the_last_is_gone() -> None:
    """[sig-scheduling] SchedulerPredicates [Serial] validates Pods with non-empty schedulingGates are blocked on scheduling"""  # noqa: E501
    lab = cluster(pod("gated", schedulingGates=[{"name": "foo"}, {"name": "bar"}]))
    lab.run(5)
    assert (place(lab, "gated"), waits(lab, "gated")) == ("", "SchedulingGated")
    lab.do(Patch("pods", "default", "gated", {"spec": {"schedulingGates": [{"name": "foo"}]}}, "merge"))
    lab.run(5)
    assert (place(lab, "gated"), waits(lab, "gated")) == ("", "SchedulingGated")
    lab.do(Patch("pods", "default", "gated", {"spec": {"schedulingGates": []}}, "merge"))
    lab.run(5)
    assert place(lab, "gated")


@pytest.mark.parametrize("kind", ["ReplicationController", "Service"])
def test_pods_spread_across_zones(kind: str) -> None:
    """[sig-scheduling] Multi-AZ Clusters should spread the pods of a replication controller across zones [Serial]
    [sig-scheduling] Multi-AZ Clusters should spread the pods of a service across zones [Serial]
    """
    lab = cluster(nodes=3)
    for number, zone in ((1, "a"), (2, "b"), (3, "c")):
        labelled(lab, f"n{number}", **{ZONE: zone})
    if kind == "Service":
        lab.create(cheap("Service", "web", spec={"selector": {"app": "web"}, "ports": [{"port": 80}]}))
        for number in range(7):
            one = pod(f"web-{number}")
            one["metadata"]["labels"] = {"app": "web"}
            lab.create(one)
            lab.run(1)
    else:
        lab.create(workload(kind, "web", 7))
    lab.run(10)
    places = [str(one["spec"].get("nodeName")) for one in lab.list("pods")]
    counts = sorted(places.count(f"n{number}") for number in (1, 2, 3))
    assert counts == [2, 2, 3]


def test_selectors_affinity_and_taints_are_respected() -> None:
    """[sig-scheduling] SchedulerPredicates [Serial] validates that NodeSelector is respected if not matching
    [sig-scheduling] SchedulerPredicates [Serial] validates that NodeSelector is respected if matching
    [sig-scheduling] SchedulerPredicates [Serial] validates that NodeAffinity is respected if not matching
    [sig-scheduling] SchedulerPredicates [Serial] validates that required NodeAffinity setting is respected if matching
    [sig-scheduling] SchedulerPredicates [Serial] validates that taints-tolerations is respected if matching
    [sig-scheduling] SchedulerPredicates [Serial] validates that taints-tolerations is respected if not matching
    """
    lab = cluster()
    labelled(lab, "n2", e2e="42")
    taint(lab, "n2", "NoSchedule")

    def affinity(*values: str) -> Document:
        term = {"matchExpressions": [{"key": "e2e", "operator": "In", "values": list(values)}]}
        return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}

    tolerates = [{"key": "kubernetes.io/e2e", "value": "yes", "effect": "NoSchedule"}]
    lab.create(
        pod("selects", nodeSelector={"e2e": "42"}, tolerations=tolerates),
        pod("selects-nothing", nodeSelector={"e2e": "no"}),
        pod("attracted", affinity=affinity("42", "bar"), tolerations=tolerates),
        pod("attracted-by-nothing", affinity=affinity("bar")),
        pod("does-not-tolerate", nodeSelector={"e2e": "42"}),
    )
    lab.run(5)
    assert (place(lab, "selects"), place(lab, "attracted")) == ("n2", "n2")
    for name in ("selects-nothing", "attracted-by-nothing", "does-not-tolerate"):
        assert (place(lab, name), waits(lab, name)) == ("", "Unschedulable")
    lab.do(Patch("nodes", "", "n2", {"spec": {"taints": []}}))
    lab.run(15)
    assert place(lab, "does-not-tolerate") == "n2"


def test_requests_and_overhead_fill_a_node() -> None:
    """[sig-scheduling] SchedulerPredicates [Serial] validates resource limits of pods that are allowed to run
    [sig-scheduling] SchedulerPredicates [Serial] validates local ephemeral storage resource limits of pods that are allowed to run
    [sig-scheduling] SchedulerPredicates [Serial] validates pod overhead is considered along with resource limits of pods that are allowed to run verify pod overhead is accounted for
    """  # noqa: E501
    heavy = whole("RuntimeClass", "heavy", "node.k8s.io/v1", handler="test", overhead={"podFixed": {"cpu": "2"}})
    lab = cluster(heavy, pod("filler", cpu="1"), nodes=1)
    lab.create(pod("with-overhead", cpu="1500m", runtimeClassName="heavy"), pod("fits", cpu="3"))
    lab.run(5)
    placed = [name for name in ("with-overhead", "fits") if place(lab, name)]
    assert placed == ["fits"]
    assert waits(lab, "with-overhead") == "Unschedulable"
    stored = pod("stored")
    stored["spec"]["containers"][0]["resources"] = {"requests": {"ephemeral-storage": "1Gi"}}
    lab.create(stored)
    lab.run(2)
    assert waits(lab, "stored") == "Unschedulable"


def test_host_ports_conflict_by_address_and_protocol() -> None:
    """[sig-scheduling] SchedulerPredicates [Serial] validates that there is no conflict between pods with same hostPort but different hostIP and protocol
    [sig-scheduling] SchedulerPredicates [Serial] validates that there exists conflict between pods with same hostPort and protocol but one using 0.0.0.0 hostIP
    """  # noqa: E501

    def port(name: str, address: str, protocol: str = "TCP") -> Document:
        made = pod(name)
        told = {"containerPort": 8080, "hostPort": 54323, "hostIP": address, "protocol": protocol}
        made["spec"]["containers"][0]["ports"] = [told]
        return made

    lab = cluster(nodes=1)
    lab.create(port("one", "127.0.0.1"), port("two", "127.0.0.2"), port("three", "127.0.0.2", "UDP"))
    lab.run(5)
    assert [place(lab, name) for name in ("one", "two", "three")] == ["n1"] * 3
    lab.create(port("four", "0.0.0.0"))
    lab.run(5)
    assert waits(lab, "four") == "Unschedulable"


def test_four_pods_are_spread_evenly_over_two_nodes() -> None:
    """[sig-scheduling] SchedulerPredicates [Serial] PodTopologySpread Filtering validates 4 pods with MaxSkew=1 are evenly distributed into 2 nodes"""  # noqa: E501
    lab = cluster()
    for name in ("n1", "n2"):
        labelled(lab, name, spread=name)
    even = {
        "maxSkew": 1,
        "topologyKey": "spread",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "even"}},
    }
    spread = workload("ReplicaSet", "even", 4)
    spread["spec"]["template"]["spec"]["topologySpreadConstraints"] = [even]
    lab.create(spread)
    lab.run(10)
    places = sorted(str(one["spec"].get("nodeName")) for one in lab.list("pods"))
    assert places == ["n1", "n1", "n2", "n2"]


def test_a_more_important_pod_takes_a_place() -> None:
    """[sig-scheduling] SchedulerPreemption [Serial] validates basic preemption works
    [sig-scheduling] SchedulerPreemption [Serial] validates lower priority pod preemption by critical pod
    [sig-scheduling] SchedulerPreemption [Serial] validates pod disruption condition is added to the preempted pod
    """
    api = "scheduling.k8s.io/v1"
    low, high = whole("PriorityClass", "low", api, value=1), whole("PriorityClass", "high", api, value=1000)
    lab = cluster(low, high)
    held = pod("low", cpu="3", priorityClassName="low", terminationGracePeriodSeconds=5)
    held["metadata"]["finalizers"] = ["example.com/look"]
    lab.create(held, pod("medium", cpu="3", priorityClassName="high"))
    lab.run(20)
    critical = pod("critical", cpu="3", priorityClassName="system-cluster-critical")
    lab.create(critical)
    lab.run(20)
    left = lab.get("pods", "low")
    told = condition(left, "DisruptionTarget")
    assert told is not None
    assert (told["status"], told["reason"]) == ("True", "PreemptionByScheduler")
    assert "deletionTimestamp" in left["metadata"]
    lab.do(Patch("pods", "default", "low", {"metadata": {"finalizers": None}}, "merge"))
    lab.run(20)
    assert place(lab, "critical")
    assert place(lab, "medium")


def test_preferences() -> None:
    """[sig-scheduling] SchedulerPriorities [Serial] Pod should be scheduled to node that don't match the PodAntiAffinity terms
    [sig-scheduling] SchedulerPriorities [Serial] Pod should be preferably scheduled to nodes pod can tolerate
    """  # noqa: E501
    first = pod("first", nodeSelector={"kubernetes.io/hostname": "n1"})
    first["metadata"]["labels"] = {"security": "S1"}
    lab = cluster(first)
    lab.run(5)
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"security": "S1"}}}
    away = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "podAffinityTerm": term}]}
    lab.create(pod("away", affinity={"podAntiAffinity": away}))
    lab.run(5)
    assert place(lab, "away") == "n2"
    taint(lab, "n2", "PreferNoSchedule")
    lab.create(pod("prefers"))
    lab.run(5)
    assert place(lab, "prefers") == "n1"
