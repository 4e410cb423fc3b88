"""What a kubelet makes of writes of others that it has not heard of when it writes itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from controllers.log.operations import Delete, Operation, Patch, Result, Update
from controllers.loop.component import Emission
from controllers.registry.registry import Registry
from scheduler_core.api.document import condition
from scheduler_core.api.errors import conflict
from tests.tools.lab import Lab, node, pod
from tests.tools.racing import before_each_write

EVENTS_MAX = 3_000
"""Far more than the half minutes here have."""
POD = ("pods", "default", "web")


class Raced(Lab):
    """A lab in which a pod's kubelet may lose a race: somebody acts before its next write of the pod is there."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.first: Callable[[], object] | None = None
        self.lost: list[str] = []
        before_each_write(monkeypatch, self._let_race)
        super().__init__([node("n1")])

    def _let_race(self, emission: Emission) -> None:
        asked, first = emission.operation, self.first
        if first and isinstance(asked, Update | Delete) and asked.resource == "pods":
            self.first = None
            self.lost.append(type(asked).__name__)
            first()

    def delete(self, grace_seconds: int) -> None:
        """Delete the pod."""
        self.do(Delete(*POD, grace_period_seconds=grace_seconds))

    @property
    def is_gone(self) -> bool:
        """Return whether the pod is."""
        return self.store.get(*POD) is None


@pytest.mark.parametrize("write", ["Update", "Delete"])
def test_a_pod_that_is_gone_before_its_kubelet_hears_of_it_holds_nobody_up(
    write: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Raced(monkeypatch)
    lab.run(20)
    lab.create(pod("web"))
    if write == "Delete":
        lab.run(10)
        lab.delete(1)
        lab.run(0.5)
    lab.first = lambda: lab.delete(0)
    ran = lab.cluster.advance(lab.cluster.now_ms + 30_000, max_events=EVENTS_MAX)
    assert lab.lost == [write]
    assert ran < EVENTS_MAX, "time goes on"
    assert lab.is_gone


def test_a_pod_that_is_told_to_end_just_before_its_kubelet_writes_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Raced(monkeypatch)
    failing = pod("web")
    failing["spec"]["containers"][0]["command"] = ["sh", "-c", "exit 1"]
    lab.create(failing)
    lab.run(20)
    lab.first = lambda: lab.delete(5)
    lab.run(60)
    assert lab.lost == ["Update"], "it fails over and over"
    assert lab.is_gone


def test_what_others_say_of_a_pod_just_before_its_kubelet_writes_stays_said(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Raced(monkeypatch)
    gated = pod("web", readinessGates=[{"conditionType": "example.dev/served"}])
    lab.run(20)
    lab.create(gated)
    served = {"type": "example.dev/served", "status": "True"}
    lab.first = lambda: lab.do(Patch(*POD, {"status": {"conditions": [served]}}, "strategic", "status"))
    lab.run(30)
    assert lab.lost == ["Update"]
    told = lab.get("pods", "web")
    assert (condition(told, "example.dev/served") or {})["status"] == "True"
    assert (condition(told, "Ready") or {})["status"] == "True", "it is what the gate waits for"


def test_a_status_that_is_refused_is_written_again_after_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[int] = []
    lab = Lab([node("n1")])
    lab.run(20)
    attempt = Registry.attempt

    def refusing(self: Registry, transaction: Any, operation: Operation, *rest: Any, **more: Any) -> Any:
        if isinstance(operation, Update) and operation.resource == "pods" and len(refused) < 2:
            refused.append(lab.cluster.now_ms)
            return Result(operation, None, conflict("pods", operation.name, "not now"), transaction.revision)
        return attempt(self, transaction, operation, *rest, **more)

    monkeypatch.setattr(Registry, "attempt", refusing)
    lab.create(pod("web"))
    assert lab.cluster.advance(lab.cluster.now_ms + 40_000, max_events=EVENTS_MAX) < EVENTS_MAX
    assert 10_000 <= refused[1] - refused[0] < 11_000
    assert lab.get("pods", "web")["status"]["phase"] == "Running"
