"""The amounts behind every no: in the trace, the same in its replay, and of the filters after the first on request."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.cluster import found
from controllers.log.memory import MemoryStore
from controllers.log.operations import Create, Patch
from controllers.scheduler.decisions import refusals, whole
from controllers.scheduler.past import Past
from scheduler_core.scheduler.refusals import REFUSALS_TOLD_MAX
from tests.controllers.scheduler.plane import Plane

ZONE = "topology.kubernetes.io/zone"
GPU = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
SELECT = {"matchLabels": {"app": "web"}}


@pytest.fixture
def plane() -> Plane:
    store = MemoryStore(seed=7)
    found(store)
    return Plane(store)


def label(plane: Plane, name: str, **labels: str) -> None:
    plane.write(Patch("nodes", "", name, {"metadata": {"labels": {ZONE: labels.pop("zone", None), **labels}}}))


def trace(plane: Plane, uid: str) -> dict[str, Any]:
    """Return the pod's newest trace, which is told the same by its replay."""
    plane.run(plane.loop.now_ms)
    (envelope, blob), *_ = plane.store.traces(uid, 1)
    told = whole(Past(plane.store), envelope, blob)
    bare = {key: value for key, value in envelope.items() if key != "explanation"}
    assert whole(Past(plane.store), bare, b"")["explanation"].get("refusals") == told["explanation"].get("refusals")
    return told


def amounts(plane: Plane, uid: str) -> dict[str, list[dict[str, Any]]]:
    return dict(trace(plane, uid)["explanation"]["refusals"])


def after(plane: Plane, uid: str, *names: str) -> dict[str, list[str]]:
    """Return node → the plugins that refuse it, whatever those before them said."""
    plane.run(plane.loop.now_ms)
    (envelope, _), *_ = plane.store.traces(uid, 1)
    found = refusals(Past(plane.store), envelope, names)
    return {name: [one["plugin"] for one in told] for name, told in found.items()}


def web(plane: Plane, name: str, **spec: Any) -> str:
    plane.write(
        Create(
            "pods",
            "default",
            {
                "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
            },
        )
    )
    stored = plane.store.get("pods", "default", name)
    assert stored is not None
    return str(stored.uid)


def resource(name: str, asked: int, free: int, size: int) -> dict[str, Any]:
    missing = asked - free
    return {"kind": "resource", "resource": name, "asked": asked, "free": free, "missing": missing, "size": size}


def test_what_is_short_is_told_in_numbers(plane: Plane) -> None:
    plane.node("a", cpu="2", memory="1Gi")
    plane.node("b", cpu="1", memory="8Gi")
    plane.pod("holder", "1750m", nodeName="a")
    uid = web(plane, "p", containers=[
        {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1100m", "memory": "2Gi"}}}
    ])  # fmt: skip
    assert amounts(plane, uid) == {
        "a": [resource("cpu", 1100, 250, 2000), resource("memory", 2 << 30, 1 << 30, 1 << 30)],
        "b": [resource("cpu", 1100, 1000, 1000)],
    }


def test_a_node_without_room_for_another_pod_has_no_place_free(plane: Plane) -> None:
    plane.node("a")
    plane.write(Patch("nodes", "", "a", {"status": {"allocatable": {"pods": "1"}}}, "merge", "status"))
    plane.pod("holder", "100m", nodeName="a")
    assert amounts(plane, plane.pod("p", "100m")) == {"a": [resource("pods", 1, 0, 1)]}


def test_every_taint_that_is_not_tolerated_is_told_that_of_the_reason_first(plane: Plane) -> None:
    other = {"key": "old", "effect": "NoExecute"}
    plane.node("a", taints=[{"key": "soft", "effect": "PreferNoSchedule"}, GPU, other])
    plane.node("b", unschedulable=True)
    told = trace(plane, plane.pod("p", "100m"))
    assert told["explanation"]["refusals"] == {
        "a": [{"kind": "taint", **GPU}, {"kind": "taint", "value": "", **other}],
        "b": [{"kind": "taint", "key": "node.kubernetes.io/unschedulable", "value": "", "effect": "NoSchedule"}],
    }
    assert told["result"]["firstFail"]["a"]["reasons"] == ["node(s) had untolerated taint {gpu: yes}"]


def test_the_conditions_that_a_node_does_not_meet_come_with_its_labels(plane: Plane) -> None:
    for name, disk in (("a", "hdd"), ("b", None)):
        plane.node(name)
        label(plane, name, zone="east", **({"disk": disk} if disk else {}))
    terms = [
        {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd", "nvme"]}]},
        {"matchExpressions": [{"key": ZONE, "operator": "NotIn", "values": ["east"]}]},
    ]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    uid = plane.pod("p", "100m", affinity=affinity, nodeSelector={"disk": "ssd"})
    disk = {"kind": "label", "term": 0, "key": "disk", "operator": "In", "value": "hdd"}
    of_a = [
        {**disk, "source": "nodeSelector", "values": ["ssd"]},
        {**disk, "source": "nodeAffinity", "values": ["nvme", "ssd"]},
        {"kind": "label", "source": "nodeAffinity", "term": 1, "key": ZONE, "operator": "NotIn", "values": ["east"],
         "value": "east"},
    ]  # fmt: skip
    of_b = [{**one, "value": None} if one["key"] == "disk" else one for one in of_a]
    assert amounts(plane, uid) == {"a": of_a, "b": of_b}


def test_the_holder_of_a_port_is_named(plane: Plane) -> None:
    plane.node("a")
    ports = [{"containerPort": 80, "hostPort": 8080}]
    web(plane, "holder", nodeName="a", containers=[{"name": "c", "image": "i", "ports": ports}])
    uid = web(plane, "p", containers=[{"name": "c", "image": "i", "ports": ports}])
    port = {"kind": "port", "protocol": "TCP", "ip": "0.0.0.0", "port": 8080, "holder": "default/holder"}
    assert amounts(plane, uid) == {"a": [port]}


def claim(plane: Plane, name: str, size: str, class_name: str, **spec: Any) -> dict[str, Any]:
    """Make a claim; return the pod's volume that is it."""
    asks = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": class_name,
        "resources": {"requests": {"storage": size}},
    }
    plane.write(Create("persistentvolumeclaims", "default", {"metadata": {"name": name}, "spec": {**asks, **spec}}))
    return {"name": name, "persistentVolumeClaim": {"claimName": name}}


def disk(plane: Plane, name: str, size: str, class_name: str, zone: str, **labels: str) -> None:
    """Make a volume that only nodes of a zone reach."""
    terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]
    spec = {
        "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": class_name,
        "hostPath": {"path": "/d"}, "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
    }  # fmt: skip
    plane.write(Create("persistentvolumes", "", {"metadata": {"name": name, "labels": labels}, "spec": spec}))
    plane.write(Patch("persistentvolumes", "", name, {"status": {"phase": "Available"}}, "merge", "status"))


def storage(plane: Plane, name: str, mode: str, provisioner: str = "kubernetes.io/no-provisioner") -> None:
    kind = {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode}
    plane.write(Create("storageclasses.storage.k8s.io", "", kind))


def test_a_claim_that_finds_no_volume_says_how_large_the_largest_is(plane: Plane) -> None:
    for name, zone in (("a", "east"), ("b", "west")):
        plane.node(name)
        label(plane, name, zone=zone)
    storage(plane, "local", "WaitForFirstConsumer")
    disk(plane, "small", "2Gi", "local", "east")
    uid = plane.pod("p", "100m", volumes=[claim(plane, "data", "10Gi", "local")])
    wanted = {"kind": "volume", "claim": "data", "class": "local", "volume": "", "asked": 10 << 30}
    assert amounts(plane, uid) == {"a": [{**wanted, "largest": 2 << 30}], "b": [{**wanted, "largest": None}]}


def test_a_claim_that_should_be_bound_by_now_is_named_for_all_nodes_at_once(plane: Plane) -> None:
    plane.node("a")
    storage(plane, "now", "Immediate")
    uid = plane.pod("p", "100m", volumes=[claim(plane, "data", "10Gi", "now")])
    told = trace(plane, uid)
    assert told["result"]["preFilter"]["plugin"] == "VolumeBinding"
    assert told["explanation"]["preFilter"] == [
        {"kind": "volume", "claim": "data", "class": "now", "volume": "", "asked": 10 << 30, "largest": None}
    ]


def test_a_volume_that_is_elsewhere_says_where_and_where_the_node_is(plane: Plane) -> None:
    plane.node("a")
    label(plane, "a", zone="east")
    storage(plane, "local", "WaitForFirstConsumer")
    disk(plane, "far", "10Gi", "local", "west", **{ZONE: "west"})
    plane.pod("first", "100m", volumes=[claim(plane, "data", "10Gi", "local", volumeName="far")])
    bound = {"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}}
    plane.write(Patch("persistentvolumeclaims", "default", "data", bound))
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    uid = plane.pod("p", "100m", volumes=volumes)
    told = trace(plane, uid)
    where = {"kind": "label", "term": 0, "key": ZONE, "operator": "In", "values": ["west"], "value": "east"}
    assert told["explanation"]["refusals"]["a"] == [{**where, "source": "PersistentVolume far"}]
    assert after(plane, uid) == {"a": ["VolumeBinding", "VolumeZone"]}
    (envelope, _), *_ = plane.store.traces(uid, 1)
    of_zone = [one for one in refusals(Past(plane.store), envelope, ["a"])["a"] if one["plugin"] == "VolumeZone"]
    assert of_zone[0]["details"] == [{**where, "source": "volume"}]


def test_the_holder_of_a_disk_and_of_a_claim_that_one_pod_may_use_is_named(plane: Plane) -> None:
    plane.node("a")
    volumes = [{"name": "d", "awsElasticBlockStore": {"volumeID": "vol-1"}}]
    plane.pod("holder", "100m", nodeName="a", volumes=volumes)
    held = {"kind": "held", "source": "disk", "name": "d", "holder": "default/holder"}
    assert amounts(plane, plane.pod("p", "100m", volumes=volumes)) == {"a": [held]}
    storage(plane, "local", "WaitForFirstConsumer")
    disk(plane, "one", "1Gi", "local", "east")
    label(plane, "a", zone="east")
    own = [claim(plane, "mine", "1Gi", "local", accessModes=["ReadWriteOncePod"], volumeName="one")]
    bound = {"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}}
    plane.write(Patch("persistentvolumeclaims", "default", "mine", bound))
    plane.pod("user", "100m", nodeName="a", volumes=own)
    used = {"kind": "held", "source": "claim", "name": "mine", "holder": "default/user"}
    assert amounts(plane, plane.pod("q", "100m", volumes=own)) == {"a": [used]}


def test_how_many_volumes_a_driver_may_attach_is_told_as_an_amount(plane: Plane) -> None:
    plane.node("a")
    driver = {"name": "ebs.csi.aws.com", "nodeID": "a", "topologyKeys": None, "allocatable": {"count": 1}}
    plane.write(Create("csinodes.storage.k8s.io", "", {"metadata": {"name": "a"}, "spec": {"drivers": [driver]}}))
    storage(plane, "ebs", "WaitForFirstConsumer", "ebs.csi.aws.com")
    plane.pod("holder", "100m", nodeName="a", volumes=[claim(plane, "first", "1Gi", "ebs")])
    uid = plane.pod("p", "100m", volumes=[claim(plane, "second", "1Gi", "ebs")])
    assert amounts(plane, uid) == {"a": [resource("attachable-volumes-csi-ebs.csi.aws.com", 1, 0, 1)]}


def test_the_skew_that_a_node_would_make_is_told_with_the_places_it_comes_of(plane: Plane) -> None:
    for name, zone in (("a", "east"), ("b", "west"), ("c", "")):
        plane.node(name)
        label(plane, name, **({"zone": zone} if zone else {}))
    for name in ("one", "two"):
        web(plane, name, nodeName="a")
    plane.write(Patch("nodes", "", "b", {"spec": {"unschedulable": True}}))
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECT}
    told = amounts(plane, web(plane, "p", topologySpreadConstraints=[constraint]))
    spread = {"kind": "spread", "topologyKey": ZONE, "fewest": 0, "maxSkew": 1, "domains": 2, "minDomains": 1}
    assert told["a"] == [{**spread, "value": "east", "matching": 2, "skew": 3}]
    assert told["c"] == [{**spread, "value": None, "matching": 0, "skew": None}]


def test_places_without_the_wanted_pods_or_with_unwanted_ones_are_told(plane: Plane) -> None:
    for name, zone in (("a", "east"), ("b", "west")):
        plane.node(name)
        label(plane, name, zone=zone)
    term = {"labelSelector": SELECT, "topologyKey": ZONE}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    web(plane, "one", nodeName="a")
    plane.write(Patch("nodes", "", "b", {"spec": {"unschedulable": True}}))
    place = {"kind": "podAffinity", "topologyKey": ZONE, "value": "east"}
    told = amounts(plane, plane.pod("away", "1", affinity=apart))
    assert told["a"] == [{**place, "rule": "antiAffinity", "matching": 1}]
    plane.delete("pods", "away")
    plane.write(Patch("nodes", "", "a", {"spec": {"unschedulable": True}}))
    plane.write(Patch("nodes", "", "b", {"spec": {"unschedulable": None}}))
    told = amounts(plane, plane.pod("near", "1", affinity=near))
    assert told["b"] == [{**place, "value": "west", "rule": "affinity", "matching": 0}]
    web(plane, "hermit", nodeName="b", affinity=apart)
    told = amounts(plane, web(plane, "guest"))
    assert told["b"] == [{**place, "value": "west", "rule": "existing", "matching": 1}]


def test_pods_nominated_to_a_node_are_counted_in_what_is_free(plane: Plane) -> None:
    plane.node("a", cpu="2")
    for value in (5, 9):
        plane.write(
            Create("priorityclasses.scheduling.k8s.io", "", {"metadata": {"name": f"p{value}"}, "value": value})
        )
    plane.pod("victim", "2", nodeName="a")
    plane.pod("rival", "1500m", priorityClassName="p9")
    plane.run(plane.loop.now_ms)
    assert plane.get("rival")["status"]["nominatedNodeName"] == "a"
    told = amounts(plane, plane.pod("p", "1", priorityClassName="p5"))
    assert told["a"][0]["asked"] == 1000
    assert told["a"][0]["free"] == -1500


def test_filters_after_the_first_are_told_on_request_alone(plane: Plane) -> None:
    plane.node("a", cpu="1", taints=[GPU])
    plane.node("b", cpu="1")
    uid = plane.pod("p", "2", nodeSelector={"disk": "ssd"})
    told = trace(plane, uid)
    assert [one["kind"] for one in told["explanation"]["refusals"]["a"]] == ["taint"]
    assert after(plane, uid) == {
        "a": ["TaintToleration", "NodeAffinity", "NodeResourcesFit"], "b": ["NodeAffinity", "NodeResourcesFit"]
    }  # fmt: skip
    assert after(plane, uid, "b", "nobody") == {"b": ["NodeAffinity", "NodeResourcesFit"]}


def test_the_amount_that_is_missing_is_what_lets_the_pod_in(plane: Plane) -> None:
    plane.node("a", cpu="1")
    uid = plane.pod("p", "1750m")
    (short,) = amounts(plane, uid)["a"]
    for cpu, chosen in ((short["missing"] - 1, None), (short["missing"], "a")):
        size = f"{short['size'] + cpu}m"
        plane.write(Patch("nodes", "", "a", {"status": {"allocatable": {"cpu": size}}}, "merge", "status"))
        plane.run(plane.loop.now_ms + 20_000)
        assert (plane.node_of("p") or None) == chosen


def test_a_trace_tells_of_a_bounded_number_of_nodes_and_the_rest_on_request(plane: Plane) -> None:
    names = [f"n{number:03}" for number in range(REFUSALS_TOLD_MAX + 3)]
    for name in names:
        plane.node(name, cpu="1")
    uid = plane.pod("p", "2")
    assert sorted(amounts(plane, uid)) == names[:REFUSALS_TOLD_MAX]
    assert after(plane, uid, names[-1]) == {names[-1]: ["NodeResourcesFit"]}
