"""Elections as they can be set and broken: without one, by other locks, with exits, beliefs and refused writes told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clustersim import documents
from clustersim.classroom.templates import TEMPLATES
from controllers import scenario
from controllers.leaderelection.standing import Standing, overlaps
from controllers.log.memory import MemoryStore
from controllers.log.operations import Patch
from controllers.registry.models.clustersim_v1 import Belief
from tests.tools.lab import Lab, node, pod

REPLICAS = "replicas.clustersim.io"
STARTS = {name: scenario.Start(tuple(one.objects()), one.replicas, one.pace) for name, one in TEMPLATES.items()}
SCENARIOS = Path(scenario.__file__).resolve().parents[2] / "clustersim" / "runtime" / "scenarios"
LEADER = "control-plane.alpha.kubernetes.io/leader"


class Pair(Lab):
    """Two replicas of each component on three nodes."""

    def __init__(self, *, seed: int = 1) -> None:
        super().__init__([node(f"n{number}") for number in range(3)], seed=seed, replicas=2)
        self.create({"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": "flags"}})
        self.run(10)

    def flags(self, component: str = "kube-scheduler", **texts: str) -> None:
        spec = {component: {name.replace("_", "-"): text for name, text in texts.items()}}
        self.ask("flags.clustersim.io", "flags", spec)

    def status(self, identity: str) -> dict[str, Any]:
        return dict(self.get(REPLICAS, identity, "")["status"])

    def leading(self) -> list[str]:
        return [one for one in ("kube-scheduler-0", "kube-scheduler-1") if self.status(one)["leading"]]

    def record(self, resource: str) -> dict[str, Any]:
        annotations = self.get(resource, "kube-scheduler", "kube-system")["metadata"]["annotations"]
        return dict(json.loads(annotations[LEADER]))


def test_without_an_election_both_act_and_one_binding_of_each_pod_wins() -> None:
    pair = Pair()
    pair.flags(leader_elect="false")
    pair.run(10)
    assert pair.leading() == ["kube-scheduler-0", "kube-scheduler-1"]
    for number in range(4):
        pair.create(pod(f"p{number}"))
    pair.run(10)
    pods = pair.list("pods")
    assert all(one["spec"].get("nodeName") for one in pods)
    assert sum(pair.status(f"kube-scheduler-{number}")["refused"] for number in range(2)) == 4
    pair.flags(leader_elect="true")
    pair.run(30)
    assert len(pair.leading()) == 1


def test_a_flag_of_the_election_starts_the_processes_anew_as_asked() -> None:
    pair = Pair()
    assert pair.status("kube-scheduler-0")["restarts"] == 0
    pair.flags(leader_elect_lease_duration="30s")
    pair.run(10)
    status = pair.status("kube-scheduler-0")
    assert (status["restarts"], status["lastExit"]["code"]) == (1, 0)
    assert status["lastExit"]["reason"] == "Requested to terminate, exiting"
    assert pair.get("leases.coordination.k8s.io", "kube-scheduler", "kube-system")["spec"]["leaseDurationSeconds"] == 30
    assert pair.status("kube-controller-manager-0")["restarts"] == 0


def test_who_loses_its_lease_exits_with_1_and_client_go_calls_back_in_order() -> None:
    pair = Pair()
    (old,) = pair.leading()
    known = {"id": 1, "kind": "partition", "seconds": 40}
    pair.ask(REPLICAS, old, {"fault": known})
    pair.run(60)
    status = pair.status(old)
    assert (status["lastExit"]["code"], status["lastExit"]["reason"]) == (1, "Leaderelection lost")
    told = [one["callback"] for one in status["callbacks"]]
    assert told[:3] == ["OnNewLeader", "OnStartedLeading", "OnStoppedLeading"]
    (new,) = pair.leading()
    assert new != old
    assert [one["identity"] for one in status["callbacks"] if one["callback"] == "OnNewLeader"] == [old, new]


@pytest.mark.parametrize(
    ("lock", "resource", "lease"),
    [
        ("endpoints", "endpoints", False),
        ("configmaps", "configmaps", False),
        ("endpointsleases", "endpoints", True),
        ("configmapsleases", "configmaps", True),
    ],
)
def test_the_locks_of_an_earlier_era_hold_and_go_over(lock: str, resource: str, lease: bool) -> None:
    pair = Pair()
    pair.flags(leader_elect_resource_lock=lock, leader_elect_resource_name="kube-scheduler")
    before = pair.get("leases.coordination.k8s.io", "kube-scheduler", "kube-system")["spec"]["renewTime"]
    pair.run(40)
    (old,) = pair.leading()
    record = pair.record(resource)
    assert (record["holderIdentity"], record["leaseDurationSeconds"]) == (old, 15)
    spec = pair.get("leases.coordination.k8s.io", "kube-scheduler", "kube-system")["spec"]
    assert (spec["holderIdentity"] == old and spec["renewTime"] > before) is lease
    pair.ask(REPLICAS, old, {"fault": {"id": 1, "kind": "crash"}})
    pair.run(40)
    (new,) = pair.leading()
    assert new != old
    after = pair.record(resource)
    assert (after["holderIdentity"], after["leaderTransitions"]) == (new, record["leaderTransitions"] + 1)


def test_a_pair_whose_locks_disagree_is_held_by_nobody_known() -> None:
    pair = Pair()
    pair.flags(leader_elect_resource_lock="endpointsleases")
    pair.run(40)
    (old,) = pair.leading()
    pair.ask(REPLICAS, old, {"fault": {"id": 1, "kind": "crash"}})
    patch = {"spec": {"holderIdentity": "somebody-else"}}
    pair.do(Patch("leases.coordination.k8s.io", "kube-system", "kube-scheduler", patch))
    pair.run(8)
    (other,) = {"kube-scheduler-0", "kube-scheduler-1"} - {old}
    assert pair.status(other)["lease"]["holder"] == "leaderelection.k8s.io/unknown"
    pair.run(40)
    assert pair.leading() == [other]


def _tries(pair: Pair, identity: str) -> list[tuple[str, bool, bool]]:
    return [(one["branch"], one["leading"], one["conflict"]) for one in pair.status(identity)["tries"]]


def test_an_observer_tells_when_the_lease_of_a_dead_leader_is_over_for_it() -> None:
    pair = Pair()
    (old,) = pair.leading()
    (other,) = {"kube-scheduler-0", "kube-scheduler-1"} - {old}
    assert _tries(pair, other) == [("held", False, False)], "renewals are no news"
    pair.run(7.3)
    pair.ask(REPLICAS, old, {"fault": {"id": 1, "kind": "crash"}})
    pair.run(9)
    silent = pair.status(other)["tries"][-1]
    assert (silent["branch"], silent["holder"]) == ("held", old), "told before the lease is over"
    assert silent["expiresMs"] == silent["seenMs"] + 15_000
    pair.run(16)
    taken = pair.status(other)["tries"][-1]
    assert (taken["branch"], taken["holder"], taken["seenMs"]) == ("acquire-expired", old, silent["seenMs"])
    assert taken["expiresMs"] <= taken["atMs"] == pair.status(other)["beliefs"][-1]["fromMs"]
    assert pair.status(old)["beliefs"][-1]["toMs"] == 17_300


def test_a_leader_that_is_cut_off_tells_of_each_renewal_that_was_lost() -> None:
    pair = Pair()
    (old,) = pair.leading()
    pair.ask(REPLICAS, old, {"fault": {"id": 1, "kind": "partition", "seconds": 60}})
    pair.run(40)
    lost = [one for one in _tries(pair, old) if one[1]]
    assert lost == [("get-failed", True, False)] * 5 + [("deadline", True, False)]


def test_a_slow_leader_tells_of_its_refused_renewal_and_writes_and_sees_its_lease_by_its_own_clock() -> None:
    pair = Pair()
    (old,) = pair.leading()
    pair.ask(REPLICAS, old, {"fault": {"id": 1, "kind": "rate", "rate": 0.1}})
    for number in range(30):
        pair.create(pod(f"p{number}"))
        pair.run(2)
    (other,) = {"kube-scheduler-0", "kube-scheduler-1"} - {old}
    taken = pair.status(other)["tries"][-1]
    assert (taken["branch"], taken["expiresMs"] - taken["seenMs"]) == ("acquire-expired", 15_000)
    (refused,) = [one for one in pair.status(old)["tries"] if one["conflict"]]
    assert (refused["branch"], refused["leading"]) == ("renew-optimistic-refused", True)
    assert refused["expiresMs"] - refused["seenMs"] == 150_000, "its clock is ten times too slow"
    sentences = [one for identity in (old, other) for one in pair.status(identity)["refusals"]]
    assert sentences
    assert all(one["atMs"] >= taken["atMs"] for one in sentences)
    assert all("is already assigned to node" in one["message"] for one in sentences)
    assert all(len(pair.status(identity)["refusals"]) <= 8 for identity in (old, other))


def _played(name: str, seed: int = 1) -> tuple[MemoryStore, dict[str, Any]]:
    document = documents.one_yaml((SCENARIOS / f"{name}.yaml").read_bytes())
    return scenario.run(scenario.read(document, STARTS), seed=seed)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_slow_clock_makes_two_leaders_and_the_window_is_recorded(seed: int) -> None:
    store, summary = _played("two-leaders", seed)
    (window,) = summary["elections"]["kube-scheduler"]["twoLeaders"]
    assert window[0] < 35 < window[1], window
    assert summary["elections"]["kube-scheduler"]["refused"] > 0
    assert summary["elections"]["kube-controller-manager"]["twoLeaders"] == []
    pods = [one.object for one in store.list("pods", "default")[0]]
    assert [one["metadata"]["name"] for one in pods if not one["spec"].get("nodeName")] == []


def test_a_rolling_upgrade_has_one_leader_at_any_time() -> None:
    store, summary = _played("rolling-upgrade")
    assert summary["elections"]["kube-scheduler"]["twoLeaders"] == []
    assert summary["leaders"]["kube-scheduler"] == "kube-scheduler-1"
    after = store.get("pods", "default", "after-the-upgrade")
    assert after is not None
    assert after.object["spec"]["nodeName"].startswith("worker-")


def test_without_an_election_a_scenario_counts_the_duelling_binds() -> None:
    _, summary = _played("no-election")
    assert summary["elections"]["kube-scheduler"]["refused"] >= 6
    assert len(summary["elections"]["kube-scheduler"]["twoLeaders"]) == 1


def test_overlaps_are_those_of_at_least_two() -> None:
    def belief(since: int, until: int | None) -> Belief:
        return Belief(from_ms=since, to_ms=until)

    assert overlaps([[belief(0, 10)], [belief(10, 20)]], 99) == []
    assert overlaps([[belief(0, 12)], [belief(10, None)], [belief(11, 30)]], 99) == [(10, 30)]
    assert overlaps([[belief(0, 5), belief(50, None)], [belief(60, 70)]], 99) == [(60, 70)]


def test_a_standing_keeps_the_newest_beliefs_and_callbacks() -> None:
    standing = Standing()
    for number in range(40):
        standing.believes(True, number * 10)
        standing.believes(True, number * 10 + 1)
        standing.believes(False, number * 10 + 5)
        standing.called("OnStartedLeading", number, None)
    told = standing.as_dict()
    assert told["beliefs"][-1] == {"fromMs": 390, "toMs": 395}
    assert (len(told["beliefs"]), len(told["callbacks"])) == (12, 6)


def test_scenarios_refuse_flags_that_there_are_not() -> None:
    document = {"steps": [{"at": 1, "flags": {"kube-scheduler": {"nope": "1"}}}, {"at": 2, "flags": {"kubelet": 3}}]}
    with pytest.raises(Exception, match="unknown flag: --nope") as refused:
        scenario.read(document, STARTS)
    assert "must be a mapping of components" in str(refused.value)


def test_the_flag_object_is_made_by_a_scenario_where_there_is_none() -> None:
    document = {"steps": [{"at": 1, "flags": {"kube-scheduler": {"leader-elect": "false"}}}], "until": 3}
    store, _ = scenario.run(scenario.read(document, STARTS), seed=1)
    stored = store.get("flags.clustersim.io", "", "flags")
    assert stored is not None
    assert stored.object["status"]["observedGeneration"] == stored.object["metadata"]["generation"]
