"""Placements as an integer program: columns, rows, and the way back.

Pods that no term can tell apart from others of their shape are one column a node that counts them; each of the others
has a column of its own a node. Which pods may be where at all is asked of the filters, one pod alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import highspy
import numpy as np

from scheduler_core.api.node import Node
from scheduler_core.model.affinity import p_affinity, viability
from scheduler_core.model.deviations import TODAY
from scheduler_core.model.filters import FILTERS
from scheduler_core.model.objects import Objects
from scheduler_core.model.placement import Placement
from scheduler_core.plugins.node_ports import conflicts
from scheduler_core.snapshot.affinity_terms import AffinityTerm
from scheduler_core.snapshot.node_info import PodInfo

_ALONE: Final = [holds for section, holds in FILTERS.items() if section != "1.5 pod"]
"""Filters that more pods nearby can only make stricter: a node that fails them now fails them in every placement."""

Row = Mapping[int, float]

_SLACK: Final = 1e-6


class Program:
    """The program of some pods over a cluster without them.

    Attributes:
        score: (columns,) what each column adds to the sum of Viability.
    """

    def __init__(self, pods: Sequence[PodInfo], objects: Objects) -> None:
        """Write the program down."""
        self._objects = objects
        self._groups = _grouped(pods, objects)
        self._upper: list[float] = []
        self._whole: list[bool] = []
        self._worth: list[float] = []
        self._rows: list[tuple[float, Row, float]] = []
        self._at: list[dict[str, int]] = []
        """By group: node name → column, for the nodes where its pods may be."""
        for group in self._groups:
            self._at.append(self._place_group(group))
        for group, columns in zip(self._groups, self._at, strict=True):
            self._add_row(dict.fromkeys(columns.values(), 1.0), most=len(group))
        self._limit_resources()
        self._single = [index for index, group in enumerate(self._groups) if len(group) == 1]
        for index in self._single:
            self._keep_near(index)
            self._keep_apart(index)
            self._like(index)
        self.columns = len(self._upper)
        self.score = np.array(self._worth)

    def _add_column(self, most: float, worth: float = 0.0, *, whole: bool = True) -> int:
        self._upper.append(most)
        self._worth.append(worth)
        self._whole.append(whole)
        return len(self._upper) - 1

    def _add_row(self, row: Row, *, least: float = -highspy.kHighsInf, most: float = highspy.kHighsInf) -> None:
        if row:
            self._rows.append((least, row, most))

    def _place_group(self, group: Sequence[PodInfo]) -> dict[str, int]:
        first, objects = group[0], self._objects
        if first.terms.error:
            return {}
        return {
            node.name: self._add_column(len(group), viability(first, node, objects))
            for node in objects.nodes
            if all(holds(first, node, objects, TODAY) for holds in _ALONE)
        }

    def _limit_resources(self) -> None:
        for node in self._objects.nodes:
            free = self._objects.free(node)
            sums: dict[str, dict[int, float]] = defaultdict(dict)
            for group, columns in zip(self._groups, self._at, strict=True):
                column = columns.get(node.name)
                if column is None:
                    continue
                sums["pods"][column] = 1.0
                for resource, amount in group[0].requests.items():
                    if amount:
                        sums[resource][column] = float(amount)
            for resource, row in sums.items():
                scale = max(row.values())
                most = free.get(resource, 0) / scale
                self._add_row({column: amount / scale for column, amount in row.items()}, most=most)

    # Terms. `others` are the columns of pods that a term means, by node.

    def _others(self, index: int, terms: Sequence[AffinityTerm], key: str) -> Mapping[str, dict[int, float]]:
        """Return the topology label's value → columns of the other pods that all the terms mean, each with 1."""
        found: dict[str, dict[int, float]] = defaultdict(dict)
        for other in self._single:
            if other == index or not all(self._means(term, self._groups[other][0]) for term in terms):
                continue
            for name, column in self._at[other].items():
                value = self._objects.node_of[name].metadata.labels.get(key)
                if value is not None:
                    found[value][column] = 1.0
        return found

    def _means(self, term: AffinityTerm, pod: PodInfo) -> bool:
        namespace = pod.pod.namespace
        return term.matches(namespace, pod.pod.metadata.labels, self._objects.namespaces.get(namespace, {}))

    def _keep_near(self, index: int) -> None:
        """Required affinity: be where a pod is that all terms mean, or be the first of the kind."""
        pod, terms = self._groups[index][0], self._groups[index][0].terms.affinity
        if not terms:
            return
        keys = {term.topology_key for term in terms}
        first: int | None = None
        anybody = any(
            place.metadata.labels.keys() & keys and all(self._means(term, other) for term in terms)
            for other, place in self._objects.placed
        )
        if not anybody and all(self._means(term, pod) for term in terms):
            first = self._add_column(1)
            for key in keys:
                for columns in self._others(index, terms, key).values():
                    for column in columns:
                        self._add_row({first: 1.0, column: 1.0}, most=1)
        for term in terms:
            near = self._others(index, terms, term.topology_key)
            for name, column in self._at[index].items():
                node = self._objects.node_of[name]
                value = node.metadata.labels.get(term.topology_key)
                if value is None:
                    self._add_row({column: 1.0}, most=0)
                elif not p_affinity(term, node, self._objects, terms):
                    row = {column: 1.0, **dict.fromkeys(near.get(value, {}), -1.0)}
                    self._add_row(row | ({} if first is None else {first: -1.0}), most=0)

    def _keep_apart(self, index: int) -> None:
        """Required anti-affinity and host ports, against the other pods that are to be placed."""
        pod = self._groups[index][0]
        for term in pod.terms.anti_affinity:
            for other in self._single:
                if other != index and self._means(term, self._groups[other][0]):
                    self._exclude(index, other, self._places(term.topology_key))
        for other in self._single:
            if other > index and conflicts(pod.host_ports, self._groups[other][0].host_ports):
                self._exclude(index, other, [[node] for node in self._objects.nodes])

    def _places(self, key: str) -> list[list[Node]]:
        found: dict[str, list[Node]] = defaultdict(list)
        for node in self._objects.nodes:
            value = node.metadata.labels.get(key)
            if value is not None:
                found[value].append(node)
        return list(found.values())

    def _exclude(self, one: int, other: int, places: Iterable[Sequence[Node]]) -> None:
        for nodes in places:
            row = {
                columns[node.name]: 1.0
                for columns in (self._at[one], self._at[other])
                for node in nodes
                if node.name in columns
            }
            self._add_row(row, most=1)

    def _like(self, index: int) -> None:
        """Preferred terms: a column a place that is 1 where the pod and one that the term means are both there."""
        pod = self._groups[index][0]
        for weight, term in (*pod.terms.preferred, *pod.terms.preferred_anti):
            others = self._others(index, (term,), term.topology_key)
            for nodes in self._places(term.topology_key):
                value = nodes[0].metadata.labels[term.topology_key]
                own = {self._at[index][node.name]: -1.0 for node in nodes if node.name in self._at[index]}
                if not own or value not in others or p_affinity(term, nodes[0], self._objects):
                    continue
                both = self._add_column(1, weight, whole=False)
                self._add_row({both: 1.0, **own}, most=0)
                self._add_row({both: 1.0, **dict.fromkeys(others[value], -1.0)}, most=0)

    # What the solver takes, and what it gave.

    def count_of(self, priority: int) -> np.ndarray:
        """Return (columns,) with 1 for every column that counts pods of the priority."""
        aim = np.zeros(self.columns)
        for group, columns in zip(self._groups, self._at, strict=True):
            if group[0].priority == priority:
                aim[list(columns.values())] = 1.0
        return aim

    def most(self, aim: np.ndarray) -> float:
        """Return a sum that no solution exceeds: every pod where it counts most, every other column at its bound."""
        left = np.maximum(aim, 0.0)
        total = 0.0
        for group, columns in zip(self._groups, self._at, strict=True):
            mine = list(columns.values())
            total += len(group) * float(left[mine].max(initial=0.0))
            left[mine] = 0.0
        return total + float(left @ np.array(self._upper))

    def at_least(self, aim: np.ndarray, least: int) -> None:
        """Demand from now on that the sum stays as high."""
        self._add_row({int(column): float(aim[column]) for column in np.flatnonzero(aim)}, least=least)

    def model(self, aim: np.ndarray) -> highspy.HighsLp:
        """Return the program with this sum to be maximised."""
        program = highspy.HighsLp()
        program.sense_ = highspy.ObjSense.kMaximize
        program.num_col_, program.num_row_ = self.columns, len(self._rows)
        program.col_cost_ = aim
        program.col_lower_ = np.zeros(self.columns)
        program.col_upper_ = np.array(self._upper)
        kinds = {True: highspy.HighsVarType.kInteger, False: highspy.HighsVarType.kContinuous}
        program.integrality_ = [kinds[whole] for whole in self._whole]
        program.row_lower_ = np.array([least for least, _, _ in self._rows])
        program.row_upper_ = np.array([most for _, _, most in self._rows])
        lengths = [len(row) for _, row, _ in self._rows]
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        program.a_matrix_.index_ = np.array([column for _, row, _ in self._rows for column in row], dtype=np.int32)
        program.a_matrix_.value_ = np.array([factor for _, row, _ in self._rows for factor in row.values()])
        return program

    def holds(self, values: np.ndarray) -> bool:
        """Return whether values are whole where they must be and satisfy every row."""
        whole = np.array(self._whole, dtype=bool)
        if np.abs(values[whole] - np.round(values[whole])).max(initial=0) > _SLACK:
            return False
        sums = ((least, sum(factor * values[column] for column, factor in row.items()), most)
                for least, row, most in self._rows)  # fmt: skip
        return all(least - _SLACK <= found <= most + _SLACK for least, found, most in sums)

    def placement(self, values: np.ndarray) -> Placement:
        """Return which pod is where; equal pods are taken in order."""
        found: dict[str, str] = {}
        for group, columns in zip(self._groups, self._at, strict=True):
            names = [name for name, column in columns.items() for _ in range(round(float(values[column])))]
            found |= {pod.uid: name for pod, name in zip(group, names, strict=False)}
        return found


def _grouped(pods: Sequence[PodInfo], objects: Objects) -> list[list[PodInfo]]:
    """Return the pods in groups that the program need not tell apart, in the order of their first pods."""
    terms = [
        term
        for pod in pods
        for term in (
            *pod.terms.affinity,
            *pod.terms.anti_affinity,
            *(term for _, term in (*pod.terms.preferred, *pod.terms.preferred_anti)),
        )
    ]
    groups: dict[bytes | str, list[PodInfo]] = {}
    for pod in pods:
        namespace = pod.pod.namespace
        labels, theirs = pod.pod.metadata.labels, objects.namespaces.get(namespace, {})
        own = pod.terms.affinity or pod.terms.anti_affinity or pod.terms.preferred or pod.terms.preferred_anti
        alone = own or pod.host_ports or any(term.matches(namespace, labels, theirs) for term in terms)
        key: bytes | str = pod.uid if alone else pod.placed("").shape
        groups.setdefault(key, []).append(pod)
    return list(groups.values())
