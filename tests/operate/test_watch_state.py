"""Alerts over time: hold, fire once, stay, resolve once, survive a restart."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest

from fwctl.errors import Severity
from fwctl.operate.rules_model import Answer, Hit, Judged, Proposal, Rule
from fwctl.operate.watch_state import FIRING, PENDING, Event, State, from_json, step, to_json
from tests.operate.support import NOW

RULE = Rule("hot", Severity.WARNING, "It is hot.", lambda _s, _l: Answer.NO, hold_s=300, resolve_s=120)
YES, NO, UNKNOWN = Hit("40 degrees", "cool it", Proposal("a.b=1", 2.5)), Answer.NO, Answer.UNKNOWN


def minute(n: float) -> datetime:
    return NOW + timedelta(minutes=n)


def looked(state: State, at: float, answer: Hit | Answer, subject: str = "a") -> list[Event]:
    return step(state, [Judged(RULE, subject, subject, answer)], minute(at))


def kinds(events: list[Event]) -> list[str]:
    return [event.kind for event in events]


def test_it_fires_when_it_was_true_for_the_hold_time_and_only_then() -> None:
    state = State()
    assert [kinds(looked(state, n, YES)) for n in range(8)] == [[], [], [], [], [], ["fired"], [], []]
    (alert,) = state.firing()
    assert (alert.since, alert.fired) == (minute(0), minute(5))
    assert (alert.evidence, alert.proposal, alert.usd_per_hour_change) == (
        "40 degrees",
        "fwctl plan --set a.b=1",
        2.5,
    )


def test_an_event_keeps_its_id_over_deliveries_and_shares_it_with_no_other() -> None:
    state = State()
    ids = []
    for n in range(20):
        rows = [Judged(RULE, "a", "a", YES if n < 7 or n > 10 else NO), Judged(RULE, "b", "b", YES)]
        ids += [event.to_json()["id"] for event in step(state, rows, minute(n))]
    assert ids == [
        "hot/a/2026-10-01T12:00:00+00:00/fired",
        "hot/b/2026-10-01T12:00:00+00:00/fired",
        "hot/a/2026-10-01T12:00:00+00:00/resolved",  # quiet from 7 to 9
        "hot/a/2026-10-01T12:11:00+00:00/fired",
    ]


def test_a_clock_that_was_set_back_delays_nothing_for_longer_than_the_hold_time() -> None:
    state = State()
    looked(state, 60 * 24 * 365, YES)  # a year ahead
    assert [kinds(looked(state, n, YES)) for n in range(6)] == [[], [], [], [], [], ["fired"]]
    looked(state, 60 * 24 * 365, NO)
    assert [kinds(looked(state, n, NO)) for n in range(6, 9)] == [[], [], ["resolved"]]


def test_a_pause_while_pending_begins_again() -> None:
    state = State()
    for n, answer in enumerate((YES, YES, NO, YES, YES, YES, YES, YES)):
        assert looked(state, n, answer) == []
    assert kinds(looked(state, 8, YES)) == ["fired"]


def test_it_resolves_when_it_was_quiet_for_the_resolve_time() -> None:
    state = State()
    for n in range(6):
        looked(state, n, YES)
    assert looked(state, 6, NO) == []
    assert looked(state, 7, YES) == []  # back again: still the same alert
    assert looked(state, 8, NO) == []
    assert looked(state, 9, NO) == []
    assert kinds(looked(state, 10, NO)) == ["resolved"]
    assert state.alerts == {}


def test_what_cannot_be_judged_changes_nothing() -> None:
    state = State()
    looked(state, 0, YES)
    assert looked(state, 6, UNKNOWN) == []
    assert kinds(looked(state, 7, YES)) == ["fired"]
    assert looked(state, 99, UNKNOWN) == []
    assert len(state.firing()) == 1


def test_the_alerts_of_a_deployment_that_is_gone_are_resolved() -> None:
    state = State()
    for n in range(6):
        looked(state, n, YES)
    assert kinds(step(state, [], minute(6))) == ["resolved"]
    assert step(state, [], minute(7)) == []


def test_a_rule_without_a_hold_fires_at_once() -> None:
    from dataclasses import replace

    rule = replace(RULE, hold_s=0, resolve_s=0)
    state = State()
    assert kinds(step(state, [Judged(rule, "a", "a", YES)], minute(0))) == ["fired"]
    assert kinds(step(state, [Judged(rule, "a", "a", NO)], minute(1))) == ["resolved"]


@pytest.mark.parametrize("restart_at", range(12))
def test_a_restart_at_any_look_changes_nothing(restart_at: int) -> None:
    answers = [YES] * 7 + [NO] * 5
    state, found = State(), []
    for n, answer in enumerate(answers):
        if n == restart_at:
            state = from_json(json.loads(json.dumps(to_json(state))))
        found += [(n, event.kind) for event in looked(state, n, answer)]
    assert found == [(5, "fired"), (9, "resolved")]


def test_all_of_the_state_survives() -> None:
    state = State(seen={"a": ("READY", NOW)}, requests={"a": NOW})
    looked(state, 0, YES)
    (alert,) = state.alerts.values()
    state.outbox = {"slack 1": [Event("fired", NOW, alert).to_json()]}
    assert from_json(to_json(state)) == state
    assert state.alerts["hot", "a"].phase == PENDING != FIRING


@pytest.mark.parametrize(
    "document",
    [
        None,
        3,
        [],
        {},
        {"alerts": 3},
        {"alerts": [{}], "seen": {}, "requests": {}, "outbox": {}},
        {"alerts": [], "seen": {"a": ["READY", "2026-10-01"]}, "requests": {}, "outbox": {}},
        {"alerts": [], "seen": {}, "requests": {}, "outbox": {"slack 1": [{"event": "fired"}]}},
    ],
)
def test_a_damaged_state_is_an_empty_one(document: object) -> None:
    assert from_json(document) == State()
