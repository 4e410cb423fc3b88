"""autoscaling/v1: the same autoscalers in the older version, and back again without loss."""

from __future__ import annotations

import json
from typing import Any

import pytest

from controllers.kinds.autoscaling.horizontalpodautoscaler_v1 import BEHAVIOR, CONDITIONS, CURRENT, KIND, METRICS
from scheduler_core.api.errors import ApiError, not_found, split_resource
from tests.registry.registry_tool import Cluster

V1 = KIND.resource
V2 = "horizontalpodautoscalers.autoscaling"
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}


def spec(**more: Any) -> dict[str, Any]:
    return {"scaleTargetRef": TARGET, "maxReplicas": 5, **more}


def cpu(percent: int) -> dict[str, Any]:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def test_a_percentage_of_cpu_is_a_metric() -> None:
    cluster = Cluster()
    shown = cluster.create(V1, "web", {"spec": spec(targetCPUUtilizationPercentage=50)})
    assert shown["apiVersion"] == "autoscaling/v1"
    assert shown["spec"] == {**spec(minReplicas=1), "targetCPUUtilizationPercentage": 50}
    assert shown["status"] == {"currentReplicas": 0, "desiredReplicas": 0}
    stored = cluster.get(V2, "web")
    assert stored["spec"]["metrics"] == [cpu(50)]
    assert "annotations" not in stored["metadata"]
    bare = cluster.create(V1, "bare", {"spec": spec()})
    assert bare["spec"]["targetCPUUtilizationPercentage"] == 80


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        (
            {
                "type": "Resource",
                "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}},
            },
            {"type": "Resource", "resource": {"name": "memory", "targetAverageValue": "1Gi"}},
        ),
        (
            {
                "type": "Pods",
                "pods": {"metric": {"name": "qps"}, "target": {"type": "AverageValue", "averageValue": "10"}},
            },
            {"type": "Pods", "pods": {"metricName": "qps", "targetAverageValue": "10"}},
        ),
        (
            {
                "type": "Object",
                "object": {
                    "describedObject": TARGET,
                    "metric": {"name": "hits"},
                    "target": {"type": "Value", "value": "3"},
                },
            },
            {"type": "Object", "object": {"target": TARGET, "metricName": "hits", "targetValue": "3"}},
        ),
        (
            {
                "type": "ContainerResource",
                "containerResource": {
                    "name": "cpu",
                    "container": "c",
                    "target": {"type": "Utilization", "averageUtilization": 30},
                },
            },
            {
                "type": "ContainerResource",
                "containerResource": {"name": "cpu", "targetAverageUtilization": 30, "container": "c"},
            },
        ),
        (
            {"type": "External", "external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "7"}}},
            {"type": "External", "external": {"metricName": "queue", "targetValue": "7"}},
        ),
    ],
    ids=lambda metric: metric["type"] if "target" in str(metric) else "",
)
def test_other_metrics_travel_in_an_annotation(metric: dict[str, Any], told: dict[str, Any]) -> None:
    cluster = Cluster()
    stored = cluster.create(V2, "web", {"spec": spec(metrics=[metric, cpu(40)])})
    shown = KIND.outward(stored)
    assert json.loads(shown["metadata"]["annotations"][METRICS]) == [told]
    assert shown["spec"]["targetCPUUtilizationPercentage"] == 40
    back = cluster.update(V1, shown)
    assert cluster.get(V2, "web")["spec"] == stored["spec"]
    assert back == KIND.outward(cluster.get(V2, "web"))


def test_behavior_and_what_is_reported_travel_too() -> None:
    cluster = Cluster()
    behavior = {"scaleDown": {"stabilizationWindowSeconds": 60}}
    cluster.create(V2, "web", {"metadata": {"annotations": {"mine": "1"}}, "spec": spec(behavior=behavior)})
    status = {
        "currentReplicas": 2,
        "desiredReplicas": 3,
        "currentMetrics": [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "current": {"averageUtilization": 70, "averageValue": "7m"}},
            }
        ],
        "conditions": [{"type": "AbleToScale", "status": "True"}],
    }
    stored = cluster.patch(V2, "web", {"status": status}, subresource="status")
    shown = KIND.outward(stored)
    annotations = shown["metadata"]["annotations"]
    assert annotations["mine"] == "1"
    assert json.loads(annotations[BEHAVIOR])["ScaleDown"]["StabilizationWindowSeconds"] == 60
    assert json.loads(annotations[CURRENT]) == [
        {
            "type": "Resource",
            "resource": {"name": "cpu", "currentAverageUtilization": 70, "currentAverageValue": "7m"},
        }
    ]
    assert json.loads(annotations[CONDITIONS])[0]["type"] == "AbleToScale"
    assert shown["status"] == {"currentReplicas": 2, "desiredReplicas": 3, "currentCPUUtilizationPercentage": 70}
    cluster.patch(V1, "web", {"spec": {"maxReplicas": 9}})
    again = cluster.get(V2, "web")
    assert again["spec"] == {**stored["spec"], "maxReplicas": 9}
    assert (again["status"], again["metadata"]["annotations"]) == (stored["status"], {"mine": "1"})


def test_what_is_wrong_is_told_by_the_rules_of_the_stored_version() -> None:
    cluster = Cluster()
    with pytest.raises(ApiError) as refused:
        cluster.create(V1, "web", {"spec": spec(maxReplicas=0)})
    assert "spec.maxReplicas" in {cause.field for cause in refused.value.causes}
    assert split_resource(V1) == ("horizontalpodautoscalers", "autoscaling")
    assert not_found(V1, "x").message == 'horizontalpodautoscalers.autoscaling "x" not found'
