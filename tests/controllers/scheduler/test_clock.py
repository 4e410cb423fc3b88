from __future__ import annotations

from typing import Any

import pytest

from controllers.cluster import Cluster, found
from controllers.log.memory import MemoryStore
from controllers.log.operations import Create, Patch
from scheduler_core.scheduler.run import POINTS
from tests.controllers.scheduler.people import write

RESOURCES = {"cpu": "4", "memory": "8Gi", "pods": "110"}


class Session:
    """A whole control plane on a clock that people command through its object."""

    def __init__(self) -> None:
        self.store = MemoryStore(seed=3)
        found(self.store)
        self.steps = 0
        self.real_ms = 1_000
        self.take_over()
        self.cluster.advance(5_000)

    def take_over(self) -> None:
        self.cluster = Cluster(self.store, fence=self.store.take_over())
        self.cluster.start()
        self.obey()

    def obey(self) -> None:
        self.real_ms += 1_000
        self.cluster.pull()
        self.cluster.obey(self.real_ms)

    def write(self, operation: Any) -> None:
        write(self.store, operation)

    def command(self, **spec: Any) -> None:
        self.write(Patch("clocks.clustersim.io", "", "clock", {"spec": spec}))
        self.obey()

    def step(self, by: str, count: int = 1) -> int:
        self.steps += 1
        self.command(step={"id": self.steps, "by": by, "count": count})
        return int(self.clock["stepped"])

    @property
    def clock(self) -> dict[str, Any]:
        stored = self.store.get("clocks.clustersim.io", "", "clock")
        assert stored is not None
        return dict(stored.object["status"])

    def cycle(self) -> dict[str, Any]:
        stored = self.store.get("replicas.clustersim.io", "", "kube-scheduler-0")
        assert stored is not None
        return dict(stored.object["status"].get("cycle") or {})

    def node(self, name: str) -> None:
        status = {"capacity": RESOURCES, "allocatable": RESOURCES}
        self.write(Create("nodes", "", {"metadata": {"name": name}, "spec": {}, "status": status}))
        self.write(Patch("nodes", "", name, {"status": status}, "merge", "status"))
        self.cluster.pull()
        self.cluster.advance(self.cluster.now_ms + 10_000)

    def pod(self, name: str) -> None:
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
        document = {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": [container]}}
        self.write(Create("pods", "default", document))

    def node_of(self, name: str) -> str:
        stored = self.store.get("pods", "default", name)
        assert stored is not None
        return str(stored.object["spec"].get("nodeName", ""))


@pytest.fixture(params=[0, 250], ids=["at full speed", "in slow motion"])
def session(request: pytest.FixtureRequest) -> Session:
    session = Session()
    session.node("a")
    session.node("b")
    session.command(pace=request.param)
    return session


def test_stepping_by_point_passes_every_point_of_a_cycle(session: Session) -> None:
    session.command(paused=True)
    session.pod("web")
    seen: list[str] = []
    times_ms = set()
    while session.step("point") and session.clock.get("held"):
        times_ms.add(session.cluster.now_ms)
        seen.append(session.clock["held"]["point"])
        assert session.cycle()["point"] == seen[-1]
        assert session.clock["paused"]
    assert seen == [point for point in POINTS if point != "PostFilter"]
    assert session.node_of("web") in ("a", "b")
    assert max(times_ms) - min(times_ms) < 250
    assert session.step("point") == 0


def test_stepping_by_cycle_places_one_pod_a_step(session: Session) -> None:
    session.command(paused=True)
    for number in range(3):
        session.pod(f"p{number}")
    assert session.step("cycle") == 1
    assert [bool(session.node_of(f"p{number}")) for number in range(3)] == [True, False, False]
    assert session.step("cycle", 5) == 2
    assert all(session.node_of(f"p{number}") for number in range(3))


def test_a_held_cycle_goes_on_when_the_clock_runs_again(session: Session) -> None:
    session.command(paused=True)
    session.pod("web")
    session.step("point", 4)
    assert session.clock["held"] == {"pod": "default/web", "point": "Filter", "replica": "kube-scheduler-0"}
    session.command(paused=False)
    assert session.clock.get("held") is None
    session.cluster.advance(session.cluster.now_ms + 5_000)
    assert session.node_of("web") in ("a", "b")
    assert session.cycle() == {}


@pytest.mark.parametrize("points", [1, 4, 6, 9])
def test_the_next_owner_of_a_paused_session_holds_the_same_cycle_with_the_same_scores(
    session: Session, points: int
) -> None:
    session.command(paused=True)
    session.pod("web")
    assert session.step("point", points) == points
    held, cycle = session.clock["held"], session.cycle()
    session.take_over()
    assert session.clock["paused"]
    assert session.clock["held"] == held
    assert session.cycle()["point"] == cycle["point"]
    assert session.cycle().get("trace") == cycle.get("trace")
    session.command(paused=False)
    session.cluster.advance(session.cluster.now_ms + 10_000)
    assert session.node_of("web") == (cycle.get("node") or session.node_of("web")) != ""
    binds = [row for row in session.store.events(0, 100_000) if row.resource == "pods" and row.name == "web"]
    assert len({row.object["spec"].get("nodeName") for row in binds} - {None}) == 1


def test_a_step_shows_at_once_what_it_changed_in_the_lanes(session: Session) -> None:
    session.command(paused=True)
    for name in ("first", "second"):
        session.pod(name)
    shown: list[list[str]] = []
    while session.step("event") and not session.node_of("second"):
        stored = session.store.get("queues.clustersim.io", "", "kube-scheduler-0")
        assert stored is not None
        lane = [one["pod"].removeprefix("default/") for one in stored.object["status"]["active"]]
        if not shown or shown[-1] != lane:
            shown.append(lane)
    assert [lane for lane in shown if lane][:2] == [["first", "second"], ["second"]]
