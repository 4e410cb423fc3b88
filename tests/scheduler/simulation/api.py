"""The cluster as the API server has it; what changes is news for the watch, in order, until it is heard."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from scheduler_core.api.document import Document
from scheduler_core.framework.asks import BindPod, DeletePod, PatchPodStatus, Reply

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


class Api:
    """Nodes, pods and budgets; methods named as steps change them."""

    def __init__(self) -> None:
        self.nodes: dict[str, Document] = {}
        self.pods: dict[str, Document] = {}
        self.budgets: list[Document] = []
        self.pod_news: deque[tuple[str, Document | None]] = deque()
        self.node_news: deque[tuple[str, Document | None]] = deque()
        self.largest: dict[str, int] = {}
        """Node → the most cpu it ever had: the scheduler may not know yet that it has shrunk."""
        self.excused: set[str] = set()
        """Nodes where the answer to a binding was lost: the scheduler does not count that pod until it hears of it."""
        self.lost: set[str] = set()
        self.bound: set[str] = set()
        self.created = 0

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

    # What it answers.

    def delete(self, ask: DeletePod, b: int) -> Reply:
        """Delete a pod gracefully."""
        if ask.pod.uid not in self.pods:
            return NOT_FOUND
        if b % 9 == 0:
            return BROKEN
        self._delete(ask.pod.uid)
        return Reply()

    def patch(self, ask: PatchPodStatus, b: int) -> Reply:
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

    def bind_pod(self, ask: BindPod, b: int) -> Reply:
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
