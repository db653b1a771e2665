"""The rule file for Prometheus: what is in it, that promtool takes it, and that both forms of a rule
alert at the same moments on the same series."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from fwctl.operate.exporter import parse_page
from fwctl.operate.rules import RULES
from fwctl.operate.rules_prometheus import rule_file
from fwctl.operate.watch import Look, judge, remember
from fwctl.operate.watch_state import State, step
from fwctl.spec.model import Deployment
from tests.operate.support import ACCOUNT, NOW, PRICES, entry, live, spec

OWN = entry("chat", slo__ttft_p95_ms=800, slo__error_rate="0.5%")
PROMTOOL = shutil.which("promtool")
# Values of `chat`, minute by minute.
MINUTES = 40
SERIES: dict[str, list[float]] = {
    "generator_kv_blocks_fraction:avg_by_deployment": [0.5] * 5 + [0.95] * 12 + [0.5] * 23,
    "request_counter_total:sum_by_deployment": [2.0] * 40,
    'requests_error_total:sum_by_deployment{http_code="500"}': [0.0] * 10 + [0.015] * 9 + [0.0] * 21,
}
LATENCIES = {
    "latency_to_first_token_ms": [300.0] * 8 + [900.0] * 7 + [300.0] * 3 + [900.0] * 12 + [300.0] * 10,
    "latency_prefill_queue_ms": [10.0] * 20 + [9000.0] * 10 + [10.0] * 10,
}
# Values of `plain`, which has no objective of its own and two rows of each series.
PLAIN: dict[str, list[float]] = {
    'generator_kv_blocks_fraction:avg_by_deployment{row="1"}': [0.2] * 40,
    'generator_kv_blocks_fraction:avg_by_deployment{row="2"}': [0.95] * 6 + [0.2] * 34,
    'request_counter_total:sum_by_deployment{row="1"}': [1.0] * 40,
    'request_counter_total:sum_by_deployment{row="2"}': [1.0] * 40,
    'requests_error_total:sum_by_deployment{http_code="503"}': [0.015] * 20 + [0.03] * 7 + [0.0] * 13,
}
EDGES = (100, 500, 1000, 5000)  # a value above the last one lies in the open bucket


def written(deployments: Mapping[str, Deployment] | None = None) -> Any:
    return yaml.safe_load(rule_file(RULES, deployments or {}))["groups"][0]["rules"]


def named(name: str, rows: Any) -> Any:
    return next((row for row in rows if row["alert"] == name), None)


def test_the_file_holds_thresholds_times_and_severities() -> None:
    row = named("fwctl_kv_nearly_full", written())
    assert row["expr"] == ("max by (deployment_id) (generator_kv_blocks_fraction:avg_by_deployment) >= 0.9")
    assert (row["for"], row["keep_firing_for"], row["labels"]) == ("300s", "300s", {"severity": "warning"})


def test_series_are_never_put_through_rate() -> None:
    text = rule_file(RULES, {"chat": OWN})
    assert "rate(" not in "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def test_objectives_of_the_specs_stand_beside_the_default() -> None:
    rows = written({"chat": OWN, "b.c": entry("b", slo__error_rate="2%")})
    text = named("fwctl_error_rate", rows)["expr"]
    assert '{deployment_id="chat"}) > 0.005' in text
    assert '{deployment_id="b.c"}) > 0.02' in text
    assert r'{deployment_id!~"b\\.c|chat"}) > 0.01' in text
    assert named("fwctl_slow_first_token", written()) is None  # no objective, no rule
    assert named("fwctl_slow_first_token", rows)["expr"].endswith("> 800)")


def test_what_the_exporter_cannot_say_is_named() -> None:
    assert "# Only `fwctl watch` can judge: at-max-replicas, saturated," in rule_file(RULES, {})


def test_no_rule_at_all_is_still_a_file() -> None:
    assert yaml.safe_load(rule_file([], {}))["groups"][0]["rules"] == []


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
@pytest.mark.parametrize("deployments", [{}, {"chat": OWN}])
def test_promtool_takes_the_file(tmp_path: Path, deployments: dict[str, Deployment]) -> None:
    (tmp_path / "rules.yml").write_text(rule_file(RULES, deployments))
    done = run_promtool(tmp_path, "check", "rules", "rules.yml")
    assert done.returncode == 0, done.stdout + done.stderr


def run_promtool(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    assert PROMTOOL is not None
    return subprocess.run(
        [PROMTOOL, *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


def buckets(name: str, values: list[float], *, rate: float = 2.0) -> Iterator[tuple[str, list[float]]]:
    """Series of one histogram in which all requests of a minute take the same time."""
    for edge in (*EDGES, "+Inf"):
        limit = float("inf") if edge == "+Inf" else float(edge)
        yield (
            f'{name}_bucket:sum_by_deployment{{le="{edge}"}}',
            [rate if value <= limit else 0.0 for value in values],
        )


def all_series() -> dict[str, list[float]]:
    found = dict(SERIES)
    for name, values in LATENCIES.items():
        found |= dict(buckets(name, values))
    own = {labelled(name, "chat"): values for name, values in found.items()}
    return own | {labelled(name, "plain"): values for name, values in PLAIN.items()}


def labelled(series: str, id_: str) -> str:
    name, _, rest = series.partition("{")
    more = f",{rest.rstrip('}')}" if rest else ""
    return f'{name}{{deployment="accounts/acme/deployments/{id_}",deployment_id="{id_}"{more}}}'


def firing_by_watch() -> dict[tuple[str, str], set[int]]:
    """Alert and deployment -> minutes at which it fires, by the built-in rules on pages of these series."""
    state, found = State(), {}
    running = {"chat": live(), "plain": live("plain")}
    for minute in range(MINUTES):
        now = NOW + timedelta(minutes=minute)
        stamp = round(now.timestamp() * 1000)
        text = "".join(f"{name} {values[minute]} {stamp}\n" for name, values in all_series().items())
        look = Look(now, ACCOUNT, running, spec(OWN), PRICES, True, parse_page(text, now), now)
        remember(state, look)
        step(state, judge(look, state), now)
        for alert in state.firing():
            key = (f"fwctl_{alert.rule.replace('-', '_')}", alert.subject)
            found.setdefault(key, set()).add(minute)
    return found


# By hand: true from, hold 5; not true from, resolve 5.
EXPECTED = {
    ("fwctl_kv_nearly_full", "chat"): set(range(10, 22)),  # 5 + 5 to 17 + 5
    ("fwctl_kv_nearly_full", "plain"): set(range(5, 11)),  # the higher of its rows, 0 + 5 to 6 + 5
    # 0.015 / 2 = 0.75 % from 10 to 19, over its own 0.5 %
    ("fwctl_error_rate", "chat"): set(range(15, 24)),
    # 0.75 % is under the default of 1 %; 0.03 / (1 + 1) = 1.5 % from 20 to 27 is not
    ("fwctl_error_rate", "plain"): set(range(25, 32)),
    # 900 from 8 to 15, again from 18 before it resolves at 20, until 30
    ("fwctl_slow_first_token", "chat"): set(range(13, 35)),
    ("fwctl_queueing", "chat"): set(range(25, 35)),  # beyond the last edge, which is over the limit
}


def test_the_built_in_rules_alert_as_worked_out_by_hand() -> None:
    assert firing_by_watch() == EXPECTED


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
def test_prometheus_alerts_at_the_same_minutes(tmp_path: Path) -> None:
    # the annotation of the value moves with the value, and promtool compares annotations too
    rows = rule_file(RULES, {"chat": OWN}).replace('          value: "{{ $value }}"\n', "")
    (tmp_path / "rules.yml").write_text(rows)
    names = sorted(row["alert"] for row in yaml.safe_load(rows)["groups"][0]["rules"])
    checks = [
        {
            "eval_time": f"{minute}m",
            "alertname": name,
            "exp_alerts": [
                expected(name, id_, rows)
                for (alert, id_), minutes in EXPECTED.items()
                if alert == name and minute in minutes
            ],
        }
        for name in names
        for minute in range(MINUTES)
    ]
    series = [
        {"series": name, "values": " ".join(f"{value:g}" for value in values)}
        for name, values in all_series().items()
    ]
    document = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": "1m",
        "tests": [{"interval": "1m", "input_series": series, "alert_rule_test": checks}],
    }
    (tmp_path / "tests.yml").write_text(json.dumps(document))
    done = run_promtool(tmp_path, "test", "rules", "tests.yml")
    assert done.returncode == 0, done.stdout + done.stderr


def expected(name: str, id_: str, rows: str) -> dict[str, Any]:
    row = named(name, yaml.safe_load(rows)["groups"][0]["rules"])
    return {
        "exp_labels": {**row["labels"], "deployment_id": id_},
        "exp_annotations": {
            "summary": row["annotations"]["summary"].replace("{{ $labels.deployment_id }}", id_)
        },
    }
