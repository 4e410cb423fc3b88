"""Flags of kube-scheduler; what it schedules by is its configuration's (`schedulerconfigs.clustersim.io`)."""

from __future__ import annotations

from typing import Any, Final

from controllers.flags.election import election
from controllers.flags.flag import Flag, duration, word

ELECTION: Final = election("kube-scheduler")

INFORMERS: Final = ("watch", "poll")


def _informers(text: str) -> None:
    if text not in INFORMERS:
        raise ValueError("must be one of " + ", ".join(INFORMERS))


SOURCES: Final = word(
    "kube-scheduler",
    "informers",
    "watch",
    "How the scheduler learns of the cluster: `watch`, by reflectors (one list, then a watch), or `poll`, by listing "
    "all of it again and again.",
    check=_informers,
    ours=True,
)
POLL_PERIOD: Final = duration(
    "kube-scheduler", "poll-period", "10s", "How often a scheduler lists that polls.", least_ms=1_000, ours=True
)

TABLE: Final[tuple[Flag[Any], ...]] = (*ELECTION.table(), SOURCES, POLL_PERIOD)
