"""The event stream: a version first, then everything that happens, and never a long silence."""

from __future__ import annotations

import json
from itertools import pairwise

from tests.applying.fakes import Bench, creating, entry, plan, spec


def test_the_stream_begins_with_its_version_and_ends_with_the_exit_code(bench: Bench) -> None:
    bench.apply(plan(creating("chat")), spec(entry("chat")))
    assert bench.events[0] == {
        "event": "version",
        "time": "2026-12-01T08:00:00+00:00",
        "format_version": 1,
        "command": "apply",
        "account": "acme",
        "stack": "prod",
    }
    assert bench.events[-1]["event"] == "end"
    assert bench.events[-1]["exit_code"] == 0
    assert [e["event"] for e in bench.events] == [
        "version",
        "started",
        "call",
        "answer",
        "progress",
        "result",
        "end",
    ]


def test_every_event_is_json_and_names_its_deployment(bench: Bench) -> None:
    bench.apply(plan(creating("chat")), spec(entry("chat")))
    for event in bench.events[1:-1]:
        assert json.loads(json.dumps(event))["deployment_id"] == "chat"


def test_a_long_wait_is_never_silent_for_30_seconds(bench: Bench) -> None:
    bench.platform.start_reads = 30
    bench.apply(plan(creating("chat")), spec(entry("chat")), poll_interval_s=60.0)
    times = [event["time"] for event in bench.events]
    seconds = [int(time[11:13]) * 3600 + int(time[14:16]) * 60 + float(time[17:19]) for time in times]
    assert max(later - before for before, later in pairwise(seconds)) <= 30
    assert bench.named("heartbeat")[0]["active"] == ["chat"]


def test_the_result_event_is_the_object_of_the_json_document(bench: Bench) -> None:
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    (event,) = bench.named("result")
    assert {key: event[key] for key in ("address", "outcome", "actions", "error")} == {
        "address": "deployments/chat",
        "outcome": "done",
        "actions": ["create"],
        "error": None,
    }
    assert result.to_json()["results"][0].items() <= event.items()


def test_a_failure_carries_the_stable_error_object(bench: Bench) -> None:
    from tests.applying.fakes import Fault, error

    bench.platform.faults = [Fault("deployment create", 1, error("quota", "quota exceeded", "ask for more"))]
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    assert result.to_json()["results"][0]["error"] == {
        "code": "firectl_failed",
        "message": "quota exceeded",
        "deployment": "chat",
        "next_steps": ["ask for more"],
    }
