"""Removes the content of namespaces that are being deleted, pods first, then the namespaces.

Source: k8s.io/kubernetes/pkg/controller/namespace (namespace_controller.go, deletion/namespaced_resources_deleter.go,
deletion/status_condition_utils.go).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from controllers.custom.kinds import RESOURCE as DEFINITIONS
from controllers.kinds.table import KINDS, TABLE
from controllers.kit.manager import RESYNC_KEY, Reconcile, Setup, Work, key_of, must
from controllers.log.operations import Delete, Operation, Result, Update
from controllers.log.stamps import unix_ms_of, wire_time
from controllers.log.store import Stored
from controllers.registry.table import Kinds
from scheduler_core.api.document import Document, has_ended
from scheduler_core.api.errors import ApiError

RESOURCE: Final = "namespaces"
PODS: Final = "pods"
FINALIZER: Final = "kubernetes"

CONTENT: Final = tuple(kind.resource for kind in KINDS if kind.namespaced and "delete" in kind.verbs)
"""What a namespace can hold."""

GRACE_MS: Final = 5_000
"""How long a deleted namespace is left alone, for what is still on its way into it (namespaceDeletionGracePeriod)."""

FINALIZER_SECONDS: Final = 15
"""How long finalizers are guessed to take."""

POD_SECONDS: Final = 30
"""How long a pod takes that does not say so."""

DELETIONS_MAX: Final = 500
"""Objects deleted in one reconciliation; the rest follows at once."""

_SUCCESSES: Final = (
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    ("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    ("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"),
    ("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
)
"""(type, reason, message) of every condition where nothing is wrong, in upstream's order."""


@dataclass(slots=True)
class _Left:
    """What is still in a namespace after everything was told to go."""

    more: bool = False
    """Whether there was too much for one turn."""
    seconds: int = 0
    """How long it is guessed to take."""
    counts: dict[str, int] = field(default_factory=dict)
    """Resource → how many."""
    held: dict[str, int] = field(default_factory=dict)
    """Finalizer → how many wait for it."""
    errors: list[str] = field(default_factory=list)


class NamespaceController:
    """Reconciles namespaces, by name."""

    NAME: ClassVar[str] = "namespace"
    RESOURCES: ClassVar[tuple[str, ...]] = (RESOURCE,)

    def __init__(self, setup: Setup) -> None:
        """Listen to namespaces."""
        self._namespaces = setup.informers[RESOURCE]
        self._queue = setup.queue
        self._namespaces.add_handler(self._changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None and "deletionTimestamp" in new["metadata"]:
            self._queue.add_after(key_of(new), GRACE_MS)

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Delete what is left; when nothing is, let the namespace go."""
        if key == RESYNC_KEY:
            for each in self._namespaces.all():
                self._changed(None, each)
            return
        namespace = self._namespaces.get("", key)
        if namespace is None or "deletionTimestamp" not in namespace["metadata"]:
            work.tell("not being deleted: nothing to do", desired={}, actual={})
            return
        finalizers: list[str] = (namespace.get("spec") or {}).get("finalizers") or []
        if not finalizers:
            return
        left = _Left()
        kinds = TABLE.of_objects(work.tick.list(DEFINITIONS)[0])
        yield from _remove(PODS, namespace, kinds, left, work)
        # Nothing that pods may need goes before they have.
        pods_first = bool(left.counts)
        content = (*CONTENT, *(kind.resource for kind in kinds.kinds if kind.kept_in and kind.namespaced))
        for resource in () if pods_first else content:
            if resource != PODS and not left.more:
                yield from _remove(resource, namespace, kinds, left, work)
        work.tell(
            "pods are left: nothing else goes before them" if pods_first else "what is left is deleted",
            desired={"objects": 0},
            actual=dict(sorted(left.counts.items())),
        )
        if left.more:
            work.queue.add_at(key, work.now_ms + 1)
            return
        status = _status(namespace, _troubles(left, kinds, told=not pods_first), work.unix_ms)
        uid = namespace["metadata"]["uid"]
        if status != namespace.get("status"):
            yield [Update(RESOURCE, "", key, {"metadata": {"uid": uid}, "status": status}, "status")]
        if left.errors:
            raise ApiError(500, "InternalError", ", ".join(left.errors))
        if left.seconds:
            work.queue.add_at(key, work.now_ms + (left.seconds // 2 + 1) * 1000)
            return
        spec = {"finalizers": sorted(name for name in finalizers if name != FINALIZER)}
        (result,) = yield [Update(RESOURCE, "", key, {"metadata": {"uid": uid}, "spec": spec}, "finalize")]
        if result.error is not None and result.error.code != 404:
            must(result)


def _remove(
    resource: str, namespace: Document, kinds: Kinds, left: _Left, work: Work
) -> Generator[Sequence[Operation], Sequence[Result], None]:
    """Delete all objects of one kind in a namespace, and note what stays for now."""
    name = namespace["metadata"]["name"]
    found = work.tick.list(resource, name)[0]
    if not found:
        return
    seconds = _patience(found) if resource == PODS else 0
    if work.unix_ms - unix_ms_of(namespace["metadata"]["deletionTimestamp"]) >= seconds * 1000:
        seconds = 0
    going = [
        Delete(resource, name, stored.name, uid=stored.uid, propagation="Background")
        for stored in found
        if "deletionTimestamp" not in stored.object["metadata"]
    ]
    for result in (yield going[:DELETIONS_MAX]):
        if result.error is not None and result.error.code not in (404, 409):
            left.errors.append(result.error.message)
    if len(going) > DELETIONS_MAX:
        left.more = True
        return
    found = work.tick.list(resource, name)[0]
    if not found:
        return
    left.counts[resource] = len(found)
    holding = [finalizer for stored in found for finalizer in stored.object["metadata"].get("finalizers") or ()]
    for finalizer in holding:
        left.held[finalizer] = left.held.get(finalizer, 0) + 1
    left.seconds = max(left.seconds, seconds or (FINALIZER_SECONDS if holding else 0))
    if not seconds and not holding:
        kind = kinds.find_resource(resource)
        assert kind is not None, "what was listed is a kind"
        what = f"{kind.group}/{kind.version}, Resource={kind.plural}"
        left.errors.append(f"unexpected items still remain in namespace: {name} for gvr: {what}")


def _patience(pods: Sequence[Stored]) -> int:
    """Return the longest grace period of the pods that have not ended, in seconds."""
    running = [stored.object for stored in pods if not has_ended(stored.object)]
    periods = [pod["spec"].get("terminationGracePeriodSeconds") for pod in running]
    return max((POD_SECONDS if period is None else int(period) for period in periods), default=0)


def _troubles(left: _Left, kinds: Kinds, *, told: bool) -> dict[str, tuple[str, str]]:
    """Return type → (reason, message) of the conditions that are true; `told`: what remains is told, too."""
    troubles: dict[str, tuple[str, str]] = {}
    if left.errors:
        text = f"Failed to delete all resource types, {len(left.errors)} remaining: {', '.join(sorted(left.errors))}"
        troubles["NamespaceDeletionContentFailure"] = ("ContentDeletionFailed", text)
    if left.counts and told:
        counts = []
        for resource, count in left.counts.items():
            kind = kinds.find_resource(resource)
            assert kind is not None, "what was listed is a kind"
            counts.append(f"{kind.plural}.{kind.group} has {count} resource instances")
        text = f"Some resources are remaining: {', '.join(sorted(counts))}"
        troubles["NamespaceContentRemaining"] = ("SomeResourcesRemain", text)
    if left.held and told:
        texts = [f"{name} in {count} resource instances" for name, count in left.held.items()]
        text = f"Some content in the namespace has finalizers remaining: {', '.join(sorted(texts))}"
        troubles["NamespaceFinalizersRemaining"] = ("SomeFinalizersRemain", text)
    return troubles


def _status(namespace: Document, troubles: Mapping[str, tuple[str, str]], unix_ms: int) -> Document:
    """Return the namespace's status with a condition of every type."""
    status: dict[str, Any] = dict(namespace.get("status") or {})
    known = {entry["type"]: entry for entry in status.get("conditions") or ()}
    own = {kind for kind, _, _ in _SUCCESSES}
    conditions = [entry for entry in status.get("conditions") or () if entry["type"] not in own]
    for kind, reason, message in _SUCCESSES:
        state = "True" if kind in troubles else "False"
        why, text = troubles.get(kind, (reason, message))
        before = known.get(kind, {})
        since = before["lastTransitionTime"] if before.get("status") == state else wire_time(unix_ms)
        conditions.append({"type": kind, "status": state, "lastTransitionTime": since, "reason": why, "message": text})
    return {**status, "phase": "Terminating", "conditions": conditions}
