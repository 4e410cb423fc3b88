"""Flags of kube-scheduler; what it schedules by is its configuration's (`schedulerconfigs.clustersim.io`)."""

from __future__ import annotations

from typing import Any, Final

from controllers.flags.election import election
from controllers.flags.flag import Flag

ELECTION: Final = election("kube-scheduler")

TABLE: Final[tuple[Flag[Any], ...]] = ELECTION.table()
