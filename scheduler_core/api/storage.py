"""Typed views of storage objects: claims, volumes, classes, and what nodes and drivers say of them."""

from __future__ import annotations

from msgspec import field

from scheduler_core.api.meta import ObjectMeta, View
from scheduler_core.api.pod import Quantities
from scheduler_core.api.selectors import LabelSelector, NodeSelector

CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
"""Older name of `storageClassName`; where it is set it wins."""

SELECTED_NODE = "volume.kubernetes.io/selected-node"
"""On a claim: the node for which its volume is to be made."""

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
"""On a claim: its binding to `volumeName` is done."""

BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
"""On a claim or a volume: a component chose the other side, no person did."""

CLAIM_PROTECTION = "kubernetes.io/pvc-protection"
"""Finalizer of a claim: it stays while a pod uses it."""

VOLUME_PROTECTION = "kubernetes.io/pv-protection"
"""Finalizer of a volume: it stays while a claim is bound to it."""

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
"""On a CSINode: in-tree volume plugins that CSI drivers serve there, separated by commas."""

READ_WRITE_ONCE_POD = "ReadWriteOncePod"
FILESYSTEM = "Filesystem"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"


class VolumeResources(View, frozen=True):
    """v1.VolumeResourceRequirements."""

    requests: Quantities = {}


class PersistentVolumeClaimSpec(View, frozen=True):
    """v1.PersistentVolumeClaimSpec, what the scheduler reads of it."""

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: VolumeResources = VolumeResources()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str = FILESYSTEM
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimStatus(View, frozen=True):
    """v1.PersistentVolumeClaimStatus, what the scheduler reads of it."""

    phase: str = ""


class PersistentVolumeClaim(View, frozen=True):
    """v1.PersistentVolumeClaim."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.metadata.namespace or 'default'}/{self.metadata.name}"

    @property
    def class_name(self) -> str:
        """Return the storage class, empty where the claim names none."""
        return self.metadata.annotations.get(CLASS_ANNOTATION, self.spec.storage_class_name or "")

    @property
    def is_bound(self) -> bool:
        """Return whether binding is done: a volume is named and both sides know."""
        return bool(self.spec.volume_name) and BIND_COMPLETED in self.metadata.annotations

    @property
    def requested(self) -> str | int | float:
        """Return the storage asked for, as written."""
        return self.spec.resources.requests.get("storage", 0)


class CSISource(View, frozen=True):
    """v1.CSIPersistentVolumeSource, what the scheduler reads of it."""

    driver: str = ""
    volume_handle: str = ""


class ClaimReference(View, frozen=True):
    """The claim that a volume is bound to, or kept for."""

    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeNodeAffinity(View, frozen=True):
    """v1.VolumeNodeAffinity."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(View, frozen=True):
    """v1.PersistentVolumeSpec, what the scheduler reads of it. In-tree sources are kept whole."""

    capacity: Quantities = {}
    access_modes: tuple[str, ...] = ()
    storage_class_name: str = ""
    volume_mode: str = FILESYSTEM
    volume_attributes_class_name: str | None = None
    claim_ref: ClaimReference | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CSISource | None = None
    gce_persistent_disk: dict[str, object] | None = None
    aws_elastic_block_store: dict[str, object] | None = None
    azure_disk: dict[str, object] | None = None
    azure_file: dict[str, object] | None = None
    cinder: dict[str, object] | None = None
    vsphere_volume: dict[str, object] | None = None
    portworx_volume: dict[str, object] | None = None


class PersistentVolumeStatus(View, frozen=True):
    """v1.PersistentVolumeStatus, what the scheduler reads of it."""

    phase: str = ""


class PersistentVolume(View, frozen=True):
    """v1.PersistentVolume."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()

    @property
    def class_name(self) -> str:
        """Return the storage class, empty where the volume names none."""
        return self.metadata.annotations.get(CLASS_ANNOTATION, self.spec.storage_class_name)

    def belongs_to(self, claim: PersistentVolumeClaim) -> bool:
        """Return whether the volume is bound to the claim, or kept for it."""
        kept_for = self.spec.claim_ref
        if kept_for is None or kept_for.name != claim.metadata.name:
            return False
        if (kept_for.namespace or "default") != (claim.metadata.namespace or "default"):
            return False
        return not kept_for.uid or kept_for.uid == claim.metadata.uid


class TopologySelectorLabelRequirement(View, frozen=True):
    """v1.TopologySelectorLabelRequirement: the label has one of the values."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(View, frozen=True):
    """v1.TopologySelectorTerm: all its expressions hold."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(View, frozen=True):
    """storage.k8s.io/v1 StorageClass."""

    metadata: ObjectMeta = ObjectMeta()
    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class VolumeNodeResources(View, frozen=True):
    """storage.k8s.io/v1 VolumeNodeResources: how many volumes a driver can attach to the node, None for any number."""

    count: int | None = None


class CSINodeDriver(View, frozen=True):
    """storage.k8s.io/v1 CSINodeDriver."""

    name: str = ""
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(View, frozen=True):
    """storage.k8s.io/v1 CSINodeSpec."""

    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(View, frozen=True):
    """storage.k8s.io/v1 CSINode: which drivers run on the node of the same name."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CSINodeSpec = CSINodeSpec()

    def has_migrated(self, plugin: str) -> bool:
        """Return whether a CSI driver serves the in-tree plugin on this node."""
        return plugin in self.metadata.annotations.get(MIGRATED_PLUGINS, "").split(",")


class CSIDriverSpec(View, frozen=True):
    """storage.k8s.io/v1 CSIDriverSpec, what the scheduler reads of it."""

    storage_capacity: bool = False


class CSIDriver(View, frozen=True):
    """storage.k8s.io/v1 CSIDriver."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(View, frozen=True):
    """storage.k8s.io/v1 CSIStorageCapacity: how much of a class there is where the node topology selects."""

    metadata: ObjectMeta = ObjectMeta()
    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: str | int | float | None = None
    maximum_volume_size: str | int | float | None = None

    @property
    def largest(self) -> str | int | float | None:
        """Return the largest volume that can be made, as written; None where nobody says."""
        return self.capacity if self.maximum_volume_size is None else self.maximum_volume_size


class VolumeAttachmentSource(View, frozen=True):
    """storage.k8s.io/v1 VolumeAttachmentSource."""

    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(View, frozen=True):
    """storage.k8s.io/v1 VolumeAttachmentSpec."""

    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = field(default_factory=VolumeAttachmentSource)


class VolumeAttachment(View, frozen=True):
    """storage.k8s.io/v1 VolumeAttachment."""

    metadata: ObjectMeta = ObjectMeta()
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
