"""Node selector terms judged column by column, for whoever filters or scores by labels of nodes.

A label key is a column of interned values, a condition is judged once per distinct value, and a term is the conjunction
of its conditions' masks.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from scheduler_core.api.selectors import CompiledTerm, Requirement
from scheduler_core.snapshot.node_info import NodeInfo
from scheduler_core.snapshot.required_affinity import Required, Terms
from scheduler_core.snapshot.snapshot import Mask, Rows, Snapshot


class LabelColumns:
    """Label values as numbers; one for each plugin that asks."""

    def __init__(self) -> None:
        self._values: dict[str, int] = {}
        self._texts: list[str] = [""]

    def _value_id(self, key: str, info: NodeInfo) -> int:
        """Return the number of the label's value, 0 where the label is absent."""
        value = info.labels.get(key)
        if value is None:
            return 0
        found = self._values.get(value)
        if found is None:
            found = self._values[value] = len(self._texts)
            self._texts.append(value)
        return found

    def holds(self, condition: Requirement, snapshot: Snapshot, rows: Rows) -> Mask:
        """Return (K,) where the condition holds."""
        column = snapshot.node_column((id(self), condition.key), partial(self._value_id, condition.key))[rows]
        if len(column) == 1:
            number = int(column[0])
            return np.array([condition.matches_value(self._texts[number] if number else None)])
        distinct, where = np.unique(column, return_inverse=True)
        answers = [condition.matches_value(self._texts[number] if number else None) for number in distinct.tolist()]
        held: Mask = np.array(answers, dtype=np.bool_)[where]
        return held

    def term_holds(self, term: CompiledTerm, snapshot: Snapshot, rows: Rows) -> Mask:
        """Return (K,) where every condition of the term holds; nowhere if it is empty or cannot be read."""
        count = snapshot.count(rows)
        if term.empty or term.errors:
            return np.zeros(count, dtype=np.bool_)
        held = np.ones(count, dtype=np.bool_)
        for equal, name in term.names:
            names = (info.name == name for info in snapshot.infos_of(rows))
            held &= np.fromiter(names, dtype=np.bool_, count=count) == equal
        for condition in term.labels:
            held &= self.holds(condition, snapshot, rows)
        return held

    def any_holds(self, terms: Terms, snapshot: Snapshot, rows: Rows) -> Mask:
        """Return (K,) where any of the terms holds."""
        held = np.zeros(snapshot.count(rows), dtype=np.bool_)
        for term in terms:
            held |= self.term_holds(term, snapshot, rows)
        return held

    def required_holds(self, required: Required, snapshot: Snapshot, rows: Rows) -> Mask:
        """Return (K,) where the node has what a pod requires."""
        held = np.ones(snapshot.count(rows), dtype=np.bool_)
        for condition in required.selector:
            held &= self.holds(condition, snapshot, rows)
        if required.terms is not None:
            held &= self.any_holds(required.terms, snapshot, rows)
        return held
