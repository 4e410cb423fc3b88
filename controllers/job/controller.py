"""Runs the pods of Jobs, and counts each of them once.

Source: pkg/controller/job/job_controller.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import ClassVar, Final

from controllers.job.backoff import Failures
from controllers.job.facts import TRACKING, is_finished, is_managed_here, is_tracked
from controllers.job.sync import Sync
from controllers.job.tracking import JOBS, untracked
from controllers.kit.expectations import Expectations
from controllers.kit.interest import FINALIZERS, OWNERS
from controllers.kit.manager import Reconcile, Setup, Work, key_of, split_key
from controllers.kit.ownership import claim, index_ownership, labels_of, requirements_of
from controllers.kit.pods import controller_of
from controllers.log.operations import Operation, Patch, Result
from scheduler_core.api.document import Document
from scheduler_core.api.selectors import matches_all

BATCH_MS: Final = 1_000
"""Changes of pods within this time are looked at together (syncJobBatchPeriod)."""

_BY_JOB: Final = "job"
_ORPHAN: Final = "pod\x00"
"""What keys of pods that no Job counts begin with; no Job's key has such a letter in it."""


class JobController:
    """Reconciles Jobs, by key."""

    NAME: ClassVar[str] = "job"
    RESOURCES: ClassVar[tuple[str, ...]] = (JOBS, "pods")

    def __init__(self, setup: Setup) -> None:
        """Index pods by owner and listen to both kinds."""
        self._jobs = setup.informers[JOBS]
        self._pods = setup.informers["pods"]
        self._queue = setup.queue
        self._expectations = Expectations()
        self._released: dict[str, set[str]] = {}
        """Key → uids of pods whose finalizer was taken and whose change has not been seen."""
        self._failures: dict[str, Failures] = {}
        index_ownership(self._pods)
        self._pods.add_index(_BY_JOB, _tracked_by, of=(OWNERS, FINALIZERS))
        self._jobs.add_index("namespace", _namespace)
        self._jobs.add_handler(self._job_changed)
        self._pods.add_handler(self._pod_changed, owned_by="Job")

    # -- what makes work ----------------------------------------------------------------------------------------

    def _job_changed(self, old: Document | None, new: Document | None) -> None:
        document = new or old
        assert document is not None, "a change has a state before or after"
        key = key_of(document)
        if new is None:
            self._expectations.forget(key)
        if old is not None and new is not None and _generation(old) == _generation(new) and not is_finished(new):
            self._soon(key)
        else:
            self._queue.add(key)

    def _soon(self, key: str) -> None:
        """Look at a Job when its changes have been gathered."""
        self._queue.add_after(key, BATCH_MS)

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        pod = new or old
        assert pod is not None, "a change has a state before or after"
        owner = _owner_key(pod)
        before = _owner_key(old) if old is not None else None
        if before is not None and before != owner:
            self._queue.add(before)
        if owner is None:
            if new is not None and controller_of(pod) is None:
                if is_tracked(new):
                    self._queue.add(_ORPHAN + key_of(new))
                self._queue_matching(pod)
            return
        uid = pod["metadata"]["uid"]
        if new is None or not is_tracked(new):
            self._released.get(owner, set()).discard(uid)
        if new is None or "deletionTimestamp" in new["metadata"]:
            self._expectations.deleted(owner, uid)
        elif old is None:
            self._expectations.created(owner)
        self._soon(owner)

    def _queue_matching(self, pod: Document) -> None:
        """An orphan appeared or changed: a Job that selects it may adopt it; one that is not counted is let go."""
        for candidate in self._jobs.indexed("namespace", pod["metadata"]["namespace"]):
            requirements = requirements_of(candidate["spec"].get("selector"))
            if requirements and matches_all(requirements, labels_of(pod)):
                self._queue.add(key_of(candidate))

    # -- reconciliation -----------------------------------------------------------------------------------------

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Bring one Job's pods and status to what is asked for; take the finalizer off one orphan."""
        if key.startswith(_ORPHAN):
            pod = self._pods.get(*split_key(key.removeprefix(_ORPHAN)))
            if pod is not None and is_tracked(pod) and controller_of(pod) is None:
                yield [untracked(pod)]
            return
        job = self._jobs.get(*split_key(key))
        if job is None or is_finished(job):
            self._failures.pop(key, None)
            if job is None:
                self._expectations.forget(key)
                self._released.pop(key, None)
            if job is None or is_managed_here(job):
                yield from self._let_go(key, work)
            return
        if not is_managed_here(job):
            return
        satisfied = self._expectations.satisfied(key, work.now_ms)
        pods = yield from self._pods_of(job)
        released = self._released.setdefault(key, set())
        sync = Sync(key, job, pods, work, released, self._expectations, self._failures.get(key, Failures()))
        yield from sync.run(satisfied)
        if sync.counted:
            self._failures[key] = sync.failures
        if sync.error is not None:
            raise sync.error

    def _pods_of(self, job: Document) -> Generator[Sequence[Operation], Sequence[Result], list[Document]]:
        """Adopt and release; return the Job's pods."""
        requirements = requirements_of(job["spec"].get("selector"))
        if requirements is None:
            return []
        pods, operations, orphans = claim(job, requirements, self._pods)
        if operations:
            results = yield [_with_finalizer(one, orphans) for one in operations]
            taken = {result.object["metadata"]["uid"]: result.object for result in results if result.object is not None}
            pods = pods + [taken[one["metadata"]["uid"]] for one in orphans if one["metadata"]["uid"] in taken]
        return pods

    def _let_go(self, key: str, work: Work) -> Reconcile:
        """Take the finalizer off pods that nobody will count: their Job is gone or over."""
        pods = self._pods.indexed(_BY_JOB, key)
        job = self._jobs.get(*split_key(key))
        if job is not None:
            pods = [pod for pod in pods if _uid_of_owner(pod) == job["metadata"]["uid"]]
        if pods:
            yield [untracked(pod) for pod in pods]


def _with_finalizer(operation: Operation, orphans: list[Document]) -> Operation:
    """Return an adoption that makes the pod be counted too."""
    if not isinstance(operation, Patch):
        return operation
    metadata = operation.patch["metadata"]
    pod = next((one for one in orphans if one["metadata"]["uid"] == metadata["uid"]), None)
    if pod is None or is_tracked(pod):
        return operation
    finalizers = [*(pod["metadata"].get("finalizers") or ()), TRACKING]
    patch = {"metadata": {**metadata, "finalizers": finalizers}}
    return Patch(operation.resource, operation.namespace, operation.name, patch)


def _owner_key(pod: Document) -> str | None:
    reference = controller_of(pod)
    if reference is None or reference.get("kind") != "Job":
        return None
    return f"{pod['metadata']['namespace']}/{reference['name']}"


def _uid_of_owner(pod: Document) -> str:
    reference = controller_of(pod)
    return "" if reference is None else str(reference.get("uid", ""))


def _tracked_by(pod: Document) -> Iterable[str]:
    owner = _owner_key(pod)
    if owner is not None and is_tracked(pod):
        yield owner


def _namespace(document: Document) -> list[str]:
    return [document["metadata"]["namespace"]]


def _generation(document: Document) -> int:
    return int(document["metadata"].get("generation") or 0)
