"""What is served beside the stored kinds: APIServices, the health of components, a second version of autoscalers."""

from __future__ import annotations

from typing import Any

from clustersim.apiserver.discovery import group_versions
from controllers.kinds.apiregistration.apiservice import GROUP, LOCAL, name_of
from tests.tools.room import Room

SERVICES = f"/apis/{GROUP}/v1/apiservices"
SCALERS = "horizontalpodautoscalers"


def test_there_is_an_apiservice_for_each_version_that_is_served(room: Room) -> None:
    served = {one for one in group_versions() if one[0] != GROUP}
    assert set(LOCAL) == served
    _, found = room.ask("GET", SERVICES)
    assert found["kind"] == "APIServiceList"
    names = [one["metadata"]["name"] for one in found["items"]]
    assert names == sorted(name_of(*one) for one in served)
    _, apps = room.ask("GET", f"{SERVICES}/v1.apps")
    assert apps["spec"] == {"group": "apps", "version": "v1", "groupPriorityMinimum": 17800, "versionPriority": 15}
    condition = apps["status"]["conditions"][0]
    assert (condition["type"], condition["status"], condition["reason"], condition["message"]) == (
        "Available",
        "True",
        "Local",
        "Local APIServices are always available",
    )
    assert room.ask("DELETE", f"{SERVICES}/v1.apps")[0] == 405
    assert room.ask("GET", f"{SERVICES}/v9.apps")[0] == 404


def test_metrics_are_served_while_there_is_a_node_to_be_measured(room: Room) -> None:
    """No API server has this group by itself: it comes with what measures, which runs on a node."""
    nodes = "/apis/metrics.k8s.io/v1beta1/nodes"

    def told() -> tuple[list[int], bool, bool]:
        paths = ("/apis/metrics.k8s.io", "/apis/metrics.k8s.io/v1beta1", nodes, f"{SERVICES}/v1beta1.metrics.k8s.io")
        groups = [group["name"] for group in room.ask("GET", "/apis")[1]["groups"]]
        documents = room.ask("GET", "/openapi/v3")[1]["paths"]
        statuses = [room.answer("GET", path).status for path in paths]
        return statuses, "metrics.k8s.io" in groups, "apis/metrics.k8s.io/v1beta1" in documents

    assert told() == ([200] * 4, True, True)
    for item in room.ask("GET", "/api/v1/nodes")[1]["items"]:
        assert room.ask("DELETE", f"/api/v1/nodes/{item['metadata']['name']}")[0] == 200
    assert told() == ([404] * 4, False, False)
    assert room.answer("GET", nodes).body == b"404 page not found\n"


def cells(found: Any) -> dict[str, list[str]]:
    return {row["cells"][0]: row["cells"][1:] for row in found["rows"]}


def test_another_apiservice_is_stored_and_said_to_do_nothing(room: Room) -> None:
    spec = {"group": "example.dev", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 15}
    service = {"service": {"name": "api", "namespace": "default"}}
    made = room.made(SERVICES, {"metadata": {"name": "v1.example.dev"}, "spec": {**spec, **service}})
    assert made["spec"]["service"]["port"] == 443
    status, refused = room.ask(
        "POST", SERVICES, {"metadata": {"name": "other"}, "spec": {**spec, "versionPriority": 0}}
    )
    assert (status, refused["message"]) == (
        422,
        'APIService.apiregistration.k8s.io "other" is invalid: [metadata.name: Invalid value: "other": '
        'must be `spec.version+"."+spec.group`: "v1.example.dev", spec.versionPriority: Invalid value: 0: '
        "must be positive and less than 1000]",
    )
    table = room.table(SERVICES)
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Service", "Available", "Age"]
    assert cells(table)["v1.apps"][:2] == ["Local", "True"]
    assert cells(table)["v1.example.dev"][:2] == ["default/api", "Unknown"]


def test_components_tell_their_health_and_that_the_question_is_old(room: Room) -> None:
    room.run(5)
    path = "/api/v1/componentstatuses"
    assert cells(room.table(path)) == {
        "controller-manager": ["Healthy", "ok", ""],
        "etcd-0": ["Healthy", "ok", ""],
        "scheduler": ["Healthy", "ok", ""],
    }
    headers = room.answer("GET", path).headers
    assert ("warning", '299 - "v1 ComponentStatus is deprecated in v1.19+"') in headers
    room.fault("kube-scheduler-0", "crash")
    assert cells(room.table(path))["scheduler"] == [
        "Unhealthy",
        'Get "https://127.0.0.1:10259/healthz": dial tcp 127.0.0.1:10259: connect: connection refused',
        "",
    ]
    status, missing = room.ask("GET", f"{path}/none")
    assert (status, missing["message"]) == (404, 'componentstatus "none" not found')


def test_autoscalers_are_served_in_both_versions(room: Room) -> None:
    v1, v2 = (f"/apis/autoscaling/{version}/namespaces/default/{SCALERS}" for version in ("v1", "v2"))
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "maxReplicas": 3, "targetCPUUtilizationPercentage": 60}
    made = room.made(v1, {"metadata": {"name": "web"}, "spec": spec})
    assert made["spec"] == {**spec, "minReplicas": 1}
    _, newer = room.ask("GET", f"{v2}/web")
    assert newer["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 60
    _, listed = room.ask("GET", v1)
    assert (listed["apiVersion"], listed["items"][0]["spec"]) == ("autoscaling/v1", made["spec"])
    assert cells(room.table(v1)) == cells(room.table(v2))
    _, group = room.ask("GET", "/apis/autoscaling")
    assert [one["version"] for one in group["versions"]] == ["v2", "v1"]
    status, missing = room.ask("GET", f"{v1}/none")
    assert (status, missing["message"]) == (404, 'horizontalpodautoscalers.autoscaling "none" not found')
    assert room.ask("DELETE", f"{v1}/web")[0] == 200
    assert room.ask("GET", f"{v2}/web")[0] == 404


def test_a_control_plane_of_two_masters_is_there_to_be_looked_at(own_database: None) -> None:
    room = Room("two-masters")
    room.run(120)
    _, found = room.ask("GET", "/api/v1/namespaces/kube-system/pods")
    running = [one["metadata"]["name"] for one in found["items"] if one["status"]["phase"] == "Running"]
    names = sorted(name for name in running if "-master-" in name)
    assert names == [
        f"{component}-master-{number}"
        for component in ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
        for number in (1, 2)
    ]
    assert len([name for name in running if name.startswith("kube-proxy-")]) == 5
    assert len([name for name in running if name.startswith("coredns-")]) == 2
    _, dns = room.ask("GET", "/api/v1/namespaces/kube-system/endpoints/kube-dns")
    assert len(dns["subsets"][0]["addresses"]) == 2
    _, service = room.ask("GET", "/api/v1/namespaces/kube-system/services/kube-dns")
    assert service["spec"]["clusterIP"] == "10.96.0.10"
    _, api = room.ask("GET", "/api/v1/namespaces/default/endpoints/kubernetes")
    assert len(api["subsets"][0]["addresses"]) == 2
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    _, leases = room.ask("GET", path)
    own = [one for one in leases["items"] if one["metadata"]["name"].startswith("apiserver-")]
    assert [one["metadata"]["labels"]["kubernetes.io/hostname"] for one in own] in (
        ["master-1", "master-2"],
        ["master-2", "master-1"],
    )
    assert {"kube-scheduler", "kube-controller-manager"} <= {one["metadata"]["name"] for one in leases["items"]}
    status, refused = room.ask("DELETE", f"{path}/{own[0]['metadata']['name']}")
    assert (status, "is computed" in refused["message"]) == (405, True)
