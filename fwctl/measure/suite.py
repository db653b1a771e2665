"""Prompt sets: one JSON request a line, checked with line numbers, streamed and never loaded whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError
from fwctl.measure.jsonl import line_at, numbered_lines, parse_line, placed_lines, wrong
from fwctl.measure.seen import Seen
from fwctl.spec.closest import did_you_mean

SENT = ("messages", "prompt", "max_tokens", "temperature", "response_format", "prediction")
KEYS = frozenset({*SENT, "id", "type", "expected", "grader", "tags"})

EXAMPLE = (
    '{"id": "chat-1", "type": "chat", "max_tokens": 64, "temperature": 0, '
    '"messages": [{"role": "user", "content": "Name three uses of a lighthouse."}]}\n'
    '{"id": "extract-1", "type": "extract", "max_tokens": 64, "temperature": 0, '
    '"expected": "{\\"city\\": \\"Oslo\\"}", "grader": "json", '
    '"response_format": {"type": "json_object"}, '
    '"messages": [{"role": "user", '
    '"content": "Answer in JSON with the key city: the parcel goes to Oslo."}]}\n'
    '{"id": "edit-1", "type": "edit", "max_tokens": 64, "temperature": 0, '
    '"messages": [{"role": "user", "content": "Correct the spelling: the shipp sails at dawn."}]}\n'
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request of a suite; `body` holds what is sent, without the model. `expected` and `grader` are for
    evaluations and are never sent."""

    id: str
    type: str
    body: Mapping[str, Any]
    expected: Any = None
    grader: Any = None


@dataclass(frozen=True, slots=True)
class Suite:
    """A checked prompt set. `digest` changes with anything in any line."""

    path: Path
    digest: str
    count: int

    def prompts(self) -> Iterator[Prompt]:
        """The prompts, one at a time."""
        return (prompt for prompt, _ in _read(self.path))

    def placed(self) -> Iterator[tuple[int, Prompt]]:
        """The same, each with the byte where its line begins."""
        for number, place, line in placed_lines(self.path):
            yield place, _prompt(self.path, number, parse_line(self.path, number, line))[0]

    def at(self, place: int) -> Prompt:
        """The prompt at a byte that `placed` told. Raises UsageError, also when the file has changed."""
        try:
            return _prompt(self.path, 0, parse_line(self.path, 0, line_at(self.path, place)))[0]
        except UsageError:
            raise UsageError(f"{self.path} has changed while it was read") from None


def load(path: Path) -> Suite:
    """Read the whole file once. Raises UsageError with file and line for the first thing that is wrong."""
    digest, count, seen = sha256(), 0, Seen()
    for prompt, canonical in _read(path):
        count += 1
        if not seen.add(prompt.id):
            raise _twice(path, prompt.id)
        digest.update(canonical + b"\n")
    if not count:
        raise UsageError(f"{path} holds no prompts", next_steps=["fwctl bench init"])
    return Suite(path, "sha256:" + digest.hexdigest(), count)


def _twice(path: Path, name: str) -> UsageError:
    """The first two lines with this id, which only a second reading can tell."""
    lines = [number for number, prompt, _ in _numbered(path) if prompt.id == name][:2]
    told = " and ".join(str(number) for number in lines)
    return UsageError(
        f"{path}:{lines[-1]}: the id {name[:80]!r} stands in lines {told}",
        next_steps=["give every prompt an id of its own"],
    )


def _read(path: Path) -> Iterator[tuple[Prompt, bytes]]:
    return ((prompt, canonical) for _, prompt, canonical in _numbered(path))


def _numbered(path: Path) -> Iterator[tuple[int, Prompt, bytes]]:
    for number, line in numbered_lines(path):
        yield number, *_prompt(path, number, parse_line(path, number, line))


def _prompt(path: Path, number: int, item: Any) -> tuple[Prompt, bytes]:
    if not isinstance(item, dict):
        raise wrong(path, number, "a prompt is a JSON object")
    if unknown := sorted(set(item) - KEYS):
        raise wrong(path, number, f"unknown key {unknown[0][:80]!r}", *_meant(path, item, unknown[0]))
    if not isinstance(item.get("id"), str) or not item["id"]:
        raise wrong(path, number, "`id` is a text and is needed")
    if not isinstance(item.get("type", ""), str):
        raise wrong(path, number, "`type` is a text")
    messages, text = item.get("messages"), item.get("prompt")
    if (messages is None) == (text is None):
        raise wrong(path, number, "give either `messages` or `prompt`")
    if text is not None and not isinstance(text, str):
        raise wrong(path, number, "`prompt` is a text")
    if messages is not None and not are_messages(messages):
        raise wrong(path, number, "`messages` is a list of objects with a `role`")
    misfit = next((key for key, (fits, _) in SHAPES.items() if key in item and not fits(item[key])), None)
    if misfit is not None:
        raise wrong(path, number, f"`{misfit}` is {SHAPES[misfit][1]}")
    body = {key: item[key] for key in SENT if key in item}
    if text is not None:
        body["messages"] = [{"role": "user", "content": body.pop("prompt")}]
    canonical = json.dumps(item, sort_keys=True, separators=(",", ":")).encode()
    kind = item.get("type", "other")
    return Prompt(item["id"], kind, body, item.get("expected"), item.get("grader")), canonical


def _is_count(value: object) -> bool:
    return type(value) is int and 1 <= value < 2**31


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and abs(value) < inf  # type: ignore[arg-type]


# What is sent as it is written, as far as another type would fail here and not at the server.
SHAPES: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "max_tokens": (_is_count, "a whole number from 1"),
    "temperature": (lambda value: value is None or _is_number(value), "a number"),
    "response_format": (
        lambda value: isinstance(value, dict | None),
        'an object, such as {"type": "json_object"}',
    ),
    "prediction": (lambda value: isinstance(value, str | dict | None), "a text or an object"),
}

# Keys of other kinds of files -> where they come from.
_FOREIGN = {"custom_id": "openai-batch", "conversations": "chat-log", "completion": "trace"}


def _meant(path: Path, item: dict[str, Any], unknown: str) -> tuple[str, ...]:
    """What an unknown key says about the line, or what was meant by it."""
    for key, kind in _FOREIGN.items():
        if key in item:
            return (f"fwctl bench import --from {kind} {path} --out prompts.jsonl",)
    return (did_you_mean(unknown, KEYS) or f"known are {', '.join(sorted(KEYS))}",)


def are_messages(value: object) -> bool:
    """True for what the API takes as messages, as far as their frame goes."""
    return isinstance(value, list) and bool(value) and all(isinstance(m, dict) and "role" in m for m in value)
