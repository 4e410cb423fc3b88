"""The typed view of a PodDisruptionBudget."""

from __future__ import annotations

from scheduler_core.api.meta import ObjectMeta, View
from scheduler_core.api.selectors import LabelSelector


class PodDisruptionBudgetSpec(View, frozen=True):
    """policy/v1 PodDisruptionBudgetSpec, what preemption reads of it."""

    selector: LabelSelector | None = None


class PodDisruptionBudgetStatus(View, frozen=True):
    """policy/v1 PodDisruptionBudgetStatus, what preemption reads of it.

    `disrupted_pods` maps the names of pods whose eviction is counted already to when it was.
    """

    disruptions_allowed: int = 0
    disrupted_pods: dict[str, str] = {}


class PodDisruptionBudget(View, frozen=True):
    """policy/v1 PodDisruptionBudget."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()
