"""The search for candidates: which nodes are dry-run, in which order, and where it ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.lots import Lots
from scheduler_core.framework.status import Code, Status
from scheduler_core.preemption.choice import cheapest
from scheduler_core.preemption.dry_run import CRITERIA, Candidate, DryRun
from scheduler_core.preemption.memory import BREAKING, HARMLESS, UNTRIED, Runs
from scheduler_core.snapshot.snapshot import Snapshot


class Tried:
    """The nodes that one search tried, in its order.

    Attributes:
        count: how many of them are candidates.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        rows: NDArray[np.intp],
        wanted: int,
        runs: Runs,
        criteria: Sequence[str] = CRITERIA,
    ) -> None:
        """Take what the search left: the tried rows in order, and the answers by row as they are now.

        Of the candidates that break a budget no more are kept than were wanted. Which cost least, `criteria` say.
        """
        self._names = snapshot.names
        self._by_name = snapshot.by_name
        self._rows = rows
        self._answers = runs.answers.copy()
        kinds = runs.kinds[rows]
        kept = kinds >= BREAKING
        if wanted < len(rows):
            breaking = kinds == BREAKING
            kept &= ~(breaking & (np.cumsum(breaking) > wanted))
        self._found = rows[kept]
        self._tied = cheapest(runs.costs, self._found, criteria)
        self.count = len(self._found)

    @cached_property
    def candidates(self) -> list[Candidate]:
        """Return every node that could be freed."""
        answers = (self._answers[row] for row in self._found.tolist())
        return [answer for answer in answers if isinstance(answer, Candidate)]

    @cached_property
    def statuses(self) -> dict[str, Status]:
        """Return nodes tried in vain → why."""
        answers = ((row, self._answers[row]) for row in self._rows.tolist())
        return {self._names[row]: answer for row, answer in answers if isinstance(answer, Status)}

    @property
    def ties(self) -> int:
        """Return how many candidates are equally cheap."""
        return len(self._tied)

    def tie(self, number: int) -> Candidate:
        """Return the `number`-th of the cheapest candidates, in order of their nodes' names."""
        answer = self._answers[self._by_name.nth(self._tied, number)]
        assert isinstance(answer, Candidate)
        return answer

    def reasons(self) -> Counter[str]:
        """Return how many nodes tried in vain gave each reason."""
        counts: Counter[str] = Counter()
        for reasons, number in Counter(status.reasons for status in self.statuses.values()).items():
            for reason in reasons:
                counts[reason] += number
        return counts

    def errors(self) -> str:
        """Return the texts of the errors met, each once, as upstream's aggregates put them; empty: there were none."""
        texts = list(dict.fromkeys(status.message for status in self.statuses.values() if status.code is Code.ERROR))
        return f"[{', '.join(texts)}]" if len(texts) > 1 else "".join(texts)


def search(
    dry_run: DryRun,
    runs: Runs,
    snapshot: Snapshot,
    rows: NDArray[np.intp],
    wanted: int,
    lots: Lots | None,
    criteria: Sequence[str] = CRITERIA,
) -> Tried:
    """Dry-run the nodes where eviction might help, from a drawn place on, until there are enough candidates.

    Candidates that break budgets alone never end the search. Source: DryRunPreemption, kube-scheduler.

    Args:
        dry_run: tries one row.
        runs: answers known already, level with the snapshot; new ones are kept there.
        snapshot: the nodes.
        rows: those where eviction might help, in name order.
        wanted: after how many candidates the search may stop.
        lots: where the search begins; None: at the first name.
        criteria: by which the cheapest are told.
    """
    begin = lots.draw("preemption-offset", len(rows)) if lots is not None and wanted < len(rows) else 0
    if begin:
        rows = np.concatenate((rows[begin:], rows[:begin]))
    known = runs.kinds[rows]
    for position in np.flatnonzero(known == UNTRIED).tolist():
        before = known[:position]
        if wanted < len(rows) and _is_enough(before, wanted):
            break
        row = int(rows[position])
        runs.keep(row, dry_run.on(row))
        known[position] = runs.kinds[row]
    return Tried(snapshot, rows[: _end(known, wanted)], wanted, runs, criteria)


def _is_enough(kinds: NDArray[np.int8], wanted: int) -> bool:
    return bool((kinds == HARMLESS).any()) and int(np.count_nonzero(kinds >= BREAKING)) >= wanted


def _end(kinds: NDArray[np.int8], wanted: int) -> int:
    """Return how many nodes are tried: up to the one that makes the candidates enough."""
    if wanted >= len(kinds):
        return len(kinds)
    enough = (np.cumsum(kinds >= BREAKING) >= wanted) & np.logical_or.accumulate(kinds == HARMLESS)
    # Before the first node nothing is found, so at least one is tried.
    return int(np.argmax(enough)) + 1 if enough.any() else len(kinds)
