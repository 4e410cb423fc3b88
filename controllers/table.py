"""The table of controllers: one line each, in every controller manager."""

from __future__ import annotations

from typing import Final

from controllers.deployment import DeploymentController
from controllers.disruption import DisruptionController
from controllers.garbagecollector import GarbageCollector
from controllers.kit.manager import ControllerEntry
from controllers.namespace import NamespaceController
from controllers.nodelifecycle import NodeLifecycleController
from controllers.nodelifecycle.controller import MONITOR_MS
from controllers.persistentvolume.binder import RESYNC_MS, PersistentVolumeController
from controllers.persistentvolume.ephemeral import EphemeralVolumes
from controllers.persistentvolume.protection import ClaimProtection, VolumeProtection
from controllers.persistentvolume.provisioner import VolumeProvisioner
from controllers.podgc import PodGCController
from controllers.podgc.controller import CHECK_MS
from controllers.replicaset import ReplicaSetController

CONTROLLERS: Final[tuple[ControllerEntry, ...]] = (
    ControllerEntry(DeploymentController, DeploymentController.NAME, DeploymentController.RESOURCES),
    ControllerEntry(ReplicaSetController, ReplicaSetController.NAME, ReplicaSetController.RESOURCES),
    ControllerEntry(NamespaceController, NamespaceController.NAME, NamespaceController.RESOURCES),
    ControllerEntry(GarbageCollector, GarbageCollector.NAME, GarbageCollector.RESOURCES),
    ControllerEntry(
        NodeLifecycleController, NodeLifecycleController.NAME, NodeLifecycleController.RESOURCES, MONITOR_MS
    ),
    ControllerEntry(PodGCController, PodGCController.NAME, PodGCController.RESOURCES, CHECK_MS),
    ControllerEntry(DisruptionController, DisruptionController.NAME, DisruptionController.RESOURCES),
    ControllerEntry(
        PersistentVolumeController, PersistentVolumeController.NAME, PersistentVolumeController.RESOURCES, RESYNC_MS
    ),
    ControllerEntry(VolumeProvisioner, VolumeProvisioner.NAME, VolumeProvisioner.RESOURCES),
    ControllerEntry(EphemeralVolumes, EphemeralVolumes.NAME, EphemeralVolumes.RESOURCES),
    ControllerEntry(ClaimProtection, ClaimProtection.NAME, ClaimProtection.RESOURCES),
    ControllerEntry(VolumeProtection, VolumeProtection.NAME, VolumeProtection.RESOURCES),
)
