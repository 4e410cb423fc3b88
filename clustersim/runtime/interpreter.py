"""Which Python `.venv` is made with: `python3`, or the system's own where that one is clearly faster.

    python3 clustersim/runtime/interpreter.py

prints its path, and says on the error output why where it is another. A Python that somebody has compiled without
profile-guided optimization (as version managers do) takes up to twice as long for plain Python, and a session a quarter
more of a processor.
It is run before anything is installed, maybe by a Python that is too old: it needs nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import NamedTuple

SYSTEMS = ("/opt/homebrew/bin/python3",) if sys.platform == "darwin" else ("/usr/bin/python3", "/usr/local/bin/python3")
"""Where systems keep the Python that their makers have built (Apple's own is a stub that asks to install it)."""

OLDEST = (3, 11)

CLEARLY = 1.2
"""A Python is taken for another where it is so many times as fast: less may be chance, and costs a surprise."""

ROUNDS = 3

PROBE = """
import json, sys, time
try:
    import ensurepip, venv
    makes = True
except ImportError:
    makes = False
class Thing:
    __slots__ = ("number",)
    def __init__(self, number):
        self.number = number
    def next(self):
        return self.number + 1
def work():
    counts = {}
    for number in range(40000):
        counts[number % 1000] = counts.get(number % 1000, 0) + Thing(number).next()
    return counts
spent = []
for _ in range(3):
    began = time.process_time()
    work()
    spent.append(time.process_time() - began)
print(json.dumps([sys.version_info[:3], makes, min(spent)]))
"""
"""Objects, methods and tables, as the loop of a cluster has them; some twenty milliseconds a time."""


class Found(NamedTuple):
    """What a Python told of itself: `makes` is whether it makes virtual environments, `seconds` what the probe took."""

    path: str
    version: tuple[int, ...]
    makes: bool
    seconds: float

    @property
    def is_of_use(self) -> bool:
        """Return whether `.venv` can be made with it."""
        return self.makes and self.version >= OLDEST


def ask(path: str) -> Found | None:
    """Return what the Python at a path tells of itself; None where none answers."""
    try:
        told = subprocess.run(
            [path, "-I", "-c", PROBE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=True
        )
        version, makes, seconds = json.loads(told.stdout.decode())
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Found(path, tuple(version), makes, seconds)


def measured(paths: list[str]) -> list[Found]:
    """Return what the Pythons at these paths tell, in turn more than once: the least that each took is its time."""
    least: dict[str, Found] = {}
    for path in paths * ROUNDS:
        found = ask(path)
        if found is not None and (path not in least or found.seconds < least[path].seconds):
            least[path] = found
    return list(least.values())


def chosen(own: Found, others: list[Found]) -> Found:
    """Return the Python to take.

    Others are taken for nothing but speed: one that is newer than `python3` may have no packages yet. A `python3` that
    is of no use gives way to any that is.
    """
    best = own
    for other in others:
        is_faster = other.version[:2] <= own.version[:2] and best.seconds >= CLEARLY * other.seconds
        if other.is_of_use and (is_faster or not best.is_of_use):
            best = other
    return best


def main() -> None:
    """Print the path of the Python to take."""
    paths: dict[str, str] = {}
    for path in (sys.executable, *SYSTEMS):
        if os.path.exists(path):
            paths.setdefault(os.path.realpath(path), path)
    own, *others = measured(list(paths.values()))
    best = chosen(own, others)
    if best is not own:
        sys.stderr.write(_why(own, best) + "\n")
    sys.stdout.write(best.path + "\n")


def _why(own: Found, best: Found) -> str:
    taken, beside = (f"{one.path} ({'.'.join(map(str, one.version))})" for one in (best, own))
    if not own.is_of_use:
        return f"Taking {taken}: {beside} is too old or lacks its venv module"
    return f"Taking {taken}: it runs plain Python {own.seconds / best.seconds:.1f} times as fast as {beside}"


if __name__ == "__main__":
    main()
