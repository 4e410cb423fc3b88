"""What upstream publishes to stand for a field that is left out: defaults of its OpenAPI, by which list keys go, too.

Source: +default in the types of k8s.io/api and k8s.io/apimachinery v0.34, k8s.io/kube-openapi/pkg/generators.
"""

from __future__ import annotations

from typing import Any, Final

ZEROS: Final[dict[str, Any]] = {"string": "", "integer": 0, "number": 0, "boolean": False}
"""What Go writes of a scalar that nobody has set."""

DEFAULTS: Final[dict[tuple[str, str], Any]] = {
    ("apps_v1.StatefulSetOrdinals", "start"): 0,
    ("autoscaling_v1.ScaleSpec", "replicas"): 0,
    ("core_v1.AzureDiskVolumeSource", "cachingMode"): "ReadWrite",
    ("core_v1.AzureDiskVolumeSource", "fsType"): "ext4",
    ("core_v1.AzureDiskVolumeSource", "kind"): "Shared",
    ("core_v1.AzureDiskVolumeSource", "readOnly"): False,
    ("core_v1.ConfigMapEnvSource", "name"): "",
    ("core_v1.ConfigMapKeySelector", "name"): "",
    ("core_v1.ConfigMapProjection", "name"): "",
    ("core_v1.ConfigMapVolumeSource", "name"): "",
    ("core_v1.ContainerPort", "protocol"): "TCP",
    ("core_v1.FileKeySelector", "optional"): False,
    ("core_v1.GRPCAction", "service"): "",
    ("core_v1.ISCSIPersistentVolumeSource", "iscsiInterface"): "default",
    ("core_v1.ISCSIVolumeSource", "iscsiInterface"): "default",
    ("core_v1.LocalObjectReference", "name"): "",
    ("core_v1.NodeRuntimeHandler", "name"): "",
    ("core_v1.RBDPersistentVolumeSource", "keyring"): "/etc/ceph/keyring",
    ("core_v1.RBDPersistentVolumeSource", "pool"): "rbd",
    ("core_v1.RBDPersistentVolumeSource", "user"): "admin",
    ("core_v1.RBDVolumeSource", "keyring"): "/etc/ceph/keyring",
    ("core_v1.RBDVolumeSource", "pool"): "rbd",
    ("core_v1.RBDVolumeSource", "user"): "admin",
    ("core_v1.ReplicationControllerSpec", "minReadySeconds"): 0,
    ("core_v1.ReplicationControllerSpec", "replicas"): 1,
    ("core_v1.ScaleIOPersistentVolumeSource", "fsType"): "xfs",
    ("core_v1.ScaleIOPersistentVolumeSource", "storageMode"): "ThinProvisioned",
    ("core_v1.ScaleIOVolumeSource", "fsType"): "xfs",
    ("core_v1.ScaleIOVolumeSource", "storageMode"): "ThinProvisioned",
    ("core_v1.SecretEnvSource", "name"): "",
    ("core_v1.SecretKeySelector", "name"): "",
    ("core_v1.SecretProjection", "name"): "",
    ("core_v1.ServicePort", "protocol"): "TCP",
    ("flowcontrol_v1.QueuingConfiguration", "handSize"): 0,
    ("flowcontrol_v1.QueuingConfiguration", "queueLengthLimit"): 0,
    ("flowcontrol_v1.QueuingConfiguration", "queues"): 0,
    ("meta_v1.APIGroup", "preferredVersion"): {},
    ("resource_v1.DeviceToleration", "operator"): "Equal",
}
"""(struct, optional field) → the default that upstream publishes of it in so many words."""

UNSAID: Final = frozenset(
    {
        ("core_v1.ContainerRestartRule", "action"),
        ("core_v1.ContainerRestartRuleOnExitCodes", "operator"),
        ("core_v1.PodCertificateProjection", "keyType"),
        ("core_v1.PodCertificateProjection", "signerName"),
        ("networking_v1.ParentReference", "name"),
        ("networking_v1.ParentReference", "resource"),
    }
)
"""(struct, required field) of which it publishes none."""
