"""Reckoning with amounts by resource name.

Source: k8s.io/apiserver/pkg/quota/v1/resources.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from scheduler_core.api.quantity import Amount

Usage = dict[str, Amount]
"""Resource name as a quota has it (`pods`, `requests.cpu`, `count/jobs.batch`) → amount."""

ONE: Final = Amount(10**9)
NONE: Final = Amount(0)


def count(number: int) -> Amount:
    """Return a whole number as an amount."""
    return Amount(number * 10**9)


def read(quantities: Mapping[str, Any] | None) -> Usage:
    """Return quantities as they are written, ready to be reckoned with."""
    return {name: Amount.read(quantity) for name, quantity in (quantities or {}).items()}


def written(usage: Mapping[str, Amount]) -> dict[str, str]:
    """Return amounts as documents have them, in order of name."""
    return {name: str(usage[name]) for name in sorted(usage)}


def add(one: Mapping[str, Amount], other: Mapping[str, Amount]) -> Usage:
    """Return the sum by name."""
    total = dict(one)
    for name, amount in other.items():
        total[name] = total[name].plus(amount) if name in total else amount
    return total


def subtract(one: Mapping[str, Amount], other: Mapping[str, Amount]) -> Usage:
    """Return `one - other` by name; what `one` lacks is below nothing."""
    rest = dict(one)
    for name, amount in other.items():
        rest[name] = rest.get(name, NONE).minus(amount)
    return rest


def raise_to(one: Usage, other: Mapping[str, Amount]) -> None:
    """Raise `one` to at least `other`, by name."""
    for name, amount in other.items():
        if name not in one or amount.nano > one[name].nano:
            one[name] = amount


def only(usage: Mapping[str, Amount], names: Iterable[str]) -> Usage:
    """Return the part of `usage` that has one of these names."""
    wanted = set(names)
    return {name: amount for name, amount in usage.items() if name in wanted}


def equal(one: Mapping[str, Amount], other: Mapping[str, Amount]) -> bool:
    """Return whether both have the same names with the same amounts."""
    return one.keys() == other.keys() and all(amount.nano == other[name].nano for name, amount in one.items())
