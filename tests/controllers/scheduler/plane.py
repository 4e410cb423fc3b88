from __future__ import annotations

from typing import Any

from controllers.kit.client import Client
from controllers.log.memory import MemoryStore
from controllers.log.operations import Create, Delete, Operation, Patch, Result
from controllers.loop.loop import Loop, Slot, Tick
from controllers.scheduler.component import RETELL_TIMER, STEP_TIMER, SchedulerComponent
from tests.controllers.scheduler.people import write

IDENTITY = "kube-scheduler-0"


class AlwaysLeading(SchedulerComponent):
    """A scheduler with its election off."""

    def start(self, tick: Tick) -> None:
        super().start(tick)
        self.lead(tick)


class Plane:
    """One scheduler over one store: no election, no kubelet."""

    def __init__(self, store: MemoryStore, *, pace_ms: int = 0, hold: bool = False) -> None:
        self.store = store
        self.fence = store.take_over()
        self.client = Client(store, fence=self.fence)
        self.loop = Loop(
            store, self.client.commit, now_ms=store.horizon_ms, advance_horizon=self.client.advance_horizon
        )
        self.scheduler = AlwaysLeading(IDENTITY)
        self.scheduler.tell(pace_ms, hold)
        self.slot: Slot = self.loop.add(IDENTITY, lambda: self.scheduler)
        self.run(self.loop.now_ms)

    def run(self, until_ms: int) -> None:
        """Run up to a time, or to the stamp of what people have just written if that is later."""
        self.loop.pull()
        until_ms = max(until_ms, self.store.horizon_ms)
        while self.loop.run_tick(until_ms):
            pass
        self.loop.settle_at(until_ms)

    def tell(self, pace_ms: int, hold: bool) -> None:
        self.scheduler.tell(pace_ms, hold)
        self.loop.plan(self.slot, RETELL_TIMER, self.loop.now_ms)

    def step(self) -> str:
        """Step by one point; the point where the cycle then rests, empty where it has ended."""
        self.run(self.loop.now_ms)
        self.loop.plan(self.slot, STEP_TIMER, self.loop.now_ms)
        while self.loop.run_tick(self.loop.now_ms):
            pass
        return (self.scheduler.held or {}).get("point", "")

    def step_to(self, point: str) -> None:
        assert self.scheduler.can_step
        while self.step() != point:
            assert self.scheduler.held is not None

    def write(self, operation: Operation) -> Result:
        return write(self.store, operation, fence=self.fence)

    def node(self, name: str, cpu: str = "4", memory: str = "8Gi", **spec: Any) -> None:
        resources = {"cpu": cpu, "memory": memory, "pods": "110"}
        document = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "spec": spec,
        }
        self.write(Create("nodes", "", document))
        # Nobody here takes away the taint that a node comes with.
        self.write(Patch("nodes", "", name, {"spec": {"taints": spec.get("taints")}}))
        self.write(
            Patch("nodes", "", name, {"status": {"capacity": resources, "allocatable": resources}}, "merge", "status")
        )

    def pod(self, name: str, cpu: str = "1", **spec: Any) -> str:
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
        document = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"containers": [container], **spec},
        }
        result = self.write(Create("pods", "default", document))
        assert result.object is not None
        return str(result.object["metadata"]["uid"])

    def delete(self, resource: str, name: str, grace: int | None = None) -> None:
        self.write(Delete(resource, "default" if resource == "pods" else "", name, grace_period_seconds=grace))

    def get(self, name: str) -> dict[str, Any]:
        stored = self.store.get("pods", "default", name)
        assert stored is not None
        return stored.object

    def node_of(self, name: str) -> str:
        return str(self.get(name)["spec"].get("nodeName", ""))

    def events(self, reason: str) -> list[dict[str, Any]]:
        return [stored.object for stored in self.store.list("events")[0] if stored.object["reason"] == reason]

    def queue(self) -> dict[str, Any]:
        stored = self.store.get("queues.clustersim.io", "", IDENTITY)
        assert stored is not None
        return dict(stored.object.get("status") or {})

    def cycle(self) -> dict[str, Any] | None:
        stored = self.store.get("replicas.clustersim.io", "", IDENTITY)
        assert stored is not None
        found = (stored.object.get("status") or {}).get("cycle")
        return None if found is None else dict(found)
