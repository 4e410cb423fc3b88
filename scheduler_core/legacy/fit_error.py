"""The era's texts: one line a node, with the pod's name but not its namespace; and what got a node where.

Source: `FitError.Error`, `scheduleOne`, `plugin/pkg/scheduler`, Kubernetes 1.2. There nodes come in no order; here in
that of their names.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from scheduler_core.framework.fit_error import NO_NODES_MESSAGE
from scheduler_core.framework.verdicts import PASSED, FilterOutcome
from scheduler_core.legacy import node_lister

FIT_ERROR_NODES_MAX: Final = 20
"""Nodes that the message names, about as many as an Event's note holds; its last line says how many more there are."""


def fit_error(pod: str, outcome: FilterOutcome) -> str:
    """Return why a pod fits nowhere; nodes that the era did not list are not spoken of.

    Args:
        pod: its name.
        outcome: what the predicates said, none of them yes.
    """
    names = outcome.snapshot.names
    unlisted = outcome.plugins.index(node_lister.NAME) if node_lister.NAME in outcome.plugins else PASSED
    rows = np.flatnonzero((outcome.first > PASSED) & (outcome.first != unlisted)).tolist()
    if not rows:
        return NO_NODES_MESSAGE
    rows.sort(key=names.__getitem__)
    lines = [f"pod ({pod}) failed to fit in any node\n"]
    for row in rows[:FIT_ERROR_NODES_MAX]:
        lines.append(f"fit failure on node ({names[row]}): {', '.join(outcome.status_of(row).reasons)}\n")
    if len(rows) > FIT_ERROR_NODES_MAX:
        lines.append(f"fit failure on {len(rows) - FIT_ERROR_NODES_MAX} more nodes\n")
    return "".join(lines)


def scheduled_note(namespace: str, name: str, node_name: str) -> str:
    """Return the note of the era's Scheduled event."""
    return f"Successfully assigned {name} to {node_name}"
