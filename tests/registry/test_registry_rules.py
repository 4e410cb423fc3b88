"""Semantic rules, kind by kind: what is accepted stays out of this table, what is refused is named by its field."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from tests.registry.registry_tool import CONTAINER, Cluster, refusal


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def _container(**fields: Any) -> dict[str, Any]:
    return {"containers": [{**CONTAINER, **fields}]}


def _node_affinity(**condition: Any) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": "zone", **condition}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"affinity": {"nodeAffinity": required}}


_NODE_TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
_CONDITION = f"{_NODE_TERMS}[0].matchExpressions[0]"
_SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}

PODS: list[tuple[str, dict[str, Any], str, str]] = [
    ("no container", {"containers": []}, "spec.containers", "Required value"),
    ("a container without a name", {"containers": [{"image": "x"}]}, "spec.containers[0].name", "Required value"),
    ("a container without an image", {"containers": [{"name": "c"}]}, "spec.containers[0].image", "Required value"),
    ("two containers of one name", {"containers": [CONTAINER, CONTAINER]}, "spec.containers[1].name", "Duplicate"),
    ("a container name with capitals", _container(name="Web"), "spec.containers[0].name", "RFC 1123 label"),
    ("an image with a space", _container(image=" x"), "spec.containers[0].image", "whitespace"),
    ("a pull policy unknown", _container(imagePullPolicy="No"), "spec.containers[0].imagePullPolicy", "Unsupported"),
    ("port 0", _container(ports=[{"containerPort": 0}]), "spec.containers[0].ports[0].containerPort", "Required value"),
    (
        "a port past 65535",
        _container(ports=[{"containerPort": 65536}]),
        "spec.containers[0].ports[0].containerPort",
        "between 1 and 65535",
    ),
    (
        "a host port past 65535",
        _container(ports=[{"containerPort": 80, "hostPort": 99999}]),
        "spec.containers[0].ports[0].hostPort",
        "between 1 and 65535",
    ),
    (
        "one host port twice",
        _container(ports=[{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}]),
        "spec.containers[0].ports[1].hostPort",
        "Duplicate value",
    ),
    (
        "one port name twice",
        _container(ports=[{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"}]),
        "spec.containers[0].ports[1].name",
        "Duplicate value",
    ),
    (
        "a protocol nobody speaks",
        _container(ports=[{"containerPort": 80, "protocol": "ICMP"}]),
        "spec.containers[0].ports[0].protocol",
        'supported values: "SCTP", "TCP", "UDP"',
    ),
    (
        "a negative request",
        _container(resources={"requests": {"cpu": "-1"}}),
        "spec.containers[0].resources.requests[cpu]",
        "greater than or equal to 0",
    ),
    (
        "a request above its limit",
        _container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1500m"}}),
        "spec.containers[0].resources.requests",
        "must be less than or equal to cpu limit of 1500m",
    ),
    (
        "a resource without a domain",
        _container(resources={"requests": {"gpu": "1"}}),
        "spec.containers[0].resources.requests[gpu]",
        "must be a standard resource type or fully qualified",
    ),
    (
        "half a device",
        _container(resources={"limits": {"nvidia.com/gpu": "500m"}}),
        "spec.containers[0].resources.limits[nvidia.com/gpu]",
        "must be an integer",
    ),
    (
        "a device that is requested but not limited",
        _container(resources={"requests": {"nvidia.com/gpu": "1"}}),
        "spec.containers[0].resources.limits",
        "Limit must be set for non overcommitable resources",
    ),
    (
        "an env name with =",
        _container(env=[{"name": "A=B"}]),
        "spec.containers[0].env[0].name",
        "printable ASCII",
    ),
    (
        "a mount without its volume",
        _container(volumeMounts=[{"name": "v", "mountPath": "/v"}]),
        "spec.containers[0].volumeMounts[0].name",
        "Not found",
    ),
    ("a probe without a handler", _container(livenessProbe={}), "spec.containers[0].livenessProbe", "handler type"),
    ("a volume of two types", {"volumes": [{"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}}]},
     "spec.volumes[0].hostPath", "may not specify more than 1 volume type"),
    ("an unknown restart policy", {"restartPolicy": "Sometimes"}, "spec.restartPolicy", "Unsupported value"),
    ("no time to live", {"activeDeadlineSeconds": 0}, "spec.activeDeadlineSeconds", "between 1 and 2147483647"),
    ("a node name that is none", {"nodeName": "Node 1"}, "spec.nodeName", "RFC 1123 subdomain"),
    ("a gate twice", {"schedulingGates": [{"name": "a/b"}, {"name": "a/b"}]}, "spec.schedulingGates[1]", "Duplicate"),
    ("a gated pod with a node", {"schedulingGates": [{"name": "a/b"}], "nodeName": "n"}, "spec.nodeName", "Forbidden"),
    ("a selector value too long", {"nodeSelector": {"a": "x" * 64}}, "spec.nodeSelector", "no more than 63"),
    ("a toleration without key that compares", {"tolerations": [{"operator": "Equal"}]}, "spec.tolerations[0].operator",
     "operator must be Exists when `key` is empty"),
    ("a toleration that exists with a value", {"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]},
     "spec.tolerations[0].operator", "value must be empty"),
    ("seconds without NoExecute", {"tolerations": [{"key": "a", "operator": "Exists", "tolerationSeconds": 1}]},
     "spec.tolerations[0].effect", "must be 'NoExecute'"),
    ("an effect nobody knows", {"tolerations": [{"key": "a", "operator": "Exists", "effect": "Maybe"}]},
     "spec.tolerations[0].effect", "Unsupported value"),
    ("affinity In without values", _node_affinity(operator="In"), f"{_CONDITION}.values", "Required value"),
    ("affinity Exists with values", _node_affinity(operator="Exists", values=["a"]), f"{_CONDITION}.values", "Forbid"),
    ("affinity Gt with two values", _node_affinity(operator="Gt", values=["1", "2"]), f"{_CONDITION}.values", "single"),
    ("an affinity operator nobody knows", _node_affinity(operator="Near"), f"{_CONDITION}.operator", "not a valid"),
    ("required affinity without terms", {"affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}}, _NODE_TERMS, "at least one"),
    ("pod affinity without topology", {"affinity": {"podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ""}]}}},
     "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey", "can not be empty"),
    ("a weight past 100", {"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 101, "podAffinityTerm": {"topologyKey": "zone"}}]}}},
     "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight", "range 1-100"),
    ("a skew of 0", {"topologySpreadConstraints": [{**_SPREAD, "maxSkew": 0}]},
     "spec.topologySpreadConstraints[0].maxSkew", "greater than zero"),
    ("minDomains where it may be unsatisfied",
     {"topologySpreadConstraints": [{**_SPREAD, "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 2}]},
     "spec.topologySpreadConstraints[0].minDomains", "whenUnsatisfiable=DoNotSchedule"),
    ("one spread twice", {"topologySpreadConstraints": [_SPREAD, _SPREAD]},
     "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}", "Duplicate value"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "field", "words"), [case[1:] for case in PODS], ids=[case[0] for case in PODS])
def test_pods_that_are_refused(cluster: Cluster, spec: dict[str, Any], field: str, words: str) -> None:
    error = refusal(cluster.pod, spec=spec)
    assert (error.code, error.reason) == (422, "Invalid")
    assert error.causes[0].field == field
    assert words in error.causes[0].message
    assert error.message.startswith('Pod "web" is invalid: ')
    assert cluster.get("pods", "web") is None


METADATA: list[tuple[str, dict[str, Any], str]] = [
    ("a name with capitals", {"name": "Web"}, "metadata.name"),
    ("a name too long", {"name": "w" * 254}, "metadata.name"),
    ("html in a name", {"name": "<script>"}, "metadata.name"),
    ("a label key with a space", {"labels": {"a b": "c"}}, "metadata.labels"),
    ("a label value with a slash", {"labels": {"a": "b/c"}}, "metadata.labels"),
    ("an annotation without a key", {"annotations": {"": "c"}}, "metadata.annotations"),
    ("annotations of half a megabyte", {"annotations": {"a": "c" * 300_000}}, "metadata.annotations"),
    ("an owner without a uid", {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": ""}]},
     "metadata.ownerReferences.uid"),
    ("an owner of no version", {"ownerReferences": [{"apiVersion": "a/b/c", "kind": "Pod", "name": "x", "uid": "1"}]},
     "metadata.ownerReferences.apiVersion"),
    ("a finalizer that is no name", {"finalizers": ["x.io/a b"]}, "metadata.finalizers"),
    ("a short finalizer that nobody knows", {"finalizers": ["hold"]}, "metadata.finalizers[0]"),
    ("two finalizers that exclude each other", {"finalizers": ["orphan", "foregroundDeletion"]}, "metadata.finalizers"),
    ("a generation below zero", {"generation": -1}, "metadata.generation"),
]  # fmt: skip


@pytest.mark.parametrize(("metadata", "field"), [case[1:] for case in METADATA], ids=[case[0] for case in METADATA])
def test_metadata_that_is_refused(cluster: Cluster, metadata: dict[str, Any], field: str) -> None:
    name = metadata.pop("name", "a")
    error = refusal(cluster.create, "configmaps", name, {"metadata": metadata})
    assert error.code == 422
    assert {cause.field for cause in error.causes} == {field}


def test_two_controllers_of_one_object_are_refused(cluster: Cluster) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "1", "controller": True}
    error = refusal(cluster.pod, ownerReferences=[owner, {**owner, "name": "y", "uid": "2"}])
    assert "Only one reference can have Controller set to true" in error.message


def _workload(**spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [CONTAINER]}}
    return {"spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec}}


OTHERS: list[tuple[str, str, dict[str, Any], str]] = [
    ("a selector that misses its template", "deployments.apps", _workload(selector={"matchLabels": {"app": "db"}}),
     "spec.template.metadata.labels"),
    ("an empty selector", "deployments.apps", _workload(selector={}), "spec.selector"),
    ("negative replicas", "deployments.apps", _workload(replicas=-1), "spec.replicas"),
    ("a surge that is no percentage", "deployments.apps",
     _workload(strategy={"rollingUpdate": {"maxSurge": "many"}}), "spec.strategy.rollingUpdate.maxSurge"),
    ("neither surge nor unavailable", "deployments.apps",
     _workload(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}}),
     "spec.strategy.rollingUpdate.maxUnavailable"),
    ("recreate with a rolling update", "deployments.apps",
     _workload(strategy={"type": "Recreate", "rollingUpdate": {}}), "spec.strategy.rollingUpdate"),
    ("a deadline before ready", "deployments.apps", _workload(progressDeadlineSeconds=5, minReadySeconds=9),
     "spec.progressDeadlineSeconds"),
    ("a template that never restarts", "replicasets.apps", _workload(template={
        "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [CONTAINER], "restartPolicy": "Never"}}),
     "spec.template.spec.restartPolicy"),
    ("a taint without an effect", "nodes", {"spec": {"taints": [{"key": "a", "effect": ""}]}},
     "metadata.taints[0].effect"),
    ("one taint twice", "nodes", {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}] * 2}},
     "metadata.taints[1]"),
    ("negative memory", "nodes", {"status": {"capacity": {"memory": "-1Gi"}, "allocatable": {"cpu": "1"}}},
     "status.capacity.memory"),
    ("a service without ports", "services", {"spec": {"selector": {"a": "b"}}}, "spec.ports"),
    ("two ports without names", "services", {"spec": {"ports": [{"port": 1}, {"port": 2, "name": "b"}]}},
     "spec.ports[0].name"),
    ("a node port out of range", "services", {"spec": {"type": "NodePort", "ports": [{"port": 1, "nodePort": 80}]}},
     "spec.ports[0].nodePort"),
    ("a priority above the people's", "priorityclasses.scheduling.k8s.io", {"value": 1_000_000_001}, "value"),
    ("a policy nobody knows", "priorityclasses.scheduling.k8s.io", {"value": 1, "preemptionPolicy": "Ask"},
     "preemptionPolicy"),
    ("a lease of no length", "leases.coordination.k8s.io", {"spec": {"leaseDurationSeconds": 0}},
     "spec.leaseDurationSeconds"),
    ("an event elsewhere", "events", {"involvedObject": {"namespace": "other"}}, "involvedObject.namespace"),
    ("a key that is no file name", "configmaps", {"data": {"a/b": "c"}}, "data[a/b]"),
    ("a clock too fast", "clocks.clustersim.io", {"spec": {"rate": 1000}}, "spec.rate"),
    ("a step nobody takes", "clocks.clustersim.io", {"spec": {"step": {"by": "leap"}}}, "spec.step.by"),
    ("a fault nobody has", "replicas.clustersim.io", {"spec": {"fault": {"kind": "sleep"}}}, "spec.fault.kind"),
    ("an era that never was", "schedulerconfigs.clustersim.io", {"spec": {"era": "v2"}}, "spec.era"),
]  # fmt: skip


@pytest.mark.parametrize(("resource", "body", "field"), [case[1:] for case in OTHERS], ids=[case[0] for case in OTHERS])
def test_other_kinds_that_are_refused(cluster: Cluster, resource: str, body: dict[str, Any], field: str) -> None:
    error = refusal(cluster.create, resource, "web", body)
    assert error.code == 422, error
    assert [cause.field for cause in error.causes] == [field]


def test_names_of_services_and_namespaces_are_labels(cluster: Cluster) -> None:
    assert refusal(cluster.create, "services", "1st", {"spec": {"ports": [{"port": 1}]}}).code == 422
    assert refusal(cluster.create, "namespaces", "a.b").code == 422
    assert cluster.create("configmaps", "a.b")["metadata"]["name"] == "a.b"


class TestPodUpdates:
    @pytest.mark.parametrize(
        ("patch", "accepted"),
        [
            ({"spec": {"containers": [{**CONTAINER, "image": "nginx:2"}]}}, True),
            ({"spec": {"containers": [{**CONTAINER, "command": ["x"]}]}}, False),
            ({"spec": {"containers": [CONTAINER, {"name": "b", "image": "y"}]}}, False),
            ({"spec": {"nodeName": "n"}}, False),
            ({"spec": {"activeDeadlineSeconds": 5}}, True),
            ({"spec": {"priority": 7}}, False),
            ({"spec": {"nodeSelector": {"a": "b"}}}, False),
            ({"metadata": {"labels": {"a": "b"}}}, True),
        ],
    )
    def test_of_a_pods_spec_little_may_change(self, cluster: Cluster, patch: dict[str, Any], accepted: bool) -> None:
        cluster.pod()
        if accepted:
            assert cluster.patch("pods", "web", patch, "strategic")
        else:
            assert refusal(cluster.patch, "pods", "web", patch).code == 422

    def test_tolerations_are_added_and_gates_removed(self, cluster: Cluster) -> None:
        pod = cluster.pod(spec={"schedulingGates": [{"name": "a/b"}, {"name": "c/d"}]})
        more = [*pod["spec"]["tolerations"], {"key": "x", "operator": "Exists"}]
        changed = cluster.patch("pods", "web", {"spec": {"tolerations": more, "schedulingGates": [{"name": "c/d"}]}})
        assert changed["spec"]["schedulingGates"] == [{"name": "c/d"}]
        error = refusal(cluster.patch, "pods", "web", {"spec": {"tolerations": pod["spec"]["tolerations"]}})
        assert "existing toleration can not be modified" in error.message
        error = refusal(cluster.patch, "pods", "web", {"spec": {"schedulingGates": [{"name": "x/y"}]}})
        assert "only deletion is allowed" in error.message
        assert cluster.patch("pods", "web", {"spec": {"nodeSelector": {"a": "b"}}})["spec"]["nodeSelector"] == {
            "a": "b"
        }
        assert "schedulingGates" not in cluster.patch("pods", "web", {"spec": {"schedulingGates": None}})["spec"]


def test_selectors_and_values_stay(cluster: Cluster) -> None:
    cluster.create("deployments.apps", "web", _workload())
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [CONTAINER]}}
    patch = {"spec": {"selector": {"matchLabels": {"app": "db"}}, "template": template}}
    assert "field is immutable" in refusal(cluster.patch, "deployments.apps", "web", patch).message
    cluster.create("priorityclasses.scheduling.k8s.io", "high", {"value": 5})
    assert refusal(cluster.patch, "priorityclasses.scheduling.k8s.io", "high", {"value": 6}).causes[0].field == "value"
    cluster.create("configmaps", "fixed", {"data": {"a": "b"}, "immutable": True})
    assert refusal(cluster.patch, "configmaps", "fixed", {"data": {"a": "c"}}).causes[0].field == "data"


class TestPriority:
    def test_a_pod_gets_the_number_of_its_class(self, cluster: Cluster) -> None:
        cluster.create("priorityclasses.scheduling.k8s.io", "high", {"value": 500, "preemptionPolicy": "Never"})
        spec = cluster.pod(spec={"priorityClassName": "high"})["spec"]
        assert (spec["priority"], spec["preemptionPolicy"]) == (500, "Never")

    def test_without_a_class_it_is_the_default_or_zero(self, cluster: Cluster) -> None:
        assert cluster.pod("a")["spec"]["priority"] == 0
        cluster.create("priorityclasses.scheduling.k8s.io", "usual", {"value": 7, "globalDefault": True})
        spec = cluster.pod("b")["spec"]
        assert (spec["priority"], spec["priorityClassName"]) == (7, "usual")
        error = refusal(
            cluster.create, "priorityclasses.scheduling.k8s.io", "other", {"value": 8, "globalDefault": True}
        )
        assert (error.code, "Only one default can exist" in error.message) == (403, True)

    def test_the_number_is_never_written_by_people(self, cluster: Cluster) -> None:
        error = refusal(cluster.pod, spec={"priority": 9})
        assert (error.code, error.reason) == (403, "Forbidden")
        assert "must not be provided in pod spec" in error.message
        assert "no PriorityClass with name ghost was found" in refusal(
            cluster.pod, spec={"priorityClassName": "ghost"}
        ).message  # fmt: skip

    def test_only_the_two_system_classes_have_the_system_prefix(self, cluster: Cluster) -> None:
        made = cluster.create("priorityclasses.scheduling.k8s.io", "system-node-critical", {"value": 2_000_001_000})
        assert made["value"] == 2_000_001_000
        error = refusal(cluster.create, "priorityclasses.scheduling.k8s.io", "system-mine", {"value": 1})
        assert error.causes[0].field == "metadata.name"


class TestDefaults:
    def test_a_pod(self, cluster: Cluster) -> None:
        resources = {"limits": {"cpu": 1, "memory": "1Gi"}, "requests": {"cpu": "0.1234"}}
        probe = {"httpGet": {"port": 80}}
        spec = cluster.pod(
            spec=_container(resources=resources, livenessProbe=probe, ports=[{"containerPort": 80}], image="x")
        )["spec"]
        (container,) = spec["containers"]
        assert container["resources"] == {
            "limits": {"cpu": "1", "memory": "1Gi"},
            "requests": {"cpu": "124m", "memory": "1Gi"},
        }
        assert container["imagePullPolicy"] == "Always"
        assert container["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
        assert container["livenessProbe"] == {
            "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
            "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3,
        }  # fmt: skip
        assert (spec["restartPolicy"], spec["dnsPolicy"], spec["terminationGracePeriodSeconds"]) == (
            "Always", "ClusterFirst", 30,
        )  # fmt: skip
        assert (spec["serviceAccountName"], spec["schedulerName"]) == ("default", "default-scheduler")
        assert [(entry["key"], entry["tolerationSeconds"]) for entry in spec["tolerations"]] == [
            ("node.kubernetes.io/not-ready", 300),
            ("node.kubernetes.io/unreachable", 300),
        ]

    @pytest.mark.parametrize(
        ("image", "policy"),
        [
            ("nginx", "Always"), ("nginx:latest", "Always"), ("nginx:1", "IfNotPresent"), ("host:5000/nginx", "Always"),
            ("host:5000/nginx:1", "IfNotPresent"), ("nginx@sha256:abc", "IfNotPresent"),
        ],
    )  # fmt: skip
    def test_images_are_pulled_by_their_tag(self, cluster: Cluster, image: str, policy: str) -> None:
        pod = cluster.pod(spec=_container(image=image))
        assert pod["spec"]["containers"][0]["imagePullPolicy"] == policy

    @pytest.mark.parametrize(
        ("resources", "quality"),
        [
            ({}, "BestEffort"),
            ({"requests": {"cpu": "1"}}, "Burstable"),
            ({"limits": {"cpu": "1"}}, "Burstable"),
            ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
            ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
        ],
    )
    def test_quality_of_service(self, cluster: Cluster, resources: dict[str, Any], quality: str) -> None:
        assert cluster.pod(spec=_container(resources=resources))["status"]["qosClass"] == quality

    def test_a_service_gets_a_free_address(self, cluster: Cluster) -> None:
        body = {"spec": {"ports": [{"port": 80}], "type": "NodePort"}}
        first = cluster.create("services", "a", body)["spec"]
        second = cluster.create("services", "b", body)["spec"]
        addresses, ports = (
            {first["clusterIP"], second["clusterIP"]},
            {one["ports"][0]["nodePort"] for one in (first, second)},
        )
        assert (len(addresses), len(ports)) == (2, 2)
        assert all(ip_address(one) in ip_network("10.96.0.0/16") for one in addresses)
        assert all(30000 <= one <= 32767 for one in ports)
        assert first["ports"][0]["targetPort"] == 80
        taken = refusal(
            cluster.create, "services", "d", {"spec": {"ports": [{"port": 1}], "clusterIP": second["clusterIP"]}}
        )
        assert taken.causes[0].field == "spec.clusterIPs"
        headless = cluster.create("services", "e", {"spec": {"ports": [{"port": 1}], "clusterIP": "None"}})
        assert headless["spec"]["clusterIPs"] == ["None"]

    def test_a_node_offers_what_it_has(self, cluster: Cluster) -> None:
        node = cluster.create("nodes", "n", {"status": {"capacity": {"cpu": 4, "memory": "8Gi"}}})
        assert node["status"]["allocatable"] == {"cpu": "4", "memory": "8Gi"}
