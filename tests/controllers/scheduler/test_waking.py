"""What a pod that was turned away is told that it waits for: each event that is named moves it, none that is not does.

Each pod is turned away by a cycle of its own in a small cluster. One thing happens then: every kind of event there is,
in the form that helps the pod most where it can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

import pytest

from controllers.cluster import found
from controllers.log.memory import MemoryStore
from controllers.log.operations import Patch
from scheduler_core.framework.events import ClusterEvent, EventResource
from scheduler_core.state.queued import Lane
from tests.controllers.scheduler.plane import Plane

Object = Mapping[str, Any]
Change = tuple[Object | None, Object | None]
"""An object before and after; None: it is not there."""

RESOURCES: Final = {
    "Node": "nodes",
    "Pod": "pods",
    "PersistentVolume": "persistentvolumes",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "StorageClass": "storageclasses.storage.k8s.io",
    "CSINode": "csinodes.storage.k8s.io",
    "CSIDriver": "csidrivers.storage.k8s.io",
    "CSIStorageCapacity": "csistoragecapacities.storage.k8s.io",
    "VolumeAttachment": "volumeattachments.storage.k8s.io",
    "ResourceClaim": "resourceclaims.resource.k8s.io",
    "ResourceSlice": "resourceslices.resource.k8s.io",
    "DeviceClass": "deviceclasses.resource.k8s.io",
}
NAMESPACED: Final = {"Pod", "PersistentVolumeClaim", "CSIStorageCapacity", "ResourceClaim"}

ZONE: Final = "topology.kubernetes.io/zone"
HOST: Final = "kubernetes.io/hostname"
GPU: Final = {"key": "gpu", "effect": "NoSchedule"}
WEB: Final = {"app": "web"}
TAINTS: Final = "NodeNodeTaint"
"""Upstream wakes by any change of taints who hears of new nodes: no plugin hopes for it, and nobody is told."""


def thing(kind: str, name: str, **members: Any) -> dict[str, Any]:
    metadata = {"name": name, "uid": f"uid-{name}", **members.pop("metadata", {})}
    if kind in NAMESPACED:
        metadata["namespace"] = "default"
    return {"kind": kind, "metadata": metadata, **members}


def node(name: str, cpu: str = "4", labels: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    size = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    metadata = {"labels": {HOST: name, **({ZONE: "z1"} if labels is None else labels)}}
    return thing("Node", name, metadata=metadata, spec=spec, status={"allocatable": size, "capacity": size})


def pod(
    name: str, cpu: str = "1", labels: Mapping[str, str] | None = None, port: int = 0, **spec: Any
) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu} if cpu else {}},
                 "ports": [{"containerPort": 80, "hostPort": port}] if port else []}  # fmt: skip
    whole = {"schedulerName": "default-scheduler", "priority": 0, "containers": [container], **spec}
    return thing("Pod", name, metadata={"labels": dict(labels or {})}, spec=whole, status={"phase": "Pending"})


def changed(one: Object, **members: Any) -> dict[str, Any]:
    """Return an object with members of its metadata, spec and status set: `spec__taints=[]`."""
    after = deepcopy(dict(one))
    for path, value in members.items():
        *parents, last = path.split("__")
        place = after
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    return after


def asking(one: Object, cpu: str) -> dict[str, Any]:
    after = deepcopy(dict(one))
    after["spec"]["containers"][0]["resources"]["requests"] = {"cpu": cpu} if cpu else {}
    return after


def claim(name: str = "data", mode: str = "ReadWriteOnce", **spec: Any) -> dict[str, Any]:
    whole = {"accessModes": [mode], "storageClassName": "slow", "resources": {"requests": {"storage": "1Gi"}}, **spec}
    phase = "Bound" if "volumeName" in spec else "Pending"
    return thing("PersistentVolumeClaim", name, metadata={
        "annotations": {"pv.kubernetes.io/bind-completed": "yes"} if "volumeName" in spec else {}
    }, spec=whole, status={"phase": phase})  # fmt: skip


def volume(name: str = "v", labels: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    whole = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "slow", **spec}
    return thing("PersistentVolume", name, metadata={"labels": dict(labels or {})}, spec=whole)


def csi_node(name: str, count: int) -> dict[str, Any]:
    drivers = [{"name": "d", "nodeID": name, "allocatable": {"count": count}}]
    return thing("CSINode", name, spec={"drivers": drivers})


DATA: Final[dict[str, Any]] = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}
SLOW: Final[dict[str, Any]] = thing("StorageClass", "slow", provisioner="kubernetes.io/no-provisioner",
                    volumeBindingMode="WaitForFirstConsumer")  # fmt: skip
DISK: Final[dict[str, Any]] = {"volumes": [{"name": "v", "gcePersistentDisk": {"pdName": "disk"}}]}
INLINE: Final[dict[str, Any]] = {"volumes": [{"name": "v", "csi": {"driver": "d"}}]}


def near(kind: str) -> dict[str, Any]:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": WEB}}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def spread(**members: Any) -> dict[str, Any]:
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
                  "labelSelector": {"matchLabels": WEB}, **members}  # fmt: skip
    return {"topologySpreadConstraints": [constraint]}


def only_on(name: str) -> dict[str, Any]:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
    required = {"nodeSelectorTerms": [term]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


A: Final = node("a")
TWIN: Final = node("twin")


@dataclass(frozen=True)
class Refusal:
    """A pod that is turned away.

    Attributes:
        plugins: by whom.
        me: the pod.
        wakes: the events that are to be named.
        stands: what is there beside it.
        other: another node than `TWIN`, which turns it away as the others do, so that it can be lost.
        profile: of the scheduler's configuration.
    """

    plugins: str
    me: Object
    wakes: str
    stands: Sequence[Object] = (A,)
    other: Object | None = None
    profile: Mapping[str, Any] | None = None

    @property
    def twin(self) -> Object:
        return TWIN if self.other is None else self.other


def using(name: str, *points: str, **arguments: Any) -> dict[str, Any]:
    """Return a profile in which a plugin runs at some points beside the usual ones."""
    return {
        "plugins": {point: {"enabled": [{"name": name}]} for point in points},
        "pluginConfig": [{"name": name, "args": arguments}],
    }


def expression(text: str) -> dict[str, Any]:
    return using("CEL", "preFilter", "filter", filters=[{"name": "mine", "expression": text}])


GROUP: Final = "pod-group.scheduling.sigs.k8s.io"
GANG: Final = {f"{GROUP}/name": "g", f"{GROUP}/min-available": "2"}
OWN_NEWS: Final = "UnschedulablePodPodLabel UnschedulablePodPodScaleDown UnschedulablePodPodTolerations"

HELD: Final = pod("web", labels=WEB, nodeName="a")
FULL: Final = changed(node("a"), status__allocatable={"cpu": "4", "pods": "0"})
FULL_TWIN: Final = changed(node("twin"), status__allocatable={"pods": "0"})

REFUSALS: Final = {
    "too large": Refusal("NodeResourcesFit", pod("me", "6"), "AssignedPodDelete AssignedPodPodScaleDown "
                         "UnschedulablePodPodScaleDown NodeAdd NodeNodeAllocatable"),
    "one too many": Refusal("NodeResourcesFit", pod("me", ""), "AssignedPodDelete NodeAdd NodeNodeAllocatable",
                            [FULL], FULL_TWIN),
    "of another disk": Refusal("NodeAffinity", pod("me", nodeSelector={"disk": "ssd"}), "NodeAdd NodeNodeLabel"),
    "of a node by its name": Refusal("NodeAffinity", pod("me", **only_on("new")), "NodeAdd"),
    "untolerating": Refusal("TaintToleration", pod("me"), "UnschedulablePodPodTolerations NodeAdd NodeNodeTaint",
                            [node("a", taints=[GPU])], node("twin", taints=[GPU])),
    "where all is cordoned": Refusal("NodeUnschedulable", pod("me"),
                                     "UnschedulablePodPodTolerations NodeAdd NodeNodeTaint",
                                     [node("a", unschedulable=True)], node("twin", unschedulable=True)),
    "in want of a port": Refusal("NodePorts", pod("me", port=80), "AssignedPodDelete NodeAdd",
                                 [A, pod("holder", port=80, nodeName="a"),
                                  pod("other", port=80, nodeName="twin")]),
    "lonely": Refusal("InterPodAffinity", pod("me", **near("podAffinity")),
                      "AssignedPodAdd AssignedPodPodLabel NodeAdd NodeNodeLabel"),
    "shy": Refusal("InterPodAffinity", pod("me", **near("podAntiAffinity")),
                   "AssignedPodDelete AssignedPodPodLabel NodeAdd NodeNodeLabel",
                   [A, HELD]),
    "shunned": Refusal("InterPodAffinity", pod("me", labels=WEB), "",
                       [A, pod("hermit", nodeName="a", **near("podAntiAffinity"))]),
    "of a full zone": Refusal("PodTopologySpread", pod("me", labels=WEB, **spread(minDomains=9)),
                              "AssignedPodAdd AssignedPodDelete AssignedPodPodLabel UnschedulablePodPodLabel "
                              "NodeAdd NodeDelete NodeNodeLabel NodeNodeTaint", [A, HELD]),
    "of a full zone, by taints": Refusal(
        "PodTopologySpread", pod("me", labels=WEB, **spread(minDomains=9, nodeTaintsPolicy="Honor")),
        "AssignedPodAdd AssignedPodDelete AssignedPodPodLabel UnschedulablePodPodLabel UnschedulablePodPodTolerations "
        "NodeAdd NodeDelete NodeNodeLabel NodeNodeTaint", [A, HELD]),
    "with a volume elsewhere": Refusal("VolumeBinding", pod("me", **DATA),
        "PersistentVolumeAdd PersistentVolumeUpdate PersistentVolumeClaimAdd PersistentVolumeClaimUpdate "
        "StorageClassAdd StorageClassUpdate NodeAdd NodeNodeLabel CSINodeAdd CSINodeUpdate "
        "CSIStorageCapacityAdd CSIStorageCapacityUpdate", [A, SLOW, claim()]),
    "with a volume of another zone": Refusal("VolumeZone", pod("me", **DATA),
        "PersistentVolumeAdd PersistentVolumeUpdate PersistentVolumeClaimAdd PersistentVolumeClaimUpdate "
        "StorageClassAdd NodeAdd NodeNodeLabel", [A, SLOW, claim(volumeName="v"), volume("v", {ZONE: "z5"})]),
    "with a claim that another has": Refusal("VolumeRestrictions", pod("me", **DATA),
        "AssignedPodDelete PersistentVolumeClaimAdd NodeAdd",
        [A, SLOW, claim(mode="ReadWriteOncePod", volumeName="v"), volume("v"),
         pod("holder", **DATA, nodeName="a")]),
    "with a disk that another has": Refusal("VolumeRestrictions", pod("me", **DISK), "AssignedPodDelete NodeAdd",
        [A, pod("holder", **DISK, nodeName="a"), pod("other", **DISK, nodeName="twin")]),
    "with a volume too many": Refusal("NodeVolumeLimits", pod("me", **DATA),
        "AssignedPodDelete PersistentVolumeClaimAdd CSINodeAdd CSINodeUpdate VolumeAttachmentDelete",
        [A, SLOW, claim(volumeName="v"), volume("v", csi={"driver": "d", "volumeHandle": "h"}),
         csi_node("a", 0), csi_node("twin", 0)]),
    "by an expression about nodes": Refusal("CEL", pod("me"), "UnschedulablePodUpdate NodeAdd NodeUpdate",
        profile=expression("'disk' in node.metadata.labels")),
    "by an expression about their pods": Refusal("CEL", pod("me"),
        "AssignedPodAdd AssignedPodDelete AssignedPodUpdate UnschedulablePodUpdate NodeAdd NodeUpdate",
        profile=expression("pods.size() > 5")),
    "of a group that is not complete": Refusal("Coscheduling", pod("me", labels=GANG),
        "AssignedPodAdd AssignedPodDelete NodeAdd",
        profile=using("Coscheduling", "permit", "reserve", permitWaitingTimeSeconds=1)),
    "that nobody approved": Refusal("ManualApproval", pod("me"), OWN_NEWS,
        profile=using("ManualApproval", "permit", timeoutSeconds=1)),
}  # fmt: skip


def happening(case: Refusal) -> Mapping[str, Sequence[Sequence[Change]]]:
    """Return event → the ways in which it may happen, in the forms that help the most."""
    a, twin, me = case.stands[0], case.twin, case.me
    rich = {"disk": "ssd", ZONE: "z5", HOST: "a"}
    web = pod("passing", labels=WEB, nodeName="nowhere", port=80, **DATA)
    bare = pod("passing", nodeName="nowhere", port=80, **DATA)
    disk = pod("passing", nodeName="nowhere", **DISK)
    asked = me["spec"]["containers"][0]["resources"]["requests"]
    node_ = changed(a, spec__taints=[], spec__unschedulable=False)
    attached = thing("VolumeAttachment", "t", spec={"attacher": "pd.csi.storage.gke.io", "nodeName": "a"})
    capacity = thing("CSIStorageCapacity", "room", storageClassName="slow", capacity="1Gi")
    data = next((one for one in case.stands if one["kind"] == "PersistentVolumeClaim"), claim())
    limited = any(one["kind"] == "CSINode" for one in case.stands)
    driver = thing("CSIDriver", "d", spec={"storageCapacity": True})
    fast = thing("StorageClass", "fast", provisioner="p", volumeBindingMode="WaitForFirstConsumer")
    device = {kind: thing(kind, "dev", spec={}) for kind in ("ResourceClaim", "ResourceSlice", "DeviceClass")}
    return {
        "AssignedPodAdd": [[(None, web)]],
        "AssignedPodDelete": [[(web, None)], [(disk, None)]],
        "AssignedPodPodLabel": [[(web, bare)], [(bare, web)]],
        "AssignedPodPodScaleDown": [[(asking(web, "2"), web)]],
        "AssignedPodPodTolerations": [[(web, changed(web, spec__tolerations=[{"operator": "Exists"}]))]],
        "AssignedPodOther": [[(web, changed(web, metadata__annotations={"k": "v"}))]],
        "UnschedulablePodPodLabel": [[(me, changed(me, metadata__labels={"app": "db"}))],
                                     [(me, changed(me, metadata__labels=WEB | {"k": "v"}))]],
        "UnschedulablePodPodScaleDown": [[(me, asking(me, "10m"))]] if asked else [],
        "UnschedulablePodPodTolerations": [[(me, changed(me, spec__tolerations=[{"operator": "Exists"}]))]],
        "UnschedulablePodOther": [[(me, changed(me, metadata__annotations={"k": "v"}))]],
        "NodeAdd": [[(None, node("new", "64", {ZONE: "z9", "disk": "ssd"}))]],
        "NodeDelete": [[(twin, None)]],
        "NodeNodeAllocatable": [[(a, changed(a, status__allocatable={"cpu": "64", "memory": "8Gi", "pods": "110"}))]],
        "NodeNodeLabel": [[(a, changed(a, metadata__labels=rich))], [(a, changed(a, metadata__labels={HOST: "a"}))]],
        "NodeNodeTaint": [[(a, changed(node_, spec__taints=[{"key": "soft", "effect": "PreferNoSchedule"}]))]],
        "NodeNodeCondition": [[(a, changed(a, status__conditions=[{"type": "Ready", "status": "True"}]))]],
        "NodeNodeAnnotation": [[(a, changed(a, metadata__annotations={"k": "v"}))]],
        "PersistentVolumeAdd": [[(None, volume("more"))]],
        "PersistentVolumeUpdate": [[(volume("more", {ZONE: "z4"}), volume("more", {ZONE: "z1"}))]],
        "PersistentVolumeDelete": [[(volume("more", {ZONE: "z4"}), None)]],
        "PersistentVolumeClaimAdd": [[(data, None), (None, data)]],
        "PersistentVolumeClaimUpdate": [[(data, changed(data, metadata__labels={"k": "v"}))]],
        "PersistentVolumeClaimDelete": [[(data, None)]],
        "StorageClassAdd": [[(None, fast)]],
        "StorageClassUpdate": [[(fast, fast | {"allowedTopologies": [{"matchLabelExpressions": []}]})]],
        "StorageClassDelete": [[(fast, None)]],
        "CSINodeAdd": [[(None, csi_node("a" if not limited else "fresh", 9))]],
        "CSINodeUpdate": [[(csi_node("a", 0), csi_node("a", 9))],
                          [(csi_node("a", 0), changed(csi_node("a", 0), metadata__annotations={
                              "storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/gce-pd"}))]],
        "CSINodeDelete": [[(csi_node("a", 0), None)]],
        "CSIDriverAdd": [[(None, driver)]],
        "CSIDriverUpdate": [[(driver, driver | {"spec": {"storageCapacity": False}})]],
        "CSIDriverDelete": [[(driver, None)]],
        "CSIStorageCapacityAdd": [[(None, capacity)]],
        "CSIStorageCapacityUpdate": [[(capacity, capacity | {"capacity": "9Gi"})]],
        "CSIStorageCapacityDelete": [[(capacity, None)]],
        "VolumeAttachmentAdd": [[(None, attached)]],
        "VolumeAttachmentDelete": [[(attached, None)]],
        **{f"{kind}Add": [[(None, one)]] for kind, one in device.items()},
    }  # fmt: skip


def put(plane: Plane, before: Object | None, after: Object | None) -> None:
    """Write an object as it stands: what the API's rules say about such a change is not asked here."""
    one = after if after is not None else before
    assert one is not None
    place = (RESOURCES[one["kind"]], one["metadata"].get("namespace", ""), one["metadata"]["name"])
    with plane.store.transaction("user:ada", fence=plane.fence) as transaction:
        if after is None:
            transaction.delete(*place)
        else:
            transaction.put(*place, deepcopy(dict(after)))


class Stand:
    """A cluster in which a pod was just turned away, and what its scheduler is told of since."""

    def __init__(self, case: Refusal, changes: Sequence[Change] = ()) -> None:
        store = MemoryStore(seed=7)
        found(store)
        self.plane = Plane(store)
        if case.profile is not None:
            spec = {"era": "v1.34", "configuration": {"profiles": [case.profile]}}
            self.plane.write(Patch("schedulerconfigs.clustersim.io", "", "default", {"spec": spec}))
        there = [before for before, _ in changes[:1] if before is not None and before is not case.me]
        names = [(one["kind"], one["metadata"]["name"]) for one in there]
        for one in (*case.stands, case.twin, *there):
            if one in there or (one["kind"], one["metadata"]["name"]) not in names:
                put(self.plane, None, one)
        self.plane.run(0)
        put(self.plane, None, case.me)
        # Who is held at Permit is turned away when its second there is over.
        self.plane.run(1_000 if case.profile is None else 3_000)
        self.uid = case.me["metadata"]["uid"]
        self.core = self.plane.scheduler.scheduler
        self.heard: set[str] = set()

    def told(self) -> Mapping[str, Any]:
        """Return what the queue's status says of the pod."""
        (told,) = self.plane.queue()["unschedulable"]
        return dict(told)

    def happens(self, changes: Sequence[Change]) -> bool:
        """Let it happen; return whether the pod is to be tried again."""
        move, update = self.core.queue.move, self.core.queue.update
        was = self._place()

        def moving(event: ClusterEvent, *arguments: Any, **more: Any) -> Any:
            self.heard.add(event.name)
            return move(event, *arguments, **more)

        def updating(old: Any, new: Any, events: Iterable[ClusterEvent], now_ms: int) -> None:
            seen = list(events)
            self.heard |= {event.name for event in seen}
            update(old, new, seen, now_ms)

        self.core.queue.move, self.core.queue.update = moving, updating  # type: ignore[method-assign]
        for before, after in changes:
            put(self.plane, before, after)
        self.plane.loop.pull()
        self.plane.run(self.plane.loop.now_ms)
        return self._place() != was

    def _place(self) -> tuple[Lane, int] | None:
        """Return the pod's lane and how often it was tried; None: it is in no lane."""
        queued = self.core.queue.get(self.uid)
        return None if queued is None else (queued.lane, queued.attempts)


_ABOUT: Final = sorted(set(EventResource) - {EventResource.WILDCARD}, key=lambda one: -len(one.value))


def apart(names: Iterable[str]) -> Iterator[str]:
    """Yield the events that a name of several means, one by one."""
    for name in names:
        resource = next(one for one in _ABOUT if name.startswith(one.value))
        for action in name.removeprefix(resource.value).split("|"):
            yield resource.value + action


ANY_UPDATE: Final = {
    "NodeUpdate": "NodeNode",
    "AssignedPodUpdate": ("AssignedPodPod", "AssignedPodOther"),
    "UnschedulablePodUpdate": ("UnschedulablePodPod", "UnschedulablePodOther"),
}
"""How the events begin that are meant where any update of a kind is named that is told by what it updates."""


def meant(named: Iterable[str], happening: Iterable[str]) -> set[str]:
    """Return the events that are named, one by one: an update of what tells its updates apart means each of them."""
    each = list(happening)
    return {one for name in named for one in ([name] if name not in ANY_UPDATE else each)
            if name not in ANY_UPDATE or one.startswith(ANY_UPDATE[name])}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_each_event_that_is_named_moves_the_pod_and_no_other_does(name: str) -> None:
    case = REFUSALS[name]
    told = Stand(case).told()
    assert told["plugins"] == case.plugins.split()
    named = set(apart(told["wakes"]))
    assert named == set(case.wakes.split())
    named = meant(named, happening(case))
    moving: set[str] = set()
    staying: set[str] = set()
    for event, ways in happening(case).items():
        for changes in ways:
            stand = Stand(case, changes)
            assert stand.told()["wakes"] == told["wakes"], (event, stand.told())
            moved = stand.happens(changes)
            assert event in stand.heard or event.startswith(("Resource", "Device")), (event, stand.heard)
            (moving if moved else staying).add(event)
    assert moving - {TAINTS} == named - {TAINTS}
    assert staying >= {event for event, ways in happening(case).items() if ways} - named - {TAINTS}


GATED: Final = {
    "behind a gate": (
        "SchedulingGates",
        pod("me", schedulingGates=[{"name": "mine"}]),
        "UnschedulablePodPodSchedulingGatesEliminated",
    ),
    "without its claim": (
        "DynamicResources",
        pod("me", resourceClaims=[{"name": "gpu", "resourceClaimName": "dev"}]),
        "ResourceClaimAdd",
    ),
}


@pytest.mark.parametrize("name", GATED)
def test_a_pod_that_is_not_let_in_is_moved_by_what_lets_it_in_and_by_nothing_else(name: str) -> None:
    plugin, me, opens = GATED[name]
    case = Refusal(plugin, me, opens)
    ways = dict(happening(case))
    ways["UnschedulablePodPodSchedulingGatesEliminated"] = [[(me, changed(me, spec__schedulingGates=[]))]]
    moving: set[str] = set()
    for event, changes in ((event, one) for event, several in ways.items() for one in several):
        stand = Stand(case, changes)
        (told,) = stand.plane.queue()["gated"]
        assert told["plugin"] == plugin
        if stand.happens(changes):
            moving.add(event)
    assert moving == set(opens.split())


def test_a_pod_that_waits_at_permit_is_moved_by_no_event() -> None:
    approving = using("ManualApproval", "permit", timeoutSeconds=60)
    case = Refusal("ManualApproval", pod("me"), "", profile=approving)
    for event, several in happening(case).items():
        for changes in several:
            stand = Stand(case, changes)
            stand.happens(changes)
            held = [one["uid"] for one in stand.plane.queue()["waiting"]]
            assert held == [stand.uid], event
