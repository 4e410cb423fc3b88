"""What Filter answers for many nodes at once, and what came of all filters together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Mask, Snapshot

Codes = NDArray[np.int8]

FilterErrorText = Callable[[str, str], str]
"""(plugin, what it said) → the text of its error."""

PASSED: Final = -1
"""`FilterOutcome.first` of a node that every filter let through."""
ABSENT: Final = -2
"""`FilterOutcome.first` of a node that PreFilter ruled out."""
UNSEEN: Final = -3
"""`FilterOutcome.first` of a node that sampling never looked at."""

_FIRST_SHIFT: Final = 3
"""Added to `FilterOutcome.first`, it counts from 0: UNSEEN, ABSENT, PASSED, then the filters."""

_GRAVEST_FIRST: Final = (Code.ERROR, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.UNSCHEDULABLE, Code.PENDING)

_ABSENT_STATUS: Final = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)


@dataclass(slots=True)
class Verdicts:
    """One filter's answers for K nodes.

    Attributes:
        codes: (K,) int8 of `Code`.
        keys: (K,) int64 that `explain` turns into reasons; what the number means is the plugin's own affair.
        explain: key → reasons.
        pieced: put together from answers about single nodes; keys mean nothing beyond these.
    """

    codes: Codes
    keys: NDArray[np.int64]
    explain: Callable[[int], tuple[str, ...]]
    pieced: bool = False

    def make_own(self) -> None:
        """Copy an array that others have too (`all_pass`), before it is written to."""
        if not self.codes.flags.writeable:
            self.codes = self.codes.copy()
        if not self.keys.flags.writeable:
            self.keys = self.keys.copy()

    def status(self, index: int, plugin: str = "", error_text: FilterErrorText | None = None) -> Status:
        """Return the answer for the index-th node; an Error under a plugin's name is worded as the era words it."""
        code = int(self.codes[index])
        if not code:
            return SUCCESS
        return under_name(Status(Code(code), self.explain(int(self.keys[index]))), plugin, error_text)


def rows_passed(first: NDArray[np.int8], snapshot: Snapshot) -> NDArray[np.intp]:
    """Return the rows of a `FilterOutcome.first` that passed, ascending; of all rows `Snapshot.every_row` itself."""
    passed = first == PASSED
    everywhere = np.count_nonzero(passed) == len(passed)
    return snapshot.every_row if everywhere else passed.nonzero()[0]


def under_name(status: Status, plugin: str, error_text: FilterErrorText | None) -> Status:
    """Return a filter's refusal under its name, an Error worded as the era words it (None: as today's)."""
    reasons = status.reasons
    if status.code is Code.ERROR and plugin:
        message = ", ".join(reasons)
        reasons = (
            (f'running "{plugin}" filter plugin: {message}',) if error_text is None else (error_text(plugin, message),)
        )
    return Status(status.code, reasons, plugin)


@lru_cache(maxsize=16)
def all_pass(count: int) -> tuple[Codes, NDArray[np.int64]]:
    """Return codes and keys of `count` nodes that all pass; shared, and therefore not to be written to."""
    codes, keys = np.zeros(count, dtype=np.int8), np.zeros(count, dtype=np.int64)
    codes.flags.writeable = keys.flags.writeable = False
    return codes, keys


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


@dataclass(frozen=True, slots=True)
class NominatedVerdicts:
    """Both verdicts on a node that pods of at least this priority are nominated to; only both together let pass.

    Attributes:
        node_name: the node.
        pods: namespace/name of the nominated pods that were added.
        added: the verdict with them on the node.
        plain: the verdict without them.
    """

    node_name: str
    pods: tuple[str, ...]
    added: Status
    plain: Status


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
        nominated: row → the pods nominated to a node looked at, and the verdict with them counted there.
        absent_status: the status of ABSENT rows.
        error_text: the words of a filter's error; None: today's.
        all_filters: a node's status is that of every filter that fails there, not of the first alone.
        used_nominated_node: the pod's nominated node passed and was taken alone.
        processed: how many nodes were looked at, feasible or not.
        quiet: no filter's verdict is an Error; False: nobody has looked.
        not_run: (N,) the rows that were not asked about because another one's answer was an Error; None: there is none.
    """

    snapshot: Snapshot
    plugins: tuple[str, ...]
    verdicts: Mapping[str, Verdicts]
    first: NDArray[np.int8]
    overrides: dict[int, Status] = field(default_factory=dict)
    nominated: dict[int, tuple[Sequence[PodInfo], Status]] = field(default_factory=dict)
    absent_status: Status = _ABSENT_STATUS
    error_text: FilterErrorText | None = None
    all_filters: bool = False
    used_nominated_node: bool = False
    processed: int = 0
    quiet: bool = False
    not_run: Mask | None = None
    _feasible: NDArray[np.intp] | None = None
    _codes: Codes | None = None

    @property
    def feasible(self) -> NDArray[np.intp]:
        """Return the rows that passed, ascending; worked out once, when Filter is done. Treat them as frozen."""
        if self._feasible is None:
            self._feasible = rows_passed(self.first, self.snapshot)
        return self._feasible

    @property
    def is_sound(self) -> bool:
        """Return whether it is known that no row's status is an Error."""
        return self.quiet and not any(status.code is Code.ERROR for status in self.overrides.values())

    @property
    def is_plain(self) -> bool:
        """Return whether all nodes were looked at, and nothing but the filters' verdicts says what came of them."""
        at_all = self.quiet and self.processed == len(self.first) and self.error_text is None
        return at_all and not (self.overrides or self.nominated or self.used_nominated_node)

    def take_feasible(self, rows: NDArray[np.intp]) -> None:
        """Take the rows that passed, ascending, from whoever has just set `first`."""
        self._feasible = rows

    def work_out_anew(self) -> None:
        """Forget what was worked out of the arrays: somebody took rows out after Filter (an extender)."""
        self._feasible = self._codes = None

    def cancel(self, start: int) -> int | None:
        """Let the first Error, counting round from row `start`, end the search; return its row, None without an Error.

        Upstream cancels what its other workers have not begun; here all that comes later in the order.
        """
        if self.is_sound:
            return None
        broken = self.rows_with(Code.ERROR)
        if not broken:
            return None
        count = len(self.first)
        place = (np.arange(count) - start) % count
        row = min(broken, key=place.__getitem__)
        self.not_run = (place > place[row]) & (self.first != ABSENT)
        self.first[self.not_run] = UNSEEN
        self.overrides = {known: status for known, status in self.overrides.items() if not self.not_run[known]}
        self.work_out_anew()
        return row

    def status_of(self, row: int) -> Status:
        """Return the status recorded for a row: of the first failing filter (or of all), success when none failed."""
        first = int(self.first[row])
        if first == PASSED:
            return SUCCESS
        override = self.overrides.get(row)
        if override is not None:
            return override
        if first < 0:
            return self.absent_status
        if self.all_filters:
            return self._merged(row)
        plugin = self.plugins[first]
        return self.verdicts[plugin].status(row, plugin, self.error_text)

    def _merged(self, row: int) -> Status:
        """Return all refusals of a row as one, under the first plugin's name: an error first, then what cannot help."""
        failed = (name for name in self.plugins if self.verdicts[name].codes[row])
        refusals = [self.verdicts[name].status(row, name, self.error_text) for name in failed]
        codes = {refusal.code for refusal in refusals}
        code = next(code for code in _GRAVEST_FIRST if code in codes)
        return Status(code, tuple(reason for one in refusals for reason in one.reasons), refusals[0].plugin)

    def both_verdicts(self) -> list[NominatedVerdicts]:
        """Return what was said of the nodes that pods are nominated to, those where the verdicts differ first."""
        found: list[NominatedVerdicts] = []
        for row, (pods, added) in self.nominated.items():
            refused = (name for name in self.plugins if self.verdicts[name].codes[row])
            plugin = next(refused, None)
            plain = SUCCESS if plugin is None else self.verdicts[plugin].status(row, plugin, self.error_text)
            found.append(NominatedVerdicts(self.snapshot.names[row], tuple(pod.key for pod in pods), added, plain))
        return sorted(found, key=lambda one: (one.added.ok == one.plain.ok, one.node_name))

    def failed(self) -> Iterator[tuple[int, Status]]:
        """Yield (row, status) of every node that was turned away."""
        for row in np.flatnonzero((self.first != PASSED) & (self.first != UNSEEN)).tolist():
            yield row, self.status_of(row)

    @property
    def codes(self) -> Codes:
        """Return (N,) the `Code` of each row's status, success for rows not looked at; treat it as frozen.

        Worked out once, when Filter is done.
        """
        if self._codes is None:
            self._codes = self._status_codes()
        return self._codes

    def _status_codes(self) -> Codes:
        codes = np.zeros(len(self.first), dtype=np.int8)
        if self.all_filters:
            for row, status in self.failed():
                codes[row] = status.code
            return codes
        numbers = np.bincount(self.first + _FIRST_SHIFT, minlength=_FIRST_SHIFT).tolist()
        for index, number in enumerate(numbers[_FIRST_SHIFT:]):
            if number == len(codes):
                codes[:] = self.verdicts[self.plugins[index]].codes
            elif number:
                np.copyto(codes, self.verdicts[self.plugins[index]].codes, where=self.first == index)
        if numbers[ABSENT + _FIRST_SHIFT]:
            codes[self.first == ABSENT] = self.absent_status.code
        for row, status in self.overrides.items():
            codes[row] = status.code
        return codes

    def rows_with(self, code: Code) -> list[int]:
        """Return the rows whose status has the code, ascending."""
        found: list[int] = np.flatnonzero(self.codes == int(code)).tolist()
        return found

    def reasons(self) -> Counter[str]:
        """Return how many nodes gave each reason: the histogram of the FailedScheduling message."""
        counts: Counter[str] = Counter()
        if self.all_filters:
            for _, status in self.failed():
                counts.update(status.reasons)
            return counts
        first = self.first
        if self.overrides:
            first = first.copy()
            for row, status in self.overrides.items():
                first[row] = UNSEEN
                counts.update(status.reasons)
        numbers = np.bincount(first + _FIRST_SHIFT, minlength=_FIRST_SHIFT).tolist()
        for index, number in enumerate(numbers[_FIRST_SHIFT:]):
            if not number:
                continue
            verdicts = self.verdicts[self.plugins[index]]
            keys = verdicts.keys if number == len(first) else verdicts.keys[first == index]
            for key, count in _counted(keys):
                for reason in verdicts.explain(key):
                    counts[reason] += count
        absent = numbers[ABSENT + _FIRST_SHIFT]
        for reason in self.absent_status.reasons if absent else ():
            counts[reason] += absent
        return counts

    def failed_plugins(self) -> frozenset[str]:
        """Return the filters that turned a node away: their events may help the pod."""
        if self.all_filters:
            turned_away = self.first >= 0
            return frozenset(name for name in self.plugins if self.verdicts[name].codes[turned_away].any())
        numbers = np.bincount(self.first + _FIRST_SHIFT, minlength=_FIRST_SHIFT).tolist()
        names = {self.plugins[index] for index, number in enumerate(numbers[_FIRST_SHIFT:]) if number}
        return frozenset(names | {status.plugin for status in self.overrides.values() if status.plugin})


def _counted(keys: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return (key, how often) of keys, at least one; most often they are all the same."""
    one = int(keys[0])
    if (keys == one).all():
        return [(one, len(keys))]
    values, numbers = np.unique(keys, return_counts=True)
    return list(zip(values.tolist(), numbers.tolist(), strict=True))
