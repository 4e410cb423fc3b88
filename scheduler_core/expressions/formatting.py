"""`format`: a text with values in its places.

Source: cel-go/ext (formatting.go, version 2, locale en_US): the clauses %s %d %f %e %b %o %x %X and %%.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

from cel_expr_python import cel

_PRECISION: Final = 6
_PRECISION_MAX: Final = 10_000
_RAISED: Final = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
_UNBOUND: Final = {"NaN": "NaN", "Infinity": "\u221e", "-Infinity": "-\u221e"}


class Clause(NamedTuple):
    """One place of a text, or what stands between two.

    Attributes:
        verb: its letter; empty: `text` stands there as it is.
        text: what stands there.
        precision: digits behind the point, None where the clause names none.
    """

    verb: str
    text: str = ""
    precision: int | None = None


def clauses(text: str) -> Iterator[Clause]:
    """Yield the parts of a text one after the other.

    Raises:
        ValueError: one cannot be read; the words are cel-go's.
    """
    at = 0
    while at < len(text):
        found = text.find("%", at)
        if found < 0:
            yield Clause("", text[at:])
            return
        if found > at:
            yield Clause("", text[at:found])
        at = found + 1
        if at >= len(text):
            raise ValueError("unexpected end of string")
        if text[at] == "%":
            yield Clause("", "%")
            at += 1
            continue
        precision: int | None = None
        if text[at] == ".":
            precision, at = _precision(text, at + 1)
        verb = text[at]
        if verb not in _VERBS:
            raise ValueError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')
        yield Clause(verb, precision=precision)
        at += 1


def _precision(text: str, at: int) -> tuple[int, int]:
    """Return the digits behind the point that a clause asks for, and where its letter stands."""
    end = at
    while end < len(text) and text[end].isdigit():
        end += 1
    why = "could not parse formatting clause: error while parsing precision: "
    if end >= len(text):
        raise ValueError(f"{why}could not find end of precision specifier")
    if end == at:
        raise ValueError(f'{why}error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax')
    return min(int(text[at:end]), _PRECISION_MAX), end


def formatted(text: str, values: Sequence[Any]) -> str:
    """Return a text with values in its places.

    Raises:
        ValueError: a clause cannot be read, a value is missing or is not of the clause's kind; cel-go's words.
    """
    parts: list[str] = []
    used = 0
    for clause in clauses(text):
        if not clause.verb:
            parts.append(clause.text)
            continue
        if used >= len(values):
            raise ValueError(f"index {used} out of range")
        try:
            parts.append(_VERBS[clause.verb](values[used], clause.precision))
        except ValueError as wrong:
            raise ValueError(f"error during formatting: {wrong}") from wrong
        used += 1
    if used < len(values):
        raise ValueError(f"too many arguments supplied to string.format (expected {used}, got {len(values)})")
    return "".join(parts)


def kind_of(value: Any) -> str:
    """Return how upstream names the type of a value."""
    kinds: tuple[tuple[Any, str], ...] = (
        (bool, "bool"), (int, "int"), (float, "double"), (str, "string"), ((bytes, bytearray), "bytes"),
        (datetime, "google.protobuf.Timestamp"), (timedelta, "google.protobuf.Duration"), (Mapping, "map"),
        (type(None), "null_type"), (cel.Type, "type"),
    )  # fmt: skip
    return next((name for kind, name in kinds if isinstance(value, kind)), "list")


def _text(value: Any, precision: int | None = None) -> str:
    match value:
        case str():
            return value
        case bytes() | bytearray():
            return bytes(value).decode(errors="replace")
        case float():
            return _shortest(value)
        case datetime() | timedelta():
            return _moment(value)
        case _:
            return _inner(value)


def _inner(value: Any) -> str:
    """Return a value as it stands in a list: texts in quotes, times as they are written."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return f"{value:.6f}" if math.isfinite(value) else f'"{_shortest(value)}"'
        case str():
            return f'"{value}"'
        case bytes() | bytearray():
            return f'b"{bytes(value).decode(errors="replace")}"'
        case datetime():
            return f'timestamp("{_moment(value)}")'
        case timedelta():
            return f'duration("{_moment(value)}")'
        case Mapping():
            pairs = sorted((_key(key), _inner(one)) for key, one in value.items())
            return f"{{{', '.join(f'{key}:{one}' for key, one in pairs)}}}"
        case cel.Type():
            return str(value.name()).lower()
        case _:
            return f"[{', '.join(map(_inner, value))}]"


def _key(key: Any) -> str:
    return f'"{key}"' if isinstance(key, str) else _inner(key)


def _moment(value: datetime | timedelta) -> str:
    """Return a time or a span as protobuf's JSON has it, without the zeros behind."""
    if isinstance(value, timedelta):
        micros = round(value / timedelta(microseconds=1))
        whole, part = divmod(abs(micros), 1_000_000)
        fraction = f".{part:06}".rstrip("0").rstrip(".")
        return f"{'-' if micros < 0 else ''}{whole}{fraction}s"
    moment = value.astimezone(UTC) if value.tzinfo else value
    fraction = f".{moment.microsecond:06}".rstrip("0").rstrip(".")
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def _shortest(value: float) -> str:
    """Return a number in the fewest digits that tell it: with a power of ten below -4 and from 21 on, as Go has it."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    sign, digits, point = Decimal(repr(value)).as_tuple()
    told = "".join(map(str, digits)).rstrip("0") or "0"
    power = len(digits) + int(point) - 1 if value else 0
    minus = "-" if sign else ""
    if not -4 <= power < 21:
        return f"{minus}{told[0]}{'.' + told[1:] if len(told) > 1 else ''}e{power:+03d}"
    if power < 0:
        return f"{minus}0.{'0' * (-power - 1)}{told}"
    whole, rest = told[: power + 1].ljust(power + 1, "0"), told[power + 1 :]
    return f"{minus}{whole}{'.' + rest if rest else ''}"


def _decimal(value: Any, precision: int | None) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str) or (
        isinstance(value, str) and value not in _UNBOUND
    ) or (isinstance(value, float) and math.isfinite(value)):  # fmt: skip
        raise ValueError(f"decimal clause can only be used on integers, was given {kind_of(value)}")
    return str(value)


def _number(value: Any, clause: str) -> float | str:
    if isinstance(value, str) and value in _UNBOUND:
        return _UNBOUND[value]
    if not isinstance(value, float):
        raise ValueError(f"{clause} clause can only be used on doubles, was given {kind_of(value)}")
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "\u221e" if value > 0 else "-\u221e"
    return value


def _fixed(value: Any, precision: int | None) -> str:
    number = _number(value, "fixed-point")
    digits = _PRECISION if precision is None else precision
    return number if isinstance(number, str) else f"{number:,.{digits}f}"


def _scientific(value: Any, precision: int | None) -> str:
    number = _number(value, "scientific")
    if isinstance(number, str):
        return number
    # Whatever precision is asked for: cel-go forgets it here.
    mantissa, _, exponent = f"{number:.{_PRECISION}e}".partition("e")
    return f"{mantissa}\u00d710{exponent.removeprefix('+').translate(_RAISED)}"


def _signed(value: int, form: str) -> str:
    return f"{value:{form}}"


def _binary(value: Any, precision: int | None) -> str:
    if not isinstance(value, int):
        raise ValueError(f"only integers and bools can be formatted as binary, was given {kind_of(value)}")
    return _signed(int(value), "b")


def _octal(value: Any, precision: int | None) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"octal clause can only be used on integers, was given {kind_of(value)}")
    return _signed(value, "o")


def _hex(form: str) -> Callable[[Any, int | None], str]:
    def answer(value: Any, precision: int | None) -> str:
        if isinstance(value, str | bytes | bytearray):
            found = (value.encode() if isinstance(value, str) else value).hex()
            return found.upper() if form == "X" else found
        if isinstance(value, bool) or not isinstance(value, int):
            given = kind_of(value)
            raise ValueError(f"only integers, byte buffers, and strings can be formatted as hex, was given {given}")
        return _signed(value, form)

    return answer


_VERBS: Final[Mapping[str, Callable[[Any, int | None], str]]] = {
    "s": _text, "d": _decimal, "f": _fixed, "e": _scientific, "b": _binary, "o": _octal, "x": _hex("x"),
    "X": _hex("X"),
}  # fmt: skip
