"""What Filter answers for many nodes at once, and what came of all filters together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.snapshot import Mask, Snapshot
from scheduler_core.framework.status import SUCCESS, Code, Status

Codes = NDArray[np.int8]

PASSED: Final = -1
"""`FilterOutcome.first` of a node that every filter let through."""
ABSENT: Final = -2
"""`FilterOutcome.first` of a node that PreFilter ruled out."""
UNSEEN: Final = -3
"""`FilterOutcome.first` of a node that sampling never looked at."""

_ABSENT_STATUS: Final = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)


@dataclass(slots=True)
class Verdicts:
    """One filter's answers for K nodes.

    Attributes:
        codes: (K,) int8 of `Code`.
        keys: (K,) int64 that `explain` turns into reasons; what the number means is the plugin's own affair.
        explain: key → reasons.
    """

    codes: Codes
    keys: NDArray[np.int64]
    explain: Callable[[int], tuple[str, ...]]

    def status(self, index: int, plugin: str = "") -> Status:
        """Return the answer for the index-th node."""
        code = int(self.codes[index])
        if not code:
            return SUCCESS
        return Status(Code(code), self.explain(int(self.keys[index])), plugin)


def single_reason(failed: Mask, code: Code, reason: str) -> Verdicts:
    """Return the verdicts of a filter with one way to fail.

    Args:
        failed: (K,) which nodes fail.
        code: the code of those.
        reason: their only reason.
    """
    reasons = (reason,)
    codes = failed.astype(np.int8)
    codes *= np.int8(code)
    return Verdicts(codes, np.zeros(len(failed), dtype=np.int64), lambda _: reasons)


@dataclass(slots=True)
class FilterOutcome:
    """What all filters together said of every node of a snapshot.

    Arrays belong to the framework's reuse memory: they are good until the next cycle's Filter.

    Attributes:
        snapshot: the nodes asked about.
        plugins: filters that ran, in order.
        verdicts: plugin → its answer for every row, whatever the filters before it said.
        first: (N,) int8, per row the index in `plugins` of the first failing filter, or PASSED, ABSENT, UNSEEN.
        overrides: row → status where pods nominated to the node changed the answer.
        absent_status: the status of ABSENT rows.
        used_nominated_node: the pod's nominated node passed and was taken alone.
        processed: how many nodes were looked at, feasible or not.
    """

    snapshot: Snapshot
    plugins: tuple[str, ...]
    verdicts: Mapping[str, Verdicts]
    first: NDArray[np.int8]
    overrides: dict[int, Status] = field(default_factory=dict)
    absent_status: Status = _ABSENT_STATUS
    used_nominated_node: bool = False
    processed: int = 0
    _feasible: NDArray[np.intp] | None = None

    @property
    def feasible(self) -> NDArray[np.intp]:
        """Return the rows that passed, ascending; worked out once, when Filter is done."""
        if self._feasible is None:
            self._feasible = np.flatnonzero(self.first == PASSED)
        return self._feasible

    def status_of(self, row: int) -> Status:
        """Return the status recorded for a row: of the first failing filter, success when none failed."""
        first = int(self.first[row])
        if first == PASSED:
            return SUCCESS
        override = self.overrides.get(row)
        if override is not None:
            return override
        if first < 0:
            return self.absent_status
        plugin = self.plugins[first]
        return self.verdicts[plugin].status(row, plugin)

    def failed(self) -> Iterator[tuple[int, Status]]:
        """Yield (row, status) of every node that was turned away."""
        for row in np.flatnonzero((self.first != PASSED) & (self.first != UNSEEN)).tolist():
            yield row, self.status_of(row)

    def rows_with(self, code: Code) -> list[int]:
        """Return the rows whose status has the code, ascending."""
        wanted = np.zeros(len(self.first), dtype=np.bool_)
        if self.first.max(initial=PASSED) >= 0:
            for index, plugin in enumerate(self.plugins):
                wanted |= (self.first == index) & (self.verdicts[plugin].codes == code)
        if self.absent_status.code is code:
            wanted |= self.first == ABSENT
        for row, status in self.overrides.items():
            wanted[row] = status.code is code
        return [int(row) for row in np.flatnonzero(wanted)]

    def reasons(self) -> Counter[str]:
        """Return how many nodes gave each reason: the histogram of the FailedScheduling message."""
        counts: Counter[str] = Counter()
        overridden = np.zeros(len(self.first), dtype=np.bool_)
        for row, status in self.overrides.items():
            overridden[row] = True
            counts.update(status.reasons)
        for index, plugin in enumerate(self.plugins):
            rows = np.flatnonzero((self.first == index) & ~overridden)
            if len(rows):
                verdicts = self.verdicts[plugin]
                keys, numbers = np.unique(verdicts.keys[rows], return_counts=True)
                for key, number in zip(keys.tolist(), numbers.tolist(), strict=True):
                    for reason in verdicts.explain(key):
                        counts[reason] += number
        absent = int(np.count_nonzero((self.first == ABSENT) & ~overridden))
        for reason in self.absent_status.reasons if absent else ():
            counts[reason] += absent
        return counts

    def failed_plugins(self) -> frozenset[str]:
        """Return the filters that turned a node away: their events may help the pod."""
        names = {self.plugins[index] for index in np.unique(self.first).tolist() if index >= 0}
        return frozenset(names | {status.plugin for status in self.overrides.values() if status.plugin})
