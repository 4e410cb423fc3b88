"""The volume behind a pod's claim, as the era's predicates looked it up."""

from __future__ import annotations

from typing import Final

from scheduler_core.api.pod import PersistentVolumeClaimSource
from scheduler_core.api.storage import PersistentVolume
from scheduler_core.volumes.objects import StorageObjects


class ClaimError(ValueError):
    """A claim that leads to no volume: the era's scheduler gave the attempt up with this text."""


UNNAMED: Final = 'PersistentVolumeClaim had no name: ""'


def volume_of(objects: StorageObjects, namespace: str, source: PersistentVolumeClaimSource) -> PersistentVolume:
    """Return the volume that a claim is bound to.

    Raises:
        ClaimError: the claim has no name or is not bound.
        MissingError: claim or volume do not exist.
    """
    if not source.claim_name:
        raise ClaimError(UNNAMED)
    claim = objects.claim(namespace, source.claim_name)
    if not claim.spec.volume_name:
        raise ClaimError(f'PersistentVolumeClaim is not bound: "{source.claim_name}"')
    return objects.volume(claim.spec.volume_name)
