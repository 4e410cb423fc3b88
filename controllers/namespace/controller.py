"""Removes the content of namespaces that are being deleted, then the namespaces.

Source: k8s.io/kubernetes/pkg/controller/namespace/deletion/namespaced_resources_deleter.go.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from controllers.kinds.table import KINDS
from controllers.kit.manager import Reconcile, Setup, Work, key_of
from controllers.log.operations import Delete, Update
from controllers.log.stamps import wire_time
from controllers.log.store import Stored
from scheduler_core.api.document import Document

RESOURCE: Final = "namespaces"
FINALIZER: Final = "kubernetes"

CONTENT: Final = tuple(kind.resource for kind in KINDS if kind.namespaced)
"""What a namespace can hold."""

LOOK_AGAIN_MS: Final = 1_000
"""How soon a namespace with content that takes its time is looked at again."""

DELETIONS_MAX: Final = 500
"""Objects deleted in one reconciliation; the rest follows at once."""


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
            self._queue.add(key_of(new))

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Delete what is left; when nothing is, let the namespace go."""
        namespace = self._namespaces.get("", key)
        if namespace is None or "deletionTimestamp" not in namespace["metadata"]:
            return
        finalizers = (namespace.get("spec") or {}).get("finalizers") or []
        if FINALIZER not in finalizers:
            return
        left = {resource: found for resource in CONTENT if (found := work.tick.list(resource, key)[0])}
        going = [
            Delete(resource, key, stored.name, uid=stored.uid, propagation="Background")
            for resource, found in left.items()
            for stored in found
            if "deletionTimestamp" not in stored.object["metadata"]
        ]
        if going:
            yield going[:DELETIONS_MAX]
            left = {resource: found for resource in CONTENT if (found := work.tick.list(resource, key)[0])}
        uid = namespace["metadata"]["uid"]
        if not left:
            spec = {"finalizers": [name for name in finalizers if name != FINALIZER]}
            yield [Update(RESOURCE, "", key, {"metadata": {"uid": uid}, "spec": spec}, "finalize")]
            return
        status = _status(namespace, left, work)
        if status != namespace.get("status"):
            yield [Update(RESOURCE, "", key, {"metadata": {"uid": uid}, "status": status}, "status")]
        work.queue.add_at(key, work.now_ms + (1 if len(going) > DELETIONS_MAX else LOOK_AGAIN_MS))


def _status(namespace: Document, left: dict[str, Any], work: Work) -> Document:
    """Return the status that says what the namespace waits for."""
    counts = [f"{resource} has {len(found)} resource instances" for resource, found in sorted(left.items())]
    held: dict[str, int] = {}
    for found in left.values():
        for stored in found:
            _count_finalizers(stored, held)
    conditions = [
        ("NamespaceContentRemaining", "SomeResourcesRemain", "Some resources are remaining: " + ", ".join(counts)),
    ]
    if held:
        texts = [f"{name} in {count} resource instances" for name, count in sorted(held.items())]
        text = "Some content in the namespace has finalizers remaining: " + ", ".join(texts)
        conditions.append(("NamespaceFinalizersRemaining", "SomeFinalizersRemain", text))
    known = {entry["type"]: entry for entry in (namespace.get("status") or {}).get("conditions") or ()}
    now = wire_time(work.unix_ms)
    return {
        "phase": "Terminating",
        "conditions": [
            {
                "type": kind,
                "status": "True",
                "lastTransitionTime": known[kind]["lastTransitionTime"] if kind in known else now,
                "reason": reason,
                "message": message,
            }
            for kind, reason, message in conditions
        ],
    }


def _count_finalizers(stored: Stored, held: dict[str, int]) -> None:
    for name in stored.object["metadata"].get("finalizers") or ():
        held[name] = held.get(name, 0) + 1
