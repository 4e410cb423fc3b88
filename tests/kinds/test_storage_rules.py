"""Claims, volumes, classes, what drivers say, budgets: what is filled in, what is refused, what may change."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.kinds.table import kind_of
from controllers.log.operations import Patch
from tests.registry.registry_tool import CONTAINER, Cluster, refusal

CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
ON_NODE = {
    "required": {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n"]}]}
        ]
    }
}
VOLUME = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/a"}}
DRIVER = {"name": "a.csi", "nodeID": "n", "allocatable": {"count": 5}}


def _claim(**spec: Any) -> dict[str, Any]:
    return {"spec": {**CLAIM, **spec}}


def _volume(**spec: Any) -> dict[str, Any]:
    return {"spec": {key: value for key, value in {**VOLUME, **spec}.items() if value is not None}}


def _workload(**spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [CONTAINER]}}
    return {"spec": {"template": template, **spec}}


def _mounting(**source: Any) -> dict[str, Any]:
    return {"spec": {"containers": [CONTAINER], "volumes": [{"name": "v", **source}]}}


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def _attached(**volume: Any) -> dict[str, Any]:
    inline = {"csi": {"driver": "a.csi", "volumeHandle": "v"}, "accessModes": ["ReadWriteOnce"], **volume}
    return {"spec": {"attacher": "a.csi", "nodeName": "n", "source": {"inlineVolumeSpec": inline}}}


REFUSED: list[tuple[str, str, dict[str, Any], str]] = [
    ("a claim of no mode", "persistentvolumeclaims", _claim(accessModes=[]), "spec.accessModes"),
    ("a mode unknown", "persistentvolumeclaims", _claim(accessModes=["ReadWrite"]), "spec.accessModes"),
    ("one pod's and many nodes'", "persistentvolumeclaims",
     _claim(accessModes=["ReadWriteOncePod", "ReadWriteMany"]), "spec.accessModes"),
    ("a claim for nothing", "persistentvolumeclaims", _claim(resources={}), "spec.resources[storage]"),
    ("a claim for 0", "persistentvolumeclaims", _claim(resources={"requests": {"storage": "0"}}),
     "spec.resources[storage]"),
    ("a volume mode unknown", "persistentvolumeclaims", _claim(volumeMode="Tape"), "spec.volumeMode"),
    ("a class with capitals", "persistentvolumeclaims", _claim(storageClassName="Fast"), "spec.storageClassName"),
    ("a volume without a source", "persistentvolumes", _volume(hostPath=None), "spec"),
    ("a volume of two sources", "persistentvolumes", _volume(csi={"driver": "a", "volumeHandle": "b"}),
     "spec.csi"),
    ("a volume of less than nothing", "persistentvolumes", _volume(capacity={"storage": "0"}),
     "spec.capacity[storage]"),
    ("a volume of cpu", "persistentvolumes", _volume(capacity={"cpu": "1", "storage": "1Gi"}), "spec.capacity"),
    ("a local volume nowhere", "persistentvolumes", _volume(hostPath=None, local={"path": "/a"}), "spec.nodeAffinity"),
    ("an affinity to nothing", "persistentvolumes", _volume(nodeAffinity={}), "spec.nodeAffinity.required"),
    ("a policy unknown", "persistentvolumes", _volume(persistentVolumeReclaimPolicy="Burn"),
     "spec.persistentVolumeReclaimPolicy"),
    ("a class nobody serves", "storageclasses.storage.k8s.io", {"provisioner": ""}, "provisioner"),
    ("a mode of binding unknown", "storageclasses.storage.k8s.io", {"provisioner": "a/b", "volumeBindingMode": "Never"},
     "volumeBindingMode"),
    ("volumes recycled", "storageclasses.storage.k8s.io", {"provisioner": "a/b", "reclaimPolicy": "Recycle"},
     "reclaimPolicy"),
    ("a topology of no values", "storageclasses.storage.k8s.io",
     {"provisioner": "a/b", "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": []}]}]},
     "allowedTopologies[0].matchLabelExpressions[0].values"),
    ("one driver twice", "csinodes.storage.k8s.io", {"spec": {"drivers": [DRIVER, DRIVER]}}, "spec.drivers[1].name"),
    ("a driver nowhere", "csinodes.storage.k8s.io", {"spec": {"drivers": [{"name": "a.csi", "nodeID": ""}]}},
     "spec.drivers[0].nodeID"),
    ("a policy of groups unknown", "csidrivers.storage.k8s.io", {"spec": {"fsGroupPolicy": "All"}},
     "spec.fsGroupPolicy"),
    ("capacity of no class", "csistoragecapacities.storage.k8s.io", {"storageClassName": "", "capacity": "1Gi"},
     "storageClassName"),
    ("nothing attached", "volumeattachments.storage.k8s.io", {"spec": {"attacher": "a", "nodeName": "n", "source": {}}},
     "spec.source"),
    ("an attached volume of a size", "volumeattachments.storage.k8s.io", _attached(capacity={"storage": "1Gi"}),
     "spec.source.inlineVolumeSpec.capacity"),
    ("an attached volume for one node", "volumeattachments.storage.k8s.io", _attached(nodeAffinity={}),
     "spec.source.inlineVolumeSpec.nodeAffinity"),
    ("an attached volume of a class", "volumeattachments.storage.k8s.io", _attached(storageClassName="fast"),
     "spec.source.inlineVolumeSpec.storageClassName"),
    ("an attached block", "volumeattachments.storage.k8s.io", _attached(volumeMode="Block"),
     "spec.source.inlineVolumeSpec.volumeMode"),
    ("an attached volume to throw away", "volumeattachments.storage.k8s.io",
     _attached(persistentVolumeReclaimPolicy="Delete"), "spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy"),
    ("an attached folder", "volumeattachments.storage.k8s.io", _attached(csi=None, hostPath={"path": "/x"}),
     "spec.source.inlineVolumeSpec.csi"),
    ("an attached volume for no use", "volumeattachments.storage.k8s.io", _attached(accessModes=[]),
     "spec.source.inlineVolumeSpec.accessModes"),
    ("scaling by no policy", "horizontalpodautoscalers.autoscaling",
     {"spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
               "behavior": {"scaleUp": {"policies": []}}}}, "spec.behavior.scaleUp.policies"),
    ("a budget both ways", "poddisruptionbudgets.policy", {"spec": {"minAvailable": 1, "maxUnavailable": 1}}, "spec"),
    ("a budget past all", "poddisruptionbudgets.policy", {"spec": {"maxUnavailable": "101%"}}, "spec.maxUnavailable"),
    ("a selector that misses its template", "replicationcontrollers", _workload(selector={"app": "db"}),
     "spec.template.metadata.labels"),
    ("a volume of no claim", "pods", _mounting(persistentVolumeClaim={"claimName": ""}),
     "spec.volumes[0].persistentVolumeClaim.claimName"),
    ("an ephemeral volume of nothing", "pods",
     _mounting(ephemeral={"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}),
     "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]"),
    ("a claim template for nothing", "statefulsets.apps",
     _workload(selector={"matchLabels": {"app": "web"}}, volumeClaimTemplates=[{"metadata": {"name": "d"},
               "spec": {"accessModes": ["ReadWriteOnce"]}}]), "spec.volumeClaimTemplates[0].spec.resources[storage]"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("resource", "body", "field"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_what_is_refused(cluster: Cluster, resource: str, body: dict[str, Any], field: str) -> None:
    error = refusal(cluster.create, resource, "web", body)
    assert (error.code, [cause.field for cause in error.causes]) == (422, [field]), error


class TestClaims:
    def test_a_claim_that_names_no_class_gets_the_newest_default(self, cluster: Cluster) -> None:
        assert "storageClassName" not in cluster.create("persistentvolumeclaims", "early", _claim())["spec"]
        mark = {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
        for number, name in enumerate(("old", "new", "plain")):
            body = {"provisioner": "a/b", "metadata": mark if name != "plain" else {}}
            cluster.create("storageclasses.storage.k8s.io", name, body, now_ms=number * 60_000)
        assert cluster.create("persistentvolumeclaims", "late", _claim())["spec"]["storageClassName"] == "new"
        none = cluster.create("persistentvolumeclaims", "none", _claim(storageClassName=""))
        assert none["spec"]["storageClassName"] == ""

    def test_its_spec_stays_but_for_the_volume_it_is_given(self, cluster: Cluster) -> None:
        cluster.create("persistentvolumeclaims", "data", _claim(storageClassName="fast"))
        error = refusal(cluster.patch, "persistentvolumeclaims", "data", {"spec": {"accessModes": ["ReadWriteMany"]}})
        assert "spec is immutable after creation" in error.message
        assert (
            cluster.patch("persistentvolumeclaims", "data", {"spec": {"volumeName": "v"}})["spec"]["volumeName"] == "v"
        )
        error = refusal(cluster.patch, "persistentvolumeclaims", "data", {"spec": {"volumeName": "w"}})
        assert error.causes[0].field == "spec"

    @pytest.mark.parametrize(
        ("phase", "expands", "size", "outcome"),
        [
            ("Pending", True, "2Gi", 422),
            ("Bound", False, "2Gi", 403),
            ("Bound", True, "2Gi", 200),
            ("Bound", True, "512Mi", 422),
        ],
    )
    def test_a_bound_claim_grows_if_its_class_lets_it(
        self, cluster: Cluster, phase: str, expands: bool, size: str, outcome: int
    ) -> None:
        body = {"provisioner": "a/b", "allowVolumeExpansion": expands}
        cluster.create("storageclasses.storage.k8s.io", "fast", body)
        cluster.create("persistentvolumeclaims", "data", _claim(storageClassName="fast"))
        status = {"phase": phase, "capacity": {"storage": "1Gi"}}
        cluster.patch("persistentvolumeclaims", "data", {"status": status}, subresource="status")
        patch = {"spec": {"resources": {"requests": {"storage": size}}}}
        if outcome == 200:
            changed = cluster.patch("persistentvolumeclaims", "data", patch)
            assert changed["spec"]["resources"]["requests"]["storage"] == size
        else:
            assert refusal(cluster.patch, "persistentvolumeclaims", "data", patch).code == outcome

    def test_it_stays_until_it_is_used_no_more(self, cluster: Cluster) -> None:
        cluster.create("persistentvolumeclaims", "data", _claim())
        going = cluster.delete("persistentvolumeclaims", "data")
        assert going["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
        assert "deletionTimestamp" in going["metadata"]
        cluster.patch("persistentvolumeclaims", "data", {"metadata": {"finalizers": []}})
        assert cluster.get("persistentvolumeclaims", "data") is None


UNCHANGING: list[tuple[str, str, dict[str, Any], dict[str, Any], str]] = [
    ("what backs a volume", "persistentvolumes", _volume(), {"spec": {"hostPath": {"path": "/b"}}},
     "spec.persistentvolumesource"),
    ("where a volume is", "persistentvolumes", _volume(nodeAffinity=ON_NODE), {"spec": {"nodeAffinity": None}},
     "nodeAffinity"),
    ("who makes volumes", "storageclasses.storage.k8s.io", {"provisioner": "a/b"}, {"provisioner": "c/d"},
     "provisioner"),
    ("when claims are bound", "storageclasses.storage.k8s.io", {"provisioner": "a/b"},
     {"volumeBindingMode": "WaitForFirstConsumer"}, "volumeBindingMode"),
    ("what becomes of volumes", "storageclasses.storage.k8s.io", {"provisioner": "a/b"}, {"reclaimPolicy": "Retain"},
     "reclaimPolicy"),
    ("that a class has no parameters", "storageclasses.storage.k8s.io", {"provisioner": "a/b"}, {"parameters": {}},
     "parameters"),
    ("what a driver said", "csinodes.storage.k8s.io", {"spec": {"drivers": [DRIVER]}},
     {"spec": {"drivers": [{**DRIVER, "nodeID": "m"}]}}, "spec.drivers"),
    ("whether to attach", "csidrivers.storage.k8s.io", {"spec": {}}, {"spec": {"attachRequired": False}},
     "spec.attachedRequired"),
    ("where capacity is", "csistoragecapacities.storage.k8s.io", {"storageClassName": "a"},
     {"nodeTopology": {"matchLabels": {"a": "b"}}}, "nodeTopology"),
    ("what is attached", "volumeattachments.storage.k8s.io",
     {"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}},
     {"spec": {"nodeName": "m"}}, "spec"),
    ("the service of a set", "statefulsets.apps", _workload(selector={"matchLabels": {"app": "web"}}, serviceName="a"),
     {"spec": {"serviceName": "b"}}, "spec"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("resource", "body", "patch", "field"), [case[1:] for case in UNCHANGING], ids=[case[0] for case in UNCHANGING]
)
def test_what_never_changes(
    cluster: Cluster, resource: str, body: dict[str, Any], patch: dict[str, Any], field: str
) -> None:
    cluster.create(resource, "one", body)
    error = refusal(cluster.patch, resource, "one", patch)
    assert (error.code, [cause.field for cause in error.causes]) == (422, [field]), error


def test_a_volume_gets_its_place_later(cluster: Cluster) -> None:
    cluster.create("persistentvolumes", "disk", _volume())
    assert cluster.patch("persistentvolumes", "disk", {"spec": {"nodeAffinity": ON_NODE}})["spec"]["nodeAffinity"]


def test_a_budgets_status_is_written_beside_it(cluster: Cluster) -> None:
    cluster.create("poddisruptionbudgets.policy", "web", {"spec": {"minAvailable": 1}})
    status = {"disruptionsAllowed": 2, "currentHealthy": 3, "desiredHealthy": 1, "expectedPods": 3}
    cluster.patch("poddisruptionbudgets.policy", "web", {"status": status}, subresource="status")
    changed = cluster.patch("poddisruptionbudgets.policy", "web", {"spec": {"minAvailable": 2}, "status": {}})
    assert (changed["status"], changed["metadata"]["generation"]) == (status, 2)


def test_a_replication_controller_is_scaled(cluster: Cluster) -> None:
    cluster.create("replicationcontrollers", "web", _workload())
    scale = cluster.patch("replicationcontrollers", "web", {"spec": {"replicas": 3}}, subresource="scale")
    assert (scale["spec"]["replicas"], scale["status"]["selector"]) == (3, "app=web")


def test_an_attachments_driver_is_judged_when_it_is_made_and_never_again(cluster: Cluster) -> None:
    attachments = "volumeattachments.storage.k8s.io"
    spec = {"attacher": "a.csi", "nodeName": "n", "source": {"persistentVolumeName": "pv"}}
    cluster.create(attachments, "a", {"spec": spec})
    refused = refusal(cluster.patch, attachments, "a", {"spec": {"attacher": "a-"}})
    assert [cause.field for cause in refused.causes] == ["spec"]
    assert (
        refusal(cluster.create, attachments, "b", {"spec": {**spec, "attacher": "a-"}}).causes[0].field
        == "spec.attacher"
    )


def test_sources_of_volumes_are_filled_in_for_all_of_them(cluster: Cluster) -> None:
    disk = {"diskName": "d", "diskURI": "/subscriptions/d", "kind": "Managed"}
    made = cluster.create("persistentvolumes", "pv", _volume(hostPath=None, azureDisk=disk))
    usual = {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False}
    assert made["spec"]["azureDisk"] == {**disk, **usual}


def test_a_field_whose_feature_is_off_is_owned_by_who_sends_it_and_not_stored() -> None:
    cluster = Cluster()
    drivers, off = "csidrivers.storage.k8s.io", {"nodeAllocatableUpdatePeriodSeconds": 20}
    cluster.create(drivers, "a.csi", {"spec": {}}, field_manager="one")
    sent = Patch(drivers, "", "a.csi", {"spec": off}, "merge")
    changed = cluster.apply(sent, field_manager="two")
    owners = {one["manager"]: one["fieldsV1"] for one in changed["metadata"]["managedFields"]}
    assert owners["two"] == {"f:spec": {"f:nodeAllocatableUpdatePeriodSeconds": {}}}
    assert changed["spec"].keys().isdisjoint(off)
    before = cluster.store.revision
    cluster.apply(sent, field_manager="two")
    assert cluster.store.revision == before, "who owns it already changes nothing"


def test_an_audience_without_a_name_is_shown_as_none() -> None:
    (column,) = [one for one in kind_of("csidrivers.storage.k8s.io").columns if one.name == "TokenRequests"]
    shown = [
        column.cell({"spec": {"tokenRequests": requests}}, str)
        for requests in ([], [{"audience": ""}], [{}, {"audience": "a"}])
    ]
    assert shown == ["<unset>", "", ",a"]
