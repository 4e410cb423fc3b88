"""What one look at a Job finds: how many pods it has, which indexes are done, and whether it is over.

Source: pkg/controller/job/job_controller.go (syncJob) and indexed_job_utils.go, success_policy.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from controllers.job import facts
from controllers.job.backoff import Failures
from controllers.job.conditions import ending
from controllers.kinds.batch import indexes
from controllers.kit.expectations import Expectations
from controllers.kit.manager import Work
from controllers.kit.pods import is_active, ready_since_ms
from controllers.log.operations import Operation, Result
from controllers.log.stamps import unix_ms_of, wire_time
from scheduler_core.api.document import Document, condition
from scheduler_core.api.errors import ApiError

Steps = Generator[Sequence[Operation], Sequence[Result], None]


class Look:
    """One look at one Job; `status` is what will be written of it."""

    def __init__(
        self,
        key: str,
        job: Document,
        pods: list[Document],
        work: Work,
        released: set[str],
        expectations: Expectations,
        failures: Failures,
    ) -> None:
        """Count the pods; nothing is asked for yet."""
        self.key, self.job, self.pods, self.work = key, job, pods, work
        self.spec: Mapping[str, Any] = job["spec"]
        self.error: ApiError | None = None
        self.counted = False
        self._released, self._expectations = released, expectations
        self._now = wire_time(work.unix_ms)
        status = dict(job.get("status") or {})
        self.status: Document = status
        self._conditions: list[Document] = [dict(one) for one in status.get("conditions") or ()]
        waiting = status.get("uncountedTerminatedPods") or {}
        self._uncounted = {name: list(waiting.get(name) or ()) for name in ("succeeded", "failed")}
        self._before = {name: frozenset(uids) for name, uids in self._uncounted.items()}
        self.active = [pod for pod in pods if is_active(pod)]
        self.count = len(self.active)
        self.ready = sum(1 for pod in self.active if ready_since_ms(pod) is not None)
        self.terminating = sum(1 for pod in pods if facts.is_terminating(pod))
        succeeded = [pod for pod in self._new("succeeded") if facts.phase_of(pod) == "Succeeded"]
        failed = [pod for pod in self._new("failed") if facts.is_failed(pod, job)]
        self.succeeded = int(status.get("succeeded") or 0) + len(succeeded) + len(self._before["succeeded"])
        counted = sum(1 for pod in failed if facts.judged(job, pod).counts)
        self.failed = int(status.get("failed") or 0) + counted + len(self._before["failed"])
        self.failures = failures.after(succeeded, failed)
        self._done_before: set[int] = set()
        self._done: set[int] = set()
        self._lost: set[int] | None = None
        self._delayed: dict[int, Document] = {}
        self.finished: Document | None = None
        self._suspend_told = False

    @property
    def completions(self) -> int:
        """Return how many completions are asked for; 0 where no number is."""
        return int(self.spec.get("completions") or 0)

    def _new(self, name: str) -> list[Document]:
        """Return pods with a finalizer that are not held as ended yet, and of Indexed Jobs those with a valid index."""
        return [pod for pod in self.pods if self._is_valid(pod) and pod["metadata"]["uid"] not in self._before[name]]

    def _is_valid(self, pod: Document) -> bool:
        if not facts.is_tracked(pod) or pod["metadata"]["uid"] in self._released:
            return False
        return not facts.is_indexed(self.job) or self._index(pod) is not None

    def _index(self, pod: Document) -> int | None:
        index = facts.index_of(pod)
        return index if index is not None and index < self.completions else None

    # -- whether it is over -----------------------------------------------------------------------------------------

    def _ended(self, suspended: bool) -> Document | None:
        """Return the condition with which the Job ends, as far as its counts say."""
        met = condition(self.job, "SuccessCriteriaMet")
        if met is not None and met.get("status") == "True":
            return dict(met)
        target = condition(self.job, "FailureTarget")
        if target is not None and target.get("status") == "True":
            return ending("Failed", target.get("reason", ""), target.get("message", ""), self._now)
        for pod in self.pods:
            message = facts.judged(self.job, pod).message if facts.is_failed(pod, self.job) else ""
            if message:
                return ending("FailureTarget", "PodFailurePolicy", message, self._now)
        if self.failed > int(self.spec["backoffLimit"]) or self._restarted_too_often():
            text = "Job has reached the specified backoff limit"
            return ending("FailureTarget", "BackoffLimitExceeded", text, self._now)
        return self._late(suspended)

    def _late(self, suspended: bool) -> Document | None:
        deadline, started = self.spec.get("activeDeadlineSeconds"), self.status.get("startTime")
        if deadline is None or suspended or started is None:
            return None
        left_ms = unix_ms_of(started) + 1000 * int(deadline) - self.work.unix_ms
        if left_ms <= 0:
            text = "Job was active longer than specified deadline"
            return ending("FailureTarget", "DeadlineExceeded", text, self._now)
        self.work.queue.add_at(self.key, self.work.now_ms + left_ms)
        return None

    def _restarted_too_often(self) -> bool:
        if ((self.spec.get("template") or {}).get("spec") or {}).get("restartPolicy") != "OnFailure":
            return False
        restarts, limit = facts.restarts_of(self.pods), int(self.spec["backoffLimit"])
        return restarts > 0 if limit == 0 else restarts >= limit

    def _count_indexes(self) -> None:
        job = self.job
        self._done_before = indexes.read(self.status.get("completedIndexes"), self.completions)
        fresh = {
            index
            for pod in self.pods
            if facts.phase_of(pod) == "Succeeded" and facts.is_tracked(pod) and (index := self._index(pod)) is not None
        }
        self._done = self._done_before | fresh
        self.succeeded = len(self._done)
        if facts.limits_each_index(job):
            self._count_lost()
        policy = self.spec.get("successPolicy")
        if self.finished is None and policy is not None and self._done:
            for number, rule in enumerate(policy.get("rules") or ()):
                if self._meets(rule):
                    text = f"Matched rules at index {number}"
                    self.finished = ending("SuccessCriteriaMet", "SuccessPolicy", text, self._now)
                    break

    def _count_lost(self) -> None:
        """Count indexes that are given up, and find the failed pods that wait for the one that follows them."""
        self._lost = indexes.read(self.status.get("failedIndexes"), self.completions)
        self._lost |= {
            index
            for pod in self.pods
            if facts.is_tracked(pod) and (index := self._index(pod)) is not None and self._gives_up(pod)
        }
        most = self.spec.get("maxFailedIndexes")
        if self.finished is None and most is not None and len(self._lost) > int(most):
            text = "Job has exceeded the specified maximal number of failed indexes"
            self.finished = ending("FailureTarget", "MaxFailedIndexesExceeded", text, self._now)
        elif self.finished is None and self._lost and len(self._lost) + len(self._done) >= self.completions:
            self.finished = ending("FailureTarget", "FailedIndexes", "Job has failed indexes", self._now)
        settled = self._done | self._lost | {index for pod in self.active if (index := facts.index_of(pod)) is not None}
        for pod in self.pods:
            place = self._index(pod)
            if not self._is_valid(pod) or place is None or place in settled or not facts.is_failed(pod, self.job):
                continue
            known = self._delayed.get(place)
            if known is None or (
                facts.all_failures_of(known) <= facts.all_failures_of(pod)
                and facts.finished_ms(pod) >= facts.finished_ms(known)
            ):
                self._delayed[place] = pod

    def _gives_up(self, pod: Document) -> bool:
        if not facts.is_failed(pod, self.job):
            return False
        verdict = facts.judged(self.job, pod)
        if verdict.action == "FailIndex":
            return True
        return verdict.counts and facts.failures_of(pod) >= int(self.spec["backoffLimitPerIndex"])

    def _meets(self, rule: Mapping[str, Any]) -> bool:
        text, count = rule.get("succeededIndexes"), rule.get("succeededCount")
        if text is None:
            return count is not None and len(self._done) >= int(count)
        wanted = indexes.read(text, self.completions)
        reached = len(wanted & self._done)
        return bool(wanted) and (reached == len(wanted) or (count is not None and reached >= int(count)))

    def _is_complete(self) -> bool:
        if self.spec.get("completions") is None:
            return self.succeeded > 0 and self.count == 0
        return self.succeeded >= self.completions and self.count == 0
