from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.api.requests import non_zero_requests, pod_host_ports, pod_requests
from tests.core.objects import pod

MEBI = 1024 * 1024


def container(name: str = "c", **requests: str) -> dict[str, Any]:
    return {"name": name, "resources": {"requests": requests}}


def sidecar(name: str, **requests: str) -> dict[str, Any]:
    return {**container(name, **requests), "restartPolicy": "Always"}


@pytest.mark.parametrize(
    ("spec", "asked"),
    [
        ({"containers": [container()]}, {}),
        ({"containers": [container(cpu="0")]}, {"cpu": 0}),
        ({"containers": [container(cpu="1"), container("d", cpu="250m", memory="1Mi")]}, {"cpu": 1250, "memory": MEBI}),
        ({"containers": [container(cpu="1")], "initContainers": [container("i", cpu="3")]}, {"cpu": 3000}),
        ({"containers": [container(cpu="1")], "initContainers": [sidecar("s", cpu="2")]}, {"cpu": 3000}),
        # A sidecar started before an init container runs beside it; one started later does not.
        (
            {"containers": [container(cpu="1")], "initContainers": [sidecar("s", cpu="2"), container("i", cpu="4")]},
            {"cpu": 6000},
        ),
        (
            {"containers": [container(cpu="1")], "initContainers": [container("i", cpu="4"), sidecar("s", cpu="2")]},
            {"cpu": 4000},
        ),
        ({"containers": [container(cpu="1")], "overhead": {"cpu": "100m"}}, {"cpu": 1100}),
        (
            {"containers": [container(cpu="1", memory="1Mi")], "resources": {"requests": {"cpu": "2"}}},
            {"cpu": 2000, "memory": MEBI},
        ),
        (
            {"containers": [container(**{"example.com/gpu": "1", "pods": "3", "storage": "1Gi"})]},
            {"example.com/gpu": 1},
        ),
    ],
)
def test_sums(spec: dict[str, Any], asked: dict[str, int]) -> None:
    assert pod_requests(pod(**spec).pod) == asked


def resized(conditions: list[dict[str, str]]) -> dict[str, int]:
    status = {
        "containerStatuses": [
            {"name": "c", "resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "2", "memory": "1Mi"}}
        ],
        "conditions": conditions,
    }
    return pod_requests(pod(requests={"cpu": "5"}, status=status).pod)


def test_a_resize_under_way_counts_the_largest_of_asked_running_and_allocated() -> None:
    assert resized([]) == {"cpu": 5000, "memory": MEBI}


def test_an_infeasible_resize_counts_only_what_runs() -> None:
    condition = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
    assert resized([condition]) == {"cpu": 3000, "memory": MEBI}


@pytest.mark.parametrize(
    ("spec", "counted"),
    [
        ({"containers": [container()]}, (100, 200 * MEBI)),
        ({"containers": [container(), container("d", cpu="1")]}, (1100, 400 * MEBI)),
        ({"containers": [container(cpu="0", memory="0")]}, (0, 0)),
        ({"containers": [container(cpu="1")], "resources": {"requests": {"memory": "1Mi"}}}, (1000, MEBI)),
        # With pod-level requests a container's explicit 0 keeps the default away, from the others too.
        (
            {"containers": [container(), container("d", memory="0")], "resources": {"requests": {"cpu": "1"}}},
            (1000, 0),
        ),
        ({"containers": [container()], "resources": {"requests": {"cpu": "0"}}}, (0, 200 * MEBI)),
    ],
)
def test_scoring_counts_defaults_for_what_is_unsaid(spec: dict[str, Any], counted: tuple[int, int]) -> None:
    assert non_zero_requests(pod(**spec).pod) == counted


def test_host_ports_of_containers_and_sidecars_with_defaults_filled() -> None:
    ports = [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81}]
    udp = [{"containerPort": 53, "hostPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"}]
    spec = {
        "containers": [{"name": "c", "ports": ports}],
        "initContainers": [
            {"name": "s", "ports": udp, "restartPolicy": "Always"},
            {"name": "i", "ports": [{"containerPort": 1, "hostPort": 1}]},
        ],
    }
    assert pod_host_ports(pod(**spec).pod) == (("UDP", "10.0.0.1", 53), ("TCP", "0.0.0.0", 8080))


def test_sums_are_rounded_once() -> None:
    halves = [container("a", cpu="500u", memory="500m"), container("b", cpu="500u", memory="500m")]
    assert pod_requests(pod(containers=halves).pod) == {"cpu": 1, "memory": 1}


def test_amounts_are_of_64_bits() -> None:
    assert pod_requests(pod(requests={"memory": "7Ei"}).pod) == {"memory": 7 * 2**60}
    # One quantity is capped, sums wrap round.
    assert pod_requests(pod(requests={"memory": "9Ei"}).pod) == {"memory": 2**63 - 1}
    two = [container("a", memory="7Ei"), container("b", memory="7Ei")]
    assert pod_requests(pod(containers=two).pod) == {"memory": -(2**61)}


def test_what_a_pod_is_given_does_not_matter_to_where_it_fits() -> None:
    status = {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}
    given = pod(containers=[container(cpu="100m")], status=status)
    assert (given.asked["cpu"], given.requests["cpu"], given.sums.scoring_requests["cpu"]) == (100, 3000, 100)


@pytest.mark.parametrize("resource", ["Example.com/gpu", f"example.com/{'g' * 64}", "requests.example.com/gpu", "gpu"])
def test_what_no_quota_can_name_is_not_counted(resource: str) -> None:
    assert pod_requests(pod(requests={resource: "1", "example.com/gpu": "2"}).pod) == {"example.com/gpu": 2}
