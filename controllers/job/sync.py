"""One look at a Job: how many pods it has, whether it is over, what to make and what to end, and its status.

Source: pkg/controller/job/job_controller.go (syncJob, manageJob, trackJobStatusAndRemoveFinalizers), v1.34.
"""

from __future__ import annotations

from controllers.job import facts
from controllers.job.conditions import ending, put, set_count
from controllers.job.look import Steps
from controllers.job.managing import Managing
from controllers.job.tracking import Tracking


class Sync(Managing, Tracking):
    """A whole look."""

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
                self.finished = ending(
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
        set_count(self.status, "active", self.count)
        self.status["ready"], self.status["terminating"] = self.ready, self.terminating
        yield from self._track(flush)

    def _tell_suspended(self, suspended: bool) -> None:
        status, reason, text = (
            ("True", "JobSuspended", "Job suspended") if suspended else ("False", "JobResumed", "Job resumed")
        )
        known = next((one for one in self._conditions if one["type"] == "Suspended"), None)
        if (known is None and not suspended) or (known is not None and known["status"] == status):
            return
        fresh = {**ending("Suspended", reason, text, self._now), "status": status}
        self._conditions = put(self._conditions, fresh)
        self._suspend_told = True
        self.work.event(self.job, "Job", "Suspended" if suspended else "Resumed", text)
        if not suspended:
            self.status["startTime"] = self._now
