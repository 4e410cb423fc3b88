"""What quotas tell of their namespaces: everything that can be counted, as it comes, changes and goes."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Delete, Patch
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError
from tests.tools.lab import Lab, node, pod, workload


def quota(name: str = "q", *, scopes: list[str] | None = None, **hard: str) -> Document:
    asked = {key.replace("__", "/").replace("_", "."): value for key, value in hard.items()}
    spec: dict[str, Any] = {"hard": asked}
    if scopes:
        spec["scopes"] = scopes
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def used(lab: Lab, name: str = "q") -> dict[str, str]:
    status = lab.get("resourcequotas", name)["status"]
    assert status["hard"] == lab.get("resourcequotas", name)["spec"]["hard"]
    found: dict[str, str] = status["used"]
    return found


def config(name: str) -> Document:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}


def test_a_quota_counts_what_is_there_when_it_comes() -> None:
    lab = Lab([node("n1"), workload("ReplicaSet", "web", 3), config("a")])
    lab.run(10)
    lab.create(quota(pods="9", requests_cpu="2", count__replicasets_apps="5", count__nothing_here="1"))
    lab.run(1)
    assert used(lab) == {"pods": "3", "requests.cpu": "300m", "count/replicasets.apps": "1"}


def test_what_goes_and_what_ends_is_given_back() -> None:
    lab = Lab([node("n1"), *(pod(f"p{number}") for number in range(3))])
    lab.run(10)
    lab.create(quota(pods="9", count__pods="9", requests_cpu="2"))
    lab.run(1)
    lab.do(Delete("pods", "default", "p0", grace_period_seconds=0))
    lab.do(Patch("pods", "default", "p1", {"status": {"phase": "Succeeded"}}, "merge", "status"))
    lab.run(1)
    assert used(lab) == {"pods": "1", "count/pods": "2", "requests.cpu": "100m"}


def test_a_quota_that_changes_is_counted_anew_and_drops_what_it_no_longer_limits() -> None:
    lab = Lab([quota(configmaps="9", secrets="3"), config("a"), config("b")])
    lab.run(5)
    before = used(lab)["configmaps"]
    lab.do(Patch("resourcequotas", "default", "q", {"spec": {"hard": {"secrets": None, "count/configmaps": "4"}}}))
    lab.run(1)
    assert used(lab) == {"configmaps": before, "count/configmaps": before}


def test_scopes_leave_out_other_pods() -> None:
    best_effort = pod("free")
    best_effort["spec"]["containers"][0].pop("resources")
    lab = Lab([node("n1"), best_effort, pod("paid"), pod("short", activeDeadlineSeconds=500)])
    lab.create(quota("best", scopes=["BestEffort"], pods="5"))
    lab.create(quota("paid", scopes=["NotBestEffort", "NotTerminating"], pods="5", requests_cpu="1"))
    lab.create(quota("short", scopes=["Terminating"], pods="5"))
    lab.run(5)
    assert used(lab, "best") == {"pods": "1"}
    assert used(lab, "paid") == {"pods": "1", "requests.cpu": "100m"}
    assert used(lab, "short") == {"pods": "1"}


def test_a_service_that_changes_its_type_gives_its_node_ports_back() -> None:
    service: Document = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
    }
    lab = Lab([quota(services_nodeports="3", services_loadbalancers="2"), service])
    lab.run(3)
    assert used(lab) == {"services.nodeports": "1", "services.loadbalancers": "1"}
    lab.do(Patch("services", "default", "web", {"spec": {"type": "ClusterIP"}}))
    lab.run(1)
    assert used(lab) == {"services.nodeports": "0", "services.loadbalancers": "0"}


def test_a_resize_is_charged_and_refused_beyond_the_quota() -> None:
    """What upstream's end-to-end test of resizes under a quota does."""
    lab = Lab([node("n1")])
    lab.create(quota(cpu="800m", memory="800Mi"))
    lab.run(2)
    for name in ("a", "b"):
        one = pod(name)
        one["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "300m", "memory": "300Mi"}}
        lab.create(one)
    lab.run(5)

    def resize(**requests: str) -> None:
        container = {"name": lab.get("pods", "a")["spec"]["containers"][0]["name"], "resources": {"requests": requests}}
        lab.do(Patch("pods", "default", "a", {"spec": {"containers": [container]}}, "strategic", "resize"))

    resize(cpu="400m", memory="400Mi")
    assert used(lab) == {"cpu": "700m", "memory": "700Mi"}, "it is charged at once"
    lab.run(10)
    for asked, lack in (
        ({"memory": "750Mi"}, "requested: memory=350Mi, used: memory=700Mi, limited: memory=800Mi"),
        ({"cpu": "600m"}, "requested: cpu=200m, used: cpu=700m, limited: cpu=800m"),
    ):
        with pytest.raises(ApiError, match=f"exceeded quota: q, {lack}"):
            resize(**asked)
    resize(cpu="100m")
    lab.run(10)
    assert used(lab) == {"cpu": "400m", "memory": "700Mi"}


def test_a_resize_beyond_a_limit_range_is_refused_and_other_changes_are_not_asked() -> None:
    lab = Lab([node("n1"), pod("a", cpu="300m")])
    lab.run(5)
    limit = {"type": "Container", "max": {"cpu": "500m"}, "min": {"cpu": "400m"}}
    metadata = {"name": "lr", "namespace": "default"}
    lab.create({"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": {"limits": [limit]}})
    lab.do(Patch("pods", "default", "a", {"metadata": {"labels": {"b": "c"}}}))
    container = {"name": "main", "resources": {"requests": {"cpu": "600m"}, "limits": {"cpu": "600m"}}}
    with pytest.raises(ApiError, match="maximum cpu usage per Container is 500m, but limit is 600m"):
        lab.do(Patch("pods", "default", "a", {"spec": {"containers": [container]}}, "strategic", "resize"))


def test_a_claim_that_has_got_another_class_is_given_back_by_the_quota_of_the_old_one() -> None:
    """What upstream's end-to-end test of quotas of the scope VolumeAttributesClass does."""
    claim: Document = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "",
            "volumeAttributesClassName": "gold",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    lab = Lab([claim])
    for name in ("gold", "silver"):
        one = quota(name, persistentvolumeclaims="1")
        scope = {"scopeName": "VolumeAttributesClass", "operator": "In", "values": [name]}
        one["spec"]["scopeSelector"] = {"matchExpressions": [scope]}
        lab.create(one)
    lab.run(1)

    def patch(part: str, **said: str) -> None:
        lab.do(Patch("persistentvolumeclaims", "default", "data", {part or "spec": said}, "merge", part))

    patch("status", phase="Bound", currentVolumeAttributesClassName="gold")
    patch("", volumeAttributesClassName="silver")
    lab.run(2)
    both = [used(lab, name)["persistentvolumeclaims"] for name in ("gold", "silver")]
    assert both == ["1", "1"], "it has one and asks for the other"
    patch("status", currentVolumeAttributesClassName="silver")
    lab.run(2)
    assert [used(lab, name)["persistentvolumeclaims"] for name in ("gold", "silver")] == ["0", "1"]


def test_usage_that_somebody_falsified_is_mended_by_the_periodic_round() -> None:
    lab = Lab([quota(configmaps="9")])
    lab.run(3)
    true = used(lab)
    lab.do(Patch("resourcequotas", "default", "q", {"status": {"used": {"configmaps": "7"}}}, "merge", "status"))
    lab.run(100)
    assert used(lab) == {"configmaps": "7"}
    lab.run(250)
    assert used(lab) == true
