"""From what metrics ask for to what an autoscaler does: stabilization, rates, least and most.

Source: pkg/controller/podautoscaler/horizontal.go (normalizeDesiredReplicas and what it calls), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

_INT32: Final = 2**31
_WITHIN: Final = ("DesiredWithinRange", "the desired count is within the acceptable range")
_MANY: Final = ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
_FEW: Final = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")
_FAST_UP: Final = ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate")
_FAST_DOWN: Final = ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate")
_READY: Final = ("ReadyForNewScale", "recommended size matches current size")
_LOWER: Final = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
)
_HIGHER: Final = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
)


@dataclass(slots=True)
class Memory:
    """What is remembered of an autoscaler: (when, replicas) that were recommended, and changes up and down."""

    recommended: list[tuple[int, int]] = field(default_factory=list)
    up: list[tuple[int, int]] = field(default_factory=list)
    down: list[tuple[int, int]] = field(default_factory=list)

    def forget(self, before_ms: int) -> None:
        """Drop what no window reaches."""
        for listed in (self.recommended, self.up, self.down):
            listed[:] = [one for one in listed if one[0] >= before_ms]


class Verdict(NamedTuple):
    """Replicas, and (reason, message) of the conditions AbleToScale and ScalingLimited; whether they are limited."""

    replicas: int
    able: tuple[str, str]
    limited: tuple[str, str]
    is_limited: bool


def decide(memory: Memory, spec: Mapping[str, Any], current: int, desired: int, now_ms: int, window_ms: int) -> Verdict:
    """Return what an autoscaler does; `window_ms` is the flag's stabilization of going down."""
    least, most = int(spec.get("minReplicas") or 1), int(spec["maxReplicas"])
    behavior = spec.get("behavior")
    if behavior is None:
        since_ms = now_ms - window_ms
        stable = max([desired, *(count for at_ms, count in memory.recommended if at_ms >= since_ms)])
        able = _READY if stable == desired else _HIGHER
        replicas, limited = _plain(current, stable, least, most)
    else:
        up, down = behavior["scaleUp"], behavior["scaleDown"]
        stable = _stable(memory, up, down, current, desired, now_ms, window_ms)
        able = _READY if stable == desired else (_LOWER if desired >= current else _HIGHER)
        replicas, limited = _with_rates(memory, up, down, (current, stable, least, most), now_ms)
    memory.recommended.append((now_ms, desired))
    return Verdict(replicas, able, limited, replicas != stable)


def _stable(
    memory: Memory,
    up: Mapping[str, Any],
    down: Mapping[str, Any],
    current: int,
    desired: int,
    now_ms: int,
    window_ms: int,
) -> int:
    up_ms = now_ms - 1000 * int(up.get("stabilizationWindowSeconds") or 0)
    given = down.get("stabilizationWindowSeconds")
    down_ms = now_ms - (window_ms if given is None else 1000 * int(given))
    lowest = min([desired, *(count for at_ms, count in memory.recommended if at_ms > up_ms)])
    highest = max([desired, *(count for at_ms, count in memory.recommended if at_ms > down_ms)])
    return min(max(current, lowest), highest)


def _plain(current: int, desired: int, least: int, most: int) -> tuple[int, tuple[str, str]]:
    limit = max(2 * current, 4)
    allowed, why = (limit, _FAST_UP) if most > limit else (most, _MANY)
    if desired < least:
        return least, _FEW
    return (allowed, why) if desired > allowed else (desired, _WITHIN)


def _with_rates(
    memory: Memory, up: Mapping[str, Any], down: Mapping[str, Any], counts: tuple[int, int, int, int], now_ms: int
) -> tuple[int, tuple[str, str]]:
    current, desired, least, most = counts
    if desired > current:
        limit = max(current, _limit(memory, up, current, now_ms, rising=True))
        allowed, why = (limit, _FAST_UP) if most > limit else (most, _MANY)
        return (allowed, why) if desired > allowed else (desired, _WITHIN)
    if desired < current:
        limit = min(current, _limit(memory, down, current, now_ms, rising=False))
        allowed, why = (limit, _FAST_DOWN) if least < limit else (least, _FEW)
        return (allowed, why) if desired < allowed else (desired, _WITHIN)
    return desired, _WITHIN


def _limit(memory: Memory, rules: Mapping[str, Any], current: int, now_ms: int, *, rising: bool) -> int:
    """Return how far policies let replicas go."""
    select = rules.get("selectPolicy")
    if select == "Disabled":
        return current
    proposed: list[int] = []
    for policy in rules.get("policies") or ():
        since_ms, value = now_ms - 1000 * int(policy["periodSeconds"]), int(policy["value"])
        added = sum(count for at_ms, count in memory.up if at_ms > since_ms)
        removed = sum(count for at_ms, count in memory.down if at_ms > since_ms)
        start = current - added + removed
        if policy.get("type") == "Pods":
            proposed.append(start + value if rising else start - value)
        else:
            # In whole numbers: 1.1 times 10 is 11, not a little more.
            share = -(-start * (100 + value) // 100) if rising else start * (100 - value) // 100
            proposed.append(share)
    highest = (select == "Min") != rising
    return (max if highest else min)(proposed, default=current)
