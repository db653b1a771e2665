"""Each rule of the watch: when it is true, when not, and when nobody can tell."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from fwctl.live.model import LiveDeployment, Marker
from fwctl.operate.rules import BY_NAME, RULES
from fwctl.operate.rules_model import Account, Answer, Hit, Subject
from fwctl.operate.rules_speculation import windows
from tests.operate.support import NOW, entry, live, metrics, subject

FULL = {"ready": 4, "desired": 4}
QUEUE = {100.0: 0.0, 1000.0: 1.0, math.inf: 1.0}


def judged(name: str, given: Subject | Account) -> Hit | Answer:
    rule = BY_NAME[name]
    test: Any = rule.test
    found: Hit | Answer = test(given, rule.limits)
    return found


def told(name: str, given: Subject | Account) -> str:
    found = judged(name, given)
    assert isinstance(found, Hit), found
    assert found.fix
    return found.evidence


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(RULES)


def test_at_max_says_the_counts_and_proposes_a_change_with_its_price() -> None:
    found = judged("at-max-replicas", subject(live(**FULL), metrics=metrics(requests_per_s=7.25)))
    assert isinstance(found, Hit)
    assert found.evidence == "4 of at most 4 replicas are ready and 4 are wanted, 7.2 requests a second"
    assert found.proposal is not None
    assert found.proposal.command == "fwctl plan --set chat.replicas.max=5"
    assert found.proposal.usd_per_hour_change == 16.0  # one replica of two H100 at 8 dollars


def test_a_price_that_is_unknown_is_no_price_and_without_a_spec_there_is_no_proposal() -> None:
    found = judged("at-max-replicas", subject(live(**FULL), usd_per_replica_hour=None))
    assert isinstance(found, Hit)
    assert found.proposal is not None
    assert found.proposal.usd_per_hour_change is None
    alone = judged("at-max-replicas", subject(live(**FULL), entry=None))
    assert isinstance(alone, Hit)
    assert alone.proposal is None


@pytest.mark.parametrize(
    "item",
    [
        live(ready=3, desired=4),  # wanted and not given
        live(ready=4, desired=3),  # it is about to shrink
        live(min=4, **FULL),  # a fixed size
        live(min=0, max=0, ready=0, desired=0),  # parked
        live(**FULL, raw={"max_with_revocable_replica_count": 6}),  # revocable replicas to come
        live(**FULL, raw={"target_model_version": "2", "active_model_version": "1"}),  # a roll-out
        live(state="UPDATING", **FULL),
    ],
)
def test_what_only_looks_like_a_ceiling_is_told_apart(item: LiveDeployment) -> None:
    assert judged("at-max-replicas", subject(item)) is Answer.NO


def test_revocable_replicas_count_for_the_ceiling() -> None:
    item = live(ready=6, desired=6, raw={"max_with_revocable_replica_count": "6"})
    assert "6 of at most 6" in told("at-max-replicas", subject(item))


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"kv_blocks": 0.8}, "80% of the KV blocks are used"),
        ({"histograms": {"latency_prefill_queue_ms": QUEUE}}, "the prefill queue takes 910 ms (p90)"),
        ({"histograms": {"latency_generation_queue_ms": QUEUE}}, "the generation queue takes 910 ms"),
        ({"errors": {"429": 0.5}}, "0.50 requests a second get 429"),
    ],
)
def test_a_ceiling_that_hurts_is_critical(values: dict[str, Any], why: str) -> None:
    assert why in told("saturated", subject(live(**FULL), metrics=metrics(**values)))


def test_a_fixed_size_is_judged_by_saturation_alone() -> None:
    given = subject(live(min=4, **FULL), metrics=metrics(kv_blocks=0.9))
    assert "(min = max)" in told("saturated", given)


def test_saturation_needs_metrics_and_a_ceiling() -> None:
    assert judged("saturated", subject(live(**FULL))) is Answer.UNKNOWN
    assert judged("saturated", subject(live(**FULL), metrics=metrics(kv_blocks=0.79))) is Answer.NO
    assert judged("saturated", subject(metrics=metrics(kv_blocks=0.99))) is Answer.NO


def test_a_ceiling_beyond_what_was_measured_is_told() -> None:
    assert told("max-never-tested", subject(tested_replicas=2)).endswith("measured were 2 at most")
    assert judged("max-never-tested", subject(tested_replicas=4)) is Answer.NO
    assert judged("max-never-tested", subject()) is Answer.UNKNOWN


def test_interactive_traffic_meets_no_replica() -> None:
    cold = live(min=0, ready=0, desired=1, downloading=1)
    given = subject(cold, entry=entry(traffic="interactive"))
    assert told("cold-start", given).endswith("1 wanted, 1 downloading")
    found = judged("cold-start", given)
    assert isinstance(found, Hit)
    assert found.proposal is not None
    assert found.proposal.set == "chat.replicas.min=1"
    assert judged("cold-start", subject(cold, entry=entry(traffic="batch"))) is Answer.NO
    asleep = live(min=0, ready=0, desired=0)
    assert judged("cold-start", subject(asleep, entry=entry(traffic="interactive"))) is Answer.NO


def test_replicas_that_do_not_come_are_told_with_their_stage() -> None:
    given = subject(live(ready=1, desired=3, pending=2))
    assert told("replicas-not-given", given) == "3 replicas are wanted and 1 ready: 2 waiting for GPUs"
    assert judged("replicas-not-given", subject(live(ready=4, desired=9))) is Answer.NO
    assert "none on its way" in told("replicas-not-given", subject(live(ready=0, desired=1)))


def test_failed_says_why() -> None:
    item = live(state="FAILED", status_message="out of capacity")
    assert told("failed", subject(item)) == "its state is FAILED: out of capacity"
    assert judged("failed", subject()) is Answer.NO


def test_stuck_is_measured_by_earlier_starts() -> None:
    young = subject(live(state="CREATING"), state_since=NOW - timedelta(minutes=20))
    assert judged("stuck", young) is Answer.NO  # without history the limit is 30 minutes
    usual = replace(young, typical_start_s=400.0)
    assert "CREATING for 20m" in told("stuck", usual)  # more than twice 6m40s
    assert "earlier starts took up to 6m40s" in told("stuck", usual)
    assert judged("stuck", replace(usual, typical_start_s=700.0)) is Answer.NO
    short = replace(young, typical_start_s=60.0, state_since=NOW - timedelta(minutes=9))
    assert judged("stuck", short) is Answer.NO  # never under ten minutes
    assert judged("stuck", replace(young, state_since=None)) is Answer.UNKNOWN
    assert judged("stuck", subject()) is Answer.NO


def test_kv_memory() -> None:
    assert told("kv-nearly-full", subject(metrics=metrics(kv_blocks=0.93))).startswith("93% of the KV")
    assert judged("kv-nearly-full", subject(metrics=metrics(kv_blocks=0.89))) is Answer.NO
    assert judged("kv-nearly-full", subject(metrics=metrics())) is Answer.UNKNOWN


def test_latency_is_held_to_the_objectives_of_the_spec() -> None:
    slow = metrics(histograms={"latency_to_first_token_ms": QUEUE})
    wanted = entry(slo__ttft_p95_ms=800)
    text = told("slow-first-token", subject(metrics=slow, entry=wanted))
    assert text == "time to first token p95 is 955 ms, 800 ms is the limit"
    relaxed = subject(metrics=slow, entry=entry(slo__ttft_p95_ms=960))
    assert judged("slow-first-token", relaxed) is Answer.NO
    assert judged("slow-first-token", subject(metrics=slow)) is Answer.NO  # no objective, no judgement
    assert judged("slow-first-token", subject(entry=wanted)) is Answer.UNKNOWN
    assert judged("slow-first-token", subject(metrics=metrics(), entry=wanted)) is Answer.NO
    beyond = metrics(histograms={"latency_to_first_token_ms": {100.0: 0.0, math.inf: 1.0}})
    low = entry(slo__ttft_p95_ms=80)
    assert "p95 is > 100 ms" in told("slow-first-token", subject(metrics=beyond, entry=low))


def test_errors_need_enough_requests() -> None:
    bad = metrics(requests_per_s=2.0, errors={"429": 0.03, "500": 0.01})
    text = told("error-rate", subject(metrics=bad))
    assert text == "2.0% of 2.0 requests a second fail (429: 0.03/s, 500: 0.01/s); 1.0% is the limit"
    assert judged("error-rate", subject(metrics=bad, entry=entry(slo__error_rate="2.5%"))) is Answer.NO
    few = metrics(requests_per_s=0.1, errors={"500": 0.1})
    assert judged("error-rate", subject(metrics=few)) is Answer.NO
    assert judged("error-rate", subject(metrics=metrics(requests_per_s=0.0))) is Answer.NO
    assert judged("error-rate", subject()) is Answer.UNKNOWN


def test_holds_and_experiments_end() -> None:
    past, coming = NOW - timedelta(hours=1), NOW + timedelta(hours=1)
    held = subject(live(marker=Marker("test", "chat", hold_until=past)))
    assert "hold ended at 2026-10-01 11:00Z" in told("hold-outlived", held)
    tried = subject(live(marker=Marker("test", "chat", expires=past)))
    assert "experiment ended" in told("hold-outlived", tried)
    later = Marker("test", "chat", hold_until=coming, expires=coming)
    assert judged("hold-outlived", subject(live(marker=later))) is Answer.NO
    assert judged("hold-outlived", subject(live(marker=None))) is Answer.NO


def test_deletion_for_idleness_is_told_a_day_before() -> None:
    idle = live(min=0, ready=0, desired=0)
    six = subject(idle, last_request=NOW - timedelta(days=6))
    assert told("idle-deletion", six).endswith("the platform deletes it at about 2026-10-02 12:00Z")
    five = subject(idle, last_request=NOW - timedelta(days=5, hours=23))
    assert judged("idle-deletion", five) is Answer.NO
    assert judged("idle-deletion", subject(idle)) is Answer.UNKNOWN
    assert judged("idle-deletion", subject(live(), last_request=NOW - timedelta(days=9))) is Answer.NO


def account(**values: Any) -> Account:
    return Account(NOW, (subject(live(ready=2)),), **values)


def test_the_budget_of_the_specs_or_of_the_rule() -> None:
    dear = account(usd_per_hour=32.0, budget_usd_per_hour=30.0)
    assert told("over-budget", dear) == (
        "ready replicas cost $32.00 an hour, $30.00 is the budget (chat $32.00)"
    )
    assert judged("over-budget", account(usd_per_hour=30.0, budget_usd_per_hour=30.0)) is Answer.NO
    assert judged("over-budget", account(usd_per_hour=32.0)) is Answer.NO
    assert judged("over-budget", account(budget_usd_per_hour=30.0)) is Answer.UNKNOWN


def test_the_request_limit_of_the_account() -> None:
    near = account(requests_per_minute=480.0, requests_per_minute_limit=600.0)
    assert told("request-limit", near).startswith("480 requests a minute")
    below = account(requests_per_minute=479.0, requests_per_minute_limit=600.0)
    assert judged("request-limit", below) is Answer.NO
    assert judged("request-limit", account(requests_per_minute=1.0)) is Answer.UNKNOWN
    assert judged("request-limit", account(requests_per_minute_limit=600.0)) is Answer.UNKNOWN


def test_metrics_that_are_old_or_missing() -> None:
    assert judged("metrics-untrusted", account()) is Answer.NO  # nobody asked for any
    assert judged("metrics-untrusted", account(metrics_wanted=True, metrics_age_s=180.0)) is Answer.NO
    old = account(metrics_wanted=True, metrics_age_s=181.0, metrics_error="HTTP 500")
    assert told("metrics-untrusted", old) == "the metrics page is 181 s old: HTTP 500"
    assert told("metrics-untrusted", account(metrics_wanted=True)) == "the metrics page was never read"


def record(hours_ago: float, acceptance: str | None = None, **more: Any) -> dict[str, Any]:
    server = {"speculation-acceptance": acceptance, **more.pop("server", {})}
    at = (NOW - timedelta(hours=hours_ago)).isoformat()
    return {"started_at": at, "target": "chat", "type": "chat", "server": server, **more}


def test_drafts_that_are_accepted_less_are_told_with_both_numbers() -> None:
    # 1 + (80 + 60) / 100 = 2.4 tokens a pass before, 1 + (60 + 30) / 100 = 1.9 in each third of the day
    before = [record(48, "1:80/100,2:60/100") for _ in range(30)]
    rows = before + [record(hours, "1:60/100,2:30/100") for hours in (2, 10, 18) for _ in range(30)]
    given = subject(speculation=windows(rows, NOW)["chat"])
    assert "chat: 2.40 to 1.90 tokens a pass (-21%)" in told("acceptance-drift", given)


def test_a_change_that_may_be_chance_or_is_small_is_no_drift() -> None:
    # Requests differ among themselves, so that 1.45 to 1.30 tokens a pass in ten passes each may be chance.
    mixed = [record(48, f"1:{9 * (at % 2)}/10") for at in range(30)]
    mixed += [record(hours, f"1:{6 * (at % 2)}/10") for hours in (2, 10, 18) for at in range(30)]
    assert judged("acceptance-drift", subject(speculation=windows(mixed, NOW)["chat"])) is Answer.NO
    small = [record(48, "1:80/100") for _ in range(30)]  # 1.80 to 1.75 tokens a pass
    small += [record(hours, "1:75/100") for hours in (2, 10, 18) for _ in range(30)]
    assert judged("acceptance-drift", subject(speculation=windows(small[:89], NOW)["chat"])) is Answer.UNKNOWN
    assert judged("acceptance-drift", subject(speculation=windows(small, NOW)["chat"])) is Answer.NO
    assert judged("acceptance-drift", subject()) is Answer.UNKNOWN


def test_predictions_that_cover_little_are_told() -> None:
    predicted = {"speculation-prompt-tokens": 100.0, "speculation-prompt-matched-tokens": 10.0}
    rows = [record(1, server=predicted, output_tokens=100) for _ in range(30)]
    found = told("predictions-do-not-pay", subject(speculation=windows(rows, NOW)["chat"]))
    assert "chat: 10% of the answered tokens in 30 requests" in found
    few = subject(speculation=windows(rows[:29], NOW)["chat"])
    assert judged("predictions-do-not-pay", few) is Answer.UNKNOWN
    good = {**predicted, "speculation-prompt-matched-tokens": 90.0}
    rows = [record(1, server=good, output_tokens=100) for _ in range(30)]
    assert judged("predictions-do-not-pay", subject(speculation=windows(rows, NOW)["chat"])) is Answer.NO


def test_records_that_say_nothing_are_passed_over() -> None:
    rows: list[dict[str, Any]] = [
        {},
        {"started_at": "x", "server": {}},
        {"started_at": "2026-10-01T11:00:00", "server": None},
        record(1, "no acceptance"),
        record(24 * 9, "1:1/1"),
    ]
    assert sum(part.requests for part in windows(rows, NOW)["chat"]["chat"].recent) == 0
