"""The formal model on a session: what it says of one pod, and its optimum beside the engine's own placement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from controllers.log.store import Gone
from controllers.scheduler.past import Past
from controllers.scheduler.settings import NAME
from scheduler_core.api.document import Document
from scheduler_core.api.errors import Cause, gone, invalid, missing
from scheduler_core.api.node import Node
from scheduler_core.api.said import said
from scheduler_core.framework.profile import ProfileError
from scheduler_core.model.deviations import TODAY
from scheduler_core.model.live import CELLS_MAX, evaluate, objects_of
from scheduler_core.model.multistep import judge, place_one_by_one
from scheduler_core.model.objects import Objects
from scheduler_core.model.optimum import check, solve
from scheduler_core.model.placement import (
    PLACEMENTS_MAX,
    Placement,
    Utility,
    feasible_placements,
    is_feasible,
    priorities,
    utility,
    viable_placements,
)
from scheduler_core.model.separation import Separation, guarantees, separation
from scheduler_core.model.steps import Situation
from scheduler_core.preemption.budgets import RESOURCE as BUDGETS
from scheduler_core.snapshot.node_info import PodInfo

Kinds = tuple[Callable[[PodInfo], bool], Callable[[Node], bool]]
"""Which pods need a kind of node, and which nodes are of it."""


@contextmanager
def _profiles_that_run() -> Iterator[None]:
    """Refuse a configuration that cannot run; the scheduler itself goes on with its last good one."""
    try:
        yield
    except ProfileError as wrong:
        cause = Cause(
            "spec.configuration", said("model.scheduler", "{wrong}; correct the session's scheduler", wrong=wrong)
        )
        raise invalid("SchedulerConfig", "clustersim.io", NAME, [cause]) from wrong


class Modelling:
    """A session's cluster at one revision, as the model sees it."""

    def __init__(self, past: Past) -> None:
        """Read the objects.

        Raises:
            ApiError: 410, the revision is no longer kept.
        """
        self._store = past.store
        self.revision = past.revision
        self.listers = past
        try:
            self.objects, self.leaving = objects_of(past.nodes, past.pods, past.list(BUDGETS), past.list("namespaces"))
            self.settings = past.settings
        except Gone as lost:
            raise gone(
                said(
                    "model.gone", "revision {revision} is no longer kept; ask without revision=", revision=past.revision
                )
            ) from lost

    def of_pod(self, namespace: str, name: str) -> Document:
        """Return what the definitions say of a pod, see docs/model.md.

        Raises:
            ApiError: 404, there is no such pod, or it has finished or is leaving; 422, the cluster is too large.
        """
        pod = next((one for one in self.objects.pods if one.key == f"{namespace}/{name}"), None)
        if pod is None:
            raise missing("pods", name)
        nodes, pods = len(self.objects.nodes), len(self.objects.pods)
        if nodes * pods > CELLS_MAX:
            text = said(
                "model.large",
                "{nodes:,} nodes × {pods:,} pods are more than {cells_max:,}; ask in a smaller cluster",
                nodes=nodes,
                pods=pods,
                cells_max=CELLS_MAX,
            )
            raise invalid("Model", "clustersim.io", name, [Cause("pod", text)])
        with _profiles_that_run():
            run = judge(
                pod,
                Situation(self.objects, self.leaving).seen(TODAY),
                self.settings.configuration,
                self.settings.registry(),
                seed=self._store.seed,
                listers=self.listers,
            )
        traces = self._store.traces(pod.uid, 1)
        return {
            "revision": self.revision,
            "pod": pod.key,
            "uid": pod.uid,
            **evaluate(pod, self.objects, run, self.leaving),
            "trace": traces[0][0]["id"] if traces else None,
        }

    def optima(self, chosen: Callable[[PodInfo], bool], kinds: Kinds | None = None) -> Document:
        """Return the chosen pods as they are, as the engine places them one by one, and as the solver does at once.

        Pods that wait for a gate, or for another scheduler, are left aside.

        Raises:
            ApiError: 422, see `optimum.check`, or nobody is chosen.
        """
        profiles = {profile.scheduler_name for profile in self.settings.configuration.profiles}
        asked = [pod for pod in self.objects.pods if chosen(pod)]
        pods = [pod for pod in asked if pod.pod.spec.scheduler_name in profiles and not pod.pod.spec.scheduling_gates]
        pods.sort(key=lambda pod: (str(pod.pod.metadata.creation_timestamp or ""), pod.key))
        if not pods:
            raise invalid(
                "Optimum",
                "clustersim.io",
                "",
                [Cause("pods", said("model.noPods", "no pod is chosen; see namespace, selector"))],
            )
        check(pods, self.objects)
        with _profiles_that_run():
            engine = place_one_by_one(
                pods,
                self.objects,
                self.settings.configuration,
                self.settings.registry(),
                seed=self._store.seed,
                listers=self.listers,
            )
        allowed = is_feasible(pods, engine, self.objects, TODAY)
        best = solve(pods, self.objects, known=engine if allowed else None)
        now = {pod.uid: pod.pod.spec.node_name for pod in pods if pod.pod.spec.node_name in self.objects.node_of}
        reached = utility(pods, engine, self.objects)
        shown = _Shown(pods, self.objects, kinds)
        return {
            "revision": self.revision,
            "pods": len(pods),
            "aside": [pod.key for pod in asked if pod not in pods],
            "nodes": len(self.objects.nodes),
            "now": shown.placement(now),
            "engine": shown.placement(engine),
            "solver": {**shown.placement(best.placement), "proven": best.proven, "gap": best.gap},
            "difference": {
                "pods": sum(best.utility.placed) - sum(reached.placed),
                "viability": best.utility.viability - reached.viability,
            },
            "placements": self._placements(pods),
            "guarantees": None if kinds is None else shown.separation(guarantees(pods, self.objects, *kinds)),
        }

    def _placements(self, pods: Sequence[PodInfo]) -> Document | None:
        """Return how many placements are possible ⊇ feasible ⊇ viable, where so few are possible that all are tried."""
        count = (len(self.objects.nodes) + 1) ** len(pods)
        if count > PLACEMENTS_MAX:
            return None
        feasible = sum(1 for _ in feasible_placements(pods, self.objects, TODAY))
        _, viable = viable_placements(pods, self.objects, TODAY)
        return {"possible": count, "feasible": feasible, "viable": len(viable)}


class _Shown:
    """Placements as documents."""

    def __init__(self, pods: Sequence[PodInfo], objects: Objects, kinds: Kinds | None) -> None:
        self._pods = pods
        self._objects = objects
        self._kinds = kinds
        self._keys = {pod.uid: pod.key for pod in pods}

    def placement(self, placement: Placement) -> Document:
        found = None if self._kinds is None else separation(self._pods, placement, self._objects, *self._kinds)
        return {
            "placement": {self._keys[uid]: name for uid, name in placement.items()},
            "feasible": is_feasible(self._pods, placement, self._objects, TODAY),
            "utility": self._utility(utility(self._pods, placement, self._objects)),
            "separation": None if found is None else self.separation(found),
        }

    def _utility(self, worth: Utility) -> Document:
        by_priority = zip(priorities(self._pods), worth.placed, strict=True)
        return {
            "placed": [{"priority": priority, "pods": count} for priority, count in by_priority],
            "viability": worth.viability,
        }

    def separation(self, found: Separation) -> Document:
        return {
            "holds": found.holds,
            "strays": [{"pod": self._keys[uid], "node": name} for uid, name in found.strays],
            "intruders": [{"pod": self._keys[uid], "node": name} for uid, name in found.intruders],
        }
