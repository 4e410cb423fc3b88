"""Which Python `.venv` is made with: `python3`, or the system's own where that one is clearly faster.

    python3 clustersim/runtime/interpreter.py

prints its path, and says on the error output why where it is another. A Python that somebody has compiled without
profile-guided optimization (as version managers do) takes up to 1.7 times as long for everything that Clustersim does.
It is run before anything is installed, maybe by a Python that is too old: it needs nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TypedDict, cast

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
for _ in range(5):
    began = time.process_time()
    work()
    spent.append(time.process_time() - began)
print(json.dumps({"version": list(sys.version_info[:3]), "makes": makes, "seconds": min(spent)}))
"""
"""Objects, methods and tables, as the loop of a cluster has them; some ten milliseconds a round."""


class Found(TypedDict):
    """What a Python told of itself: `makes` is whether it makes virtual environments, `seconds` what the probe took."""

    path: str
    version: list[int]
    makes: bool
    seconds: float


def ask(path: str) -> Found | None:
    """Return what the Python at a path tells of itself; None where none answers."""
    try:
        told = subprocess.run(
            [path, "-I", "-c", PROBE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=True
        )
        return cast("Found", {**json.loads(told.stdout.decode()), "path": path})
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def chosen(own: Found, others: list[Found]) -> Found:
    """Return the Python to take.

    Others are asked for nothing but speed: one that is newer than `python3` may have no packages yet, and what cannot
    make a virtual environment is of no use. A `python3` that is too old or cannot make one gives way to any that can.
    """
    best = own
    for other in others:
        if tuple(other["version"]) < OLDEST or not other["makes"]:
            continue
        is_no_use = tuple(best["version"]) < OLDEST or not best["makes"]
        is_known = other["version"][:2] <= own["version"][:2]
        if is_no_use or (is_known and best["seconds"] >= CLEARLY * other["seconds"]):
            best = other
    return best


def measured(paths: list[str]) -> list[Found]:
    """Return what the Pythons at these paths tell, in turn more than once: the least that each took is its time."""
    found: dict[str, Found] = {}
    for _ in range(ROUNDS):
        for path in paths:
            told = ask(path)
            if told is not None:
                before = found.setdefault(path, told)
                before["seconds"] = min(before["seconds"], told["seconds"])
    return list(found.values())


def main() -> None:
    """Print the path of the Python to take."""
    own = sys.executable
    seen = {os.path.realpath(own)}
    paths = [own]
    for path in SYSTEMS:
        if os.path.exists(path) and os.path.realpath(path) not in seen:
            seen.add(os.path.realpath(path))
            paths.append(path)
    if len(paths) > 1:
        found = measured(paths)
        if found and found[0]["path"] == own:
            best = chosen(found[0], found[1:])
            if best["path"] != own:
                sys.stderr.write(_why(found[0], best) + "\n")
                own = best["path"]
    sys.stdout.write(own + "\n")


def _why(own: Found, best: Found) -> str:
    version = ".".join(str(number) for number in best["version"])
    beside = "python3 ({}, {})".format(own["path"], ".".join(str(number) for number in own["version"]))
    if tuple(own["version"]) < OLDEST or not own["makes"]:
        return f"Taking {best['path']} ({version}): {beside} is too old or lacks its venv module"
    times = own["seconds"] / best["seconds"]
    return f"Taking {best['path']} ({version}): it runs plain Python {times:.1f} times as fast as {beside}"


if __name__ == "__main__":
    main()
