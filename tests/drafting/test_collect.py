"""Recorded traffic becomes files that may be uploaded."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from fwctl.drafting.collect import Source, collect
from fwctl.drafting.findings import rules
from fwctl.errors import UsageError

KEY = b"k" * 32
MODEL = "accounts/acme/deployments/chat"


def line(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"r{number}",
        "type": "extract",
        "messages": [{"role": "user", "content": f"Mail of customer {number} Bob bob{number}@example.org?"}],
        "completion": f'{{"mail": "bob{number}@example.org"}}',
        "model": MODEL,
        "finish_reason": "stop",
        "created_at": "2026-11-20T10:00:00+00:00",
        **more,
    }


def run(folder: Path, lines: list[Any], **source: Any) -> tuple[dict[str, Any], Path]:
    (folder / "traces.jsonl").write_text("".join(json.dumps(item) + "\n" for item in lines))
    anonymise = source.pop("anonymise", True)
    out = folder / "out"
    table = rules(["Bob"]) if anonymise else None
    report = collect(Source(("traces.jsonl",), folder, **source), out, rules=table, key=KEY)
    return report, out


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in path.read_text().splitlines()]


def test_every_trace_is_in_one_file_and_no_address_in_any(tmp_path: Path) -> None:
    report, out = run(tmp_path, [line(number) for number in range(60)])
    train, holdout = rows(out / "train.jsonl"), rows(out / "holdout.jsonl")
    assert len(train) + len(holdout) == 60
    assert report["requests"] == {"train": len(train), "holdout": len(holdout)}
    assert 3 < len(holdout) < 25  # a fifth of 60, give or take four standard deviations
    assert [message["role"] for message in train[0]["messages"]] == ["user", "assistant"]
    assert set(json.loads(train[0]["messages"][1]["content"])) == {"mail"}
    everything = (out / "train.jsonl").read_text() + (out / "holdout.jsonl").read_text() + json.dumps(report)
    assert "Bob" not in everything
    assert "example.org" not in everything
    assert report["replaced"]["by_kind"]["email"] == {"places": 120, "values": 60}


def test_what_would_teach_something_else_is_left_out_and_counted(tmp_path: Path) -> None:
    report, _ = run(
        tmp_path,
        [
            line(1),
            line(1, id="again"),
            line(2, finish_reason="length"),
            line(3, model="accounts/fireworks/models/other"),
            line(4, target="other.example m", model="chat"),
            line(5, model=None),
            line(6, created_at="2026-11-01T00:00:00+00:00"),
            line(7, error_class="http_5xx"),
            {"messages": [], "completion": ""},
        ],
        models=(MODEL,),
        since="2026-11-10",
    )
    assert sum(report["requests"].values()) == 1
    assert report["left_out"] == {
        "answer of another model": 2,
        "duplicate": 1,
        "failed request": 1,
        "no answer": 1,
        "no model named": 1,
        "older than --since": 1,
        "truncated answer": 1,
    }


def test_turns_of_a_conversation_stay_together(tmp_path: Path) -> None:
    lines = [line(number, conversation_id=f"c{number // 10}") for number in range(100)]
    _, out = run(tmp_path, lines, anonymise=False)
    held = {row["conversation_id"] for row in rows(out / "holdout.jsonl")}
    assert len(rows(out / "holdout.jsonl")) == 10 * len(held)


def test_token_ids_are_handed_on_only_where_nothing_is_replaced(tmp_path: Path) -> None:
    lines = [line(number, prompt_token_ids=[1, 2, 3], token_ids=[4, 5]) for number in range(30)]
    report, out = run(tmp_path, lines, anonymise=False)
    found = rows(out / "tokens.jsonl")
    assert found[0] == {"input_ids": [1, 2, 3, 4, 5], "loss_mask": [0, 0, 0, 1, 1]}
    assert report["with_token_ids"] == len(found) == report["requests"]["train"]
    _, out = run(tmp_path, lines)
    assert "token_ids" not in (out / "holdout.jsonl").read_text()
    assert not (out / "tokens.jsonl").exists()


def test_only_the_owner_reads_the_files(tmp_path: Path) -> None:
    _, out = run(tmp_path, [line(number) for number in range(3)])
    for path in out.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("table", [(), None])
def test_a_damaged_file_leaves_nothing_half_written(tmp_path: Path, table: tuple[()] | None) -> None:
    (tmp_path / "traces.jsonl").write_text(json.dumps(line(1)) + "\n{\n")
    with pytest.raises(UsageError, match=r"traces\.jsonl:2:"):
        collect(Source(("traces.jsonl",), tmp_path), tmp_path / "out", rules=table, key=KEY)
    assert list(tmp_path.glob("out/*")) == []
