"""Jobs, from the request to the last pod: what the status says, who is counted, and what is told."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Delete, Patch
from tests.tools.lab import Document, Lab, node

JOBS = "jobs.batch"
TRACKING = "batch.kubernetes.io/job-tracking"


def job(name: str = "job", *, orders: dict[str, str] | None = None, restart: str = "Never", **spec: Any) -> Document:
    """Return a Job whose pods do what annotations say."""
    annotations = {f"clustersim.io/{key}": text for key, text in (orders or {}).items()}
    template = {
        "metadata": {"annotations": annotations},
        "spec": {
            "restartPolicy": restart,
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "main", "image": "task:1"}],
        },
    }
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template, **spec}}


def conditions(lab: Lab, name: str = "job") -> dict[str, tuple[str, str, str]]:
    """Return type → (status, reason, message)."""
    listed = lab.get(JOBS, name)["status"].get("conditions") or []
    return {one["type"]: (one["status"], one["reason"], one["message"]) for one in listed}


def events(lab: Lab, kind: str = "Job") -> list[tuple[str, str]]:
    """Return (reason, message) of what was told about Jobs."""
    found = [row.object for row in lab.rows() if row.resource == "events" and row.verb == "ADDED"]
    return [(one["reason"], one["message"]) for one in found if one["involvedObject"]["kind"] == kind]


REACHED = ("True", "CompletionsReached", "Reached expected number of succeeded pods")


@pytest.mark.parametrize(("completions", "parallelism"), [(1, 1), (3, 1), (4, 2), (5, 9)])
def test_a_job_runs_as_many_pods_as_it_takes_and_counts_each_once(completions: int, parallelism: int) -> None:
    lab = Lab([node("n1"), job(orders={"run": "complete"}, completions=completions, parallelism=parallelism)])
    lab.run(60)
    status = lab.get(JOBS, "job")["status"]
    assert conditions(lab) == {"SuccessCriteriaMet": REACHED, "Complete": REACHED}
    assert (status["succeeded"], status["ready"], status["terminating"]) == (completions, 0, 0)
    assert status["uncountedTerminatedPods"] == {}
    assert "active" not in status
    pods = lab.list("pods")
    assert len(pods) == completions
    assert not any(pod["metadata"].get("finalizers") for pod in pods)
    told = events(lab)
    assert [reason for reason, _ in told] == ["SuccessfulCreate"] * completions + ["Completed"]
    assert told[-1][1] == "Job completed"
    most = max(row.object["status"].get("active", 0) for row in lab.rows() if row.resource == JOBS)
    assert most == min(completions, parallelism)


def test_failed_pods_are_replaced_after_a_wait_that_doubles_until_the_limit() -> None:
    lab = Lab([node("n1"), job(orders={"run": "fail", "exit-code": "3"}, backoffLimit=2)])
    lab.run(120)
    reached = ("True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    assert conditions(lab) == {"FailureTarget": reached, "Failed": reached}
    assert lab.get(JOBS, "job")["status"]["failed"] == 3
    made = [row.now_ms for row in lab.rows() if row.resource == "pods" and row.verb == "ADDED"]
    first, second = made[1] - made[0], made[2] - made[1]
    assert 10_000 <= first <= 14_000
    assert 20_000 <= second <= 24_000
    assert events(lab)[-1] == ("BackoffLimitExceeded", "Job has reached the specified backoff limit")


def test_an_indexed_job_numbers_its_pods_and_a_rule_of_success_ends_it_early() -> None:
    rules = {"rules": [{"succeededIndexes": "0,2-3", "succeededCount": 2}]}
    lab = Lab([node("n1"), job(completions=5, parallelism=3, completionMode="Indexed", successPolicy=rules)])
    lab.run(10)
    pods = {pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]: pod for pod in lab.list("pods")}
    assert sorted(pods) == ["0", "1", "2"]
    assert pods["1"]["metadata"]["name"].startswith("job-1-")
    assert pods["1"]["spec"]["hostname"] == "job-1"
    (told,) = pods["1"]["spec"]["containers"][0]["env"]
    assert told["name"] == "JOB_COMPLETION_INDEX"
    for index in ("0", "2"):
        finish(lab, pods[index]["metadata"]["name"], "complete")
    lab.run(20)
    met = ("True", "SuccessPolicy", "Matched rules at index 0")
    assert conditions(lab) == {"SuccessCriteriaMet": met, "Complete": met}
    status = lab.get(JOBS, "job")["status"]
    assert (status["completedIndexes"], status["succeeded"]) == ("0,2", 2)
    assert "failed" not in status
    assert {pod["metadata"]["name"] for pod in lab.list("pods")} == {
        pods["0"]["metadata"]["name"],
        pods["2"]["metadata"]["name"],
    }


def finish(lab: Lab, name: str, run: str, code: str | None = None) -> None:
    """Tell a pod to end."""
    orders = {"clustersim.io/run": run, "clustersim.io/exit-code": code}
    lab.do(Patch("pods", "default", name, {"metadata": {"annotations": orders}}))


def test_an_index_is_given_up_after_its_own_failures() -> None:
    spec = {"completions": 3, "parallelism": 3, "completionMode": "Indexed", "backoffLimitPerIndex": 1}
    lab = Lab([node("n1"), job(**spec)])
    for _ in range(8):
        lab.run(10)
        for pod in lab.list("pods"):
            if pod["status"]["phase"] == "Running" and "clustersim.io/run" not in pod["metadata"]["annotations"]:
                index = pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]
                finish(lab, pod["metadata"]["name"], "fail" if index == "1" else "complete")
    failed = ("True", "FailedIndexes", "Job has failed indexes")
    assert conditions(lab) == {"FailureTarget": failed, "Failed": failed}
    status = lab.get(JOBS, "job")["status"]
    assert (status["completedIndexes"], status["failedIndexes"], status["failed"]) == ("0,2", "1", 2)
    counts = [
        pod["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"]
        for pod in sorted(lab.list("pods"), key=lambda one: one["metadata"]["creationTimestamp"])
        if pod["metadata"]["name"].startswith("job-1-")
    ]
    assert counts == ["0", "1"]


def test_a_policy_fails_the_job_at_once_and_another_does_not_count() -> None:
    exits = {"onExitCodes": {"operator": "In", "values": [42]}}
    lab = Lab(
        [
            node("n1"),
            job(
                "now",
                orders={"run": "fail", "exit-code": "42"},
                podFailurePolicy={"rules": [{"action": "FailJob", **exits}]},
            ),
            job(
                "never",
                orders={"run": "fail", "exit-code": "42"},
                backoffLimit=0,
                podFailurePolicy={"rules": [{"action": "Ignore", **exits}]},
            ),
        ]
    )
    lab.run(30)
    (pod,) = [one for one in lab.list("pods") if one["metadata"]["name"].startswith("now-")]
    name = pod["metadata"]["name"]
    why = f"Container main for pod default/{name} failed with exit code 42 matching FailJob rule at index 0"
    assert conditions(lab, "now")["Failed"] == ("True", "PodFailurePolicy", why)
    assert conditions(lab, "never") == {}
    assert "failed" not in lab.get(JOBS, "never")["status"]


def test_a_suspended_job_has_no_pods_and_its_time_begins_when_it_is_resumed() -> None:
    lab = Lab([node("n1"), job(parallelism=2)])
    lab.run(10)
    assert lab.get(JOBS, "job")["status"]["active"] == 2
    lab.do(Patch(JOBS, "default", "job", {"spec": {"suspend": True}}))
    lab.run(10)
    assert lab.list("pods") == []
    assert conditions(lab) == {"Suspended": ("True", "JobSuspended", "Job suspended")}
    began = lab.get(JOBS, "job")["status"]["startTime"]
    lab.do(Patch(JOBS, "default", "job", {"spec": {"suspend": False}}))
    lab.run(10)
    assert conditions(lab) == {"Suspended": ("False", "JobResumed", "Job resumed")}
    assert lab.get(JOBS, "job")["status"]["startTime"] > began
    assert {reason for reason, _ in events(lab)} >= {"Suspended", "Resumed", "SuccessfulDelete"}


def test_a_job_has_until_its_deadline() -> None:
    lab = Lab([node("n1"), job(activeDeadlineSeconds=30)])
    lab.run(29)
    assert conditions(lab) == {}
    lab.run(15)
    late = ("True", "DeadlineExceeded", "Job was active longer than specified deadline")
    assert conditions(lab) == {"FailureTarget": late, "Failed": late}
    assert lab.list("pods") == []


def test_fewer_at_a_time_end_the_surplus() -> None:
    lab = Lab([node("n1"), job(parallelism=3)])
    lab.run(10)
    lab.do(Patch(JOBS, "default", "job", {"spec": {"parallelism": 1}}))
    lab.run(10)
    status = lab.get(JOBS, "job")["status"]
    assert (status["active"], status["ready"], status["terminating"]) == (1, 1, 0)
    assert len(lab.list("pods")) == 1
    assert "failed" not in status


def test_a_deleted_job_lets_go_of_its_pods() -> None:
    lab = Lab([node("n1"), job(parallelism=2)])
    lab.run(10)
    assert all(TRACKING in pod["metadata"]["finalizers"] for pod in lab.list("pods"))
    lab.do(Delete(JOBS, "default", "job", propagation="Background"))
    lab.run(60)
    assert lab.list("pods") == []


def test_another_manager_is_left_alone() -> None:
    lab = Lab([node("n1"), job(managedBy="example.dev/other")])
    lab.run(20)
    assert lab.list("pods") == []
    assert lab.get(JOBS, "job")["status"] == {}


def test_a_job_goes_some_time_after_its_end_with_its_pods() -> None:
    lab = Lab([node("n1"), job(orders={"run": "complete"}, ttlSecondsAfterFinished=20)])
    lab.run(15)
    assert conditions(lab)["Complete"] == REACHED
    lab.run(60)
    assert lab.list(JOBS) == []
    assert lab.list("pods") == []


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"labels": {"batch.kubernetes.io/controller-uid": None}}, id="released"),
        pytest.param({"ownerReferences": None, "labels": None}, id="disowned"),
    ],
)
def test_a_pod_that_is_no_job_s_any_more_loses_the_finalizer_and_is_made_up_for(change: Document) -> None:
    lab = Lab([node("n1"), job()])
    lab.run(10)
    (before,) = lab.list("pods")
    lab.do(Patch("pods", "default", before["metadata"]["name"], {"metadata": change}))
    lab.run(10)
    pods = {one["metadata"]["name"]: one["metadata"] for one in lab.list("pods")}
    left = pods.pop(before["metadata"]["name"])
    assert ("finalizers" in left, "ownerReferences" in left) == (False, False)
    assert [one["finalizers"] for one in pods.values()] == [[TRACKING]]
