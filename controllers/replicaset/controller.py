"""Keeps as many pods as a ReplicaSet or a ReplicationController asks for.

Source: k8s.io/kubernetes/pkg/controller/replicaset/replica_set.go; pkg/controller/replication wraps it for the older
kind, as `ReplicationManager` does here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from controllers.flags.controllermanager import BURST_REPLICAS
from controllers.kit.expectations import Expectations
from controllers.kit.manager import Reconcile, Setup, Work, key_of, split_key
from controllers.kit.ownership import claim, index_ownership, labels_of, requirements_of, requirements_of_labels
from controllers.kit.podcontrol import PodControl, Step
from controllers.kit.pods import (
    asked_pods,
    controller_of,
    deletion_order,
    is_active,
    is_long_enough,
    pod_from_template,
    ready_since_ms,
)
from controllers.log.operations import Result, Update
from controllers.log.stamps import wire_time
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError
from scheduler_core.api.selectors import Requirement, matches_all


class ReplicaController:
    """Reconciles the objects of one kind that ask for a number of equal pods, by key."""

    NAME: ClassVar[str]
    RESOURCES: ClassVar[tuple[str, ...]]
    KIND: ClassVar[str]

    def __init__(self, setup: Setup) -> None:
        """Index pods by owner and listen to both kinds."""
        self._resource = self.RESOURCES[0]
        self._sets = setup.informers[self._resource]
        self._pods = setup.informers["pods"]
        self._queue = setup.queue
        self._expectations = Expectations()
        self._control = PodControl(self.KIND, "pods", self._expectations)
        index_ownership(self._pods)
        self._sets.add_index("controller", _controller_uid)
        self._sets.add_index("namespace", _namespace)
        self._sets.add_handler(self._set_changed)
        self._pods.add_handler(self._pod_changed, owned_by=self.KIND)

    # -- what makes work ----------------------------------------------------------------------------------------

    def _set_changed(self, old: Document | None, new: Document | None) -> None:
        document = new or old
        assert document is not None, "a change has a state before or after"
        if new is None:
            self._expectations.forget(key_of(document))
        self._queue.add(key_of(document))

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        pod = new or old
        assert pod is not None, "a change has a state before or after"
        owner = self._owner_key(pod)
        if old is not None and new is not None:
            before = self._owner_key(old)
            if before is not None and before != owner:
                self._queue.add(before)
        if owner is not None:
            if new is None or "deletionTimestamp" in new["metadata"]:
                self._expectations.deleted(owner, pod["metadata"]["uid"])
            elif old is None:
                self._expectations.created(owner)
            elif _telling(old) == _telling(new):
                # Bound or nominated: nothing that counts here, and thousands of bindings would mean as many counts.
                return
            self._queue.add(owner)
        elif controller_of(pod) is None and new is not None:
            self._queue_matching(pod)

    def _queue_matching(self, pod: Document) -> None:
        """An orphan appeared or changed: any set that selects it may adopt it."""
        for candidate in self._sets.indexed("namespace", pod["metadata"]["namespace"]):
            requirements = self._requirements(candidate)
            if requirements and matches_all(requirements, labels_of(pod)):
                self._queue.add(key_of(candidate))

    def _requirements(self, owner: Document) -> tuple[Requirement, ...] | None:
        """Return what the object selects; None where it selects nothing."""
        return requirements_of(owner["spec"].get("selector"))

    def _owner_key(self, pod: Document) -> str | None:
        reference = controller_of(pod)
        if reference is None or reference.get("kind") != self.KIND:
            return None
        return f"{pod['metadata']['namespace']}/{reference['name']}"

    # -- reconciliation -----------------------------------------------------------------------------------------

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Create or delete pods, then write what there is into the status."""
        owner = self._sets.get(*split_key(key))
        if owner is None:
            self._expectations.forget(key)
            return
        requirements = self._requirements(owner)
        if requirements is None:
            return
        pods, adoptions, orphans = claim(owner, requirements, self._pods, counts=is_active)
        if adoptions:
            results = yield adoptions
            taken = {result.object["metadata"]["uid"] for result in results if result.object is not None}
            pods = pods + [orphan for orphan in orphans if orphan["metadata"]["uid"] in taken]
        failure: ApiError | None = None
        if self._expectations.satisfied(key, work.now_ms) and "deletionTimestamp" not in owner["metadata"]:
            failure = yield from self._manage(key, owner, pods, work)
        current = self._sets.get(*split_key(key)) or owner
        status = _status(current, pods, failure, work)
        if status != current.get("status"):
            metadata = {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
            body = {"metadata": metadata, "status": status}
            results = yield [Update(self._resource, owner["metadata"]["namespace"], metadata["name"], body, "status")]
            _must_unless_gone(results[0])
        if failure is not None:
            raise failure
        min_ready_seconds = current["spec"].get("minReadySeconds", 0)
        if min_ready_seconds and status.get("readyReplicas") != status.get("availableReplicas"):
            work.queue.add_at(key, work.now_ms + min_ready_seconds * 1000)

    def _manage(self, key: str, owner: Document, active: list[Document], work: Work) -> Step:
        wanted = asked_pods(owner)
        difference = len(active) - wanted
        reason = "too few pods" if difference < 0 else "too many pods" if difference > 0 else "as many pods as asked"
        work.tell(reason, desired={"spec.replicas": wanted}, actual={"active pods": len(active)})
        if difference < 0:
            return (yield from self._create(key, owner, min(-difference, work.flags[BURST_REPLICAS]), work))
        if difference > 0:
            return (yield from self._delete(key, owner, active, min(difference, work.flags[BURST_REPLICAS]), work))
        return None

    def _create(self, key: str, owner: Document, count: int, work: Work) -> Step:
        self._expectations.expect_creations(key, count, work.now_ms)
        pod = pod_from_template(owner["spec"].get("template") or {}, owner)
        return self._control.create(key, owner, [pod] * count, work)

    def _delete(self, key: str, owner: Document, active: list[Document], count: int, work: Work) -> Step:
        ranks = Counter(pod["spec"]["nodeName"] for pod in self._related(owner) if pod["spec"].get("nodeName"))
        chosen = deletion_order(active, ranks, work.unix_ms)[:count] if count < len(active) else active
        self._expectations.expect_deletions(key, [pod["metadata"]["uid"] for pod in chosen], work.now_ms)
        return self._control.delete(key, owner, chosen, work)

    def _related(self, owner: Document) -> list[Document]:
        """Return the active pods of all ReplicaSets of the same controller: they share its nodes."""
        reference = controller_of(owner)
        siblings = [owner] if reference is None else self._sets.indexed("controller", reference["uid"])
        return [
            pod
            for sibling in siblings
            for pod in self._pods.indexed("controller", sibling["metadata"]["uid"])
            if is_active(pod)
        ]


class ReplicaSetController(ReplicaController):
    """Reconciles ReplicaSets."""

    NAME: ClassVar[str] = "replicaset"
    RESOURCES: ClassVar[tuple[str, ...]] = ("replicasets.apps", "pods")
    KIND: ClassVar[str] = "ReplicaSet"


class ReplicationManager(ReplicaController):
    """Reconciles ReplicationControllers."""

    NAME: ClassVar[str] = "replication"
    RESOURCES: ClassVar[tuple[str, ...]] = ("replicationcontrollers", "pods")
    KIND: ClassVar[str] = "ReplicationController"

    def _requirements(self, owner: Document) -> tuple[Requirement, ...] | None:
        """Read plain labels, by which this older kind selects."""
        return requirements_of_labels(owner["spec"].get("selector"))


def _controller_uid(document: Document) -> list[str]:
    reference = controller_of(document)
    return [reference["uid"]] if reference is not None else []


def _namespace(document: Document) -> list[str]:
    return [document["metadata"]["namespace"]]


def _telling(pod: Document) -> tuple[object, ...]:
    """Return what a ReplicaSet's reconciliation reads of a pod, but for where it runs."""
    metadata = pod["metadata"]
    phase = (pod.get("status") or {}).get("phase")
    deleting = "deletionTimestamp" in metadata
    return (phase, ready_since_ms(pod), deleting, metadata.get("labels"), metadata.get("ownerReferences"))


def _status(owner: Document, active: Sequence[Document], failure: ApiError | None, work: Work) -> Document:
    """Return the status that the present active pods and the last attempt amount to."""
    wanted = ((owner["spec"].get("template") or {}).get("metadata") or {}).get("labels") or {}
    min_ready_seconds = owner["spec"].get("minReadySeconds", 0)
    old = owner.get("status") or {}
    ready = [since_ms for pod in active if (since_ms := ready_since_ms(pod)) is not None]
    fully = [pod for pod in active if (labels := labels_of(pod)) is wanted or wanted.items() <= labels.items()]
    status: Document = {
        "replicas": len(active),
        "fullyLabeledReplicas": len(fully),
        "readyReplicas": len(ready),
        "availableReplicas": sum(1 for since_ms in ready if is_long_enough(since_ms, min_ready_seconds, work.unix_ms)),
        "observedGeneration": owner["metadata"].get("generation", 1),
    }
    # The wire omits counts that are 0, as upstream's encoder does; `replicas` always stands.
    status = {key: value for key, value in status.items() if value or key == "replicas"}
    conditions = list(old.get("conditions") or ())
    failed = any(entry["type"] == "ReplicaFailure" for entry in conditions)
    if failure is None:
        conditions = [entry for entry in conditions if entry["type"] != "ReplicaFailure"]
    elif not failed:
        # Said once: a message that names another pod at every try must not make every try a change.
        conditions.append(
            {
                "type": "ReplicaFailure",
                "status": "True",
                "lastTransitionTime": wire_time(work.unix_ms),
                "reason": "FailedDelete" if len(active) > asked_pods(owner) else "FailedCreate",
                "message": failure.message,
            }
        )
    if conditions:
        status["conditions"] = conditions
    return status


def _must_unless_gone(result: Result) -> None:
    if result.error is not None and result.error.code != 404:
        raise result.error
