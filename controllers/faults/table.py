"""The table of faults: one line a kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controllers.faults import clocks, network, process
from controllers.faults.fault import Fault

FAULTS: Final[Mapping[str, Fault]] = {
    "crash": process.CRASH,
    "release": process.RELEASE,
    "partition": network.PARTITION,
    "skew": clocks.SKEW,
    "rate": clocks.RATE,
    "slow-watch": network.SLOW_WATCH,
    "drop-watch": network.DROP_WATCH,
    "pause": process.PAUSE,
    "recover": process.RECOVER,
}
