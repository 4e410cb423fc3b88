"""One plugin's weight changed alone: past decisions whose scores are known need no engine for it, only sums.

What a plugin says of a node, normalized, hangs on no weight. So a total under another weight is the total without the
plugin's part, and the part anew; who wins, and by which lot among equals, follows as in the cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from controllers.log.store import Gone
from controllers.scheduler.decisions import whole
from controllers.scheduler.past import Past
from scheduler_core.api.document import Document
from scheduler_core.api.draw import draw_lot

WEIGHTS: Final = (0, 1, 2, 3, 4, 5)
"""What each plugin's weight is thought to be."""


class Alone(NamedTuple):
    """One decision.

    Attributes:
        moved: plugin → for each of `WEIGHTS` whether the pod would have gone elsewhere; plugins that scored.
        idle: plugins that had nothing to say of the pod: no weight of theirs moves it.
        scored: False where fewer than two nodes were feasible: no weight at all moves the pod.
    """

    moved: Mapping[str, Sequence[bool]]
    idle: frozenset[str] = frozenset()
    scored: bool = True


def alone(past: Past, envelope: Mapping[str, Any], blob: bytes) -> Alone:
    """Return what each plugin's weight, changed alone, would have done to a decision.

    Args:
        past: the session, at any revision.
        envelope: as `Store.newest_traces` gave it.
        blob: the same.

    Raises:
        Gone: what it saw is no longer kept.
    """
    result = whole(past, envelope, blob).get("result")
    if result is None:
        raise Gone
    scores = result.get("scores")
    if scores is None:
        return Alone({}, scored=False)
    names: list[str] = scores["nodes"]
    total = np.array(scores["total"], dtype=np.int64)
    moved: dict[str, list[bool]] = {}
    for plugin, part in scores["plugins"].items():
        others = total - np.array(part["weighted"], dtype=np.int64)
        normalized = np.array(part["normalized"], dtype=np.int64)
        moved[plugin] = [
            _winner(past.store.seed, envelope, names, others + weight * normalized) != result.get("chosen")
            for weight in WEIGHTS
        ]
    return Alone(moved, frozenset(scores.get("skip") or ()))


def _winner(seed: int, envelope: Mapping[str, Any], names: Sequence[str], total: np.typing.NDArray[np.int64]) -> str:
    best = sorted(names[row] for row in np.flatnonzero(total == total.max()).tolist())
    if len(best) == 1:
        return best[0]
    return best[draw_lot(seed, envelope["uid"], envelope["attempt"], below=len(best))]


def summed(decisions: Iterable[Alone]) -> list[Document]:
    """Return, for each plugin in order of name, how many decisions each weight would have moved.

    `decided` counts those that the weight could be asked of: a plugin that did not score in a profile is no part of it.
    """
    taken = list(decisions)
    rows: list[Document] = []
    for plugin in sorted({plugin for one in taken for plugin in one.moved.keys() | one.idle}):
        told = [one.moved[plugin] for one in taken if plugin in one.moved]
        still = sum(not one.scored or plugin in one.idle for one in taken)
        elsewhere = [sum(column) for column in zip(*told, strict=True)] if told else [0] * len(WEIGHTS)
        rows.append({"plugin": plugin, "decided": len(told) + still, "elsewhere": elsewhere})
    return rows
