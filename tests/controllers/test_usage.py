"""Usage of hollow containers: a function of the pod and the time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.kinds.metrics.usage import (
    CPU,
    MEMORY,
    SYSTEM,
    WINDOW_MS,
    container_usage,
    node_usage,
    over_limit,
    pod_usage,
)


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


def stressed(*args: str, command: list[str] | None = None, image: str = "polinux/stress", **resources: Any) -> Any:
    one = pod(**resources)
    one["spec"]["containers"][0] |= {"image": image, "args": list(args), **({"command": command} if command else {})}
    return one


@pytest.mark.parametrize(
    ("one", "cpu", "memory"),
    [
        (stressed("--vm", "1", "--vm-bytes", "150M", "--vm-hang", "1", command=["stress"]), None, 150 << 20),
        (stressed("--vm", "2", "--vm-bytes=1G", command=["/usr/bin/stress"]), 2000, 2 << 30),
        (stressed("-c", "3", command=["stress-ng"], image="alpine"), 3000, None),
        (stressed("-cpus", "2", image="vish/stress"), 2000, None),
        (stressed("-cpus", "2", image="vish/stress", limits={"cpu": "1"}), 1000, None),
        (stressed("-mem-total", "950Mi", image="vish/stress"), None, 950 << 20),
        (stressed("--vm", "1", "--vm-hang", "0", command=["stress"]), None, 256 << 20),
        (stressed("--vm", "1", command=["sh", "-c", "stress"]), None, None),
        (stressed("--cpu", "2", "x" * 1024, command=["stress"]), None, None),
        (stressed("--cpu", "-1", "--vm-bytes", "much", command=["stress"]), 1000, 256 << 20),
    ],
)
def test_stress_takes_what_its_options_say(one: Any, cpu: int | None, memory: int | None) -> None:
    used = pod_usage(one, 0)
    assert used.cpu == cpu if cpu is not None else used.cpu < 20
    assert used.memory == memory if memory is not None else used.memory < 64 << 20


def test_who_takes_more_memory_than_its_limit_is_killed_for_it() -> None:
    hungry = stressed("--vm", "1", "--vm-bytes", "250M", command=["stress"], limits={"memory": "100Mi"})
    assert over_limit(hungry, hungry["spec"]["containers"][0])
    fed = stressed("--vm", "1", "--vm-bytes", "150M", command=["stress"], limits={"memory": "200Mi"})
    assert not over_limit(fed, fed["spec"]["containers"][0])
