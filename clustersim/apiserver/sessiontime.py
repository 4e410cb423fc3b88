"""What time it is in a session, for ages: the one function of `controllers.log.sessiontime`."""

from __future__ import annotations

from clustersim.store import SqlStore


def session_unix_ms(store: SqlStore) -> int:
    """Return the session's time as Unix milliseconds on the wire."""
    return store.epoch_ms + store.session_ms()
