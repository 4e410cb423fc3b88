"""What may stand in Jobs, CronJobs and autoscalers, and what may change."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.registry_tool import Cluster, refusal

JOBS = "jobs.batch"
SCALERS = "horizontalpodautoscalers.autoscaling"
POD = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "task:1"}]}


def job(**spec: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": POD}, **spec}}


def fields_of(error: Any) -> list[str]:
    return [cause.field for cause in error.causes]


def test_a_job_selects_its_own_pods_and_carries_their_labels() -> None:
    made = Cluster().create(JOBS, "web", job())
    uid = made["metadata"]["uid"]
    assert made["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    labels = {"controller-uid": uid, "job-name": "web"}
    wanted = {**labels, **{f"batch.kubernetes.io/{key}": value for key, value in labels.items()}}
    assert made["spec"]["template"]["metadata"]["labels"] == made["metadata"]["labels"] == wanted


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        ({"completions": -1}, ["spec.completions"]),
        ({"maxFailedIndexes": 0}, ["spec.backoffLimitPerIndex", "spec.maxFailedIndexes"]),
        ({"completionMode": "Indexed", "parallelism": 2}, ["spec.completions"]),
        ({"managedBy": "x"}, ["spec.managedBy"]),
        ({"podReplacementPolicy": "Never"}, ["spec.podReplacementPolicy"]),
        ({"podFailurePolicy": {"rules": [{"action": "FailJob"}]}}, ["spec.podFailurePolicy.rules[0]"]),
        (
            {
                "podFailurePolicy": {
                    "rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [2, 0, 2]}}]
                }
            },
            [f"spec.podFailurePolicy.rules[0].onExitCodes.values{place}" for place in ("[1]", "[2]", "")],
        ),
        ({"successPolicy": {"rules": []}}, ["spec.successPolicy"]),
        (
            {"completionMode": "Indexed", "completions": 3, "successPolicy": {"rules": [{"succeededIndexes": "0,5"}]}},
            ["spec.successPolicy.rules[0].succeededIndexes"],
        ),
        ({"template": {"spec": {**POD, "restartPolicy": "Always"}}}, ["spec.template.spec.restartPolicy"]),
    ],
)
def test_what_may_not_stand_in_a_job(spec: dict[str, Any], fields: list[str]) -> None:
    assert fields_of(refusal(Cluster().create, JOBS, "web", job(**spec))) == fields


def test_a_job_keeps_what_its_pods_are_made_of() -> None:
    cluster = Cluster()
    cluster.create(JOBS, "web", job())
    image = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "other:1"}]}}}}
    assert fields_of(refusal(cluster.patch, JOBS, "web", image)) == ["spec.template"]
    assert fields_of(refusal(cluster.patch, JOBS, "web", {"spec": {"managedBy": "a.b/c"}})) == ["spec.managedBy"]
    assert cluster.patch(JOBS, "web", {"spec": {"parallelism": 3}})["spec"]["parallelism"] == 3
    twice = refusal(cluster.patch, JOBS, "web", {"spec": {"completions": -1}})
    assert fields_of(twice) == ["spec.completions"] * 3, "as a Job, as a change of one, and as what does not change"
    assert twice.message.count("must be greater than or equal to 0") == 1


def test_where_a_job_may_run_can_change_while_it_has_not_begun() -> None:
    cluster = Cluster()
    place = {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}}
    cluster.create(JOBS, "waits", job(suspend=True))
    assert cluster.patch(JOBS, "waits", place)["spec"]["template"]["spec"]["nodeSelector"] == {"a": "b"}
    cluster.create(JOBS, "runs", job())
    assert fields_of(refusal(cluster.patch, JOBS, "runs", place)) == ["spec.template"]


def test_a_cron_job_says_when_in_a_way_that_can_be_read() -> None:
    template = {"spec": {"template": {"spec": POD}}}
    for schedule, zone, field in (("x", None, "spec.schedule"), ("* * * * *", "No/Where", "spec.timeZone")):
        spec = {"schedule": schedule, "jobTemplate": template, **({"timeZone": zone} if zone else {})}
        assert fields_of(refusal(Cluster().create, "cronjobs.batch", "web", {"spec": spec})) == [field]
    spec = {"schedule": "* * * * *", "jobTemplate": template}
    assert fields_of(refusal(Cluster().create, "cronjobs.batch", "w" * 53, {"spec": spec})) == ["metadata.name"]


@pytest.mark.parametrize(
    ("metric", "fields"),
    [
        ({"type": "Nothing"}, ["type", "type"]),
        ({"type": "Resource"}, ["resource"]),
        (
            {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "x"}}},
            ["resource.target.type", "resource.target.averageUtilization"],
        ),
        (
            {"type": "Pods", "pods": {}},
            ["pods.metric.name", "pods.target.type", "pods.target.type", "pods.target.averageValue"],
        ),
    ],
)
def test_what_may_not_stand_in_a_metric(metric: dict[str, Any], fields: list[str]) -> None:
    target = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}
    refused = refusal(
        Cluster().create, SCALERS, "web", {"spec": {"maxReplicas": 3, "scaleTargetRef": target, "metrics": [metric]}}
    )
    assert fields_of(refused) == [f"spec.metrics[0].{field}" for field in fields]


@pytest.mark.parametrize(
    ("version", "kind", "fields"),
    [
        ("v1", "ReplicationController", []),
        ("", "ReplicationController", []),
        ("v1", "Deployment", ["spec.scaleTargetRef.apiVersion"]),
        ("a/b/c", "ReplicationController", ["spec.scaleTargetRef.apiVersion"]),
    ],
)
def test_only_a_replication_controller_of_the_core_group_is_scaled(version: str, kind: str, fields: list[str]) -> None:
    target = {"kind": kind, "name": "web", "apiVersion": version}
    asked = {"spec": {"maxReplicas": 3, "scaleTargetRef": target}}
    if fields:
        assert fields_of(refusal(Cluster().create, SCALERS, "web", asked)) == fields
    else:
        assert Cluster().create(SCALERS, "web", asked)["spec"]["scaleTargetRef"]["kind"] == kind
