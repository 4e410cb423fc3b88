"""Keeps the status of PodDisruptionBudgets.

Source: pkg/controller/disruption/disruption.go (trySync, getExpectedPodCount, countHealthyPods), v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from controllers.kit.manager import Reconcile, Setup, Work, key_of, must, split_key
from controllers.kit.pods import controller_of
from controllers.log.operations import Update
from controllers.log.stamps import unix_ms_of, wire_time
from scheduler_core.api.document import Document, condition
from scheduler_core.api.meta import view
from scheduler_core.api.selectors import LabelSelector

BUDGETS: Final = "poddisruptionbudgets.policy"

DISRUPTED_MS: Final = 120_000
"""How long an eviction that nobody sees happen counts (DeletionTimeout)."""

_OWNERS: Final[Mapping[str, str]] = {
    "Deployment": "deployments.apps",
    "ReplicaSet": "replicasets.apps",
    "ReplicationController": "replicationcontrollers",
    "StatefulSet": "statefulsets.apps",
}
"""Kinds of owner that say how many pods there should be."""


class DisruptionController:
    """Reconciles budgets, by namespace and name."""

    NAME: ClassVar[str] = "disruption"
    RESOURCES: ClassVar[tuple[str, ...]] = (BUDGETS, "pods", *_OWNERS.values())

    def __init__(self, setup: Setup) -> None:
        """Listen to budgets, to the pods that they are about and to those pods' owners."""
        self._budgets = setup.informers[BUDGETS]
        self._pods = setup.informers["pods"]
        self._owners = {kind: setup.informers[resource] for kind, resource in _OWNERS.items()}
        self._queue = setup.queue
        self._budgets.add_index("namespace", _namespace)
        self._pods.add_index("namespace", _namespace)
        self._budgets.add_handler(self._budget_changed)
        self._pods.add_handler(self._pod_changed)
        for lister in self._owners.values():
            lister.add_handler(self._owner_changed)

    def _budget_changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None:
            self._queue.add(key_of(new))

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        namespace = ((new or old) or {})["metadata"]["namespace"]
        for budget in self._budgets.indexed("namespace", namespace):
            if any(pod is not None and _is_about(budget, pod) for pod in (old, new)):
                self._queue.add(key_of(budget))

    def _owner_changed(self, old: Document | None, new: Document | None) -> None:
        owner = new or old
        assert owner is not None, "a change has a state before or after"
        if old is not None and new is not None and old["spec"].get("replicas") == new["spec"].get("replicas"):
            return
        for budget in self._budgets.indexed("namespace", owner["metadata"]["namespace"]):
            self._queue.add(key_of(budget))

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Count a budget's pods and say how many may go."""
        budget = self._budgets.get(*split_key(key))
        if budget is None:
            return
        namespace = budget["metadata"]["namespace"]
        pods = [
            pod
            for pod in self._pods.indexed("namespace", namespace)
            if _is_about(budget, pod) and (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
        ]
        expected, desired = self._wanted(budget["spec"], pods)
        disrupted = _disrupted(budget, pods, work)
        healthy = sum(1 for pod in pods if _is_healthy(pod) and pod["metadata"]["name"] not in disrupted)
        allowed = max(0, healthy - desired) if expected > 0 else 0
        if disrupted:
            work.queue.add_at(key, work.now_ms + DISRUPTED_MS)
        status = _status(budget, work, allowed, healthy, desired, expected)
        if disrupted:
            status["disruptedPods"] = disrupted
        if status != budget.get("status"):
            metadata = {key: budget["metadata"][key] for key in ("uid", "resourceVersion")}
            # An eviction counted meanwhile must not be lost: then this is a conflict, and the next turn counts anew.
            body = {"metadata": metadata, "status": status}
            must((yield [Update(BUDGETS, namespace, budget["metadata"]["name"], body, "status")])[0])

    def _wanted(self, spec: Mapping[str, Any], pods: list[Document]) -> tuple[int, int]:
        """Return (how many pods are expected, how many of them must stay)."""
        most = spec.get("maxUnavailable")
        if most is not None:
            expected = self._expected(pods)
            return expected, max(0, expected - _scaled(most, expected))
        least = spec.get("minAvailable")
        if isinstance(least, str):
            expected = self._expected(pods)
            return expected, _scaled(least, expected)
        return len(pods), int(least or 0)

    def _expected(self, pods: list[Document]) -> int:
        """Return how many pods the owners ask for; a pod without such an owner counts for nothing."""
        asked: dict[str, int] = {}
        for pod in pods:
            owner = self._owner_of(pod)
            above = None if owner is None else self._owner_of(owner)
            top = above or owner
            if top is not None:
                asked[top["metadata"]["uid"]] = int(top["spec"].get("replicas") or 0)
        return sum(asked.values())

    def _owner_of(self, document: Document) -> Document | None:
        reference = controller_of(document)
        lister = None if reference is None else self._owners.get(reference["kind"])
        if reference is None or lister is None:
            return None
        owner = lister.get(document["metadata"]["namespace"], reference["name"])
        return owner if owner is not None and owner["metadata"]["uid"] == reference["uid"] else None


def _namespace(document: Document) -> Iterable[str]:
    yield document["metadata"]["namespace"]


def _is_about(budget: Document, pod: Document) -> bool:
    selector = budget["spec"].get("selector")
    if selector is None:
        return False
    return view(selector, LabelSelector).matches(pod["metadata"].get("labels") or {})


def _disrupted(budget: Document, pods: list[Document], work: Work) -> dict[str, str]:
    """Return the evictions that are counted already and have not been seen yet, by pod."""
    noted: Mapping[str, str] = (budget.get("status") or {}).get("disruptedPods") or {}
    staying = {pod["metadata"]["name"] for pod in pods if "deletionTimestamp" not in pod["metadata"]}
    return {
        name: since
        for name, since in noted.items()
        if name in staying and unix_ms_of(since) + DISRUPTED_MS > work.unix_ms
    }


def _is_healthy(pod: Document) -> bool:
    ready = condition(pod, "Ready")
    return ready is not None and ready.get("status") == "True" and "deletionTimestamp" not in pod["metadata"]


def _scaled(amount: int | str, total: int) -> int:
    """Return a number, or a percentage of the total, rounded up."""
    if isinstance(amount, str):
        return -(-total * int(amount.removesuffix("%")) // 100)
    return amount


def _status(budget: Document, work: Work, allowed: int, healthy: int, desired: int, expected: int) -> Document:
    known = condition(budget, "DisruptionAllowed") or {}
    generation = budget["metadata"].get("generation", 1)
    told = {
        "type": "DisruptionAllowed",
        "status": "True" if allowed else "False",
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "message": "",
        "observedGeneration": generation,
    }
    same = known.get("status") == told["status"]
    told["lastTransitionTime"] = known["lastTransitionTime"] if same else wire_time(work.unix_ms)
    return {
        "observedGeneration": generation,
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": expected,
        "conditions": [told],
    }
