"""A replica's status has one writer, of parts that share no field."""

from __future__ import annotations

from typing import Any

from controllers.replicatelling import tell_cycle
from tests.tools.lab import Document, Lab, node, pod

REPLICAS = "replicas.clustersim.io"


class Carrier:
    """Does what a tick would write."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    def emit(self, operation: Any) -> None:
        self._lab.do(operation)


def test_parts_leave_each_other_as_they_are() -> None:
    lab = Lab()
    lab.run(5)
    tick: Any = Carrier(lab)
    before = dict(lab.get(REPLICAS, "kube-scheduler-0", "")["status"])
    tell_cycle(tick, "kube-scheduler-0", {"pod": "default/a"}, None)
    shown = lab.get(REPLICAS, "kube-scheduler-0", "")["status"]
    assert shown == {**before, "cycle": {"pod": "default/a"}}
    tell_cycle(tick, "kube-scheduler-0", {"uid": "u"}, shown["cycle"])
    assert lab.get(REPLICAS, "kube-scheduler-0", "")["status"] == {**before, "cycle": {"uid": "u"}}


def standing(lab: Lab, identity: str) -> Document:
    """Return what a replica's status says."""
    return lab.get(REPLICAS, identity, "")["status"]


def test_a_leader_that_is_cut_off_and_gives_up_has_no_pod_in_hand_any_more() -> None:
    lab = Lab(replicas=2)
    lab.run(5)
    lab.ask("clocks.clustersim.io", "clock", {"pace": 60_000})
    lab.create(node("n1"))
    lab.run(5)
    lab.create(pod("web"))
    lab.run(2)
    leader = next(one for one in ("kube-scheduler-0", "kube-scheduler-1") if standing(lab, one)["leading"])
    assert standing(lab, leader)["cycle"]["pod"] == "default/web"
    lab.ask(REPLICAS, leader, {"fault": {"id": 1, "kind": "partition"}})
    lab.run(20)
    assert not standing(lab, leader)["leading"]
    assert "cycle" not in standing(lab, leader)
