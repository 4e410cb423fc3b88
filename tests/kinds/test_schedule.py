"""Schedules of CronJobs: when they are due, and what is said of those that cannot be read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from controllers.kinds.batch.schedule import Every, ScheduleError, UnknownZone, read


def after(schedule: str, moment: str, zone: str | None = None) -> str | None:
    """Return when a schedule is due next, in UTC."""
    start = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    found = read(schedule, zone).next(int(start.timestamp()))
    return None if found is None else datetime.fromtimestamp(found, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@pytest.mark.parametrize(
    ("schedule", "moment", "due"),
    [
        ("* * * * *", "2026-01-01T00:00:00", "2026-01-01T00:01:00"),
        ("*/5 * * * *", "2026-01-01T00:04:59", "2026-01-01T00:05:00"),
        ("*/5 * * * *", "2026-01-01T23:56:00", "2026-01-02T00:00:00"),
        ("7-9,40/15 3 * * *", "2026-01-01T03:09:00", "2026-01-01T03:40:00"),
        ("7-9,40/15 3 * * *", "2026-01-01T03:40:00", "2026-01-01T03:55:00"),
        ("0 0 31 * *", "2026-01-31T00:00:00", "2026-03-31T00:00:00"),
        ("0 0 29 2 *", "2026-01-01T00:00:00", "2028-02-29T00:00:00"),
        ("0 12 13 * FRI", "2026-01-01T00:00:00", "2026-01-02T12:00:00"),
        ("0 12 */1 * fri", "2026-01-03T00:00:00", "2026-01-09T12:00:00"),
        ("0 0 1 jan,Jul ?", "2026-01-01T00:00:00", "2026-07-01T00:00:00"),
        ("@weekly", "2026-01-01T00:00:00", "2026-01-04T00:00:00"),
        ("@hourly", "2026-01-01T00:00:00", "2026-01-01T01:00:00"),
        ("@every 90s", "2026-01-01T00:00:00", "2026-01-01T00:01:30"),
    ],
)
def test_a_schedule_is_due_next_at(schedule: str, moment: str, due: str) -> None:
    assert after(schedule, moment) == due


def test_a_day_that_no_year_has_is_never_due() -> None:
    assert after("59 23 31 2 *", "2026-01-01T00:00:00") is None


def test_a_time_zone_moves_the_day_and_knows_its_summer() -> None:
    assert after("0 9 * * *", "2026-01-10T00:00:00", "Asia/Shanghai") == "2026-01-10T01:00:00"
    assert after("0 9 * * *", "2026-07-10T00:00:00", "Europe/Berlin") == "2026-07-10T07:00:00"
    assert after("30 2 * * *", "2026-03-28T12:00:00", "Europe/Berlin") == "2026-03-30T00:30:00", "there was no 2:30"


def test_every_is_at_least_a_second() -> None:
    assert read("@every 10ms") == Every(1)


@pytest.mark.parametrize(
    ("schedule", "why"),
    [
        ("", "empty spec string"),
        ("x", "expected exactly 5 fields, found 1: [x]"),
        ("* * * * * *", "expected exactly 5 fields, found 6: [* * * * * *]"),
        ("@reboot", "unrecognized descriptor: @reboot"),
        ("@every soon", 'failed to parse duration @every soon: time: invalid duration "soon"'),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'),
        ("TZ=No/Where * * * * *", "provided bad location No/Where: unknown time zone No/Where"),
    ],
)
def test_what_cannot_be_read_is_said_as_upstream_says_it(schedule: str, why: str) -> None:
    with pytest.raises(ScheduleError) as refusal:
        read(schedule)
    assert str(refusal.value) == why


def test_a_zone_that_is_not_known_is_refused() -> None:
    with pytest.raises(UnknownZone, match="unknown time zone No/Where"):
        read("* * * * *", "No/Where")
