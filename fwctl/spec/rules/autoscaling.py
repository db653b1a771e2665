"""Rules about windows, load targets and schedules."""

from __future__ import annotations

from collections.abc import Iterator

from fwctl.catalog.enums import LOAD_TARGETS
from fwctl.errors import Severity
from fwctl.spec.closest import did_you_mean
from fwctl.spec.cron import problem_of
from fwctl.spec.report import shown
from fwctl.spec.rules.registry import deployment_rule
from fwctl.spec.view import Finding, View
from fwctl.units import parse_duration, short_duration

_SHORTEST_TO_ZERO_S = 300  # server: scale_to_zero_window must be at least 5 minutes
_LONGEST_WINDOW_S = 3600  # protobuf bounds of scale_up_window and scale_down_window
_SHORTEST_SCHEDULE_S, _LONGEST_SCHEDULE_S = 300, 604_800  # OpenAPI 5.10.0, ScalingSchedule.duration
_MOST_SCHEDULES = 5
# Shares between 0 and 1; the others are counts or rates for one replica (autoscaling page).
_SHARES = frozenset(
    {
        "default",
        "serverless_uncached_input_capacity_utilization",
        "serverless_generated_capacity_utilization",
    }
)
_WINDOWS = ("autoscaling.scale_up_window", "autoscaling.scale_down_window")


@deployment_rule("FW303", Severity.ERROR)
def window_bounds(d: View) -> Iterator[Finding]:
    """An autoscaling window outside the platform's bounds.

    What it checks: `scale_to_zero_window` is `0s` or at least 5 minutes; `scale_up_window` and
    `scale_down_window` are at most 1 hour.

    Why it is bad: the platform refuses it (scale_to_zero_window must be at least 5 minutes).

    Example::

        autoscaling: {scale_to_zero_window: 4m}

    Use instead::

        autoscaling: {scale_to_zero_window: 5m}
    """
    idle = d.get("autoscaling.scale_to_zero_window")
    if idle is not None and 0 < parse_duration(idle) < _SHORTEST_TO_ZERO_S:
        yield d.finding(
            "autoscaling.scale_to_zero_window",
            f"scale_to_zero_window {_short(idle)} is under 5 minutes",
            "write 0s (the platform's default) or at least 5m",
        )
    for path in _WINDOWS:
        window = d.get(path)
        if window is not None and parse_duration(window) > _LONGEST_WINDOW_S:
            name = path.rpartition(".")[2]
            yield d.finding(path, f"{name} {_short(window)} is over 1 hour", "write 1h or less")


@deployment_rule("FW307", Severity.ERROR)
def load_targets(d: View) -> Iterator[Finding]:
    """An unknown load target, a value out of range, or no `default` among the targets (a warning).

    What it checks: every key of `autoscaling.load_targets` is one the platform knows (or named in
    `settings.accept_unknown`); `default` and the utilisation targets lie above 0 and at most at 1, all
    others above 0; `default` is among them.

    Why it is bad: the platform refuses an unknown key. Without `default` the usual metrics no longer
    count: firectl stopped adding it, and a deployment then scales on the named metric alone.

    Example::

        autoscaling: {load_targets: {gpu_cache_usage_pct: 0.5}}

    Use instead::

        autoscaling: {load_targets: {default: 0.8, concurrent_requests: 8}}
    """
    base = "autoscaling.load_targets"
    targets = d.get(base)
    if targets is None:
        return
    prefix = f"{base}."
    for path in [path for path in d.checked.places if path.startswith(prefix)]:
        key = path.removeprefix(prefix)
        value = targets.get(key)
        if key not in LOAD_TARGETS and key not in d.accept_unknown:
            suggestion = did_you_mean(key, LOAD_TARGETS) or "known: " + ", ".join(LOAD_TARGETS)
            yield d.finding(path, f"unknown load target {shown(key)}", suggestion)
        elif value is not None and not 0 < value <= (1 if key in _SHARES else float("inf")):
            bounds = "above 0 and at most 1" if key in _SHARES else "above 0"
            yield d.finding(path, f"load target {key} must be {bounds}, not {value:g}")
    if not d.written(f"{base}.default"):
        yield d.finding(
            base,
            "load_targets without default: the platform no longer adds it, so its usual metrics do not count",
            "add default: 0.8",
            Severity.WARNING,
        )


@deployment_rule("FW308", Severity.ERROR)
def schedules(d: View) -> Iterator[Finding]:
    """A schedule the platform would refuse.

    What it checks: at most 5 schedules; `cron` is a five-field expression that can ever match; `timezone`
    is an IANA name; `duration` is between 5 minutes and 7 days in whole seconds; `min_replicas` is at
    most `replicas.max`.

    Why it is bad: the platform refuses the whole deployment, or the floor never comes into force.

    Example::

        autoscaling: {schedules: [{cron: "61 * * * *", timezone: UTC, duration: 1h, min_replicas: 1}]}

    Use instead::

        autoscaling: {schedules: [{cron: "0 8 * * 1-5", timezone: UTC, duration: 1h, min_replicas: 1}]}
    """
    base = "autoscaling.schedules"
    rows = d.get(base)
    if rows is None:
        return
    if len(rows) > _MOST_SCHEDULES:
        yield d.finding(base, f"{len(rows)} schedules; the platform takes {_MOST_SCHEDULES}")
    for at, row in enumerate(rows):
        yield from _schedule(d, d.item(base, at), row)


def _schedule(d: View, path: str, row: dict[str, object]) -> Iterator[Finding]:
    cron, zone, length = row.get("cron"), row.get("timezone"), row.get("duration")
    if isinstance(cron, str) and (problem := problem_of(cron)) is not None:
        yield d.finding(
            f"{path}.cron", f"cron {shown(cron)}: {problem}", 'five fields, for example "0 8 * * 1-5"'
        )
    if isinstance(zone, str) and not _known_zone(zone):
        from fwctl.catalog.timezones import ZONES

        suggestion = did_you_mean(zone, ZONES) or "write an IANA name, for example Europe/London or UTC"
        yield d.finding(f"{path}.timezone", f"unknown time zone {shown(zone)}", suggestion)
    if isinstance(length, str):
        seconds = parse_duration(length)
        if not _SHORTEST_SCHEDULE_S <= seconds <= _LONGEST_SCHEDULE_S or seconds != int(seconds):
            message = f"schedule duration {_short(length)} is not between 5m and 7d in whole seconds"
            yield d.finding(f"{path}.duration", message)
    floor, ceiling = row.get("min_replicas"), d.get("replicas.max")
    if isinstance(floor, int) and ceiling is not None and floor > ceiling and not d.parked:
        message = f"schedule min_replicas {floor} is above replicas.max {ceiling}"
        yield d.finding(f"{path}.min_replicas", message, f"raise replicas.max to {floor}")


def _short(duration: str) -> str:
    return short_duration(parse_duration(duration))


def _known_zone(name: str) -> bool:
    from fwctl.catalog.timezones import ZONES

    return name in ZONES
