"""What a flag is: its name, its format, its default, what it does; and the values in force.

    PERIOD = duration("kube-controller-manager", "node-monitor-period", "5s", "…")
    flags[PERIOD]                      # 5000: durations are milliseconds

Formats and the sentences about bad values are those of Go's `strconv`, `time` and `spf13/pflag`, which upstream's
components parse their command lines with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, TypeVar

from scheduler_core.api.booleans import FALSE, TRUE

T = TypeVar("T")

Component = Literal["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy"]

COMPONENTS: Final[tuple[Component, ...]] = (
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
)

PERIOD_MIN_MS: Final = 100
"""The shortest period of a flag, in milliseconds: shorter rounds would leave time for nothing else."""

WORKERS_MAX: Final = 500
"""The most keys that a controller may be told to work on at the same time."""


@dataclass(frozen=True)
class Flag(Generic[T]):
    """One flag of one component.

    Attributes:
        component: whose.
        name: upstream's, without the dashes.
        format: what is written: duration, int, float, bool, string, list.
        text: the default, as it is written.
        does: what it changes here, a sentence.
        parse: returns the value of a text; raises ValueError with the parser's sentence.
        default: the value of `text`.
        ours: upstream has no such flag.
    """

    component: Component
    name: str
    format: str
    text: str
    does: str
    parse: Callable[[str], T] = field(repr=False, compare=False)
    default: T
    ours: bool = False


class Flags:
    """The flags in force. `flags[FLAG]` is a flag's value, its default where nothing else was set."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[tuple[str, str], Any] | None = None) -> None:
        """Hold values by (component, name); flags that are not among them have their defaults."""
        self._values: Mapping[tuple[str, str], Any] = values or {}

    def __getitem__(self, flag: Flag[T]) -> T:
        """Return a flag's value."""
        value: T = self._values.get((flag.component, flag.name), flag.default)
        return value


class InForce:
    """The flags in force now: what components are handed. They read it when they need a value and keep none of it."""

    __slots__ = ("current",)

    def __init__(self, flags: Flags | None = None) -> None:
        """Begin with these flags; None: the defaults."""
        self.current = flags or Flags()

    def __getitem__(self, flag: Flag[T]) -> T:
        """Return a flag's value."""
        return self.current[flag]


# -- formats ------------------------------------------------------------------------------------------------------

_UNITS_NS: Final[Mapping[str, int]] = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([^\d.]*)")
_WHOLE: Final = re.compile(r"[+-]?\d+")
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_INT32_MAX: Final = 2**31 - 1


def parse_duration(text: str) -> int:
    """Return the milliseconds of a Go duration (`1m30s`, `300ms`, `1.5h`, `0`).

    Raises:
        ValueError: it is none; the sentence is that of Go's `time.ParseDuration`.
    """
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return 0
    whole_ns, at = 0.0, 0
    for part in _PART.finditer(rest):
        if part.start() != at:
            break
        unit = part[2]
        if not unit:
            raise ValueError(f'time: missing unit in duration "{text}"')
        if unit not in _UNITS_NS:
            raise ValueError(f'time: unknown unit "{unit}" in duration "{text}"')
        whole_ns += float(part[1]) * _UNITS_NS[unit]
        at = part.end()
    if not rest or at != len(rest) or whole_ns >= 2**63:
        raise ValueError(f'time: invalid duration "{text}"')
    return sign * round(whole_ns / 1_000_000)


def _parse_int(text: str) -> int:
    if _WHOLE.fullmatch(text) is None:
        raise ValueError(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    if len(text) > 11 or abs(int(text)) > _INT32_MAX:
        raise ValueError(f'strconv.ParseInt: parsing "{text}": value out of range')
    return int(text)


def _parse_float(text: str) -> float:
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(f'strconv.ParseFloat: parsing "{text}": invalid syntax')
    return float(text)


def _parse_bool(text: str) -> bool:
    if text in TRUE or text in FALSE:
        return text in TRUE
    raise ValueError(f'strconv.ParseBool: parsing "{text}": invalid syntax')


def _within(parse: Callable[[str], Any], least: Any, most: Any, told: Callable[[Any], str]) -> Callable[[str], Any]:
    def checked(text: str) -> Any:
        value = parse(text)
        if (least is not None and value < least) or (most is not None and value > most):
            ends = (("at least", least), ("at most", most))
            raise ValueError("must be " + " and ".join(f"{end} {told(to)}" for end, to in ends if to is not None))
        return value

    return checked


def _told_ms(ms: int) -> str:
    return f"{ms}ms" if ms % 1000 else f"{ms // 1000}s"


def duration(
    component: Component,
    name: str,
    default: str,
    does: str,
    *,
    least_ms: int = PERIOD_MIN_MS,
    most_ms: int | None = None,
    ours: bool = False,
) -> Flag[int]:
    """Return a flag of a duration, in milliseconds."""
    parse = _within(parse_duration, least_ms, most_ms, _told_ms)
    return Flag(component, name, "duration", default, does, parse, parse(default), ours)


def whole(
    component: Component,
    name: str,
    default: int,
    does: str,
    *,
    least: int | None = 0,
    most: int | None = None,
    ours: bool = False,
) -> Flag[int]:
    """Return a flag of a whole number."""
    parse = _within(_parse_int, least, most, str)
    return Flag(component, name, "int", str(default), does, parse, default, ours)


def workers(component: Component, name: str, default: int, does: str) -> Flag[int]:
    """Return a flag of how many keys a controller works on at the same time."""
    return whole(component, name, default, does, least=1, most=WORKERS_MAX)


def fraction(
    component: Component, name: str, default: str, does: str, *, least: float | None = 0, most: float | None = None
) -> Flag[float]:
    """Return a flag of a number with a fraction."""
    parse = _within(_parse_float, least, most, lambda value: f"{value:g}")
    return Flag(component, name, "float", default, does, parse, parse(default))


def switch(component: Component, name: str, default: bool, does: str) -> Flag[bool]:
    """Return a flag that is true or false."""
    return Flag(component, name, "bool", "true" if default else "false", does, _parse_bool, default)


def word(
    component: Component,
    name: str,
    default: str,
    does: str,
    *,
    check: Callable[[str], None] | None = None,
    ours: bool = False,
) -> Flag[str]:
    """Return a flag of a text. `check` raises ValueError for texts that are refused."""

    def parse(text: str) -> str:
        if check is not None:
            check(text)
        return text

    return Flag(component, name, "string", default, does, parse, default, ours)


ERA_NOW: Final = "v1.34"
ERA_THEN: Final = "v1.2"
"""The time of the first document: node phases, OutOfDisk, pods deleted by the node controller, pods made in bulk."""


def _era(text: str) -> None:
    if text not in (ERA_NOW, ERA_THEN):
        raise ValueError(f"must be one of {ERA_NOW}, {ERA_THEN}")


def era(component: Component, does: str) -> Flag[str]:
    """Return the flag of a component by which it behaves as it did at an earlier time."""
    return word(component, "era", ERA_NOW, does, check=_era, ours=True)


def listed(
    component: Component, name: str, default: str, does: str, *, check: Callable[[str], None] | None = None
) -> Flag[tuple[str, ...]]:
    """Return a flag of texts with commas between them. `check` raises ValueError for members that are refused."""

    def parse(text: str) -> tuple[str, ...]:
        members = tuple(text.split(",")) if text else ()
        for member in members:
            if check is not None:
                check(member)
        return members

    return Flag(component, name, "list", default, does, parse, parse(default))
