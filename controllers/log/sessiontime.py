"""What time it is in a session, for everybody who is not its owner: one pure function, told alike in the browser.

The owner says in the clock's status where time stood at a real moment, and how fast readers carry it on (`carryRate`; 0
while the owner is behind). The newest row of the log says what time it is at the least. `static/js/state/time.js` holds
the same function; both are held by `tests/golden/time/cases.json`.

It never steps back: rows only add, and an owner that says anew where time stands says nothing less than this function
would have answered (`controllers.clocktelling`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

CARRY_MS: Final = 3_000
"""How far time is carried on beyond the last news of the session: simulated milliseconds, times the rate where that is
above 1. An owner that has nothing to write says that it lives before that; without an owner time stands."""


def session_time_ms(status: Mapping[str, Any] | None, newest_ms: int, unix_ms: int) -> int:
    """Return simulated milliseconds since the session began.

    Args:
        status: the clock's, None or empty before an owner has taken the session.
        newest_ms: simulated time of the newest row of the log.
        unix_ms: the real moment.
    """
    # What stands in the log may be anything; only an owner's anchor is taken up.
    if not isinstance(status, Mapping) or status.get("anchorUnixMs") is None:
        return newest_ms
    anchored_ms = int(status.get("simTimeMs") or 0)
    if status.get("paused"):
        return max(newest_ms, anchored_ms)
    rate = float(status.get("rate") or 1.0)
    since_ms = max(0, unix_ms - int(status["anchorUnixMs"]))
    carry_rate = status.get("carryRate")
    carried_ms = anchored_ms + int(since_ms * float(rate if carry_rate is None else carry_rate))
    return max(newest_ms, min(carried_ms, max(newest_ms, anchored_ms) + carry_ms(rate)))


def carry_ms(rate: float) -> int:
    """Return how far time is carried on beyond the last news, in simulated milliseconds."""
    return int(CARRY_MS * max(1.0, rate))
