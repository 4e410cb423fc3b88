"""Completion indexes of Indexed Jobs, as sets of whole numbers and as the text `0,1,4-7`.

Source: pkg/controller/job/indexed_job_utils.go and pkg/apis/batch/validation (validateIndexesFormat), v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


def read(text: str | None, completions: int) -> set[int]:
    """Return the indexes below `completions` that a text names; parts that cannot be read are passed over."""
    found: set[int] = set()
    for part in (text or "").split(","):
        first, _, last = part.partition("-")
        if not _NUMBER.fullmatch(first) or (last and not _NUMBER.fullmatch(last)):
            continue
        found.update(range(max(0, int(first)), min(int(last or first), completions - 1) + 1))
    return found


def written(indexes: Iterable[int]) -> str:
    """Return indexes as text: runs of three and more as `4-7`."""
    listed = sorted(indexes)
    if not listed:
        return ""
    starts = [listed[0], *(later for before, later in pairwise(listed) if later != before + 1)]
    ends = [*(before for before, later in pairwise(listed) if later != before + 1), listed[-1]]
    return ",".join(_interval(first, last) for first, last in zip(starts, ends, strict=True))


def _interval(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first},{last}" if last == first + 1 else f"{first}-{last}"


def wrong(text: str, completions: int) -> tuple[str, int]:
    """Return (what is wrong with a text of indexes, or nothing; how many it names)."""
    if not text:
        return "", 0
    total, before = 0, -1
    for part in text.split(","):
        limits = part.split("-")
        if len(limits) > 2:
            why = f'the fragment "{part}" violates the requirement that an index interval can have at most two parts'
            return f"{why} separated by '-'", 0
        for limit in limits:
            if not _NUMBER.fullmatch(limit):
                return f'cannot convert string to integer for index: "{limit}"', 0
            if int(limit) >= completions:
                return f'too large index: "{limit}"', 0
        for limit in limits:
            if total and int(limit) <= before:
                return f"non-increasing order, previous: {before}, current: {int(limit)}", 0
            total += 1 if limit is limits[0] else int(limit) - before
            before = int(limit)
    return "", total
