"""What differs between eras in how a framework runs, as one value that a profile carries.

An era's plugins are ordinary plugins; this is the rest of it: the range of scores, how refusals are worded, how long a
pod stays assumed. The defaults are kube-scheduler 1.34's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from scheduler_core.framework.fit_error import NO_NODES_MESSAGE, fit_error
from scheduler_core.framework.interface import MAX_NODE_SCORE

CURRENT_ERA: Final = "v1.34"
"""The era of a session that names none."""


class FitErrorText(Protocol):
    """How an era words that no node fits."""

    def __call__(self, nodes: int, reasons: Mapping[str, int], *, pre_filter: str = "", post_filter: str = "") -> str:
        """Return the message; the arguments are those of `fit_error.fit_error`."""
        ...


class ScheduledText(Protocol):
    """How an era words that a pod has got its node."""

    def __call__(self, namespace: str, name: str, node_name: str) -> str:
        """Return the note of the Scheduled event."""
        ...


def scheduled_note(namespace: str, name: str, node_name: str) -> str:
    """Return today's note of the Scheduled event."""
    return f"Successfully assigned {namespace}/{name} to {node_name}"


@dataclass(frozen=True, slots=True)
class Rules:
    """How a framework of one era runs.

    Attributes:
        era: name, as in the command object's spec.
        score_max: what the best node gets from one plugin after normalisation, before its weight (today's
            MaxNodeScore 100; MaxPriority 10 before the framework).
        fit_error: words that no node fits.
        no_nodes: the message of an attempt in a cluster without nodes.
        scheduled_note: words the Scheduled event.
        expiry_ms: simulated milliseconds that an assumed pod may stay unconfirmed once its binding went out; None: for
            ever, as upstream has it since 1.23.
    """

    era: str = CURRENT_ERA
    score_max: int = MAX_NODE_SCORE
    fit_error: FitErrorText = fit_error
    no_nodes: str = NO_NODES_MESSAGE
    scheduled_note: ScheduledText = scheduled_note
    expiry_ms: int | None = None


CURRENT_RULES: Final = Rules()
