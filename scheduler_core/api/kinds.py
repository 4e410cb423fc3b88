"""The table of kinds: one line a kind. Everything that lists, routes, validates or discovers kinds reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Subresource = Literal["status", "scale", "binding", "eviction", "log"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: how it is called on the wire and which schema its documents have.

    `schema` names a class as `<module>.<class>` in the generated models (`core_v1.Pod`) or in this project's own
    (`clustersim_v1.Clock`).
    """

    kind: str
    group: str
    version: str
    plural: str
    singular: str
    short_names: tuple[str, ...]
    namespaced: bool
    subresources: tuple[Subresource, ...]
    categories: tuple[str, ...]
    schema: str

    @property
    def resource(self) -> str:
        """Return the group resource: `pods`, `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        """Return what documents carry as apiVersion: `v1`, `apps/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version


CLUSTERSIM_GROUP: Final = "clustersim.io"
"""The group of command objects: clock, replicas, scheduler configuration, replays."""

_OWN: Final = CLUSTERSIM_GROUP
_LEASES: Final = "coordination.k8s.io"
_PRIORITY: Final = "scheduling.k8s.io"
_STORAGE: Final = "storage.k8s.io"
_ALL: Final = ("all",)
_COMMANDS: Final = ("clustersim",)

# fmt: off
KINDS: Final[tuple[Kind, ...]] = (
    Kind("Namespace", "", "v1", "namespaces", "namespace", ("ns",), False, ("status",), (), "core_v1.Namespace"),
    Kind("Node", "", "v1", "nodes", "node", ("no",), False, ("status",), (), "core_v1.Node"),
    Kind("Pod", "", "v1", "pods", "pod", ("po",), True, ("status", "binding", "eviction", "log"), _ALL, "core_v1.Pod"),
    Kind("Service", "", "v1", "services", "service", ("svc",), True, ("status",), _ALL, "core_v1.Service"),
    Kind("ServiceAccount", "", "v1", "serviceaccounts", "serviceaccount", ("sa",), True, (), (),
         "core_v1.ServiceAccount"),
    Kind("ConfigMap", "", "v1", "configmaps", "configmap", ("cm",), True, (), (), "core_v1.ConfigMap"),
    Kind("ResourceQuota", "", "v1", "resourcequotas", "resourcequota", ("quota",), True, ("status",), (),
         "core_v1.ResourceQuota"),
    Kind("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims", "persistentvolumeclaim", ("pvc",), True,
         ("status",), (), "core_v1.PersistentVolumeClaim"),
    Kind("PersistentVolume", "", "v1", "persistentvolumes", "persistentvolume", ("pv",), False, ("status",), (),
         "core_v1.PersistentVolume"),
    Kind("ReplicationController", "", "v1", "replicationcontrollers", "replicationcontroller", ("rc",), True,
         ("status", "scale"), _ALL, "core_v1.ReplicationController"),
    Kind("Event", "", "v1", "events", "event", ("ev",), True, (), (), "core_v1.Event"),
    Kind("ReplicaSet", "apps", "v1", "replicasets", "replicaset", ("rs",), True, ("status", "scale"), _ALL,
         "apps_v1.ReplicaSet"),
    Kind("Deployment", "apps", "v1", "deployments", "deployment", ("deploy",), True, ("status", "scale"), _ALL,
         "apps_v1.Deployment"),
    Kind("StatefulSet", "apps", "v1", "statefulsets", "statefulset", ("sts",), True, ("status", "scale"), _ALL,
         "apps_v1.StatefulSet"),
    Kind("PodDisruptionBudget", "policy", "v1", "poddisruptionbudgets", "poddisruptionbudget", ("pdb",), True,
         ("status",), (), "policy_v1.PodDisruptionBudget"),
    Kind("StorageClass", _STORAGE, "v1", "storageclasses", "storageclass", ("sc",), False, (), (),
         "storage_v1.StorageClass"),
    Kind("CSINode", _STORAGE, "v1", "csinodes", "csinode", (), False, (), (), "storage_v1.CSINode"),
    Kind("CSIDriver", _STORAGE, "v1", "csidrivers", "csidriver", (), False, (), (), "storage_v1.CSIDriver"),
    Kind("CSIStorageCapacity", _STORAGE, "v1", "csistoragecapacities", "csistoragecapacity", (), True, (), (),
         "storage_v1.CSIStorageCapacity"),
    Kind("VolumeAttachment", _STORAGE, "v1", "volumeattachments", "volumeattachment", (), False, ("status",), (),
         "storage_v1.VolumeAttachment"),
    Kind("PriorityClass", _PRIORITY, "v1", "priorityclasses", "priorityclass", ("pc",), False, (), (),
         "scheduling_v1.PriorityClass"),
    Kind("Lease", _LEASES, "v1", "leases", "lease", (), True, (), (), "coordination_v1.Lease"),
    Kind("Clock", _OWN, "v1", "clocks", "clock", (), False, ("status",), _COMMANDS, "clustersim_v1.Clock"),
    Kind("Replica", _OWN, "v1", "replicas", "replica", (), False, ("status",), _COMMANDS, "clustersim_v1.Replica"),
    Kind("Queue", _OWN, "v1", "queues", "queue", (), False, ("status",), _COMMANDS, "clustersim_v1.Queue"),
    Kind("SchedulerConfig", _OWN, "v1", "schedulerconfigs", "schedulerconfig", (), False, ("status",), _COMMANDS,
         "clustersim_v1.SchedulerConfig"),
    Kind("Replay", _OWN, "v1", "replays", "replay", (), False, ("status",), _COMMANDS, "clustersim_v1.Replay"),
)
# fmt: on

_BY_RESOURCE: Final = {kind.resource: kind for kind in KINDS}
_BY_KIND: Final = {(kind.api_version, kind.kind): kind for kind in KINDS}


def kind_of(resource: str) -> Kind:
    """Return the kind of a group resource such as `pods` or `deployments.apps`.

    Raises:
        KeyError: no such resource.
    """
    return _BY_RESOURCE[resource]


def by_kind(api_version: str, kind: str) -> Kind:
    """Return the kind that documents with this apiVersion and kind have.

    Raises:
        KeyError: no such kind.
    """
    return _BY_KIND[(api_version, kind)]


def find_resource(resource: str) -> Kind | None:
    """Return the kind of a group resource, or None."""
    return _BY_RESOURCE.get(resource)


def find_kind(api_version: str, kind: str) -> Kind | None:
    """Return the kind with this apiVersion and kind, or None."""
    return _BY_KIND.get((api_version, kind))
