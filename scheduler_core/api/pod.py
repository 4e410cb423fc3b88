"""The typed view of a Pod: what scheduling, the kubelet and the controllers read of it."""

from __future__ import annotations

from msgspec import field

from scheduler_core.api.document import ENDED_PHASES
from scheduler_core.api.meta import ObjectMeta, View
from scheduler_core.api.selectors import LabelSelector, NodeSelector, NodeSelectorTerm

Quantities = dict[str, str | int | float]
"""Resource name → quantity as written."""


class ResourceRequirements(View, frozen=True):
    """v1.ResourceRequirements."""

    requests: Quantities = {}
    limits: Quantities = {}


class ContainerPort(View, frozen=True):
    """v1.ContainerPort."""

    container_port: int = 0
    host_port: int = 0
    host_ip: str = field(name="hostIP", default="")
    protocol: str = ""


class Container(View, frozen=True):
    """v1.Container. An init container with restart policy Always is a sidecar."""

    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""


class Toleration(View, frozen=True):
    """v1.Toleration. The empty operator is Equal; the empty key with Exists tolerates everything."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class PreferredSchedulingTerm(View, frozen=True):
    """v1.PreferredSchedulingTerm."""

    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(View, frozen=True):
    """v1.NodeAffinity."""

    required: NodeSelector | None = field(name="requiredDuringSchedulingIgnoredDuringExecution", default=None)
    preferred: tuple[PreferredSchedulingTerm, ...] = field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default=()
    )


class PodAffinityTerm(View, frozen=True):
    """v1.PodAffinityTerm."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(View, frozen=True):
    """v1.WeightedPodAffinityTerm."""

    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(View, frozen=True):
    """v1.PodAffinity and v1.PodAntiAffinity: they have one shape."""

    required: tuple[PodAffinityTerm, ...] = field(name="requiredDuringSchedulingIgnoredDuringExecution", default=())
    preferred: tuple[WeightedPodAffinityTerm, ...] = field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default=()
    )


class Affinity(View, frozen=True):
    """v1.Affinity."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(View, frozen=True):
    """v1.TopologySpreadConstraint."""

    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class PodSchedulingGate(View, frozen=True):
    """v1.PodSchedulingGate."""

    name: str = ""


class PersistentVolumeClaimSource(View, frozen=True):
    """v1.PersistentVolumeClaimVolumeSource."""

    claim_name: str = ""
    read_only: bool = False


class Volume(View, frozen=True):
    """v1.Volume: its name and, whole, the sources that schedulers look at."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimSource | None = None
    ephemeral: dict[str, object] | None = None
    gce_persistent_disk: dict[str, object] | None = field(name="gcePersistentDisk", default=None)
    aws_elastic_block_store: dict[str, object] | None = field(name="awsElasticBlockStore", default=None)
    rbd: dict[str, object] | None = None
    iscsi: dict[str, object] | None = None
    azure_disk: dict[str, object] | None = None
    azure_file: dict[str, object] | None = None
    cinder: dict[str, object] | None = None
    vsphere_volume: dict[str, object] | None = None
    portworx_volume: dict[str, object] | None = None
    csi: dict[str, object] | None = None

    @property
    def is_placed(self) -> bool:
        """Return whether it has a source that schedulers look at: what is projected into a pod needs no place."""
        return self != Volume(name=self.name)


class PodResourceClaim(View, frozen=True):
    """v1.PodResourceClaim."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSpec(View, frozen=True):
    """v1.PodSpec, what the simulation reads of it."""

    node_name: str = ""
    scheduler_name: str = ""
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    restart_policy: str = ""
    termination_grace_period_seconds: int | None = None
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Quantities = {}
    resources: ResourceRequirements | None = None
    node_selector: dict[str, str] = {}
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    host_network: bool = False


class PodCondition(View, frozen=True):
    """v1.PodCondition."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    last_probe_time: str | None = None


class ContainerStatus(View, frozen=True):
    """v1.ContainerStatus, what resource accounting reads of it."""

    name: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: Quantities = {}


class PodResourceClaimStatus(View, frozen=True):
    """v1.PodResourceClaimStatus: the claim that was generated for an entry of `spec.resourceClaims`."""

    name: str = ""
    resource_claim_name: str | None = None


class PodStatus(View, frozen=True):
    """v1.PodStatus, what the simulation reads of it."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    start_time: str | None = None
    nominated_node_name: str = ""
    conditions: tuple[PodCondition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resources: ResourceRequirements | None = None
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()


class Pod(View, frozen=True):
    """v1.Pod."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def name(self) -> str:
        """Return metadata.name."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """Return metadata.namespace, `default` where it is absent."""
        return self.metadata.namespace or "default"

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.metadata.name}"

    @property
    def uid(self) -> str:
        """Return metadata.uid, or the key where an object has none."""
        return self.metadata.uid or self.key

    @property
    def priority(self) -> int:
        """Return spec.priority, 0 where it is absent."""
        return self.spec.priority or 0

    @property
    def is_terminating(self) -> bool:
        """Return whether deletion has begun."""
        return self.metadata.deletion_timestamp is not None

    @property
    def is_finished(self) -> bool:
        """Return whether the phase is Succeeded or Failed: it holds no resources any more."""
        return self.status.phase in ENDED_PHASES

    @property
    def is_resize_infeasible(self) -> bool:
        """Return whether an in-place resize was found impossible on the pod's node."""
        pending = (condition.reason for condition in self.status.conditions if condition.type == "PodResizePending")
        return next(pending, "") == "Infeasible"
