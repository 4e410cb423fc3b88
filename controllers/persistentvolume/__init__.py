"""The life of claims and volumes: binding, making and reclaiming volumes, and what keeps both from going too early."""

from typing import Final

from controllers.machinery.manager import ControllerEntry
from controllers.persistentvolume.binder import RESYNC_MS, PersistentVolumeController
from controllers.persistentvolume.protection import ClaimProtection, VolumeProtection
from controllers.persistentvolume.provisioner import VolumeProvisioner

ENTRIES: Final[tuple[ControllerEntry, ...]] = (
    ControllerEntry(
        PersistentVolumeController, PersistentVolumeController.NAME, PersistentVolumeController.RESOURCES, RESYNC_MS
    ),
    ControllerEntry(VolumeProvisioner, VolumeProvisioner.NAME, VolumeProvisioner.RESOURCES),
    ControllerEntry(ClaimProtection, ClaimProtection.NAME, ClaimProtection.RESOURCES),
    ControllerEntry(VolumeProtection, VolumeProtection.NAME, VolumeProtection.RESOURCES),
)
"""This package's lines of the table of controllers."""
