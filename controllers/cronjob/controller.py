"""Makes Jobs at the times that CronJobs name, and removes old ones.

Source: pkg/controller/cronjob/cronjob_controllerv2.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final

from controllers.cronjob.times import MANY, NeverDue, unmet, wait_ms
from controllers.kinds.batch.schedule import Schedule, ScheduleError, UnknownZone, read, zone_of
from controllers.kit.informer import by_controller
from controllers.kit.manager import Reconcile, Setup, Work, key_of, must, split_key
from controllers.kit.pods import controller_of, owner_reference
from controllers.log.operations import Create, Delete, Operation, Result, Update
from controllers.log.stamps import unix_ms_of, wire_time
from scheduler_core.api.document import Document

CRONJOBS: Final = "cronjobs.batch"
JOBS: Final = "jobs.batch"
SCHEDULED: Final = "batch.kubernetes.io/cronjob-scheduled-timestamp"
"""Annotation of a Job: the time that it was made for, in the CronJob's time zone."""

Steps = Generator[Sequence[Operation], Sequence[Result], None]


class CronJobController:
    """Reconciles CronJobs, by key."""

    NAME: ClassVar[str] = "cronjob"
    RESOURCES: ClassVar[tuple[str, ...]] = (CRONJOBS, JOBS)

    def __init__(self, setup: Setup) -> None:
        """Index Jobs by owner and listen to both kinds."""
        self._crons = setup.informers[CRONJOBS]
        self._jobs = setup.informers[JOBS]
        self._queue = setup.queue
        self._jobs.add_index("controller", by_controller)
        self._crons.add_handler(self._changed)
        self._jobs.add_handler(self._job_changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None:
            self._queue.add(key_of(new))

    def _job_changed(self, old: Document | None, new: Document | None) -> None:
        for job in (old, new):
            reference = controller_of(job) if job is not None else None
            if job is not None and reference is not None and reference.get("kind") == "CronJob":
                self._queue.add(f"{job['metadata']['namespace']}/{reference['name']}")

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Clean up, look at what became of Jobs, and make the one that is due."""
        namespace, name = split_key(key)
        # As the log has it: a Job that was just made must not be seen before the status that names it.
        stored = work.tick.get(CRONJOBS, namespace, name)
        if stored is None:
            return
        jobs = self._jobs.indexed("controller", stored.uid)
        sync = Sync(key, stored.object, jobs, work)
        yield from sync.run()


class Sync:
    """One look at one CronJob; `status` is what will be written of it."""

    def __init__(self, key: str, cron: Document, jobs: Sequence[Document], work: Work) -> None:
        """Take what there is; nothing is asked for yet."""
        self._key, self._cron, self._jobs, self._work = key, cron, list(jobs), work
        self._spec: Mapping[str, Any] = cron["spec"]
        self._status: Document = dict(cron.get("status") or {})
        self._active: list[Document] = list(self._status.get("active") or ())

    def run(self) -> Steps:
        """Do what is due and write the status."""
        before = (list(self._active), dict(self._status))
        yield from self._clean_up()
        self._look()
        if "deletionTimestamp" not in self._cron["metadata"]:
            schedule = self._schedule()
            if schedule is not None:
                yield from self._start(schedule)
        if before != (self._active, self._status):
            yield from self._write()

    def _event(self, reason: str, message: str, *, warning: bool = False) -> None:
        kind = "Warning" if warning else "Normal"
        self._work.event(self._cron, "CronJob", reason, message, event_type=kind)

    # -- Jobs that there are ------------------------------------------------------------------------------------

    def _clean_up(self) -> Steps:
        """Delete the oldest Jobs that are over, beyond what is kept."""
        for kind, limit in (("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")):
            kept = self._spec.get(limit)
            over = sorted((job for job in self._jobs if _end_of(job) == kind), key=_age_order)
            for job in over[: max(0, len(over) - int(kept))] if kept is not None else ():
                yield from self._delete(job)

    def _delete(self, job: Document) -> Steps:
        metadata = job["metadata"]
        place = (metadata["namespace"], metadata["name"])
        results = yield [Delete(JOBS, *place, uid=metadata["uid"], propagation="Background")]
        error = results[0].error
        if error is not None:
            self._event("FailedDelete", f"Deleted job: {error.message}", warning=True)
            return
        # It is still looked at: how it ended counts.
        self._forget(metadata["uid"])
        self._event("SuccessfulDelete", f"Deleted job {metadata['name']}")

    def _forget(self, uid: str) -> None:
        self._active = [one for one in self._active if one.get("uid") != uid]

    def _look(self) -> None:
        """Take Jobs that are over off the list of active ones, and those that are gone."""
        active = {one.get("uid") for one in self._active}
        for job in self._jobs:
            name, uid, end = job["metadata"]["name"], job["metadata"]["uid"], _end_of(job)
            if uid not in active and not end:
                text = f"Saw a job that the controller did not create or forgot: {name}"
                self._event("UnexpectedJob", text, warning=True)
            elif end and uid in active:
                self._forget(uid)
                self._event("SawCompletedJob", f"Saw completed job: {name}, condition: {end}")
            done = (job.get("status") or {}).get("completionTime")
            known = self._status.get("lastSuccessfulTime")
            if end == "Complete" and done and (not known or unix_ms_of(done) > unix_ms_of(known)):
                self._status["lastSuccessfulTime"] = done
        present = {job["metadata"]["uid"] for job in self._jobs}
        for one in list(self._active):
            if one.get("uid") not in present:
                self._event("MissingJob", f"Active job went missing: {one.get('name')}")
                self._forget(str(one.get("uid")))

    # -- the Job that is due ------------------------------------------------------------------------------------

    def _schedule(self) -> Schedule | None:
        """Return the schedule, unless nothing is to be made by it."""
        zone, text = self._spec.get("timeZone"), str(self._spec.get("schedule"))
        try:
            schedule = read(text, zone)
        except UnknownZone as error:
            self._event("UnknownTimeZone", f'invalid timeZone: "{zone}": {error}', warning=True)
            return None
        except ScheduleError as error:
            self._event("UnparseableSchedule", f'unparseable schedule: "{text}" : {error}', warning=True)
            return None
        return None if self._spec.get("suspend") else schedule

    def _start(self, schedule: Schedule) -> Steps:
        """Make the Job of the last time that is over, if it is to be made, and come back at the next."""
        unix_ms = self._work.unix_ms
        try:
            found = unmet(self._cron, schedule, unix_ms // 1000, within_deadline=True)
        except NeverDue as error:
            self._event("InvalidSchedule", f"invalid schedule: {self._spec.get('schedule')} : {error}", warning=True)
            return
        if found.last_s is not None:
            if found.missed > MANY:
                text = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
                self._event("TooManyMissedTimes", text, warning=True)
            yield from self._start_at(found.last_s)
        self._work.tell(
            "next time by the schedule",
            desired={"spec.schedule": self._spec.get("schedule")},
            actual={
                "status.active": len(self._active),
                "status.lastScheduleTime": self._status.get("lastScheduleTime"),
            },
        )
        later_ms = wait_ms({**self._cron, "status": self._status}, schedule, unix_ms)
        if later_ms is not None:
            self._work.queue.add_at(self._key, self._work.now_ms + later_ms)

    def _start_at(self, due_s: int) -> Steps:
        deadline, policy = self._spec.get("startingDeadlineSeconds"), self._spec.get("concurrencyPolicy")
        if deadline is not None and 1000 * (due_s + int(deadline)) < self._work.unix_ms:
            when = datetime.fromtimestamp(due_s, zone_of(None)).strftime("%a, %d %b %Y %H:%M:%S +0000")
            self._event("MissSchedule", f"Missed scheduled time to start a job: {when}", warning=True)
            return
        job = self._job(due_s)
        last, name = self._status.get("lastScheduleTime"), job["metadata"]["name"]
        if any(one.get("name") == name for one in self._active) or (last and unix_ms_of(last) == 1000 * due_s):
            return
        if policy == "Forbid" and self._active:
            text = "Not starting job because prior execution is running and concurrency policy is Forbid"
            self._event("JobAlreadyActive", text)
            return
        if policy == "Replace":
            for one in list(self._active):
                running = next((job for job in self._jobs if job["metadata"]["uid"] == one.get("uid")), None)
                if running is not None:
                    yield from self._delete(running)
        results = yield [Create(JOBS, self._cron["metadata"]["namespace"], job)]
        yield from self._made(results[0], name, due_s)

    def _made(self, result: Result, name: str, due_s: int) -> Steps:
        made = result.object
        if result.error is not None:
            if result.error.reason == "AlreadyExists":
                made = next((job for job in self._jobs if job["metadata"]["name"] == name), None)
                if made is None:
                    return
            else:
                if not any(cause.reason == "NamespaceTerminating" for cause in result.error.causes):
                    self._event("FailedCreate", f"Error creating job: {result.error.message}", warning=True)
                yield from self._write()
                raise result.error
        else:
            self._event("SuccessfulCreate", f"Created job {name}")
        assert made is not None, "a result has an object or an error"
        metadata = made["metadata"]
        places = {field: metadata[field] for field in ("namespace", "name", "uid", "resourceVersion")}
        self._active.append({"kind": "Job", "apiVersion": "batch/v1", **places})
        self._status["lastScheduleTime"] = wire_time(1000 * due_s)

    def _job(self, due_s: int) -> Document:
        """Return the Job of a time; its name is that time's, so that it cannot be made twice."""
        template = self._spec.get("jobTemplate") or {}
        given = template.get("metadata") or {}
        zone = zone_of(self._spec.get("timeZone"))
        when = datetime.fromtimestamp(due_s, zone).isoformat().replace("+00:00", "Z")
        metadata: Document = {
            "name": f"{self._cron['metadata']['name']}-{due_s // 60}",
            "annotations": {**(given.get("annotations") or {}), SCHEDULED: when},
            "ownerReferences": [owner_reference(self._cron)],
        }
        if given.get("labels"):
            metadata["labels"] = dict(given["labels"])
        spec = template.get("spec") or {}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}

    def _write(self) -> Steps:
        status = dict(self._status)
        status.pop("active", None)
        if self._active:
            status["active"] = self._active
        metadata = self._cron["metadata"]
        if status == (self._cron.get("status") or {}):
            return
        known = {field: metadata[field] for field in ("name", "uid", "resourceVersion")}
        body = {"metadata": known, "status": status}
        results = yield [Update(CRONJOBS, metadata["namespace"], metadata["name"], body, "status")]
        must(results[0])


def _end_of(job: Mapping[str, Any]) -> str:
    """Return `Complete` or `Failed` where a Job is over."""
    for one in (job.get("status") or {}).get("conditions") or ():
        if one.get("type") in ("Complete", "Failed") and one.get("status") == "True":
            return str(one["type"])
    return ""


def _age_order(job: Mapping[str, Any]) -> tuple[bool, str, str]:
    started = (job.get("status") or {}).get("startTime")
    return (not started, str(started or ""), str(job["metadata"]["name"]))
