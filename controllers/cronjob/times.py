"""When a CronJob was due last and is due next.

Source: pkg/controller/cronjob/utils.go (mostRecentScheduleTime and what asks it), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from controllers.kinds.batch.schedule import Schedule
from controllers.log.stamps import unix_ms_of

MANY: Final = 100
"""More missed times than this are told: somebody should look at the clocks."""

DELTA_MS: Final = 100
"""So long after its time a CronJob is looked at (nextScheduleDelta)."""


class Unmet(NamedTuple):
    """Since when times count; the last of them that is over, if any; about how many are. All in Unix seconds."""

    since_s: int
    last_s: int | None = None
    missed: int = 0


class NeverDue(ValueError):
    """The schedule names days that no year has."""


def unmet(job: Mapping[str, Any], schedule: Schedule, now_s: int, *, within_deadline: bool) -> Unmet:
    """Return the times of a CronJob that are over and were not met.

    Raises:
        NeverDue: there are none at all.
    """
    last, deadline = (job.get("status") or {}).get("lastScheduleTime"), job["spec"].get("startingDeadlineSeconds")
    since_s = unix_ms_of(last or job["metadata"]["creationTimestamp"]) // 1000
    if within_deadline and deadline is not None:
        since_s = max(since_s, now_s - int(deadline))
    first = schedule.next(since_s)
    second = None if first is None else schedule.next(first)
    if first is None or second is None:
        raise NeverDue("time difference between two schedules is less than 1 second")
    if now_s < first:
        return Unmet(since_s)
    if now_s < second:
        return Unmet(since_s, first, 1)
    step = second - first
    missed = (now_s - first) // step + 1
    found: int | None = None
    due = schedule.next(first + (missed - 2) * step)
    while due is not None and due <= now_s:
        found = due
        due = schedule.next(due)
    return Unmet(since_s, found, missed)


def wait_ms(job: Mapping[str, Any], schedule: Schedule, unix_ms: int) -> int | None:
    """Return how long until a CronJob is to be looked at again; None: never."""
    now_s = unix_ms // 1000
    try:
        found = unmet(job, schedule, now_s, within_deadline=False)
    except NeverDue:
        found = Unmet(now_s, now_s)
    from_s = found.last_s if found.last_s is not None else (now_s if found.missed else found.since_s)
    due = schedule.next(from_s)
    return None if due is None else max(0, due * 1000 + DELTA_MS - unix_ms)
