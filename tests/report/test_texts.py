"""Text for people, from hand-made documents."""

from __future__ import annotations

from typing import Any

from fwctl.errors import Diagnostic, Severity
from fwctl.report.layout import Style
from fwctl.report.model import Report
from fwctl.report.text import render
from fwctl.report.values import counts_line, kind_of, shell_line, signed_per_hour, value
from tests.report import samples


def shown(report: Report, **style: Any) -> str:
    return render(report, Style(**style))


def test_a_moved_field_shows_both_values_effect_place_and_reason() -> None:
    moved = samples.field(
        "replicas.max", 2, 4, effect="in_place", source={"file": "configs/chat.yaml", "line": 9}, reason="why"
    )
    text = shown(samples.plan(samples.change("chat", "update", fields=(moved,), reason="in place")))
    assert "  ~ deployments/chat will be updated\n" in text
    assert "      ~ replicas.max: 2 → 4  (in place)  configs/chat.yaml:9\n          why\n" in text


def test_a_secret_that_changes_shows_that_and_no_value() -> None:
    moved = samples.field("direct_route.api_keys", "***", "***", effect="in_place", sensitive=True)
    text = shown(samples.plan(samples.change("chat", "update", fields=(moved,))))
    assert "direct_route.api_keys: *** → *** (changed)" in text


def test_replacements_say_in_which_order_and_what_forces_them() -> None:
    moved = samples.field("model", "a", "b", effect="replace", output_changing=True)
    recreate = samples.change("one", "delete", "create", fields=(moved,))
    blue_green = samples.change("two", "create", "delete", next_id="two-next", deployment_id="two-old")
    text = shown(samples.plan(recreate, blue_green))
    assert "-/+ deployments/one will be replaced (delete, then create)\n" in text
    assert (
        "-/+ deployments/two will be replaced (create, then delete) (ID two-old), the new one is two-next\n"
        in text
    )
    assert "(forces replacement, changes what the model answers)" in text


def test_every_action_has_its_words() -> None:
    words = {
        "create": "+ deployments/x will be created",
        "delete": "- deployments/x will be deleted",
        "adopt": "> deployments/x will be adopted",
        "park": "~ deployments/x will be parked",
        "mark": ". deployments/x gets a new marker",
        "undelete": "+ deployments/x will be undeleted",
        "wait": "* deployments/x has an operation in flight",
    }
    for action, expected in words.items():
        assert expected in shown(samples.plan(samples.change("x", action)))


def test_what_blocks_a_change_stands_under_it() -> None:
    problem = Diagnostic(Severity.ERROR, "FW505", "count differs", deployment="chat", suggestion="write 4")
    report = samples.plan(samples.change("chat", "blocked", reason="count differs"), diagnostics=(problem,))
    text = shown(report)
    assert text.count("count differs") == 1
    assert "error FW505: count differs\n        fix: write 4\n" in text


def test_notes_and_order_of_a_change_are_told() -> None:
    text = shown(samples.plan(samples.change("b", "update", after=["a"], notes=["held until noon"])))
    assert "      after a\n" in text
    assert "      note: held until noon\n" in text


def test_actions_values_and_money_in_words() -> None:
    assert kind_of(["create", "delete"]) == "replace"
    assert kind_of(["update", "blocked"]) == "blocked"
    assert kind_of([]) == "no-op"
    assert value(None) == "(not set)"
    assert value("") == '""'
    assert value({"b": 1, "a": [True]}) == '{"a": [true], "b": 1}'
    assert signed_per_hour(8.0) == "+$8.00/h"
    assert signed_per_hour(-1.5) == "-$1.50/h"
    assert signed_per_hour(0.0) == "no change"
    assert signed_per_hour(None) == "unknown"
    assert counts_line({"create": 2, "blocked": 1, "unchanged": 0}) == "2 to create, 1 blocked"
    assert shell_line(["firectl", "a b", ""]) == "firectl 'a b' ''"


def test_an_apply_tells_outcomes_failures_and_model_strings() -> None:
    base = "accounts/acme/deployments/chat"
    done = {"address": "deployments/chat", "actions": ["create"], "outcome": "done", "seconds": 75.4}
    failed = {"address": "deployments/eval", "actions": ["update"], "outcome": "failed", "seconds": 0.0}
    error = {"code": "firectl_failed", "message": "no capacity", "next_steps": ["fwctl plan"]}
    strings = {"base": base, "router": "accounts/acme/routers/r", "addons": {"l": f"l#{base}"}}
    body = {
        "results": [{**done, "note": "done by another run"}, {**failed, "error": error}],
        "model_strings": {"chat": strings},
        "notes": ["an earlier apply ended"],
    }
    text = shown(Report("apply", body))
    assert "done: deployments/chat create (1m15s)\n    done by another run\n" in text
    assert "failed: deployments/eval update\n    no capacity\n    next: fwctl plan\n" in text
    assert "chat: accounts/acme/routers/r\n" in text
    assert f"adapter: l#{base}" in text
    assert "note: an earlier apply ended\n" in text
    assert text.endswith("Apply: 1 done, 1 failed\n")
    assert shown(Report("apply", {"results": [], "model_strings": {}})) == "Apply: nothing to do\n"
    assert shown(Report("wait", {"results": [], "model_strings": {}})) == "Wait: nothing to do\n"


def test_status_shows_stages_holds_and_the_platforms_words() -> None:
    replicas = {
        "min": 0,
        "max": 4,
        "desired": 2,
        "ready": 1,
        "pending": 0,
        "downloading": 1,
        "initializing": 0,
    }
    row = {
        "name": "chat",
        "deployment_id": "chat",
        "managed": False,
        "state": "UPDATING",
        "replicas": replicas,
        "model_string": "m",
        "usd_per_hour": None,
        "hold_until": "2026-12-01T08:00:00+00:00",
        "status_message": "no capacity in US",
    }
    text = shown(Report("status", {"account": "acme", "deployments": [row], "watch": None}))
    assert "1/2 [0,4], 1 downloading" in text
    assert "unknown" in text
    assert "chat is held until 2026-12-01T08:00:00+00:00\n" in text
    assert "chat: no capacity in US\n" in text


def test_a_memory_bar_says_when_a_gpu_is_too_small() -> None:
    gib = 2**30
    memory = [{"part": "weights", "bytes": 130 * gib}, {"part": "kv pool", "bytes": 0}]
    result = samples.fit_result("big", "does-not-fit", memory=memory, usable_bytes_per_gpu=76 * gib)
    text = shown(samples.fit(result))
    assert "130.00 GiB needed, 76.00 GiB usable a GPU" in text
    assert "kv pool" not in text
    ascii_text = shown(samples.fit(result), unicode=False)
    assert ascii_text.isascii()
    assert "[########################################]" in ascii_text


def test_a_command_that_failed_before_it_had_a_result_prints_nothing_here() -> None:
    assert shown(Report("plan", {})) == ""
    assert shown(Report("schema", {}, text="x\n")) == "x\n"
