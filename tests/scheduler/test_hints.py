"""Which change of the cluster wakes a pod that a plugin turned away: through the scheduler's own event handlers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.framework.events import ActionType, ClusterEvent, EventResource
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.changes import pod_changes
from scheduler_core.state.queued import Lane
from tests.scheduler.kit import node, pod, scheduler

Change = Callable[[Scheduler], None]

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


# Changes.


def new_node(**metadata: Any) -> Change:
    return lambda core: core.observe_node(node("new", **metadata))


def changed_node(before: Node, after: Node) -> Change:
    def change(core: Scheduler) -> None:
        core.observe_node(after)

    change.before = lambda core: core.observe_node(before)  # type: ignore[attr-defined]
    return change


def gone_node(before: Node) -> Change:
    def change(core: Scheduler) -> None:
        core.remove_node(before.name)

    change.before = lambda core: core.observe_node(before)  # type: ignore[attr-defined]
    return change


def new_pod(info: PodInfo) -> Change:
    return lambda core: core.observe_pod(info)


def changed_pod(before: PodInfo, after: PodInfo) -> Change:
    def change(core: Scheduler) -> None:
        core.observe_pod(after)

    change.before = lambda core: core.observe_pod(before)  # type: ignore[attr-defined]
    return change


def emptied_node(before: Node) -> Change:
    """A node goes while a pod is still on it."""

    def prepare(core: Scheduler) -> None:
        core.observe_node(before)
        core.observe_pod(pod("left", on=before.name))

    def change(core: Scheduler) -> None:
        core.remove_node(before.name)

    change.before = prepare  # type: ignore[attr-defined]
    return change


def gone_pod(before: PodInfo) -> Change:
    def change(core: Scheduler) -> None:
        core.remove_pod(before.uid)

    change.before = lambda core: core.observe_pod(before)  # type: ignore[attr-defined]
    return change


def other(resource: EventResource, action: ActionType, old: Any, new: Any) -> Change:
    return lambda core: core.observe_other(ClusterEvent(resource, action), old, new)


ADD, UPDATE, DELETE = ActionType.ADD, ActionType.UPDATE, ActionType.DELETE
CLAIM, VOLUME = EventResource.PERSISTENT_VOLUME_CLAIM, EventResource.PERSISTENT_VOLUME
CLASS, CSI_NODE = EventResource.STORAGE_CLASS, EventResource.CSI_NODE
DRIVER, CAPACITY = EventResource.CSI_DRIVER, EventResource.CSI_STORAGE_CAPACITY


def named(name: str, **fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default"}, **fields}


def csi_node(count: int | None, annotation: str = "") -> dict[str, Any]:
    drivers = [] if count is None else [{"name": "d", "allocatable": {"count": count}}]
    return {"metadata": {"name": "a", "annotations": {
        "storage.alpha.kubernetes.io/migrated-plugins": annotation}}, "spec": {"drivers": drivers}}  # fmt: skip


def bare(name: str, taints: list[dict[str, Any]] | None = None, cordoned: bool = False, **metadata: Any) -> Node:
    spec = {"taints": taints or [], "unschedulable": cordoned}
    size = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    return view({"metadata": {"name": name, **metadata}, "spec": spec, "status": {"allocatable": size}}, Node)


# Pods that wait.

PLAIN = pod("me", "2")
TAINT = {"key": "t", "effect": "NoSchedule"}
CORDON = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}
TOLERANT = pod("me", "2", spec={"tolerations": [CORDON]})
PORTED = {"containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}]}
OTHER_PORT = {"containers": [{"name": "c", "ports": [{"containerPort": 81, "hostPort": 81}]}]}
CHOOSY = pod("me", spec={"nodeSelector": {"disk": "ssd"}})
UNREADABLE = pod("me", spec={"nodeSelector": {"disk": "ssd"}, "affinity": {"nodeAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["-x"]}]}]}}}})  # fmt: skip
FREE = pod("me", "2", spec={"containers": [{"name": "c", "resources": {"requests": {"cpu": "2", "a.b/c": "0"}}}]})
WEB = {"labelSelector": {"matchLabels": {"app": "web"}}}
SPREAD = {"topologySpreadConstraints": [
    {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", **WEB}]}  # fmt: skip
SPREADING = pod("me", spec=SPREAD)
NEAR = pod("me", spec={"affinity": {"podAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ZONE, **WEB}]}}})  # fmt: skip
AWAY = pod("me", spec={"affinity": {"podAntiAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ZONE, **WEB}]}}})  # fmt: skip
VOLUMES = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}
CLAIMING = pod("me", spec=VOLUMES)
MADE = pod("me", spec={"volumes": [{"name": "v", "ephemeral": {}}]})
INLINE = pod("me", spec={"volumes": [{"name": "v", "csi": {"driver": "d"}}]})


def running(name: str = "x", cpu: str = "1", *, app: str = "", **extra: Any) -> PodInfo:
    metadata = {"labels": {"app": app}} if app else {}
    return pod(name, cpu, on="a", metadata=metadata, **extra)


INFEASIBLE = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}


def given(has: str, *, cpu: str = "1", **extra: Any) -> PodInfo:
    """Return a running pod that its kubelet has given so much, whatever it asks for."""
    told = {"name": "c", "resources": {"requests": {"cpu": has}}}
    return running(cpu=cpu, status={"containerStatuses": [told], **extra})


def hoping(**spec: Any) -> PodInfo:
    """Return a pod without a node that is nominated to one; it goes to another scheduler, and so counts here."""
    return pod("x", spec=spec, status={"nominatedNodeName": "a"})


TABLE: list[tuple[str, str, PodInfo, Change, bool]] = [
    ("NodeName", "a node comes", PLAIN, new_node(), True),
    ("NodeName", "a node changes labels", PLAIN, changed_node(bare("a"), bare("a", labels={"k": "v"})), False),
    ("NodeUnschedulable", "an open node comes", PLAIN, new_node(), True),
    ("NodeUnschedulable", "a cordoned node comes", PLAIN, lambda core: core.observe_node(bare("a", cordoned=True)),
     False),
    ("NodeUnschedulable", "a node is uncordoned", PLAIN, changed_node(bare("a", cordoned=True), bare("a")), True),
    ("NodeUnschedulable", "a node is cordoned", PLAIN, changed_node(bare("a"), bare("a", cordoned=True)), False),
    ("NodeUnschedulable", "the pod tolerates it now", PLAIN, lambda core: core.observe_pod(TOLERANT), True),
    ("NodeUnschedulable", "the pod tolerates something else", PLAIN,
     lambda core: core.observe_pod(pod("me", "2", spec={"tolerations": [{"key": "z", "operator": "Exists"}]})), False),
    ("TaintToleration", "a node without taints comes", PLAIN, new_node(), True),
    ("TaintToleration", "a tainted node comes", PLAIN, lambda core: core.observe_node(bare("a", [TAINT])), False),
    ("TaintToleration", "a taint goes", PLAIN, changed_node(bare("a", [TAINT]), bare("a")), True),
    ("TaintToleration", "one taint of two goes", PLAIN,
     changed_node(bare("a", [TAINT, TAINT | {"key": "u"}]), bare("a", [TAINT])), False),
    ("TaintToleration", "the pod gains a toleration", PLAIN, lambda core: core.observe_pod(TOLERANT), True),
    ("TaintToleration", "a toleration becomes another", TOLERANT,
     lambda core: core.observe_pod(pod("me", "2", spec={"tolerations": [CORDON | {"key": "other"}]})), False),
    ("NodeAffinity", "a node that matches comes", CHOOSY, new_node(labels={"disk": "ssd"}), True),
    ("NodeAffinity", "a node that does not comes", CHOOSY, new_node(labels={"disk": "hdd"}), False),
    ("NodeAffinity", "a label makes a node match", CHOOSY,
     changed_node(bare("a"), bare("a", labels={"disk": "ssd"})), True),
    ("NodeAffinity", "a node matched before", CHOOSY,
     changed_node(bare("a", labels={"disk": "ssd"}), bare("a", labels={"disk": "ssd", "k": "v"})), False),
    ("NodeAffinity", "a node that suits but for a term that cannot be read", UNREADABLE,
     new_node(labels={"disk": "ssd"}), True),
    ("NodeAffinity", "a node that fails before such a term is asked", UNREADABLE,
     new_node(labels={"disk": "hdd"}), False),
    ("NodePorts", "a pod with the port goes", pod("me", spec=PORTED), gone_pod(running(spec=PORTED)), True),
    ("NodePorts", "a pod with another goes", pod("me", spec=PORTED), gone_pod(running(spec=OTHER_PORT)), False),
    ("NodePorts", "a nominated pod with the port goes", pod("me", spec=PORTED), gone_pod(hoping(**PORTED)), True),
    ("NodePorts", "a node comes", pod("me", spec=PORTED), new_node(), True),
    ("NodeResourcesFit", "a pod goes", PLAIN, gone_pod(running()), True),
    ("NodeResourcesFit", "a nominated pod goes", PLAIN, gone_pod(hoping()), True),
    ("NodeResourcesFit", "a pod comes", PLAIN, new_pod(running()), False),
    ("NodeResourcesFit", "a pod shrinks in what is asked", PLAIN, changed_pod(running(cpu="2"), running()), True),
    ("NodeResourcesFit", "a smaller pod is given less", PLAIN, changed_pod(given("2"), given("1")), True),
    ("NodeResourcesFit", "a pod is told of what it asks for", PLAIN, changed_pod(running(), given("1")), False),
    ("NodeResourcesFit", "a pod is given more", PLAIN, changed_pod(given("2"), given("3")), False),
    ("NodeResourcesFit", "a pod that cannot be resized gives up what it hoped for", PLAIN,
     changed_pod(given("1", cpu="3"), given("1", cpu="3", conditions=[INFEASIBLE])), True),
    ("NodeResourcesFit", "a node's taints change", PLAIN, changed_node(bare("a"), bare("a", [TAINT])), True),
    ("NodeResourcesFit", "a node is cordoned", PLAIN, changed_node(bare("a"), bare("a", cordoned=True)), False),
    ("NodeResourcesFit", "a node is uncordoned", PLAIN, changed_node(bare("a", cordoned=True), bare("a")), True),
    ("NodeResourcesFit", "a pod grows", PLAIN, changed_pod(running(), running(cpu="2")), False),
    ("NodeResourcesFit", "the pod itself shrinks", PLAIN, lambda core: core.observe_pod(pod("me", "1")), True),
    ("NodeResourcesFit", "the pod itself drops a request of 0", FREE, lambda core: core.observe_pod(PLAIN), True),
    ("NodeResourcesFit", "a large node comes", PLAIN, lambda core: core.observe_node(node("a", "4")), True),
    ("NodeResourcesFit", "a small node comes", PLAIN, lambda core: core.observe_node(node("a", "1")), False),
    ("NodeResourcesFit", "a node grows enough", PLAIN, changed_node(node("a", "1"), node("a", "2")), True),
    ("NodeResourcesFit", "a node shrinks", PLAIN, changed_node(node("a", "4"), node("a", "2")), False),
    ("NodeResourcesFit", "a label changes", PLAIN, changed_node(bare("a"), bare("a", labels={"k": "v"})), False),
    ("PodTopologySpread", "a counted pod goes", SPREADING, gone_pod(running(app="web")), True),
    ("PodTopologySpread", "another pod goes", SPREADING, gone_pod(running(app="db")), False),
    ("PodTopologySpread", "a counted pod comes", SPREADING, new_pod(running(app="web")), True),
    ("PodTopologySpread", "a pod begins to count", SPREADING, changed_pod(running(), running(app="web")), True),
    ("PodTopologySpread", "a node with the key comes", SPREADING, new_node(labels={ZONE: "z"}), True),
    ("PodTopologySpread", "a node without it comes", SPREADING, new_node(), False),
    ("PodTopologySpread", "a node with the key goes", SPREADING, gone_node(bare("a", labels={ZONE: "z"})), True),
    ("PodTopologySpread", "a node with the key goes before its pods", SPREADING,
     emptied_node(bare("a", labels={ZONE: "z"})), True),
    ("PodTopologySpread", "a node without it goes before its pods", SPREADING, emptied_node(bare("a")), False),
    ("PodTopologySpread", "its taints change", SPREADING,
     changed_node(bare("a", labels={ZONE: "z"}), bare("a", [TAINT], labels={ZONE: "z"})), True),
    ("InterPodAffinity", "a wanted pod comes", NEAR, new_pod(running(app="web")), True),
    ("InterPodAffinity", "another pod comes", NEAR, new_pod(running(app="db")), False),
    ("InterPodAffinity", "a pod becomes wanted", NEAR, changed_pod(running(), running(app="web")), True),
    ("InterPodAffinity", "an unwanted pod goes", AWAY, gone_pod(running(app="web")), True),
    ("InterPodAffinity", "another pod goes", AWAY, gone_pod(running(app="db")), False),
    ("InterPodAffinity", "a pod ceases to be unwanted", AWAY, changed_pod(running(app="web"), running()), True),
    ("InterPodAffinity", "a node in a place comes", NEAR, new_node(labels={ZONE: "z"}), True),
    ("InterPodAffinity", "a node in none comes", NEAR, new_node(), False),
    ("InterPodAffinity", "a node comes where others do not want the pod", PLAIN, new_node(labels={ZONE: "z"}), False),
    ("InterPodAffinity", "a node moves to another place", NEAR,
     changed_node(bare("a", labels={ZONE: "y"}), bare("a", labels={ZONE: "z"})), True),
    ("InterPodAffinity", "a node leaves a wanted place", NEAR,
     changed_node(bare("a", labels={ZONE: "z"}), bare("a")), False),
    ("InterPodAffinity", "a node leaves an unwanted place", AWAY,
     changed_node(bare("a", labels={ZONE: "z"}), bare("a")), True),
    ("InterPodAffinity", "a node comes to an unwanted place", AWAY,
     changed_node(bare("a"), bare("a", labels={ZONE: "z"})), False),
    ("VolumeRestrictions", "a pod with the claim goes", CLAIMING, gone_pod(running(spec=VOLUMES)), True),
    ("VolumeRestrictions", "another pod goes", CLAIMING, gone_pod(running()), False),
    ("VolumeRestrictions", "a node comes", CLAIMING, new_node(), True),
    ("VolumeRestrictions", "the claim comes", CLAIMING, other(CLAIM, ADD, None, named("c")), True),
    ("VolumeRestrictions", "another claim comes", CLAIMING, other(CLAIM, ADD, None, named("d")), False),
    ("NodeVolumeLimits", "a pod with volumes goes", CLAIMING, gone_pod(running(spec=VOLUMES)), True),
    ("NodeVolumeLimits", "a pod without any goes", CLAIMING, gone_pod(running()), False),
    ("NodeVolumeLimits", "a limit rises", CLAIMING, other(CSI_NODE, UPDATE, csi_node(1), csi_node(2)), True),
    ("NodeVolumeLimits", "a limit falls", CLAIMING, other(CSI_NODE, UPDATE, csi_node(2), csi_node(1)), False),
    ("NodeVolumeLimits", "a driver goes", CLAIMING, other(CSI_NODE, UPDATE, csi_node(2), csi_node(None)), False),
    ("NodeVolumeLimits", "a driver with a limit comes", CLAIMING,
     other(CSI_NODE, UPDATE, csi_node(None), csi_node(2)), True),
    ("NodeVolumeLimits", "a CSINode comes", CLAIMING, other(CSI_NODE, ADD, None, csi_node(None)), True),
    ("NodeVolumeLimits", "the claim comes", CLAIMING, other(CLAIM, ADD, None, named("c")), True),
    ("VolumeBinding", "the claim changes", CLAIMING, other(CLAIM, UPDATE, named("c"), named("c", spec={})), True),
    ("VolumeBinding", "another claim changes", CLAIMING, other(CLAIM, UPDATE, named("d"), named("d")), False),
    ("VolumeBinding", "a volume comes", CLAIMING, other(VOLUME, ADD, None, named("v")), True),
    ("VolumeBinding", "a class comes", CLAIMING, other(CLASS, ADD, None, named("s")), True),
    ("VolumeBinding", "a class changes otherwise", CLAIMING, other(CLASS, UPDATE, named("s"), named("s")), False),
    ("VolumeBinding", "a node's labels change", CLAIMING,
     changed_node(bare("a"), bare("a", labels={"k": "v"})), True),
    ("VolumeBinding", "a class names no topologies in so many words", CLAIMING,
     other(CLASS, UPDATE, named("s"), named("s", allowedTopologies=[])), False),
    ("VolumeBinding", "a node's taints change", CLAIMING, changed_node(bare("a", [TAINT]), bare("a")), True),
    ("VolumeBinding", "a CSINode's limit rises", CLAIMING, other(CSI_NODE, UPDATE, csi_node(1), csi_node(2)), False),
    ("VolumeBinding", "a plugin is migrated", CLAIMING,
     other(CSI_NODE, UPDATE, csi_node(1), csi_node(1, "kubernetes.io/gce-pd")), True),
    ("VolumeBinding", "a CSINode gains an empty list of migrated plugins", CLAIMING,
     other(CSI_NODE, UPDATE, named("a", spec={"drivers": []}), csi_node(None)), False),
    ("VolumeBinding", "room for larger volumes", CLAIMING,
     other(CAPACITY, UPDATE, named("k", capacity="1Gi"), named("k", capacity="2Gi")), True),
    ("VolumeBinding", "less room", CLAIMING,
     other(CAPACITY, UPDATE, named("k", capacity="2Gi"), named("k", capacity="1Gi")), False),
    ("VolumeBinding", "more room, but no larger volumes", CLAIMING,
     other(CAPACITY, UPDATE, named("k", capacity="2Gi", maximumVolumeSize="1Gi"),
           named("k", capacity="4Gi", maximumVolumeSize="1Gi")), False),
    ("VolumeBinding", "its driver stops reporting capacity", INLINE,
     other(DRIVER, UPDATE, named("d", spec={"storageCapacity": True}), named("d", spec={})), True),
    ("VolumeBinding", "another driver does", INLINE,
     other(DRIVER, UPDATE, named("e", spec={"storageCapacity": True}), named("e", spec={})), False),
    ("VolumeZone", "a late class comes", CLAIMING,
     other(CLASS, ADD, None, named("s", volumeBindingMode="WaitForFirstConsumer")), True),
    ("VolumeZone", "an immediate class comes", CLAIMING,
     other(CLASS, ADD, None, named("s", volumeBindingMode="Immediate")), False),
    ("VolumeZone", "a claim of the pod changes", CLAIMING, other(CLAIM, UPDATE, named("c"), named("c")), True),
    ("VolumeZone", "a claim that is made for the pod changes", MADE,
     other(CLAIM, UPDATE, named("me-v"), named("me-v")), False),
    ("VolumeZone", "a volume's zone changes", CLAIMING,
     other(VOLUME, UPDATE, named("v"), {"metadata": {"name": "v", "labels": {ZONE: "z"}}}), True),
    ("VolumeZone", "a volume changes otherwise", CLAIMING, other(VOLUME, UPDATE, named("v"), named("v")), False),
    ("VolumeZone", "a node changes labels", CLAIMING, changed_node(bare("a"), bare("a", labels={"k": "v"})), True),
    ("DefaultPreemption", "a pod goes", PLAIN, gone_pod(running()), False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("plugin", "info", "change", "wakes"),
    [(plugin, info, change, wakes) for plugin, _, info, change, wakes in TABLE],
    ids=[f"{plugin}: {what}" for plugin, what, *_ in TABLE],
)
def test_what_wakes_a_pod_that_a_plugin_turned_away(plugin: str, info: PodInfo, change: Change, wakes: bool) -> None:
    core = scheduler()
    before = getattr(change, "before", None)
    if before is not None:
        before(core)
    core.observe_pod(info)
    queued = core.queue.take(info.uid, 1, 0)
    assert queued is not None
    queued.unschedulable_plugins = frozenset({plugin})
    assert core.queue.put_back(queued, 0) is Lane.UNSCHEDULABLE
    change(core)
    assert queued.lane is (Lane.BACKOFF if wakes else Lane.UNSCHEDULABLE)


@pytest.mark.parametrize(
    ("plugin", "info", "change", "wakes"),
    [(plugin, info, change, wakes) for plugin, _, info, change, wakes in TABLE],
    ids=[f"{plugin}: {what}" for plugin, what, *_ in TABLE],
)
def test_a_change_during_the_attempt_counts_as_much(plugin: str, info: PodInfo, change: Change, wakes: bool) -> None:
    core = scheduler()
    before = getattr(change, "before", None)
    if before is not None:
        before(core)
    core.observe_pod(info)
    queued = core.queue.take(info.uid, 1, 0)
    assert queued is not None
    change(core)
    queued.unschedulable_plugins = frozenset({plugin})
    assert core.queue.put_back(queued, 0) is (Lane.BACKOFF if wakes else Lane.UNSCHEDULABLE)


@pytest.mark.parametrize(
    ("plugin", "info", "change", "wakes"),
    [(plugin, info, change, wakes) for plugin, _, info, change, wakes in TABLE],
    ids=[f"{plugin}: {what}" for plugin, what, *_ in TABLE],
)
def test_only_what_is_told_to_wake_a_pod_wakes_it(plugin: str, info: PodInfo, change: Change, wakes: bool) -> None:
    core = scheduler()
    before = getattr(change, "before", None)
    if before is not None:
        before(core)
    core.observe_pod(info)
    queued = core.queue.take(info.uid, 1, 0)
    assert queued is not None
    queued.unschedulable_plugins = frozenset({plugin})
    core.queue.put_back(queued, 0)
    named = core.wakes(queued)
    happened: list[ClusterEvent] = []
    move, update = core.queue.move, core.queue.update

    def moving(event: ClusterEvent, *arguments: Any, **more: Any) -> Any:
        happened.append(event)
        return move(event, *arguments, **more)

    def updating(old: Any, new: Any, events: Iterable[ClusterEvent], now_ms: int) -> None:
        happened.extend(seen := list(events))
        update(old, new, seen, now_ms)

    core.queue.move, core.queue.update = moving, updating  # type: ignore[method-assign]
    change(core)
    told = any(one.covers(event) for one in named for event in happened)
    taints = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)
    if wakes:
        # Upstream wakes for any taint who hears of new nodes; that gives nobody hope.
        assert told or taints in happened
    elif not told:
        assert queued.lane is Lane.UNSCHEDULABLE


def test_a_pod_that_nothing_fits_is_told_what_wakes_it_and_nothing_else() -> None:
    core = scheduler()
    core.observe_pod(PLAIN)
    queued = core.queue.take(PLAIN.uid, 1, 0)
    assert queued is not None
    queued.unschedulable_plugins = frozenset({"NodeResourcesFit"})
    assert [event.name for event in core.wakes(queued)] == [
        "AssignedPodDelete|PodScaleDown", "UnschedulablePodPodScaleDown", "NodeAdd|NodeAllocatable",
    ]  # fmt: skip
    queued.unschedulable_plugins = frozenset({"NodeResourcesFit", "TaintToleration", "DefaultPreemption"})
    assert core.wakes(queued)[2].name == "NodeAdd|NodeAllocatable|NodeTaint"


def test_every_plugin_that_can_turn_a_pod_away_is_in_the_table() -> None:
    framework = scheduler().configuration.frameworks["default-scheduler"]
    plugins = {name for name, events in framework.events_to_register().items() if events}
    points = set(framework.profile.at("filter")) | set(framework.profile.at("postFilter"))
    # Pods with claims and gates never get past PreEnqueue: test_queue has the gates.
    assert (plugins & points) - {"DynamicResources"} <= {plugin for plugin, *_ in TABLE}


def test_what_wakes_a_pod_is_told_with_the_likeliest_first() -> None:
    core = scheduler()
    core.observe_pod(CLAIMING)
    queued = core.queue.take(CLAIMING.uid, 1, 0)
    assert queued is not None
    queued.unschedulable_plugins = frozenset(
        {"VolumeBinding", "NodeResourcesFit", "TaintToleration", "InterPodAffinity"}
    )
    core.queue.put_back(queued, 0)
    told = [event.resource for event in core.wakes(queued)]
    assert told[:3] == [EventResource.ASSIGNED_POD, EventResource.UNSCHEDULED_POD, EventResource.NODE]
    assert told == [resource for resource in EventResource if resource in told]


def test_a_pod_whose_claims_are_named_in_its_status_has_changed() -> None:
    told = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "me-gpu"}]}
    assert [event.name for event in pod_changes(pod("me"), pod("me", status=told))] == [
        "UnschedulablePodPodGeneratedResourceClaim"
    ]
