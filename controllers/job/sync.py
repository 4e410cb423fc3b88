"""One look at a Job: how many pods it has, whether it is over, what to make and what to end, and its status.

Source: pkg/controller/job/job_controller.go (syncJob, manageJob, trackJobStatusAndRemoveFinalizers), v1.34.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final

from controllers.job import facts
from controllers.job.backoff import Failures, remaining_of_index_ms
from controllers.job.template import pod_of
from controllers.kinds.batch import indexes
from controllers.kit.expectations import Expectations
from controllers.kit.manager import Work, must
from controllers.kit.pods import deletion_order, is_active, ready_since_ms
from controllers.log.operations import Create, Delete, Operation, Patch, Result, Update
from controllers.log.stamps import unix_ms_of, wire_time
from scheduler_core.api.document import Document, condition
from scheduler_core.api.errors import ApiError

JOBS: Final = "jobs.batch"
PODS_PER_SYNC: Final = 500
"""Pods made or ended in one look (MaxPodCreateDeletePerSync)."""

UNCOUNTED_MAX: Final = 500
"""Pods that a status holds as ended and not counted."""

Steps = Generator[Sequence[Operation], Sequence[Result], None]


class Sync:
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

    # -- what is counted ----------------------------------------------------------------------------------------

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

    # -- the look -----------------------------------------------------------------------------------------------

    def run(self, satisfied: bool) -> Steps:
        """Do what the Job's state asks for, then write its status."""
        suspended = bool(self.spec.get("suspend"))
        if self.status.get("startTime") is None and not suspended:
            self.status["startTime"] = self._now
        self.finished = self._ended(suspended)
        if facts.is_indexed(self.job):
            self._count_indexes()
        if self.finished is not None:
            deleted = yield from self._delete(self.active, keep_finalizer=True)
            if deleted != len(self.active) or not satisfied:
                self.finished = None
        else:
            managed = satisfied and "deletionTimestamp" not in self.job["metadata"]
            if managed:
                yield from self._manage(suspended)
            if self._is_complete():
                self.finished = _condition(
                    "SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods", self._now
                )
            elif managed:
                self._tell_suspended(suspended)
        wanted, asked = self.spec.get("completions"), self.spec.get("parallelism")
        self.work.tell(
            self.finished["reason"] if self.finished is not None else "pods at once and pods that ended",
            desired={"spec.completions": wanted, "spec.parallelism": asked},
            actual={"active pods": self.count, "succeeded": self.succeeded, "failed": self.failed},
        )
        old = self.job.get("status") or {}
        flush = self._suspend_told or self.count != int(old.get("active") or 0) or self.ready != old.get("ready")
        flush = flush or self.terminating != old.get("terminating")
        _number(self.status, "active", self.count)
        self.status["ready"], self.status["terminating"] = self.ready, self.terminating
        yield from self._track(flush)

    def _ended(self, suspended: bool) -> Document | None:
        """Return the condition with which the Job ends, as far as its counts say."""
        met = condition(self.job, "SuccessCriteriaMet")
        if met is not None and met.get("status") == "True":
            return dict(met)
        target = condition(self.job, "FailureTarget")
        if target is not None and target.get("status") == "True":
            return _condition("Failed", target.get("reason", ""), target.get("message", ""), self._now)
        for pod in self.pods:
            message = facts.judged(self.job, pod).message if facts.is_failed(pod, self.job) else ""
            if message:
                return _condition("FailureTarget", "PodFailurePolicy", message, self._now)
        if self.failed > int(self.spec["backoffLimit"]) or self._restarted_too_often():
            text = "Job has reached the specified backoff limit"
            return _condition("FailureTarget", "BackoffLimitExceeded", text, self._now)
        return self._late(suspended)

    def _late(self, suspended: bool) -> Document | None:
        deadline, started = self.spec.get("activeDeadlineSeconds"), self.status.get("startTime")
        if deadline is None or suspended or started is None:
            return None
        left_ms = unix_ms_of(started) + 1000 * int(deadline) - self.work.unix_ms
        if left_ms <= 0:
            text = "Job was active longer than specified deadline"
            return _condition("FailureTarget", "DeadlineExceeded", text, self._now)
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
                    self.finished = _condition("SuccessCriteriaMet", "SuccessPolicy", text, self._now)
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
            self.finished = _condition("FailureTarget", "MaxFailedIndexesExceeded", text, self._now)
        elif self.finished is None and self._lost and len(self._lost) + len(self._done) >= self.completions:
            self.finished = _condition("FailureTarget", "FailedIndexes", "Job has failed indexes", self._now)
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

    def _tell_suspended(self, suspended: bool) -> None:
        status, reason, text = (
            ("True", "JobSuspended", "Job suspended") if suspended else ("False", "JobResumed", "Job resumed")
        )
        known = next((one for one in self._conditions if one["type"] == "Suspended"), None)
        if (known is None and not suspended) or (known is not None and known["status"] == status):
            return
        fresh = {**_condition("Suspended", reason, text, self._now), "status": status}
        self._conditions = _put(self._conditions, fresh)
        self._suspend_told = True
        self.work.event(self.job, "Job", "Suspended" if suspended else "Resumed", text)
        if not suspended:
            self.status["startTime"] = self._now

    # -- pods ---------------------------------------------------------------------------------------------------

    def _manage(self, suspended: bool) -> Steps:
        """Make pods or end pods, one of both in a look."""
        if suspended:
            yield from self._delete_expected(self._to_remove(len(self.active)))
            return
        parallelism = int(self.spec.get("parallelism") or 0)
        if self.spec.get("completions") is None:
            wanted = self.count if self.succeeded > 0 else parallelism
        else:
            wanted = max(0, min(self.completions - self.succeeded, parallelism))
        surplus = self._to_remove(max(0, self.count - wanted))[:PODS_PER_SYNC]
        if surplus:
            yield from self._delete_expected(surplus)
            return
        leaving = self.terminating if self.spec.get("podReplacementPolicy") == "Failed" else 0
        missing = min(wanted - leaving - self.count, PODS_PER_SYNC)
        if missing > 0:
            yield from self._create(missing)

    def _to_remove(self, least: int) -> list[Document]:
        """Return pods that are too many: doubles of an index and those without a valid one first."""
        removed: list[Document] = []
        left = self.active
        if facts.is_indexed(self.job):
            by_index: dict[int, list[Document]] = {}
            for pod in self.active:
                index = self._index(pod)
                if index is None:
                    removed.append(pod)
                else:
                    by_index.setdefault(index, []).append(pod)
            ordered = [deletion_order(pods, {}, self.work.unix_ms) for _, pods in sorted(by_index.items())]
            removed += [pod for pods in ordered for pod in pods[:-1]]
            left = [pods[-1] for pods in ordered]
        if len(removed) < least:
            removed += deletion_order(left, {}, self.work.unix_ms)[: least - len(removed)]
        return removed

    def _delete_expected(self, pods: list[Document]) -> Steps:
        if pods:
            uids = [pod["metadata"]["uid"] for pod in pods]
            self._expectations.expect_deletions(self.key, uids, self.work.now_ms)
            yield [untracked(pod) for pod in pods if facts.is_tracked(pod)]
            yield from self._delete(pods, keep_finalizer=False)

    def _delete(
        self, pods: Sequence[Document], *, keep_finalizer: bool
    ) -> Generator[Sequence[Operation], Sequence[Result], int]:
        """Delete pods; returns how many are gone or going."""
        results = yield [
            Delete("pods", pod["metadata"]["namespace"], pod["metadata"]["name"], uid=pod["metadata"]["uid"])
            for pod in pods
        ]
        deleted = 0
        for pod, result in zip(pods, results, strict=True):
            name, error = pod["metadata"]["name"], result.error
            if error is not None and not keep_finalizer:
                self._expectations.deleted(self.key, pod["metadata"]["uid"])
            if error is not None and error.code != 404:
                self.error = self.error or error
                text = f"Error deleting: {error.message}"
                self.work.event(self.job, "Job", "FailedDelete", text, event_type="Warning")
                continue
            if error is None:
                self.work.event(self.job, "Job", "SuccessfulDelete", f"Deleted pod: {name}")
            deleted += 1
            self.ready -= ready_since_ms(pod) is not None
        self.count -= deleted
        self.terminating += deleted
        return deleted

    def _create(self, missing: int) -> Steps:
        places: list[int | None] = [None] * missing
        if facts.is_indexed(self.job):
            places = list(self._pending(missing))
        wait_ms = 0
        if facts.limits_each_index(self.job):
            waits = {place: self._wait_ms(place) for place in places}
            wait_ms = min(waits.values(), default=0)
            places = [place for place in places if waits[place] == 0]
        else:
            wait_ms = self.failures.remaining_ms(self.work.unix_ms)
        if wait_ms > 0:
            self.work.queue.add_at(self.key, self.work.now_ms + wait_ms)
            self.count = 0
            return
        self._expectations.expect_creations(self.key, len(places), self.work.now_ms)
        namespace, size = self.job["metadata"]["namespace"], 1
        self.count += len(places)
        while places:
            batch, places = places[:size], places[size:]
            pods = [pod_of(self.job, place, self._delayed.get(place) if place is not None else None) for place in batch]
            results = yield [Create("pods", namespace, pod) for pod in pods]
            if not self._created(results):
                # What was skipped will not be seen either.
                self._expectations.created(self.key, len(places))
                self.count -= len(places)
                return
            size *= 2

    def _wait_ms(self, place: int | None) -> int:
        return remaining_of_index_ms(self._delayed.get(place) if place is not None else None, self.work.unix_ms)

    def _pending(self, count: int) -> list[int]:
        """Return the first indexes that nothing is done for."""
        busy = {facts.index_of(pod) for pod in self.active} | self._done | (self._lost or set())
        if self.spec.get("podReplacementPolicy") == "Failed":
            busy |= {facts.index_of(pod) for pod in self.pods if facts.is_terminating(pod)}
        found: list[int] = []
        for index in range(self.completions):
            if len(found) == count:
                break
            if index not in busy:
                found.append(index)
        return found

    def _created(self, results: Sequence[Result]) -> bool:
        good = True
        for result in results:
            if result.error is None:
                name = must(result)["metadata"]["name"]
                self.work.event(self.job, "Job", "SuccessfulCreate", f"Created pod: {name}")
                continue
            if any(cause.reason == "NamespaceTerminating" for cause in result.error.causes):
                continue
            good = False
            self._expectations.created(self.key)
            self.count -= 1
            self.error = self.error or result.error
            text = f"Error creating: {result.error.message}"
            self.work.event(self.job, "Job", "FailedCreate", text, event_type="Warning")
        return good

    # -- status -------------------------------------------------------------------------------------------------

    def _track(self, flush: bool) -> Steps:
        """Hold ended pods in the status, take their finalizers, count them, and say when all is over."""
        held = {
            pod["metadata"]["uid"]
            for pod in self.pods
            if facts.is_tracked(pod) and pod["metadata"]["uid"] not in self._released
        }
        flush |= self._count_gone(held)
        counting, complete = self._hold()
        flush |= any(self._before[name] != frozenset(uids) for name, uids in self._uncounted.items())
        if facts.is_indexed(self.job):
            flush |= self._write_indexes()
        flush |= self._name_target()
        if flush or "uncountedTerminatedPods" not in self.status:
            yield from self._write()
        self.counted = True
        if counting:
            self._released |= {pod["metadata"]["uid"] for pod in counting}
            results = yield [untracked(pod) for pod in counting]
            for pod, result in zip(counting, results, strict=True):
                uid = pod["metadata"]["uid"]
                if result.error is not None:
                    self._released.discard(uid)
                if result.error is None or result.error.code in (404, 409):
                    held.discard(uid)
                else:
                    self.error = self.error or result.error
        flush = self._count_gone(held)
        over = complete and self.error is None and self._finish()
        if flush or over:
            yield from self._write()
        if over:
            self._tell_end()

    def _count_gone(self, held: set[str]) -> bool:
        """Count the pods that were held as ended and have no finalizer any more; whether there were any."""
        changed = False
        for name, uids in self._uncounted.items():
            left = [uid for uid in uids if uid in held]
            if len(left) != len(uids):
                changed = True
                _number(self.status, name, int(self.status.get(name) or 0) + len(uids) - len(left))
                self._uncounted[name] = left
        return changed

    def _hold(self) -> tuple[list[Document], bool]:
        """Put ended pods into the status; returns those whose finalizer can go, and whether these are all."""
        counting: list[Document] = []
        succeeded = self.finished is not None and self.finished["type"] == "SuccessCriteriaMet"
        fresh: set[int] = set()
        pods = sorted(self.pods, key=lambda pod: facts.index_of(pod) or 0) if facts.is_indexed(self.job) else self.pods
        for pod in pods:
            uid = pod["metadata"]["uid"]
            if not facts.is_tracked(pod) or uid in self._released or not self._may_go(pod):
                continue
            counting.append(pod)
            index = self._index(pod)
            if facts.phase_of(pod) == "Succeeded" and uid not in self._before["failed"]:
                if not facts.is_indexed(self.job):
                    if uid not in self._before["succeeded"]:
                        self._uncounted["succeeded"].append(uid)
                elif index is not None and index not in self._done_before:
                    fresh.add(index)
            elif facts.is_failed(pod, self.job) or (self.finished is not None and not succeeded):
                valid = not facts.is_indexed(self.job) or index is not None
                if uid not in self._before["failed"] and valid and facts.judged(self.job, pod).counts:
                    self._uncounted["failed"].append(uid)
            if len(fresh) + sum(len(uids) for uids in self._uncounted.values()) >= UNCOUNTED_MAX:
                return counting, False
        return counting, True

    def _may_go(self, pod: Document) -> bool:
        """Return whether a pod's finalizer can be taken."""
        if "deletionTimestamp" in self.job["metadata"] or self.finished is not None:
            return True
        if facts.phase_of(pod) == "Succeeded":
            return True
        if not facts.is_failed(pod, self.job):
            return False
        index = facts.index_of(pod)
        delayed = self._delayed.get(index) if index is not None else None
        return delayed is None or delayed["metadata"]["uid"] != pod["metadata"]["uid"]

    def _write_indexes(self) -> bool:
        before = (self.status.get("completedIndexes"), self.status.get("failedIndexes"))
        _number(self.status, "succeeded", len(self._done))
        text = indexes.written(self._done)
        if text:
            self.status["completedIndexes"] = text
        else:
            self.status.pop("completedIndexes", None)
        if self._lost is not None:
            self.status["failedIndexes"] = indexes.written(self._lost)
        return before != (self.status.get("completedIndexes"), self.status.get("failedIndexes"))

    def _name_target(self) -> bool:
        """Write the condition that comes before the last one; the last one is kept for when all pods are counted."""
        if self.finished is None:
            return False
        kind = self.finished["type"]
        if kind not in ("FailureTarget", "SuccessCriteriaMet"):
            return False
        last = "Failed" if kind == "FailureTarget" else "Complete"
        known = any(one["type"] == kind and one["status"] == "True" for one in self._conditions)
        if not known:
            self._conditions.append(self.finished)
        self.finished = _condition(last, self.finished["reason"], self.finished["message"], self._now)
        return not known

    def _finish(self) -> bool:
        if self.finished is None or any(self._uncounted.values()) or self.terminating > 0:
            return False
        self._conditions = _put(self._conditions, self.finished)
        if self.finished["type"] == "Complete":
            self.status["completionTime"] = self._now
        return True

    def _tell_end(self) -> None:
        assert self.finished is not None, "what has ended has a condition"
        if self.finished["type"] != "Complete":
            reason, text = self.finished["reason"], self.finished["message"]
            self.work.event(self.job, "Job", reason, text, event_type="Warning")
            return
        if self.spec.get("completions") is not None and int(self.status.get("succeeded") or 0) > self.completions:
            text = "Too many succeeded pods running after completion count reached"
            self.work.event(self.job, "Job", "TooManySucceededPods", text, event_type="Warning")
        self.work.event(self.job, "Job", "Completed", "Job completed")

    def _write(self) -> Steps:
        """Write the status as it is now, over the version that was read."""
        status = dict(self.status)
        if self._conditions:
            status["conditions"] = list(self._conditions)
        status["uncountedTerminatedPods"] = {name: list(uids) for name, uids in self._uncounted.items() if uids}
        metadata = self.job["metadata"]
        known = {field: metadata[field] for field in ("name", "uid", "resourceVersion")}
        body = {"metadata": known, "status": status}
        results = yield [Update(JOBS, metadata["namespace"], metadata["name"], body, "status")]
        self.job = must(results[0])
        self.status = status


def untracked(pod: Document) -> Patch:
    """Return the patch that takes the finalizer off a pod."""
    metadata = pod["metadata"]
    left = [one for one in metadata.get("finalizers") or () if one != facts.TRACKING]
    patch = {"metadata": {"finalizers": left or None, "uid": metadata["uid"]}}
    return Patch("pods", metadata["namespace"], metadata["name"], patch)


def _condition(kind: str, reason: str, message: str, now: str) -> Document:
    times = {"lastProbeTime": now, "lastTransitionTime": now}
    return {"type": kind, "status": "True", **times, "reason": reason, "message": message}


def _put(conditions: list[Document], fresh: Document) -> list[Document]:
    """Return conditions with `fresh` in the place of the one of its type, or at the end."""
    if any(one["type"] == fresh["type"] for one in conditions):
        return [fresh if one["type"] == fresh["type"] else one for one in conditions]
    return [*conditions, fresh]


def _number(status: Document, name: str, value: int) -> None:
    """Set a count; the wire omits those that are 0."""
    if value:
        status[name] = value
    else:
        status.pop(name, None)
