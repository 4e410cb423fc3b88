"""What upstream's end-to-end tests of Jobs and CronJobs do (test/e2e/apps/job.go and cronjob.go, v1.34)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from controllers.log.operations import Patch
from scheduler_core.api.errors import ApiError
from tests.tools.lab import Document, Lab, node
from tests.tools.upstream import condition_of, controller_of, deleted, does, make, names, patched, updated

JOBS = "jobs.batch"
CRONS = "cronjobs.batch"
FOREVER = ["/bin/sh", "-c", "sleep 1000000"]
SUCCEED = ["/bin/sh", "-c", "exit 0"]


def pod_spec(command: list[str] | None, policy: str = "Never") -> Document:
    container: Document = {"name": "c", "image": "busybox:1.37"}
    if command is not None:
        container["command"] = command
    return {"restartPolicy": policy, "terminationGracePeriodSeconds": 0, "containers": [container]}


def job(command: list[str], **spec: Any) -> Document:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job", "namespace": "default", "labels": {"e2e-job-label": "job"}},
        "spec": {
            "parallelism": 2,
            "completions": 4,
            "backoffLimit": 6,
            "template": {"metadata": {"labels": {"job": "job"}}, "spec": pod_spec(command)},
            **spec,
        },
    }


def cron(policy: str, command: list[str] | None, name: str = "cron", **spec: Any) -> Document:
    template = {"spec": {"parallelism": 1, "completions": 1, "template": {"spec": pod_spec(command, "OnFailure")}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"schedule": "*/1 * * * ?", "concurrencyPolicy": policy, "jobTemplate": template, **spec},
    }


def lab_with(*documents: Document, seconds: float = 30) -> Lab:
    lab = Lab([node("n1", cpu="16"), *documents])
    lab.run(seconds)
    return lab


def running(lab: Lab) -> int:
    return sum(1 for one in lab.list("pods", "default") if one["status"].get("phase") == "Running")


def status(lab: Lab) -> Document:
    found: Document = lab.get(JOBS, "job")["status"]
    return found


@does("Job should not create pods when created in suspend state")
def test_a_job_that_begins_suspended() -> None:
    lab = lab_with(job(SUCCEED, suspend=True))
    assert condition_of(lab.get(JOBS, "job"), "Suspended")["status"] == "True"
    assert names(lab) == []
    updated(lab, JOBS, "job", lambda one: one["spec"].update(suspend=False))
    lab.run(120)
    done = condition_of(lab.get(JOBS, "job"), "Complete")
    assert (done["status"], done["reason"], status(lab)["succeeded"]) == ("True", "CompletionsReached", 4)


@does("Job should delete pods when suspended")
def test_suspending_ends_the_pods() -> None:
    lab = lab_with(job(FOREVER, suspend=False))
    assert running(lab) == 2
    updated(lab, JOBS, "job", lambda one: one["spec"].update(suspend=True))
    lab.run(60)
    assert names(lab) == []
    assert condition_of(lab.get(JOBS, "job"), "Suspended")["status"] == "True"


@does("Job should update the status ready field")
def test_ready_is_told_from_the_beginning() -> None:
    lab = lab_with(job(FOREVER, suspend=True))
    assert status(lab)["ready"] == 0
    updated(lab, JOBS, "job", lambda one: one["spec"].update(suspend=False))
    lab.run(30)
    assert status(lab)["ready"] == 2
    updated(lab, JOBS, "job", lambda one: one["spec"].update(suspend=True))
    lab.run(60)
    assert status(lab)["ready"] == 0


@does("Job should remove pods when job is deleted")
@does("Job should delete a job [Conformance]")
@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
def test_deleting_a_job_takes_its_pods_along(propagation: str) -> None:
    lab = lab_with(job(FOREVER))
    assert running(lab) == 2
    deleted(lab, JOBS, "job", propagation)
    lab.run(60)
    assert names(lab, JOBS) == []
    assert names(lab) == []


@does("Job should fail when exceeds active deadline")
def test_a_deadline_ends_the_job() -> None:
    lab = lab_with(job(FOREVER, activeDeadlineSeconds=1), seconds=60)
    document = lab.get(JOBS, "job")
    assert [(one["type"], one["reason"]) for one in document["status"]["conditions"]] == [
        ("FailureTarget", "DeadlineExceeded"),
        ("Failed", "DeadlineExceeded"),
    ]
    told = status(lab)
    assert (told.get("active", 0), told["ready"], told["terminating"]) == (0, 0, 0)


@does("Job should adopt matching orphans and release non-matching pods [Conformance]")
def test_orphans_are_adopted_and_strangers_released() -> None:
    lab = lab_with(job(FOREVER))
    name = names(lab)[0]
    updated(lab, "pods", name, lambda one: one["metadata"].pop("ownerReferences"))
    lab.run(10)
    assert controller_of(lab.get("pods", name)) == ("Job", "job")
    updated(lab, "pods", name, lambda one: one["metadata"].pop("labels"))
    lab.run(10)
    assert controller_of(lab.get("pods", name)) is None


@does("Job should apply changes to a job status [Conformance]")
def test_its_status_can_be_patched_and_replaced() -> None:
    lab = lab_with(job(FOREVER))
    first, second = "2027-01-15T08:00:00Z", "2027-01-15T09:00:00Z"
    mine = {"type": "CustomConditionType", "status": "True", "lastTransitionTime": first}
    patch = {"metadata": {"annotations": {"patchedstatus": "true"}}, "status": {"conditions": [mine]}}
    told = lab.do(Patch(JOBS, "default", "job", patch, "merge", "status"))
    assert condition_of(told, "CustomConditionType")["lastTransitionTime"] == first
    assert told["metadata"]["annotations"]["patchedstatus"] == "true"

    def later(one: Document) -> None:
        condition_of(one, "CustomConditionType")["lastTransitionTime"] = second

    told = updated(lab, JOBS, "job", later, "status")
    assert condition_of(told, "CustomConditionType")["lastTransitionTime"] == second
    lab.run(10)
    assert condition_of(lab.get(JOBS, "job"), "CustomConditionType")["lastTransitionTime"] == second


@does("Job should manage the lifecycle of a job [Conformance]")
def test_the_life_of_a_job() -> None:
    lab = lab_with(job(SUCCEED, suspend=True))
    before = lab.store.revision
    patched(lab, JOBS, "job", {"metadata": {"labels": {"job": "patched"}}})
    change = {"metadata": {"annotations": {"updated": "true"}}, "spec": {"suspend": False}}
    patched(lab, JOBS, "job", change)
    lab.run(120)
    assert condition_of(lab.get(JOBS, "job"), "Complete")["reason"] == "CompletionsReached"
    deleted(lab, JOBS, "job")
    lab.run(10)
    verbs = [row.verb for row in lab.rows(before) if row.resource == JOBS]
    assert verbs[-1] == "DELETED"
    assert set(verbs[:-1]) == {"MODIFIED"}
    assert names(lab) == []


@does("Job should allow to delegate reconciliation to external controller")
def test_a_job_of_another_controller_is_left_alone() -> None:
    lab = lab_with(job(SUCCEED, managedBy="example.com/custom-job-controller"))
    assert status(lab) == {}
    assert names(lab) == []


def active(lab: Lab) -> list[str]:
    return [one["name"] for one in lab.get(CRONS, "cron")["status"].get("active") or ()]


def unfinished(lab: Lab) -> list[str]:
    found = [one for one in lab.list(JOBS, "default") if not one["status"].get("completionTime")]
    return sorted(one["metadata"]["name"] for one in found)


@does("CronJob should schedule multiple jobs concurrently [Conformance]")
def test_jobs_run_at_once_where_they_may() -> None:
    lab = lab_with(cron("Allow", ["sleep", "300"]), seconds=150)
    assert len(active(lab)) >= 2
    assert sorted(active(lab)) == unfinished(lab)


@does("CronJob should not schedule jobs when suspended [Slow] [Conformance]")
def test_nothing_comes_of_a_suspended_one() -> None:
    lab = lab_with(cron("Allow", ["sleep", "300"], suspend=True), seconds=360)
    assert (active(lab), names(lab, JOBS)) == ([], [])


@does("CronJob should not schedule new jobs when ForbidConcurrent [Slow] [Conformance]")
def test_one_at_a_time() -> None:
    lab = lab_with(cron("Forbid", ["sleep", "300"]), seconds=70)
    first = active(lab)
    assert len(first) == 1
    lab.run(180)
    assert active(lab) == first == unfinished(lab)


@does("CronJob should replace jobs when ReplaceConcurrent [Conformance]")
def test_a_new_job_replaces_the_last() -> None:
    lab = lab_with(cron("Replace", ["sleep", "300"]), seconds=70)
    first = active(lab)
    assert len(first) == 1
    lab.run(70)
    assert len(active(lab)) == 1
    assert active(lab) != first
    assert first[0] not in names(lab, JOBS)


@does("CronJob should be able to schedule after more than 100 missed schedule")
def test_many_missed_times_hold_nothing_up() -> None:
    lab = lab_with(cron("Forbid", ["sleep", "300"], suspend=True), seconds=300 * 60)
    patched(lab, CRONS, "cron", {"spec": {"suspend": False}})
    lab.run(70)
    assert len(active(lab)) == 1
    assert len(unfinished(lab)) == 1


@does("CronJob should not emit unexpected warnings")
@does("CronJob should set the cronjob-scheduled-timestamp annotation on a job")
def test_jobs_say_when_they_were_due_and_nothing_unexpected_is_told() -> None:
    lab = lab_with(cron("Allow", None), seconds=30)
    # An image that nobody named runs for ever; this one ends.
    patched(lab, CRONS, "cron", {"spec": {"jobTemplate": {"spec": {"template": {"spec": pod_spec(SUCCEED)}}}}})
    lab.run(200)
    jobs = lab.list(JOBS, "default")
    assert len(jobs) >= 2
    assert any(condition_of(one, "Complete") for one in jobs)
    due = [one["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"] for one in jobs]
    assert [datetime.fromisoformat(text).second for text in due] == [0] * len(due)
    assert not {"MissingJob", "UnexpectedJob"} & set(lab.reasons("cron"))


@does("CronJob should remove from active list jobs that have been deleted")
def test_a_job_that_is_deleted_is_not_active() -> None:
    lab = lab_with(cron("Forbid", ["sleep", "300"]), seconds=70)
    (name,) = active(lab)
    deleted(lab, JOBS, name)
    lab.run(30)
    assert name not in active(lab)
    assert "MissingJob" in lab.reasons("cron")


@does("CronJob should support timezone")
def test_a_time_zone_that_is_none_is_refused() -> None:
    lab = lab_with(seconds=1)
    with pytest.raises(ApiError) as refusal:
        make(lab, CRONS, cron("Allow", ["/bin/false"], timeZone="bad-time-zone"))
    assert (refusal.value.code, refusal.value.reason) == (422, "Invalid")
    make(lab, CRONS, cron("Allow", ["/bin/false"], timeZone="Europe/Zurich"))
