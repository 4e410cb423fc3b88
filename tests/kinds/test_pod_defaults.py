"""What the API server makes of a pod on its way in, and what it warns of."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.registry_tool import CONTAINER, Cluster


def test_amounts_get_their_canonical_spelling() -> None:
    asked = {"requests": {"cpu": "0.5", "memory": "1024Ki", "ephemeral-storage": "1.5Gi"}}
    stored = Cluster().pod(spec={"containers": [{**CONTAINER, "resources": asked}]})
    assert stored["spec"]["containers"][0]["resources"]["requests"] == {
        "cpu": "500m",
        "memory": "1Mi",
        "ephemeral-storage": "1536Mi",
    }


def test_what_is_empty_is_left_out_unless_it_means_something() -> None:
    stored = Cluster().pod(spec={"volumes": [{"name": "a", "emptyDir": {}}], "nodeSelector": {}, "hostAliases": []})
    assert stored["spec"]["volumes"][:1] == [{"name": "a", "emptyDir": {}}]
    assert not {"nodeSelector", "hostAliases"} & stored["spec"].keys()


def test_a_class_of_service_follows_from_the_whole_pod_where_it_says_any() -> None:
    cluster = Cluster()
    assert cluster.pod("a", {"resources": {"limits": {"cpu": "2"}}})["status"]["qosClass"] == "Burstable"
    both = {"limits": {"cpu": "2", "memory": "1Gi"}}
    assert cluster.pod("b", {"resources": both})["status"]["qosClass"] == "Guaranteed"
    sent = {
        "metadata": {},
        "spec": {"containers": [CONTAINER]},
        "status": {"phase": "Failed", "qosClass": "Guaranteed"},
    }
    assert cluster.create("pods", "c", sent)["status"] == {"phase": "Pending", "qosClass": "Guaranteed"}


def test_a_gated_pod_says_since_when() -> None:
    stored = Cluster().pod(spec={"schedulingGates": [{"name": "a.example/b"}]})
    condition = stored["status"]["conditions"][0]
    assert condition["reason"] == "SchedulingGated"
    assert condition["lastProbeTime"] is None
    assert condition["lastTransitionTime"] == stored["metadata"]["creationTimestamp"]


def test_keys_of_labels_become_part_of_the_selectors() -> None:
    term = {
        "topologyKey": "zone",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "matchLabelKeys": ["version", "absent"],
        "mismatchLabelKeys": ["tier"],
    }
    rules = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    stored = Cluster().pod(spec={"affinity": {"podAffinity": rules}}, labels={"version": "7", "tier": "back"})
    found = stored["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]
    assert found["labelSelector"]["matchExpressions"] == [
        {"key": "version", "operator": "In", "values": ["7"]},
        {"key": "tier", "operator": "NotIn", "values": ["back"]},
    ]


def port(number: int, **more: Any) -> dict[str, Any]:
    return {"containerPort": number, **more}


def with_ports(*ports: dict[str, Any]) -> dict[str, Any]:
    return {"containers": [{**CONTAINER, "ports": list(ports)}]}


FIRST = "spec.containers[0].ports[0]"
SPREAD = {"maxSkew": 1, "topologyKey": "beta.kubernetes.io/os", "whenUnsatisfiable": "ScheduleAnyway"}
WARNED: list[tuple[dict[str, Any], list[str]]] = [
    (
        {"topologySpreadConstraints": [SPREAD]},
        [
            "spec.topologySpreadConstraints[0].topologyKey: beta.kubernetes.io/os is deprecated since v1.14; "
            'use "kubernetes.io/os" instead',
            "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod",
        ],
    ),
    (
        {"nodeSelector": {"node-role.kubernetes.io/master": ""}},
        ['spec.nodeSelector[node-role.kubernetes.io/master]: use "node-role.kubernetes.io/control-plane" instead'],
    ),
    ({"imagePullSecrets": [{"name": ""}]}, ['spec.imagePullSecrets[0].name: invalid empty name ""']),
    (
        {"imagePullSecrets": [{"name": "a"}, {"name": "a"}]},
        ['spec.imagePullSecrets[1].name: duplicate name "a"'],
    ),
    (
        with_ports(port(80), port(80, hostPort=8080)),
        [f"spec.containers[0].ports[1]: overlapping port definition with {FIRST}"],
    ),
    (
        {"containers": [{**CONTAINER, "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}]},
        ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    ),
    (
        {"containers": [{**CONTAINER, "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}]}]},
        [],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "warnings"), WARNED)
def test_what_is_warned_of(spec: dict[str, Any], warnings: list[str]) -> None:
    cluster = Cluster()
    cluster.pod(spec=spec)
    assert cluster.warnings == warnings


def test_a_template_is_warned_of_at_its_place() -> None:
    cluster = Cluster()
    spec = {"containers": [CONTAINER], "imagePullSecrets": [{"name": ""}]}
    cluster.create("podtemplates", "web", {"template": {"spec": spec}})
    assert cluster.warnings == ['template.spec.imagePullSecrets[0].name: invalid empty name ""']


def test_a_node_tells_of_its_machine_even_what_is_not_known() -> None:
    status = Cluster().create("nodes", "a")["status"]
    assert status["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}
    assert set(status["nodeInfo"].values()) == {""}
