"""Binds claims and volumes to each other, and says what becomes of volumes whose claim is gone.

Source: pkg/controller/volume/persistentvolume/pv_controller.go (syncClaim, syncVolume), v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from controllers.admission.storage import default_class
from controllers.kit.interest import POD_VOLUMES
from controllers.kit.manager import RESYNC_KEY, Reconcile, Setup, Work, key_of, must, split_key
from controllers.kit.pods import claims_of_pod
from controllers.log.operations import Delete, Operation, Patch
from controllers.log.stamps import wire_time
from controllers.persistentvolume.documents import (
    BETA_PROVISIONER,
    CLAIMS,
    CLASSES,
    PROVISIONED_BY,
    PROVISIONER,
    VOLUMES,
    claim_bound,
    claim_of,
    claim_patch,
    claim_status,
    has_node,
    is_delayed,
    notes_of,
    phase_patch,
    provisioner_of,
    volume_bound,
    volume_of,
    volume_patch,
)
from controllers.persistentvolume.matching import best_volume, mismatch
from scheduler_core.api.document import Document
from scheduler_core.api.storage import BIND_COMPLETED, BOUND_BY_CONTROLLER, CLASS_ANNOTATION
from scheduler_core.volumes.match import NO_PROVISIONER

_DELETABLE: Final = "/tmp/"
"""Where volumes of host paths may be deleted: nobody wants a claim to take a host's own files along."""

_LOST: Final = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
_LOST_NAME: Final = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"
_MISBOUND: Final = "Two claims are bound to the same volume, this one is bound incorrectly"


class PersistentVolumeController:
    """Reconciles `claim <namespace>/<name>` and `volume <name>`."""

    NAME: ClassVar[str] = "persistentvolume"
    RESOURCES: ClassVar[tuple[str, ...]] = (CLAIMS, VOLUMES, CLASSES, "pods")

    def __init__(self, setup: Setup) -> None:
        """Listen to claims and volumes; index pods by the claims that they use."""
        self._claims = setup.informers[CLAIMS]
        self._volumes = setup.informers[VOLUMES]
        self._classes = setup.informers[CLASSES]
        self._pods = setup.informers["pods"]
        self._queue = setup.queue
        self._pods.add_index("claim", claims_of_pod, of=(POD_VOLUMES,))
        self._claims.add_index("waiting", _waiting_for)
        self._claims.add_handler(self._claim_changed)
        self._volumes.add_handler(self._volume_changed)

    def _claim_changed(self, old: Document | None, new: Document | None) -> None:
        claim = new or old
        assert claim is not None, "a change has a state before or after"
        if new is not None:
            self._queue.add(f"claim {key_of(claim)}")
        if claim["spec"].get("volumeName"):
            self._queue.add(f"volume {claim['spec']['volumeName']}")

    def _volume_changed(self, old: Document | None, new: Document | None) -> None:
        volume = new or old
        assert volume is not None, "a change has a state before or after"
        if new is not None:
            self._queue.add(f"volume {key_of(volume)}")
        if new is not None and _phase(new) == "Available" and (old is None or _phase(old) != "Available"):
            # Upstream's claims wait for their next round; here they see at once that there is something to take.
            for claim in self._claims.indexed("waiting", volume_of(new).class_name):
                self._queue.add(f"claim {key_of(claim)}")
        reference = volume["spec"].get("claimRef")
        if reference:
            self._queue.add(f"claim {reference.get('namespace', '')}/{reference.get('name', '')}")

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Move one claim or volume on."""
        if key == RESYNC_KEY:
            for one in self._claims.all():
                if not self._is_settled(one):
                    self._queue.add(f"claim {key_of(one)}")
            return
        what, _, name = key.partition(" ")
        if what == "volume":
            volume = self._volumes.get("", name)
            if volume is not None:
                _tell(work, "volume", volume)
                yield from self._sync_volume(volume, work)
            return
        claim = self._claims.get(*split_key(name))
        if claim is None or "deletionTimestamp" in claim["metadata"]:
            return
        _tell(work, "claim", claim)
        if BIND_COMPLETED in notes_of(claim):
            yield from self._sync_bound(claim, work)
        else:
            yield from self._sync_unbound(claim, work)

    # Claims.

    def _is_settled(self, claim: Document) -> bool:
        """Return whether a claim and its volume name each other: another look would find nothing to do."""
        volume = self._volumes.get("", claim["spec"].get("volumeName") or "")
        if BIND_COMPLETED not in notes_of(claim) or volume is None:
            return False
        return bool((volume["spec"].get("claimRef") or {}).get("uid") == claim["metadata"]["uid"])

    def _class_of(self, claim: Document) -> Document | None:
        name = claim_of(claim).class_name
        return self._classes.get("", name) if name else None

    def _sync_unbound(self, claim: Document, work: Work) -> Reconcile:
        if "storageClassName" not in claim["spec"] and CLASS_ANNOTATION not in notes_of(claim):
            default = default_class(self._classes.all())
            if default is not None:
                # A claim from before there was a default class gets it now.
                yield [claim_patch(claim, {"spec": {"storageClassName": default["metadata"]["name"]}})]
                return
        asked = claim["spec"].get("volumeName")
        if asked:
            yield from self._sync_asking(claim, self._volumes.get("", asked), work)
            return
        delayed = is_delayed(self._class_of(claim))
        found = best_volume(claim, self._volumes.all(), delayed)
        volume = None if found is None else self._volumes.get("", found)
        if volume is not None:
            yield from self._bind(volume, claim, work)
        elif delayed and not has_node(claim):
            self._say_waiting(claim, work)
            yield from _some(claim_status(claim, "Pending"))
        elif claim_of(claim).class_name:
            yield from self._ask_for_volume(claim, work)
        else:
            text = "no persistent volumes available for this claim and no storage class is set"
            work.event(claim, "PersistentVolumeClaim", "FailedBinding", text)
            yield from _some(claim_status(claim, "Pending"))

    def _sync_asking(self, claim: Document, volume: Document | None, work: Work) -> Reconcile:
        """Bind a claim that asks for a volume by name, if it may have it."""
        if volume is not None and not volume["spec"].get("claimRef"):
            why = mismatch(claim, volume)
            if not why:
                yield from self._bind(volume, claim, work)
                return
            text = f'Cannot bind to requested volume "{volume["metadata"]["name"]}": {why}'
            work.event(claim, "PersistentVolumeClaim", "VolumeMismatch", text, event_type="Warning")
        elif volume is not None and volume_of(volume).belongs_to(claim_of(claim)):
            yield from self._bind(volume, claim, work)
            return
        elif volume is not None:
            text = f'volume "{volume["metadata"]["name"]}" already bound to a different claim.'
            work.event(claim, "PersistentVolumeClaim", "FailedBinding", text, event_type="Warning")
        yield from _some(claim_status(claim, "Pending"))

    def _say_waiting(self, claim: Document, work: Work) -> None:
        using = self._pods.indexed("claim", key_of(claim))
        names = [pod["metadata"]["name"] for pod in using if not pod["spec"].get("nodeName")]
        if not names:
            text = "waiting for first consumer to be created before binding"
            work.event(claim, "PersistentVolumeClaim", "WaitForFirstConsumer", text)
            return
        pods = f"pods {','.join(names)}" if len(names) > 1 else f"pod {names[0]}"
        work.event(claim, "PersistentVolumeClaim", "WaitForPodScheduled", f"waiting for {pods} to be scheduled")

    def _ask_for_volume(self, claim: Document, work: Work) -> Reconcile:
        """Name the provisioner that is to make the claim's volume."""
        storage_class = self._class_of(claim)
        if storage_class is None:
            text = f'storageclass.storage.k8s.io "{claim_of(claim).class_name}" not found'
            work.event(claim, "PersistentVolumeClaim", "ProvisioningFailed", text, event_type="Warning")
            return
        provisioner = provisioner_of(storage_class)
        if provisioner == NO_PROVISIONER:
            text = f"no volume plugin matched name: {provisioner}"
            work.event(claim, "PersistentVolumeClaim", "ProvisioningFailed", text, event_type="Warning")
            return
        if notes_of(claim).get(PROVISIONER) != provisioner:
            notes = {PROVISIONER: provisioner, BETA_PROVISIONER: provisioner}
            claim = must((yield [claim_patch(claim, {"metadata": {"annotations": notes}})])[0])
        text = (
            f"Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the "
            "system administrator. If volume creation is delayed, please verify that the provisioner is running and "
            "correctly registered."
        )
        work.event(claim, "PersistentVolumeClaim", "ExternalProvisioning", text)
        yield from _some(claim_status(claim, "Pending"))

    def _sync_bound(self, claim: Document, work: Work) -> Reconcile:
        name = claim["spec"].get("volumeName")
        volume = self._volumes.get("", name) if name else None
        if volume is None:
            yield from self._lose(claim, "ClaimLost", _LOST if name else _LOST_NAME, work)
            return
        reference = volume["spec"].get("claimRef")
        if reference and reference.get("uid") and reference["uid"] != claim["metadata"]["uid"]:
            yield from self._lose(claim, "ClaimMisbound", _MISBOUND, work)
            return
        yield from self._bind(volume, claim, work)

    def _lose(self, claim: Document, reason: str, text: str, work: Work) -> Reconcile:
        patch = claim_status(claim, "Lost")
        if patch is not None:
            work.event(claim, "PersistentVolumeClaim", reason, text, event_type="Warning")
            must((yield [patch])[0])

    def _bind(self, volume: Document, claim: Document, work: Work) -> Reconcile:
        """Bind both sides, volume first: whoever stops in between finds what is left to do."""
        patch = volume_bound(volume, claim)
        if patch is not None:
            volume = must((yield [patch])[0])
        patch = phase_patch(volume, "Bound", wire_time(work.unix_ms))
        if patch is not None:
            volume = must((yield [patch])[0])
        patch = claim_bound(claim, volume)
        if patch is not None:
            claim = must((yield [patch])[0])
        yield from _some(claim_status(claim, "Bound", volume))

    # Volumes.

    def _sync_volume(self, volume: Document, work: Work) -> Reconcile:
        now = wire_time(work.unix_ms)
        reference = volume["spec"].get("claimRef")
        if not reference or not reference.get("uid"):
            yield from _some(phase_patch(volume, "Available", now))
            return
        claim = self._claims.get(reference.get("namespace", ""), reference.get("name", ""))
        if claim is not None and claim["metadata"]["uid"] != reference["uid"]:
            claim = None
        if claim is None:
            yield from self._release(volume, work)
        elif not claim["spec"].get("volumeName"):
            # The claim's own turn completes the binding.
            work.queue.add(f"claim {key_of(claim)}")
        elif claim["spec"]["volumeName"] == volume["metadata"]["name"]:
            yield from _some(phase_patch(volume, "Bound", now))
        elif PROVISIONED_BY in notes_of(volume) and volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
            # It was made for a claim that has got another one.
            yield from self._release(volume, work)
        else:
            yield from self._unbind(volume, work)

    def _unbind(self, volume: Document, work: Work) -> Reconcile:
        """Let a volume go back to what it was before it was bound."""
        patch: Document = {"spec": {"claimRef": {"uid": None}}}
        if BOUND_BY_CONTROLLER in notes_of(volume):
            patch = {"spec": {"claimRef": None}, "metadata": {"annotations": {BOUND_BY_CONTROLLER: None}}}
        volume = must((yield [volume_patch(volume, patch)])[0])
        yield from _some(phase_patch(volume, "Available", wire_time(work.unix_ms)))

    def _release(self, volume: Document, work: Work) -> Reconcile:
        """Say that a volume's claim is gone, and do what its policy asks."""
        now = wire_time(work.unix_ms)
        if _phase(volume) not in ("Released", "Failed"):
            patch = phase_patch(volume, "Released", now)
            if patch is not None:
                volume = must((yield [patch])[0])
        policy = volume["spec"].get("persistentVolumeReclaimPolicy")
        if "deletionTimestamp" in volume["metadata"] or policy not in ("Delete", "Recycle"):
            return
        metadata, path = volume["metadata"], (volume["spec"].get("hostPath") or {}).get("path", "")
        if policy == "Delete":
            if PROVISIONED_BY in notes_of(volume) or "csi" in volume["spec"]:
                # Whoever made it deletes it.
                return
            if path.startswith(_DELETABLE) and path != _DELETABLE:
                yield [Delete(VOLUMES, "", metadata["name"], uid=metadata["uid"])]
                return
            reason = "VolumeFailedDelete"
            text = f"host_path deleter only supports /tmp/.+ but received provided {path}"
            if not path:
                name = metadata["name"]
                text = f'error getting deleter volume plugin for volume "{name}": no deletable volume plugin matched'
        elif path:
            work.event(volume, "PersistentVolume", "VolumeRecycled", "Volume recycled")
            yield from self._unbind(volume, work)
            return
        else:
            reason, text = "VolumeFailedRecycle", "No recycler plugin found for the volume!"
        failed = phase_patch(volume, "Failed", now, text)
        if failed is not None:
            work.event(volume, "PersistentVolume", reason, text, event_type="Warning")
            yield [failed]


def _phase(document: Document) -> str:
    return str((document.get("status") or {}).get("phase") or "")


def _waiting_for(claim: Document) -> Iterable[str]:
    """Index claims that are not bound by the class of volume that they wait for."""
    if BIND_COMPLETED not in notes_of(claim):
        yield notes_of(claim).get(CLASS_ANNOTATION, claim["spec"].get("storageClassName") or "")


def _some(operation: Patch | None) -> Reconcile:
    """Write, if there is something to write; a refusal is tried again."""
    operations: Sequence[Operation] = () if operation is None else (operation,)
    if operations:
        must((yield operations)[0])


def _tell(work: Work, what: str, document: Document) -> None:
    """Say what is known of a claim or volume before it is moved on."""
    spec, phase = document["spec"], (document.get("status") or {}).get("phase")
    partner = spec.get("volumeName") if what == "claim" else (spec.get("claimRef") or {}).get("name")
    reason = f"the {what} has its partner" if partner else f"the {what} has no partner yet"
    work.tell(reason, desired={"partner": partner}, actual={"status.phase": phase})
