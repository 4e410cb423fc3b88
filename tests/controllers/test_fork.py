"""A fork's control plane: it goes on from the moment it was taken at, and draws what it makes for itself."""

from __future__ import annotations

import pytest

from controllers.log.operations import Patch
from controllers.log.store import Event
from tests.tools.lab import Lab, node, pod, workload

CLOCKS = "clocks.clustersim.io"
REPLICAS = "replicas.clustersim.io"
NODES = [node("n1"), node("n2"), node("n3")]


def forked(lab: Lab, branch: str = "F0RK", since: int | None = None) -> Lab:
    return Lab(store=lab.store.fork(lab.store.revision, branch, since))


def made(lab: Lab, resource: str) -> dict[str, str]:
    return {one["metadata"]["name"]: one["metadata"]["uid"] for one in lab.list(resource)}


def scale(lab: Lab, replicas: int) -> None:
    lab.do(Patch("deployments.apps", "default", "web", {"spec": {"replicas": replicas}}))
    lab.run(30)


def test_parent_and_fork_make_other_pods_from_the_same_seed() -> None:
    lab = Lab([*NODES, workload("Deployment", "web", 2)])
    lab.run(30)
    before = made(lab, "pods")
    fork = forked(lab)
    assert made(fork, "pods") == before
    assert 0 <= fork.cluster.now_ms - lab.cluster.now_ms <= 1, "time goes on from there"
    for one in (lab, fork):
        scale(one, 4)
    ours, theirs = made(lab, "pods"), made(fork, "pods")
    assert len(ours) == len(theirs) == 4
    assert before.items() <= ours.items() & theirs.items(), "what was there stays what it was"
    assert ours.keys() & theirs.keys() == before.keys()
    assert set(ours.values()) & set(theirs.values()) == set(before.values())
    assert all(one["spec"].get("nodeName") for one in fork.list("pods"))
    assert lab.store.revision >= fork.store.compacted


def test_the_same_fork_goes_the_same_way() -> None:
    def log_of(branch: str) -> list[tuple[int, str, bytes]]:
        lab = Lab([*NODES, workload("Deployment", "web", 2)])
        lab.run(30)
        fork = forked(lab, branch)
        scale(fork, 3)
        rows: list[Event] = list(fork.store.events(fork.store.compacted, 100_000))
        return [(row.revision, row.verb, row.data) for row in rows]

    assert log_of("A") == log_of("A") != log_of("B")


@pytest.mark.parametrize("keeps_history", [True, False])
def test_a_held_cycle_is_held_in_the_fork_where_its_input_came_along(keeps_history: bool) -> None:
    lab = Lab(NODES)
    lab.run(3)
    lab.ask(CLOCKS, "clock", {"paused": True})
    lab.create(pod("web"))
    while (lab.step("point").get("held") or {}).get("point") != "Score":
        pass
    cycle = lab.get(REPLICAS, "kube-scheduler-0", "")["status"]["cycle"]
    fork = forked(lab, since=cycle["seenRevision"] if keeps_history else None)
    fork.obey()
    held = fork.get(CLOCKS, "clock", "")["status"].get("held")
    assert held == ({"pod": "default/web", "point": "Score", "replica": "kube-scheduler-0"} if keeps_history else None)
    fork.ask(CLOCKS, "clock", {"paused": False})
    fork.run(30)
    assert fork.get("pods", "web")["spec"]["nodeName"], "the pod is placed either way"
    assert "nodeName" not in lab.get("pods", "web")["spec"]
