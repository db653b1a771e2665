"""Prompt sets: what is accepted, and where a mistake is said to be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fwctl.errors import UsageError
from fwctl.measure.suite import EXAMPLE, load

GOOD = '{"id": "a", "messages": [{"role": "user", "content": "x"}]}'


def test_the_example_is_a_valid_suite(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(EXAMPLE)
    suite = load(path)
    assert (suite.count, [prompt.type for prompt in suite.prompts()]) == (3, ["chat", "extract", "edit"])


def test_a_prompt_becomes_a_message_and_only_request_keys_are_sent(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('\n{"id": "a", "prompt": "Hi", "max_tokens": 4, "expected": "x", "tags": ["t"]}\n')
    (prompt,) = load(path).prompts()
    assert prompt.body == {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 4}
    assert prompt.type == "other"


def test_the_digest_follows_content_not_spacing(tmp_path: Path) -> None:
    digests = []
    for text in (
        GOOD,
        json.dumps(json.loads(GOOD), indent=None, separators=(",", ":")),
        GOOD.replace("x", "y"),
    ):
        path = tmp_path / "s.jsonl"
        path.write_text(text)
        digests.append(load(path).digest)
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"id": "b", "id": "c", "prompt": "x"}', "the key 'id' stands twice"),
        ("[]", "JSON object"),
        ('{"id": "b", "prompt": "x", "colour": 1}', "unknown key 'colour'"),
        ('{"prompt": "x"}', "`id`"),
        ('{"id": "b"}', "either `messages` or `prompt`"),
        ('{"id": "b", "prompt": "x", "messages": []}', "either"),
        ('{"id": "b", "prompt": 7}', "`prompt` is a text"),
        ('{"id": "b", "messages": [{}]}', "`messages` is a list"),
        ('{"id": "b", "prompt": "x", "max_tokens": 0}', "`max_tokens`"),
        ('{"id": "b", "prompt": "x", "max_tokens": true}', "`max_tokens`"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(f"{GOOD}\n{line}\n")
    with pytest.raises(UsageError, match=message) as caught:
        load(path)
    assert "s.jsonl:2:" in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(UsageError, match=r":1: the file is UTF-16") as caught:
        load(path)
    assert caught.value.next_steps == ("save it as UTF-8",)
    path.write_bytes(GOOD.encode() + b'\n{"id": "b", "prompt": "caf\xe9"}\n')
    with pytest.raises(UsageError, match=r":2: byte 27 \(0xe9\) is not UTF-8"):
        load(path)


def test_ids_are_unique(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    other = GOOD.replace('"a"', '"b"')
    path.write_text(f"{GOOD}\n{other}\n\n{GOOD}\n")
    with pytest.raises(UsageError, match=r":4: the id 'a' stands in lines 1 and 4"):
        load(path)


def test_an_empty_or_absent_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with pytest.raises(UsageError, match="cannot read"):
        load(path)
    path.write_text("\n")
    with pytest.raises(UsageError, match="no prompts"):
        load(path)


def test_a_byte_order_mark_is_no_part_of_the_set(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode() + b"\n")
    plain = tmp_path / "plain.jsonl"
    plain.write_text(GOOD)
    assert load(path).digest == load(plain).digest


@pytest.mark.parametrize(
    ("text", "message", "step"),
    [
        ('{"id": "a", "prompt": "x"', "Expecting ',' delimiter at column 26", "docs/bench.md"),
        ('[\n{"id": "a", "prompt": "x"}\n]\n', "not JSON", "jq -c '.[]'"),
        ('{"id": "a", "prompt": "x", "temperature": NaN}', "NaN is not a number", "docs/bench.md"),
        ('{"id": "a", "prompt": "x", "max_token": 3}', "unknown key 'max_token'", "did you mean max_tokens?"),
        ('{"custom_id": "a", "body": {}}', "unknown key", "fwctl bench import --from openai-batch"),
        ('{"id": "a", "conversations": []}', "unknown key", "fwctl bench import --from chat-log"),
        ('{"id": "a", "prompt": "x", "type": 3}', "`type` is a text", "docs/bench.md"),
        ('{"id": "a", "prompt": "x", "max_tokens": 99999999999}', "`max_tokens` is", "docs/bench.md"),
        ('{"id": "a", "prompt": "x", "temperature": "hot"}', "`temperature` is a number", "docs/bench.md"),
        ('{"id": "a", "prompt": "x", "temperature": 1e999}', "`temperature` is a number", "docs/bench.md"),
        ('{"id": "a", "prompt": "x", "response_format": "json"}', "is an object, such as", "docs/bench.md"),
        ('{"id": "a", "prompt": "x", "prediction": 5}', "is a text or an object", "docs/bench.md"),
    ],
)
def test_a_way_out_is_named(tmp_path: Path, text: str, message: str, step: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        load(path)
    assert message in str(caught.value)
    assert step in caught.value.next_steps[0]


def test_a_line_without_end_and_a_folder_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"id": "' + b"a" * (16 * 2**20))
    with pytest.raises(UsageError, match=r":1: the line is longer than 16 MiB"):
        load(path)
    with pytest.raises(UsageError, match="not a regular file"):
        load(tmp_path)
