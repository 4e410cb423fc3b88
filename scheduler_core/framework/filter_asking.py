"""Asking a filter: what is known of it beforehand, and what it raises is its answer, Error."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.guarded import WrongAnswerError
from scheduler_core.framework.interface import LOCAL, OF_ONE_NODE, FilterPlugin, Reads, shape_of
from scheduler_core.framework.status import Code, Status, error
from scheduler_core.framework.trial import FilterOfNode
from scheduler_core.framework.verdicts import Verdicts
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Rows, Snapshot

_ERROR: Final = int(Code.ERROR)
_ALLOWED: Final = np.array(
    [Code.SUCCESS, Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING, Code.ERROR]
)
"""What a Filter may answer."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter with what is asked about it once: looking that up is too slow for every pod."""

    plugin: FilterPlugin
    name: str
    reads: Reads
    is_local: bool
    """It looks at the node and its pods alone."""
    key: Callable[[PodInfo], Hashable]
    of_node: FilterOfNode | None
    """How to ask about one node, of one whose answer changes with the node's pods."""


def described(plugin: FilterPlugin) -> Filter:
    """Return what is known of a filter beforehand."""
    reads: Reads = getattr(plugin, "filter_reads", Reads.CLUSTER)
    way: FilterOfNode | None = getattr(plugin, "filter_node", None) if reads in OF_ONE_NODE else None
    return Filter(plugin, plugin.name, reads, reads in LOCAL, getattr(plugin, "filter_key", shape_of), way)


def ask_filter(plugin: FilterPlugin, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
    """Return a filter's verdicts on some rows; timed where the cycle's plugins are."""
    timing = state.timing
    began = 0 if timing is None else timing.timer()
    try:
        answer = plugin.filter(state, pod, snapshot, rows)
        if not _is_of_the_core(type(plugin)):
            answer = _checked(answer, snapshot.count(rows))
    except Exception as raised:
        answer = _ask_one_by_one(plugin, state, pod, snapshot, rows, raised)
    if timing is not None:
        timing.note(plugin.name, "Filter", Code.SUCCESS, began)
    return answer


def _ask_one_by_one(
    plugin: FilterPlugin, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows, raised: Exception
) -> Verdicts:
    """Return the verdicts of a plugin that raised over some rows: each row's own, Error where it raises there too."""
    every = snapshot.every_row[rows].tolist()
    statuses: list[Status] = []
    if len(every) == 1 or isinstance(raised, WrongAnswerError):
        statuses = [error(str(raised))] * len(every)
        every = []
    for row in every:
        try:
            statuses.append(plugin.filter(state, pod, snapshot, np.array([row], dtype=np.intp)).status(0))
        except Exception as own:
            statuses.append(error(str(own)))
    reasons = list(dict.fromkeys(status.reasons for status in statuses))
    number = {own: key for key, own in enumerate(reasons)}
    codes = np.array([status.code for status in statuses], dtype=np.int8)
    keys = np.array([number[status.reasons] for status in statuses], dtype=np.int64)
    return Verdicts(codes, keys, reasons.__getitem__, pieced=True)


@cache
def _is_of_the_core(plugin: type) -> bool:
    """Return whether a plugin's answers need not be looked at: the tests of the core's own have done that."""
    return plugin.__module__.startswith("scheduler_core.")


def _checked(answer: Verdicts, count: int) -> Verdicts:
    """Return verdicts in which whatever a Filter may not answer (Wait, Skip, an unknown code) is an Error.

    Raises:
        WrongAnswerError: it did not answer for every node.
    """
    if len(answer.codes) != count or len(answer.keys) != count:
        raise WrongAnswerError(f"{len(answer.codes)} verdicts and {len(answer.keys)} keys for {count} nodes")
    strange = ~np.isin(answer.codes, _ALLOWED)
    if strange.any():
        answer.codes[strange] = _ERROR
    return answer
