"""A cluster as the API server has it, and one scheduler that hears of it late and is told no at times.

Everything that happens is a `Step`: a kind and two numbers, read against whatever is there when its turn comes. So any
part of a list of steps is a list of steps, which is what shrinking a failure needs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.framework.asks import DeletePod, PatchPodStatus, WaitOnPermit
from scheduler_core.framework.interface import BindPod, Reply
from scheduler_core.framework.node_info import PodInfo
from scheduler_core.framework.profile import PluginSet, ProfileConfiguration
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import Code
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from scheduler_core.scheduler.configuration import Configuration
from scheduler_core.scheduler.core import Scheduler
from scheduler_core.scheduler.cycle import Spawn, binding_cycle, scheduling_cycle
from scheduler_core.scheduler.run import Point, Run
from scheduler_core.state.nominator import Nominator
from tests.scheduler.simulation.plugins import Ledger, Mood

Document = dict[str, Any]

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
WEB = {"labelSelector": {"matchLabels": {"app": "web"}}}
SIZES = (1, 2, 4)
SHAPES: Sequence[Document] = (
    {"cpu": "500m"},
    {"cpu": "1"},
    {"cpu": "2"},
    {"cpu": "1500m"},
    {"cpu": "9"},
    {"cpu": "500m", "nodeSelector": {ZONE: "z1"}},
    {"cpu": "500m", "tolerations": [{"key": "t", "operator": "Exists"}]},
    {"cpu": "250m", "ports": [{"containerPort": 80, "hostPort": 80}]},
    {"cpu": "250m", "schedulingGates": [{"name": "g"}]},
    {"cpu": "250m", "app": "web", "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", **WEB}]},
    {"cpu": "250m", "app": "web", "affinity": {"podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": HOST, **WEB}]}}},
    {"cpu": "250m", "affinity": {"podAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 5, "podAffinityTerm": {"topologyKey": HOST, **WEB}}]}}},
)  # fmt: skip
NOT_FOUND, CONFLICT, BROKEN = Reply("not found", code=404), Reply("conflict", code=409), Reply("broken", code=500)


class Step(NamedTuple):
    """One thing that happens."""

    kind: str
    a: int
    b: int


WEIGHTS = {
    "create_pod": 16, "delete_pod": 8, "end_pod": 12, "finish_pod": 4, "label_pod": 2, "open_gate": 1, "tolerate": 1,
    "create_node": 4, "delete_node": 1, "resize_node": 2, "taint_node": 2, "cordon_node": 2, "move_node": 1,
    "budget": 1, "hear_pods": 44, "hear_nodes": 6, "attempt": 22, "bind": 22, "run_errand": 10, "allow": 3, "reject": 1,
    "flush": 6, "wait": 6,
}  # fmt: skip


def steps_of(seed: int, count: int) -> list[Step]:
    """Return the steps of a seed."""
    random = Random(seed)
    kinds = random.choices(list(WEIGHTS), list(WEIGHTS.values()), k=count)
    return [Step(kind, random.randrange(1 << 16), random.randrange(1 << 16)) for kind in kinds]


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


class World:
    """The cluster, what the scheduler has heard of it, and what the scheduler is doing."""

    def __init__(self, make: Callable[..., Scheduler] = Scheduler) -> None:
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
        self.nodes: dict[str, Document] = {}
        self.pods: dict[str, Document] = {}
        self.budgets: list[Document] = []
        self.heard: dict[str, Document] = {}
        """Pods as the watch has shown them: what listers read."""
        self.pod_news: deque[tuple[str, Document | None]] = deque()
        self.node_news: deque[tuple[str, Document | None]] = deque()
        self.binding: list[Cycle] = []
        self.errands: list[Cycle] = []
        self.largest: dict[str, int] = {}
        """Node → the most cpu it ever had: the scheduler may not know yet that it has shrunk."""
        self.excused: set[str] = set()
        """Nodes where the answer to a binding was lost: the scheduler does not count that pod until it hears of it."""
        self.lost: set[str] = set()
        self.bound: set[str] = set()
        self.preempted = 0
        self.created = 0
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

    # The API: pods.

    def _put_pod(self, uid: str, **changes: Any) -> None:
        document = {**self.pods[uid], **changes}
        self.pods[uid] = document
        self.pod_news.append((uid, document))

    def _drop_pod(self, uid: str) -> None:
        del self.pods[uid]
        self.pod_news.append((uid, None))

    def _some_pod(self, number: int, wanted: Callable[[Document], bool]) -> str | None:
        found = [uid for uid, document in self.pods.items() if wanted(document)]
        return found[number % len(found)] if found else None

    def create_pod(self, a: int, b: int) -> None:
        if len(self.pods) >= 30:
            return
        self.created += 1
        shape = dict(SHAPES[a % len(SHAPES)])
        name, cpu, app = f"p{self.created}", shape.pop("cpu"), shape.pop("app", "db")
        container = {"name": "c", "resources": {"requests": {"cpu": cpu}}, "ports": shape.pop("ports", [])}
        spec = {
            "schedulerName": "default-scheduler",
            "priority": (0, 0, 5, 9)[b % 4],
            "containers": [container],
            **shape,
        }
        uid = f"uid-{name}"
        self.pods[uid] = {"metadata": {"name": name, "namespace": "default", "uid": uid, "labels": {"app": app}}}
        self._put_pod(uid, spec=spec, status={"phase": "Pending"})

    def delete_pod(self, a: int, b: int) -> None:
        uid = self._some_pod(a, lambda one: "deletionTimestamp" not in one["metadata"])
        if uid is not None:
            self._delete(uid)

    def _delete(self, uid: str) -> None:
        document = self.pods[uid]
        if "nodeName" not in document["spec"]:
            self._drop_pod(uid)
        elif "deletionTimestamp" not in document["metadata"]:
            self._put_pod(uid, metadata={**document["metadata"], "deletionTimestamp": "2030-01-01T00:00:00Z"})

    def end_pod(self, a: int, b: int) -> None:
        uid = self._some_pod(a, lambda one: "deletionTimestamp" in one["metadata"])
        if uid is not None:
            self._drop_pod(uid)

    def finish_pod(self, a: int, b: int) -> None:
        uid = self._some_pod(a, lambda one: "nodeName" in one["spec"] and one["status"]["phase"] == "Running")
        if uid is not None:
            self._put_pod(uid, status={**self.pods[uid]["status"], "phase": "Succeeded"})

    def label_pod(self, a: int, b: int) -> None:
        uid = self._some_pod(a, lambda one: True)
        if uid is not None:
            self._put_pod(uid, metadata={**self.pods[uid]["metadata"], "labels": {"app": ("web", "db")[b % 2]}})

    def open_gate(self, a: int, b: int) -> None:
        uid = self._some_pod(a, lambda one: bool(one["spec"].get("schedulingGates")))
        if uid is not None:
            self._put_pod(uid, spec={**self.pods[uid]["spec"], "schedulingGates": []})

    def tolerate(self, a: int, b: int) -> None:
        uid = self._some_pod(a, lambda one: "nodeName" not in one["spec"])
        if uid is not None:
            tolerations = [{"key": "t", "operator": "Exists"}]
            self._put_pod(uid, spec={**self.pods[uid]["spec"], "tolerations": tolerations})

    def budget(self, a: int, b: int) -> None:
        spec = {"selector": {"matchLabels": {"app": ("web", "db")[a % 2]}}}
        one = {"metadata": {"name": "b", "namespace": "default"}, "spec": spec, "status": {"disruptionsAllowed": b % 2}}
        self.budgets = [one] if b % 3 else []

    # The API: nodes.

    def _put_node(self, name: str, cpu: int | None = None, **changes: Any) -> None:
        kept = self.nodes.get(name, {"cpu": 1, "zone": "z1", "taints": [], "unschedulable": False})
        document = {**kept, **changes, **({"cpu": cpu} if cpu else {})}
        self.nodes[name] = document
        self.largest[name] = max(self.largest.get(name, 0), document["cpu"])
        self.node_news.append((name, document))

    def _some_node(self, number: int) -> str | None:
        names = sorted(self.nodes)
        return names[number % len(names)] if names else None

    def create_node(self, a: int, b: int) -> None:
        name = f"n{a % 8}"
        if name not in self.nodes:
            self._put_node(name, SIZES[b % 3], zone=f"z{b % 2}")

    def delete_node(self, a: int, b: int) -> None:
        name = self._some_node(a)
        if name is not None and b % 3 == 0:
            del self.nodes[name]
            self.node_news.append((name, None))

    def resize_node(self, a: int, b: int) -> None:
        name = self._some_node(a)
        if name is not None:
            self._put_node(name, SIZES[b % 3])

    def taint_node(self, a: int, b: int) -> None:
        name = self._some_node(a)
        if name is not None:
            effect = ("NoSchedule", "PreferNoSchedule", "NoExecute")[b % 3]
            self._put_node(name, taints=[{"key": "t", "effect": effect}] if b % 4 == 0 else [])

    def cordon_node(self, a: int, b: int) -> None:
        name = self._some_node(a)
        if name is not None:
            self._put_node(name, unschedulable=b % 5 == 0)

    def move_node(self, a: int, b: int) -> None:
        name = self._some_node(a)
        if name is not None:
            self._put_node(name, zone=f"z{b % 3}")

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

    # What the API answers.

    def _carry_out(self, ask: Any, b: int) -> Reply:
        match ask:
            case Spawn():
                self.preempted += 1
                cycle = Cycle(ask.steps)
                if not cycle.over:
                    self.errands.append(cycle)
            case PatchPodStatus():
                return self._patch(ask, b)
            case DeletePod():
                if ask.pod.uid not in self.pods:
                    return NOT_FOUND
                if b % 9 == 0:
                    return BROKEN
                self._delete(ask.pod.uid)
            case BindPod():
                return self._bind(ask, b)
        return Reply()

    def _patch(self, ask: PatchPodStatus, b: int) -> Reply:
        if ask.pod.uid not in self.pods:
            return NOT_FOUND
        if b % 10 == 0:
            return BROKEN
        status = dict(self.pods[ask.pod.uid]["status"])
        if ask.condition is not None:
            status["conditions"] = [dict(ask.condition)]
        if ask.nominated_node_name is not None:
            status["nominatedNodeName"] = ask.nominated_node_name
        if status != self.pods[ask.pod.uid]["status"]:
            self._put_pod(ask.pod.uid, status=status)
        return Reply()

    def _bind(self, ask: BindPod, b: int) -> Reply:
        document = self.pods.get(ask.uid)
        if document is None:
            return NOT_FOUND
        if "nodeName" in document["spec"]:
            assert ask.uid in self.lost, f"{ask.name} is bound to {document['spec']['nodeName']}, and again"
            return CONFLICT
        if b % 11 == 0:
            return BROKEN
        self.bound.add(ask.uid)
        status = {**document["status"], "phase": "Running", "startTime": f"2030-01-01T00:{b % 60:02}:00Z"}
        self._put_pod(ask.uid, spec={**document["spec"], "nodeName": ask.node_name}, status=status)
        if b % 23 == 1:
            # It is bound, and nobody is told.
            self.lost.add(ask.uid)
            self.excused.add(ask.node_name)
            return BROKEN
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
