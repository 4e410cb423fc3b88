"""Counting what a scheduler that did not look has left on the nodes."""

from __future__ import annotations

from typing import Any

from scheduler_core.legacy.conflicts import conflicts_of


def node(name: str, **size: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "3"} | size}}


def pod(name: str, on: str, *ports: tuple[int, str, str], phase: str = "Running", **requests: str) -> dict[str, Any]:
    listed = [{"containerPort": 1, "hostPort": port, "protocol": way, "hostIP": ip} for port, way, ip in ports]
    container = {"name": "c", "ports": listed, "resources": {"requests": requests}}
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"nodeName": on, "containers": [container]},
        "status": {"phase": phase},
    }


WEB = (80, "TCP", "")


def test_a_level_cluster_has_none() -> None:
    pods = [pod("a", "n", WEB, cpu="2", memory="4Gi"), pod("b", "m", WEB), pod("c", "")]
    found = conflicts_of([node("n"), node("m")], pods)
    assert found.as_dict() == {"hostPorts": 0, "cpu": 0, "memory": 0, "pods": 0, "nodes": []}


def test_ports_taken_twice_and_nodes_given_too_much_are_counted() -> None:
    pods = [
        pod("a", "n", WEB, cpu="1500m"),
        pod("b", "n", WEB, cpu="1", memory="5Gi"),
        pod("c", "n", WEB),
        pod("d", "n"),
        pod("e", "m", memory="5Gi"),
        pod("gone", "m", memory="5Gi", phase="Succeeded"),
    ]
    found = conflicts_of([node("n"), node("m"), node("o")], pods)
    assert found.counts() == {"hostPorts": 2, "cpu": 1, "memory": 2, "pods": 1}
    n, m = found.as_dict()["nodes"]
    assert n["over"] == {"cpu": 500, "memory": 1024**3, "pods": 1}
    assert n["hostPorts"] == [
        {"port": 80, "protocol": "TCP", "pod": "default/b", "others": ["default/a"]},
        {"port": 80, "protocol": "TCP", "pod": "default/c", "others": ["default/a", "default/b"]},
    ]
    assert (m["name"], m["over"], m["hostPorts"]) == ("m", {"memory": 1024**3}, [])


def test_ports_of_other_protocols_and_addresses_do_not_collide() -> None:
    """The era's predicate keeps these apart, though a machine would have served them both."""
    listed = [(53, "TCP", ""), (53, "UDP", ""), (80, "TCP", "10.0.0.1"), (80, "TCP", "10.0.0.2")]
    pods = [pod(f"p{number}", "n", each) for number, each in enumerate(listed)]
    assert conflicts_of([node("n", pods="9")], pods).host_ports == 0
    anywhere = pod("any", "n", (80, "TCP", "0.0.0.0"))
    assert conflicts_of([node("n", pods="9")], [*pods, anywhere]).host_ports == 1
