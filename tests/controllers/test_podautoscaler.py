"""Autoscalers over session time, on the simulated usage: up at once, down after a while, within limits."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Patch
from controllers.podautoscaler.limits import Memory, decide
from tests.tools.lab import Document, Lab, node, workload

AUTOSCALERS = "horizontalpodautoscalers.autoscaling"
DEPLOYMENTS = "deployments.apps"


def scaler(name: str = "web", *, target: str = "web", most: int = 10, percent: int = 50, **spec: Any) -> Document:
    """Return an autoscaler of a Deployment by the processor usage of its pods."""
    wanted = {"type": "Utilization", "averageUtilization": percent}
    metrics = [{"type": "Resource", "resource": {"name": "cpu", "target": wanted}}]
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"scaleTargetRef": reference, "maxReplicas": most, "metrics": metrics, **spec},
    }


def busy(replicas: int, used: str) -> Document:
    """Return a Deployment whose pods ask for 100m and use so much."""
    document = workload("Deployment", "web", replicas)
    document["spec"]["template"]["metadata"]["annotations"] = {"clustersim.io/cpu-usage": used}
    return document


def conditions(lab: Lab, name: str = "web") -> dict[str, tuple[str, str]]:
    """Return type → (status, reason)."""
    listed = lab.get(AUTOSCALERS, name)["status"]["conditions"]
    return {one["type"]: (one["status"], one["reason"]) for one in listed}


def events(lab: Lab) -> list[tuple[str, str]]:
    """Return (reason, message) of what was told about autoscalers, with who told it."""
    found = [row.object for row in lab.rows() if row.resource == "events" and row.verb == "ADDED"]
    mine = [one for one in found if one["involvedObject"]["kind"] == "HorizontalPodAutoscaler"]
    assert {one["source"]["component"] for one in mine} <= {"horizontal-pod-autoscaler"}
    return [(one["reason"], one["message"]) for one in mine]


def replicas(lab: Lab) -> int:
    return int(lab.get(DEPLOYMENTS, "web")["spec"]["replicas"])


def calm(lab: Lab, used: str) -> None:
    """Let all pods use so much from now on."""
    for one in lab.list("pods"):
        patch = {"metadata": {"annotations": {"clustersim.io/cpu-usage": used}}}
        lab.do(Patch("pods", "default", one["metadata"]["name"], patch))


def test_busy_pods_become_more_and_calm_ones_fewer_after_five_minutes() -> None:
    lab = Lab([node("n1", cpu="16"), busy(2, "90m"), scaler()])
    seconds = next(second for second in range(60) if lab.run(1) or replicas(lab) > 2)
    assert seconds >= 15
    lab.run(5)
    assert replicas(lab) == 4
    assert (
        "SuccessfulRescale",
        "New size: 4; reason: cpu resource utilization (percentage of request) above target",
    ) in events(lab)
    calm(lab, "45m")
    lab.run(60)
    assert replicas(lab) == 4, "45 of 100 is near enough to 50"
    status = lab.get(AUTOSCALERS, "web")["status"]
    assert status["currentMetrics"] == [
        {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 45, "averageValue": "45m"}}}
    ]
    assert conditions(lab) == {
        "AbleToScale": ("True", "ReadyForNewScale"),
        "ScalingActive": ("True", "ValidMetricFound"),
        "ScalingLimited": ("False", "DesiredWithinRange"),
    }
    calm(lab, "10m")
    lab.run(120)
    assert replicas(lab) == 4
    assert conditions(lab)["AbleToScale"] == ("True", "ScaleDownStabilized")
    lab.run(300)
    assert replicas(lab) == 1
    assert events(lab)[-1] == ("SuccessfulRescale", "New size: 1; reason: All metrics below target")


def test_there_are_never_more_than_the_most_nor_fewer_than_the_least() -> None:
    lab = Lab([node("n1", cpu="16"), busy(1, "100m"), scaler(most=4, minReplicas=2)])
    lab.run(20)
    assert events(lab)[0] == (
        "SuccessfulRescale",
        "New size: 2; reason: Current number of replicas below Spec.MinReplicas",
    )
    lab.run(100)
    assert replicas(lab) == 4
    assert conditions(lab)["ScalingLimited"] == ("True", "TooManyReplicas")
    lab.do(Patch(AUTOSCALERS, "default", "web", {"spec": {"maxReplicas": 3}}))
    lab.run(20)
    assert replicas(lab) == 3
    assert events(lab)[-1] == (
        "SuccessfulRescale",
        "New size: 3; reason: Current number of replicas above Spec.MaxReplicas",
    )


def test_what_cannot_be_computed_is_said_in_conditions_and_events() -> None:
    lab = Lab(
        [
            node("n1"),
            busy(1, "10m"),
            scaler("none", target="none"),
            scaler("a", target="web"),
            scaler("b", target="web"),
        ]
    )
    lab.run(40)
    assert conditions(lab, "none") == {"AbleToScale": ("False", "FailedGetScale")}
    assert ("FailedGetScale", 'deployments.apps "none" not found') in events(lab)
    text = "pods by selector app=web are controlled by multiple HPAs: [default/a default/b]"
    assert {("AmbiguousSelector", text), ("FailedComputeMetricsReplicas", text)} <= set(events(lab))
    assert conditions(lab, "b")["ScalingActive"] == ("False", "AmbiguousSelector")
    assert lab.get(AUTOSCALERS, "b")["status"]["currentMetrics"] is None


def test_a_pod_without_a_request_has_no_utilization() -> None:
    bare = busy(1, "10m")
    bare["spec"]["template"]["spec"]["containers"][0].pop("resources")
    lab = Lab([node("n1"), bare, scaler()])
    lab.run(60)
    (name,) = [one["metadata"]["name"] for one in lab.list("pods")]
    why = f"failed to get cpu utilization: missing request for cpu in container main of Pod {name}"
    assert ("FailedGetResourceMetric", why) in events(lab)
    whole = f"invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: {why}"
    assert ("FailedComputeMetricsReplicas", whole) in events(lab)
    assert conditions(lab)["ScalingActive"] == ("False", "FailedGetResourceMetric")


@pytest.mark.parametrize(
    ("metric", "why", "inner"),
    [
        (
            {"external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "10"}}},
            "unable to get external metric default/queue/nil: ",
            "failed to get queue external metric value: failed to get external metric queue: ",
        ),
        (
            {
                "external": {
                    "metric": {
                        "name": "queue",
                        "selector": {
                            "matchLabels": {"a": "b"},
                            "matchExpressions": [{"key": "z", "operator": "In", "values": ["y", "x"]}],
                        },
                    },
                    "target": {"type": "AverageValue", "averageValue": "5"},
                }
            },
            "unable to get external metric default/queue/&LabelSelector{MatchLabels:map[string]string{a: b,},"
            "MatchExpressions:[]LabelSelectorRequirement{"
            "LabelSelectorRequirement{Key:z,Operator:In,Values:[y x],},},}: ",
            "failed to get queue external metric value: failed to get queue external metric: ",
        ),
        (
            {
                "object": {
                    "describedObject": {"kind": "Service", "name": "web", "apiVersion": "v1"},
                    "metric": {"name": "hits"},
                    "target": {"type": "AverageValue", "averageValue": "9"},
                }
            },
            "unable to get metric hits: Service on default web/",
            "failed to get object metric value: failed to get hits object metric: ",
        ),
    ],
)
def test_a_metric_that_no_server_has_is_told_as_upstream_tells_it(metric: Document, why: str, inner: str) -> None:
    (kind,) = metric
    lab = Lab([node("n1"), busy(1, "10m"), scaler(metrics=[{"type": kind.capitalize(), **metric}])])
    lab.run(60)
    told = dict(events(lab))
    assert told[f"FailedGet{kind.capitalize()}Metric"].startswith(why)
    whole = f"invalid metrics (1 invalid out of 1), first error is: {inner}{why}"
    assert told["FailedComputeMetricsReplicas"].startswith(whole)


def test_a_target_of_no_replicas_is_left_alone() -> None:
    lab = Lab([node("n1"), busy(0, "10m"), scaler()])
    lab.run(40)
    assert replicas(lab) == 0
    assert conditions(lab)["ScalingActive"] == ("False", "ScalingDisabled")


def test_an_autoscaler_that_has_nothing_to_do_writes_nothing() -> None:
    lab = Lab([node("n1"), busy(2, "50m"), scaler()])
    lab.run(120)
    before = lab.store.revision
    lab.run(120)
    fresh = {row.resource for row in lab.rows() if row.revision > before}
    assert fresh <= {"leases.coordination.k8s.io"}


RULES = {"selectPolicy": "Max", "policies": [{"type": "Pods", "value": 2, "periodSeconds": 60}]}


@pytest.mark.parametrize(
    ("behavior", "current", "desired", "replicas", "limited"),
    [
        ({"scaleUp": RULES, "scaleDown": RULES}, 5, 9, 7, "ScaleUpLimit"),
        ({"scaleUp": RULES, "scaleDown": RULES}, 5, 1, 3, "ScaleDownLimit"),
        ({"scaleUp": {**RULES, "selectPolicy": "Disabled"}, "scaleDown": RULES}, 5, 9, 5, "ScaleUpLimit"),
        (
            {
                "scaleUp": {**RULES, "policies": [{"type": "Percent", "value": 10, "periodSeconds": 60}]},
                "scaleDown": RULES,
            },
            10,
            12,
            11,
            "ScaleUpLimit",
        ),
        (None, 1, 30, 4, "ScaleUpLimit"),
        (None, 5, 30, 10, "ScaleUpLimit"),
        (None, 5, 6, 6, "DesiredWithinRange"),
    ],
)
def test_rates_hold_a_change_back(
    behavior: Document | None, current: int, desired: int, replicas: int, limited: str
) -> None:
    spec = {"minReplicas": 1, "maxReplicas": 20, **({"behavior": behavior} if behavior else {})}
    if behavior:
        behavior["scaleDown"] = {**behavior["scaleDown"], "stabilizationWindowSeconds": 0}
    verdict = decide(Memory(), spec, current, desired, 1_000_000, 300_000)
    assert (verdict.replicas, verdict.limited[0]) == (replicas, limited)


def test_what_was_changed_within_a_period_counts_against_its_limit() -> None:
    rules = {"scaleUp": RULES, "scaleDown": RULES}
    memory = Memory(up=[(970_000, 2)])
    spec = {"minReplicas": 1, "maxReplicas": 20, "behavior": rules}
    assert decide(memory, spec, 7, 12, 1_000_000, 0).replicas == 7
    assert decide(memory, spec, 7, 12, 1_031_000, 0).replicas == 9
