"""Taints and tolerations: who may stay, who may come (`k8s.io/component-helpers/scheduling/corev1`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scheduler_core.api.node import Taint
from scheduler_core.api.pod import Toleration


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Return whether one toleration covers one taint; an empty effect or key of the toleration covers all."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case _:
            return False


def tolerated(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    """Return whether any toleration covers the taint."""
    return any(tolerates(one, taint) for one in tolerations)


def untolerated(taints: Iterable[Taint], tolerations: Sequence[Toleration], effects: frozenset[str]) -> Iterator[Taint]:
    """Yield the taints with one of the effects that no toleration covers."""
    return (taint for taint in taints if taint.effect in effects and not tolerated(tolerations, taint))


def first_untolerated(
    taints: Iterable[Taint], tolerations: Sequence[Toleration], effects: frozenset[str]
) -> Taint | None:
    """Return the first taint with one of the effects that no toleration covers."""
    return next(untolerated(taints, tolerations, effects), None)


NO_SCHEDULE_EFFECTS = frozenset({"NoSchedule", "NoExecute"})
"""Effects that keep a new pod away."""
