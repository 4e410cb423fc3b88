"""Makes the ResourceClaims that pods ask for by templates, and lets go of those that no pod needs any more.

Source: pkg/controller/resourceclaim/controller.go, v1.34. The scheduler allocates them; whoever writes an allocation
by hand sees it reserved for the pods that use it, and given back after the last one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from controllers.kit.interest import NODE_NAME, Part
from controllers.kit.manager import Reconcile, Setup, Work, key_of, must, split_key
from controllers.kit.pods import controller_of
from controllers.log.operations import Create, Delete, Patch, Update
from controllers.resourceclaim.documents import (
    TEMPLATES,
    claim_from,
    claim_of,
    is_for,
    made_for,
    uses,
)
from scheduler_core.api.document import Document, has_ended
from scheduler_core.api.errors import ApiError
from scheduler_core.devices.claims import CLAIMS, FINALIZER, RESERVED_FOR_MAX

REMEMBERED_MS: Final = 60_000
"""So long a claim that was made counts as there, whatever becomes of it (the mutation cache's life)."""

_USED_BY: Final = "resourceclaim/used by"
_OWNED_BY: Final = "resourceclaim/owned by"
_CLAIM: Final = "claim:"
_POD: Final = "pod:"

_READS: Final[tuple[Part, ...]] = (
    NODE_NAME,
    ("status", "phase"),
    ("status", "resourceClaimStatuses"),
    ("metadata", "deletionTimestamp"),
)


class ResourceClaims:
    """Reconciles pods and claims, each by its namespace and name after `pod:` or `claim:`."""

    NAME: ClassVar[str] = "resourceclaim"
    RESOURCES: ClassVar[tuple[str, ...]] = ("pods", CLAIMS, TEMPLATES)

    def __init__(self, setup: Setup) -> None:
        """Listen to pods and claims."""
        self._pods = setup.informers["pods"]
        self._claims = setup.informers[CLAIMS]
        self._templates = setup.informers[TEMPLATES]
        self._queue = setup.queue
        self._lately: dict[tuple[str, str], tuple[str, int]] = {}
        """(uid of a pod, its entry) → (the claim that was made for it, until when it counts as there)."""
        self._pods.add_index(_USED_BY, _claims_used, of=(("status", "resourceClaimStatuses"),))
        self._claims.add_index(_OWNED_BY, _owner)
        self._pods.add_handler(self._pod_changed, reads=_READS)
        self._claims.add_handler(self._claim_changed)

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        pod = new if new is not None else old
        assert pod is not None, "a change has a state"
        if not pod["spec"].get("resourceClaims"):
            return
        if new is None or _is_done(new):
            for key in _claims_used(pod):
                self._queue.add(_CLAIM + key)
        if new is not None and "deletionTimestamp" not in new["metadata"]:
            self._queue.add(_POD + key_of(new))

    def _claim_changed(self, old: Document | None, new: Document | None) -> None:
        claim = new if new is not None else old
        assert claim is not None, "a change has a state"
        key = key_of(claim)
        if new is not None:
            self._queue.add(_CLAIM + key)
        for pod in self._pods.indexed(_USED_BY, key):
            self._queue.add(_POD + key_of(pod))

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Give a pod its claims, or a claim back."""
        if key.startswith(_POD):
            pod = self._pods.get(*split_key(key.removeprefix(_POD)))
            if pod is not None and "deletionTimestamp" not in pod["metadata"]:
                yield from self._give(pod, work)
        elif key.startswith(_CLAIM):
            claim = self._claims.get(*split_key(key.removeprefix(_CLAIM)))
            if claim is not None:
                yield from self._let_go(claim, work)

    # -- a pod ----------------------------------------------------------------------------------------------------

    def _give(self, pod: Document, work: Work) -> Reconcile:
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        asked = pod["spec"].get("resourceClaims") or ()
        templates = [] if _is_done(pod) else [one for one in asked if one.get("resourceClaimTemplateName")]
        missing = [one for one in templates if not self._has(pod, one)]
        reason = "claims are missing" if missing else "as asked"
        work.tell(reason, desired={"claims": len(asked)}, actual={"claims": len(asked) - len(missing)})
        made: dict[str, str] = {}
        for one in missing:
            made[one["name"]] = yield from self._made(pod, one, work)
        if made:
            statuses = [{"name": entry, "resourceClaimName": claim} for entry, claim in made.items()]
            patch = {"status": {"resourceClaimStatuses": statuses}}
            must((yield [Patch("pods", namespace, name, patch, "strategic", "status")])[0])
        if pod["spec"].get("nodeName"):
            yield from self._reserve(pod)

    def _has(self, pod: Document, asked: Mapping[str, Any]) -> bool:
        """Return whether a pod has the claim of an entry that names a template, or needs none."""
        known = claim_of(pod, asked)
        if known is None:
            return False
        claim = self._claims.get(pod["metadata"]["namespace"], known)
        return not known or (claim is not None and is_for(pod, claim))

    def _made(self, pod: Document, asked: Mapping[str, Any], work: Work) -> Any:
        """Return the name of the claim of an entry: one that was made before, or a new one."""
        namespace, place = pod["metadata"]["namespace"], (pod["metadata"]["uid"], asked["name"])
        self._lately = {place: known for place, known in self._lately.items() if known[1] > work.now_ms}
        if place in self._lately:
            return self._lately[place][0]
        for claim in self._claims.indexed(_OWNED_BY, pod["metadata"]["uid"]):
            if made_for(claim) == asked["name"]:
                return claim["metadata"]["name"]
        wanted = asked["resourceClaimTemplateName"]
        template = self._templates.get(namespace, wanted)
        if template is None:
            why = f'resourceclaimtemplate.resource.k8s.io "{wanted}" not found'
            raise _failed(pod, asked, ApiError(404, "NotFound", f'resource claim template "{wanted}": {why}'), work)
        (result,) = yield [Create(CLAIMS, namespace, claim_from(pod, asked["name"], template))]
        error = result.error
        if error is not None:
            why = f"create ResourceClaim : {error.message}"
            raise _failed(pod, asked, ApiError(error.code, error.reason, why), work)
        name = must(result)["metadata"]["name"]
        self._lately[place] = name, work.now_ms + REMEMBERED_MS
        return name

    def _reserve(self, pod: Document) -> Reconcile:
        """Reserve what is allocated for a pod that was placed by nobody who does so."""
        for key in _claims_used(pod):
            claim = self._claims.get(*split_key(key))
            if claim is None:
                return
            status = claim.get("status") or {}
            reserved: Sequence[Document] = status.get("reservedFor") or ()
            uid = pod["metadata"]["uid"]
            if "allocation" not in status or len(reserved) >= RESERVED_FOR_MAX:
                continue
            if any(one.get("uid") == uid for one in reserved):
                continue
            more = {"resource": "pods", "name": pod["metadata"]["name"], "uid": uid}
            yield from _write(claim, {**status, "reservedFor": [*reserved, more]})

    # -- a claim --------------------------------------------------------------------------------------------------

    def _let_go(self, claim: Document, work: Work) -> Reconcile:
        status = claim.get("status") or {}
        reserved: Sequence[Document] = status.get("reservedFor") or ()
        valid = [one for one in reserved if self._is_used(claim, one)]
        reason = "as asked" if len(valid) == len(reserved) else "pods are gone"
        work.tell(reason, desired={"reserved": len(valid)}, actual={"reserved": len(reserved)})
        held = FINALIZER in (claim["metadata"].get("finalizers") or ())
        leaves = held and "deletionTimestamp" in claim["metadata"] and not valid
        if len(valid) < len(reserved) or (leaves and "allocation" in status):
            kept = {key: value for key, value in status.items() if valid or not held or key != "allocation"}
            kept["reservedFor"] = valid
            claim = yield from _write(claim, kept)
            leaves = held and "allocation" not in (claim.get("status") or {})
        if leaves:
            rest = [one for one in claim["metadata"].get("finalizers") or () if one != FINALIZER]
            metadata = {**claim["metadata"], "finalizers": rest}
            freed = Update(CLAIMS, metadata["namespace"], metadata["name"], {**claim, "metadata": metadata})
            must((yield [freed])[0])
        if not valid and self._is_over(claim):
            metadata = claim["metadata"]
            (result,) = yield [Delete(CLAIMS, metadata["namespace"], metadata["name"])]
            if result.error is not None and result.error.code != 404:
                raise result.error

    def _is_used(self, claim: Document, consumer: Mapping[str, Any]) -> bool:
        """Return whether whoever holds a claim may still use it."""
        if consumer.get("apiGroup") or consumer.get("resource") != "pods":
            raise ApiError(400, "BadRequest", f"unsupported ReservedFor entry: {dict(consumer)}")
        pod = self._pods.get(claim["metadata"]["namespace"], consumer["name"])
        return pod is not None and pod["metadata"]["uid"] == consumer["uid"] and not _is_done(pod)

    def _is_over(self, claim: Document) -> bool:
        """Return whether the pod for which a claim was made will not need it any more."""
        owner = _owning_pod(claim)
        if owner is None:
            return False
        pod = self._pods.get(claim["metadata"]["namespace"], owner["name"])
        return pod is not None and (pod["metadata"]["uid"] != owner["uid"] or _is_done(pod))


def _write(claim: Document, status: Document) -> Any:
    """Return a claim with another status, as it is stored; one that was changed meanwhile is a conflict."""
    namespace, name = claim["metadata"]["namespace"], claim["metadata"]["name"]
    return must((yield [Update(CLAIMS, namespace, name, {**claim, "status": status}, "status")])[0])


def _failed(pod: Document, asked: Mapping[str, Any], error: ApiError, work: Work) -> ApiError:
    """Say of a pod why it has no claim; the error that ends this turn."""
    text = f"PodResourceClaim {asked['name']}: {error.message}"
    work.event(pod, "Pod", "FailedResourceClaimCreation", text, event_type="Warning")
    return error


def _claims_used(pod: Document) -> Iterable[str]:
    """Yield `namespace/name` of each claim that a pod has by now."""
    return uses(pod) if pod["spec"].get("resourceClaims") else ()


def _owner(claim: Document) -> Iterable[str]:
    owner = _owning_pod(claim)
    if owner is not None:
        yield owner["uid"]


def _owning_pod(claim: Document) -> Mapping[str, Any] | None:
    """Return the reference to the pod for which a claim was made."""
    owner = controller_of(claim)
    return owner if owner is not None and (owner["apiVersion"], owner["kind"]) == ("v1", "Pod") else None


def _is_done(pod: Document) -> bool:
    """Return whether no container of a pod runs, nor ever will."""
    return has_ended(pod) or ("deletionTimestamp" in pod["metadata"] and not pod["spec"].get("nodeName"))
