"""Faults of the way between a process and the API server."""

from __future__ import annotations

from typing import Final

from controllers.faults.fault import Asked, Fault, reconnected
from controllers.loop.component import Slot
from controllers.loop.loop import Loop


def _cut(loop: Loop, slot: Slot, asked: Asked) -> None:
    reconnected(loop, slot, api=False, watch=False)


def _connect(loop: Loop, slot: Slot) -> None:
    reconnected(loop, slot, api=True, watch=True)


def _slow(loop: Loop, slot: Slot, asked: Asked) -> None:
    reconnected(loop, slot, late_ms=round((asked.seconds or 0) * 1000))


def _fast(loop: Loop, slot: Slot) -> None:
    reconnected(loop, slot, late_ms=0)


def _drop(loop: Loop, slot: Slot, asked: Asked) -> None:
    if asked.seconds:
        reconnected(loop, slot, watch=False)
    else:
        loop.end_watch(slot)


def _watch_again(loop: Loop, slot: Slot) -> None:
    reconnected(loop, slot, watch=True)
    loop.end_watch(slot)


PARTITION: Final = Fault(
    "Nothing passes between the replica and the API server: its watch stands still, reads and writes fail. A leader "
    "gives up after its renew deadline (10 s), another leads when the lease has run out (15 s); when it is over the "
    "replica goes on from where its watch stood, or starts with new lists where it had exited.",
    _cut,
    _connect,
    takes=("seconds",),
)
SLOW_WATCH: Final = Fault(
    "Watch events arrive `seconds` late; reads and writes are as fast as ever.",
    _slow,
    _fast,
    needs=("seconds",),
    lasts="open",
)
DROP_WATCH: Final = Fault(
    "The watch ends (with 410 Gone), at once or after standing still for `seconds`; the replica lists again after a "
    "wait.",
    _drop,
    _watch_again,
    takes=("seconds",),
    lasts="at once",
)
