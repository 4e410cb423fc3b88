"""Containers that are added to look into a pod, and containers that use more memory than they may."""

from __future__ import annotations

from typing import Any

from controllers.log.operations import Patch, Update
from tests.tools.lab import Document, Lab, node, pod

HOME = "default"


def look(lab: Lab, name: str = "debug", **more: Any) -> None:
    """Add a container as `kubectl debug` does."""
    web = lab.get("pods", "web")
    one = {"name": name, "image": "busybox:1.36", "targetContainerName": "main", **more}
    spec = {**web["spec"], "ephemeralContainers": [*web["spec"].get("ephemeralContainers", []), one]}
    lab.do(Update("pods", HOME, "web", {**web, "spec": spec}, "ephemeralcontainers"))


def ephemeral(lab: Lab) -> list[Document]:
    found: list[Document] = lab.get("pods", "web")["status"]["ephemeralContainerStatuses"]
    return found


def test_one_that_is_added_runs_and_counts_for_nothing() -> None:
    lab = Lab([node("n1"), pod("web")])
    lab.run(10)
    look(lab, stdin=True, command=["sh"])
    lab.run(10)
    (one,) = ephemeral(lab)
    assert "running" in one["state"]
    assert (one["ready"], one["restartCount"]) == (False, 0)
    assert "started" not in one
    status = lab.get("pods", "web")["status"]
    assert status["phase"] == "Running"
    assert status["containerStatuses"][0]["ready"] is True
    assert next(one for one in status["conditions"] if one["type"] == "Ready")["status"] == "True"
    assert lab.reasons("web").count("Started") == 2


def test_one_that_ends_is_not_started_again() -> None:
    lab = Lab([node("n1"), pod("web")])
    lab.run(10)
    look(lab, command=["sh", "-c", "sleep 3; exit 4"])
    look(lab, "second", command=["sleep", "1000"])
    lab.run(60)
    first, second = ephemeral(lab)
    assert (first["state"]["terminated"]["exitCode"], first["restartCount"]) == (4, 0)
    assert "running" in second["state"]
    assert lab.get("pods", "web")["status"]["phase"] == "Running"
    revision = lab.store.revision
    lab.run(60)
    assert [row for row in lab.rows() if row.revision > revision and row.resource == "pods"] == []


def test_one_that_is_to_show_something_ends_when_it_has_shown_it() -> None:
    lab = Lab([node("n1"), pod("web")])
    lab.run(10)
    look(lab, stdin=True, command=["ps"])
    look(lab, "second", stdin=True, command=["sh", "-c", "id; env"])
    look(lab, "third", stdin=True, command=["env", "A=b", "server"])
    lab.run(20)
    first, second, third = ephemeral(lab)
    assert first["state"]["terminated"]["exitCode"] == second["state"]["terminated"]["exitCode"] == 0
    assert "running" in third["state"], "of that nothing is known"


def test_one_goes_into_a_pod_that_crashes() -> None:
    lab = Lab([node("n1"), pod("web", image="crash:1")])
    lab.run(40)
    look(lab, stdin=True)
    lab.run(5)
    assert "running" in ephemeral(lab)[0]["state"]
    restarts = lab.get("pods", "web")["status"]["containerStatuses"][0]["restartCount"]
    lab.run(100)
    assert lab.get("pods", "web")["status"]["containerStatuses"][0]["restartCount"] > restarts
    assert "running" in ephemeral(lab)[0]["state"]


def test_who_uses_more_memory_than_it_may_is_killed() -> None:
    limited = {"name": "main", "image": "nginx:1.27", "resources": {"limits": {"memory": "64Mi"}}}
    lab = Lab([node("n1"), pod("web", containers=[limited, {"name": "free", "image": "redis:7"}])])
    lab.run(30)
    use = {"metadata": {"annotations": {"clustersim.io/memory-usage": "65Mi"}}}
    lab.do(Patch("pods", HOME, "web", use))
    lab.run(20)
    told = {one["name"]: one for one in lab.get("pods", "web")["status"]["containerStatuses"]}
    last = told["main"]["lastState"]["terminated"]
    assert (last["reason"], last["exitCode"]) == ("OOMKilled", 137)
    assert told["main"]["restartCount"] >= 1
    assert told["free"]["restartCount"] == 0
    use["metadata"]["annotations"]["clustersim.io/memory-usage"] = "63Mi"
    lab.do(Patch("pods", HOME, "web", use))
    lab.run(400)
    told = {one["name"]: one for one in lab.get("pods", "web")["status"]["containerStatuses"]}
    assert "running" in told["main"]["state"]
