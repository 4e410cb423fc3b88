"""What a StatefulSet does to its pods and their claims: make, mend, delete; each told in an Event.

Every step is a generator as `reconcile` is one; it returns what was refused, or None.

Source: k8s.io/kubernetes/pkg/controller/statefulset/stateful_pod_control.go.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Final

from controllers.kit.informer import Lister
from controllers.kit.manager import Work
from controllers.log.operations import Create, Delete, Operation, Patch, Result, Update
from controllers.log.store import copy_object
from controllers.statefulset import identity, retention
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError

CLAIMS: Final = "persistentvolumeclaims"

Step = Generator[Sequence[Operation], Sequence[Result], ApiError | None]


class PodControl:
    """Writes one set's pods and claims within one reconciliation."""

    def __init__(self, owner: Document, claims: Lister, work: Work) -> None:
        """Take the set as it is in the cache, and the cache of claims."""
        self._owner = owner
        self._claims = claims
        self._work = work

    def create(self, pod: Document) -> Step:
        """Make the pod's claims, then the pod."""
        failure = yield from self.create_claims(pod)
        if failure is not None:
            self._tell("create", pod, failure)
            return failure
        results = yield [Create("pods", pod["metadata"]["namespace"], pod)]
        failure = results[0].error
        if failure is not None and failure.reason == "AlreadyExists":
            return failure
        if results[0].object is not None:
            told = yield from self.settle_claims(results[0].object)
            if told is not None:
                self._tell("update", pod, told)
                return told
        self._tell("create", pod, failure)
        return failure

    def delete(self, pod: Document) -> Step:
        """Ask the pod to go."""
        metadata = pod["metadata"]
        results = yield [Delete("pods", metadata["namespace"], metadata["name"])]
        self._tell("delete", pod, results[0].error)
        return results[0].error

    def mend(self, pod: Document, owner: Document) -> Step:
        """Give a pod the identity and the volumes of a member, and its claims the owners that the set asks for."""
        mended = copy_object(pod)
        consistent = identity.has_identity(pod, owner)
        if not consistent:
            identity.take_identity(mended, owner)
        if not identity.has_storage(pod, owner):
            consistent = False
            identity.take_storage(mended, owner)
            failure = yield from self.create_claims(mended)
            if failure is not None:
                self._tell("update", pod, failure)
                return failure
        if not self.are_claims_settled(pod, owner):
            consistent = False
            failure = yield from self.settle_claims(pod)
            if failure is not None:
                self._tell("update", pod, failure)
                return failure
        if consistent:
            return None
        metadata = pod["metadata"]
        results = yield [Update("pods", metadata["namespace"], metadata["name"], mended)]
        self._tell("update", pod, results[0].error)
        return results[0].error

    def create_claims(self, pod: Document) -> Step:
        """Make those of the pod's claims that there are not."""
        messages: list[str] = []
        refused: ApiError | None = None
        for claim in identity.claims_of(self._owner, pod):
            metadata = claim["metadata"]
            known = self._claims.get(metadata["namespace"], metadata["name"])
            if known is not None:
                if "deletionTimestamp" in known["metadata"]:
                    messages.append(f"pvc {metadata['name']} is being deleted")
                continue
            results = yield [Create(CLAIMS, metadata["namespace"], claim)]
            error = results[0].error
            if error is not None:
                refused = error
                messages.append(f"failed to create PVC {metadata['name']}: {error.message}")
            if error is None or error.reason != "AlreadyExists":
                self._tell_claim(claim["metadata"]["name"], pod, error)
        return _together(messages, refused)

    def claims_are_stale(self, pod: Document) -> bool:
        """Return whether a claim of the pod still belongs to a pod before it, and is about to go."""
        if not retention.policy_of(self._owner)[1]:
            return False
        return any(retention.is_stale(claim, pod) for claim in self._known_claims(pod))

    def are_claims_settled(self, pod: Document, owner: Document) -> bool:
        """Return whether the pod's claims have the owners that the set asks for."""
        return all(retention.is_settled(claim, owner, pod) for claim in self._known_claims(pod))

    def settle_claims(self, pod: Document) -> Step:
        """Give the pod's claims the owners that the set asks for."""
        for claim in self._known_claims(pod):
            metadata = claim["metadata"]
            if retention.is_conflicting(claim, self._owner, pod):
                text = (
                    f"PersistentVolumeClaim {metadata['name']} has a conflicting OwnerReference that acts as a manging "
                    "controller, the retention policy is ignored for this claim"
                )
                self._event("ConflictingController", text, warns=True)
            if retention.is_settled(claim, self._owner, pod):
                continue
            references = retention.settled(claim, self._owner, pod)
            patch = {"metadata": {"uid": metadata["uid"], "ownerReferences": references or None}}
            results = yield [Patch(CLAIMS, metadata["namespace"], metadata["name"], patch)]
            error = results[0].error
            if error is not None:
                text = f"could not update claim {metadata['name']} for delete policy ownerRefs: {error.message}"
                return ApiError(error.code, error.reason, text)
        return None

    def _known_claims(self, pod: Document) -> list[Document]:
        namespace = self._owner["metadata"]["namespace"]
        ordinal = identity.ordinal_of(pod)
        names = [identity.claim_name(self._owner, one, ordinal) for one in identity.claim_templates(self._owner)]
        return [claim for name in names if (claim := self._claims.get(namespace, name)) is not None]

    def _tell(self, verb: str, pod: Document, error: ApiError | None) -> None:
        subject = f"{verb} Pod {pod['metadata']['name']} in StatefulSet {self._owner['metadata']['name']}"
        if error is None:
            self._event(f"Successful{verb.title()}", f"{subject} successful")
        else:
            self._event(f"Failed{verb.title()}", f"{subject} failed error: {error.message}", warns=True)

    def _tell_claim(self, claim: str, pod: Document, error: ApiError | None) -> None:
        where = f"Pod {pod['metadata']['name']} in StatefulSet {self._owner['metadata']['name']}"
        if error is None:
            self._event("SuccessfulCreate", f"create Claim {claim} {where} success")
        else:
            self._event("FailedCreate", f"create Claim {claim} for {where} failed error: {error.message}", warns=True)

    def _event(self, reason: str, message: str, *, warns: bool = False) -> None:
        self._work.event(self._owner, "StatefulSet", reason, message, event_type="Warning" if warns else "Normal")


def _together(messages: Sequence[str], refused: ApiError | None) -> ApiError | None:
    """Return several refusals as one, as upstream's aggregate words it."""
    if not messages:
        return None
    text = messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]"
    return ApiError(refused.code, refused.reason, text) if refused is not None else ApiError(409, "Conflict", text)
