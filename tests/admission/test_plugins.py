"""Admission plugins: what each changes, what each refuses and in which words, and what switches it."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.admission.table import CHAIN
from controllers.flags.apiserver import ADMISSION_PLUGINS
from controllers.flags.flag import Flags
from controllers.kinds.table import TABLE
from controllers.log.operations import Update
from controllers.registry.admission import Plugin
from controllers.registry.marks import Marks
from scheduler_core.api.errors import ApiError
from tests.registry.registry_tool import CONTAINER, Cluster, refusal


@pytest.fixture
def cluster() -> Cluster:
    one = Cluster()
    one.create("serviceaccounts", "default")
    return one


def limited(**resources: Any) -> dict[str, Any]:
    return {"containers": [{**CONTAINER, "resources": resources}]}


def switch(cluster: Cluster, **flags: str) -> None:
    cluster.create("flags.clustersim.io", "flags", {"spec": {"kube-apiserver": flags}})


def test_the_flags_know_the_plugins_in_their_order() -> None:
    assert tuple(plugin.name for plugin in CHAIN.plugins) == ADMISSION_PLUGINS


# -- ServiceAccount -------------------------------------------------------------------------------------------------


def test_a_pod_gets_an_account_and_each_container_its_token(cluster: Cluster) -> None:
    pod = cluster.pod(spec={"initContainers": [{"name": "i", "image": "x:1"}]})
    spec = pod["spec"]
    (volume,) = spec["volumes"]
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("default", "default")
    assert volume["name"].startswith("kube-api-access-")
    assert [next(iter(source)) for source in volume["projected"]["sources"]] == [
        "serviceAccountToken",
        "configMap",
        "downwardAPI",
    ]
    assert volume["projected"]["defaultMode"] == 420
    mount = {
        "name": volume["name"],
        "readOnly": True,
        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
    }
    assert [one["volumeMounts"] for one in (*spec["initContainers"], *spec["containers"])] == [[mount], [mount]]


def test_what_is_mounted_there_already_stays_and_nothing_is_added(cluster: Cluster) -> None:
    mount = {"name": "own", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    spec = {"containers": [{**CONTAINER, "volumeMounts": [mount]}], "volumes": [{"name": "own", "emptyDir": {}}]}
    assert cluster.pod(spec=spec)["spec"]["volumes"] == [{"name": "own", "emptyDir": {}}]


@pytest.mark.parametrize(("account", "pod", "mounted"), [(False, None, 0), (False, True, 1), (None, False, 0)])
def test_the_pod_s_word_on_mounting_counts_more_than_the_account_s(
    cluster: Cluster, account: bool | None, pod: bool | None, mounted: int
) -> None:
    body = {} if account is None else {"automountServiceAccountToken": account}
    cluster.create("serviceaccounts", "team", {**body, "imagePullSecrets": [{"name": "pull"}]})
    own = {} if pod is None else {"automountServiceAccountToken": pod}
    spec = cluster.pod(spec={"serviceAccountName": "team", **own})["spec"]
    assert len(spec.get("volumes") or []) == mounted
    assert spec["imagePullSecrets"] == [{"name": "pull"}]


def test_an_account_that_is_not_there_is_refused(cluster: Cluster) -> None:
    error = refusal(cluster.pod, spec={"serviceAccountName": "nobody"})
    assert (error.code, error.message) == (
        403,
        'pods "web" is forbidden: error looking up service account default/nobody: serviceaccount "nobody" not found',
    )
    assert cluster.get("pods", "web") is None


def test_a_young_namespace_may_count_on_the_account_that_the_controller_makes() -> None:
    cluster = Cluster()
    assert cluster.pod()["spec"]["serviceAccountName"] == "default"
    body = {"spec": {"containers": [CONTAINER]}}
    error = refusal(cluster.create, "pods", "late", body, now_ms=5_000)
    assert "error looking up service account default/default" in error.message


def test_secrets_that_an_account_does_not_list_can_be_refused(cluster: Cluster) -> None:
    annotations = {"kubernetes.io/enforce-mountable-secrets": "true"}
    cluster.create("serviceaccounts", "strict", {"metadata": {"annotations": annotations}, "secrets": [{"name": "a"}]})
    volumes = [{"name": "v", "secret": {"secretName": "b"}}]
    error = refusal(cluster.pod, spec={"serviceAccountName": "strict", "volumes": volumes})
    assert error.message == (
        'pods "web" is forbidden: volume with secret.secretName="b" is not allowed because service account strict does '
        "not reference that secret"
    )


# -- LimitRanger ----------------------------------------------------------------------------------------------------


def ranges(cluster: Cluster, *limits: dict[str, Any], name: str = "lr") -> None:
    cluster.create("limitranges", name, {"spec": {"limits": list(limits)}})


def test_containers_get_what_a_limit_range_gives_them(cluster: Cluster) -> None:
    ranges(cluster, {"type": "Container", "default": {"cpu": "1", "memory": "1Gi"}, "defaultRequest": {"cpu": "100m"}})
    pod = cluster.pod(spec={"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y", "resources": {}}]})
    given = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m", "memory": "1Gi"}}
    assert [one["resources"] for one in pod["spec"]["containers"]] == [given, given]
    assert pod["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        "LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for container a; "
        "cpu, memory request for container b; cpu, memory limit for container b"
    )
    assert pod["status"]["qosClass"] == "Burstable"
    most = cluster.pod("full", limited(limits={"cpu": "500m", "memory": "1Mi"}))
    assert most["status"]["qosClass"] == "Guaranteed"
    assert "annotations" not in most["metadata"]


def test_a_pod_that_limits_itself_asks_for_what_its_containers_are_given(cluster: Cluster) -> None:
    ranges(cluster, {"type": "Container", "default": {"memory": "1Gi"}})
    containers = [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]
    pod = cluster.pod(spec={"containers": containers, "resources": {"limits": {"cpu": "2"}}})
    assert pod["spec"]["resources"] == {"limits": {"cpu": "2"}, "requests": {"cpu": "2", "memory": "2Gi"}}


@pytest.mark.parametrize(
    ("limit", "resources", "told"),
    [
        (
            {"type": "Container", "max": {"cpu": "1"}},
            {"limits": {"cpu": "2"}},
            "maximum cpu usage per Container is 1, but limit is 2",
        ),
        (
            {"type": "Container", "min": {"cpu": "1"}, "max": {"cpu": "2"}},
            {"requests": {"cpu": "500m"}, "limits": {"cpu": "3"}},
            "[minimum cpu usage per Container is 1, but request is 500m, "
            "maximum cpu usage per Container is 2, but limit is 3]",
        ),
        (
            {"type": "Pod", "min": {"memory": "1Gi"}},
            {},
            "minimum memory usage per Pod is 1Gi.  No request is specified",
        ),
        ({"type": "Pod", "max": {"memory": "1Gi"}}, {}, "maximum memory usage per Pod is 1Gi.  No limit is specified"),
        (
            {"type": "Pod", "maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "500m"}, "limits": {"cpu": "2"}},
            "cpu max limit to request ratio per Pod is 2, but provided ratio is 4.000000",
        ),
        (
            {"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}},
            {"limits": {"memory": "1Gi"}},
            "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0",
        ),
    ],
)
def test_what_is_beyond_a_limit_range_is_refused(
    cluster: Cluster, limit: dict[str, Any], resources: dict[str, Any], told: str
) -> None:
    ranges(cluster, limit)
    error = refusal(cluster.pod, spec=limited(**resources))
    assert (error.code, error.message) == (403, f'pods "web" is forbidden: {told}')


def test_a_pod_s_limits_are_those_of_its_containers_together(cluster: Cluster) -> None:
    ranges(cluster, {"type": "Pod", "max": {"cpu": "2"}})
    one = {"image": "x", "resources": {"limits": {"cpu": "1500m"}}}
    error = refusal(cluster.pod, spec={"containers": [{**one, "name": "a"}, {**one, "name": "b"}]})
    assert error.message.endswith("maximum cpu usage per Pod is 2, but limit is 3")
    start = {**one, "name": "i", "resources": {"limits": {"cpu": "2"}}}
    assert cluster.pod(spec={"initContainers": [start], "containers": [{**one, "name": "a"}]})


def test_limit_ranges_act_in_order_of_their_names(cluster: Cluster) -> None:
    ranges(cluster, {"type": "Container", "max": {"cpu": "2"}}, name="a")
    ranges(cluster, {"type": "Container", "max": {"cpu": "1"}}, name="b")
    assert refusal(cluster.pod).message.endswith("maximum cpu usage per Container is 1, but limit is 2")


def claim(storage: str) -> dict[str, Any]:
    return {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}}


def test_claims_have_their_own_limits(cluster: Cluster) -> None:
    ranges(cluster, {"type": "PersistentVolumeClaim", "min": {"storage": "2Gi"}, "max": {"storage": "5Gi"}})
    low = refusal(cluster.create, "persistentvolumeclaims", "a", claim("1Gi"))
    assert low.message.endswith("minimum storage usage per PersistentVolumeClaim is 2Gi, but request is 1Gi")
    high = refusal(cluster.create, "persistentvolumeclaims", "b", claim("6Gi"))
    assert high.message.endswith("maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi")
    assert cluster.create("persistentvolumeclaims", "c", claim("3Gi"))


def test_the_kind_s_own_rules_come_before_what_validates(cluster: Cluster) -> None:
    ranges(cluster, {"type": "Container", "default": {"cpu": "1"}, "max": {"cpu": "1"}})
    error = refusal(cluster.pod, spec=limited(requests={"cpu": "2"}))
    assert (error.code, error.causes[0].message) == (
        422,
        'Invalid value: "2": must be less than or equal to cpu limit of 1',
    )


# -- the others -----------------------------------------------------------------------------------------------------


def test_pods_tolerate_lost_nodes_for_a_while(cluster: Cluster) -> None:
    switch(cluster, **{"default-unreachable-toleration-seconds": "60"})
    added = cluster.pod()["spec"]["tolerations"]
    assert [(one["key"], one["effect"], one["tolerationSeconds"]) for one in added] == [
        ("node.kubernetes.io/not-ready", "NoExecute", 300),
        ("node.kubernetes.io/unreachable", "NoExecute", 60),
    ]
    own = [{"operator": "Exists", "effect": "NoExecute"}]
    assert cluster.pod("own", {"tolerations": own})["spec"]["tolerations"] == own
    other = [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule"}]
    assert len(cluster.pod("other", {"tolerations": other})["spec"]["tolerations"]) == 3


def test_a_runtime_class_gives_overhead_selector_and_tolerations(cluster: Cluster) -> None:
    toleration = {"key": "gpu", "operator": "Exists"}
    body = {
        "handler": "kata",
        "overhead": {"podFixed": {"cpu": "100m"}},
        "scheduling": {"nodeSelector": {"vm": "yes"}, "tolerations": [toleration]},
    }
    cluster.create("runtimeclasses.node.k8s.io", "kata", body)
    spec = cluster.pod(spec={"runtimeClassName": "kata", "nodeSelector": {"zone": "a"}})["spec"]
    assert spec["overhead"] == {"cpu": "100m"}
    assert spec["nodeSelector"] == {"zone": "a", "vm": "yes"}
    assert toleration in spec["tolerations"]
    told = {
        "absent": 'pod rejected: RuntimeClass "absent" not found',
        "kata": "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    }
    for name, why in told.items():
        error = refusal(cluster.pod, name, {"runtimeClassName": name, "overhead": {"cpu": "1"}})
        assert error.message == f'pods "{name}" is forbidden: {why}'
    conflict = refusal(cluster.pod, "other", {"runtimeClassName": "kata", "nodeSelector": {"vm": "no"}})
    assert conflict.message.endswith(
        "conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no"
    )


def test_an_ingress_without_class_gets_the_default_one(cluster: Cluster) -> None:
    marked = {"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}
    cluster.create("ingressclasses.networking.k8s.io", "std", {"metadata": marked, "spec": {"controller": "a.b/c"}})
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    ingress = cluster.create("ingresses.networking.k8s.io", "web", {"spec": {"defaultBackend": backend}})
    assert ingress["spec"]["ingressClassName"] == "std"


def test_three_namespaces_are_never_deleted_and_others_need_to_be_there(cluster: Cluster) -> None:
    error = refusal(cluster.delete, "namespaces", "default")
    assert (error.code, error.message) == (403, 'namespaces "default" is forbidden: this namespace may not be deleted')
    missing = refusal(cluster.create, "configmaps", "a", {}, namespace="nowhere")
    assert (missing.code, missing.message) == (404, 'namespaces "nowhere" not found')


# -- switches -------------------------------------------------------------------------------------------------------


def test_plugins_are_switched_by_flags(cluster: Cluster) -> None:
    switch(
        cluster,
        **{
            "disable-admission-plugins": "ServiceAccount,DefaultTolerationSeconds",
            "enable-admission-plugins": "AlwaysPullImages,LimitPodHardAntiAffinityTopology",
        },
    )
    spec = cluster.pod(spec={"serviceAccountName": "nobody"})["spec"]
    assert "volumes" not in spec
    assert "tolerations" not in spec
    assert spec["containers"][0]["imagePullPolicy"] == "Always"
    term = {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": {"a": "b"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    error = refusal(cluster.pod, "far", {"affinity": affinity})
    assert "TopologyKey topology.kubernetes.io/zone but only key kubernetes.io/hostname is allowed" in error.message


def test_everything_can_be_denied_but_the_switch_itself(cluster: Cluster) -> None:
    switch(cluster, **{"enable-admission-plugins": "AlwaysDeny"})
    assert refusal(cluster.create, "configmaps", "a").code == 403
    cluster.patch("flags.clustersim.io", "flags", {"spec": {"kube-apiserver": None}})
    assert cluster.create("configmaps", "a")


def test_an_unknown_plugin_is_refused(cluster: Cluster) -> None:
    error = refusal(switch, cluster, **{"enable-admission-plugins": "Nope"})
    assert error.code == 422
    assert 'admission plugin "Nope" is unknown' in error.causes[0].message


# -- marks ----------------------------------------------------------------------------------------------------------


def marked(cluster: Cluster, spec: dict[str, Any], **options: Any) -> list[tuple[str, str, str]]:
    ticks = iter(range(0, 10_000_000, 1_000))
    marks = Marks(lambda: next(ticks))
    try:
        cluster.create("pods", "web", {"spec": {"containers": [CONTAINER], **spec}}, marks=marks, **options)
    except ApiError:
        assert marks.steps[-1].result == "refused"
    assert all(one.ns > 0 for one in marks.steps)
    return [(one.step, one.plugin, one.result) for one in marks.steps]


def test_each_step_leaves_a_mark(cluster: Cluster) -> None:
    steps = marked(cluster, {})
    assert steps == [
        ("registry", "decode", "changed"),
        ("mutating", "NamespaceLifecycle", "ok"),
        ("mutating", "LimitRanger", "ok"),
        ("mutating", "ServiceAccount", "changed"),
        ("mutating", "Priority", "changed"),
        ("mutating", "DefaultTolerationSeconds", "changed"),
        ("mutating", "RuntimeClass", "ok"),
        ("mutating", "MutatingAdmissionWebhook", "ok"),
        ("registry", "strategy", "changed"),
        ("validating", "LimitRanger", "ok"),
        ("validating", "ServiceAccount", "ok"),
        ("validating", "PodSecurity", "ok"),
        ("validating", "Priority", "ok"),
        ("validating", "RuntimeClass", "ok"),
        ("validating", "ValidatingAdmissionPolicy", "ok"),
        ("validating", "ValidatingAdmissionWebhook", "ok"),
        ("quota", "ResourceQuota", "ok"),
        ("store", "", "ok"),
    ]


def pieces(marks: Marks, plugin: str) -> list[str]:
    """Return what a step of the registry told of itself."""
    return next(one.message for one in marks.steps if one.plugin == plugin).split(", ")


def test_decoding_tells_the_defaults_and_the_registry_what_the_server_fills(cluster: Cluster) -> None:
    marks = Marks(lambda: 0)
    cluster.create("pods", "web", {"spec": {"containers": [CONTAINER], "restartPolicy": "Never"}}, marks=marks)
    stored = cluster.get("pods", "web")
    told = pieces(marks, "decode")
    assert {"spec.dnsPolicy: ClusterFirst", "spec.terminationGracePeriodSeconds: 30"} <= set(told)
    assert "spec.containers[0].terminationMessagePath: /dev/termination-log" in told
    assert not [one for one in told if one.startswith(("spec.restartPolicy", "metadata", "status"))]
    filled = pieces(marks, "strategy")
    assert f"metadata.uid: {stored['metadata']['uid']}" in filled
    assert f"metadata.creationTimestamp: {stored['metadata']['creationTimestamp']}" in filled
    assert "status.phase: Pending" in filled


def marked_update(cluster: Cluster, resource: str, name: str, **parts: Any) -> Marks:
    """Update an object's parts; return the marks."""
    marks = Marks(lambda: 0)
    before = cluster.get(resource, name)
    assert before is not None
    metadata = {**before["metadata"], **parts.pop("metadata", {})}
    cluster.apply(Update(resource, "default", name, {**before, **parts, "metadata": metadata}), marks=marks)
    return marks


def test_a_change_tells_what_it_changes(cluster: Cluster) -> None:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [CONTAINER]}}
    spec = {"replicas": 2, "paused": True, "selector": {"matchLabels": labels}, "template": template}
    made = cluster.create("deployments.apps", "web", {"metadata": {"labels": {"a": "b"}}, "spec": spec})
    changed = {key: value for key, value in {**made["spec"], "replicas": 3}.items() if key != "paused"}
    marks = marked_update(cluster, "deployments.apps", "web", metadata={"labels": {"tier": "front"}}, spec=changed)
    assert set(pieces(marks, "decode")) == {
        "~ spec.replicas: 3",
        "− spec.paused",
        "metadata.labels.tier: front",
        "− metadata.labels.a",
    }
    assert pieces(marks, "strategy") == ["~ metadata.generation: 2"]


def test_a_secret_s_data_is_in_no_mark(cluster: Cluster) -> None:
    applied = {"kubectl.kubernetes.io/last-applied-configuration": '{"stringData":{"word":"hush"}}', "note": "hush"}
    marks = Marks(lambda: 0)
    secret = {"metadata": {"annotations": applied}, "stringData": {"word": "hush"}}
    cluster.create("secrets", "word", secret, marks=marks)
    again = marked_update(
        cluster, "secrets", "word", metadata={"annotations": {"a": "hush"}}, stringData={"word": "hushed"}
    )
    told = " ".join(one.message for one in marks.steps + again.steps)
    assert "type: Opaque" in told
    assert "hush" not in told
    assert "aHVzaA" not in told


@pytest.mark.parametrize(
    ("spec", "last"),
    [
        ({"nope": 1}, ("registry", "decode", "refused")),
        ({"priorityClassName": "nope"}, ("mutating", "Priority", "refused")),
        ({"restartPolicy": "Sometimes"}, ("registry", "strategy", "refused")),
        ({"overhead": {"cpu": "1"}}, ("validating", "RuntimeClass", "refused")),
    ],
)
def test_the_way_ends_where_it_is_refused(cluster: Cluster, spec: dict[str, Any], last: tuple[str, str, str]) -> None:
    assert marked(cluster, spec, field_validation="Strict")[-1] == last


def test_the_store_refuses_a_taken_name(cluster: Cluster) -> None:
    cluster.pod()
    assert marked(cluster, {})[-1] == ("store", "", "refused")


GOING_BY_RULES = [plugin for plugin in CHAIN.plugins if plugin.rules]


@pytest.mark.parametrize("plugin", GOING_BY_RULES, ids=lambda plugin: plugin.name)
def test_a_plugin_without_rules_has_nothing_to_say(cluster: Cluster, plugin: Plugin) -> None:
    """Whoever follows a request sees it asked, and it says nothing; else it is not asked."""
    marks = Marks(lambda: 0)
    cluster.create("pods", "web", {"spec": {"containers": [CONTAINER]}}, marks=marks)
    said = [(one.result, one.message) for one in marks.steps if one.plugin == plugin.name]
    assert said
    assert {message for _, message in said} == {""}
    pods = TABLE.find_resource("pods")
    assert pods is not None
    asked = CHAIN.of(Flags(), "create", pods, "")
    assert plugin in {*asked.mutating, *asked.validating}
    idle, busy = asked.where(lambda _: False), asked.where(lambda resource: resource == plugin.rules)
    assert plugin not in {*idle.mutating, *idle.validating}
    assert plugin in {*busy.mutating, *busy.validating}
