"""A drawn cluster as one that lives: the objects to open a session with, when it has come up, and the pod in question.

The engine comes to the same on it as on the drawn one: nothing that it makes of the objects by itself counts there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from controllers.bootstrap import SCHEDULER, identity_of
from controllers.log.operations import Create, Operation, Patch
from controllers.rules.cases import ASKED, Case
from scheduler_core.api.document import Document
from scheduler_core.plugins.coscheduling import GROUP_LABEL, MIN_AVAILABLE_LABEL
from scheduler_core.plugins.coscheduling import NAME as COSCHEDULING

ASKED_KEY: Final = f"default/{ASKED}"

_IMAGE: Final = "nginx:1.27"
"""Of the pods that are there. The one in question has another: no node shall be near to it because of an image."""

_HELD_SECONDS: Final = 900
"""How long Permit holds a pod: as long as upstream lets a plugin."""

_PERMIT: Final[Document] = {
    "plugins": {"multiPoint": {"enabled": [{"name": COSCHEDULING}]}},
    "pluginConfig": [{"name": COSCHEDULING, "args": {"permitWaitingTimeSeconds": _HELD_SECONDS}}],
}
_GROUP: Final = {GROUP_LABEL: "held", MIN_AVAILABLE_LABEL: "99"}
"""Labels of pods whose group is never complete."""


@dataclass(frozen=True, slots=True)
class Living:
    """A cluster that comes up.

    Attributes:
        objects: what it is made of, without the pod in question.
        scheduler: what its scheduler is told to be.
        until: a predicate that holds once all of it is there.
        asked: the pod in question.
        nominated: the node that it is nominated to; empty: none.
        placed: names of the pods that are on nodes.
    """

    objects: list[Document]
    scheduler: Document
    until: str
    asked: Document
    nominated: str
    placed: list[str]

    @classmethod
    def of(cls, case: Case) -> Living:
        """Return what a drawn cluster comes up from."""
        spec: Document = dict(case.spec)
        if case.held:
            spec["configuration"] = {"profiles": [_PERMIT]}
        return cls(
            list(_objects(case)),
            spec,
            " && ".join(_signs(case)),
            _pod(case.asked, case.asked["spec"]["containers"][0]["image"]),
            case.asked["status"].get("nominatedNodeName") or "",
            [one["metadata"]["name"] for one in case.pods if one["spec"].get("nodeName")],
        )

    def beginning(self, time: str) -> Iterator[Operation]:
        """Yield what is to be written before anything runs: as on the drawn cluster, all pods began at one time."""
        for name in self.placed:
            yield Patch("pods", "default", name, {"status": {"startTime": time}}, "merge", "status")

    def asking(self) -> Iterator[Operation]:
        """Yield what lets the pod in question come."""
        yield Create("pods", "default", self.asked)
        if self.nominated:
            status: Document = {"status": {"nominatedNodeName": self.nominated}}
            yield Patch("pods", "default", ASKED, status, "merge", "status")


def _objects(case: Case) -> Iterator[Document]:
    for rank in sorted({_Rank.of(one) for one in (*case.pods, case.asked)} - {_USUAL}):
        yield rank.document()
    for node in case.nodes:
        size = {name: node["status"][name] for name in ("capacity", "allocatable")}
        yield {**_bare(node), "spec": node["spec"], "status": size}
    for pod in case.pods:
        held_on = case.held.get(pod["metadata"]["name"])
        made = _pod(pod, _IMAGE)
        if held_on is not None:
            made["metadata"]["labels"] = {**made["metadata"].get("labels", {}), **_GROUP}
            made["spec"]["nodeSelector"] = {"kubernetes.io/hostname": held_on}
        yield made
    for budget in case.budgets:
        yield {**_bare(budget), "spec": budget["spec"]}


def _bare(document: Document) -> Document:
    """Return what a person writes of an object, without its spec."""
    metadata = {name: value for name, value in document["metadata"].items() if name != "uid"}
    return {"apiVersion": document["apiVersion"], "kind": document["kind"], "metadata": metadata}


def _pod(pod: Mapping[str, Any], image: str) -> Document:
    rank = _Rank.of(pod)
    spec = {name: value for name, value in pod["spec"].items() if name not in ("priority", "preemptionPolicy")}
    if rank != _USUAL:
        spec["priorityClassName"] = rank.name
    spec["containers"] = [{**one, "image": image} for one in spec["containers"]]
    return {**_bare(dict(pod)), "spec": spec}


class _Rank(NamedTuple):
    """What a pod has of its class: people name the class, and the API server reads off the rest."""

    priority: int
    policy: str

    @classmethod
    def of(cls, pod: Mapping[str, Any]) -> _Rank:
        """Return a pod's."""
        spec = pod["spec"]
        return cls(spec.get("priority") or 0, spec.get("preemptionPolicy") or _USUAL_POLICY)

    @property
    def name(self) -> str:
        """Return the name of the class."""
        return f"priority-{self.priority}{'-never' if self.policy != _USUAL_POLICY else ''}"

    def document(self) -> Document:
        """Return the class."""
        return {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": self.name},
            "value": self.priority,
            "preemptionPolicy": self.policy,
        }


_USUAL_POLICY: Final = "PreemptLowerPriority"
_USUAL: Final = _Rank(0, _USUAL_POLICY)
"""What a pod has that names no class."""


def _signs(case: Case) -> Iterator[str]:
    """Yield what must be so for everything to be there."""
    yield "nodes().all(n, n.ready && !('node.kubernetes.io/not-ready' in n.taints))"
    for name in sorted(one["metadata"]["name"] for one in case.pods):
        # Who is held has no node that the API knows of.
        waits = f"'{name}' in queue('{identity_of(SCHEDULER, 0)}').waiting"
        yield waits if name in case.held else f"pod('{name}').ready"
    for budget in case.budgets:
        found = f"object('poddisruptionbudgets.policy', '{budget['metadata']['name']}')"
        yield f"has({found}.status) && {found}.status.currentHealthy == 1"
