"""A page that is reloaded while the cluster changes shows what the API lists at the page's revision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.e2e.conftest import Classroom, state, wait_state

RELOADS = 3


def listed(classroom: Classroom, revision: int) -> dict[str, tuple[str, str, str]]:
    """Return namespace/name → (uid, nodeName, phase) of all pods as of one revision."""
    answer = classroom.cluster("GET", f"/api/v1/pods?resourceVersion={revision}&resourceVersionMatch=Exact&limit=0")
    return {
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": (
            pod["metadata"]["uid"],
            pod["spec"].get("nodeName", ""),
            pod.get("status", {}).get("phase", "Pending"),
        )
        for pod in answer["items"]
    }


def shown(current: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    """Return the same of what a page shows."""
    return {f"{pod['namespace']}/{pod['name']}": (pod["uid"], pod["nodeName"], pod["phase"]) for pod in current["pods"]}


def test_a_reload_in_mid_stream_loses_nothing(open_classroom: Callable[[str], Classroom]) -> None:
    classroom = open_classroom("three-nodes")
    classroom.session("PATCH", "/clock", {"pace": 0})
    teacher = classroom.teacher()
    other = classroom.student("Ada")
    wait_state(teacher, lambda now: sum(node["ready"] for node in now["nodes"]) == 3, "three Ready nodes")
    names = 0
    for _ in range(RELOADS):
        for _ in range(6):
            classroom.cluster("POST", "/api/v1/namespaces/default/pods", small_pod(f"stream-{names}"))
            names += 1
        teacher.reload()
        wait_state(teacher, lambda now, n=names: len(own(now)) == n, f"all {names} pods after the reload")
        current = state(teacher)
        assert shown(current) == listed(classroom, current["revision"])
    current = wait_state(
        teacher, lambda now: len(own(now)) == names and all(pod["nodeName"] for pod in own(now)), "all are bound"
    )
    assert shown(current) == listed(classroom, current["revision"])

    # Held time writes nothing, so both pages come to stand at one revision and must show the same.
    classroom.session("PATCH", "/clock", {"paused": True})
    final = wait_state(teacher, lambda now: now["clock"]["paused"], "time is held")
    there = wait_state(other, lambda now: now["revision"] >= final["revision"], "the other page has caught up")
    final = wait_state(teacher, lambda now: now["revision"] == there["revision"], "both stand at one revision")
    assert shown(there) == shown(final)


def own(current: dict[str, Any]) -> list[dict[str, Any]]:
    return [pod for pod in current["pods"] if pod["name"].startswith("stream-")]


def small_pod(name: str) -> dict[str, Any]:
    requests = {"cpu": "50m", "memory": "32Mi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "stream"}},
        "spec": {"containers": [{"name": "main", "image": "nginx:1.27", "resources": {"requests": requests}}]},
    }
