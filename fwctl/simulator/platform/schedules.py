"""Scaling schedules: five-field cron in a time zone, opening windows with a replica floor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, tzinfo
from typing import Any, NamedTuple

from fwctl.simulator.timing import parse_wire_duration

Schedule = Mapping[str, Any]

# Field name, lowest and highest value of the five cron fields.
_FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12), ("weekday", 0, 7))
MIN_DURATION_S = 300
MAX_DURATION_S = 604_800
MAX_SCHEDULES = 5


class Cron(NamedTuple):
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    def fires_on(self, day: datetime) -> bool:
        """True when it fires at all on this day; day and weekday are alternatives when both are given."""
        if day.month not in self.months:
            return False
        on_day, on_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        if self.any_day or self.any_weekday:
            return on_day and on_weekday
        return on_day or on_weekday


def _part(text: str, low: int, high: int) -> set[int]:
    span, _, step = text.partition("/")
    first, dash, last = span.partition("-")
    start = low if first == "*" else int(first)
    end = high if first == "*" or (step and not dash) else int(last) if dash else start
    if not (low <= start <= end <= high) or (step and int(step) < 1):
        raise ValueError(text)
    return set(range(start, end + 1, int(step) if step else 1))


def parse_cron(text: str) -> Cron:
    """Five cron fields with `*`, lists, ranges and steps. ValueError says which field is wrong."""
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise ValueError(f'expected 5 fields, found {len(fields)}: "{text}"')
    sets = []
    for field, (name, low, high) in zip(fields, _FIELDS, strict=True):
        try:
            values = set().union(*(_part(part, low, high) for part in field.split(",")))
        except ValueError:
            raise ValueError(f'bad {name} field "{field}"') from None
        sets.append(frozenset(value % 7 if name == "weekday" else value for value in values))
    minutes, hours, days, months, weekdays = sets
    return Cron(minutes, hours, days, months, weekdays, fields[2] == "*", fields[4] == "*")


def _zone(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo

    return ZoneInfo(name or "UTC")


def _firings(schedule: Schedule, start: float, end: float) -> Iterable[float]:
    """Epoch seconds at which the schedule fires in (start, end], ascending."""
    cron = parse_cron(schedule["schedule"])
    zone = _zone(schedule.get("timezone", ""))
    day = datetime.fromtimestamp(start, zone).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    while day.replace(tzinfo=zone).timestamp() <= end:
        if cron.fires_on(day):
            for hour in sorted(cron.hours):
                for minute in sorted(cron.minutes):
                    fires = day.replace(hour=hour, minute=minute, tzinfo=zone).timestamp()
                    if start < fires <= end:
                        yield fires
        day += timedelta(days=1)


def floor_at(schedules: Iterable[Schedule], now: float) -> int:
    """The highest floor of the windows open at `now`, 0 when none is."""
    counts = [0]
    for schedule in schedules:
        duration_s = parse_wire_duration(schedule["duration"])
        if not schedule.get("disabled") and any(True for _ in _firings(schedule, now - duration_s, now)):
            counts.append(schedule.get("minReplicaCount", 0))
    return max(counts)


def next_change(schedules: Iterable[Schedule], after: float, until: float) -> float:
    """The first moment in (after, until] at which a window opens or closes; infinity when none does."""
    moments = [math.inf]
    for schedule in schedules:
        if schedule.get("disabled"):
            continue
        duration_s = parse_wire_duration(schedule["duration"])
        for fires in _firings(schedule, after - duration_s, until):
            moments += [at for at in (fires, fires + duration_s) if after < at <= until]
            if fires > after:
                break
    return min(moments)


def is_zone(name: str) -> bool:
    """True for an IANA zone this machine knows; empty means UTC."""
    from zoneinfo import ZoneInfoNotFoundError

    try:
        _zone(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
