"""How often a process that holds pods and nodes looks for reference cycles.

Scheduling and replays leave none behind, but pods and nodes stay: each look goes over more and more objects that live
on. At Python's own thresholds that was a tenth of a cycle's processor time, and two thirds of reading 10,000 pods.
Nor is there anything to find while a session is taken up, and what it then holds stays until it is let go: such things
are passed over (`staying`) until then (`leaving`).
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

COLLECT_AFTER: Final = (20_000, 10, 10)
"""Thresholds of the three generations: more new objects than are gone again, then collections of the one below."""


def collect_rarely() -> None:
    """Set the thresholds of this process."""
    gc.set_threshold(*COLLECT_AFTER)


@contextmanager
def staying() -> Iterator[None]:
    """Look for no cycles inside, and afterwards not at what this process holds by then."""
    looked = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if looked:
            gc.enable()


def pass_over() -> None:
    """Look no more at what is there now, until something leaves: what a burst has made lives on, without cycles.

    Of 3,000 pods made and placed 260 objects were left in cycles, and each look went over 20,000 others.
    """
    gc.freeze()


def leaving() -> None:
    """Look at everything again: some of what was to stay goes, and holds itself in cycles."""
    gc.unfreeze()
