"""The status of a Job: ended pods are held in it, lose their finalizer, and are counted; then it may be over.

Source: pkg/controller/job/job_controller.go (trackJobStatusAndRemoveFinalizers, flushUncountedAndRemoveFinalizers),
v1.34.
"""

from __future__ import annotations

from typing import Final

from controllers.job import facts
from controllers.job.conditions import ending, put, set_count
from controllers.job.look import Look, Steps
from controllers.kinds.batch import indexes
from controllers.kit.manager import must
from controllers.log.operations import Patch, Update
from scheduler_core.api.document import Document

JOBS: Final = "jobs.batch"
UNCOUNTED_MAX: Final = 500
"""Pods that a status holds as ended and not counted."""


class Tracking(Look):
    """A look that counts pods in the status and writes it."""

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
                set_count(self.status, name, int(self.status.get(name) or 0) + len(uids) - len(left))
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
        set_count(self.status, "succeeded", len(self._done))
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
        self.finished = ending(last, self.finished["reason"], self.finished["message"], self._now)
        return not known

    def _finish(self) -> bool:
        if self.finished is None or any(self._uncounted.values()) or self.terminating > 0:
            return False
        self._conditions = put(self._conditions, self.finished)
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
