"""The columnar snapshot: nodes are rows of arrays, frozen while a cycle reads them.

Resource columns hold `int64` (millicores for cpu, whole units else). Columns that follow from the Node object alone
(labels, taints, images) are made on demand by `node_column` and kept level row by row. Every change of a row is noted
in a log, so that answers computed for an earlier state can be brought level by recomputing the rows touched since.

The cache (`scheduler_core.state.cache`) brings a snapshot level between cycles; a dry run works on the small snapshot
that `what_if` returns.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler_core.snapshot.name_order import NameOrder
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo
from scheduler_core.snapshot.pod_columns import PodColumn
from scheduler_core.snapshot.pod_index import PodIndex

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp] | slice
"""Which rows a plugin is asked about: an index array, ascending, or `ALL_ROWS`."""

ALL_ROWS: Final = slice(None)

CPU: Final = 0
MEMORY: Final = 1
EPHEMERAL_STORAGE: Final = 2
_BASE_COLUMNS: Final = {"cpu": CPU, "memory": MEMORY, "ephemeral-storage": EPHEMERAL_STORAGE}

ALLOCATABLE: Final = 0
REQUESTED: Final = 1
LEFT: Final = 2
"""First index of `Snapshot.pairs`."""

SHARE: Final = 100
"""Shares of amounts are told in hundredths."""

PLACES: Final = ""
"""Stands for the places for pods among resources, of which none has this name."""

ORDINARY_MAX: Final = 2**60
"""Largest sum of requests on a node with which a snapshot counts as ordinary; past it arithmetic minds wrapping."""

LOG_ROWS_MAX: Final = 65_536
"""Touched rows that the change logs hold; past it the log restarts and everything computed before is recomputed."""

NODE_COLUMNS_MAX: Final = 256
"""Columns made on demand; past it all are dropped, and made again when asked for."""

POD_COLUMNS_MAX: Final = 256
"""Columns over pods; past it the one used longest ago is dropped."""

NO_VALUE: Final = 0
"""Topology id of a node without the label."""
EMPTY_VALUE: Final = 1
"""Topology id of the label with the empty value."""


_Fact = TypeVar("_Fact")


class Snapshot:
    """N nodes as columns.

    Attributes:
        infos: the rows as objects; treat them as frozen.
        names: node names by row.
        row_of: node name → row.
        every_row: (N,) 0 … N − 1; treat it as frozen.
        allocatable: (R, N) int64 by resource column.
        requested: (R, N) int64, what the pods on the node ask for.
        non_zero: (2, N) int64, millicores and bytes that scoring counts.
        pod_count: (N,) int64.
        pod_limit: (N,) int64, allocatable pods.
        pairs: (3, 2, N) float64 of cpu and memory: allocatable, requested, and a hundredfold what `non_zero` leaves of
            the allocatable. Doubles hold amounts up to 2**53 exactly, and dividing them takes a fraction of the time
            that int64 takes.
        epoch: grows when rows come, go or move.
        generation: the cache's generation that this snapshot has seen.
        is_ordinary: no sum was ever negative or above ORDINARY_MAX: those of 64 bits have never wrapped round.
        node_log, pod_log, seen_log: rows in order of their changes in this epoch: of the Node object, of which pods
            count there, and of how one of these is seen that counts as before (it was confirmed).
        origin: of a dry run's snapshot: the cycle's snapshot that its rows were taken from, and which rows; the Node
            objects are the same, only pods may differ.
    """

    _resource_columns: dict[str, int]

    def __init__(self, infos: Iterable[NodeInfo] = ()) -> None:
        self.epoch = 0
        self.generation = 0
        self.origin: tuple[Snapshot, Sequence[int]] | None = None
        self.is_ordinary = True
        self._node_columns: dict[Hashable, tuple[Callable[[NodeInfo], int], Ints]] = {}
        self._topology_ids: dict[str, dict[str, int]] = {}
        self._pod_columns: OrderedDict[Hashable, PodColumn] = OrderedDict()
        self._pods: PodIndex | None = None
        self._of_nodes: dict[Hashable, Any] = {}
        self._of_nodes_level = (0, 0)
        self.node_log: list[int] = []
        self.pod_log: list[int] = []
        self.seen_log: list[int] = []
        self._stretch: tuple[NDArray[np.intp], slice | None] = np.zeros(0, dtype=np.intp), None
        self.rebuild(infos)

    def __len__(self) -> int:
        return len(self.infos)

    # Writing: the cache between cycles, dry runs on their own copy.

    def rebuild(self, infos: Iterable[NodeInfo]) -> None:
        """Replace all rows; each info becomes the snapshot's own."""
        self._set_rows(infos)
        self._make_columns()

    def _set_rows(self, infos: Iterable[NodeInfo]) -> None:
        self.infos: list[NodeInfo] = list(infos)
        self._owned: set[int] = set()
        self.names: list[str] = [info.name for info in self.infos]
        self.row_of: dict[str, int] = {name: row for row, name in enumerate(self.names)}
        self.every_row: NDArray[np.intp] = np.arange(len(self.infos), dtype=np.intp)
        self.__dict__.pop("order", None)
        self.__dict__.pop("by_name", None)
        self._node_columns.clear()
        self._topology_ids.clear()
        self._pods = None
        self._reset_log()

    def _make_columns(self) -> None:
        columns = self.__dict__.setdefault("_resource_columns", dict(_BASE_COLUMNS))
        for info in self.infos:
            for resource in (*info.allocatable, *info.requested):
                columns.setdefault(resource, len(columns))
        shape = (len(columns), len(self.infos))
        self.allocatable: Ints = np.zeros(shape, dtype=np.int64)
        self.requested: Ints = np.zeros(shape, dtype=np.int64)
        self.non_zero: Ints = np.zeros((2, len(self.infos)), dtype=np.int64)
        self.pod_count: Ints = np.zeros(len(self.infos), dtype=np.int64)
        self.pod_limit: Ints = np.zeros(len(self.infos), dtype=np.int64)
        self.pairs: NDArray[np.float64] = np.zeros((3, 2, len(self.infos)))
        self._floors: dict[str, int] = {}
        for resource, column in columns.items():
            # Whole columns: a row at a time takes several times as long, and all nodes come at once.
            self.allocatable[column] = [info.allocatable.get(resource, 0) for info in self.infos]
        self.pod_limit[:] = [info.allocatable.get("pods", 0) for info in self.infos]
        self.pairs[ALLOCATABLE] = self.allocatable[: len(self.pairs[ALLOCATABLE])]
        np.multiply(self.pairs[ALLOCATABLE], SHARE, out=self.pairs[LEFT])
        for row, info in enumerate(self.infos):
            if info.pods:
                self._write_pods(row, info)

    def _reset_log(self) -> None:
        self.epoch += 1
        self.node_log.clear()
        self.pod_log.clear()
        self.seen_log.clear()

    def replace_row(self, row: int, info: NodeInfo) -> None:
        """Bring one row level with a newer info of the same node, which becomes the snapshot's own."""
        old = self.infos[row]
        self.infos[row] = info
        self._owned.discard(row)
        if old.node is not info.node or not info.requested.keys() <= self._resource_columns.keys():
            self._grow_columns(info)
        if old.node is not info.node:
            self._write_node(row, info)
            for compute, column in self._node_columns.values():
                column[row] = compute(info)
            self.node_log.append(row)
        if old.requested is not info.requested:
            if not old.requested.keys() <= info.requested.keys():
                self.requested[:, row] = 0
            self._write_pods(row, info)
            self.pod_log.append(row)
            if self._pods is not None:
                self._pods.replace(row, old.pods, info.pods)
        elif old.pods is not info.pods:
            # A pod was confirmed: all count as before.
            self.seen_log.append(row)
        self._bound_log()

    def _bound_log(self) -> None:
        if len(self.node_log) + len(self.pod_log) + len(self.seen_log) > LOG_ROWS_MAX:
            self._reset_log()

    def _grow_columns(self, info: NodeInfo) -> None:
        before = len(self._resource_columns)
        for resources in (info.allocatable, info.requested):
            for resource in resources:
                if resource not in self._resource_columns:
                    self._resource_columns[resource] = len(self._resource_columns)
        more = len(self._resource_columns) - before
        if more:
            empty = np.zeros((more, len(self.infos)), dtype=np.int64)
            self.allocatable = np.vstack((self.allocatable, empty))
            self.requested = np.vstack((self.requested, empty))

    def _write_node(self, row: int, info: NodeInfo) -> None:
        columns = self._resource_columns
        self.allocatable[:, row] = 0
        for resource, number in info.allocatable.items():
            self.allocatable[columns[resource], row] = number
        sizes = info.allocatable
        self.pod_limit[row] = sizes.get("pods", 0)
        self.pairs[ALLOCATABLE, 0, row], self.pairs[ALLOCATABLE, 1, row] = sizes.get("cpu", 0), sizes.get("memory", 0)
        self._write_left(row, info)
        self._floors.clear()

    def _write_left(self, row: int, info: NodeInfo) -> None:
        sizes, pairs = info.allocatable, self.pairs
        pairs[LEFT, 0, row] = SHARE * (sizes.get("cpu", 0) - info.non_zero_cpu)
        pairs[LEFT, 1, row] = SHARE * (sizes.get("memory", 0) - info.non_zero_memory)

    def _write_pods(self, row: int, info: NodeInfo) -> None:
        columns, taken, requested = self._resource_columns, info.requested, self.requested
        for resource, number in taken.items():
            requested[columns[resource], row] = number
            if not 0 <= number <= ORDINARY_MAX:
                self.is_ordinary = False
        cpu, memory, count = info.non_zero_cpu, info.non_zero_memory, len(info.pods)
        if not (0 <= cpu <= ORDINARY_MAX and 0 <= memory <= ORDINARY_MAX):
            self.is_ordinary = False
        non_zero, real = self.non_zero, self.pairs[REQUESTED]
        non_zero[0, row], non_zero[1, row] = cpu, memory
        real[0, row], real[1, row] = taken.get("cpu", 0), taken.get("memory", 0)
        self._write_left(row, info)
        self.pod_count[row] = count
        floors, size = self._floors, info.allocatable
        for resource, floor in floors.items():
            left = size.get("pods", 0) - count if resource == PLACES else size.get(resource, 0) - taken.get(resource, 0)
            if left < floor:
                floors[resource] = left

    def add_pod(self, row: int, pod: PodInfo) -> None:
        """Count one more pod on a row of a dry run's snapshot."""
        info = self._own(row)
        before = info.pods
        info.add_pod(pod)
        self._pods_changed(row, info, before)

    def remove_pod(self, row: int, uid: str) -> None:
        """Stop counting a pod on a row of a dry run's snapshot.

        Raises:
            KeyError: the pod is not there.
        """
        info = self._own(row)
        before = info.pods
        info.remove_pod(uid)
        self._pods_changed(row, info, before)

    def _own(self, row: int) -> NodeInfo:
        """Return a row's info for changing: rows of a dry run are shared with its origin until the first change."""
        if row not in self._owned:
            self._owned.add(row)
            self.infos[row] = self.infos[row].clone()
        return self.infos[row]

    def _pods_changed(self, row: int, info: NodeInfo, before: tuple[PodInfo, ...]) -> None:
        if self._pods is not None:
            self._pods.replace(row, before, info.pods)
        if not info.requested.keys() <= self._resource_columns.keys():
            self._grow_columns(info)
        self._write_pods(row, info)
        self.pod_log.append(row)
        self._bound_log()

    def what_if(self, rows: Sequence[int]) -> Snapshot:
        """Return a snapshot of only these rows, in this order, to add and remove pods on."""
        trial = _Trial(self.infos[row] for row in rows)
        if self.origin is None:
            trial.origin = (self, rows)
        else:
            origin, own = self.origin
            trial.origin = (origin, [own[row] for row in rows])
        return trial

    # Reading.

    def allocatable_of(self, resource: str, rows: Rows) -> Ints:
        """Return (K,) allocatable amounts, 0 for a resource that no node has."""
        column = self._resource_columns.get(resource)
        return self._zeros(rows) if column is None else self.allocatable[column][rows]

    def pairs_of(self, rows: Rows, which: int) -> NDArray[np.float64]:
        """Return (2, K) doubles of cpu and memory: ALLOCATABLE, REQUESTED or LEFT; treat them as frozen."""
        pairs: NDArray[np.float64] = self.pairs[which]
        if isinstance(rows, slice):
            return pairs
        # A sample is one stretch of the rows, most often: that needs no copy.
        stretch = self._stretch_of(rows)
        return pairs.take(rows, axis=1) if stretch is None else pairs[:, stretch]

    def _stretch_of(self, rows: NDArray[np.intp]) -> slice | None:
        """Return ascending rows as one stretch; None: they are several. Asked a few times about those of a cycle."""
        known, stretch = self._stretch
        if known is not rows:
            count = len(rows)
            together = count > 0 and rows[-1] - rows[0] == count - 1
            stretch = slice(int(rows[0]), int(rows[-1]) + 1) if together else None
            self._stretch = rows, stretch
        return stretch

    def sizes_of(self, resource: str) -> tuple[int, int]:
        """Return the smallest and the largest allocatable amount on any node, (0, 0) where no node has any."""
        return self.of_nodes(("sizes", resource), lambda: self._sizes(resource))

    def _sizes(self, resource: str) -> tuple[int, int]:
        column = self._resource_columns.get(resource)
        every = None if column is None or not self.infos else self.allocatable[column]
        return (0, 0) if every is None else (int(every.min()), int(every.max()))

    def fits_everywhere(self, resource: str, amount: int) -> bool:
        """Return whether every node has so much left of a resource (`PLACES`: so many places); False: perhaps not all.

        The least that any node has left is remembered and only lowered as pods come, so mostly nothing is looked at.
        """
        if not self.is_ordinary or not self.infos:
            return False
        floor = self._floors.get(resource)
        if floor is None or floor < amount:
            if resource == PLACES:
                floor = int(np.minimum.reduce(self.pod_limit - self.pod_count))
            else:
                column = self._resource_columns.get(resource)
                if column is None:
                    return False
                floor = int(np.minimum.reduce(self.allocatable[column] - self.requested[column]))
            self._floors[resource] = floor
        return floor >= amount

    def requested_of(self, resource: str, rows: Rows) -> Ints:
        """Return (K,) requested amounts."""
        column = self._resource_columns.get(resource)
        return self._zeros(rows) if column is None else self.requested[column][rows]

    def _zeros(self, rows: Rows) -> Ints:
        return np.zeros(self.count(rows), dtype=np.int64)

    def count(self, rows: Rows) -> int:
        """Return how many rows are meant."""
        return len(self.infos) if isinstance(rows, slice) else len(rows)

    def infos_of(self, rows: Rows) -> Sequence[NodeInfo]:
        """Return the infos of the rows."""
        return self.infos if isinstance(rows, slice) else [self.infos[row] for row in rows.tolist()]

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Return the node names by row as one value, made once for each set of rows."""
        return tuple(self.names)

    @cached_property
    def by_name(self) -> NameOrder:
        """Return the rows in order of their names, made once for each set of rows."""
        return NameOrder(self.names)

    def node_column(self, key: Hashable, compute: Callable[[NodeInfo], int]) -> Ints:
        """Return (N,) int64 of a value that follows from the Node object alone, kept level from now on.

        Args:
            key: names the column; the same key always means the same function.
            compute: NodeInfo → int, reading nothing but the Node object.
        """
        found = self._node_columns.get(key)
        if found is None:
            if len(self._node_columns) >= NODE_COLUMNS_MAX:
                self._node_columns.clear()
            column = np.fromiter(map(compute, self.infos), dtype=np.int64, count=len(self.infos))
            found = self._node_columns[key] = (compute, column)
        return found[1]

    def of_nodes(self, key: Hashable, work_out: Callable[[], _Fact]) -> _Fact:
        """Return what follows from the Node objects of all nodes, worked out once while they stay as they are.

        Args:
            key: names it; the same key always means the same.
            work_out: called where it is not known.
        """
        level = (self.epoch, len(self.node_log))
        facts = self._of_nodes
        if self._of_nodes_level != level or len(facts) > NODE_COLUMNS_MAX:
            self._of_nodes_level = level
            facts.clear()
        if key not in facts:
            facts[key] = work_out()
        found: _Fact = facts[key]
        return found

    # Topology and pods.

    def topology(self, key: str) -> Ints:
        """Return (N,) ids of a label's values: NO_VALUE, EMPTY_VALUE, then the others by first appearance.

        Ids are dense, stay the same while the rows do, and are those of the origin in a dry run's snapshot.
        """
        if self.origin is not None:
            origin, rows = self.origin
            return origin.topology(key)[np.asarray(rows, dtype=np.intp)]
        ids = self._topology_ids.setdefault(key, {"": EMPTY_VALUE})

        def number(info: NodeInfo) -> int:
            value = info.labels.get(key)
            return NO_VALUE if value is None else ids.setdefault(value, len(ids) + 1)

        return self.node_column(("topology", key), number)

    def topology_size(self, key: str) -> int:
        """Return how many ids `topology` may hold, NO_VALUE included: the length of an array indexed by them."""
        if self.origin is not None:
            return self.origin[0].topology_size(key)
        self.topology(key)
        return len(self._topology_ids[key]) + 1

    def topology_values(self, key: str) -> Mask:
        """Return (`topology_size`,) which ids any node has; treat it as frozen."""
        return self.of_nodes(("values", key), lambda: self._values(key))

    def _values(self, key: str) -> Mask:
        values = np.zeros(self.topology_size(key), dtype=np.bool_)
        values[self.topology(key)] = True
        return values

    def topology_is_single(self, key: str) -> bool:
        """Return whether no two nodes have one value of a topology label, and every node has one."""
        return self.of_nodes(("single", key), lambda: self._is_single(key))

    def _is_single(self, key: str) -> bool:
        numbers = np.bincount(self.topology(key), minlength=NO_VALUE + 1)
        return int(numbers.max(initial=0)) <= 1 and not numbers[NO_VALUE]

    def pod_column(self, key: Hashable, compute: Callable[[NodeInfo], int]) -> Ints:
        """Return (N,) int64 of a value that follows from the pods on a node, brought level; treat it as frozen.

        Args:
            key: names the column; the same key always means the same function.
            compute: NodeInfo → int, reading nothing but the pods' sums and kin: what stays when one is confirmed.
        """
        found = self._pod_columns.get(key)
        if found is None:
            found = self._pod_columns[key] = PodColumn(compute)
            if len(self._pod_columns) > POD_COLUMNS_MAX:
                self._pod_columns.popitem(last=False)
        else:
            self._pod_columns.move_to_end(key)
        return found.level(self.infos, self.epoch, self.pod_log)

    @property
    def pods(self) -> PodIndex:
        """Return which pods are where; made when first asked for, and kept level from then on."""
        if self._pods is None:
            self._pods = PodIndex(self.infos)
        return self._pods


def at(column: Ints, snapshot: Snapshot, rows: Rows) -> Ints:
    """Return (K,) a column's numbers of the rows; treat it as frozen."""
    return column if rows is snapshot.every_row else column[rows]


_MADE_LATE: Final = frozenset(
    {"_resource_columns", "allocatable", "requested", "non_zero", "pod_count", "pod_limit", "pairs", "_floors"}
)


class _Trial(Snapshot):
    """A dry run's snapshot: its resource columns are made when first read, which filters on few rows never do."""

    def rebuild(self, infos: Iterable[NodeInfo]) -> None:
        self._set_rows(infos)

    def __getattr__(self, name: str) -> Any:
        if name not in _MADE_LATE:
            raise AttributeError(name)
        self._make_columns()
        return self.__dict__[name]

    def _pods_changed(self, row: int, info: NodeInfo, before: tuple[PodInfo, ...]) -> None:
        if "requested" in self.__dict__ or self._pods is not None:
            super()._pods_changed(row, info, before)
        else:
            self.pod_log.append(row)
            self._bound_log()
