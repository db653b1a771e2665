"""Alerts of a watch as text."""

from __future__ import annotations

from typing import Any

from fwctl.report import text
from fwctl.report.layout import Style
from fwctl.report.model import Report
from fwctl.report.watch_text import event_text, money

ALERT: dict[str, Any] = {
    "rule": "at-max-replicas",
    "severity": "warning",
    "label": "chat",
    "phase": "pending",
    "since": "2026-10-01T11:55:00+00:00",
    "evidence": "4 of 4",
    "fix": "raise it",
    "proposal": "fwctl plan --set chat.replicas.max=5",
    "usd_per_hour_change": 16.0,
}


def report(**more: Any) -> str:
    body = {
        "account": "acme",
        "time": "2026-10-01T12:00:00+00:00",
        "deployments": 2,
        "alerts": [],
        "unknown": [],
        "metrics": {"wanted": False, "read_at": None, "error": None},
        **more,
    }
    return text.render(Report("watch", body), Style())


def test_one_look_shows_alerts_and_what_was_not_judged() -> None:
    found = report(alerts=[ALERT], unknown=["queueing"], metrics={"error": "HTTP 500"})
    assert found == (
        "Watch of account acme: 2 deployments, 2026-10-01T12:00Z\n"
        "\n"
        "pending warning  at-max-replicas  chat: 4 of 4 (since 2026-10-01T11:55Z)\n"
        "    do: raise it\n"
        "    fwctl plan --set chat.replicas.max=5  (+$16.00/h at most)\n"
        "\n"
        "metrics: HTTP 500\n"
        "not judged, because data is missing: queueing\n"
    )


def test_a_quiet_account_is_told_so() -> None:
    assert "Nothing to tell." in report()


def test_events_say_when_they_happened() -> None:
    event = {**ALERT, "at": "2026-10-01T12:00:00+00:00", "event": "fired", "proposal": None}
    assert event_text(event, Style()).splitlines()[:2] == [
        "2026-10-01 12:00:00 UTC",
        "firing warning  at-max-replicas  chat: 4 of 4 (since 2026-10-01T11:55Z)",
    ]
    ended = event_text({**event, "event": "resolved"}, Style())
    assert ended.splitlines()[1].startswith("resolved warning")
    assert "do:" not in ended


def test_a_price_may_fall_or_be_unknown() -> None:
    assert money({"usd_per_hour_change": -2.0}) == "  (-$2.00/h at most)"
    assert money({"usd_per_hour_change": None}) == ""
