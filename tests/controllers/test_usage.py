"""Usage of hollow containers: a function of the pod and the time."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from controllers.kinds.metrics.usage import CPU, MEMORY, SYSTEM, WINDOW_MS, container_usage, node_usage, pod_usage


def pod(uid: str = "u", *, annotations: dict[str, str] | None = None, phase: str = "Running", **resources: Any) -> Any:
    return {
        "metadata": {"name": "p", "namespace": "default", "uid": uid, "annotations": annotations or {}},
        "spec": {"containers": [{"name": "main", "image": "i", "resources": resources}]},
        "status": {"phase": phase, "containerStatuses": [{"name": "main", "state": {"running": {}}}]},
    }


@given(uid=st.uuids().map(str), unix_ms=st.integers(0, 2**41), cpu=st.integers(20, 64_000))
def test_usage_is_a_share_of_the_request_and_stays_within_a_window(uid: str, unix_ms: int, cpu: int) -> None:
    one = pod(uid, requests={"cpu": f"{cpu}m", "memory": "1Gi"})
    used = pod_usage(one, unix_ms)
    assert cpu * 5 // 100 <= used.cpu <= cpu * 80 // 100
    assert (1 << 30) * 38 // 100 <= used.memory <= (1 << 30) * 87 // 100
    assert pod_usage(one, unix_ms // WINDOW_MS * WINDOW_MS) == used


def test_pods_differ_and_move() -> None:
    found = {pod_usage(pod(f"u{number}", requests={"cpu": "1"}), 0).cpu for number in range(20)}
    assert len(found) > 5
    assert len({pod_usage(pod(requests={"cpu": "1"}), step * WINDOW_MS).cpu for step in range(20)}) > 5


def test_annotations_say_what_is_used_and_limits_cap_it() -> None:
    told = {CPU: "3", MEMORY: "2Gi"}
    greedy = pod(annotations=told, requests={"cpu": "100m"}, limits={"memory": "1Gi"})
    assert tuple(container_usage(greedy, greedy["spec"]["containers"][0], 0)) == (3000, 1 << 30)
    wrong = pod(annotations={CPU: "much"}, requests={"cpu": "100m"})
    assert 5 <= pod_usage(wrong, 0).cpu <= 80


def test_a_pod_that_does_not_run_uses_nothing_and_a_node_uses_its_own() -> None:
    waiting = pod(phase="Pending")
    assert pod_usage(waiting, 0) == (0, 0)
    assert node_usage([waiting], 0) == SYSTEM
    assert node_usage([pod(annotations={CPU: "1", MEMORY: "1Gi"})], 0) == (SYSTEM.cpu + 1000, SYSTEM.memory + (1 << 30))
    assert SYSTEM.quantities() == {"cpu": "60m", "memory": "262144Ki"}
