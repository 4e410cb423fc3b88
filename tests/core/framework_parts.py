"""What a framework is put together from in these tests."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from scheduler_core.framework.asks import BindPod, Reply
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import PostFilterResult, PreFilterResult, Steps
from scheduler_core.framework.profile import PluginSet, ProfileConfiguration
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import SUCCESS, Code, Status, error
from scheduler_core.framework.verdicts import FilterOutcome, Verdicts, single_reason
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot
from tests.core.objects import node

Answers = dict[str, Any]


class Teller:
    """A plugin for every point that answers as told and notes what it was asked."""

    name: ClassVar[str] = "Teller"

    def __init__(self, name: str, answers: Answers, heard: list[str]) -> None:
        self.name = name  # type: ignore[misc]
        self.answers = answers
        self.heard = heard

    def _say(self, point: str) -> Any:
        self.heard.append(f"{self.name}.{point}")
        answer = self.answers.get(point, SUCCESS)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def pre_enqueue(self, one: PodInfo) -> Status:
        return self._say("pre_enqueue")

    def sort_key(self, one: PodInfo, queued_at_ms: int) -> tuple[int, ...]:
        return (queued_at_ms,)

    def pre_filter(self, state: CycleState, one: PodInfo, nodes: Snapshot) -> tuple[PreFilterResult | None, Status]:
        names = self.answers.get("names")
        return (None if names is None else PreFilterResult(frozenset(names))), self._say("pre_filter")

    def filter(self, state: CycleState, one: PodInfo, nodes: Snapshot, rows: Rows) -> Verdicts:
        failing = self._say("filter")
        failing = () if failing is SUCCESS else failing
        failed = np.array([info.name in failing for info in nodes.infos_of(rows)], dtype=np.bool_)
        return single_reason(failed, Code.UNSCHEDULABLE, f"{self.name} says no")

    def post_filter(
        self, state: CycleState, one: PodInfo, outcome: FilterOutcome
    ) -> tuple[PostFilterResult | None, Status]:
        return self.answers.get("result"), self._say("post_filter")

    def pre_score(self, state: CycleState, one: PodInfo, nodes: Snapshot, rows: Rows) -> Status:
        return self._say("pre_score")

    def score(self, state: CycleState, one: PodInfo, nodes: Snapshot, rows: Rows) -> Ints:
        said = self._say("score")
        return np.full(nodes.count(rows), 0 if said is SUCCESS else said, dtype=np.int64)

    def reserve(self, state: CycleState, one: PodInfo, node_name: str) -> Status:
        return self._say("reserve")

    def unreserve(self, state: CycleState, one: PodInfo, node_name: str) -> None:
        self._say("unreserve")

    def permit(self, state: CycleState, one: PodInfo, node_name: str) -> tuple[Status, int]:
        return self._say("permit"), self.answers.get("timeout_ms", 0)

    def pre_bind(self, state: CycleState, one: PodInfo, node_name: str) -> Steps:
        reply = yield BindPod("", "", "", "")
        return error(reply.error) if reply.error else self._say("pre_bind")

    def bind(self, state: CycleState, one: PodInfo, node_name: str) -> Steps:
        reply = yield BindPod("", one.pod.name, one.uid, node_name)
        return error(reply.error) if reply.error else self._say("bind")

    def post_bind(self, state: CycleState, one: PodInfo, node_name: str) -> None:
        self._say("post_bind")


def framework(*answers: Answers, heard: list[str] | None = None, **sets: PluginSet) -> Framework:
    """Return a framework of plugins A, B … with these answers at every point; only A sorts the queue."""
    heard = [] if heard is None else heard
    registry = PluginRegistry()
    names = [chr(ord("A") + index) for index in range(len(answers))]
    for name, own in zip(names, answers, strict=True):
        registry.register(name, lambda arguments, handle, name=name, own=own: Teller(name, own, heard))
    points = ("preEnqueue", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind")
    everywhere = PluginSet(tuple((name, 0) for name in names))
    found = dict.fromkeys((*points, "bind", "postBind"), everywhere) | {"queueSort": PluginSet((("A", 0),))}
    return Framework(ProfileConfiguration("test", found | sets), registry)


def nodes(*names: str) -> Snapshot:
    return Snapshot(NodeInfo(name, node(name)) for name in names)


def finish(steps: Steps, *replies: str) -> Status:
    """Run an extension point that waits for the loop, with these errors (empty: done) as the loop's answers."""
    next(steps)
    for text in replies[:-1]:
        steps.send(Reply(text))
    with pytest.raises(StopIteration) as caught:
        steps.send(Reply(replies[-1]))
    status: Status = caught.value.value
    return status
