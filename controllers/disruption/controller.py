"""Keeps the status of PodDisruptionBudgets.

Source: pkg/controller/disruption/disruption.go (trySync, getExpectedPodCount, countHealthyPods), v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from controllers.kinds.table import find_kind
from controllers.kit.interest import NAMESPACE
from controllers.kit.manager import Reconcile, Setup, Work, key_of, must, split_key
from controllers.kit.ownership import labels_of
from controllers.kit.pods import controller_of, status_patch
from controllers.log.operations import Update
from controllers.log.stamps import unix_ms_of, wire_time
from scheduler_core.api.document import Document, condition, has_ended
from scheduler_core.api.meta import view
from scheduler_core.api.selectors import LabelSelector, Selector, matches_all

BUDGETS: Final = "poddisruptionbudgets.policy"

DISRUPTED_MS: Final = 120_000
"""How long an eviction that nobody sees happen counts (DeletionTimeout)."""

STALE_MS: Final = 120_000
"""After this long a pod that was to go and did not is not to go any more (stalePodDisruptionTimeout)."""

_STALE: Final = "stale\x00"
_SEVERAL: Final = "several\x00"

_TOLD: Final = (("status", "conditions"), ("status", "phase"), ("metadata", "deletionTimestamp"))
"""What the condition that a pod is to go, and whether it stays after all, follow from."""

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
        self._selectors: dict[str, tuple[Document, Selector]] = {}
        """By the uid of a budget that there is: the budget that was read, and what it selects."""
        self._budgets.add_index("namespace", _namespace)
        self._pods.add_index("namespace", _namespace, of=(NAMESPACE,))
        self._budgets.add_handler(self._budget_changed)
        self._pods.add_handler(self._pod_changed, while_any=(self._budgets, "namespace"))
        self._pods.add_handler(self._pod_told, reads=_TOLD)

    def _budget_changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None:
            self._queue.add(key_of(new))
        elif old is not None:
            self._selectors.pop(old["metadata"]["uid"], None)

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        budgets = self._budgets.indexed("namespace", ((new or old) or {})["metadata"]["namespace"])
        told = [new is not None and self._is_about(budget, new) for budget in budgets]
        if new is not None and sum(told) > 1:
            self._queue.add(_SEVERAL + key_of(new))
        relabelled = old is not None and (new is None or labels_of(old) != labels_of(new))
        for budget, is_about in zip(budgets, told, strict=True):
            if is_about or (relabelled and old is not None and self._is_about(budget, old)):
                self._queue.add(key_of(budget))

    def _pod_told(self, old: Document | None, new: Document | None) -> None:
        if new is None or (stale := _stale(new)) is None:
            return
        if old is None or _stale(old) != stale:
            self._queue.add(_STALE + key_of(new))

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Count a budget's pods and say how many may go; or end what was said of a pod that stayed after all."""
        if key.startswith(_STALE):
            yield from self._forgive(key.removeprefix(_STALE), work)
            return
        if key.startswith(_SEVERAL):
            self._tell_of_others(key.removeprefix(_SEVERAL), work)
            return
        budget = self._budgets.get(*split_key(key))
        if budget is None:
            work.tell("the budget has gone", desired={}, actual={})
            return
        namespace = budget["metadata"]["namespace"]
        pods = [pod for pod in self._pods.indexed("namespace", namespace) if self._is_about(budget, pod)]
        if not pods:
            work.event(budget, "PodDisruptionBudget", "NoPods", "No matching pods found")
        try:
            expected, desired = self._wanted(budget, pods, work)
        except LookupError as error:
            yield from self._failed(budget, str(error), work)
            return
        disrupted = _disrupted(budget, pods, work)
        healthy = sum(1 for pod in pods if _is_healthy(pod) and pod["metadata"]["name"] not in disrupted)
        allowed = max(0, healthy - desired) if expected > 0 else 0
        work.tell(
            "as many pods may go as are healthy beyond those wanted" if pods else "no matching pods",
            desired={"healthy pods": desired, "expected pods": expected},
            actual={"healthy pods": healthy, "disruptions allowed": allowed, "evictions under way": len(disrupted)},
        )
        if disrupted:
            soonest = min(unix_ms_of(since) for since in disrupted.values())
            work.queue.add_at(key, work.now_ms + max(1, soonest + DISRUPTED_MS - work.unix_ms + 1))
        status = _status(budget, work, allowed, healthy, desired, expected)
        if disrupted:
            status["disruptedPods"] = disrupted
        yield from self._write(budget, status)

    @staticmethod
    def _write(budget: Document, status: Document) -> Reconcile:
        if status != budget.get("status"):
            metadata = {key: budget["metadata"][key] for key in ("uid", "resourceVersion")}
            # An eviction counted meanwhile must not be lost: then this is a conflict, and the next turn counts anew.
            body = {"metadata": metadata, "status": status}
            place = (budget["metadata"]["namespace"], budget["metadata"]["name"])
            must((yield [Update(BUDGETS, *place, body, "status")])[0])

    def _failed(self, budget: Document, why: str, work: Work) -> Reconcile:
        """Let nothing go while it cannot be told how many pods there should be."""
        text = f"Failed to calculate the number of expected pods: {why}"
        reason = "CalculateExpectedPodCountFailed"
        work.event(budget, "PodDisruptionBudget", reason, text, event_type="Warning")
        status = dict(budget.get("status") or {})
        told = _condition(budget, work, allowed=False, reason="SyncFailed", message=why)
        # That of the last time that could be counted; none yet is 0 to upstream, which its wire leaves out.
        told.pop("observedGeneration")
        if status.get("observedGeneration"):
            told["observedGeneration"] = status["observedGeneration"]
        others = [entry for entry in status.get("conditions") or () if entry["type"] != told["type"]]
        yield from self._write(budget, {**status, "disruptionsAllowed": 0, "conditions": [*others, told]})

    def _tell_of_others(self, key: str, work: Work) -> None:
        """Say of a pod that came or changed, and that several budgets are about, that one of them was taken."""
        pod = self._pods.get(*split_key(key))
        budgets = [] if pod is None else self._about(pod)
        if pod is None or len(budgets) < 2:
            return
        place = f'"{pod["metadata"]["namespace"]}"/"{pod["metadata"]["name"]}"'
        chosen = budgets[0]["metadata"]["name"]
        text = f'Pod {place} matches multiple PodDisruptionBudgets.  Chose "{chosen}" arbitrarily.'
        work.event(pod, "Pod", "MultiplePodDisruptionBudgets", text, event_type="Warning")

    def _about(self, pod: Document) -> list[Document]:
        budgets = self._budgets.indexed("namespace", pod["metadata"]["namespace"])
        return [one for one in budgets if self._is_about(one, pod)]

    def _is_about(self, budget: Document, pod: Document) -> bool:
        uid = budget["metadata"]["uid"]
        read = self._selectors.get(uid)
        if read is None or read[0] is not budget:
            # Every pod of the namespace is asked about: a selector is read once for as long as its budget stays so.
            read = self._selectors[uid] = (budget, _selector_of(budget))
        return read[1] is not None and matches_all(read[1], labels_of(pod))

    def _forgive(self, key: str, work: Work) -> Reconcile:
        """Take back that a pod is to go, when it has not gone for long enough."""
        pod = self._pods.get(*split_key(key))
        told = None if pod is None else _stale(pod)
        if pod is None or told is None:
            return
        due_ms = unix_ms_of(told["lastTransitionTime"]) + STALE_MS - (work.unix_ms - work.now_ms)
        if due_ms > work.now_ms:
            work.queue.add_at(_STALE + key, due_ms)
            return
        taken_back = {
            "type": "DisruptionTarget",
            "observedGeneration": pod["metadata"].get("generation", 1),
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": wire_time(work.unix_ms),
            "reason": None,
            "message": None,
        }
        must((yield [status_patch(pod, {"conditions": [taken_back]})])[0])

    def _wanted(self, budget: Document, pods: list[Document], work: Work) -> tuple[int, int]:
        """Return (how many pods are expected, how many of them must stay).

        Raises:
            LookupError: a pod has an owner that cannot be asked.
        """
        spec = budget["spec"]
        most, least = spec.get("maxUnavailable"), spec.get("minAvailable")
        if most is None and least is None:
            # Who asks for nothing is told nothing: no pod is counted, and none may go.
            return 0, 0
        if most is None and not isinstance(least, str):
            return len(pods), int(least or 0)
        expected, unmanaged = self._expected(pods)
        if unmanaged:
            text = (
                f"Pods selected by this PodDisruptionBudget (selector: {_selector_text(spec.get('selector') or {})}) "
                "were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which "
                'may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of '
                "the PDB to an integer value."
            )
            work.event(budget, "PodDisruptionBudget", "UnmanagedPods", text, event_type="Warning")
        if most is not None:
            return expected, max(0, expected - _scaled(most, expected))
        return expected, _scaled(least or 0, expected)

    def _expected(self, pods: list[Document]) -> tuple[int, bool]:
        """Return how many pods the owners ask for, and whether there are pods without one."""
        asked: dict[str, int] = {}
        unmanaged = False
        for pod in pods:
            if controller_of(pod) is None:
                unmanaged = True
                continue
            owner = self._owner_of(pod)
            above = None if owner is None else self._owner_of(owner)
            top = above or owner
            if top is None:
                raise LookupError(_unasked(pod))
            asked[top["metadata"]["uid"]] = int(top["spec"].get("replicas") or 0)
        return sum(asked.values()), unmanaged

    def _owner_of(self, document: Document) -> Document | None:
        reference = controller_of(document)
        lister = None if reference is None else self._owners.get(reference["kind"])
        if reference is None or lister is None:
            return None
        owner = lister.get(document["metadata"]["namespace"], reference["name"])
        return owner if owner is not None and owner["metadata"]["uid"] == reference["uid"] else None


def _unasked(pod: Document) -> str:
    """Say why the owner of a pod cannot be asked how many pods there should be."""
    reference = controller_of(pod)
    assert reference is not None, "a pod without an owner counts as unmanaged"
    kind = find_kind(reference["apiVersion"], reference["kind"])
    if kind is not None and kind.subresource("scale") is None:
        return f"{kind.resource} does not implement the scale subresource"
    return f'found no controllers for pod "{pod["metadata"]["name"]}"'


def _namespace(document: Document) -> Iterable[str]:
    yield document["metadata"]["namespace"]


def _selector_of(budget: Document) -> Selector:
    selector = budget["spec"].get("selector")
    return None if selector is None else view(selector, LabelSelector).requirements()


def _disrupted(budget: Document, pods: list[Document], work: Work) -> dict[str, str]:
    """Return the evictions that are counted already and have not been seen yet, by pod."""
    noted: Mapping[str, str] = (budget.get("status") or {}).get("disruptedPods") or {}
    counted: dict[str, str] = {}
    for pod in pods:
        name = pod["metadata"]["name"]
        if "deletionTimestamp" in pod["metadata"] or name not in noted:
            continue
        if unix_ms_of(noted[name]) + DISRUPTED_MS < work.unix_ms:
            namespace = budget["metadata"]["namespace"]
            # Upstream names the namespace twice here.
            text = f"Pod was expected by PDB {namespace}/{namespace} to be deleted but it wasn't"
            work.event(pod, "Pod", "NotDeleted", text, event_type="Warning")
        else:
            counted[name] = noted[name]
    return counted


def _is_healthy(pod: Document) -> bool:
    ready = condition(pod, "Ready")
    return ready is not None and ready.get("status") == "True" and "deletionTimestamp" not in pod["metadata"]


def _scaled(amount: int | str, total: int) -> int:
    """Return a number, or a percentage of the total, rounded up."""
    if isinstance(amount, str):
        return -(-total * int(amount.removesuffix("%")) // 100)
    return amount


def _status(budget: Document, work: Work, allowed: int, healthy: int, desired: int, expected: int) -> Document:
    told = _condition(budget, work, allowed=allowed > 0, reason="SufficientPods" if allowed else "InsufficientPods")
    return {
        "observedGeneration": budget["metadata"].get("generation", 1),
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": expected,
        "conditions": [told],
    }


def _condition(budget: Document, work: Work, *, allowed: bool, reason: str, message: str = "") -> Document:
    known = condition(budget, "DisruptionAllowed") or {}
    status = "True" if allowed else "False"
    same = known.get("status") == status
    return {
        "type": "DisruptionAllowed",
        "status": status,
        "reason": reason,
        "message": message,
        "observedGeneration": budget["metadata"].get("generation", 1),
        "lastTransitionTime": known["lastTransitionTime"] if same else wire_time(work.unix_ms),
    }


def _stale(pod: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the condition that says that a pod is to go, of one that does not go."""
    told = condition(pod, "DisruptionTarget")
    if told is None:
        return None
    if told["status"] != "True" or told.get("reason") == "TerminationByKubelet" or has_ended(pod):
        return None
    return None if "deletionTimestamp" in pod["metadata"] else told


def _selector_text(selector: Mapping[str, Any]) -> str:
    """Return a label selector as Go prints it."""
    labels = "".join(f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items()))
    rules = "".join(
        "LabelSelectorRequirement{"
        f"Key:{rule['key']},Operator:{rule['operator']},Values:[{' '.join(rule.get('values') or ())}],"
        "},"
        for rule in selector.get("matchExpressions") or ()
    )
    head = f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
    return head + f"MatchExpressions:[]LabelSelectorRequirement{{{rules}}},}}"
