"""Each fault of the table acts in the loop: what it does to an election, to caches and to writes."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.cluster import Cluster
from controllers.faults.table import FAULTS
from controllers.leaderelection.replica import Replica
from controllers.registry.models.clustersim_v1 import Fault
from controllers.registry.structs import options
from controllers.rerun import first_difference, rerun
from tests.tools.lab import Lab, node, pod, workload

REPLICAS = "replicas.clustersim.io"
LEASES = "leases.coordination.k8s.io"


class Trio(Lab):
    """Three replicas of each component, one of each leading, on three nodes."""

    def __init__(self, *, seed: int = 1, replicas: int = 3) -> None:
        super().__init__([node(f"n{number}") for number in range(3)], seed=seed, replicas=replicas)
        self.run(10)

    def holder(self, component: str = "kube-scheduler") -> str:
        return str(self.get(LEASES, component, "kube-system")["spec"]["holderIdentity"])

    def fault(self, identity: str, kind: str, **more: Any) -> None:
        known = (self.get(REPLICAS, identity, "")["spec"].get("fault") or {}).get("id", 0)
        asked = {"id": known + 1, "kind": kind, "seconds": None, "rate": None, **more}
        self.ask(REPLICAS, identity, {"fault": asked})

    def status(self, identity: str) -> dict[str, Any]:
        return dict(self.get(REPLICAS, identity, "")["status"])

    def leaders(self, component: str = "kube-scheduler") -> list[str]:
        """Return who believes to lead."""
        found = [(name, self.cluster.slot_of(f"{component}-{name}")) for name in range(3)]
        return [
            slot.name
            for _, slot in found
            if slot is not None and isinstance(slot.component, Replica) and slot.component.leading
        ]

    def bound(self) -> dict[str, str]:
        return {
            one["metadata"]["name"]: one["spec"]["nodeName"] for one in self.list("pods") if one["spec"].get("nodeName")
        }


def test_the_kind_knows_every_fault_of_the_table() -> None:
    assert set(options(Fault, "kind")) == set(FAULTS)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_partitioned_leader_loses_its_lease_and_another_leads(seed: int) -> None:
    trio = Trio(seed=seed)
    old = trio.holder()
    trio.fault(old, "partition", seconds=60)
    assert trio.status(old)["fault"] == {"id": 1, "kind": "partition", "seconds": 60, "untilMs": 70_000}
    trio.run(9)
    assert trio.leaders() == [old], "it may go on until its renew deadline"
    trio.run(3)
    assert trio.leaders() == [], "it has given up, and the others wait until the lease has run out"
    trio.create(pod("one"))
    trio.run(10)
    new = trio.holder()
    assert new != old
    assert trio.leaders() == [new]
    assert set(trio.bound()) == {"one"}
    trio.run(20)
    assert trio.cluster.slot_of(old).component.elector is None, "it cannot start before it can list"  # type: ignore[union-attr]
    trio.run(30)
    assert "fault" not in trio.status(old)
    assert trio.cluster.slot_of(old).component.elector is not None  # type: ignore[union-attr]
    # It has listed again: as leader it knows the pod, and schedules beside it.
    for other in {"kube-scheduler-0", "kube-scheduler-1", "kube-scheduler-2"} - {old}:
        trio.fault(other, "crash")
    trio.create(pod("two"))
    trio.run(40)
    assert trio.holder() == old
    assert set(trio.bound()) == {"one", "two"}


def test_a_short_partition_costs_no_lease_and_the_watch_goes_on_from_its_place() -> None:
    trio = Trio()
    leader = trio.holder()
    transitions = trio.get(LEASES, "kube-scheduler", "kube-system")["spec"]["leaseTransitions"]
    trio.fault(leader, "partition", seconds=5)
    trio.create(pod("one"))
    trio.run(4)
    assert trio.bound() == {}, "it does not hear of the pod"
    trio.run(6)
    assert set(trio.bound()) == {"one"}
    assert trio.holder() == leader
    assert trio.get(LEASES, "kube-scheduler", "kube-system")["spec"]["leaseTransitions"] == transitions


def test_what_a_partitioned_controller_manager_wants_is_not_written() -> None:
    trio = Trio()
    leader = trio.holder("kube-controller-manager")
    trio.fault(leader, "partition")
    trio.create(workload("ReplicaSet", "web", 3))
    trio.run(8)
    assert trio.list("pods") == []
    trio.run(20)
    assert trio.holder("kube-controller-manager") != leader
    assert len(trio.list("pods")) == 3, "made once, by the new leader"
    trio.fault(leader, "recover")
    trio.run(30)
    assert len(trio.list("pods")) == 3


def test_a_leader_releases_its_lease_and_another_takes_it_at_its_next_try() -> None:
    trio = Trio()
    old = trio.holder()
    trio.fault(old, "release")
    trio.run(0.1)
    assert trio.holder() == ""
    trio.run(5)
    new = trio.holder()
    assert new not in ("", old)
    trio.run(60)
    assert trio.holder() == new
    assert trio.status(old)["state"] == "Running"
    assert "fault" not in trio.status(old), "it happens at once and leaves nothing"


def test_a_follower_has_nothing_to_release() -> None:
    trio = Trio()
    leader = trio.holder()
    follower = next(f"kube-scheduler-{number}" for number in range(3) if f"kube-scheduler-{number}" != leader)
    trio.fault(follower, "release")
    trio.run(20)
    assert trio.holder() == leader


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_constant_skew_harms_no_election(seed: int) -> None:
    trio = Trio(seed=seed)
    leader = trio.holder()
    for number, seconds in enumerate((-3_600, 7_200, 86_000)):
        trio.fault(f"kube-scheduler-{number}", "skew", seconds=seconds)
        assert trio.status(f"kube-scheduler-{number}")["clockSkewMs"] == seconds * 1_000
    transitions = trio.get(LEASES, "kube-scheduler", "kube-system")["spec"]["leaseTransitions"]
    trio.run(300)
    assert trio.leaders() == [leader]
    lease = trio.get(LEASES, "kube-scheduler", "kube-system")["spec"]
    assert (lease["holderIdentity"], lease["leaseTransitions"]) == (leader, transitions)
    written = trio.cluster.slot_of(leader)
    assert written is not None
    trio.fault(leader, "recover")
    assert trio.status(leader)["clockSkewMs"] == 0


def test_the_times_that_a_skewed_leader_writes_are_off() -> None:
    trio = Trio()
    leader = trio.holder()
    before = trio.get(LEASES, "kube-scheduler", "kube-system")["spec"]["renewTime"]
    trio.fault(leader, "skew", seconds=86_400)
    trio.run(5)
    after = trio.get(LEASES, "kube-scheduler", "kube-system")["spec"]["renewTime"]
    assert before[:10] < after[:10]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_slow_clock_makes_two_leaders_until_the_old_one_learns_of_it(seed: int) -> None:
    trio = Trio(seed=seed)
    old = trio.holder()
    trio.fault(old, "rate", rate=0.1)
    assert trio.status(old)["clockRate"] == 0.1
    seen: set[int] = set()
    for _ in range(60):
        trio.run(1)
        seen.add(len(trio.leaders()))
    assert 2 in seen, "both act as leader: the old one renews too late and does not know"
    assert trio.holder() != old
    trio.fault(old, "recover")
    assert (trio.status(old)["clockRate"], trio.status(old)["clockSkewMs"]) == (1, 0)
    trio.run(60)
    assert trio.leaders() == [trio.holder()]


def test_a_slow_watch_shows_a_pod_late() -> None:
    trio = Trio()
    leader = trio.holder()
    trio.fault(leader, "slow-watch", seconds=4)
    trio.run(10)
    trio.create(pod("one"))
    trio.run(3.5)
    assert trio.bound() == {}
    trio.run(1)
    assert set(trio.bound()) == {"one"}
    assert trio.holder() == leader, "reads and writes are as fast as ever"
    trio.create(pod("two"))
    trio.run(1)
    trio.fault(leader, "recover")
    trio.run(0.5)
    assert set(trio.bound()) == {"one", "two"}, "what was on its way arrives when it is over"


def test_a_dropped_watch_lists_again_and_misses_nothing() -> None:
    trio = Trio()
    leader = trio.holder()
    informers = trio.cluster.slot_of(leader).component.inner._informers  # type: ignore[union-attr]
    lists = informers.reflectors["pods"].lists
    trio.fault(leader, "drop-watch")
    trio.create(pod("one"))
    trio.run(0.5)
    assert trio.bound() == {}
    trio.run(3)
    assert set(trio.bound()) == {"one"}
    assert informers.reflectors["pods"].lists == lists + 1
    trio.fault(leader, "drop-watch", seconds=6)
    trio.create(pod("two"))
    trio.run(6)
    assert set(trio.bound()) == {"one"}
    trio.run(4)
    assert set(trio.bound()) == {"one", "two"}
    assert trio.holder() == leader


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_paused_leader_goes_on_believing_and_its_late_writes_are_refused(seed: int) -> None:
    trio = Trio(seed=seed)
    old = trio.holder()
    trio.fault(old, "pause", seconds=30)
    trio.create(pod("one"))
    trio.run(29)
    new = trio.holder()
    assert new != old
    assert set(trio.leaders()) == {old, new}, "the old one does not know that time has passed"
    bound = trio.bound()
    assert set(bound) == {"one"}
    trio.run(20)
    assert trio.leaders() == [new]
    assert trio.bound() == bound
    bindings = [row for row in trio.rows() if row.resource == "pods" and row.name == "one" and row.actor == old]
    assert bindings == [], "nothing that it tried late was stored"
    assert trio.status(old)["state"] == "Running"


def test_another_fault_ends_the_former() -> None:
    trio = Trio()
    leader = trio.holder()
    trio.fault(leader, "partition", seconds=300)
    trio.fault(leader, "slow-watch", seconds=1)
    assert trio.status(leader)["fault"] == {"id": 2, "kind": "slow-watch", "seconds": 1}
    trio.run(60)
    assert trio.holder() == leader
    trio.run(300)
    assert trio.status(leader)["fault"]["kind"] == "slow-watch", "the end of the former is void"


def test_a_slow_clock_stays_slow_while_the_network_is_cut() -> None:
    trio = Trio()
    leader = trio.holder()
    trio.run(2)
    began = trio.cluster.now_ms
    trio.fault(leader, "rate", rate=0.5)
    trio.fault(leader, "partition", seconds=17)
    status = trio.status(leader)
    assert [one["kind"] for one in status["faults"]] == ["rate", "partition"]
    assert status["fault"] == status["faults"][-1]
    trio.run(21)
    assert [one["kind"] for one in trio.status(leader)["faults"]] == ["rate"]
    assert trio.holder() != leader, "another one took the lease over"
    assert trio.status(leader)["leading"], "ten seconds by a clock at half its rate are twenty"
    trio.run(5)
    stopped = trio.status(leader)["beliefs"][-1]["toMs"]
    assert 22_000 <= stopped - began <= 26_000, "two seconds and ten, twice as long as others measure"
    trio.fault(leader, "recover")
    assert "fault" not in trio.status(leader)
    assert trio.status(leader)["clockRate"] == 1


def test_a_new_owner_goes_on_with_both_faults() -> None:
    trio = Trio()
    trio.fault("kube-scheduler-1", "rate", rate=0.5)
    trio.fault("kube-scheduler-1", "partition", seconds=17)
    told = trio.status("kube-scheduler-1")
    trio.run(5)
    trio.cluster = Cluster(trio.store)
    trio.cluster.start()
    trio.run(1)
    again = trio.status("kube-scheduler-1")
    assert (again["faults"], again["clockRate"]) == (told["faults"], 0.5)
    trio.run(20)
    assert [one["kind"] for one in trio.status("kube-scheduler-1")["faults"]] == ["rate"]


@pytest.mark.parametrize("kind", sorted(set(FAULTS) - {"release", "recover"}))
def test_a_new_owner_goes_on_with_the_fault(kind: str) -> None:
    trio = Trio()
    identity = "kube-scheduler-1"
    trio.fault(
        identity,
        kind,
        **{"slow-watch": {"seconds": 3}, "skew": {"seconds": 9}, "rate": {"rate": 0.5}}.get(kind, {"seconds": 40}),
    )
    told = trio.status(identity)
    trio.run(5)
    trio.cluster = Cluster(trio.store)
    trio.cluster.start()
    trio.run(1)
    assert trio.status(identity)["fault"] == told["fault"]
    slot = trio.cluster.slot_of(identity)
    assert slot is not None
    assert slot.running is (kind != "crash")
    trio.run(60)
    assert ("fault" in trio.status(identity)) is (kind in ("slow-watch", "skew", "rate"))


@pytest.mark.parametrize("seed", [5, 6])
def test_a_session_with_every_fault_runs_again_from_its_log(seed: int) -> None:
    trio = Trio(seed=seed)
    asked: list[tuple[str, dict[str, Any]]] = [
        ("partition", {"seconds": 12}), ("pause", {"seconds": 20}), ("slow-watch", {"seconds": 2}), ("recover", {}),
        ("drop-watch", {}), ("release", {}), ("skew", {"seconds": 50}), ("rate", {"rate": 0.2, "seconds": 30}),
        ("crash", {"seconds": 5}),
    ]  # fmt: skip
    for number, (kind, more) in enumerate(asked):
        trio.fault(trio.holder() or "kube-scheduler-0", kind, **more)
        trio.create(pod(f"p{number}"))
        trio.run(27)
    assert len(trio.bound()) == len(asked)
    again = rerun(trio.rows(), seed=seed, epoch_ms=trio.store.epoch_ms)
    assert first_difference(trio.rows(), again.events(0, 1_000_000)) == ""
