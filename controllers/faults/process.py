"""Faults of a process: it dies, it stands still, it steps down."""

from __future__ import annotations

from typing import Final

from controllers.faults.fault import Asked, Fault, reconnected
from controllers.loop.component import Slot
from controllers.loop.loop import Loop

RELEASE_TIMER: Final = ("fault", "release")
"""The timer at which a replica that leads gives its lease up."""


def _crash(loop: Loop, slot: Slot, asked: Asked) -> None:
    loop.crash(slot)
    # A restart that was under way after a failure does not hold any more.
    loop.forget_all(slot)


def _recover(loop: Loop, slot: Slot) -> None:
    loop.recover(slot)


def _begin_recovery(loop: Loop, slot: Slot, asked: Asked) -> None:
    loop.recover(slot)


def _release(loop: Loop, slot: Slot, asked: Asked) -> None:
    if slot.running:
        loop.plan(slot, RELEASE_TIMER, loop.now_ms)


def _pause(loop: Loop, slot: Slot, asked: Asked) -> None:
    reconnected(loop, slot, runs=False)


def _go_on(loop: Loop, slot: Slot) -> None:
    reconnected(loop, slot, runs=True)


CRASH: Final = Fault(
    "The process dies with all its memory; its lease runs out. It starts anew after `seconds`, or when it recovers.",
    _crash,
    _recover,
    takes=("seconds",),
)
RELEASE: Final = Fault(
    "The leader gives its lease up and exits, so that another leads at once; it is back as a follower 5 s later.",
    _release,
    lasts="at once",
)
PAUSE: Final = Fault(
    "The process stands still, as in a long collection of garbage, and goes on later with what it believed: it still "
    "acts as leader until it looks at its lease, and what it writes late is refused where another was faster.",
    _pause,
    _go_on,
    takes=("seconds",),
)
RECOVER: Final = Fault("What the replica has ends, and a dead one starts.", _begin_recovery, of="all", lasts="at once")
