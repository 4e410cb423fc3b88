"""Flags of the nodes' kube-proxies."""

from __future__ import annotations

from typing import Any, Final

from controllers.flags.flag import Flag, duration

MIN_SYNC_PERIOD: Final = duration(
    "kube-proxy",
    "iptables-min-sync-period",
    "1s",
    "A node's proxy looks at changed Services and slices at most this often; until then its former rules hold.",
    least_ms=0,
    most_ms=600_000,
)

TABLE: Final[tuple[Flag[Any], ...]] = (MIN_SYNC_PERIOD,)
