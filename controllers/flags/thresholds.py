"""Flags of kubelets that hold thresholds of eviction: `memory.available<100Mi,nodefs.available<10%`.

Source: pkg/kubelet/eviction (helpers.go, parseThresholdStatement) and pkg/kubelet/eviction/api/types.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

from controllers.flags.flag import Component, Flag, parse_duration
from scheduler_core.api.quantity import QuantityError, amount

T = TypeVar("T")

MEMORY: Final = "memory.available"
DISK: Final = "nodefs.available"
PIDS: Final = "pid.available"
MEASURED: Final = (MEMORY, DISK, PIDS)
"""Signals that hollow machines have."""

SIGNALS: Final = (
    *MEASURED,
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "containerfs.available",
    "containerfs.inodesFree",
)
"""Signals that a threshold may be of."""


class Amount(NamedTuple):
    """So much, or a share of what there is."""

    quantity: int = 0
    share: float = 0.0

    def of(self, capacity: int) -> int:
        """Return how much it is where there is so much in all."""
        return int(capacity * self.share) if self.share else self.quantity


def _amount(text: str) -> Amount:
    if text.endswith("%"):
        try:
            percent = float(text[:-1])
        except ValueError as error:
            raise ValueError(f'strconv.ParseFloat: parsing "{text[:-1]}": invalid syntax') from error
        if not 0 <= percent <= 100:
            raise ValueError(f"eviction percentage threshold must be >= 0% and <= 100%: {text}")
        return Amount(share=percent / 100)
    try:
        quantity = int(amount("memory", text))
    except (QuantityError, TypeError) as error:
        raise ValueError(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        ) from error
    if quantity < 0:
        raise ValueError(f"eviction threshold must be positive: {text}")
    return Amount(quantity)


def _pairs(text: str, between: str) -> Iterator[tuple[str, str]]:
    for pair in filter(None, text.split(",")):
        signal, found, value = pair.partition(between)
        if not found:
            raise ValueError(f"malformed pair, expect string{between}string")
        if signal.strip() not in SIGNALS:
            raise ValueError(f"unsupported eviction signal {signal.strip()}")
        yield signal.strip(), value.strip()


def _flag(
    component: Component, name: str, default: str, does: str, between: str, value: Callable[[str], T]
) -> Flag[dict[str, T]]:
    def parse(text: str) -> dict[str, T]:
        return {signal: value(told) for signal, told in _pairs(text, between)}

    return Flag(component, name, "list", default, does, parse, parse(default))


def _grace(text: str) -> int:
    grace_ms = parse_duration(text)
    if grace_ms < 0:
        raise ValueError(f"invalid eviction grace period specified: {text}, must be a positive value")
    return grace_ms


EVICTION_HARD: Final = _flag(
    "kubelet",
    "eviction-hard",
    "memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%,imagefs.inodesFree<5%",
    "What has to be left on a node: below it a pod goes at once.",
    "<",
    _amount,
)
EVICTION_SOFT: Final = _flag(
    "kubelet",
    "eviction-soft",
    "",
    "What should be left on a node: below it for `eviction-soft-grace-period` a pod goes.",
    "<",
    _amount,
)
EVICTION_SOFT_GRACE: Final = _flag(
    "kubelet",
    "eviction-soft-grace-period",
    "",
    "How long less than `eviction-soft` may be left, by signal: `memory.available=1m30s`.",
    "=",
    _grace,
)
EVICTION_RECLAIM: Final = _flag(
    "kubelet",
    "eviction-minimum-reclaim",
    "",
    "How much more than the threshold has to be left before evictions end, by signal: `memory.available=500Mi`.",
    "=",
    _amount,
)


def _periods(text: str) -> tuple[tuple[int, int], ...]:
    found: dict[int, int] = {}
    for pair in filter(None, text.split(",")):
        priority, _, seconds = pair.partition("=")
        try:
            found[int(priority)] = int(seconds)
        except ValueError as error:
            raise ValueError(f'"{pair}" is not a priority and seconds, as in 0=60') from error
        if found[int(priority)] < 0 or len(pair) > 24:
            raise ValueError(f'"{pair}": seconds must not be negative')
    return tuple(sorted(found.items()))


SHUTDOWN_BY_PRIORITY: Final[Flag[Any]] = Flag(
    "kubelet",
    "shutdown-grace-period-by-pod-priority",
    "list",
    "",
    "Pods of which priority have how many seconds when their machine shuts down, the lowest first: `0=60,10000=10` "
    "(`shutdownGracePeriodByPodPriority` of upstream's configuration file).",
    _periods,
    (),
    ours=True,
)
