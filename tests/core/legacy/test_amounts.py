"""The amounts behind the old eras' refusals; and that every filter there is tells some, or why it tells none."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import scheduler_core.legacy
import scheduler_core.plugins
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import RefusalDetails
from scheduler_core.framework.status import SUCCESS
from scheduler_core.legacy.affinity import ANNOTATION
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Snapshot
from tests.core.legacy.asking import custom, predicate
from tests.core.objects import info, node, pod
from tests.core.plugins.asking import filtered

ZONE = "failure-domain.beta.kubernetes.io/zone"

WITHOUT = {
    "NodeLister": "the condition or the cordon is its reason",
    "CEL": "the reason is the author's",
}
"""Filter → why there are no amounts behind its no (docs/trace.md)."""


def filters() -> Iterator[type]:
    """Yield the classes of this package and of the old eras that filter."""
    for package in (scheduler_core.plugins, scheduler_core.legacy):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for one in vars(importlib.import_module(found.name)).values():
                if isinstance(one, type) and one.__module__ == found.name and hasattr(one, "filter"):
                    yield one


def test_every_filter_tells_amounts_or_why_it_has_none() -> None:
    told = {getattr(one, "name", one.__name__): hasattr(one, "refusal_details") for one in filters()}
    assert len(told) > 20
    assert {name for name, tells in told.items() if not tells} == set(WITHOUT)


def amounts(plugin: Any, one: PodInfo, held: NodeInfo) -> list[dict[str, Any]]:
    """Return what the plugin tells of its refusal; it must have refused."""
    assert isinstance(plugin, RefusalDetails)
    (status,) = filtered(plugin, one, held)
    assert status != SUCCESS
    state, snapshot = CycleState(), Snapshot([held])
    return [dict(detail) for detail in plugin.refusal_details(state, one, snapshot, 0)]


def short(resource: str, asked: int, free: int, size: int) -> dict[str, Any]:
    missing = asked - free
    return {"kind": "resource", "resource": resource, "asked": asked, "free": free, "missing": missing, "size": size}


def condition(source: str, key: str, operator: str, values: list[str], value: str | None) -> dict[str, Any]:
    where = {"kind": "label", "source": source, "term": 0}
    return {**where, "key": key, "operator": operator, "values": values, "value": value}


def test_resources_tell_all_that_is_short_where_the_reason_names_the_first() -> None:
    held = info(node(allocatable={"cpu": "4", "memory": "8Gi", "pods": "1"}), pod("x", requests={"cpu": "3"}))
    one = pod(requests={"cpu": "2", "memory": "9Gi"})
    assert amounts(predicate("PodFitsResources"), one, held) == [
        short("pods", 1, 0, 1),
        short("cpu", 2000, 1000, 4000),
        short("memory", 9 << 30, 8 << 30, 8 << 30),
    ]


def test_ports_names_and_disks_tell_who_has_them() -> None:
    def with_port(number: int, protocol: str) -> dict[str, Any]:
        wanted = {"containerPort": 80, "hostPort": number, "protocol": protocol}
        return {"containers": [{"name": "c", "image": "i", "ports": [wanted]}]}

    taken = info(node(), pod("x", **with_port(53, "TCP")))
    (port,) = amounts(predicate("PodFitsHostPorts"), pod(**with_port(53, "UDP")), taken)
    assert (port["kind"], port["protocol"], port["port"], port["holder"]) == ("port", "UDP", 53, "default/x")
    assert amounts(predicate("HostName"), pod(nodeName="b"), info(node())) == [{"kind": "name", "asked": "b"}]
    disk = {"volumes": [{"name": "v", "awsElasticBlockStore": {"volumeID": "a"}}]}
    held = {"kind": "held", "source": "disk", "name": "v", "holder": "default/x"}
    assert amounts(predicate("NoDiskConflict"), pod(**disk), info(node(), pod("x", **disk))) == [held]


def test_labels_tell_what_is_asked_and_what_the_node_has() -> None:
    held = info(node(labels={"disk": "hdd"}))
    selector = predicate("MatchNodeSelector")
    assert amounts(selector, pod(nodeSelector={"disk": "ssd"}), held) == [
        condition("nodeSelector", "disk", "In", ["ssd"], "hdd")
    ]
    (unread,) = amounts(selector, pod(metadata={"annotations": {ANNOTATION: "{"}}), held)
    assert (unread["source"], unread["value"]) == ("nodeAffinity", None)
    assert unread["error"]
    absent = custom("predicates", {"labelsPresence": {"labels": ["disk"], "presence": False}})
    assert amounts(absent, pod(), held) == [condition("policy", "disk", "DoesNotExist", [], "hdd")]
    present = custom("predicates", {"labelsPresence": {"labels": ["rack"], "presence": True}})
    assert amounts(present, pod(), held) == [condition("policy", "rack", "Exists", [], None)]


def test_a_service_s_pods_and_volumes_tell_the_place_that_they_are_in() -> None:
    web = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
    together = custom("predicates", {"serviceAffinity": {"labels": ["region"]}}, services=[web])
    chosen = pod(labels={"app": "web"}, nodeSelector={"region": "w"})
    assert amounts(together, chosen, info(node(labels={"region": "e"}))) == [
        condition("service", "region", "In", ["w"], "e")
    ]
    claim = {"metadata": {"name": "c", "namespace": "default"}, "spec": {"volumeName": "v"}}
    volume = {"metadata": {"name": "v", "labels": {ZONE: "a"}}, "spec": {}}
    zones = predicate("NoVolumeZoneConflict", persistentvolumes=[volume], persistentvolumeclaims=[claim])
    mounts = pod(volumes=[{"name": "m", "persistentVolumeClaim": {"claimName": "c"}}])
    assert amounts(zones, mounts, info(node(labels={ZONE: "b"}))) == [condition("volume", ZONE, "In", ["a"], "b")]


def test_limits_of_disks_tell_how_many_more_there_may_be() -> None:
    def disks(first: int, count: int) -> dict[str, Any]:
        numbers = range(first, first + count)
        return {"volumes": [{"name": f"v{n}", "gcePersistentDisk": {"pdName": f"d{n}"}} for n in numbers]}

    held = info(node(), pod("x", **disks(0, 15)))
    assert amounts(predicate("MaxGCEPDVolumeCount"), pod(**disks(14, 4)), held) == [
        short("attachable-volumes-gce-pd", 3, 1, 16)
    ]
