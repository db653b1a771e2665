"""Recorded requests of other tools as a prompt set."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from fwctl.errors import UsageError
from fwctl.measure.importers import Options, import_suite
from fwctl.measure.seen import Seen
from fwctl.measure.suite import load


def draw(
    folder: Path, source: str, items: Any, **options: Any
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows that are written for these items, and what is counted."""
    path, out = folder / "in", folder / "out.jsonl"
    if isinstance(items, list):
        items = "".join(json.dumps(item) + "\n" for item in items)
    path.write_text(items)
    counts = import_suite(path, out, Options(source, **options)).to_json()
    load(out)
    return [json.loads(line) for line in out.read_text().splitlines()], counts


def batch(name: str, content: str = "Hi", **body: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": content}]
    return {
        "custom_id": name,
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "m", "messages": messages, **body},
    }


def test_a_batch_keeps_its_names_and_says_what_it_lost(tmp_path: Path) -> None:
    rows, counts = draw(
        tmp_path,
        "openai-batch",
        [
            batch("a", max_completion_tokens=9, temperature=0, tools=[{}]),
            batch("b", "Ho", response_format={"type": "json_object"}),
            {"custom_id": "c", "url": "/v1/embeddings", "body": {"input": "x"}},
            {"custom_id": "d"},
            7,
        ],
    )
    user = {"role": "user", "content": "Hi"}
    assert rows[0] == {"id": "a", "type": "other", "messages": [user], "max_tokens": 9, "temperature": 0}
    assert rows[1]["response_format"] == {"type": "json_object"}
    assert (counts["read"], counts["written"], counts["left_out_keys"]) == (5, 2, {"tools": 1})
    assert counts["skipped"] == {"no chat or completion request": 1, "no `body`": 1, "not an object": 1}


def test_the_same_request_counts_once_and_names_stay_apart(tmp_path: Path) -> None:
    rows, counts = draw(tmp_path, "openai-batch", [batch("a"), batch("b"), batch("a", "Ho"), batch("", "He")])
    assert rows[0]["id"] == "a"
    assert rows[1]["id"].startswith("a-")
    assert rows[2]["id"].startswith("r-")
    assert counts["duplicates"] == 1
    again, _ = draw(tmp_path, "openai-batch", [batch("", "He")])
    assert again[0]["id"] == rows[2]["id"]


TURNS = [
    {"from": "system", "value": "Be brief."},
    {"from": "human", "value": "One?"},
    {"from": "gpt", "value": "1"},
    {"from": "human", "value": "Two?"},
    {"from": "gpt", "value": "2"},
]


@pytest.mark.parametrize("form", ["lines", "list", "pretty list"])
def test_a_chat_log_asks_its_last_question(tmp_path: Path, form: str) -> None:
    items = [{"id": "s1", "conversations": TURNS}, {"id": 5, "messages": [{"role": "user", "content": "é"}]}]
    text: Any = {
        "lines": items,
        "list": json.dumps(items),
        "pretty list": "\n " + json.dumps(items, indent=2, ensure_ascii=False),
    }[form]
    rows, _ = draw(tmp_path, "chat-log", text, expected=True)
    assert [message["role"] for message in rows[0]["messages"]] == ["system", "user", "assistant", "user"]
    assert (rows[0]["id"], rows[0]["messages"][-1]["content"], rows[0]["expected"]) == ("s1", "Two?", "2")
    assert rows[1] == {"id": "5", "type": "other", "messages": [{"role": "user", "content": "é"}]}


def test_conversations_without_a_question_are_counted(tmp_path: Path) -> None:
    items = [
        {"conversations": [{"from": "gpt", "value": "Hello"}]},
        {"conversations": [{"from": "narrator", "value": "x"}]},
        {"conversations": ["x"]},
        {"text": "x"},
        {"messages": [{"role": "user", "content": "ok"}]},
    ]
    _, counts = draw(tmp_path, "chat-log", items)
    assert counts["written"] == 1
    assert set(counts["skipped"]) == {
        "nothing was asked",
        "a turn of an unknown speaker",
        "a turn is not an object",
        "neither `messages` nor `conversations`",
    }


def test_a_trace_brings_its_type_prediction_and_answer(tmp_path: Path) -> None:
    row = {
        "id": "20261201T000000-1",
        "type": "edit",
        "messages": [{"role": "user", "content": "Fix"}],
        "prediction": {"type": "content", "content": "old"},
        "max_tokens": 64,
        "completion": "new",
        "model": "route",
        "total_s": 1.5,
    }
    wrapped = {"request": {"model": "m", "prompt": "Say", "logprobs": 3}, "type": "chat"}
    failed = {**row, "id": "x", "error_class": "truncated"}
    record = {"prompt_id": "p", "target": "t", "text": "answer"}
    rows, counts = draw(tmp_path, "trace", [row, wrapped, failed, record], expected=True)
    assert rows[0]["prediction"] == {"type": "content", "content": "old"}
    assert (rows[0]["type"], rows[0]["expected"], rows[0]["max_tokens"]) == ("edit", "new", 64)
    assert (rows[1]["type"], rows[1]["prompt"]) == ("chat", "Say")
    assert counts["left_out_keys"] == {"logprobs": 1}
    assert set(counts["skipped"]) == {"a failed request", "a record of a bench run, which holds no prompt"}
    assert counts["types"] == {"edit": 1, "chat": 1}


def test_a_sample_is_the_same_for_a_seed_and_keeps_the_order(tmp_path: Path) -> None:
    items = [batch(f"n{number:03}", str(number)) for number in range(200)]
    first, _ = draw(tmp_path, "openai-batch", items, sample=20, seed=4)
    again, _ = draw(tmp_path, "openai-batch", items, sample=20, seed=4)
    other, _ = draw(tmp_path, "openai-batch", items, sample=20, seed=5)
    names = [row["id"] for row in first]
    assert names == [row["id"] for row in again] == sorted(names)
    assert names != [row["id"] for row in other]
    few, counts = draw(tmp_path, "openai-batch", items, limit=3)
    assert [row["id"] for row in few] == ["n000", "n001", "n002"]
    assert counts["read"] == 3


def test_options_fill_in(tmp_path: Path) -> None:
    rows, _ = draw(
        tmp_path, "openai-batch", [batch("a"), batch("b", "x", max_tokens=5)], max_tokens=7, type="chat"
    )
    assert [(row["type"], row["max_tokens"]) for row in rows] == [("chat", 7), ("chat", 5)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no request that can be used: it is empty"),
        ("{}\n{}\n", r"neither `messages` nor `conversations` \(2 times\)"),
        ("{\n", ":1: this is not JSON"),
        ('[{"messages": []}, {"mess', "the list ends in its entry 2"),
        ('[{"messages": []} nonsense]', "the list ends in its entry 2, or that entry is no JSON"),
        ("[", "the list ends in its entry 1"),
    ],
)
def test_what_cannot_be_read_leaves_no_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        draw(tmp_path, "chat-log", text)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


def test_a_list_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b'[{"messages": "\xff"}]')
    with pytest.raises(UsageError, match="entry 1 of the list is not UTF-8"):
        import_suite(tmp_path / "in", tmp_path / "out", Options("chat-log"))


def test_wrong_names_are_said(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("{}")
    with pytest.raises(UsageError, match="does not know 'openai'"):
        import_suite(tmp_path / "in", tmp_path / "out", Options("openai"))
    with pytest.raises(UsageError, match="is the file that is read"):
        import_suite(tmp_path / "in", tmp_path / "in", Options("trace"))
    with pytest.raises(UsageError, match="cannot write"):
        import_suite(tmp_path / "in", tmp_path / "none" / "out", Options("trace"))
    with pytest.raises(UsageError, match="cannot read"):
        import_suite(tmp_path / "none", tmp_path / "out", Options("trace"))


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "in"
    with path.open("w") as file:
        for number in range(3_000):
            file.write(json.dumps(batch(f"n{number}", f"{number} " + "x" * 4000)) + "\n")
    tracemalloc.start()
    counts = import_suite(path, tmp_path / "out", Options("openai-batch"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert counts.written == 3_000
    # Two sets of up to 8,192 slots of 8 bytes; the file itself has 12 MB.
    assert peak < 1_000_000


def test_a_set_of_texts_knows_each_once() -> None:
    seen = Seen()
    assert [seen.add(str(number % 7000)) for number in range(14_000)] == [True] * 7000 + [False] * 7000
    assert len(seen) == 7000
    assert seen.add("\udcff")


def test_odd_requests_are_taken_as_far_as_they_go(tmp_path: Path) -> None:
    rows, counts = draw(
        tmp_path,
        "openai-batch",
        [
            {"custom_id": 7, "url": "/v1/completions", "body": {"prompt": ["Say"], "max_tokens": 0}},
            {"custom_id": "b", "body": {"prompt": ["a", "b"]}},
            {"custom_id": "c", "body": {"messages": "Hi"}},
            {"custom_id": "d", "body": {"messages": [{"role": "user", "content": "x"}], "prompt": "y"}},
        ],
    )
    assert rows[0] == {"id": "7", "type": "other", "prompt": "Say"}
    assert "prompt" not in rows[1]
    assert set(counts["skipped"]) == {
        "neither `messages` nor `prompt`",
        "`messages` is not a list of messages",
    }


def test_a_list_longer_than_what_is_read_at_once(tmp_path: Path) -> None:
    items = [
        {"id": f"c{number}", "conversations": [{"from": "human", "value": f"{number} " + "é" * 900}]}
        for number in range(300)
    ]
    rows, _ = draw(tmp_path, "chat-log", json.dumps(items, ensure_ascii=False))
    assert [row["id"] for row in rows] == [item["id"] for item in items]
