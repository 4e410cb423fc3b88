"""In which order the files of tests are begun when several processes run them; `make py` hands out whole files.

Files that start servers and browsers mostly wait, the others compute: beside each other they leave no processor idle,
one after the other they do. So of both kinds the same share is begun at any time. Of each kind the longest come first,
that none is begun last while the other processes have nothing left to do.

`longest.txt` has what files took, in seconds; a file that it lacks is short. What is wrong in it costs a minute, no
more. `python -m tests.tools.order JUNIT.xml` writes it anew from `make py PYTEST_ARGS=--junitxml=JUNIT.xml`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LONGEST = Path(__file__).with_name("longest.txt")

LONG_SECONDS = 3
"""Files that take less are not named."""

SHORT_SECONDS = 1
"""What a file counts for that is not named."""

SERVING = frozenset({"live_server_up", "server_tool", "chromium"})
"""Fixtures of tests that wait for processes which they start."""


def begun(files: Iterable[str], waiting: frozenset[str], seconds: Mapping[str, float]) -> list[str]:
    """Return files in the order in which to begin them.

    Args:
        files: each once.
        waiting: those of them that mostly wait.
        seconds: what files took.
    """
    places: list[tuple[float, str]] = []
    kinds: dict[bool, list[str]] = {True: [], False: []}
    for file in files:
        kinds[file in waiting].append(file)
    for kind in kinds.values():
        kind.sort(key=lambda file: (-seconds.get(file, SHORT_SECONDS), file))
        total = sum(seconds.get(file, SHORT_SECONDS) for file in kind)
        past = 0.0
        for file in kind:
            places.append((past / total, file))
            past += seconds.get(file, SHORT_SECONDS)
    return [file for _, file in sorted(places)]


def arranged(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return tests with their files in that order; those of a file stay as they are."""
    file_of = {item: item.nodeid.partition("::")[0] for item in items}
    waiting = frozenset(file_of[item] for item in items if _waits(item))
    places = {file: place for place, file in enumerate(begun(dict.fromkeys(file_of.values()), waiting, longest()))}
    return sorted(items, key=lambda item: places[file_of[item]])


def _waits(item: pytest.Item) -> bool:
    return not SERVING.isdisjoint(getattr(item, "fixturenames", ())) or item.nodeid.startswith("tests/faults/")


def longest() -> dict[str, float]:
    """Return file → seconds."""
    lines = (line.split() for line in LONGEST.read_text().splitlines())
    return {file: float(seconds) for seconds, file in lines}


def taken(report: str) -> dict[str, float]:
    """Return file → seconds as a JUnit report tells, of the long ones."""
    found: Counter[str] = Counter()
    for case in ElementTree.fromstring(report).iter("testcase"):
        # A class of tests comes after the module.
        parts = [part for part in case.get("classname", "").split(".") if part[:1].islower()]
        found["/".join(parts) + ".py"] += float(case.get("time", "0"))  # type: ignore[assignment]
    return {file: seconds for file, seconds in found.most_common() if seconds >= LONG_SECONDS}


if __name__ == "__main__":
    lines = [f"{seconds:.0f} {file}\n" for file, seconds in taken(Path(sys.argv[1]).read_text()).items()]
    LONGEST.write_text("".join(lines))
