"""The eight predicates of the algorithm provider, each as a table; and what surrounds them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.status import SUCCESS, Status, unresolvable, unschedulable
from scheduler_core.legacy.affinity import ANNOTATION
from scheduler_core.legacy.fit_error import FIT_ERROR_NODES_MAX, fit_error, scheduled_note
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Snapshot
from tests.core.legacy.asking import custom, framework, predicate
from tests.core.objects import info, node, pod
from tests.core.plugins.asking import filtered

OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
OLD_REGION = "failure-domain.beta.kubernetes.io/region"
ZONE = "topology.kubernetes.io/zone"


def ports(*host_ports: int, protocol: str = "TCP", ip: str = "") -> dict[str, Any]:
    listed = [{"containerPort": 80, "hostPort": one, "protocol": protocol, "hostIP": ip} for one in host_ports]
    return {"containers": [{"name": "c", "image": "i", "ports": listed}]}


@pytest.mark.parametrize(
    ("wanted", "taken", "fits"),
    [
        pytest.param(ports(), ports(80), True, id="a pod that wants none fits beside any"),
        pytest.param(ports(8080), ports(80), True, id="two ports"),
        pytest.param(ports(8080), ports(8080), False, id="one port twice"),
        pytest.param(ports(1, 65535), ports(65535), False, id="one of several"),
        pytest.param(ports(0), ports(0), True, id="container ports may be equal"),
        pytest.param(ports(53, protocol="UDP"), ports(53), False, id="the protocol does not tell them apart"),
        pytest.param(ports(53, ip="10.0.0.1"), ports(53, ip="10.0.0.2"), False, id="nor does the address"),
    ],
)
def test_host_ports(wanted: dict[str, Any], taken: dict[str, Any], fits: bool) -> None:
    plugin = predicate("PodFitsHostPorts")
    answer = filtered(plugin, pod(**wanted), info(node(), pod("x", **taken)))
    assert answer == [SUCCESS if fits else unschedulable("PodFitsHostPorts")]
    skips = plugin.pre_filter(CycleState(), pod(**wanted), Snapshot([]))[1].skipped
    assert skips is not any(port["hostPort"] for port in wanted["containers"][0]["ports"])


def test_a_port_is_taken_while_either_of_two_pods_has_it() -> None:
    """Round robin may put two pods of one port on a node; when one of them goes the port is not free."""
    crowded = info(node(), pod("x", **ports(80)), pod("y", **ports(80)))
    crowded.remove_pod("uid-x")
    assert filtered(predicate("PodFitsHostPorts"), pod(**ports(80)), crowded) == [unschedulable("PodFitsHostPorts")]


@pytest.mark.parametrize(
    ("requests", "answer"),
    [
        ({}, SUCCESS),
        ({"cpu": "1"}, SUCCESS),
        ({"cpu": "1", "memory": "4Gi"}, SUCCESS),
        ({"cpu": "1001m"}, unschedulable("Insufficient CPU")),
        ({"cpu": "9", "memory": "9Gi"}, unschedulable("Insufficient CPU")),
        ({"memory": "4097Mi"}, unschedulable("Insufficient Memory")),
        ({"example.com/gpu": "1"}, SUCCESS),
    ],
)
def test_resources(requests: dict[str, str], answer: Status) -> None:
    held = info(node(), pod("x", requests={"cpu": "3", "memory": "4Gi"}))
    assert filtered(predicate("PodFitsResources"), pod(requests=requests), held) == [answer]


def test_the_number_of_pods_comes_first() -> None:
    full = info(node(allocatable={"pods": "1"}), pod("x", requests={"cpu": "4"}))
    short = [unschedulable("Insufficient PodCount")]
    assert filtered(predicate("PodFitsResources"), pod(requests={"cpu": "4"}), full) == short
    assert filtered(predicate("PodFitsResources"), pod(), full) == short


def test_a_pod_that_asks_for_nothing_fits_on_a_node_that_was_given_too_much() -> None:
    over = info(node(), pod("x", requests={"cpu": "9"}))
    assert filtered(predicate("PodFitsResources"), pod(), over) == [SUCCESS]
    assert filtered(predicate("PodFitsResources"), pod(requests={"memory": "1"}), over) == [
        unschedulable("Insufficient CPU")
    ]


def disk(kind: str, **source: Any) -> list[dict[str, Any]]:
    return [{"name": "v", kind: source}]


GCE, EBS = "gcePersistentDisk", "awsElasticBlockStore"


@pytest.mark.parametrize(
    ("mine", "theirs", "fits"),
    [
        pytest.param(disk(GCE, pdName="a"), disk(GCE, pdName="a"), False, id="one GCE disk"),
        pytest.param(disk(GCE, pdName="a"), disk(GCE, pdName="b"), True, id="two GCE disks"),
        pytest.param(
            disk(GCE, pdName="a", readOnly=True), disk(GCE, pdName="a", readOnly=True), True, id="GCE, both read-only"
        ),
        pytest.param(disk(GCE, pdName="a", readOnly=True), disk(GCE, pdName="a"), False, id="GCE, one writes"),
        pytest.param(
            disk(EBS, volumeID="a", readOnly=True),
            disk(EBS, volumeID="a", readOnly=True),
            False,
            id="one EBS disk, even read-only",
        ),
        pytest.param(disk(EBS, volumeID="a"), disk(EBS, volumeID="b"), True, id="two EBS disks"),
        pytest.param(disk(EBS, volumeID="a"), disk(GCE, pdName="a"), True, id="of different kinds"),
        pytest.param(
            disk("rbd", monitors=["m", "n"], pool="p", image="i"),
            disk("rbd", monitors=["n"], pool="p", image="i"),
            False,
            id="one RBD image by a monitor in common",
        ),
        pytest.param(
            disk("rbd", monitors=["m"], pool="p", image="i", readOnly=True),
            disk("rbd", monitors=["m"], pool="p", image="i", readOnly=True),
            False,
            id="one RBD image, even read-only",
        ),
        pytest.param(
            disk("rbd", monitors=["m"], pool="p", image="i"),
            disk("rbd", monitors=["n"], pool="p", image="i"),
            True,
            id="RBD without a monitor in common",
        ),
        pytest.param(
            disk("rbd", monitors=["m"], pool="p", image="i"),
            disk("rbd", monitors=["m"], pool="q", image="i"),
            True,
            id="RBD of another pool",
        ),
        pytest.param(
            disk("rbd", monitors=["m"], pool="p", image="i"),
            disk("rbd", monitors=["m"], pool="p", image="j"),
            True,
            id="another RBD image",
        ),
        pytest.param(disk("iscsi", iqn="a"), disk("iscsi", iqn="a"), True, id="iSCSI came later"),
    ],
)
def test_disks(mine: list[dict[str, Any]], theirs: list[dict[str, Any]], fits: bool) -> None:
    answer = filtered(predicate("NoDiskConflict"), pod(volumes=mine), info(node(), pod("x", volumes=theirs)))
    assert answer == [SUCCESS if fits else unschedulable("NoDiskConflict")]


def claimed(name: str) -> list[dict[str, Any]]:
    return [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]


def storage(**sources: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return a bound claim and its volume for each name; the argument is the volume's labels and sources."""
    volumes = [
        {"metadata": {"name": f"pv-{name}", "labels": of.pop("labels", {})}, "spec": of} for name, of in sources.items()
    ]
    claims = [
        {"metadata": {"name": name, "namespace": "default"}, "spec": {"volumeName": f"pv-{name}"}} for name in sources
    ]
    claims.append({"metadata": {"name": "unbound", "namespace": "default"}, "spec": {}})
    return {"persistentvolumes": volumes, "persistentvolumeclaims": claims}


@pytest.mark.parametrize(
    ("of_volume", "of_node", "fits"),
    [
        pytest.param({OLD_ZONE: "a"}, {}, True, id="a node that says nothing"),
        pytest.param({}, {OLD_ZONE: "a"}, True, id="a volume that says nothing"),
        pytest.param({OLD_ZONE: "a"}, {OLD_ZONE: "a"}, True, id="the same zone"),
        pytest.param({OLD_ZONE: "a"}, {OLD_ZONE: "b"}, False, id="another zone"),
        pytest.param({OLD_ZONE: "a"}, {OLD_ZONE: "a", OLD_REGION: "r"}, True, id="the node may say more"),
        pytest.param({OLD_ZONE: "a", OLD_REGION: "r"}, {OLD_ZONE: "a"}, False, id="the node says less"),
        pytest.param({OLD_ZONE: "a", OLD_REGION: "r"}, {OLD_ZONE: "a", OLD_REGION: "s"}, False, id="another region"),
        pytest.param({OLD_ZONE: "a"}, {ZONE: "a"}, True, id="today's label on the node"),
        pytest.param({ZONE: "a"}, {OLD_ZONE: "b"}, False, id="today's label on the volume"),
        pytest.param({OLD_ZONE: "a"}, {OLD_ZONE: "a", ZONE: "b"}, True, id="the era's label goes before today's"),
        pytest.param({ZONE: "a__b"}, {OLD_ZONE: "b"}, True, id="a volume in two zones"),
    ],
)
def test_volume_zones(of_volume: dict[str, str], of_node: dict[str, str], fits: bool) -> None:
    plugin = predicate("NoVolumeZoneConflict", **storage(c={"labels": of_volume}))
    answer = filtered(plugin, pod(volumes=claimed("c")), info(node(labels=of_node)))
    assert answer == [SUCCESS if fits else unschedulable("NoVolumeZoneConflict")]


def test_an_unbound_claim_matters_only_where_a_node_has_a_zone() -> None:
    plugin = predicate("NoVolumeZoneConflict", **storage())
    assert filtered(plugin, pod(volumes=claimed("unbound")), info(node())) == [SUCCESS]
    with pytest.raises(ValueError, match='PersistentVolumeClaim is not bound: "unbound"'):
        filtered(plugin, pod(volumes=claimed("unbound")), info(node(labels={OLD_ZONE: "a"})))


def term(*expressions: tuple[Any, ...]) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": op, "values": rest} for key, op, *rest in expressions]}


def demand(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def annotated(affinity: dict[str, Any] | str, /, **spec: Any) -> PodInfo:
    text = affinity if isinstance(affinity, str) else json.dumps(affinity)
    return pod(metadata={"annotations": {ANNOTATION: text}}, **spec)


@pytest.mark.parametrize(
    ("one", "fits"),
    [
        pytest.param(pod(nodeSelector={"disk": "ssd"}), True, id="selector"),
        pytest.param(pod(nodeSelector={"disk": "hdd"}), False, id="selector with another value"),
        pytest.param(pod(nodeSelector={"gone": ""}), False, id="selector on a label that is missing"),
        pytest.param(annotated(demand(term(("disk", "In", "hdd", "ssd")))), True, id="In"),
        pytest.param(annotated(demand(term(("disk", "NotIn", "ssd")))), False, id="NotIn"),
        pytest.param(annotated(demand(term(("gone", "NotIn", "ssd")))), True, id="NotIn of a label that is missing"),
        pytest.param(annotated(demand(term(("disk", "Exists")))), True, id="Exists"),
        pytest.param(annotated(demand(term(("disk", "DoesNotExist")))), False, id="DoesNotExist"),
        pytest.param(annotated(demand(term(("cores", "Gt", "7")))), True, id="Gt"),
        pytest.param(annotated(demand(term(("cores", "Gt", "8")))), False, id="Gt of the same number"),
        pytest.param(annotated(demand(term(("cores", "Lt", "9")))), True, id="Lt"),
        pytest.param(annotated(demand(term(("disk", "Lt", "9")))), False, id="Lt of what is no number"),
        pytest.param(
            annotated(demand(term(("disk", "Exists"), ("cores", "Lt", "8")))), False, id="conditions must all hold"
        ),
        pytest.param(
            annotated(demand(term(("cores", "Lt", "8")), term(("disk", "Exists")))), True, id="one term is enough"
        ),
        pytest.param(annotated(demand()), False, id="no terms match nothing"),
        pytest.param(annotated(demand(term())), False, id="an empty term matches nothing"),
        pytest.param(annotated({"nodeAffinity": {}}), True, id="nothing required"),
        pytest.param(annotated({}), True, id="no node affinity"),
        pytest.param(annotated("{"), False, id="no JSON"),
        pytest.param(annotated('{"nodeAffinity": []}'), False, id="another shape"),
        pytest.param(
            annotated(demand(term(("disk", "Exists"))), nodeSelector={"disk": "hdd"}),
            False,
            id="selector and annotation",
        ),
        pytest.param(pod(affinity=demand(term(("disk", "Exists")))), True, id="today's field"),
        pytest.param(
            annotated(demand(term(("disk", "Exists"))), affinity=demand(term(("gone", "Exists")))),
            False,
            id="annotation and field",
        ),
    ],
)
def test_node_selector(one: PodInfo, fits: bool) -> None:
    held = info(node(labels={"disk": "ssd", "cores": "8"}))
    answer = filtered(predicate("MatchNodeSelector"), one, held)
    assert answer == [SUCCESS if fits else unschedulable("MatchNodeSelector")]


def test_two_pods_that_differ_in_the_annotation_alone_are_told_apart() -> None:
    """The annotation is no part of a pod's shape, so nothing may be reused between them."""
    built = framework()
    snapshot = Snapshot([info(node("a", labels={"disk": "ssd"})), info(node("b", labels={"disk": "hdd"}))])
    feasible = []
    for wanted in ("ssd", "hdd"):
        state, one = CycleState(), annotated(demand(term(("disk", "In", wanted))))
        result, _, narrowing = built.run_pre_filter(state, one, snapshot)
        feasible.append(built.run_filter(state, one, snapshot, result, narrowing).feasible.tolist())
    assert feasible == [[0], [1]]


def test_host_name() -> None:
    nodes = info(node("a")), info(node("b"))
    plugin = predicate("HostName")
    assert filtered(plugin, pod(nodeName="b"), *nodes) == [unschedulable("HostName"), SUCCESS]
    assert filtered(plugin, pod(), *nodes) == [SUCCESS, SUCCESS]


@pytest.mark.parametrize(
    ("plugin_name", "kind", "key", "limit"),
    [("MaxEBSVolumeCount", EBS, "volumeID", 39), ("MaxGCEPDVolumeCount", GCE, "pdName", 16)],
)
def test_volume_counts(plugin_name: str, kind: str, key: str, limit: int) -> None:
    def disks(first: int, count: int) -> list[dict[str, Any]]:
        return [{"name": f"v{number}", kind: {key: f"d{number}"}} for number in range(first, first + count)]

    too_many = [unschedulable("MaxVolumeCount")]
    plugin = predicate(plugin_name, **storage(c={kind: {key: "d0"}}, other={kind: {key: "e"}}))
    empty, full = info(node()), info(node(), pod("x", volumes=disks(0, limit)))
    assert filtered(plugin, pod(volumes=disks(0, limit)), empty) == [SUCCESS]
    assert filtered(plugin, pod(volumes=disks(0, limit + 1)), empty) == too_many
    assert filtered(plugin, pod(volumes=disks(limit, 1)), full) == too_many
    assert filtered(plugin, pod(volumes=disks(0, 1)), full) == [SUCCESS]
    assert filtered(plugin, pod(volumes=claimed("c")), full) == [SUCCESS]
    assert filtered(plugin, pod(volumes=claimed("other")), full) == too_many
    lost = info(node(), pod("x", volumes=disks(0, limit - 1)), pod("y", volumes=claimed("gone")))
    assert filtered(plugin, pod(volumes=disks(limit, 1)), lost) == too_many
    assert filtered(plugin, pod(volumes=disk("iscsi", iqn="a")), full) == [SUCCESS]


def test_a_claim_that_leads_nowhere_gives_the_attempt_up() -> None:
    built = framework(**storage())
    snapshot = Snapshot([info(node())])
    _, status, _ = built.run_pre_filter(CycleState(), pod(volumes=claimed("unbound")), snapshot)
    assert status.message == (
        'running PreFilter plugin "MaxEBSVolumeCount": PersistentVolumeClaim is not bound: "unbound"'
    )
    assert not status.rejected


def condition(kind: str, status: str) -> NodeInfo:
    return info(view({"metadata": {"name": "n"}, "status": {"conditions": [{"type": kind, "status": status}]}}, Node))


@pytest.mark.parametrize(
    ("held", "answer"),
    [
        (info(node()), SUCCESS),
        (info(node(unschedulable=True)), unresolvable("Unschedulable")),
        (info(node(taints=[{"key": "k", "effect": "NoSchedule"}])), SUCCESS),
        (condition("Ready", "True"), SUCCESS),
        (condition("Ready", "False"), unresolvable("NotReady")),
        (condition("Ready", "Unknown"), unresolvable("NotReady")),
        (condition("OutOfDisk", "True"), unresolvable("OutOfDisk")),
        (condition("NetworkUnavailable", "True"), unresolvable("NetworkUnavailable")),
        (condition("MemoryPressure", "True"), SUCCESS),
    ],
)
def test_which_nodes_are_listed(held: NodeInfo, answer: Status) -> None:
    assert filtered(predicate("NodeLister"), pod(), held) == [answer]


# What a Policy's arguments make.


@pytest.mark.parametrize(
    ("labels", "presence", "fits"),
    [(["a"], True, True), (["a", "b"], True, False), (["b"], False, True), (["a", "b"], False, False)],
)
def test_labels_presence(labels: list[str], presence: bool, fits: bool) -> None:
    plugin = custom("predicates", {"labelsPresence": {"labels": labels, "presence": presence}})
    answer = filtered(plugin, pod(), info(node(labels={"a": "1"})))
    assert answer == [SUCCESS if fits else unschedulable("CheckNodeLabelPresence")]


def test_service_affinity() -> None:
    web = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
    plugin = custom("predicates", {"serviceAffinity": {"labels": ["region"]}}, services=[web])
    one = pod(labels={"app": "web"})
    west, east = node("west", labels={"region": "w"}), node("east", labels={"region": "e"})
    no = unschedulable("CheckServiceAffinity")
    assert filtered(plugin, one, info(west), info(east)) == [SUCCESS, SUCCESS]
    peer = pod("x", labels={"app": "web"})
    assert filtered(plugin, one, info(west), info(east, peer)) == [no, SUCCESS]
    assert filtered(plugin, pod(labels={"app": "db"}), info(west), info(east, peer)) == [SUCCESS, SUCCESS]
    chosen = pod(labels={"app": "web"}, nodeSelector={"region": "w"})
    assert filtered(plugin, chosen, info(west), info(east, peer)) == [SUCCESS, no]


# Words.


def outcome_of(one: PodInfo, *nodes: NodeInfo) -> Any:
    built, state, snapshot = framework(), CycleState(), Snapshot(nodes)
    result, _, narrowing = built.run_pre_filter(state, one, snapshot)
    return built.run_filter(state, one, snapshot, result, narrowing)


def test_the_fit_error_has_a_line_a_node() -> None:
    big = pod("big", requests={"cpu": "5"}, nodeSelector={"disk": "ssd"})
    nodes = [info(node("b")), info(node("a", labels={"disk": "ssd"})), info(node("off", unschedulable=True))]
    assert fit_error("big", outcome_of(big, *nodes)) == (
        "pod (big) failed to fit in any node\n"
        "fit failure on node (a): Insufficient CPU\n"
        "fit failure on node (b): Insufficient CPU\n"
    )
    assert fit_error("big", outcome_of(big, info(node("off", unschedulable=True)))) == (
        "no nodes available to schedule pods"
    )
    many = [info(node(f"n{number:02}")) for number in range(FIT_ERROR_NODES_MAX + 3)]
    lines = fit_error("big", outcome_of(big, *many)).splitlines()
    assert (len(lines), lines[-1]) == (FIT_ERROR_NODES_MAX + 2, "fit failure on 3 more nodes")


def test_the_scheduled_note_leaves_the_namespace_out() -> None:
    assert scheduled_note("default", "web", "n1") == "Successfully assigned web to n1"
