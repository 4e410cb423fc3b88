"""Schedules of CronJobs: reading them, and when they are due next.

Source: github.com/robfig/cron v3 (parser.go, spec.go, constantdelay.go), which upstream reads them with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final, Protocol
from zoneinfo import ZoneInfo

from scheduler_core.profiles.component import duration_ns

YEARS_AHEAD: Final = 5
"""A schedule that is not due within so many years is never due."""

_INT64_MAX: Final = 2**63 - 1
_NUMBER: Final = re.compile(r"[+-]?[0-9]+")
_MONTH_NAMES: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS: Final = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_DAYS: Final = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}

_DESCRIPTORS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}

_FIELDS: Final[tuple[tuple[int, int, dict[str, int]], ...]] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _DAYS),
)
"""(least, most, names) of minute, hour, day of the month, month and day of the week."""


class Schedule(Protocol):
    """When something is due."""

    def next(self, unix_s: int) -> int | None:
        """Return the first moment after `unix_s`, in Unix seconds; None where there is none."""


class ScheduleError(ValueError):
    """A schedule cannot be read; its text is upstream's."""


class UnknownZone(ValueError):
    """There is no such time zone on this machine."""


@dataclass(frozen=True, slots=True)
class Every:
    """Due again and again after the same time."""

    seconds: int

    def next(self, unix_s: int) -> int | None:
        """Return the first moment after `unix_s`."""
        return unix_s + self.seconds


@dataclass(frozen=True, slots=True)
class Fields:
    """Due when minute, hour and day are among these."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    """Whether the day of the month or of the week is any: then both must fit, else one of them is enough."""
    zone: tzinfo

    def next(self, unix_s: int) -> int | None:
        """Return the first moment after `unix_s`."""
        first = datetime.fromtimestamp(unix_s + 1, self.zone)
        last = date(min(first.year + YEARS_AHEAD, date.max.year), 12, 31)
        day = first.date()
        while day <= last:
            if day.month not in self.months:
                day = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
                continue
            if self._fits(day):
                midnight = datetime(day.year, day.month, day.day, tzinfo=self.zone)
                found = self._within(day, max(unix_s + 1, int(midnight.timestamp())))
                if found is not None:
                    return found
            day += timedelta(days=1)
        return None

    def _fits(self, day: date) -> bool:
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return (in_month and in_week) if self.any_day else (in_month or in_week)

    def _within(self, day: date, unix_s: int) -> int | None:
        """Return the first moment of a day from `unix_s` on; hours that a change of the clock leaves out are none."""
        while True:
            local = datetime.fromtimestamp(unix_s, self.zone)
            if local.date() != day:
                return None
            if local.hour not in self.hours:
                unix_s += 3600 - 60 * local.minute - local.second
            elif local.minute not in self.minutes or local.second:
                unix_s += 60 - local.second
            else:
                return unix_s


def zone_of(name: str | None) -> tzinfo:
    """Return a time zone; none is UTC.

    Raises:
        UnknownZone: this machine knows none of that name.
    """
    if name in (None, "", "UTC"):
        return UTC
    try:
        return ZoneInfo(str(name))
    except (KeyError, ValueError, OSError) as error:
        raise UnknownZone(f"unknown time zone {name}") from error


def read(text: str, zone: str | None = None) -> Schedule:
    """Return what a schedule says, in a time zone.

    Raises:
        ScheduleError: it cannot be read.
        UnknownZone: the zone is not known.
    """
    if not text:
        raise ScheduleError("empty spec string")
    place = zone_of(zone)
    if text.startswith(("TZ=", "CRON_TZ=")):
        named, _, rest = text.partition(" ")
        try:
            place = zone_of(named.partition("=")[2])
        except UnknownZone as error:
            raise ScheduleError(f"provided bad location {named.partition('=')[2]}: {error}") from error
        text = rest.strip()
    if text.startswith("@"):
        if text.startswith("@every "):
            return _every(text.removeprefix("@every "))
        if text not in _DESCRIPTORS:
            raise ScheduleError(f"unrecognized descriptor: {text}")
        text = _DESCRIPTORS[text]
    parts = text.split()
    if len(parts) != len(_FIELDS):
        raise ScheduleError(f"expected exactly {len(_FIELDS)} fields, found {len(parts)}: [{' '.join(parts)}]")
    (minutes, _), (hours, _), (days, any_day), (months, _), (weekdays, any_weekday) = (
        _field(part, *bounds) for part, bounds in zip(parts, _FIELDS, strict=True)
    )
    return Fields(minutes, hours, days, months, weekdays, any_day or any_weekday, place)


def _every(text: str) -> Every:
    nanoseconds = duration_ns(text)
    if nanoseconds is None:
        raise ScheduleError(f'failed to parse duration @every {text}: time: invalid duration "{text}"')
    return Every(max(1, nanoseconds // 1_000_000_000))


def _field(text: str, least: int, most: int, names: dict[str, int]) -> tuple[frozenset[int], bool]:
    """Return the numbers of a field, and whether it is any."""
    found: set[int] = set()
    star = False
    for part in filter(None, text.split(",")):
        numbers, any_number = _range(part, least, most, names)
        found.update(numbers)
        star |= any_number
    return frozenset(found), star


def _range(text: str, least: int, most: int, names: dict[str, int]) -> tuple[range, bool]:
    whole, *steps = text.split("/")
    low, *highs = whole.split("-")
    star = low in ("*", "?")
    if star:
        start, end = least, most
    else:
        start = end = _number_or_name(low, names)
        if len(highs) > 1:
            raise ScheduleError(f"too many hyphens: {text}")
        if highs:
            end = _number_or_name(highs[0], names)
    if len(steps) > 1:
        raise ScheduleError(f"too many slashes: {text}")
    step = _number(steps[0]) if steps else 1
    if steps and not highs:
        end = most
    if start < least:
        raise ScheduleError(f"beginning of range ({start}) below minimum ({least}): {text}")
    if end > most:
        raise ScheduleError(f"end of range ({end}) above maximum ({most}): {text}")
    if start > end:
        raise ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        raise ScheduleError(f"step of range should be a positive number: {text}")
    return range(start, end + 1, step), star and step == 1


def _number_or_name(text: str, names: dict[str, int]) -> int:
    known = names.get(text.lower())
    return known if known is not None else _number(text)


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text) or not text.isascii():
        raise ScheduleError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    if len(text) > 20 or abs(int(text)) > _INT64_MAX:
        raise ScheduleError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": value out of range')
    if int(text) < 0:
        raise ScheduleError(f"negative number ({int(text)}) not allowed: {text}")
    return int(text)
