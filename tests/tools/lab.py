"""A control plane over a store in memory, as tests drive it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from controllers.bootstrap import initial_objects
from controllers.cluster import Cluster, found
from controllers.kit.client import Client
from controllers.log.memory import MemoryStore
from controllers.log.operations import Operation, Patch
from controllers.log.store import Event
from controllers.outside import CarryOut, refuse
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError


def node(name: str, *, cpu: str = "4", memory: str = "16Gi", pods: str = "110") -> Document:
    """Return a node."""
    capacity = {"cpu": cpu, "memory": memory, "pods": pods}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"capacity": capacity}}


def pod(
    name: str, *, namespace: str = "default", cpu: str = "100m", image: str = "nginx:1.27", **spec: Any
) -> Document:
    """Return a pod of one container."""
    container = {"name": "main", "image": image, "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [container], **spec},
    }


def workload(
    kind: str, name: str, replicas: int, *, namespace: str = "default", image: str = "nginx:1.27", **spec: Any
) -> Document:
    """Return a workload whose pods carry the label app=<name>."""
    container = {"name": "main", "image": image, "resources": {"requests": {"cpu": "100m"}}}
    return {
        "apiVersion": "v1" if kind == "ReplicationController" else "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"app": name} if kind == "ReplicationController" else {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}},
            **spec,
        },
    }


def any_of(random: Random, choices: Sequence[Callable[[], object]]) -> None:
    """Do one of these as people do, who collide: a name that is taken, an object that is gone."""
    try:
        random.choice(choices)()
    except ApiError as error:
        if error.code not in (404, 409):
            raise


class Lab:
    """One session in memory with its cluster."""

    def __init__(
        self,
        documents: Sequence[Document] = (),
        *,
        seed: int = 1,
        replicas: int = 1,
        pace: int = 0,
        kubelets: bool = True,
        store: MemoryStore | None = None,
        call: CarryOut = refuse,
    ) -> None:
        self.store = store or MemoryStore(seed=seed)
        if store is None:
            for result in found(self.store, [*initial_objects(replicas=replicas, pace=pace), *documents]):
                if result.error is not None:
                    raise result.error
        self.cluster = Cluster(self.store, kubelets=kubelets, call=call)
        self.cluster.start()
        self.unix_ms = 1_800_000_000_000

    def create(self, *documents: Document) -> None:
        """Create objects as a person."""
        for result in found(self.store, list(documents), actor="user:test"):
            if result.error is not None:
                raise result.error

    def do(self, operation: Operation) -> Document:
        """Write as a person."""
        result = Client(self.store).apply(operation, "user:test")
        if result.error is not None:
            raise result.error
        assert result.object is not None
        return result.object

    def run(self, seconds: float) -> None:
        """Let time pass."""
        self.cluster.advance(self.cluster.now_ms + round(seconds * 1000))

    def obey(self) -> None:
        """Let the owner look at the command objects."""
        self.unix_ms += 100
        self.cluster.pull()
        self.cluster.obey(self.unix_ms)

    def ask(self, resource: str, name: str, spec: Document) -> Document:
        """Change a command object's spec and let the owner obey; return its status."""
        self.do(Patch(resource, "", name, {"spec": spec}))
        self.obey()
        stored = self.store.get(resource, "", name)
        assert stored is not None
        status: Document = stored.object["status"]
        return status

    def step(self, by: str, count: int = 1) -> Document:
        """Ask for steps; return the clock's status."""
        clock = self.get("clocks.clustersim.io", "clock", "")
        known = (clock["spec"].get("step") or {}).get("id", 0)
        return self.ask(
            "clocks.clustersim.io", "clock", {"paused": True, "step": {"id": known + 1, "by": by, "count": count}}
        )

    def get(self, resource: str, name: str, namespace: str = "default") -> Document:
        """Return an object."""
        stored = self.store.get(resource, namespace, name)
        assert stored is not None, f"no {resource} {namespace}/{name}"
        return stored.object

    def list(self, resource: str, namespace: str | None = None) -> list[Document]:
        """Return objects."""
        return [stored.object for stored in self.store.list(resource, namespace)[0]]

    def rows(self, after: int = 0) -> list[Event]:
        """Return the log."""
        return list(self.store.events(after, 1_000_000))

    def reasons(self, name: str) -> list[str]:
        """Return the reasons of the Events about an object, in order of writing."""
        rows = [row for row in self.rows() if row.resource == "events" and row.verb == "ADDED"]
        return [row.object["reason"] for row in rows if row.object["involvedObject"]["name"] == name]
