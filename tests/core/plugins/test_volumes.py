"""VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.status import SKIP, SUCCESS, Status, unresolvable, unschedulable
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import ALL_ROWS, Snapshot
from tests.core.objects import info, node, pod
from tests.core.plugins.asking import built, filtered, filtered_after_moving, hint

TAKEN = unschedulable("node(s) had no available disk")
IN_USE = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
TOO_MANY = unschedulable("node(s) exceed max volume count")
NO_VOLUME = unresolvable("node(s) didn't find available persistent volumes to bind")
FAR = unresolvable("node(s) didn't match PersistentVolume's node affinity")
NO_ROOM = unresolvable("node(s) did not have enough free storage")
NO_ZONE = unresolvable("node(s) had no available volume zone")
ZONE = "topology.kubernetes.io/zone"


def claim(name: str, volume: str = "", storage: str = "5Gi", **more: Any) -> dict[str, Any]:
    """Return a claim, bound where a volume is named."""
    meta: dict[str, Any] = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    if volume:
        meta["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    meta |= more.pop("metadata", {})
    status = more.pop("status", {"phase": "Bound" if volume else "Pending"})
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}, "volumeName": volume}
    return {"metadata": meta, "spec": spec | more, "status": status}


def volume(name: str, storage: str = "5Gi", *, labels: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    phase = more.pop("phase", "Available")
    spec = {"capacity": {"storage": storage}, "accessModes": ["ReadWriteOnce"], "storageClassName": "late"}
    meta = {"name": name, "uid": f"uid-{name}", "labels": labels or {}}
    return {"metadata": meta, "spec": spec | more, "status": {"phase": phase}}


def storage_class(name: str, mode: str = "WaitForFirstConsumer", **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "provisioner": "d", "volumeBindingMode": mode} | more


def only_in(zone: str) -> dict[str, Any]:
    wanted = {"key": ZONE, "operator": "In", "values": [zone]}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}}


def cluster(
    *,
    pvcs: list[dict[str, Any]] | None = None,
    pvs: list[dict[str, Any]] | None = None,
    classes: list[dict[str, Any]] | None = None,
    csinodes: list[dict[str, Any]] | None = None,
    **more: list[dict[str, Any]],
) -> dict[str, Any]:
    return {
        "persistentvolumeclaims": pvcs or [],
        "persistentvolumes": pvs or [],
        "storageclasses_storage_k8s_io": classes or [],
        "csinodes_storage_k8s_io": csinodes or [],
    } | {f"{kind}_storage_k8s_io": documents for kind, documents in more.items()}


def plugin(name: str, **objects: Any) -> Any:
    return built(name, **cluster(**objects))


def using(*names: str, pod_name: str = "p", **more: Any) -> PodInfo:
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    return pod(pod_name, volumes=volumes, **more)


def mounting(name: str = "p", **source: Any) -> PodInfo:
    return pod(name, volumes=[{"name": "d", **source}])


def pre_filtered(asked: Any, one: PodInfo, *nodes: Any) -> Status:
    status: Status = asked.pre_filter(CycleState(), one, Snapshot(nodes or [info(node("a"))]))[1]
    return status


ALL = ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone")


@pytest.mark.parametrize("name", ALL)
def test_pods_without_such_volumes_skip(name: str) -> None:
    assert pre_filtered(plugin(name), pod()) == SKIP
    assert pre_filtered(plugin(name), mounting(emptyDir={})) == SKIP


@pytest.mark.parametrize(
    ("mine", "theirs", "answer"),
    [
        ({"gcePersistentDisk": {"pdName": "x"}}, {"gcePersistentDisk": {"pdName": "x"}}, TAKEN),
        ({"gcePersistentDisk": {"pdName": "x"}}, {"gcePersistentDisk": {"pdName": "y"}}, SUCCESS),
        (
            {"gcePersistentDisk": {"pdName": "x", "readOnly": True}},
            {"gcePersistentDisk": {"pdName": "x", "readOnly": True}},
            SUCCESS,
        ),
        (
            {"gcePersistentDisk": {"pdName": "x", "readOnly": True}},
            {"gcePersistentDisk": {"pdName": "x"}},
            TAKEN,
        ),
        (
            {"awsElasticBlockStore": {"volumeID": "x", "readOnly": True}},
            {"awsElasticBlockStore": {"volumeID": "x", "readOnly": True}},
            TAKEN,
        ),
        ({"iscsi": {"iqn": "x", "lun": 1}}, {"iscsi": {"iqn": "x", "lun": 2}}, TAKEN),
        ({"iscsi": {"iqn": "x", "readOnly": True}}, {"iscsi": {"iqn": "x", "readOnly": True}}, SUCCESS),
        (
            {"rbd": {"monitors": ["a", "b"], "pool": "p", "image": "i"}},
            {"rbd": {"monitors": ["b"], "pool": "p", "image": "i"}},
            TAKEN,
        ),
        (
            {"rbd": {"monitors": ["a"], "pool": "p", "image": "i"}},
            {"rbd": {"monitors": ["b"], "pool": "p", "image": "i"}},
            SUCCESS,
        ),
        (
            {"rbd": {"monitors": ["a"], "pool": "p", "image": "i"}},
            {"rbd": {"monitors": ["a"], "pool": "q", "image": "i"}},
            SUCCESS,
        ),
    ],
)
def test_disks_that_somebody_writes_are_not_shared(mine: Any, theirs: Any, answer: Status) -> None:
    there = info(node("a"), mounting("q", **theirs))
    assert filtered(plugin("VolumeRestrictions"), mounting(**mine), there, info(node("b"))) == [answer, SUCCESS]


def test_a_claim_for_one_pod_is_free_once_its_pod_is_gone() -> None:
    asked = plugin("VolumeRestrictions", pvcs=[claim("c", accessModes=["ReadWriteOncePod"])])
    other = using("c", pod_name="q")
    nodes = [info(node("a"), other), info(node("b"))]
    assert filtered(asked, using("c"), *nodes) == [IN_USE, IN_USE]
    assert filtered_after_moving(asked, using("c"), nodes, 0, [other], []) == SUCCESS
    assert filtered_after_moving(asked, using("c"), nodes, 0, [other], [other]) == IN_USE
    assert pre_filtered(asked, using("c"), info(node("a"), using("c", pod_name="q", namespace="else"))) == SKIP
    assert pre_filtered(asked, using("c")) == SKIP


@pytest.mark.parametrize("name", ["VolumeRestrictions", "VolumeBinding", "VolumeZone"])
def test_a_missing_claim_is_named(name: str) -> None:
    assert pre_filtered(plugin(name), using("nope")) == unresolvable('persistentvolumeclaim "nope" not found')


def csi_node(count: int | None, *, annotation: str = "") -> dict[str, Any]:
    driver: dict[str, Any] = {"name": "d", "nodeID": "a"}
    if count is not None:
        driver["allocatable"] = {"count": count}
    meta = {"name": "a", "annotations": {"storage.alpha.kubernetes.io/migrated-plugins": annotation}}
    drivers = [driver, {"name": "pd.csi.storage.gke.io", "nodeID": "a", "allocatable": {"count": 1}}]
    return {"metadata": meta, "spec": {"drivers": drivers}}


@pytest.mark.parametrize(
    ("count", "there", "mine", "answer"),
    [
        (2, ["one"], ["two"], SUCCESS),
        (1, ["one"], ["two"], TOO_MANY),
        (1, ["one"], ["one"], SUCCESS),
        # Two claims of one volume are one volume.
        (1, ["one"], ["same"], SUCCESS),
        (1, [], ["one", "two"], TOO_MANY),
        (0, [], ["one"], TOO_MANY),
        (None, ["one"], ["two"], SUCCESS),
        # A claim that has no volume yet counts as its class's.
        (1, ["one"], ["unbound"], TOO_MANY),
        (1, ["gone"], ["one"], SUCCESS),
    ],
)
def test_a_driver_attaches_so_many(count: int | None, there: list[str], mine: list[str], answer: Status) -> None:
    asked = plugin(
        "NodeVolumeLimits",
        pvcs=[claim("one", "v1"), claim("same", "v1"), claim("two", "v2"), claim("unbound", storageClassName="late")],
        pvs=[volume(f"v{n}", csi={"driver": "d", "volumeHandle": f"h{n}"}) for n in (1, 2)],
        classes=[storage_class("late")],
        csinodes=[csi_node(count)],
    )
    nodes = info(node("a"), using(*there, pod_name="q")), info(node("without"))
    assert filtered(asked, using(*mine), *nodes) == [answer, SUCCESS]


def test_in_tree_disks_count_as_their_drivers() -> None:
    disk, other = ({"gcePersistentDisk": {"pdName": name}} for name in "xy")
    asked = plugin("NodeVolumeLimits", csinodes=[csi_node(1)])
    there = info(node("a"), mounting("q", **disk))
    assert filtered(asked, mounting(**disk), there) == [SUCCESS]
    assert filtered(asked, mounting(**other), there) == [TOO_MANY]


def test_what_is_attached_counts_though_no_pod_uses_it() -> None:
    attachment = {
        "metadata": {"name": "t"},
        "spec": {"attacher": "d", "nodeName": "a", "source": {"persistentVolumeName": "v1"}},
    }
    pvs = [volume(f"v{n}", csi={"driver": "d", "volumeHandle": f"h{n}"}) for n in (1, 2)]
    pvcs = [claim("one", "v1"), claim("two", "v2")]
    asked = plugin("NodeVolumeLimits", pvcs=pvcs, pvs=pvs, csinodes=[csi_node(1)], volumeattachments=[attachment])
    assert filtered(asked, using("two"), info(node("a"))) == [TOO_MANY]
    # As upstream has it, the pod's own volume counts twice while it is attached and no pod on the node uses it.
    assert filtered(asked, using("one"), info(node("a"))) == [TOO_MANY]
    assert filtered(asked, using("one"), info(node("a"), using("one", pod_name="q"))) == [SUCCESS]


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (
            claim("c", "v", status={"phase": "Lost"}),
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
        ),
        (
            claim("c", metadata={"deletionTimestamp": "2030-01-01T00:00:00Z"}),
            'persistentvolumeclaim "c" is being deleted',
        ),
        (claim("c"), "pod has unbound immediate PersistentVolumeClaims"),
        (claim("c", storageClassName="now"), "pod has unbound immediate PersistentVolumeClaims"),
        # Named, but not yet bound by both sides.
        (
            claim("c", storageClassName="late", volumeName="v"),
            "pod has unbound immediate PersistentVolumeClaims",
        ),
    ],
)
def test_claims_that_no_node_can_serve(made: dict[str, Any], text: str) -> None:
    classes = [storage_class("now", "Immediate"), storage_class("late")]
    assert pre_filtered(plugin("VolumeBinding", pvcs=[made], classes=classes), using("c")) == unresolvable(text)


def test_an_ephemeral_volume_waits_for_its_own_claim() -> None:
    one = mounting(ephemeral={"volumeClaimTemplate": {}})
    text = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-d"'
    assert pre_filtered(plugin("VolumeBinding"), one) == unresolvable(text)
    foreign = plugin("VolumeBinding", pvcs=[claim("p-d", "v")])
    text = "PVC default/p-d was not created for pod default/p (pod is not owner)"
    assert pre_filtered(foreign, one) == unresolvable(text)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-p", "controller": True}
    own = plugin("VolumeBinding", pvcs=[claim("p-d", "v", metadata={"ownerReferences": [owner]})])
    assert pre_filtered(own, one) == SUCCESS


NEAR = info(node("near", labels={ZONE: "x"}))
AWAY = info(node("away", labels={ZONE: "y"}))
LATE = claim("c", storageClassName="late")


@pytest.mark.parametrize(
    ("made", "pvs", "answers"),
    [
        (claim("c", "v"), [volume("v", nodeAffinity=only_in("x"))], [SUCCESS, FAR]),
        (claim("c", "v"), [volume("v")], [SUCCESS, SUCCESS]),
        (LATE, [volume("v", nodeAffinity=only_in("x"))], [SUCCESS, NO_VOLUME]),
        (LATE, [], [NO_VOLUME, NO_VOLUME]),
        (LATE, [volume("v", "4Gi")], [NO_VOLUME, NO_VOLUME]),
        (LATE, [volume("v", phase="Released")], [NO_VOLUME, NO_VOLUME]),
        (LATE, [volume("v", accessModes=["ReadOnlyMany"])], [NO_VOLUME, NO_VOLUME]),
        (LATE, [volume("v", volumeMode="Block")], [NO_VOLUME, NO_VOLUME]),
        (LATE, [volume("v", storageClassName="other")], [NO_VOLUME, NO_VOLUME]),
        (LATE, [volume("v", claimRef={"namespace": "default", "name": "else"})], [NO_VOLUME, NO_VOLUME]),
        # Kept for the claim: taken whatever its phase, but only where it is reached.
        (
            LATE,
            [
                volume("v", nodeAffinity=only_in("y"), phase="X", claimRef={"namespace": "default", "name": "c"}),
                volume("w"),
            ],
            [NO_VOLUME, SUCCESS],
        ),
        (
            claim("c", storageClassName="late", selector={"matchLabels": {"k": "v"}}),
            [volume("v", labels={"k": "w"})],
            [NO_VOLUME, NO_VOLUME],
        ),
        (
            claim("c", storageClassName="makes"),
            [],
            [SUCCESS, NO_VOLUME],
        ),
        (
            claim(
                "c",
                storageClassName="makes",
                metadata={"annotations": {"volume.kubernetes.io/selected-node": "away"}},
            ),
            [],
            [NO_VOLUME, NO_VOLUME],
        ),
        (claim("c", storageClassName="tells"), [], [SUCCESS, NO_ROOM]),
        (claim("c", storage="11Gi", storageClassName="tells"), [], [NO_ROOM, NO_ROOM]),
    ],
)
def test_what_a_node_can_give_a_claim(made: dict[str, Any], pvs: list[dict[str, Any]], answers: list[Status]) -> None:
    topology = [{"matchLabelExpressions": [{"key": ZONE, "values": ["x"]}]}]
    asked = plugin(
        "VolumeBinding",
        pvcs=[made],
        pvs=pvs,
        classes=[
            storage_class("late", provisioner="kubernetes.io/no-provisioner"),
            storage_class("makes", allowedTopologies=topology),
            storage_class("tells", provisioner="told"),
        ],
        csidrivers=[{"metadata": {"name": "told"}, "spec": {"storageCapacity": True}}],
        csistoragecapacities=[
            {
                "metadata": {"name": "s", "namespace": "default"},
                "storageClassName": "tells",
                "nodeTopology": {"matchLabels": {ZONE: "x"}},
                "capacity": "90Gi",
                "maximumVolumeSize": "10Gi",
            }
        ],
    )
    assert filtered(asked, using("c"), NEAR, AWAY) == answers


def test_what_cannot_be_read_holds_nothing_and_asks_for_nothing() -> None:
    wrong = {"matchExpressions": [{"key": ZONE, "operator": "Within", "values": ["x"]}]}
    told = plugin(
        "VolumeBinding",
        pvcs=[claim("c", storageClassName="tells")],
        classes=[storage_class("tells", provisioner="told")],
        csidrivers=[{"metadata": {"name": "told"}, "spec": {"storageCapacity": True}}],
        csistoragecapacities=[
            {
                "metadata": {"name": "s", "namespace": "default"},
                "storageClassName": "tells",
                "nodeTopology": wrong,
                "capacity": "90Gi",
            }
        ],
    )
    assert filtered(told, using("c"), NEAR) == [NO_ROOM]
    choosy = claim("c", storageClassName="late", selector=wrong)
    broken = plugin("VolumeBinding", pvcs=[choosy], pvs=[volume("v")], classes=[storage_class("late")])
    state, snapshot = CycleState(), Snapshot([NEAR])
    broken.pre_filter(state, using("c"), snapshot)
    with pytest.raises(ValueError, match="error creating internal label selector for claim: default/c: "):
        broken.filter(state, using("c"), snapshot, ALL_ROWS)


def test_small_claims_choose_first_and_a_volume_serves_one() -> None:
    late = [storage_class("late", provisioner="kubernetes.io/no-provisioner")]
    pvcs = [claim("large", storage="8Gi", storageClassName="late"), claim("small", storageClassName="late")]
    enough = plugin("VolumeBinding", pvcs=pvcs, pvs=[volume("v", "10Gi"), volume("w", "5Gi")], classes=late)
    assert filtered(enough, using("large", "small"), NEAR) == [SUCCESS]
    one_only = plugin("VolumeBinding", pvcs=pvcs, pvs=[volume("v", "10Gi")], classes=late)
    assert filtered(one_only, using("large", "small"), NEAR) == [NO_VOLUME]


def test_an_in_tree_volume_is_looked_for_by_its_drivers_zone_where_a_driver_serves_it() -> None:
    migrated = csi_node(1, annotation="kubernetes.io/gce-pd,kubernetes.io/aws-ebs")
    pvs = [volume("v", gcePersistentDisk={"pdName": "x"}, nodeAffinity=only_in("x"))]
    asked = plugin("VolumeBinding", pvcs=[claim("c", "v")], pvs=pvs, csinodes=[migrated])
    without, with_label = node("a", labels={ZONE: "x"}), node("a", labels={"topology.gke.io/zone": "x"})
    assert filtered(asked, using("c"), info(without)) == [FAR]
    assert filtered(asked, using("c"), info(with_label)) == [SUCCESS]


def test_its_score_is_left_out() -> None:
    asked = plugin("VolumeBinding")
    assert asked.pre_score(CycleState(), pod(), Snapshot([NEAR]), ALL_ROWS) == SKIP
    assert asked.score(CycleState(), pod(), Snapshot([NEAR, AWAY]), ALL_ROWS).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("labels", "answers"),
    [
        ({ZONE: "x"}, [SUCCESS, NO_ZONE, SUCCESS]),
        ({ZONE: "x__y"}, [SUCCESS, SUCCESS, SUCCESS]),
        ({"topology.kubernetes.io/region": "r"}, [NO_ZONE, NO_ZONE, SUCCESS]),
        # A beta label is compared with the node's stable one.
        ({"failure-domain.beta.kubernetes.io/zone": "x"}, [SUCCESS, NO_ZONE, SUCCESS]),
    ],
)
def test_a_volume_is_in_its_zones(labels: dict[str, str], answers: list[Status]) -> None:
    asked = plugin("VolumeZone", pvcs=[claim("c", "v")], pvs=[volume("v", labels=labels)])
    assert filtered(asked, using("c"), NEAR, AWAY, info(node("plain"))) == answers


def test_volumes_that_are_nowhere() -> None:
    nowhere = plugin("VolumeZone", pvcs=[claim("c", "v")], pvs=[volume("v", labels={ZONE: "x__"})])
    assert pre_filtered(nowhere, using("c")) == SKIP
    gone = plugin("VolumeZone", pvcs=[claim("c", "v")])
    assert pre_filtered(gone, using("c")) == unresolvable('persistentvolume "v" not found')
    late = plugin("VolumeZone", pvcs=[LATE], classes=[storage_class("late")])
    assert pre_filtered(late, using("c")) == SKIP
    now = plugin("VolumeZone", pvcs=[LATE], classes=[storage_class("late", "Immediate")])
    assert pre_filtered(now, using("c")) == unresolvable("PersistentVolume had no name")


@pytest.mark.parametrize(
    ("name", "number", "old", "new", "said"),
    [
        ("VolumeRestrictions", 0, using("c", pod_name="q", nodeName="a"), None, "Queue"),
        ("VolumeRestrictions", 0, using("d", pod_name="q", nodeName="a"), None, "QueueSkip"),
        ("VolumeRestrictions", 2, None, claim("c"), "Queue"),
        ("VolumeRestrictions", 2, None, claim("d"), "QueueSkip"),
        ("NodeVolumeLimits", 0, csi_node(1), csi_node(2), "Queue"),
        ("NodeVolumeLimits", 0, csi_node(2), csi_node(2), "QueueSkip"),
        ("NodeVolumeLimits", 1, using("x", nodeName="a"), None, "Queue"),
        ("NodeVolumeLimits", 1, pod(nodeName="a"), None, "QueueSkip"),
        ("NodeVolumeLimits", 2, None, claim("c"), "Queue"),
        ("VolumeBinding", 0, storage_class("s"), storage_class("s"), "QueueSkip"),
        ("VolumeBinding", 0, None, storage_class("s"), "Queue"),
        ("VolumeBinding", 1, None, claim("d"), "QueueSkip"),
        ("VolumeZone", 0, None, storage_class("s", "Immediate"), "QueueSkip"),
        ("VolumeZone", 0, None, storage_class("s"), "Queue"),
        ("VolumeZone", 2, None, claim("c"), "Queue"),
        ("VolumeZone", 3, volume("v"), volume("v"), "QueueSkip"),
        ("VolumeZone", 3, volume("v"), volume("v", labels={ZONE: "x"}), "Queue"),
    ],
)
def test_what_wakes_a_pod(name: str, number: int, old: Any, new: Any, said: str) -> None:
    assert hint(plugin(name), using("c"), number, old, new) == said
