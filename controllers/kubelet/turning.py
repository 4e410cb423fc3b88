"""Loops that ask again and again: `until wget -q web; do sleep 2; done`, and when they ask next.

A script that comes to the same command again with all as it was, will go on alike until it is told something else. So
it need not be gone through turn by turn: what it asks next may wait until somebody has changed what it asks for, and
without that until an eighth more of the time has passed that it has waited.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

from controllers.kubelet.shell.running import Asks

SHARE: Final = 8
"""A loop that has waited for some time asks anew after this part of it, if nothing is heard of before."""

PAUSE_MS: Final = 1_000
"""How long a turn takes of a loop that waits for nothing."""

PLACES_MAX: Final = 32
"""Commands of one script whose turns are told apart."""

HOSTS_MAX: Final = 32
"""Hosts that one turn asks."""


@dataclass(slots=True)
class _Turn:
    """The last time that a command has asked; times in milliseconds since the run began."""

    place: object
    state: object
    ms: int
    since_ms: int
    """Since when all is as it was."""
    number: int
    """Which of the run's requests it was."""
    steps_left: int


@dataclass(frozen=True, slots=True)
class Wait:
    """A loop waits: with the turn of every `period_ms` it may ask, after `from_ms`; it does at `due_ms`."""

    hosts: frozenset[str]
    """What it asks."""
    from_ms: int
    period_ms: int
    due_ms: int

    def at_or_after(self, ms: int) -> int:
        """Return when the first turn begins at a moment or after it; never later than was meant."""
        turns = max(0, -(-(ms - self.from_ms) // self.period_ms))
        return min(self.due_ms, self.from_ms + turns * self.period_ms)


class Turns:
    """The turns of one run."""

    def __init__(self) -> None:
        """Begin before the first."""
        self.repeats = False
        """Whether what was asked last was asked before, with all as it was."""
        self._last: dict[int, _Turn] = {}
        self._asked: deque[tuple[int, str]] = deque(maxlen=HOSTS_MAX)
        self._number = 0
        self._leads: _Turn | None = None
        """The first command of a turn: it waits, the others follow."""

    def next(self, asks: Asks, now_ms: int, coming_ms: int | None) -> Wait | None:
        """Return how a request waits; None: it is sent at once. Call `sent` when it is.

        Args:
            asks: what is asked.
            now_ms: when it would be sent, since the run began.
            coming_ms: when others change its files next; None: they do not.
        """
        by, state = asks.by, asks.by.state()
        self._number += 1
        self._asked.append((self._number, asks.host))
        before = self._last.get(id(by.place))
        turn = _Turn(by.place, state, now_ms, now_ms, self._number, by.steps_left)
        self._last[id(by.place)] = turn
        if len(self._last) > PLACES_MAX:
            del self._last[next(iter(self._last))]
        self.repeats = before is not None and before.state == state
        if before is None or not self.repeats:
            return None
        turn.since_ms = before.since_ms
        by.steps_left = turn.steps_left = before.steps_left
        leads = self._leads
        if leads is not None and leads.place is not by.place and leads.number > before.number:
            return None
        self._leads = turn
        return self._wait(before, turn, coming_ms)

    def _wait(self, before: _Turn, turn: _Turn, coming_ms: int | None) -> Wait:
        period_ms = max(PAUSE_MS, turn.ms - before.ms)
        from_ms = before.ms + period_ms
        turns = (from_ms - turn.since_ms) // SHARE // period_ms
        if coming_ms is not None:
            turns = min(turns, max(0, -(-(coming_ms - from_ms) // period_ms)))
        hosts = frozenset(host for number, host in self._asked if number >= before.number)
        return Wait(hosts, from_ms, period_ms, from_ms + turns * period_ms)

    def sent(self, asks: Asks, ms: int) -> None:
        """The request is sent, later than it would have been."""
        self._last[id(asks.by.place)].ms = ms
