"""Makes the claims of pods' ephemeral volumes: they come and go with the pod.

Source: pkg/controller/volume/ephemeral/controller.go, v1.34.
"""

from __future__ import annotations

from typing import ClassVar

from controllers.kit.manager import Reconcile, Setup, Work, key_of, must, split_key
from controllers.kit.pods import owner_reference
from controllers.log.operations import Create
from controllers.persistentvolume.documents import CLAIMS
from scheduler_core.api.document import Document


class EphemeralVolumes:
    """Reconciles pods, by namespace and name."""

    NAME: ClassVar[str] = "ephemeral-volume"
    RESOURCES: ClassVar[tuple[str, ...]] = ("pods", CLAIMS)

    def __init__(self, setup: Setup) -> None:
        """Listen to pods."""
        self._pods = setup.informers["pods"]
        self._claims = setup.informers[CLAIMS]
        self._queue = setup.queue
        self._pods.add_handler(self._pod_changed, reads=())
        self._claims.add_handler(self._claim_changed)

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        if old is None and new is not None and _templates(new):
            self._queue.add(key_of(new))

    def _claim_changed(self, old: Document | None, new: Document | None) -> None:
        # A claim that is gone may have been in the way, or is needed again.
        for reference in (old or {}).get("metadata", {}).get("ownerReferences") or () if new is None else ():
            if reference.get("kind") == "Pod":
                assert old is not None, "a deletion has a last state"
                self._queue.add(f"{old['metadata']['namespace']}/{reference['name']}")

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Make the claims that a pod has not got yet."""
        pod = self._pods.get(*split_key(key))
        if pod is None or "deletionTimestamp" in pod["metadata"]:
            return
        namespace = pod["metadata"]["namespace"]
        wanted = _templates(pod)
        there = [name for name in wanted if self._claims.get(namespace, name) is not None]
        reason = "claims are missing" if len(there) < len(wanted) else "as many claims as volumes"
        work.tell(reason, desired={"ephemeral volumes": len(wanted)}, actual={"claims": len(there)})
        for name, template in wanted.items():
            if self._claims.get(namespace, name) is not None:
                # Another's claim stays another's: the scheduler says so of the pod.
                continue
            given = template.get("metadata") or {}
            owner = owner_reference({"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"]})
            metadata: Document = {"name": name, "ownerReferences": [owner]}
            metadata |= {part: dict(given[part]) for part in ("labels", "annotations") if given.get(part)}
            (result,) = yield [Create(CLAIMS, namespace, {"metadata": metadata, "spec": template.get("spec") or {}})]
            if result.error is not None and result.error.code != 409:
                work.event(pod, "Pod", "FailedCreate", str(result.error.message), event_type="Warning")
                must(result)


def _templates(pod: Document) -> dict[str, Document]:
    """Return claim's name → template, of each ephemeral volume of a pod."""
    return {
        f"{pod['metadata']['name']}-{volume['name']}": volume["ephemeral"].get("volumeClaimTemplate") or {}
        for volume in (pod.get("spec") or {}).get("volumes") or ()
        if volume.get("ephemeral") is not None
    }
