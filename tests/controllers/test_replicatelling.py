"""A replica's status has one writer, of parts that share no field."""

from __future__ import annotations

from typing import Any

from controllers.replicatelling import tell_cycle
from tests.tools.lab import Lab

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
