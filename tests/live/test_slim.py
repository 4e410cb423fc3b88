"""What the page gets of an object: enough for what the stage draws of it, and nothing that can be large."""

from __future__ import annotations

from typing import Any

import pytest

from clustersim.feed.slim import slim
from controllers.kinds.metrics.usage import WINDOW_MS, node_usage, pod_usage

REVISION = "deployment.kubernetes.io/revision"
WHOLE = "kubectl.kubernetes.io/last-applied-configuration"


def test_a_pod_tells_what_it_asks_for_and_how_long_it_stays() -> None:
    """The card of the pod in hand says the first four, a node that dies the last one."""
    stays = {"key": "gpu", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "zone"}
    spec: dict[str, Any] = {
        "containers": [],
        "nodeSelector": {"disk": "ssd"},
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
        "topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}],
        "tolerations": [stays],
    }
    shown = slim("pods", {"metadata": {"name": "web-1", "namespace": "default"}, "spec": spec})["spec"]
    assert shown == {
        "containers": [],
        "nodeSelector": {"disk": "ssd"},
        "affinity": {"podAntiAffinity": {}},
        "topologySpreadConstraints": [{"topologyKey": "zone"}],
        "tolerations": [stays],
    }


def test_the_newest_template_of_a_workload_is_known_by_its_annotation_and_no_manifest_travels() -> None:
    metadata = {"name": "web-1", "namespace": "default", "annotations": {REVISION: "2", WHOLE: "{…}"}}
    for resource in ("replicasets.apps", "deployments.apps"):
        assert slim(resource, {"metadata": metadata})["metadata"]["annotations"] == {REVISION: "2"}
    assert "annotations" not in slim("pods", {"metadata": metadata})["metadata"], "only the kinds that name it"


def running(name: str, **resources: Any) -> dict[str, Any]:
    """Return a pod of one container that runs."""
    status = {"phase": "Running", "containerStatuses": [{"name": "c", "state": {"running": {}}}]}
    spec = {"containers": [{"name": "c", "image": "i", "resources": resources}]}
    return {"metadata": {"name": name, "namespace": "default", "uid": f"u-{name}"}, "spec": spec, "status": status}


def test_a_pod_that_runs_tells_what_it_uses_on_average_and_metrics_move_about_it() -> None:
    asked = {"cpu": "500m", "memory": "512Mi"}
    pod = running("web", requests=asked)
    usual = slim("pods", pod)["usage"]
    seen = [pod_usage(pod, window * WINDOW_MS) for window in range(400)]
    assert max(abs(one.cpu - usual["cpu"]) for one in seen) == 500 * 10 // 100
    assert max(abs(one.memory - usual["memory"]) for one in seen) <= (512 << 20) * 2 // 100 + 1
    assert usual["cpu"] * 400 == pytest.approx(sum(one.cpu for one in seen), rel=0.03)
    assert slim("pods", running("web", requests=asked, limits={"cpu": "10m"}))["usage"]["cpu"] == 10, "never more"
    waits = {**pod, "status": {"phase": "Pending"}}
    assert "usage" not in slim("pods", waits)


def test_what_a_pod_says_of_its_usage_is_what_it_uses() -> None:
    pod = running("web", requests={"cpu": "500m"})
    pod["metadata"]["annotations"] = {"clustersim.io/cpu-usage": "1200m", "clustersim.io/memory-usage": "64Mi"}
    assert slim("pods", pod)["usage"] == {"cpu": 1200, "memory": 64 << 20}
    node = slim("nodes", {"metadata": {"name": "n1", "uid": "u"}, "spec": {}, "status": {}})
    together = node_usage([pod], 0)
    assert node["usage"]["cpu"] + 1200 == together.cpu
    assert node["usage"]["memory"] + (64 << 20) == together.memory


def test_what_requests_add_is_told_with_it_and_who_sends_them() -> None:
    pod = running("web", requests={"cpu": "200m"}, limits={"cpu": "500m"})
    usage = slim("pods", pod)["usage"]
    assert (usage["perRequest"], usage["most"]) == (20, 500)
    assert slim("pods", running("web"))["usage"].keys() == {"cpu", "memory", "perRequest"}
    pod["metadata"]["annotations"] = {"clustersim.io/cpu-per-request": "50m"}
    assert slim("pods", pod)["usage"]["perRequest"] == 50
    pod["spec"]["containers"][0]["command"] = ["sh", "-c", "while sleep 0.23; do wget -qO- http://web.shop; done"]
    assert slim("pods", pod)["sends"] == [{"host": "web.shop", "rate": 4.0}]
    assert "sends" not in slim("pods", {**pod, "status": {"phase": "Pending"}})


@pytest.mark.parametrize(
    ("conditions", "counts"),
    [
        ([{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}], {"cpu": "500m", "memory": "1024"}),
        ([{"type": "PodResizePending", "status": "True", "reason": "Deferred"}], {"cpu": "64000m", "memory": "1024"}),
        ([{"type": "Ready", "status": "True"}], None),
    ],
)
def test_of_a_pod_that_is_resized_the_page_is_told_what_the_scheduler_counts(
    conditions: list[dict[str, str]], counts: dict[str, str] | None
) -> None:
    pod = running("web", requests={"cpu": "64", "memory": "1Ki"})
    held = {"cpu": "500m", "memory": "1Ki"}
    given = {"resources": {"requests": held}, "allocatedResources": held}
    pod["status"]["containerStatuses"] = [{"name": "c", "state": {"running": {}}, **given}]
    pod["status"]["conditions"] = conditions
    assert slim("pods", pod).get("counts") == counts
    assert slim("pods", pod)["usage"]["cpu"] <= 500, "nor is a wish used"


def test_of_a_pod_that_asks_as_a_whole_the_page_is_told_how_much() -> None:
    pod = running("web", requests={"cpu": "100m"})
    pod["spec"]["resources"] = {"requests": {"cpu": "2"}}
    assert slim("pods", pod)["counts"] == {"cpu": "2000m"}
