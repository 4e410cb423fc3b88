"""Probes over time: how many have to find the same before something follows, of which container, and when."""

from __future__ import annotations

from typing import Any

from controllers.log.operations import Patch
from tests.tools.lab import Document, Lab, node, pod

HOME = "default"
LIVE = {"livenessProbe": {"httpGet": {"port": 80}, "periodSeconds": 10}}
READY = {"readinessProbe": {"httpGet": {"port": 80}, "periodSeconds": 10}}


def container(name: str = "main", **more: Any) -> Document:
    return {"name": name, "image": "nginx:1.27", **more}


def failing(lab: Lab, text: str | None) -> None:
    lab.do(Patch("pods", HOME, "web", {"metadata": {"annotations": {"clustersim.io/failing-probes": text}}}))


def times(lab: Lab, reason: str) -> list[int]:
    """Return when an event of a reason was told, each time."""
    return [row.now_ms for row in lab.rows() if row.resource == "events" and row.object["reason"] == reason]


def one(lab: Lab, name: str = "main") -> Document:
    told: list[Document] = lab.get("pods", "web")["status"]["containerStatuses"]
    return next(status for status in told if status["name"] == name)


def test_a_probe_that_begins_to_fail_is_asked_period_by_period() -> None:
    lab = Lab([node("n1"), pod("web", containers=[container(**LIVE)])])
    lab.run(300)
    failing(lab, "liveness")
    lab.run(25)
    assert one(lab)["restartCount"] == 0, "one that failed twice is given its third chance"
    lab.run(20)
    first, second, third = times(lab, "Unhealthy")[:3]
    assert 9_900 <= second - first <= 10_100
    assert 9_900 <= third - second <= 10_100
    assert one(lab)["restartCount"] == 1


def test_who_is_well_again_in_time_is_left_alone() -> None:
    lab = Lab([node("n1"), pod("web", containers=[container(**LIVE)])])
    lab.run(60)
    failing(lab, "liveness")
    lab.run(15)
    failing(lab, None)
    lab.run(120)
    assert one(lab)["restartCount"] == 0
    assert "Killing" not in lab.reasons("web")


def test_readiness_is_lost_after_three_failures_and_won_by_one_success() -> None:
    lab = Lab([node("n1"), pod("web", containers=[container(**READY)])])
    lab.run(60)
    failing(lab, "readiness")
    lab.run(15)
    assert one(lab)["ready"] is True
    lab.run(20)
    assert one(lab)["ready"] is False
    (event,) = [one for one in lab.list("events") if one["reason"] == "Unhealthy"]
    assert event["count"] == 3
    failing(lab, None)
    lab.run(11)
    assert one(lab)["ready"] is True


def test_probes_fail_of_the_container_that_is_named() -> None:
    lab = Lab([node("n1"), pod("web", containers=[container(**LIVE), container("side", **LIVE)])])
    lab.run(30)
    failing(lab, "side/liveness")
    lab.run(60)
    assert one(lab)["restartCount"] == 0
    assert one(lab, "side")["restartCount"] >= 1


def test_a_startup_probe_that_fails_has_the_container_killed_before_it_is_ready() -> None:
    probe = {"startupProbe": {"tcpSocket": {"port": 80}, "periodSeconds": 2, "failureThreshold": 2}}
    web = pod("web", containers=[container(**probe)])
    web["metadata"]["annotations"] = {"clustersim.io/failing-probes": "startup"}
    lab = Lab([node("n1"), web])
    lab.run(12)
    assert one(lab)["restartCount"] >= 1
    assert one(lab)["started"] is False
    failing(lab, "")
    lab.run(60)
    assert one(lab)["started"] is True


def test_a_stage_says_from_when_and_until_when_a_probe_succeeds() -> None:
    image = "registry.k8s.io/e2e-test-images/agnhost:2.40"
    looks = {"httpGet": {"path": "/healthz", "port": 8080}, "initialDelaySeconds": 3, "periodSeconds": 3}
    lab = Lab([node("n1"), pod("web", containers=[container(image=image, args=["liveness"], livenessProbe=looks)])])
    lab.run(12)
    assert one(lab)["restartCount"] == 0
    assert times(lab, "Unhealthy") == []
    lab.run(20)
    assert one(lab)["restartCount"] == 1
    first, _, third = times(lab, "Unhealthy")[:3]
    assert 5_900 <= third - first <= 6_100
    assert lab.reasons("web").count("Killing") == 1


def test_a_session_s_own_stage_lets_a_readiness_probe_succeed_late() -> None:
    own = 'probes: [{image: "nginx*", probe: readiness, after: 40}]'
    place = {"namespace": "kube-system", "name": "kubelet-stages"}
    stages = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": place, "data": {"pods.yaml": own}}
    lab = Lab([node("n1"), stages, pod("web", containers=[container(**READY, **LIVE)])])
    lab.run(35)
    assert (one(lab)["ready"], one(lab)["restartCount"]) == (False, 0)
    lab.run(25)
    assert one(lab)["ready"]
