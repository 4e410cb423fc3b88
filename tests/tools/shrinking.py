"""Making a failure small: parts are taken out as long as what is left fails alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_Step = TypeVar("_Step")


def fewest(steps: Sequence[_Step], failing: Callable[[Sequence[_Step]], int | None], *, steps_max: int) -> list[_Step]:
    """Return fewer steps that fail as well, by taking out ever smaller parts.

    Args:
        steps: they fail.
        failing: runs steps and returns the index of the one after which they failed in the wanted way; None: not so.
        steps_max: how many it may run in all before it is content with what it has.
    """
    left, spent = list(steps), 0
    part = max(1, len(left) // 2)
    while True:
        begin = 0
        before = len(left)
        while begin < len(left):
            candidate = left[:begin] + left[begin + part :]
            spent += len(candidate)
            if spent > steps_max:
                return left
            failed = failing(candidate)
            if failed is None:
                begin += part
            else:
                left = candidate[: failed + 1]
        if part == 1 and len(left) == before:
            return left
        part = max(1, part // 2)
