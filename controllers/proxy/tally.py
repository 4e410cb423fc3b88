"""What came of one client's requests: counts, windows of time, the newest whole; all of it bounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.proxy.exchange import Record
from controllers.registry.models.clustersim_v1 import ClientStatus
from scheduler_core.api.document import Document

RESULTS: Final = ("error", "ok", "outside", "refused", "timeout", "unresolved")
"""What can come of a request."""

WINDOW_MS: Final = 5_000
"""Simulated milliseconds of one window of counts."""

WINDOWS_MAX: Final = 60
"""Windows that are kept: five minutes; older ones count in the totals alone."""

NEWEST_MAX: Final = 20
"""Requests of which everything is kept; older ones are counted."""

PODS_MAX: Final = 20
"""Pods of which it is told how many requests they got; those that got none for longest are forgotten."""

RECENT: Final = 2
"""Newest windows that `success` is reckoned from."""


class Tally:
    """Counts of one client."""

    def __init__(self, told: ClientStatus | None = None) -> None:
        """Go on from what a status tells; None: begin."""
        told = told or ClientStatus()
        self.sent = told.sent
        self._results = dict(told.results)
        self._windows = [dict(one) for one in told.windows if isinstance(one.get("atMs"), int)]
        self._newest = list(told.newest)
        self._pods = {str(one["name"]): dict(one) for one in told.pods if one.get("name")}

    def add(self, now_ms: int, record: Record, timeout_ms: int) -> None:
        """Count a request that was sent now; one that is not answered is given up after `timeout_ms`."""
        self.sent += 1
        result = record.result
        self._results[result] = self._results.get(result, 0) + 1
        begun_ms = now_ms // WINDOW_MS * WINDOW_MS
        if not self._windows or self._windows[-1]["atMs"] != begun_ms:
            self._windows.append({"atMs": begun_ms})
            del self._windows[:-WINDOWS_MAX]
        window = self._windows[-1]
        window[result] = int(window.get(result, 0)) + 1
        waited = {"afterMs": timeout_ms} if result == "timeout" else {}
        self._newest.append({"number": self.sent, "atMs": now_ms, **record.told(), **waited})
        del self._newest[:-NEWEST_MAX]
        if record.pod:
            known = self._pods.pop(record.pod, {"name": record.pod, "ok": 0, "failed": 0})
            known["ok" if result == "ok" else "failed"] += 1
            self._pods[record.pod] = known
            if len(self._pods) > PODS_MAX:
                del self._pods[next(iter(self._pods))]

    def told(self) -> Document:
        """Return the counts as a status has them."""
        return {
            "sent": self.sent,
            "success": success_of(self._windows[-RECENT:]),
            "results": {name: self._results.get(name, 0) for name in RESULTS},
            "windows": [dict(one) for one in self._windows],
            "pods": [dict(one) for one in self._pods.values()],
            "newest": list(self._newest),
        }


def success_of(windows: list[Mapping[str, Any]] | list[dict[str, Any]]) -> float | None:
    """Return the part of requests that was answered well; None: there were none of which anything is known."""
    good = sum(int(window.get("ok", 0)) for window in windows)
    known = sum(number for window in windows for name, number in window.items() if name not in ("atMs", "outside"))
    return round(good / known, 4) if known else None
