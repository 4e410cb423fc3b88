"""PodDisruptionBudgets: which victims would break one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scheduler_core.api.errors import ApiError
from scheduler_core.api.meta import view
from scheduler_core.api.policy import PodDisruptionBudget
from scheduler_core.api.selectors import Requirement, SelectorError, matches_all, read_selector
from scheduler_core.snapshot.node_info import PodInfo

RESOURCE: Final = "poddisruptionbudgets.policy"


@dataclass(frozen=True, slots=True)
class Budget:
    """What preemption reads of one PodDisruptionBudget."""

    namespace: str
    selector: tuple[Requirement, ...]
    allowed: int
    disrupted: frozenset[str]
    """Names of pods whose eviction is counted already."""


def budgets_of(documents: Sequence[Mapping[str, Any]]) -> list[Budget]:
    """Return the budgets; one whose selector is empty or cannot be read protects nothing, as upstream has it."""
    budgets: list[Budget] = []
    for document in documents:
        try:
            budget = view(document, PodDisruptionBudget)
            requirements = read_selector(budget.spec.selector)
        except (ApiError, SelectorError):
            continue
        if not requirements:
            continue
        budgets.append(
            Budget(
                budget.metadata.namespace or "default",
                requirements,
                budget.status.disruptions_allowed,
                frozenset(budget.status.disrupted_pods),
            )
        )
    return budgets


def split(pods: Sequence[PodInfo], budgets: Sequence[Budget]) -> tuple[list[PodInfo], list[PodInfo]]:
    """Return (pods whose eviction breaks a budget, the others), both in the order given.

    The order matters: budgets are spent by the pods that come first.
    """
    if not budgets:
        return [], list(pods)
    left = [budget.allowed for budget in budgets]
    breaking: list[PodInfo] = []
    others: list[PodInfo] = []
    for info in pods:
        broken = False
        labels = info.pod.metadata.labels
        for index, budget in enumerate(budgets) if labels else ():
            if budget.namespace != info.pod.namespace or info.pod.name in budget.disrupted:
                continue
            if matches_all(budget.selector, labels):
                left[index] -= 1
                broken = broken or left[index] < 0
        (breaking if broken else others).append(info)
    return breaking, others
