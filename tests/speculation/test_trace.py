"""The shapes in which logs hold a request and its answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.measure.record import Record
from fwctl.measure.suite import EXAMPLE
from fwctl.speculation.entries import Options
from fwctl.speculation.recommend import judge
from fwctl.speculation.replay import Replayer
from fwctl.speculation.tokens import approximate
from fwctl.speculation.trace import (
    FAILED,
    NO_ANSWER,
    NO_TEXT,
    NOT_TEXT,
    WARM_UP,
    WRONG,
    UnusableTraceError,
    field,
    read,
)

SAID = [{"role": "system", "content": "be short"}, {"role": "user", "content": "hello"}]
ANSWER = {"choices": [{"message": {"role": "assistant", "content": "hi there"}}]}


@pytest.mark.parametrize(
    "item",
    [
        {"messages": SAID, "completion": "hi there"},
        {"messages": SAID, "completion": ANSWER},
        {"request": {"messages": SAID}, "response": ANSWER},
        {"custom_id": "1", "body": {"messages": SAID}, "response": {"status_code": 200, "body": ANSWER}},
        {"request": {"body": {"messages": SAID}}, "response": ANSWER},
    ],
)
def test_every_shape_gives_prompt_and_answer(item: dict[str, Any]) -> None:
    found = read(item)
    assert (found.prompt, found.completion) == ("be short\nhello", "hi there")


def test_a_trace_line_keeps_what_it_says() -> None:
    found = read(
        {
            "id": "a",
            "type": "edit",
            "prompt": "p",
            "completion": "c",
            "max_tokens": 7,
            "draft_tokens": ["x", None],
            "completion_tokens": ["c", "d"],
        }
    )
    assert (found.id, found.type, found.prompt, found.max_tokens) == ("a", "edit", "p", 7)
    assert found.draft_tokens == ("x", "")
    assert found.answer_tokens == ("c", "d")


def test_a_bench_record_takes_its_prompt_from_the_suite() -> None:
    record = {"prompt_id": "a", "type": "other", "text": "answer", "error_class": None}
    assert read(record).prompt == ""
    found = read(record, {"a": {"id": "a", "type": "edit", "messages": SAID, "prediction": "guess"}})
    assert (found.id, found.prompt, found.completion) == ("a", "be short\nhello", "answer")
    assert field(found, "prediction") == "guess"


def test_a_line_of_a_bench_run_is_a_trace() -> None:
    record = Record("r", "m", "edit-1", 1, "2026-12-01T00:00:00+00:00", type="edit", text="The ship sails.")
    suite = {item["id"]: item for item in map(json.loads, EXAMPLE.splitlines())}
    found = read(record.to_json(), suite)
    assert (found.id, found.type, found.completion) == ("edit-1", "edit", "The ship sails.")
    assert found.prompt == "Correct the spelling: the shipp sails at dawn."
    record.text = None
    with pytest.raises(UnusableTraceError, match="--keep-text"):
        read(record.to_json(), suite)
    record.error_class = "timeout_total"
    with pytest.raises(UnusableTraceError, match=FAILED):
        read(record.to_json(), suite)


def test_a_line_of_the_routers_trace_log_is_a_trace() -> None:
    line = {
        "id": "1", "type": "chat", "messages": SAID, "max_tokens": 64, "completion": "hi", "outcome": "ok",
        "finish_reason": "stop", "target": "a", "attempts": 1, "prompt_tokens": 9, "completion_tokens": 2,
    }  # fmt: skip
    found = read(line)
    assert (found.prompt, found.completion, found.max_tokens) == ("be short\nhello", "hi", 64)
    assert found.answer_tokens is None  # a count, not a list


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ([], WRONG),
        ({"completion": "x"}, NOT_TEXT),
        ({"prompt": "x"}, NO_ANSWER),
        ({"prompt_id": "x", "response_digest": "sha256:0"}, NO_TEXT),
        ({"prompt": "x", "completion": {"choices": [7]}}, NO_ANSWER),
        ({"prompt": "x", "completion": {"choices": []}}, NO_ANSWER),
        ({"prompt": "x", "completion": "y", "error_class": "timeout_total"}, FAILED),
        ({"prompt": "x", "completion": "y", "outcome": "target_failed_midway"}, FAILED),
        ({"prompt_id": "warmup-0", "text": "y", "type": "warmup", "measured": False}, WARM_UP),
    ],
)
def test_what_cannot_be_replayed_says_why(item: object, reason: str) -> None:
    with pytest.raises(UnusableTraceError, match=reason):
        read(item)


def test_a_field_of_the_request_is_found_by_its_path() -> None:
    parts = [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}, 3]
    found = read(
        {"messages": [*SAID, {"role": "user", "content": parts}], "file": {"old": "x"}, "completion": "c"}
    )
    assert field(found, "messages.-1") == "one two"
    assert field(found, "messages.1.content") == "hello"
    assert field(found, "file.old") == "x"
    for missing in ("file.new", "messages.9", "file.old.deeper", "messages.x", "messages.-99999999999"):
        assert field(found, missing) == ""


def test_requests_of_a_conversation_share_their_cluster() -> None:
    first = read({"messages": SAID, "completion": "a"})
    second = read({"messages": [*SAID, {"role": "assistant", "content": "a"}], "completion": "b"})
    other = read({"messages": [SAID[0], {"role": "user", "content": "bye"}], "completion": "a"})
    assert first.cluster == second.cluster != other.cluster
    named = [read({"prompt": text, "conversation_id": 7, "completion": "a"}) for text in "xy"]
    assert named[0].cluster == named[1].cluster
    assert read({"text": "a", "prompt_id": "1"}).cluster != read({"text": "a", "prompt_id": "2"}).cluster


NAMES = st.sampled_from(
    ["id", "type", "messages", "prompt", "completion", "prediction", "draft_tokens", "completion_tokens",
     "request", "response", "body", "choices", "message", "content", "text", "role", "max_tokens", "outcome",
     "conversation_id", "prompt_id", "error"]
)  # fmt: skip
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=True)
    | st.text(max_size=6)
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=20,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAMES, JSON, max_size=8))
def test_no_line_breaks_a_replay(item: dict[str, Any]) -> None:
    options = Options(
        fields=("prediction", "messages.-1"), lengths=(1, 2), draft_tokens=(1, 64), index_tokens=0
    )
    replayer = Replayer(options, approximate())
    for number in range(6):  # different conversations, so that every split has one
        try:
            replayer.feed(read({**item, "conversation_id": number}))
        except UnusableTraceError:
            return
    judge(replayer.tally, options)


def test_a_text_below_a_thousand_brackets_is_no_text() -> None:
    deep: object = "x"
    for _ in range(400):
        deep = [{"content": deep}]
    found = read({"prompt": deep, "completion": "y", "prediction": deep})
    assert (found.prompt, field(found, "prediction")) == ("", "")
    with pytest.raises(UnusableTraceError, match=NO_ANSWER):
        read({"prompt": "p", "completion": {"choices": [{"message": {"content": deep}}]}})
