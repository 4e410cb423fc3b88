"""What objects count for in a quota, by upstream's formulas."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.quota.evaluator import evaluator_of
from controllers.quota.usage import add, subtract, written
from controllers.quota.usage import read as amounts

NOW_MS = 1_800_000_000_000


def container(name: str = "main", requests: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "resources": {"requests": requests or {}, **more.pop("resources", {})}, **more}


def a_pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {"containers": list(containers or [container()]), **spec}}


def counted(resource: str, document: dict[str, Any]) -> dict[str, str]:
    return written(evaluator_of(resource).usage(document, NOW_MS))


def test_a_pod_counts_itself_its_requests_and_its_limits() -> None:
    asked = {"cpu": "250m", "memory": "64Mi", "nvidia.com/gpu": "1", "hugepages-2Mi": "2Mi"}
    one = container(requests=asked, resources={"limits": {"cpu": "1", "ephemeral-storage": "1Gi"}})
    two = container("two", {"cpu": "0.75", "memory": "64Mi"})
    assert counted("pods", a_pod(one, two)) == {
        "count/pods": "1",
        "cpu": "1",
        "hugepages-2Mi": "2Mi",
        "limits.cpu": "1",
        "limits.ephemeral-storage": "1Gi",
        "memory": "128Mi",
        "pods": "1",
        "requests.cpu": "1",
        "requests.hugepages-2Mi": "2Mi",
        "requests.memory": "128Mi",
        "requests.nvidia.com/gpu": "1",
    }


def test_init_containers_count_with_the_sidecars_before_them() -> None:
    init = [
        container("side", {"cpu": "300m"}, restartPolicy="Always"),
        container("setup", {"cpu": "1"}),
    ]
    pod = a_pod(container(requests={"cpu": "500m"}), initContainers=init, overhead={"cpu": "10m", "memory": "1Mi"})
    assert counted("pods", pod)["requests.cpu"] == "1310m"
    assert counted("pods", pod)["memory"] == "1Mi"


def test_requests_of_the_pod_as_a_whole_stand_for_its_containers() -> None:
    pod = a_pod(container(requests={"cpu": "500m"}), resources={"requests": {"cpu": "2"}})
    assert counted("pods", pod)["cpu"] == "2"


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"status": {"phase": "Succeeded"}}, id="succeeded"),
        pytest.param({"status": {"phase": "Failed"}}, id="failed"),
        pytest.param(
            {"metadata": {"deletionTimestamp": "2027-01-15T07:59:00Z", "deletionGracePeriodSeconds": 30}},
            id="past its grace",
        ),
    ],
)
def test_a_pod_that_has_ended_counts_as_an_object_only(facts: dict[str, Any]) -> None:
    assert counted("pods", {**a_pod(container(requests={"cpu": "1"})), **facts}) == {"count/pods": "1"}


@pytest.mark.parametrize(
    ("scope", "spec", "expected"),
    [
        ({"scopeName": "Terminating", "operator": "Exists"}, {"activeDeadlineSeconds": 5}, True),
        ({"scopeName": "NotTerminating", "operator": "Exists"}, {"activeDeadlineSeconds": 5}, False),
        ({"scopeName": "BestEffort", "operator": "Exists"}, {}, True),
        ({"scopeName": "NotBestEffort", "operator": "Exists"}, {}, False),
        ({"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}, {"priorityClassName": "high"}, True),
        ({"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}, {}, False),
        ({"scopeName": "PriorityClass", "operator": "NotIn", "values": ["high"]}, {}, True),
        ({"scopeName": "PriorityClass", "operator": "DoesNotExist"}, {"priorityClassName": "high"}, False),
        ({"scopeName": "PriorityClass", "operator": "Exists"}, {"priorityClassName": "high"}, True),
        (
            {"scopeName": "CrossNamespacePodAffinity", "operator": "Exists"},
            {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"namespaces": ["a"]}]}}},
            True,
        ),
        ({"scopeName": "CrossNamespacePodAffinity", "operator": "Exists"}, {}, False),
    ],
)
def test_scopes_of_pods(scope: dict[str, Any], spec: dict[str, Any], expected: bool) -> None:
    quota = {"spec": {"scopeSelector": {"matchExpressions": [scope]}}, "status": {"hard": {"pods": "1"}}}
    assert evaluator_of("pods").concerns(quota, a_pod(**spec)) is expected


def test_what_a_pod_leaves_unsaid_is_told_by_name_and_container() -> None:
    pod = a_pod(container("b"), container("a", {"cpu": "1"}))
    told = evaluator_of("pods").missing(["limits.memory", "cpu", "pods", "ephemeral-storage"], pod)
    assert told == "must specify cpu for: b; limits.memory for: a,b"


@pytest.mark.parametrize(
    ("spec", "node_ports", "balancers"),
    [
        ({"type": "ClusterIP", "ports": [{"port": 1}]}, "0", "0"),
        ({"type": "NodePort", "ports": [{"port": 1}, {"port": 2}]}, "2", "0"),
        ({"type": "LoadBalancer", "ports": [{"port": 1}]}, "1", "1"),
        (
            {
                "type": "LoadBalancer",
                "allocateLoadBalancerNodePorts": False,
                "ports": [{"port": 1}, {"port": 2, "nodePort": 30001}],
            },
            "1",
            "1",
        ),
    ],
)
def test_services(spec: dict[str, Any], node_ports: str, balancers: str) -> None:
    assert counted("services", {"metadata": {}, "spec": spec}) == {
        "count/services": "1",
        "services": "1",
        "services.loadbalancers": balancers,
        "services.nodeports": node_ports,
    }


def test_claims_count_in_all_and_for_their_class() -> None:
    spec = {"storageClassName": "gold", "resources": {"requests": {"storage": "1.5Gi"}}}
    assert counted("persistentvolumeclaims", {"metadata": {}, "spec": spec}) == {
        "count/persistentvolumeclaims": "1",
        "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
        "gold.storageclass.storage.k8s.io/requests.storage": "1536Mi",
        "persistentvolumeclaims": "1",
        "requests.storage": "1536Mi",
    }


def test_claims_to_devices_count_the_most_of_their_alternatives() -> None:
    requests = [
        {"name": "a", "exactly": {"deviceClassName": "gpu", "count": 2}},
        {"name": "b", "firstAvailable": [{"deviceClassName": "gpu", "count": 3}, {"deviceClassName": "gpu"}]},
        {"name": "c", "exactly": {"deviceClassName": "nic", "allocationMode": "All"}},
    ]
    claim = {"metadata": {}, "spec": {"devices": {"requests": requests}}}
    assert counted("resourceclaims.resource.k8s.io", claim) == {
        "count/resourceclaims.resource.k8s.io": "1",
        "gpu.deviceclass.resource.k8s.io/devices": "5",
        "nic.deviceclass.resource.k8s.io/devices": "32",
    }


@pytest.mark.parametrize(
    ("resource", "names"),
    [("secrets", ["count/secrets", "secrets"]), ("jobs.batch", ["count/jobs.batch"])],
)
def test_other_kinds_count_objects(resource: str, names: list[str]) -> None:
    assert list(counted(resource, {"metadata": {}})) == names
    assert evaluator_of(resource).matching([*names, "pods", "count/other"]) == names


def test_sums_keep_the_family_of_suffixes_of_what_is_there() -> None:
    assert written(add(amounts({"a": "0", "b": "1Gi"}), amounts({"a": "1Ki", "b": "1k"}))) == {
        "a": "1Ki",
        "b": "1073742824",
    }
    assert written(subtract(amounts({"a": "1"}), amounts({"a": "300m", "b": "1"}))) == {"a": "700m", "b": "-1"}


def test_stored_pods_count_in_all_as_each_of_them_does() -> None:
    quota = {"spec": {"scopes": ["NotTerminating"]}}
    pods = [
        a_pod(container(requests={"cpu": "250m"})),
        a_pod(container(requests={"cpu": "1"}), activeDeadlineSeconds=5),
        {**a_pod(container(requests={"cpu": "2"})), "status": {"phase": "Succeeded"}},
        a_pod(container(requests={"cpu": "500m"})),
    ]
    names = ["count/pods", "pods", "requests.cpu", "services"]
    counted_in_all = {"count/pods": "3", "pods": "2", "requests.cpu": "750m", "services": "0"}
    for _ in range(2):
        assert written(evaluator_of("pods").total(quota, pods, names, NOW_MS)) == counted_in_all


def test_a_stored_pod_counts_for_less_once_its_grace_is_over() -> None:
    gone = {"name": "p", "deletionTimestamp": "2027-01-15T08:00:00Z", "deletionGracePeriodSeconds": 30}
    pods = [{**a_pod(container(requests={"cpu": "1"})), "metadata": gone}]
    names = ["count/pods", "requests.cpu"]
    of = [written(evaluator_of("pods").total({}, pods, names, NOW_MS + ms)) for ms in (0, 30_000, 30_001)]
    assert of == [{"count/pods": "1", "requests.cpu": cpu} for cpu in ("1", "1", "0")]
