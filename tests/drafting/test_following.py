"""Acceptance in windows of traffic, against that of the evaluation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from fwctl.drafting.following import followed, said, windows_of
from fwctl.speculation.drift import Window

NOW = datetime(2026, 12, 1, tzinfo=UTC)
DAY_S = 86400.0


def rows(acceptance: str, days: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "started_at": (NOW - timedelta(days=day, hours=1)).isoformat(),
            "target": "chat",
            "server": {"speculation-acceptance": acceptance},
            **more,
        }
        for day in range(days)
        for _ in range(40)
    ]


def judged(found: list[dict[str, Any]]) -> dict[str, Any]:
    base = Window.of((100.0, 140.0 + at % 3) for at in range(60))
    return followed(base, windows_of(found, "chat", DAY_S, NOW))


def test_a_fall_over_three_days_is_told() -> None:
    found = judged(rows("0:60/100,1:30/100", 3))  # 1.9 tokens a pass, from 2.41
    assert found["trend"] == "fall"
    assert len(found["windows"]) == 3
    assert "acceptance fell (-21% tokens a pass" in said(found)


def test_a_rise_is_told_and_no_change_is_not() -> None:
    assert judged(rows("0:95/100,1:90/100", 3))["trend"] == "rise"
    assert judged(rows("0:80/100,1:61/100", 3))["trend"] == "steady"


def test_two_days_are_too_few_and_other_deployments_do_not_count() -> None:
    found = judged(rows("0:60/100", 2) + rows("0:60/100", 5, target="other"))
    assert found["trend"] == "unknown"
    assert "there are 2" in said(found)
    assert judged([{}, {"started_at": "x"}, *rows("nonsense", 3)])["windows"] == []
