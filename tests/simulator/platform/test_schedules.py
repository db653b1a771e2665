from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from fwctl.simulator.platform import schedules, validation
from fwctl.simulator.platform.errors import PlatformError


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def row(cron: str, duration: str = "3600s", count: int = 2, **more: Any) -> dict[str, Any]:
    return {"schedule": cron, "duration": duration, "minReplicaCount": count, **more}


@pytest.mark.parametrize(
    ("cron", "now", "open_"),
    [
        ("0 8 * * 1-5", "2026-11-30T08:30", True),  # a Monday
        ("0 8 * * 1-5", "2026-11-29T08:30", False),  # a Sunday
        ("0 8 * * 1-5", "2026-11-30T09:00", False),
        ("0 8 * * 0", "2026-11-29T08:00", True),
        ("0 8 * * 7", "2026-11-29T08:00", True),
        ("*/30 * * * *", "2026-11-30T10:29", True),
        ("0 8 1 * *", "2026-12-01T08:10", True),
        ("0 8 1 * 1", "2026-11-30T08:10", True),  # day or weekday, as cron has it
        ("0 8 1 * 1", "2026-12-02T08:10", False),
        ("0 8 * 2 *", "2026-11-30T08:10", False),
        ("0,30 8-9/1 * * *", "2026-11-30T09:45", True),
        ("5/20 10 * * *", "2026-11-30T10:26", True),
    ],
)
def test_windows_open_when_cron_fires(cron: str, now: str, open_: bool):
    assert schedules.floor_at([row(cron, "1800s" if "*/30" in cron else "3600s")], at(now)) == (
        2 if open_ else 0
    )


def test_zones_count():
    # 08:00 in New York is 13:00 UTC on 30 November.
    there = row("0 8 * * *", timezone="America/New_York")
    assert schedules.floor_at([there], at("2026-11-30T13:30")) == 2
    assert schedules.floor_at([there], at("2026-11-30T08:30")) == 0


def test_the_highest_open_window_wins():
    rows = [row("* * * * *", count=1), row("* * * * *", count=5), row("* * * * *", count=9, disabled=True)]
    assert schedules.floor_at(rows, at("2026-11-30T10:00")) == 5


def test_the_next_change_is_an_opening_or_a_closing():
    rows = [row("0 8 * * *"), row("0 20 * * *", disabled=True)]
    assert schedules.next_change(rows, at("2026-11-30T07:00"), at("2026-12-01T00:00")) == at(
        "2026-11-30T08:00"
    )
    assert schedules.next_change(rows, at("2026-11-30T08:00"), at("2026-12-01T00:00")) == at(
        "2026-11-30T09:00"
    )
    assert schedules.next_change(rows, at("2026-11-30T09:00"), at("2026-11-30T10:00")) == float("inf")


@pytest.mark.parametrize(
    "cron",
    ["", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "x * * * *", "5-1 * * * *", "*/0 * * * *"],
)
def test_bad_cron_is_refused(cron: str):
    with pytest.raises(ValueError, match=r"field|fields"):
        schedules.parse_cron(cron)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([row("bad")], "invalid scaling schedule"),
        ([row("* * * * *", "299s")], "between 300s and 604800s"),
        ([row("* * * * *", "604801s")], "between 300s and 604800s"),
        ([row("* * * * *", "300.5s")], "whole seconds"),
        ([row("* * * * *", count=9)], "min_replica_count cannot be greater"),
        ([row("* * * * *", timezone="Mars/Base")], 'unknown timezone "Mars/Base"'),
        ([row("* * * * *")] * 6, "at most 5"),
    ],
)
def test_bad_schedules_are_refused_at_create(rows: Any, text: str):
    with pytest.raises(PlatformError, match=text):
        validation.check({"maxReplicaCount": 3, "scalingSchedules": rows})
