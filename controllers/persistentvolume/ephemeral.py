"""Makes the claims of pods' ephemeral volumes: they come and go with the pod.

Source: pkg/controller/volume/ephemeral/controller.go, v1.34.
"""

from __future__ import annotations

from typing import ClassVar

from controllers.kit.manager import Reconcile, Setup, Work, key_of, split_key
from controllers.kit.pods import controller_of, owner_reference
from controllers.log.operations import Create
from controllers.persistentvolume.documents import CLAIMS
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError


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
        there = {name: self._claims.get(namespace, name) for name in wanted}
        is_whole = all(there.values())
        reason = "as many claims as volumes" if is_whole else "claims are missing"
        count = sum(claim is not None for claim in there.values())
        work.tell(reason, desired={"ephemeral volumes": len(wanted)}, actual={"claims": count})
        for name, (volume, template) in wanted.items():
            claim = there[name]
            if claim is not None:
                if not _is_for(pod, claim):
                    where = f"PVC {namespace}/{name} was not created for pod {key}"
                    raise _failed(pod, volume, ApiError(409, "Conflict", f"{where} (pod is not owner)"), work)
                continue
            (result,) = yield [Create(CLAIMS, namespace, _claim(pod, name, template))]
            error = result.error
            if error is not None:
                why = f"create PVC {name}: {error.message}"
                raise _failed(pod, volume, ApiError(error.code, error.reason, why), work)


def _failed(pod: Document, volume: str, error: ApiError, work: Work) -> ApiError:
    """Say of a pod why a volume has no claim; the error that ends this turn."""
    text = f"ephemeral volume {volume}: {error.message}"
    work.event(pod, "Pod", "FailedBinding", text, event_type="Warning")
    return error


def _is_for(pod: Document, claim: Document) -> bool:
    owner = controller_of(claim)
    return owner is not None and owner["uid"] == pod["metadata"]["uid"]


def _claim(pod: Document, name: str, template: Document) -> Document:
    given = template.get("metadata") or {}
    owner = owner_reference({"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"]})
    metadata: Document = {"name": name, "ownerReferences": [owner]}
    metadata |= {part: dict(given[part]) for part in ("labels", "annotations") if given.get(part)}
    return {"metadata": metadata, "spec": template.get("spec") or {}}


def _templates(pod: Document) -> dict[str, tuple[str, Document]]:
    """Return claim's name → (volume, template), of each ephemeral volume of a pod."""
    return {
        f"{pod['metadata']['name']}-{volume['name']}": (
            volume["name"],
            volume["ephemeral"].get("volumeClaimTemplate") or {},
        )
        for volume in (pod.get("spec") or {}).get("volumes") or ()
        if volume.get("ephemeral") is not None
    }
