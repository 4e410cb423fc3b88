"""Reuse between pods: answers are kept, and only rows touched since are asked about again.

What one plugin said is kept by what it reads of the pod (`filter_key`, `score_key`), so pods of many shapes share it;
what all plugins together come to is kept by the pod's shape.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field
from typing import Final, Generic, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler_core.framework.interface import Reads
from scheduler_core.framework.status import Code, Status
from scheduler_core.framework.verdicts import Codes, Verdicts
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.snapshot import ALL_ROWS, Ints, Rows, Snapshot

SHAPES_MAX: Final = 64
"""Shapes remembered per framework, for Filter and for Score; past it those are forgotten that were not asked for since
as many others were."""

PARTS_MAX: Final = 128
"""Answers of single plugins remembered per framework, for Filter and for Score; past it those are forgotten that were
not asked for since as many others were, and are later recomputed in full."""

# Looking a member up on the class is slow, and these are asked for every plugin and pod.
_NODE: Final = Reads.NODE
_NODE_AND_SUMS: Final = Reads.NODE_AND_SUMS
_NODE_AND_PODS: Final = Reads.NODE_AND_PODS
_ALL_NODES: Final = Reads.ALL_NODES
_ERROR: Final = int(Code.ERROR)

_NO_ROWS: Final = np.zeros(0, dtype=np.intp)
_NO_CODES: Final[Codes] = np.zeros(0, dtype=np.int8)
_NO_KEYS: Final[Ints] = np.zeros(0, dtype=np.int64)


def _unexplained(key: int) -> NoReturn:
    raise KeyError(key)


@dataclass(slots=True)
class Touched:
    """Rows that changed since answers were last level."""

    node: NDArray[np.intp]
    """Rows whose Node object changed."""
    counted: NDArray[np.intp]
    """Those, and rows where pods came or went."""
    any: NDArray[np.intp]
    """Those, and rows where pods were confirmed."""
    only: int = -1
    """The row where pods came or went, where that is all that happened; else -1."""

    def rows_for(self, reads: Reads) -> Rows:
        """Return the rows about which a plugin must be asked again."""
        if reads is _NODE:
            return self.node
        if reads is _NODE_AND_SUMS:
            return self.counted
        if reads is _NODE_AND_PODS:
            return self.any
        if reads is _ALL_NODES and not len(self.node):
            return self.node
        return ALL_ROWS


Position = tuple[int, int, int, int]
"""A place in a snapshot's change log: its epoch, and how much of the three logs has been read."""

NOWHERE: Final[Position] = (-1, 0, 0, 0)
"""Before everything: from here on, all is to be recomputed."""


def position_of(snapshot: Snapshot) -> Position:
    """Return the log's end."""
    return snapshot.epoch, len(snapshot.node_log), len(snapshot.pod_log), len(snapshot.seen_log)


def touched_since(position: Position, snapshot: Snapshot) -> Touched | None:
    """Return what was touched between a position and the log's end; None: everything is to be recomputed."""
    epoch, node, pod, seen = position
    if epoch != snapshot.epoch:
        return None
    node_rows, pod_rows, seen_rows = snapshot.node_log[node:], snapshot.pod_log[pod:], snapshot.seen_log[seen:]
    if not (node_rows or seen_rows) and len(pod_rows) <= 1:
        # Most often all that has happened is the pod before.
        counted = np.array(pod_rows, dtype=np.intp)
        return Touched(_NO_ROWS, counted, counted, pod_rows[0] if pod_rows else -1)
    rows = {*node_rows, *pod_rows, *seen_rows}
    if len(rows) * 2 > len(snapshot):
        return None
    return Touched(_in_order(node_rows), _in_order([*node_rows, *pod_rows]), _in_order(rows))


def _in_order(rows: Collection[int]) -> NDArray[np.intp]:
    return np.array(sorted(set(rows)), dtype=np.intp) if rows else _NO_ROWS


@dataclass(slots=True)
class Mark:
    """A position that moves along."""

    position: Position = NOWHERE

    def advance(self, snapshot: Snapshot) -> Touched | None:
        """Move to the log's end and return what was touched in between; None: everything is to be recomputed."""
        touched = touched_since(self.position, snapshot)
        self.position = position_of(snapshot)
        return touched


class Changes:
    """What changed in a snapshot since several positions: most answers were last level at the same one."""

    def __init__(self) -> None:
        self._snapshot: Snapshot | None = None
        self._known: dict[Position, Touched | None] = {}
        self.now: Position = NOWHERE

    def look(self, snapshot: Snapshot) -> None:
        """Take the snapshot's state of now as the present."""
        now = position_of(snapshot)
        if now != self.now or snapshot is not self._snapshot:
            self._snapshot, self.now = snapshot, now
            self._known.clear()

    def has_same_nodes(self, position: Position) -> bool:
        """Return whether all Node objects are those of a position."""
        return position[0] == self.now[0] and position[1] == self.now[1]

    def since(self, position: Position) -> Touched | None:
        """Return what was touched between a position and now; None: everything is to be recomputed."""
        if position is NOWHERE:
            return None
        known = self._known
        if position not in known:
            assert self._snapshot is not None
            known[position] = touched_since(position, self._snapshot)
        return known[position]


@dataclass(slots=True)
class FilterPart:
    """One filter's verdicts on all rows, for pods that it cannot tell apart.

    Attributes:
        failing: whether any row fails.
    """

    snapshot: Snapshot
    position: Position = NOWHERE
    verdicts: Verdicts = field(default_factory=lambda: Verdicts(_NO_CODES, _NO_KEYS, _unexplained))
    failing: bool = False

    def level(
        self,
        ask: Callable[[Rows], Verdicts],
        reads: Reads,
        changes: Changes,
        ask_one: Callable[[NodeInfo], tuple[int, int]] | None = None,
    ) -> bool:
        """Bring the verdicts level; return whether one of them is an Error.

        Args:
            ask: rows → verdicts.
            reads: what the filter looks at.
            changes: what has changed.
            ask_one: node → (code, key), of a filter that looks at the node and its pods and can tell one so.
        """
        if self.position == changes.now:
            return False
        touched = changes.since(self.position)
        self.position = changes.now
        kept = self.verdicts
        if ask_one is not None and touched is not None and touched.only >= 0:
            # Most often all that has happened is the pod before.
            code = self._level_one(ask_one, touched.only)
            if code is not None:
                self.failing = bool(code) or (self.failing and bool(np.count_nonzero(kept.codes)))
                return False
        rows = ALL_ROWS if touched is None else touched.rows_for(reads)
        if not isinstance(rows, slice):
            if not len(rows):
                return False
            fresh = ask(rows)
            codes = fresh.codes.tolist()
            if not fresh.pieced and _ERROR not in codes:
                kept.make_own()
                kept.codes[rows], kept.keys[rows], kept.explain = fresh.codes, fresh.keys, fresh.explain
                self.failing = any(codes) or (self.failing and bool(np.count_nonzero(kept.codes)))
                return False
            # An error's key means nothing to the plugin's own `explain`: do not mix the two.
        fresh = ask(ALL_ROWS)
        kept.codes, kept.keys, kept.explain = fresh.codes, fresh.keys, fresh.explain
        self.failing = bool(np.count_nonzero(kept.codes))
        is_broken = self.failing and bool((kept.codes == _ERROR).any())
        if is_broken or fresh.pieced:
            # An error may go with its cause, whatever that was.
            self.position = NOWHERE
        return is_broken

    def passes(self, answer: tuple[int, int], row: int, before: Position, now: Position) -> bool:
        """Take the answer for the one row that has changed since `before`, when all passed; return whether it does."""
        if self.position not in (before, now) or answer[0]:
            return False
        if self.verdicts.keys[row] != answer[1]:
            self.verdicts.make_own()
            self.verdicts.keys[row] = answer[1]
        self.position = now
        return True

    def _level_one(self, ask_one: Callable[[NodeInfo], tuple[int, int]], row: int) -> int | None:
        """Bring one row level and return its code; None: it is to be asked as all rows are."""
        try:
            code, key = ask_one(self.snapshot.infos[row])
        except Exception:
            return None
        if code == _ERROR:
            return None
        kept = self.verdicts
        if kept.codes[row] != code or kept.keys[row] != key:
            kept.make_own()
            kept.codes[row], kept.keys[row] = code, key
        return code


@dataclass(slots=True)
class ScorePart:
    """One score plugin's raw scores of all rows, for pods that it cannot tell apart.

    Attributes:
        seen: whether it was asked for before: only then is it worth working out for rows that nobody asks about.
        even: what it adds to every total while all raw scores are 0; None: they are not.
    """

    snapshot: Snapshot
    position: Position = NOWHERE
    raw: Ints = field(default_factory=lambda: _NO_KEYS)
    seen: bool = False
    even: int | None = None

    def level(
        self,
        ask: Callable[[Rows], Ints],
        reads: Reads,
        changes: Changes,
        ask_one: Callable[[NodeInfo], int] | None = None,
    ) -> bool:
        """Bring the scores level and return whether any may have changed; `ask_one` as for a filter."""
        if self.position == changes.now:
            return False
        touched = changes.since(self.position)
        if ask_one is not None and touched is not None and touched.only >= 0:
            self.raw[touched.only] = ask_one(self.snapshot.infos[touched.only])
            self.position = changes.now
            return True
        rows = ALL_ROWS if touched is None else touched.rows_for(reads)
        if isinstance(rows, slice):
            self.raw = ask(rows)
        elif len(rows):
            self.raw[rows] = ask(rows)
        # Only now: the plugin may have raised.
        self.position = changes.now
        return isinstance(rows, slice) or bool(len(rows))


@dataclass(slots=True)
class FilterMemory:
    """What Filter comes to for one shape on one snapshot.

    Attributes:
        parts: filter → its verdicts; those that read the whole cluster are asked in every cycle.
        verdicts: the same, as the outcome shows them.
        first: (N,) int8, first failing filter per row; see `FilterOutcome.first`.
        passed: the rows that passed, ascending; None: nobody has looked.
        nominated: row → (the nominated pods that were added, the verdict with them); see `Filtering`.
    """

    snapshot: Snapshot
    position: Position = NOWHERE
    parts: dict[str, FilterPart] = field(default_factory=dict)
    verdicts: dict[str, Verdicts] = field(default_factory=dict)
    first: Codes = field(default_factory=lambda: _NO_CODES)
    passed: NDArray[np.intp] | None = None
    nominated: dict[int, tuple[tuple[PodInfo, ...], Status]] = field(default_factory=dict)


@dataclass(slots=True)
class ScoreMemory:
    """What Score comes to for one shape on one snapshot.

    Attributes:
        parts: score plugin → its raw scores.
        base: (N,) int64, weighted sum of the plugins that have no normalisation.
        seen: whether a pod of the shape was scored before; only then are sums over all rows worth keeping.
    """

    snapshot: Snapshot
    position: Position = NOWHERE
    parts: dict[str, ScorePart] = field(default_factory=dict)
    base: Ints = field(default_factory=lambda: _NO_KEYS)
    seen: bool = False


@dataclass(slots=True)
class SettledScores:
    """What those score plugins come to that need not be asked again while no Node object changes.

    Attributes:
        parts: score plugin → its raw scores.
        even: what those add to every total whose raw scores are all 0.
        uneven: whether there are others.
        rows: the rows last scored; another array's are others.
        added: (K,) what the others come to there.
    """

    snapshot: Snapshot
    position: Position = NOWHERE
    parts: dict[str, ScorePart] = field(default_factory=dict)
    even: int = 0
    uneven: bool = False
    rows: NDArray[np.intp] | None = None
    added: Ints = field(default_factory=lambda: _NO_KEYS)


class _OfSnapshot(Protocol):
    @property
    def snapshot(self) -> Snapshot: ...


_Kept = TypeVar("_Kept", bound=_OfSnapshot)


class Recent(Generic[_Kept]):
    """Remembered answers by key: those of late, and those that nobody has asked for since these began."""

    def __init__(self, make: Callable[[Snapshot], _Kept], most: int, enabled: bool) -> None:
        self._make = make
        self._most = most
        self._enabled = enabled
        self._late: dict[Hashable, _Kept] = {}
        self._before: dict[Hashable, _Kept] = {}

    def of(self, key: Hashable, snapshot: Snapshot) -> _Kept:
        """Return what is remembered; something fresh when that is nothing for this snapshot, or reuse is off."""
        if not self._enabled:
            return self._make(snapshot)
        late = self._late
        found = late.get(key)
        if found is None or found.snapshot is not snapshot:
            found = self._before.get(key)
            if found is None or found.snapshot is not snapshot:
                found = self._make(snapshot)
            if len(late) >= self._most:
                self._before, self._late = late, {}
            self._late[key] = found
        return found

    def known(self, key: Hashable, snapshot: Snapshot) -> _Kept | None:
        """Return what is remembered for this snapshot, None when that is nothing."""
        found = self._late.get(key) or self._before.get(key)
        return found if found is not None and found.snapshot is snapshot else None

    def forget(self, key: Hashable) -> None:
        """Drop what is remembered under the key."""
        self._late.pop(key, None)
        self._before.pop(key, None)


class Reuse:
    """What one framework remembers.

    Attributes:
        changes: what has changed since answers were level; whoever begins to level looks at the snapshot first.
        filters: (shape, plugins left out) → Filter.
        settled: (plugins left out, the settled ones' keys of the pod) → those filters that need not be asked again
            while no Node object changes.
        settled_scores: the same of score plugins.
        scores: (shape, plugins left out) → Score.
        filter_parts: (plugin, its key of the pod) → one filter.
        score_parts: (plugin, its key of the pod) → one score plugin.
    """

    def __init__(self, enabled: bool = True) -> None:
        self.changes = Changes()
        self.filters = Recent(FilterMemory, SHAPES_MAX, enabled)
        self.settled = Recent(FilterMemory, SHAPES_MAX, enabled)
        self.settled_scores = Recent(SettledScores, SHAPES_MAX, enabled)
        self.scores = Recent(ScoreMemory, SHAPES_MAX, enabled)
        self.filter_parts = Recent(FilterPart, PARTS_MAX, enabled)
        self.score_parts = Recent(ScorePart, PARTS_MAX, enabled)
