"""Small clusters, drawn: what a finder looks through. Each rule has the sort of cluster that it speaks about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from controllers.kinds.metrics.usage import CPU
from controllers.rules.deciding import Scene, scene_on
from controllers.rules.preempting import MANNERS
from scheduler_core.api.document import Document
from scheduler_core.api.draw import draw
from scheduler_core.oracle import CaseListers
from scheduler_core.plugins.cel import NAME as CEL
from scheduler_core.preemption.budgets import RESOURCE as BUDGETS
from scheduler_core.scheduler.replay import Seen
from scheduler_core.snapshot.node_info import PodInfo

_T = TypeVar("_T")

ASKED: Final = "new"
"""Name of the pod in question."""

_PRIORITY: Final = 1_000
"""Of a pod that preempts."""

_STARTED: Final = "2026-01-01T00:00:00Z"
"""When all that run began: of two pods of one priority none is above the other by its age."""

_LABEL: Final = "app"


@dataclass(frozen=True, slots=True)
class Size:
    """How large a cluster is: `pods` are those on nodes, the pod in question not among them."""

    nodes: int
    pods: int


@dataclass(frozen=True, slots=True)
class Case:
    """A cluster and a pod in question.

    Attributes:
        nodes: Node documents.
        pods: Pod documents: those on nodes.
        asked: the pod in question.
        budgets: PodDisruptionBudgets.
        held: name → node of pods that Permit holds; they are among `pods`, without a node.
        spec: what the scheduler is told to be.
    """

    nodes: Sequence[Document]
    pods: Sequence[Document]
    asked: Document
    budgets: Sequence[Document] = ()
    held: Mapping[str, str] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> Size:
        """Return how large it is."""
        return Size(len(self.nodes), len(self.pods))

    def scene(self, seed: int = 0) -> Scene:
        """Return it as rules decide on it."""
        seen = Seen.of(self.nodes, [*self.pods, self.asked])
        found = scene_on(seen, PodInfo.of(self.asked), CaseListers({BUDGETS: list(self.budgets)}), seed=seed)
        assumed = {_uid(name): node for name, node in self.held.items()}
        given = {**found.given, "assumed": assumed, "waiting": list(assumed)}
        return Scene(found.seen, found.uid, given, self.spec, found.listers, seed)

    def smaller(self) -> Iterator[Case]:
        """Yield the case without each node (with its pods), each pod (with its budget) and each budget, in turn."""
        for one in self.nodes:
            name = one["metadata"]["name"]
            if len(self.nodes) > 1 and self.asked["status"].get("nominatedNodeName") != name:
                where = {_name(pod): pod["spec"].get("nodeName") or self.held.get(_name(pod)) for pod in self.pods}
                gone = {pod for pod, there in where.items() if there == name}
                yield replace(self, nodes=[other for other in self.nodes if other is not one])._less(gone)
        for one in self.pods:
            yield self._less({_name(one)})
        for one in self.budgets:
            yield replace(self, budgets=[other for other in self.budgets if other is not one])

    def with_more(self, more: Case) -> Case:
        """Return it with the nodes, pods and budgets of another, whose names are its own, beside its own."""
        return replace(
            self,
            nodes=[*self.nodes, *more.nodes],
            pods=[*self.pods, *more.pods],
            budgets=[*self.budgets, *more.budgets],
            held={**self.held, **more.held},
        )

    def _less(self, gone: set[str]) -> Case:
        """Return it without some pods, and the budgets that were theirs."""
        return replace(
            self,
            pods=[one for one in self.pods if _name(one) not in gone],
            budgets=[one for one in self.budgets if _name(one) not in gone],
            held={name: node for name, node in self.held.items() if name not in gone},
        )

    def objects(self) -> list[Document]:
        """Return everything as a list that a session can be opened from; what Permit holds is left out."""
        there = [one for one in self.pods if one["metadata"]["name"] not in self.held]
        return [*self.nodes, *there, *self.budgets, self.asked]


Names = Sequence[str]


class Chance:
    """What one cluster is drawn from: each draw has a name of its own, and depends on nothing else."""

    def __init__(self, seed: int, purpose: str, number: int) -> None:
        """Name the cluster: the `number`-th of its purpose."""
        self._seed, self._purpose, self._number = seed, purpose, number

    def of(self, what: str, choices: Sequence[_T]) -> _T:
        """Return one of the choices."""
        return choices[draw(self._seed, self._purpose, what, self._number, below=len(choices))]


def node(name: str, cpu: int, memory: int, **spec: Any) -> Document:
    """Return a Node; `cpu` in millicores, `memory` in GiB."""
    size = {"cpu": f"{cpu}m", "memory": f"{memory}Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": _uid(name), "labels": {"kubernetes.io/hostname": name}},
        "spec": spec,
        "status": {"capacity": size, "allocatable": size, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def pod(name: str, cpu: int, memory: int, on: str = "", priority: int = 0, **spec: Any) -> Document:
    """Return a Pod; `cpu` in millicores, `memory` in GiB (0: it asks for none)."""
    requests = {"cpu": f"{cpu}m"} | ({"memory": f"{memory}Gi"} if memory else {})
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests}}
    metadata = {"name": name, "namespace": "default", "uid": _uid(name)}
    placed = {"nodeName": on} if on else {}
    whole = {"schedulerName": "default-scheduler", "priority": priority, "containers": [container], **placed, **spec}
    status = {"phase": "Running", "startTime": _STARTED} if on else {"phase": "Pending"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": whole, "status": status}


def _name(document: Document) -> str:
    name: str = document["metadata"]["name"]
    return name


def _uid(name: str) -> str:
    return f"case-{name}"


def _preempting(chance: Chance, nodes: Names, pods: Names) -> Case:
    """Nodes of 4 CPU, pods of several priorities there, and an important pod that finds no room."""
    there, budgets = [], []
    for name in pods:
        cpu = chance.of(f"cpu/{name}", (500, 1000, 1500, 2000))
        priority = chance.of(f"priority/{name}", (0, 0, 50, 100, 500))
        one = pod(name, cpu, 0, chance.of(f"on/{name}", nodes), priority)
        if chance.of(f"budget/{name}", (True, False, False, False)):
            one["metadata"]["labels"] = {_LABEL: name}
            budgets.append(_budget(name))
        there.append(one)
    asked = pod(ASKED, chance.of("asked", (1000, 2000, 3000)), 0, priority=_PRIORITY)
    return Case([node(name, 4000, 16) for name in nodes], there, asked, budgets)


def _too_large(chance: Chance, nodes: Names, pods: Names) -> Case:
    """The same, and the important pod may ask for more than any node has."""
    drawn = _preempting(chance, nodes, pods)
    asked = pod(ASKED, chance.of("huge", (3000, 5000, 8000)), 0, priority=_PRIORITY)
    return Case(drawn.nodes, drawn.pods, asked, drawn.budgets)


def _budget(name: str) -> Document:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default", "uid": _uid(f"budget-{name}")},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {_LABEL: name}}},
        "status": {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1},
    }


def _placing(chance: Chance, nodes: Names, pods: Names) -> Case:
    """Nodes of several sizes, more and less used."""
    made = [node(name, *chance.of(f"size/{name}", ((4000, 8), (8000, 16), (8000, 32), (10000, 20)))) for name in nodes]
    there = []
    for name in pods:
        asked = chance.of(f"cpu/{name}", (500, 1000, 2000, 3000)), chance.of(f"memory/{name}", (1, 2, 4, 6))
        there.append(pod(name, *asked, chance.of(f"on/{name}", nodes)))
    return Case(made, there, pod(ASKED, chance.of("asked", (500, 1000, 2000)), chance.of("memory", (1, 2, 4))))


def _tainted(chance: Chance, nodes: Names, pods: Names) -> Case:
    """The same with taints that the pod in question tolerates, or that only ask it to stay away."""
    drawn = _placing(chance, nodes, pods)
    for one in drawn.nodes:
        effect = chance.of(f"taint/{one['metadata']['name']}", ("", "", "PreferNoSchedule", "NoSchedule"))
        if effect:
            one["spec"]["taints"] = [{"key": "special", "effect": effect}]
    if chance.of("tolerates", (True, False)):
        effect = chance.of("tolerated", ("NoSchedule", "PreferNoSchedule"))
        drawn.asked["spec"]["tolerations"] = [{"key": "special", "operator": "Exists", "effect": effect}]
    return drawn


def _busy(chance: Chance, nodes: Names, pods: Names) -> Case:
    """The same with pods that use less or more than they ask for."""
    drawn = _placing(chance, nodes, pods)
    for one in drawn.pods:
        use = chance.of(f"use/{one['metadata']['name']}", ("100m", "500m", "2", "3"))
        one["metadata"]["annotations"] = {CPU: use}
    return drawn


def _permitted(chance: Chance, nodes: Names, pods: Names) -> Case:
    """The same with pods that Permit holds."""
    drawn = _placing(chance, nodes, pods)
    held = {}
    for one in drawn.pods:
        name = one["metadata"]["name"]
        if chance.of(f"held/{name}", (True, False)):
            held[name] = one["spec"].pop("nodeName")
            one["status"] = {"phase": "Pending"}
    return Case(drawn.nodes, drawn.pods, drawn.asked, held=held)


def _nominated(chance: Chance, nodes: Names, pods: Names) -> Case:
    """The same, and the pod in question is nominated to a node."""
    drawn = _placing(chance, nodes, pods)
    drawn.asked["spec"] |= {"priority": _PRIORITY, "preemptionPolicy": "Never"}
    drawn.asked["status"] |= {"nominatedNodeName": chance.of("nominated", nodes)}
    return drawn


def _own_score(chance: Chance, nodes: Names, pods: Names) -> Case:
    """The same with a score of one's own, which is small."""
    drawn = _placing(chance, nodes, pods)
    for one in drawn.nodes:
        one["metadata"]["labels"]["ssd"] = chance.of(f"ssd/{one['metadata']['name']}", ("0", "2", "8"))
    scores = [{"name": "ssd", "expression": "int(node.metadata.?labels[?'ssd'].orValue('0'))"}]
    profile = {
        "plugins": {"multiPoint": {"enabled": [{"name": CEL, "weight": 1}]}},
        "pluginConfig": [{"name": CEL, "args": {"scores": scores}}],
    }
    return Case(drawn.nodes, drawn.pods, drawn.asked, spec={"configuration": {"profiles": [profile]}})


Draw = Callable[[Chance, Names, Names], Case]

SORTS: Final[Mapping[str, Draw]] = {
    **dict.fromkeys(MANNERS, _preempting),
    "always-preempts": _too_large,
    "emptiest-node": _placing,
    "fullest-node": _placing,
    "first-in-list": _placing,
    "same-scale-same-winner": _placing,
    "formula-is-code": _placing,
    "soft-is-small": _tainted,
    "toleration-attracts": _tainted,
    "least-used": _busy,
    "only-bound-counts": _permitted,
    "reserved-seat": _nominated,
    "my-score-rules": _own_score,
}
"""Rule → what its clusters are drawn by."""


def drawn(rule: str, seed: int, purpose: str, number: int, nodes: Names, pods: Names) -> Case:
    """Return the `number`-th cluster of a purpose for a rule, of nodes and pods with these names.

    Raises:
        KeyError: the rule says nothing of where a pod goes.
    """
    return SORTS[rule](Chance(seed, f"{purpose}/{rule}", number), nodes, pods)


def names(letter: str, count: int, after: int = 0) -> list[str]:
    """Return names such as n1, n2; `after` are taken."""
    return [f"{letter}{number}" for number in range(after + 1, after + count + 1)]
