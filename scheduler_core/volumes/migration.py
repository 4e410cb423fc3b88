"""In-tree volume sources as CSI drivers serve them: driver, handle, and node affinity in the driver's own terms.

Source: `k8s.io/csi-translation-lib`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final
from urllib.parse import unquote

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
        zone: label by which the driver tells zones apart; empty where a volume's topology is left as it is written.
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
    InTree("kubernetes.io/azure-disk", "disk.csi.azure.com", "azure_disk", "diskURI"),
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


class TranslationError(ValueError):
    """An in-tree volume that its driver cannot serve; the text is upstream's."""


def handle_of(one: InTree, holder: Volume | PersistentVolumeSpec, labels: Mapping[str, str]) -> str:
    """Return what the driver calls the volume; `labels` are the PersistentVolume's, none for a pod's own volume.

    Raises:
        TranslationError: the driver cannot serve it.
    """
    source: Mapping[str, Any] = getattr(holder, one.source)
    name = str(source.get(one.handle, ""))
    if one.source == "gce_persistent_disk":
        return f"projects/UNSPECIFIED/{_place_of_gce_disk(labels)}/disks/{name}"
    if one.source == "aws_elastic_block_store":
        return _ebs_volume_id(name)
    kind = source.get("kind")
    if one.source == "azure_disk" and kind is not None and str(kind).lower() != "managed":
        raise TranslationError(f"kind({kind}) is not supported in csi migration")
    return name


def _place_of_gce_disk(labels: Mapping[str, str]) -> str:
    zones = (labels.get(BETA_ZONE) or labels.get(ZONE) or "").split(ZONE_DELIMITER)
    if len(zones) == 1:
        return f"zones/{zones[0] or 'UNSPECIFIED'}"
    regions = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != 3:
            wanted = "{locale}-{region}-{zone}"
            raise TranslationError(
                f"failed to get region from zones: zone in unexpected format, expected: {wanted}, got: {zone}"
            )
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        got = " ".join(f"{region}:{{}}" for region in sorted(regions))
        raise TranslationError(
            f"failed to get region from zones: multiple or no regions gotten from zones, got: map[{got}]"
        )
    return f"regions/{regions.pop()}"


def _ebs_volume_id(name: str) -> str:
    """Return `vol-…` of `aws://<zone>/vol-…`, `aws:///vol-…` or `vol-…`."""
    if not name.startswith("aws://"):
        return name
    own = unquote(name.removeprefix("aws://").partition("?")[0].partition("#")[0].partition("/")[2]).strip("/")
    if not own.startswith("vol-") or "/" in own:
        raise TranslationError(
            f"failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({name})"
        )
    return own


def translated_affinity(volume: PersistentVolume, csi_node: CSINode | None) -> NodeSelector | None:
    """Return the volume's required node affinity, in the driver's labels where a driver serves it on the node.

    Raises:
        TranslationError: the driver cannot serve it.
    """
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity is not None else None
    one = in_tree_of(volume.spec)
    if one is None or one.counting is Counting.NEVER or csi_node is None or not csi_node.has_migrated(one.plugin):
        return required
    labels = volume.metadata.labels
    try:
        handle_of(one, volume.spec, labels)
    except TranslationError as wrong:
        raise TranslationError(f"could not translate pv: {wrong}") from wrong
    return required if not one.zone else _with_drivers_zone(required, labels, one.zone)


def _with_drivers_zone(
    required: NodeSelector | None, labels: Mapping[str, str], driver_zone: str
) -> NodeSelector | None:
    """Return the affinity with the driver's zone label for Kubernetes' own.

    The affinity's own zones count; where it names none (no expression on the zone, or none with values), those of the
    volume's labels are added.
    """
    terms = required.node_selector_terms if required is not None else ()
    expressions = [wanted for term in terms for wanted in term.match_expressions]
    used = {wanted.key for wanted in expressions}
    said = {wanted.key for wanted in expressions if wanted.values}
    zone = next((key for keys in (used, labels) for key in (ZONE, BETA_ZONE) if key in keys), ZONE)
    renamed = {zone: driver_zone} if zone in said else {}
    if zone == BETA_ZONE and BETA_REGION in said:
        renamed[BETA_REGION] = REGION
    zones = (
        ()
        if zone in said
        else tuple(sorted({one.strip() for one in labels.get(zone, "").split(ZONE_DELIMITER)} - {""}))
    )
    if not renamed and not zones:
        return required
    here = tuple(SelectorRequirement(key=driver_zone, operator="In", values=zones) for _ in range(bool(zones)))
    return NodeSelector(
        node_selector_terms=tuple(
            msgspec.structs.replace(term, match_expressions=(*_renamed(term, renamed), *here))
            for term in terms or (NodeSelectorTerm(),)
        )
    )


def _renamed(term: NodeSelectorTerm, renamed: Mapping[str, str]) -> list[SelectorRequirement]:
    return [
        msgspec.structs.replace(wanted, key=renamed.get(wanted.key, wanted.key)) for wanted in term.match_expressions
    ]
