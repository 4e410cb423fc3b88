"""The amounts behind the refusals of a decision, as traces and the session API hold them (docs/trace.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from scheduler_core.framework.verdicts import ABSENT
from scheduler_core.scheduler.run import Run

REFUSALS_TOLD_MAX: Final = 100
"""Refused nodes of which a trace tells the amounts, the first by name: some 10 KB and 0.3 ms. Others are worked out
for whoever asks."""


def refusals_account(run: Run) -> dict[str, Any]:
    """Return what stands behind the refusals that a trace shows, as `explanation` holds it; empty without any."""
    outcome = run.outcome
    if outcome is None:
        asked = run.framework.pre_filter_details(run.pre_filter_status, run.info)
        return {"preFilter": list(asked)} if asked else {}
    told: dict[str, Any] = {}
    for row in _told(run, np.flatnonzero((outcome.first >= 0) | (outcome.first == ABSENT)).tolist()):
        found = run.framework.refusals(run.state, run.info, outcome, row)
        if outcome.first[row] == ABSENT:
            found = [one for one in found if one.status.plugin in run.narrowing]
        elif not outcome.all_filters:
            found = found[:1]
        details = [detail for one in found for detail in one.details]
        if details:
            told[outcome.snapshot.names[row]] = details
    return {"refusals": told} if told else {}


def all_refusals(run: Run, names: Sequence[str] = (), most: int = REFUSALS_TOLD_MAX) -> dict[str, list[dict[str, Any]]]:
    """Return node → every filter's no with its amounts, in order, whatever the filters before it said.

    Args:
        run: an attempt that has come past Filter.
        names: the nodes asked about; none: all that a filter refuses.
        most: so many nodes are told, the first by name.
    """
    outcome = run.outcome
    if outcome is None:
        return {}
    rows = [row for name in names if (row := outcome.snapshot.row_of.get(name)) is not None]
    if not names:
        refused = np.zeros(len(outcome.snapshot), dtype=np.bool_)
        for verdicts in outcome.verdicts.values():
            refused |= verdicts.codes != 0
        rows = np.flatnonzero(refused).tolist()
    told = {
        outcome.snapshot.names[row]: run.framework.refusals(run.state, run.info, outcome, row)
        for row in _told(run, rows, most)
    }
    return {name: [one.as_dict() for one in found] for name, found in told.items()}


def _told(run: Run, rows: Sequence[int], most: int = REFUSALS_TOLD_MAX) -> list[int]:
    """Return the first rows by name: which row a node has differs between an attempt and its replay."""
    return sorted(rows, key=run.snapshot.names.__getitem__)[:most]
