"""What time it is in a session, for ages: what its owner last wrote, carried on by the wall clock."""

from __future__ import annotations

from typing import Final

from clustersim.runtime.realtime import unix_ms
from controllers.log.store import Store

CARRY_MAX_MS: Final = 10_000
"""Real milliseconds for which the clock is carried on without news of its owner; an owner writes each second."""


def session_unix_ms(store: Store) -> int:
    """Return the session's time as Unix milliseconds on the wire."""
    now_ms = store.horizon_ms
    stored = store.get("clocks.clustersim.io", "", "clock")
    status = (stored.object.get("status") or {}) if stored is not None else {}
    anchor, start = status.get("anchorUnixMs"), status.get("simTimeMs")
    if anchor is not None and start is not None and not status.get("paused", True):
        since = max(0, min(CARRY_MAX_MS, unix_ms() - int(anchor)))
        now_ms = max(now_ms, int(start + since * float(status.get("rate", 1.0))))
    return store.epoch_ms + now_ms
