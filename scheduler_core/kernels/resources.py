"""Scores of resource plugins as array arithmetic. Source: noderesources of kube-scheduler 1.34."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

SCORE_MAX = 100


class InvalidScoreError(ValueError):
    """A score is out of range: amounts beyond 64 bits have wrapped round, as upstream's do."""

    def __init__(self, score: int) -> None:
        """Keep the score."""
        super().__init__(f"returns an invalid score {score}, it should in the range of [0, {SCORE_MAX}]")
        self.score = score


PLAIN_MAX: Final = 2**46
"""Largest capacity whose hundredfold doubles hold exactly: up to here their quotients, cut, are those of integers."""


def _nonzero(capacity: Ints) -> Ints:
    """Return the capacity with 1 for 0, so that it may divide; callers blank those nodes out afterwards."""
    return np.where(capacity == 0, 1, capacity)


def _wrapped(number: int) -> int:
    """Return a number as 64 bits hold it, as arrays do of their own accord."""
    return (number + 2**63) % 2**64 - 2**63


def _cut(dividend: Ints, divisor: Ints) -> Ints:
    """Return the quotient cut toward zero."""
    quotient = dividend // divisor
    below = (dividend < 0) != (divisor < 0)
    if below.any():
        quotient += below & (quotient * divisor != dividend)
    return quotient


def _cut_one(dividend: int, divisor: int) -> int:
    """Return `_cut` of one node."""
    quotient = abs(dividend) // abs(divisor)
    return -quotient if (dividend < 0) != (divisor < 0) else quotient


def _share(amount: Ints, capacity: Ints) -> Ints:
    """Return (N,) 100 × amount / capacity, cut toward zero; what 64 bits do not hold wraps round, as upstream's."""
    return _cut(amount * SCORE_MAX, _nonzero(capacity))


def _share_one(amount: int, capacity: int) -> int:
    """Return `_share` of one node."""
    return _cut_one(_wrapped(amount * SCORE_MAX), capacity)


def in_range(scores: Ints) -> Ints:
    """Return the scores.

    Raises:
        InvalidScoreError: one is out of range.
    """
    if len(scores):
        low, high = int(scores.min()), int(scores.max())
        if low < 0 or high > SCORE_MAX:
            raise InvalidScoreError(low if low < 0 else high)
    return scores


def in_range_one(score: int) -> int:
    """Return `in_range` of one node."""
    if not 0 <= score <= SCORE_MAX:
        raise InvalidScoreError(score)
    return score


def least_allocated(requested: Ints, capacity: Ints, *, plain: bool = False) -> Ints:
    """Return (N,) 100 × the free share, 0 where the request exceeds the capacity.

    With `plain` every capacity is in 1…PLAIN_MAX: then doubles give the same, in a quarter of the time.
    """
    if plain:
        free = capacity - requested
        np.maximum(free, 0, out=free)
        free *= SCORE_MAX
        return (free / capacity).astype(np.int64)
    return np.where(requested > capacity, 0, _share(capacity - requested, capacity))


def most_allocated(requested: Ints, capacity: Ints) -> Ints:
    """Return (N,) 100 × the used share, 100 where the request exceeds the capacity."""
    return _share(np.minimum(requested, capacity), capacity)


def broken_line(x: Ints, points: Sequence[tuple[int, int]]) -> Ints:
    """Return (N,) of the piecewise linear function through (x, y) points with rising x, flat outside them.

    Divisions truncate toward zero.
    """
    result = np.full(len(x), points[-1][1], dtype=np.int64)
    for index in range(len(points) - 1, 0, -1):
        (x0, y0), (x1, y1) = points[index - 1], points[index]
        rise = (y1 - y0) * (x - x0)
        slope = np.sign(rise) * (np.abs(rise) // (x1 - x0))
        result = np.where(x <= x1, y0 + slope, result)
    return np.where(x <= points[0][0], points[0][1], result)


def requested_to_capacity(requested: Ints, capacity: Ints, points: Sequence[tuple[int, int]]) -> Ints:
    """Return (N,) of the shape function at the used percentage; at 100 where the request exceeds the capacity."""
    used = np.where(requested > capacity, SCORE_MAX, _share(requested, capacity))
    return broken_line(used, points)


def weighted_mean(scores: Sequence[Ints], counts: Sequence[NDArray[np.bool_]], weights: Sequence[int]) -> Ints:
    """Return (N,) Σ weight × score / Σ weight over the resources that count for a node, 0 where none does.

    Args:
        scores: per resource (N,).
        counts: per resource (N,), whether it counts there.
        weights: per resource.
    """
    total = np.zeros(len(scores[0]), dtype=np.int64)
    weight_sum = np.zeros(len(scores[0]), dtype=np.int64)
    for score, counted, weight in zip(scores, counts, weights, strict=True):
        total += np.where(counted, score, 0) * weight
        weight_sum += counted * np.int64(weight)
    return _cut(total, _nonzero(weight_sum))


def mean_one(total: int, weight_sum: int) -> int:
    """Return `weighted_mean` of one node from Σ weight × score and Σ weight."""
    return _cut_one(total, weight_sum) if weight_sum else 0


def rounded_mean(scores: Sequence[Ints], counts: Sequence[NDArray[np.bool_]], weights: Sequence[int]) -> Ints:
    """Return as `weighted_mean`, in floating point and rounded half away from zero; scores are not negative."""
    total = np.zeros(len(scores[0]), dtype=np.int64)
    weight_sum = np.zeros(len(scores[0]), dtype=np.int64)
    for score, counted, weight in zip(scores, counts, weights, strict=True):
        total += np.where(counted, score, 0) * weight
        weight_sum += counted * np.int64(weight)
    quotient = total / _nonzero(weight_sum)
    return np.floor(quotient + 0.5).astype(np.int64)


def mean_of_all(scores: Sequence[Ints], weights: Sequence[int]) -> Ints:
    """Return as `weighted_mean` where every resource counts for every node; scores are not changed."""
    total = scores[0] * weights[0]
    for score, weight in zip(scores[1:], weights[1:], strict=True):
        total += score if weight == 1 else score * weight
    total //= sum(weights)
    return total


def _column(cpu: int, memory: int) -> NDArray[np.float64]:
    """Return (2, 1) doubles: of floats side by side numpy makes them in half the time."""
    return np.array((float(cpu), float(memory))).reshape(2, 1)


def least_allocated_pair(left: NDArray[np.float64], capacity: NDArray[np.float64], asked: Sequence[int]) -> Ints:
    """Return (N,) the mean of `least_allocated` of two resources of equal weight, in doubles.

    Args:
        left: (2, N) a hundredfold what is left without the pod.
        capacity: (2, N), in 1…PLAIN_MAX.
        asked: what the pod adds.
    """
    cpu, memory = asked
    free = left - _column(SCORE_MAX * cpu, SCORE_MAX * memory)
    np.maximum(free, 0.0, out=free)
    free /= capacity
    np.floor(free, out=free)
    total: NDArray[np.float64] = free[0]
    total += free[1]
    total *= 0.5
    return total.astype(np.int64)


def balanced_pair(requested: NDArray[np.float64], capacity: NDArray[np.float64], asked: Sequence[int]) -> Ints:
    """Return (N,) `balanced` of two resources, in doubles.

    Args:
        requested: (2, N) without the pod.
        capacity: (2, N), in 1…PLAIN_MAX.
        asked: what the pod adds.
    """
    cpu, memory = asked
    share = requested + _column(cpu, memory)
    share /= capacity
    np.minimum(share, 1.0, out=share)
    deviation: NDArray[np.float64] = share[0]
    deviation -= share[1]
    np.abs(deviation, out=deviation)
    # Twice (1 − half the difference), times half of 100: doubling and halving change no digit.
    np.subtract(2.0, deviation, out=deviation)
    deviation *= SCORE_MAX / 2
    return deviation.astype(np.int64)


def balanced(requested: Sequence[Ints], capacity: Sequence[Ints], *, plain: bool = False) -> Ints:
    """Return (N,) 100 × (1 − standard deviation of the used shares), resources without capacity left out.

    Shares above 1 count as 1. With two resources the deviation is half their difference.

    Args:
        requested: per resource (N,).
        capacity: per resource (N,).
        plain: whether no capacity is 0.
    """
    if plain and len(capacity) == 2:
        first, second = (np.minimum(asked / size, 1.0) for asked, size in zip(requested, capacity, strict=True))
        first -= second
        first /= 2
        np.abs(first, out=first)
        np.subtract(1.0, first, out=first)
        first *= SCORE_MAX
        return first.astype(np.int64)
    shares = [np.minimum(asked / _nonzero(size), 1.0) for asked, size in zip(requested, capacity, strict=True)]
    if len(shares) == 2 and all(bool(size.all()) for size in capacity):
        deviation = np.abs((shares[0] - shares[1]) / 2)
        return ((1.0 - deviation) * SCORE_MAX).astype(np.int64)
    counted = np.array([size != 0 for size in capacity])
    share = np.where(counted, np.array(shares), 0.0)
    number = counted.sum(axis=0)
    total = np.zeros(share.shape[1])
    square = np.zeros(share.shape[1])
    # One resource after the other: upstream adds in this order, and the last bit of the sum may decide.
    for one in share:
        total += one
    mean = total / np.maximum(number, 1)
    for one, counts in zip(share, counted, strict=True):
        square += np.where(counts, (one - mean) * (one - mean), 0.0)
    deviation = np.sqrt(square / np.maximum(number, 1))
    deviation = np.where(number == 2, _half_difference(share, counted), deviation)
    deviation = np.where(number < 2, 0.0, deviation)
    return ((1.0 - deviation) * SCORE_MAX).astype(np.int64)


def _half_difference(share: NDArray[np.float64], counted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return (N,) half the difference of the two shares that count, for nodes where exactly two do."""
    sign = np.where(counted, np.where(np.cumsum(counted, axis=0) == 1, 1.0, -1.0), 0.0)
    half: NDArray[np.float64] = np.abs((share * sign).sum(axis=0) / 2)
    return half


# The same for one node in plain integers: for a handful of rows that is several times faster than arrays, and a test
# holds both to the same answers.


def least_allocated_one(requested: int, capacity: int) -> int:
    """Return `least_allocated` of one node."""
    if 0 <= requested <= capacity and 0 < capacity <= PLAIN_MAX:
        # Nothing wraps round and nothing is negative: so it is on every node that there is.
        return (capacity - requested) * SCORE_MAX // capacity
    return 0 if requested > capacity else _share_one(_wrapped(capacity - requested), capacity)


def most_allocated_one(requested: int, capacity: int) -> int:
    """Return `most_allocated` of one node."""
    return _share_one(min(requested, capacity), capacity)


def balanced_one(pairs: Sequence[tuple[int, int]]) -> int:
    """Return `balanced` of one node from (requested, capacity) pairs."""
    shares = [min(float(requested) / float(capacity), 1.0) for requested, capacity in pairs if capacity]
    if len(shares) < 2:
        return SCORE_MAX
    if len(shares) == 2:
        return int((1.0 - abs((shares[0] - shares[1]) / 2)) * SCORE_MAX)
    total = square = 0.0
    for share in shares:
        total += share
    mean = total / len(shares)
    for share in shares:
        square += (share - mean) * (share - mean)
    return int((1.0 - sqrt(square / len(shares))) * SCORE_MAX)


def default_normalize(scores: Ints, *, reverse: bool = False) -> Ints:
    """Return (K,) scores scaled so that the largest is 100, or with `reverse`, so that the smallest is best."""
    top = int(np.maximum.reduce(scores)) if len(scores) else 0
    if top == 0:
        return np.full(len(scores), SCORE_MAX, dtype=np.int64) if reverse else scores
    scaled = scores * SCORE_MAX // top
    return SCORE_MAX - scaled if reverse else scaled
