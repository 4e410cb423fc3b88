"""What a question's right answers are, once what it asks about has come about."""

from __future__ import annotations

from collections.abc import Sequence

from controllers.bootstrap import SCHEDULER
from controllers.commands import REPLICAS
from controllers.lesson.shape import Ask
from controllers.predicates import Predicate, View

NONE = "none"
"""The answer that no node is right."""


def right_answers(ask: Ask, view: View) -> list[str]:
    """Return the ids of the right answers: every member of a tie set is right; of victims, all of them together."""
    match ask.kind:
        case "choice":
            return [option.id for option in ask.options if Predicate.compile(option.right).holds(view)]
        case "node":
            decided = view.answer(ask.pod)
            return list(decided.tie) or list(decided.best) or ([decided.nominated] if decided.nominated else [NONE])
        case "victims":
            return list(view.answer(ask.pod).victims)
        case _:
            leaders = (stored.name for stored in view.store.list(REPLICAS)[0] if view.replica(stored.name).leading)
            return sorted(name for name in leaders if name.startswith(SCHEDULER))


def answers(ask: Ask, view: View) -> Sequence[str]:
    """Return the ids of all answers that there are."""
    match ask.kind:
        case "choice":
            return [option.id for option in ask.options]
        case "node":
            return [*(node.name for node in view.nodes()), NONE]
        case "victims":
            priority = view.pod(ask.pod).priority
            return [pod.name for pod in view.pods("") if pod.node and pod.priority < priority]
        case _:
            return [stored.name for stored in view.store.list(REPLICAS)[0] if stored.name.startswith(SCHEDULER)]
