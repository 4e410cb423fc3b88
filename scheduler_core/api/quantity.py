"""Quantities with Kubernetes' exact semantics: `250m`, `1.5`, `64Mi`, `3k`, `12e6`.

Everything is integer arithmetic in nano units, the finest step upstream keeps; anything finer is rounded up, and so is
the conversion to whole units or thousandths (`k8s.io/apimachinery/pkg/api/resource`, `Value` and `MilliValue`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple

_NANO: Final = 10**9
_MAX_INT64: Final = 2**63 - 1

_PATTERN: Final = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>\d*)(?:\.(?P<fraction>\d*))?"
    r"(?P<suffix>Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d+)?",
    re.ASCII,
)

_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_EXPONENT: Final = re.compile(r"[eE][+-]?\d+$", re.ASCII)
_DECIMAL_SUFFIX: Final = {power: suffix for suffix, power in _DECIMAL.items()}

_FAST_DIGITS: Final = 18
"""Digits of what upstream reads into 64 bits; more than that it spells anew."""

_EXPONENT_MAX: Final = 40
"""Powers of ten past this are refused: no resource is that large, and the integers would grow without bound."""


class QuantityError(ValueError):
    """The text is no quantity."""


def _ceil_div(number: int, by: int) -> int:
    return -(-number // by) if number >= 0 else -((-number + by - 1) // by)


@lru_cache(maxsize=4096)
def nano(text: str) -> int:
    """Return the quantity in units of 10^-9, rounded away from zero.

    Raises:
        QuantityError: the text is no quantity.
    """
    match = _PATTERN.fullmatch(text)
    # Without a digit it is zero.
    if match is None or not text:
        raise QuantityError(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        )
    fraction = match["fraction"] or ""
    digits = int((match["whole"] or "0") + fraction)
    suffix = match["suffix"] or ""
    scale = -len(fraction) + 9
    if suffix in _BINARY:
        digits <<= _BINARY[suffix]
    elif suffix in _DECIMAL:
        scale += _DECIMAL[suffix]
    else:
        exponent = int(suffix[1:])
        if abs(exponent) > _EXPONENT_MAX:
            raise QuantityError("unable to parse quantity's suffix")
        scale += exponent
    number = digits * 10**scale if scale >= 0 else _ceil_div(digits, 10**-scale)
    if suffix in _BINARY:
        number = min(number, _MAX_INT64 * _NANO)
    return -number if match["sign"] == "-" else number


def nano_of(quantity: str | int | float) -> int:
    """Return `nano` of a quantity as JSON has it: text or number.

    Raises:
        QuantityError: it is no quantity.
    """
    return nano(quantity if isinstance(quantity, str) else repr(quantity))


def value(quantity: str | int | float) -> int:
    """Return whole units (bytes, pods, devices), rounded up, within int64."""
    return max(-_MAX_INT64, min(_MAX_INT64, _ceil_div(nano_of(quantity), _NANO)))


def milli_value(quantity: str | int | float) -> int:
    """Return thousandths (millicores), rounded up, within int64."""
    return max(-_MAX_INT64, min(_MAX_INT64, _ceil_div(nano_of(quantity), _NANO // 1000)))


def int64(number: int) -> int:
    """Return a number as 64 bits hold it: what is too large for them wraps round, as in the scheduler's own sums."""
    return number if -_MAX_INT64 <= number <= _MAX_INT64 else (number + 2**63) % 2**64 - 2**63


def counted(resource: str, nano_units: int) -> int:
    """Return what the scheduler counts of a resource: millicores of `cpu`, whole units else, rounded up, as `int64`."""
    return int64(_ceil_div(nano_units, _NANO // 1000 if resource == "cpu" else _NANO))


def amount(resource: str, quantity: str | int | float) -> int:
    """Return `counted` of a quantity as written.

    Raises:
        QuantityError: it is no quantity.
    """
    return counted(resource, nano_of(quantity))


class Amount(NamedTuple):
    """A quantity to reckon with: nano units, and the family of suffixes in which it is written."""

    nano: int
    family: Literal["decimal", "binary", "exponent"] = "decimal"

    @classmethod
    def read(cls, quantity: str | int | float) -> Amount:
        """Return a quantity as JSON has it.

        Raises:
            QuantityError: it is no quantity.
        """
        text = quantity if isinstance(quantity, str) else repr(quantity)
        number = nano(text)
        if text[-2:] in _BINARY:
            return cls(number, "binary")
        return cls(number, "exponent" if _EXPONENT.search(text) else "decimal")

    def plus(self, other: Amount) -> Amount:
        """Return the sum, in the family of this one unless it is nothing (`Quantity.Add`)."""
        return Amount(self.nano + other.nano, self.family if self.nano else other.family)

    def minus(self, other: Amount) -> Amount:
        """Return the difference, in the family of this one unless it is nothing (`Quantity.Sub`)."""
        return Amount(self.nano - other.nano, self.family if self.nano else other.family)

    def whole(self) -> Amount:
        """Return it rounded up to whole units."""
        return Amount(_ceil_div(self.nano, _NANO) * _NANO, self.family)

    def __str__(self) -> str:
        """Return upstream's canonical spelling: no fraction, the largest suffix of the family that stays whole."""
        number = self.nano
        if number == 0:
            return "0"
        sign, number = ("-", -number) if number < 0 else ("", number)
        if self.family == "binary" and number % _NANO == 0:
            whole = number // _NANO
            # Below 1 Ki the binary family has no suffix of its own, and upstream falls back to plain decimal.
            if whole >= 1024:
                for name, shift in reversed(_BINARY.items()):
                    if whole % (1 << shift) == 0:
                        return f"{sign}{whole >> shift}{name}"
                return f"{sign}{whole}"
        exponent = -9
        while number % 1000 == 0 and exponent < 18:
            number //= 1000
            exponent += 3
        if self.family == "exponent":
            return f"{sign}{number}e{exponent}" if exponent else f"{sign}{number}"
        return f"{sign}{number}{_DECIMAL_SUFFIX[exponent]}"


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """Return upstream's spelling: a text that it takes for canonical stays, another is spelled anew.

    `0.5` → `500m`, `1024Mi` → `1Gi`, `1000` → `1k`, `1.5Gi` → `1536Mi`, `1.234` → `1.234`, `+1` → `+1`.

    Raises:
        QuantityError: the text is no quantity.
    """
    amount = Amount.read(text)
    return text if _stays(text) else str(amount)


def _stays(text: str) -> bool:
    """Return whether upstream keeps the text of a quantity as it was sent (what ParseQuantity has a fast way for)."""
    match = _PATTERN.fullmatch(text)
    assert match is not None, f"a quantity: {text}"
    whole, fraction, suffix = (match["whole"] or "").lstrip("0"), match["fraction"] or "", match["suffix"] or ""
    if not whole:
        return False
    if suffix in _BINARY:
        return not fraction and 14 - len(whole) - _BINARY[suffix] * 3 // 10 >= 0 and int(whole) & 7 != 0
    scale = (_DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])) - len(fraction)
    digits = whole + fraction
    return len(digits) <= _FAST_DIGITS and scale >= -9 and scale % 3 == 0 and not digits.endswith("000")
