"""In-tree volume sources as CSI drivers serve them: driver, handle, and node affinity in the driver's own terms.

Source: `k8s.io/csi-translation-lib`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import msgspec

from scheduler_core.api.pod import Volume
from scheduler_core.api.selectors import NodeSelector, NodeSelectorTerm, SelectorRequirement
from scheduler_core.api.storage import CSINode, PersistentVolume, PersistentVolumeSpec

ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
BETA_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION: Final = "failure-domain.beta.kubernetes.io/region"

ZONE_DELIMITER: Final = "__"
"""Between the zones of a volume that is in several."""


class Counting(Enum):
    """When a node's limit counts an in-tree plugin's volumes as its driver's."""

    ALWAYS = "always"
    """Wherever the node says anything of its drivers: the move to the driver is complete."""
    ANNOUNCED = "announced"
    """Where the CSINode's annotation names the plugin."""
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class InTree:
    """One in-tree volume plugin.

    Attributes:
        plugin: its name, which is also its provisioner's.
        driver: the CSI driver that serves it.
        source: member of `Volume` and `PersistentVolumeSpec` that holds its volumes.
        handle: key of the source that the driver calls a volume by.
        zone: label by which the driver tells zones apart; empty when it has none of its own.
        counting: when nodes' limits count its volumes.
    """

    plugin: str
    driver: str
    source: str
    handle: str
    zone: str = ""
    counting: Counting = Counting.ALWAYS


_IN_TREE: Final = (
    InTree("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "gce_persistent_disk", "pdName", "topology.gke.io/zone"),
    InTree(
        "kubernetes.io/aws-ebs",
        "ebs.csi.aws.com",
        "aws_elastic_block_store",
        "volumeID",
        "topology.ebs.csi.aws.com/zone",
    ),
    InTree(
        "kubernetes.io/azure-disk",
        "disk.csi.azure.com",
        "azure_disk",
        "diskURI",
        "topology.disk.csi.azure.com/zone",
    ),
    InTree(
        "kubernetes.io/cinder",
        "cinder.csi.openstack.org",
        "cinder",
        "volumeID",
        "topology.cinder.csi.openstack.org/zone",
    ),
    InTree(
        "kubernetes.io/portworx-volume", "pxd.portworx.com", "portworx_volume", "volumeID", counting=Counting.ANNOUNCED
    ),
    InTree("kubernetes.io/azure-file", "file.csi.azure.com", "azure_file", "shareName", counting=Counting.NEVER),
    InTree(
        "kubernetes.io/vsphere-volume",
        "csi.vsphere.vmware.com",
        "vsphere_volume",
        "volumePath",
        counting=Counting.NEVER,
    ),
)

_BY_PLUGIN: Final = {one.plugin: one for one in _IN_TREE}


def in_tree_of(holder: Volume | PersistentVolumeSpec) -> InTree | None:
    """Return the in-tree plugin of a volume, None where it has another kind of source."""
    return next((one for one in _IN_TREE if getattr(holder, one.source) is not None), None)


def in_tree_named(plugin: str) -> InTree | None:
    """Return the in-tree plugin of a name, None where there is none."""
    return _BY_PLUGIN.get(plugin)


def handle_of(one: InTree, holder: Volume | PersistentVolumeSpec, labels: Mapping[str, str]) -> str:
    """Return what the driver calls the volume; `labels` are the PersistentVolume's, none for a pod's own volume."""
    source: Mapping[str, Any] = getattr(holder, one.source)
    name = str(source.get(one.handle, ""))
    if one.source == "gce_persistent_disk":
        zones = [zone for zone in labels.get(_zone_label(labels), "").split(ZONE_DELIMITER) if zone]
        if len(zones) > 1:
            return f"projects/UNSPECIFIED/regions/{zones[0].rpartition('-')[0]}/disks/{name}"
        return f"projects/UNSPECIFIED/zones/{zones[0] if zones else 'UNSPECIFIED'}/disks/{name}"
    if one.source == "aws_elastic_block_store" and name.startswith("aws://"):
        return name.rpartition("/")[2]
    return name


def _zone_label(labels: Mapping[str, str]) -> str:
    return BETA_ZONE if BETA_ZONE in labels and ZONE not in labels else ZONE


def translated_affinity(volume: PersistentVolume, csi_node: CSINode | None) -> NodeSelector | None:
    """Return the volume's required node affinity, in the driver's labels where a driver serves it on the node."""
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity is not None else None
    one = in_tree_of(volume.spec)
    if one is None or not one.zone or csi_node is None or not csi_node.has_migrated(one.plugin):
        return required
    terms = required.node_selector_terms if required is not None else ()
    used = {wanted.key for term in terms for wanted in term.match_expressions}
    labels = volume.metadata.labels
    zone = BETA_ZONE if BETA_ZONE in used | labels.keys() and ZONE not in used | labels.keys() else ZONE
    if zone in used:
        renamed = {zone: one.zone, BETA_REGION: REGION} if zone == BETA_ZONE else {zone: one.zone}
        return NodeSelector(node_selector_terms=tuple(_renamed(term, renamed) for term in terms))
    if zone not in labels:
        return required
    here = SelectorRequirement(key=one.zone, operator="In", values=tuple(labels[zone].split(ZONE_DELIMITER)))
    return NodeSelector(
        node_selector_terms=tuple(
            msgspec.structs.replace(term, match_expressions=(*term.match_expressions, here))
            for term in terms or (NodeSelectorTerm(),)
        )
    )


def _renamed(term: NodeSelectorTerm, renamed: Mapping[str, str]) -> NodeSelectorTerm:
    expressions = tuple(
        msgspec.structs.replace(wanted, key=renamed.get(wanted.key, wanted.key)) for wanted in term.match_expressions
    )
    return msgspec.structs.replace(term, match_expressions=expressions)
