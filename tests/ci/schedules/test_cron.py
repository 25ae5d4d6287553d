"""Cron expressions and time zones."""

from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from ingot.ci.cron.expressions import InvalidCron, next_occurrence
from ingot.ci.cron.time_zones import RAILS_NAMES, time_zone_or_none


def _occurrences(cron: str, zone: str, start: str, count: int) -> list[str]:
    time_zone = time_zone_or_none(zone)
    assert time_zone is not None
    moment = datetime.fromisoformat(start)
    found = []
    for _ in range(count):
        moment = next_occurrence(cron, time_zone, moment).astimezone(UTC)
        found.append(f"{moment:%Y-%m-%dT%H:%M}")
    return found


@pytest.mark.parametrize(
    ("cron", "zone", "start", "expected"),
    [
        ("0 0 31 * *", "UTC", "2026-01-31T12:00Z", ["2026-03-31T00:00", "2026-05-31T00:00"]),
        ("0 0 29 2 *", "UTC", "2026-01-01T00:00Z", ["2028-02-29T00:00", "2032-02-29T00:00"]),
        ("*/15 9-10 * * mon-fri", "UTC", "2026-11-13T10:40Z", ["2026-11-13T10:45", "2026-11-16T09:00"]),
        ("@daily", "UTC", "2026-11-16T00:00Z", ["2026-11-17T00:00", "2026-11-18T00:00"]),
        # A time in the skipped hour happens once, right afterwards.
        ("30 2 * * *", "Berlin", "2026-03-28T12:00Z", ["2026-03-29T01:00", "2026-03-30T00:30"]),
        # A time in the repeated hour happens once.
        ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", ["2026-10-25T00:30", "2026-10-26T01:30"]),
        # The same, when the schedule is created between the two.
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T01:15Z", ["2026-10-26T01:30"]),
        # Every half hour means every half hour.
        (
            "*/30 * * * *",
            "Europe/Berlin",
            "2026-10-25T00:15Z",
            ["2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30", "2026-10-25T02:00"],
        ),
        ("0 0 * * *", "Eastern Time (US & Canada)", "2026-07-01T12:00Z", ["2026-07-02T04:00", "2026-07-03T04:00"]),
    ],
)
def test_next_occurrences(cron: str, zone: str, start: str, expected: list[str]) -> None:
    """Times are in the schedule's time zone, and right when clocks change."""
    assert _occurrences(cron, zone, start, len(expected)) == expected


def test_every_occurrence_is_later_than_the_one_before() -> None:
    """Also in the nights in which clocks change, in both hemispheres."""
    for zone in ("Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns"):
        for cron in ("*/7 * * * *", "15,45 1-3 * * *", "0 2 * * 0"):
            for start in ("2026-03-28T12:00Z", "2026-10-24T12:00Z", "2026-04-04T00:00Z", "2026-10-31T12:00Z"):
                found = _occurrences(cron, zone, start, 20)
                assert all(before < after for before, after in pairwise(found)), (zone, cron, found)


@pytest.mark.parametrize(
    "cron",
    [
        "",
        "invalid-cron",
        "*********",
        "* * * *",
        "* * * * * *",
        "61 * * * *",
        "*/0 * * * *",
        "0 0 30 2 *",
        "'0 * * * *'",
        "every 3h",
        "@reboot",
        "* " * 200,
    ],
)
def test_invalid_expressions_are_refused(cron: str) -> None:
    """Expressions need five fields and must match a moment."""
    with pytest.raises(InvalidCron):
        next_occurrence(cron, ZoneInfo("UTC"), datetime.now(UTC))


def test_time_zones_have_two_kinds_of_names() -> None:
    """All names of Rails exist; paths and unknown names do not."""
    assert len(RAILS_NAMES) == 151
    assert [name for name in RAILS_NAMES if time_zone_or_none(name) is None] == []
    invalid = ("Invalid-zone", "", "../etc/passwd", "/etc/passwd", "Europe", "x" * 300, "a\0b")
    assert [name for name in invalid if time_zone_or_none(name) is not None] == []
