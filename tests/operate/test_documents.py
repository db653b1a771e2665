"""docs/json.md and docs/watch.md say what cost and watch really give."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fwctl.operate.rules import RULES
from fwctl.operate.rules_model import Hit, Judged
from fwctl.operate.watch_config import described_rules
from fwctl.operate.watch_state import State, step
from fwctl.units import short_duration
from tests.operate.support import NOW
from tests.operate.test_cost_sheet import body, findings  # noqa: F401 - fixtures

DOCS = Path(__file__).parents[2] / "docs"
HEAD = {"account", "sources", "price_dates"}  # from the command, not from the arithmetic
SEVERITY = {"error": "critical", "warning": "warning", "note": "info"}


def documented(heading: str) -> set[str]:
    text = (DOCS / "json.md").read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return {key for cell in cells for key in re.findall(r"`([^`]+)`", cell)}


def listed(heading: str, key: str) -> set[str]:
    """Keys of the rows of a list that the table of a document describes in one cell."""
    text = (DOCS / "json.md").read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    (row,) = [line for line in text.splitlines() if line.startswith(f"| `{key}` |")]
    return set(re.findall(r"`([^`]+)`", row.split("|")[2]))


def keys(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    return {key for row in rows for key in row}


def test_the_keys_of_cost_are_listed(body: dict[str, Any]) -> None:  # noqa: F811
    assert set(body) | HEAD == documented("cost")
    assert keys(body["days"]) == documented("days of cost")
    assert keys(body["reconciliation"]) == documented("reconciliation of cost")
    assert keys(body["trends"]) == listed("cost", "trends")
    assert keys(body["deployments"]) == listed("cost", "deployments") | (
        documented("days of cost") - {"day", "source", "tokens_source", "usd_per_gpu_hour"}
    )


def test_the_keys_of_an_alert_and_of_the_rules_are_listed() -> None:
    state = State()
    step(state, [Judged(RULES[0], "a", "a", Hit("e", "f"))], NOW)
    assert keys(alert.to_json() for alert in state.alerts.values()) == documented("alerts of watch")
    assert keys(described_rules(RULES)) == listed("watch rules", "rules")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_page_lists_each_rule_with_its_numbers(rule: Any) -> None:
    (line,) = [
        line for line in (DOCS / "watch.md").read_text().splitlines() if line.startswith(f"| `{rule.name}` |")
    ]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[1] == SEVERITY[rule.severity.value]
    assert cells[3] == (short_duration(rule.hold_s) if rule.hold_s else "0")
    for name, value in rule.limits.items():
        assert f"`{name}`" in cells[4]
        assert not value or f"{value:g}" in cells[4]
    assert rule.objective is None or f"`{rule.objective}`" in cells[4]
