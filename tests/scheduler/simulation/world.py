"""A cluster as the API server has it, and one scheduler that hears of it late and is told no at times.

Everything that happens is a `Step`: a kind and two numbers, read against whatever is there when its turn comes. So any
part of a list of steps is a list of steps, which is what shrinking a failure needs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.framework.asks import BindPod, DeletePod, PatchPodStatus, Reply, Spawn, WaitOnPermit
from scheduler_core.framework.profile import PluginSet, ProfileConfiguration
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import Code
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.cycle import binding_cycle, scheduling_cycle
from scheduler_core.scheduler.run import Point, Run
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.state.nominator import Nominator
from tests.scheduler.simulation.api import HOST, ZONE, Api, Document
from tests.scheduler.simulation.plugins import Ledger, Mood
from tests.scheduler.simulation.steps import Step


class Cycle:
    """A binding cycle or an errand under way, resting at an ask."""

    def __init__(self, steps: Generator[Any, Any, Any], run: Run | None = None) -> None:
        self.steps = steps
        self.run = run
        self.ask: Any = None
        self.over = False
        self.go_on(None)

    def go_on(self, reply: Reply | None) -> None:
        """Run to the next ask."""
        try:
            self.ask = self.steps.send(reply)
            while isinstance(self.ask, Point):
                self.ask = self.steps.send(None)
        except StopIteration:
            self.over = True


class World(Api):
    """The cluster, what the scheduler has heard of it, and what the scheduler is doing."""

    def __init__(self, make: Callable[..., Scheduler] = Scheduler) -> None:
        super().__init__()
        self.mood, self.ledger = Mood(), Ledger()
        nominator = Nominator()
        default, registry = default_configuration(), in_tree_registry()
        for plugin in (self.mood, self.ledger):
            registry.register(plugin.name, lambda arguments, handle, plugin=plugin: plugin)
        sets = dict(default.sets)
        multi = sets["multiPoint"]
        sets["multiPoint"] = PluginSet((*multi.enabled, ("Mood", 1), ("Ledger", 1)), multi.disabled)
        self.profile = ProfileConfiguration(default.scheduler_name, sets, default.arguments)
        self.registry = registry
        configuration = Configuration([self.profile], registry, hash="sim", listers=self, nominator=nominator)
        self.core = make(configuration, nominator, seed=1)
        self.heard: dict[str, Document] = {}
        """Pods as the watch has shown them: what listers read."""
        self.binding: list[Cycle] = []
        self.errands: list[Cycle] = []
        self.preempted = 0
        self.watcher: Callable[[Run], Callable[[], None]] | None = None
        """Called with each attempt before it runs; what it returns is called when the attempt has decided."""

    # Listers.

    def list(self, resource: str) -> Sequence[Mapping[str, Any]]:
        """Return documents as the informers have them."""
        return {"pods": list(self.heard.values()), "poddisruptionbudgets.policy": self.budgets}.get(resource, ())

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return a document as the informers have it."""
        return self.heard.get(f"uid-{name}") if resource == "pods" else None

    def slow_framework(self) -> Framework:
        """Return the profile built once more; it remembers nothing."""
        return Framework(self.profile, self.registry, listers=self, nominator=self.core.nominator, reuse=False)

    def do(self, step: Step) -> None:
        """Let a step happen; one that finds nothing to happen to is nothing."""
        getattr(self, step.kind)(step.a, step.b)

    # The watch: each kind in its own order, one kind ahead of the other at times.

    def hear_pods(self, a: int, b: int) -> None:
        for _ in range(1 + a % 3):
            if self.pod_news:
                uid, document = self.pod_news.popleft()
                if document is None:
                    self.heard.pop(uid, None)
                    self.core.remove_pod(uid)
                else:
                    self.heard[uid] = document
                    self.core.observe_pod(PodInfo.of(document))

    def hear_nodes(self, a: int, b: int) -> None:
        for _ in range(1 + a % 3):
            if self.node_news:
                name, document = self.node_news.popleft()
                if document is None:
                    self.core.remove_node(name)
                else:
                    self.core.observe_node(_node(name, document))

    # The scheduler at work.

    def attempt(self, a: int, b: int) -> None:
        self.mood.says = {0: Code.WAIT, 1: Code.WAIT, 2: Code.UNSCHEDULABLE, 3: Code.ERROR}.get(b % 20, Code.SUCCESS)
        self.ledger.refuses = a % 17 == 0
        run = self.core.begin(0)
        if run is None:
            return
        compare = self.watcher(run) if self.watcher is not None else None
        steps = scheduling_cycle(self.core, run)
        reply: Reply | None = None
        try:
            while True:
                told = steps.send(reply)
                if compare is not None and isinstance(told, Point) and told.name in ("PostFilter", "Score"):
                    compare()
                    compare = None
                reply = None if isinstance(told, Point) else self._carry_out(told, b)
        except StopIteration:
            pass
        if run.result == "scheduled":
            self.binding.append(Cycle(binding_cycle(self.core, run), run))

    def under_way(self, *, until_post_bind: bool = False) -> set[str]:
        """Return the pods that are being bound: their cycle has neither bound them yet nor given up."""
        runs = [cycle.run for cycle in self.binding if cycle.run is not None]
        open_runs = [run for run in runs if not run.undone and (until_post_bind or not run.bound)]
        return {run.uid for run in open_runs if run.point != "PostBind"}

    def bind(self, a: int, b: int) -> None:
        ready = [cycle for cycle in self.binding if self._may_go_on(cycle.ask)]
        if ready:
            cycle = ready[a % len(ready)]
            self._advance(cycle, b)
            if cycle.over:
                self.binding.remove(cycle)

    def _may_go_on(self, ask: Any) -> bool:
        if not isinstance(ask, WaitOnPermit):
            return True
        held = self.core.waiting.get(ask.uid)
        assert held is not None, f"{ask.uid} waits at Permit, and Permit does not know"
        return held.is_decided

    def run_errand(self, a: int, b: int) -> None:
        if self.errands:
            cycle = self.errands[a % len(self.errands)]
            self._advance(cycle, b)
            if cycle.over:
                self.errands.remove(cycle)

    def _advance(self, cycle: Cycle, b: int) -> None:
        if isinstance(cycle.ask, WaitOnPermit):
            held = self.core.waiting.get(cycle.ask.uid)
            assert held is not None
            cycle.go_on(Reply(held.reason, held.rejected_by))
        else:
            cycle.go_on(self._carry_out(cycle.ask, b))

    def allow(self, a: int, b: int) -> None:
        waiting = self.core.waiting.listed()
        if waiting:
            self.core.waiting.allow(waiting[a % len(waiting)].info.uid, self.mood.name)

    def reject(self, a: int, b: int) -> None:
        waiting = self.core.waiting.listed()
        if waiting:
            self.core.waiting.reject(waiting[a % len(waiting)].info.uid, self.mood.name, "not any more")

    def flush(self, a: int, b: int) -> None:
        self.core.queue.flush(self.core.now_ms)
        self.core.waiting.expire(self.core.now_ms)

    def wait(self, a: int, b: int) -> None:
        self.core.now_ms += (1, 40, 900, 5_000, 400_000 if b % 20 == 0 else 2_000)[a % 5]

    def _carry_out(self, ask: Any, b: int) -> Reply:
        match ask:
            case Spawn():
                self.preempted += 1
                cycle = Cycle(ask.steps)
                if not cycle.over:
                    self.errands.append(cycle)
            case PatchPodStatus():
                return self.patch(ask, b)
            case DeletePod():
                return self.delete(ask, b)
            case BindPod():
                return self.bind_pod(ask, b)
        return Reply()


def _node(name: str, document: Document) -> Node:
    size = {"cpu": str(document["cpu"]), "memory": "8Gi", "pods": "9"}
    return view(
        {
            "metadata": {"name": name, "labels": {HOST: name, ZONE: document["zone"]}},
            "spec": {"taints": document["taints"], "unschedulable": document["unschedulable"]},
            "status": {"allocatable": size},
        },
        Node,
    )
