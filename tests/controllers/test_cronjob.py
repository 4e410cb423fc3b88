"""CronJobs over session time: what is made when, what is kept, and what is told."""

from __future__ import annotations

from typing import Any

from controllers.log.operations import Delete, Patch
from tests.controllers.test_job import JOBS, events, job
from tests.tools.lab import Document, Lab, node

CRONJOBS = "cronjobs.batch"
MINUTES = 29_453_760
"""Minutes of Unix time at which a session's clock begins."""


def cron(
    name: str = "tick", *, schedule: str = "* * * * *", orders: dict[str, str] | None = None, **spec: Any
) -> Document:
    """Return a CronJob whose pods do what annotations say."""
    template = {"metadata": {"labels": {"of": name}}, "spec": job(orders=orders)["spec"]}
    metadata = {"name": name, "namespace": "default"}
    body = {"schedule": schedule, "jobTemplate": template, **spec}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata, "spec": body}


def names(lab: Lab) -> list[str]:
    """Return the names of all Jobs."""
    return [one["metadata"]["name"] for one in lab.list(JOBS)]


def told(lab: Lab) -> list[str]:
    """Return the reasons of what was told about CronJobs."""
    return [reason for reason, _ in events(lab, "CronJob")]


def test_a_job_is_made_each_time_and_the_last_three_are_kept() -> None:
    lab = Lab([node("n1"), cron(orders={"run": "complete"})])
    lab.run(59)
    assert names(lab) == []
    lab.run(4 * 60 + 30)
    assert names(lab) == [f"tick-{MINUTES + number}" for number in (3, 4, 5)]
    first = lab.list(JOBS)[0]
    assert first["metadata"]["labels"] == {"of": "tick"}
    assert first["metadata"]["annotations"] == {
        "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T00:03:00Z"
    }
    status = lab.get(CRONJOBS, "tick")["status"]
    assert status["lastScheduleTime"] == "2026-01-01T00:05:00Z"
    assert status["lastSuccessfulTime"] > status["lastScheduleTime"]
    assert "active" not in status
    assert told(lab)[:4] == ["SuccessfulCreate", "SawCompletedJob", "SuccessfulCreate", "SawCompletedJob"]
    assert ("SuccessfulDelete", f"Deleted job tick-{MINUTES + 1}") in events(lab, "CronJob")


def test_a_job_that_is_not_kept_counts_as_the_last_that_succeeded() -> None:
    lab = Lab([node("n1"), cron(orders={"run": "complete"}, successfulJobsHistoryLimit=0)])
    lab.run(110)
    assert names(lab) == []
    status = lab.get(CRONJOBS, "tick")["status"]
    assert status["lastSuccessfulTime"] > status["lastScheduleTime"]


def test_jobs_that_run_longer_run_side_by_side_or_one_waits_or_takes_the_place() -> None:
    policies = ("Allow", "Forbid", "Replace")
    lab = Lab([node("n1"), *(cron(policy.lower(), concurrencyPolicy=policy) for policy in policies)])
    lab.run(200)
    active = {name: [one["name"] for one in lab.get(CRONJOBS, name.lower())["status"]["active"]] for name in policies}
    assert active == {
        "Allow": [f"allow-{MINUTES + number}" for number in (1, 2, 3)],
        "Forbid": [f"forbid-{MINUTES + 1}"],
        "Replace": [f"replace-{MINUTES + 3}"],
    }
    text = "Not starting job because prior execution is running and concurrency policy is Forbid"
    assert ("JobAlreadyActive", text) in events(lab, "CronJob")
    assert len(names(lab)) == 5


def test_nothing_is_made_while_it_is_suspended_and_a_late_time_is_missed() -> None:
    lab = Lab([node("n1"), cron(suspend=True, startingDeadlineSeconds=20)])
    lab.run(100)
    assert names(lab) == []
    lab.do(Patch(CRONJOBS, "default", "tick", {"spec": {"suspend": False}}))
    lab.run(10)
    assert names(lab) == [], "the last time is more than twenty seconds past"
    lab.run(20)
    assert names(lab) == [f"tick-{MINUTES + 2}"]


def test_a_job_that_somebody_deletes_goes_from_the_list() -> None:
    lab = Lab([node("n1"), cron()])
    lab.run(70)
    (name,) = names(lab)
    lab.do(Delete(JOBS, "default", name, propagation="Background"))
    lab.run(20)
    assert "active" not in lab.get(CRONJOBS, "tick")["status"]
    assert ("MissingJob", f"Active job went missing: {name}") in events(lab, "CronJob")


def test_a_schedule_is_in_its_time_zone() -> None:
    lab = Lab([node("n1"), cron(schedule="2 8 * * *", timeZone="Asia/Shanghai")])
    lab.run(130)
    (made,) = lab.list(JOBS)
    when = made["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    assert when == "2026-01-01T08:02:00+08:00"


def test_many_missed_times_are_told_and_one_job_is_made() -> None:
    lab = Lab([node("n1"), cron(suspend=True)])
    lab.run(102 * 60)
    lab.do(Patch(CRONJOBS, "default", "tick", {"spec": {"suspend": False}}))
    lab.run(5)
    assert names(lab) == [f"tick-{MINUTES + 102}"]
    assert "TooManyMissedTimes" in told(lab)


def test_an_idle_cronjob_writes_nothing_between_its_times() -> None:
    lab = Lab([node("n1"), cron(schedule="0 * * * *")])
    lab.run(60)
    before = lab.store.revision
    lab.run(600)
    fresh = [row for row in lab.rows() if row.revision > before and row.resource != "leases.coordination.k8s.io"]
    assert [row for row in fresh if row.resource in (CRONJOBS, JOBS, "events")] == []
