"""What a session starts with: nodes and workloads as data, one `Template` each.

Nodes are descriptions with the labels that a cloud would set; workloads are Deployments, whose pods the cluster's own
controllers make, so that opening a large session writes few objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from clustersim.classroom.systempods import system_objects
from controllers.kinds.coordination.apiservers import STATIC_PODS
from scheduler_core.api.document import Document

PODS_PER_NODE: Final = "110"
"""Kubelet's default limit of pods on a node."""

TEACHING_PACE_MS: Final = 250
"""Simulated milliseconds at each extension point in small templates: slow enough to follow with the eye."""

GPU_RESOURCE: Final = "nvidia.com/gpu"
GPU_TAINT: Final = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
MASTER_TAINT: Final = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
ZONE_LABEL: Final = "topology.kubernetes.io/zone"


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """`count` equal nodes; `{n}` in the name counts from `first`."""

    count: int
    cpu: int
    memory_gib: int
    zone: str = ""
    name: str = "n{n}"
    first: int = 1
    gpus: int = 0
    taints: tuple[Mapping[str, str], ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    static_pods: tuple[str, ...] = ()
    """Components of the control plane that run on each, from files of its kubelet."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A Deployment of `replicas` equal pods."""

    name: str
    replicas: int
    cpu: str
    memory: str
    image: str
    spread_zones: bool = False
    gpus: int = 0
    tolerates_gpu: bool = False


@dataclass(frozen=True, slots=True)
class Template:
    """A way to start: how many replicas the control plane has, the pace, the nodes, the workloads."""

    name: str
    title: str
    pace: int = TEACHING_PACE_MS
    replicas: int = 1
    nodes: tuple[NodeGroup, ...] = ()
    workloads: tuple[Workload, ...] = ()
    system: bool = False
    """Whether kube-proxy and the cluster's DNS run in kube-system."""
    documents: tuple[Document, ...] = ()
    """What else there is, as it is."""
    scheduler: Document | None = None
    """What its scheduler is told to be; None: today's, as it comes."""
    paused: bool = False

    def objects(self) -> Iterator[Document]:
        """Yield the documents to create, nodes first."""
        if self.nodes:
            yield storage_class()
        for group in self.nodes:
            for number in range(group.first, group.first + group.count):
                yield node(group, group.name.format(n=number))
        if self.system:
            yield from system_objects()
        for workload in self.workloads:
            yield deployment(workload)
        yield from self.documents


def storage_class() -> Document:
    """Return the class of volumes that claims get which name none."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "standard", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "volumes.clustersim.io",
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def node(group: NodeGroup, name: str) -> Document:
    """Return one node of a group, as its kubelet would register it."""
    resources = {
        "cpu": str(group.cpu),
        "memory": f"{group.memory_gib}Gi",
        "ephemeral-storage": "100Gi",
        "pods": PODS_PER_NODE,
    }
    if group.gpus:
        resources[GPU_RESOURCE] = str(group.gpus)
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        **({ZONE_LABEL: group.zone, "topology.kubernetes.io/region": "local"} if group.zone else {}),
        **group.labels,
    }
    metadata: Document = {"name": name, "labels": labels}
    if group.static_pods:
        metadata["annotations"] = {STATIC_PODS: ",".join(group.static_pods)}
    spec: Document = {"taints": [dict(taint) for taint in group.taints]} if group.taints else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": spec,
        "status": {"capacity": resources, "allocatable": dict(resources)},
    }


def deployment(workload: Workload) -> Document:
    """Return a workload's Deployment in the namespace `default`."""
    labels = {"app": workload.name}
    requests = {"cpu": workload.cpu, "memory": workload.memory}
    resources: Document = {"requests": requests}
    if workload.gpus:
        # An extended resource is asked for by its limit; requests and limits of it are always equal.
        gpus = {GPU_RESOURCE: str(workload.gpus)}
        resources = {"requests": {**requests, **gpus}, "limits": gpus}
    pod: Document = {"containers": [{"name": workload.name, "image": workload.image, "resources": resources}]}
    if workload.tolerates_gpu:
        pod["tolerations"] = [{"key": "gpu", "operator": "Equal", "value": "true", "effect": "NoSchedule"}]
    if workload.spread_zones:
        pod["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": ZONE_LABEL,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": labels},
            }
        ]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": workload.name, "namespace": "default", "labels": labels},
        "spec": {
            "replicas": workload.replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def _zoned(nodes: int, zones: int, cpu: int, memory_gib: int) -> tuple[NodeGroup, ...]:
    """Return `nodes` nodes in equal runs over `zones` zones named zone-a, zone-b and so on."""
    run = nodes // zones
    return tuple(
        NodeGroup(run, cpu, memory_gib, zone=f"zone-{'abcdefgh'[place]}", first=place * run + 1)
        for place in range(zones)
    )


_SHAPES: Final = (
    ("web", "250m", "256Mi"),
    ("api", "500m", "512Mi"),
    ("cart", "200m", "384Mi"),
    ("batch", "800m", "1Gi"),
)


def _crowd(workloads: int, replicas: int) -> tuple[Workload, ...]:
    """Return `workloads` Deployments of four shapes in turn."""
    found = []
    for number in range(workloads):
        name, cpu, memory = _SHAPES[number % len(_SHAPES)]
        image = f"registry.example/{name}:1.0"
        found.append(Workload(f"{name}-{number // len(_SHAPES) + 1}", replicas, cpu, memory, image))
    return tuple(found)


_WEB: Final = Workload("web", 3, "500m", "512Mi", "nginx:1.27")
_API: Final = Workload("api", 2, "300m", "256Mi", "registry.example/api:2.1")
_REDIS: Final = Workload("redis", 1, "250m", "1Gi", "redis:7.4")

TEMPLATES: Final[Mapping[str, Template]] = {
    template.name: template
    for template in (
        Template("empty", "Empty"),
        Template("three-nodes", "Three nodes", nodes=(NodeGroup(3, 4, 8),), workloads=(_WEB, _API, _REDIS)),
        Template(
            "gpu-lab",
            "GPU lab",
            nodes=(
                NodeGroup(9, 4, 8, name="plain-{n}"),
                NodeGroup(6, 8, 64, name="gpu-{n}", gpus=2, labels={"accelerator": "gpu"}),
            ),
            workloads=(
                Workload("train", 6, "2", "8Gi", "registry.example/train:1.4", gpus=1),
                Workload("web", 6, "500m", "512Mi", "nginx:1.27"),
            ),
        ),
        Template(
            "ha",
            "High availability",
            replicas=3,
            nodes=(NodeGroup(3, 4, 8),),
            workloads=(Workload("web", 4, "500m", "512Mi", "nginx:1.27"),),
        ),
        Template(
            "two-masters",
            "Two masters",
            replicas=2,
            nodes=(
                NodeGroup(
                    2,
                    4,
                    8,
                    name="master-{n}",
                    taints=(MASTER_TAINT,),
                    labels={"node-role.kubernetes.io/control-plane": ""},
                    static_pods=("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"),
                ),
                NodeGroup(3, 4, 8, name="worker-{n}"),
            ),
            workloads=(Workload("web", 3, "500m", "512Mi", "nginx:1.27"),),
            system=True,
        ),
        Template(
            "zones",
            "Zones and spreading",
            nodes=(
                NodeGroup(4, 4, 8, zone="zone-a"),
                NodeGroup(4, 4, 8, zone="zone-b", first=5),
                NodeGroup(1, 8, 16, zone="zone-c", first=9),
                NodeGroup(1, 4, 8, zone="zone-c", first=10),
                NodeGroup(2, 8, 64, zone="zone-c", first=11, gpus=2, taints=(GPU_TAINT,)),
            ),
            workloads=(
                Workload("web", 6, "500m", "512Mi", "nginx:1.27", spread_zones=True),
                Workload("api", 4, "300m", "256Mi", "registry.example/api:2.1", spread_zones=True),
                Workload("cart", 3, "400m", "512Mi", "registry.example/cart:1.0"),
                Workload("redis", 2, "250m", "1Gi", "redis:7.4"),
                Workload("batch", 4, "800m", "1Gi", "registry.example/batch:3.0"),
                Workload("train", 2, "2", "8Gi", "registry.example/train:1.4", gpus=1, tolerates_gpu=True),
            ),
        ),
        Template("nodes-100", "100 nodes", pace=0, nodes=_zoned(100, 4, 8, 16), workloads=_crowd(20, 50)),
        Template("nodes-1000", "1,000 nodes", pace=0, nodes=_zoned(1000, 5, 8, 16), workloads=_crowd(20, 500)),
    )
}
"""By name, in the order of the home page."""

IMPORT: Final = "import"
"""The name of the template that is a file: an empty cluster with the file's objects applied."""
