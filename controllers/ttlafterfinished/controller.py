"""Deletes finished Jobs when spec.ttlSecondsAfterFinished is over.

Source: pkg/controller/ttlafterfinished/ttlafterfinished_controller.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from controllers.kit.manager import Reconcile, Setup, Work, key_of, split_key
from controllers.log.operations import Delete
from controllers.log.stamps import unix_ms_of
from scheduler_core.api.document import Document

_JOBS: Final = "jobs.batch"


class TTLAfterFinishedController:
    """Reconciles Jobs that are over, by key."""

    NAME: ClassVar[str] = "ttl-after-finished"
    RESOURCES: ClassVar[tuple[str, ...]] = (_JOBS,)

    def __init__(self, setup: Setup) -> None:
        """Listen to Jobs."""
        self._jobs = setup.informers[_JOBS]
        self._queue = setup.queue
        self._jobs.add_handler(self._changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None and "deletionTimestamp" not in new["metadata"] and _ended_ms(new) is not None:
            self._queue.add(key_of(new))

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Delete the Job, or look again when its time is over."""
        job = self._jobs.get(*split_key(key))
        ended_ms = None if job is None else _ended_ms(job)
        if job is None or ended_ms is None or "deletionTimestamp" in job["metadata"]:
            work.tell("not to be removed, or not over", desired={}, actual={})
            return
        left_ms = ended_ms + 1000 * int(job["spec"]["ttlSecondsAfterFinished"]) - work.unix_ms
        work.tell(
            "its time is not over yet" if left_ms > 0 else "its time is over: it goes",
            desired={"spec.ttlSecondsAfterFinished": job["spec"]["ttlSecondsAfterFinished"]},
            actual={"seconds left": max(0, left_ms) // 1000},
        )
        if left_ms > 0:
            work.queue.add_at(key, work.now_ms + left_ms)
            return
        metadata = job["metadata"]
        results = yield [
            Delete(_JOBS, metadata["namespace"], metadata["name"], uid=metadata["uid"], propagation="Foreground")
        ]
        if results[0].error is not None and results[0].error.code != 404:
            raise results[0].error


def _ended_ms(job: Mapping[str, Any]) -> int | None:
    """Return when a Job that is to be removed ended, in Unix milliseconds; None where it is to stay or runs."""
    if job["spec"].get("ttlSecondsAfterFinished") is None:
        return None
    for one in (job.get("status") or {}).get("conditions") or ():
        if one.get("type") in ("Complete", "Failed") and one.get("status") == "True":
            return unix_ms_of(one["lastTransitionTime"])
    return None
