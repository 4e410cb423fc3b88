"""The hollow provisioner: makes, grows and deletes volumes for every class but those without a provisioner.

What it does is what the CSI sidecars do for real drivers (external-provisioner, external-resizer): after a while there
is a volume, where the class, the chosen node and the driver's topology say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from controllers.kit.manager import Reconcile, Setup, Work, key_of, must, split_key
from controllers.log.operations import Create, Delete
from controllers.persistentvolume.documents import (
    CLAIMS,
    CLASSES,
    PROVISIONED_BY,
    PROVISIONER,
    VOLUMES,
    claim_of,
    claim_patch,
    claim_status,
    is_delayed,
    notes_of,
    provisioner_of,
    volume_patch,
)
from scheduler_core.api.document import Document
from scheduler_core.api.draw import draw
from scheduler_core.api.meta import view
from scheduler_core.api.quantity import nano
from scheduler_core.api.storage import SELECTED_NODE, StorageClass
from scheduler_core.volumes.match import NO_PROVISIONER, can_provision
from scheduler_core.volumes.migration import ZONE

CSI_NODES: Final = "csinodes.storage.k8s.io"

MAKING_MS: Final = 2_000
MAKING_JITTER_MS: Final = 2_000
"""How long a volume takes to be made or to grow: cloud disks take a few seconds."""

DELETING_MS: Final = 1_000
"""How long a volume takes to be deleted."""

_CLAIM: Final = "PersistentVolumeClaim"


class VolumeProvisioner:
    """Reconciles `claim <namespace>/<name>` and `volume <name>`."""

    NAME: ClassVar[str] = "volume-provisioner"
    RESOURCES: ClassVar[tuple[str, ...]] = (CLAIMS, VOLUMES, CLASSES, CSI_NODES, "nodes")

    def __init__(self, setup: Setup) -> None:
        """Listen to claims and volumes."""
        self._claims = setup.informers[CLAIMS]
        self._volumes = setup.informers[VOLUMES]
        self._classes = setup.informers[CLASSES]
        self._csi_nodes = setup.informers[CSI_NODES]
        self._nodes = setup.informers["nodes"]
        self._queue = setup.queue
        self._due_ms: dict[str, int] = {}
        """Key → when what was begun for it is done."""
        self._claims.add_handler(lambda old, new: self._changed("claim", old, new))
        self._volumes.add_handler(lambda old, new: self._changed("volume", old, new))

    def _changed(self, what: str, old: Document | None, new: Document | None) -> None:
        document = new or old
        assert document is not None, "a change has a state before or after"
        self._queue.add(f"{what} {key_of(document)}")

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Make a claim's volume, let it grow, or delete a volume that is not needed any more."""
        what, _, name = key.partition(" ")
        if what == "volume":
            work.tell("released: deleted if its policy says so", desired={"volumes": None}, actual={"volumes": name})
            yield from self._delete(key, self._volumes.get("", name), work)
            return
        claim = self._claims.get(*split_key(name))
        bound = "" if claim is None else str(claim["spec"].get("volumeName") or "")
        work.tell(
            "bound: it may grow" if bound else "a volume is made if its class asks for it",
            desired={"spec.resources": None if claim is None else claim["spec"].get("resources")},
            actual={"spec.volumeName": bound},
        )
        if claim is None or "deletionTimestamp" in claim["metadata"]:
            self._due_ms.pop(key, None)
        elif bound:
            yield from self._grow(key, claim, work)
        else:
            yield from self._make(key, claim, work)

    def _is_due(self, key: str, takes_ms: int, work: Work) -> bool | None:
        """Return whether what was begun is done; None: it begins now."""
        due_ms = self._due_ms.get(key)
        if due_ms is None:
            self._due_ms[key] = work.now_ms + takes_ms
            work.queue.add_at(key, work.now_ms + takes_ms)
            return None
        if work.now_ms < due_ms:
            return False
        del self._due_ms[key]
        return True

    def _taking_ms(self, claim: Document, work: Work) -> int:
        uid = claim["metadata"]["uid"]
        return MAKING_MS + draw(work.tick.seed, "provision", uid, below=MAKING_JITTER_MS)

    # Making.

    def _make(self, key: str, claim: Document, work: Work) -> Reconcile:
        asked = notes_of(claim).get(PROVISIONER)
        storage_class = self._classes.get("", claim_of(claim).class_name)
        if not asked or storage_class is None or provisioner_of(storage_class) != asked or asked == NO_PROVISIONER:
            return
        node_name = notes_of(claim).get(SELECTED_NODE, "")
        delayed = is_delayed(storage_class)
        if delayed and not node_name:
            return
        due = self._is_due(key, self._taking_ms(claim, work), work)
        if due is None:
            text = f'External provisioner is provisioning volume for claim "{key_of(claim)}"'
            work.event(claim, _CLAIM, "Provisioning", text)
        if not due:
            return
        node = self._nodes.get("", node_name) if delayed else None
        why = self._why_not(storage_class, node_name, node) if delayed else ""
        if why:
            text = f'failed to provision volume with StorageClass "{storage_class["metadata"]["name"]}": {why}'
            work.event(claim, _CLAIM, "ProvisioningFailed", text, event_type="Warning")
            # The scheduler is to choose again.
            must((yield [claim_patch(claim, {"metadata": {"annotations": {SELECTED_NODE: None}}})])[0])
            return
        volume = self._volume_for(claim, storage_class, node, work)
        results = yield [Create(VOLUMES, "", volume)]
        if results[0].error is not None and results[0].error.code != 409:
            must(results[0])
        name = volume["metadata"]["name"]
        work.event(claim, _CLAIM, "ProvisioningSucceeded", f"Successfully provisioned volume {name}")

    @staticmethod
    def _why_not(storage_class: Document, node_name: str, node: Document | None) -> str:
        if node is None:
            return f'error generating accessibility requirements: node "{node_name}" not found'
        labels = node["metadata"].get("labels") or {}
        if not can_provision(view(storage_class, StorageClass), labels):
            return (
                "error generating accessibility requirements: selected node "
                f"'\"{node_name}\"' topology is not in allowed topologies"
            )
        return ""

    def _volume_for(self, claim: Document, storage_class: Document, node: Document | None, work: Work) -> Document:
        metadata, spec = claim["metadata"], claim["spec"]
        provisioner = storage_class["provisioner"]
        driver = provisioner_of(storage_class)
        name = f"pvc-{metadata['uid']}"
        # A class may name a provisioner with a slash; no CSI driver may be called so.
        volume: Document = {
            "metadata": {"name": name, "annotations": {PROVISIONED_BY: provisioner}},
            "spec": {
                "capacity": {"storage": spec["resources"]["requests"]["storage"]},
                "accessModes": spec["accessModes"],
                "volumeMode": spec.get("volumeMode", "Filesystem"),
                "storageClassName": storage_class["metadata"]["name"],
                "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
                "claimRef": {
                    "apiVersion": "v1",
                    "kind": _CLAIM,
                    **{key: metadata[key] for key in ("namespace", "name", "uid", "resourceVersion")},
                },
                "csi": {"driver": driver.replace("/", "."), "volumeHandle": name},
            },
        }
        topology = self._topology(metadata["uid"], storage_class, driver, node, work)
        if topology:
            expressions = [{"key": key, "operator": "In", "values": [value]} for key, value in topology.items()]
            terms = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
            volume["spec"]["nodeAffinity"] = {"required": terms}
        return volume

    def _topology(
        self, uid: str, storage_class: Document, driver: str, node: Document | None, work: Work
    ) -> Mapping[str, str]:
        """Return the labels of the place where a volume is made; none: everywhere.

        A volume for a chosen node is made in that node's place. Without one it is made in any place that the class
        allows, or that the driver runs in: where a pod could run is not asked.
        """
        terms = [term.get("matchLabelExpressions") or () for term in storage_class.get("allowedTopologies") or ()]
        if node is not None:
            labels = node["metadata"].get("labels") or {}
            keys = [wanted["key"] for term in terms for wanted in term] or self._keys(driver, node["metadata"]["name"])
            return {key: labels[key] for key in keys or (ZONE,) if key in labels}
        places: list[dict[str, str]] = [
            {**rest, wanted["key"]: value}
            for term in terms
            for wanted in term[:1]
            for value in wanted["values"]
            for rest in ({other["key"]: other["values"][0] for other in term[1:]},)
        ]
        if not places:
            for other in self._nodes.all():
                labels = other["metadata"].get("labels") or {}
                place = {key: labels[key] for key in self._keys(driver, other["metadata"]["name"]) if key in labels}
                if place and place not in places:
                    places.append(place)
        return places[draw(work.tick.seed, "place", uid, below=len(places))] if places else {}

    def _keys(self, driver: str, node_name: str) -> list[str]:
        """Return the labels by which a driver tells places apart on a node."""
        csi_node = self._csi_nodes.get("", node_name)
        for one in ((csi_node or {}).get("spec") or {}).get("drivers") or ():
            if one.get("name") == driver:
                return list(one.get("topologyKeys") or ())
        return []

    # Growing and deleting.

    def _grow(self, key: str, claim: Document, work: Work) -> Reconcile:
        volume = self._volumes.get("", claim["spec"]["volumeName"])
        wanted = claim["spec"]["resources"]["requests"]["storage"]
        held = ((claim.get("status") or {}).get("capacity") or {}).get("storage")
        if volume is None or held is None or PROVISIONED_BY not in notes_of(volume) or nano(held) >= nano(wanted):
            return
        due = self._is_due(key, self._taking_ms(claim, work), work)
        if due is None:
            text = f"External resizer is resizing volume {volume['metadata']['name']}"
            work.event(claim, _CLAIM, "Resizing", text)
        if not due:
            return
        if nano(volume["spec"]["capacity"]["storage"]) < nano(wanted):
            volume = must((yield [volume_patch(volume, {"spec": {"capacity": {"storage": wanted}}})])[0])
        patch = claim_status(claim, "Bound", volume)
        if patch is not None:
            must((yield [patch])[0])
            work.event(claim, _CLAIM, "VolumeResizeSuccessful", "Resize volume succeeded")

    def _delete(self, key: str, volume: Document | None, work: Work) -> Reconcile:
        if volume is None or PROVISIONED_BY not in notes_of(volume) or "deletionTimestamp" in volume["metadata"]:
            self._due_ms.pop(key, None)
            return
        released = (volume.get("status") or {}).get("phase") == "Released"
        if not released or volume["spec"].get("persistentVolumeReclaimPolicy") != "Delete":
            return
        if self._is_due(key, DELETING_MS, work):
            yield [Delete(VOLUMES, "", volume["metadata"]["name"], uid=volume["metadata"]["uid"])]
