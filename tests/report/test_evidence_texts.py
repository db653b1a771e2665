"""Evidence and capacity as people read them."""

from __future__ import annotations

from typing import Any

from fwctl.report import text
from fwctl.report.layout import Style
from fwctl.report.model import Report

RECORD = {
    "file": "evidence/bench-m-0.json",
    "kind": "bench",
    "date": "2026-12-01T00:00:00+00:00",
    "model": "accounts/fireworks/models/m",
    "precision": "FP8",
    "shape_version": None,
    "replicas": 1,
    "passed": None,
}


def shown(command: str, body: dict[str, Any]) -> str:
    return text.render(Report(command, body), Style(width=200))


def test_a_stored_record_is_one_line() -> None:
    found = shown("evidence add", {"file": "evidence/bench-m-0.json", "record": RECORD})
    assert found == "evidence/bench-m-0.json: bench, 2026-12-01, m, FP8, no shape, 1 replica, -\n"


def test_without_gates_the_check_says_that_there_are_none() -> None:
    assert "no deployment of the specs has gates.eval" in shown("evidence check", {"gates": [], "records": 0})


LEVEL = {
    "rate_per_s": 4.0,
    "verdict": "missed",
    "limit": "objective",
    "n": 200,
    "objectives": [
        {"objective": "ttft_p95_ms", "limit": 0.5, "value": 0.75},
        {"objective": "tpot_p95_ms", "limit": 0.025, "value": None},
        {"objective": "error_rate", "limit": 0.01, "value": 0.0},
    ],
}
NOTHING = {
    "deployment": "chat",
    "rate_per_s": None,
    "missed_per_s": 4.0,
    "limited_by": "ttft_p95_ms, missed at 4/s",
    "replicas": 1,
    "levels": [LEVEL],
    "notes": [],
    "patch": None,
    "evidence": None,
}


def test_a_search_without_a_limit_shows_its_levels_and_what_was_in_the_way() -> None:
    found = shown("bench capacity", NOTHING).splitlines()
    assert " ".join(found[0].split()) == "4/s missed ttft_p95 750 of 500 ms tpot_p95 n/a of 25 ms n=200"
    assert found[-2:] == [
        "chat meets its objectives at no rate that was tried",
        "limited by ttft_p95_ms, missed at 4/s",
    ]


def test_a_limit_is_told_with_its_proposal_and_where_it_is_kept() -> None:
    body = {
        **NOTHING,
        "rate_per_s": 3.0,
        "replicas": 2,
        "notes": ["why"],
        "patch": "deployments:\n  chat: {}\n",
        "evidence": "evidence/capacity-m-0.json",
        "kv_pool_tokens": 88_000.0,
    }
    found = shown("bench capacity", body)
    assert "chat meets its objectives up to 3/s\non 2 replicas, shown to miss them at 4/s" in found
    assert "the KV pool of a replica holds 88,000 tokens" in found
    assert found.endswith("deployments:\n  chat: {}\n\nevidence: evidence/capacity-m-0.json\n")
    assert "KV pool: too little" in shown(
        "bench capacity", {**body, "kv_pool_tokens": None, "kv_pool_note": "too little"}
    )
