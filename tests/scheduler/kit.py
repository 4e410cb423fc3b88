"""A scheduler over plain views, driven by hand: asks are collected, replies are given by the test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.api.pod import Pod
from scheduler_core.extender.configuration import ExtenderConfiguration
from scheduler_core.framework.asks import Ask, BindPod, PatchPodStatus, RecordEvent, Reply, WaitOnPermit
from scheduler_core.framework.interface import Plugin
from scheduler_core.framework.profile import PluginSet, ProfileConfiguration
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.cycle import binding_cycle, scheduling_cycle
from scheduler_core.scheduler.run import Point, Run
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.nominator import Nominator


def node(name: str, cpu: str = "4", **metadata: Any) -> Node:
    resources = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return view({"metadata": {"name": name, **metadata}, "status": {"allocatable": resources}}, Node)


def pod(name: str, cpu: str = "1", *, on: str = "", priority: int = 0, **extra: Any) -> PodInfo:
    spec: dict[str, Any] = {
        "schedulerName": "default-scheduler",
        "priority": priority,
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
        **({"nodeName": on} if on else {}),
        **extra.pop("spec", {}),
    }
    document = {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", **extra.pop("metadata", {})},
        "spec": spec,
        "status": extra.pop("status", {}),
    }
    assert not extra
    return PodInfo(view(document, Pod))


def scheduler(
    *plugins: Plugin, seed: int = 1, drop: Sequence[str] = (), extenders: Sequence[ExtenderConfiguration] = ()
) -> Scheduler:
    """Return a scheduler of the default profile with plugins added, each at every point that it implements."""
    registry = in_tree_registry()
    for plugin in plugins:
        registry.register(plugin.name, _factory(plugin))
    default = default_configuration()
    sets = dict(default.sets)
    multi = sets["multiPoint"]
    enabled = tuple(pair for pair in multi.enabled if pair[0] not in drop)
    sets["multiPoint"] = PluginSet((*enabled, *((plugin.name, 1) for plugin in plugins)), multi.disabled)
    nominator = Nominator()
    profile = ProfileConfiguration(default.scheduler_name, sets, default.arguments)
    built = Configuration([profile], registry, hash="test", nominator=nominator, extenders=extenders)
    return Scheduler(built, nominator, seed=seed)


def _factory(plugin: Plugin) -> Callable[[Any, Any], Plugin]:
    return lambda arguments, handle: plugin


class Hand:
    """Drives one cycle at a time."""

    def __init__(self, core: Scheduler) -> None:
        self.core = core
        self.asks: list[Ask] = []
        self.points: list[str] = []

    def attempt(self, replies: Callable[[Ask], Reply] = lambda ask: Reply()) -> Run | None:
        """Run the next attempt to its end, binding included unless the pod is held at Permit."""
        run = self.core.begin(0)
        if run is None:
            return None
        self.drive(scheduling_cycle(self.core, run), replies)
        if run.result == "scheduled" and not run.waits:
            self.bind(run, replies)
        return run

    def bind(self, run: Run, replies: Callable[[Ask], Reply] = lambda ask: Reply()) -> None:
        self.drive(binding_cycle(self.core, run), replies)

    def drive(self, steps: Any, replies: Callable[[Ask], Reply]) -> None:
        reply: Reply | None = None
        while True:
            try:
                item = steps.send(reply)
            except StopIteration:
                return
            reply = None
            if isinstance(item, Point):
                self.points.append(item.name)
            else:
                self.asks.append(item)
                reply = self._waited(item) if isinstance(item, WaitOnPermit) else replies(item)

    def _waited(self, ask: WaitOnPermit) -> Reply:
        held = self.core.waiting.get(ask.uid)
        assert held is not None
        assert held.is_decided
        return Reply(held.reason, held.rejected_by)

    def of(self, kind: type) -> list[Any]:
        return [ask for ask in self.asks if isinstance(ask, kind)]

    @property
    def message(self) -> str:
        """Text of the last FailedScheduling event."""
        return str([ask for ask in self.of(RecordEvent) if ask.reason == "FailedScheduling"][-1].note)

    @property
    def reason(self) -> str:
        return str([ask for ask in self.of(PatchPodStatus) if ask.condition][-1].condition["reason"])


__all__ = ["BindPod", "Hand", "node", "pod", "scheduler"]
