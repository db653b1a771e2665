"""Prompt sets: one JSON request a line, checked with line numbers, streamed and never loaded whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError

MAX_LINE_BYTES = 16 * 1024 * 1024
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


def load(path: Path) -> Suite:
    """Read the whole file once. Raises UsageError with file and line for the first thing that is wrong."""
    digest, count, seen = sha256(), 0, set()
    for prompt, canonical in _read(path):
        key = sha256(prompt.id.encode("utf-8", "surrogatepass")).digest()[:12]
        if key in seen:
            raise UsageError(f"{path}: the id {prompt.id[:80]!r} appears twice")
        seen.add(key)
        digest.update(canonical + b"\n")
        count += 1
    if not count:
        raise UsageError(f"{path} holds no prompts", next_steps=["fwctl bench init"])
    return Suite(path, "sha256:" + digest.hexdigest(), count)


def _read(path: Path) -> Iterator[tuple[Prompt, bytes]]:
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    raise _wrong(path, number, f"the line is longer than {MAX_LINE_BYTES} bytes")
                if line.strip():
                    yield _prompt(path, number, line)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None


def _prompt(path: Path, number: int, line: bytes) -> tuple[Prompt, bytes]:
    try:
        item = json.loads(line)
    except (ValueError, RecursionError):
        raise _wrong(path, number, "this is not JSON in UTF-8") from None
    if not isinstance(item, dict):
        raise _wrong(path, number, "a prompt is a JSON object")
    if unknown := sorted(set(item) - KEYS):
        raise _wrong(path, number, f"unknown key {unknown[0][:80]!r}; known are {', '.join(sorted(KEYS))}")
    if not isinstance(item.get("id"), str) or not item["id"]:
        raise _wrong(path, number, "`id` is a text and is needed")
    messages, text = item.get("messages"), item.get("prompt")
    if (messages is None) == (text is None):
        raise _wrong(path, number, "give either `messages` or `prompt`")
    if text is not None and not isinstance(text, str):
        raise _wrong(path, number, "`prompt` is a text")
    if messages is not None and not _are_messages(messages):
        raise _wrong(path, number, "`messages` is a list of objects with a `role`")
    limit = item.get("max_tokens", 1)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise _wrong(path, number, "`max_tokens` is a whole number from 1")
    body = {key: item[key] for key in SENT if key in item}
    if text is not None:
        body["messages"] = [{"role": "user", "content": body.pop("prompt")}]
    canonical = json.dumps(item, sort_keys=True, separators=(",", ":")).encode()
    kind = str(item.get("type", "other"))
    return Prompt(item["id"], kind, body, item.get("expected"), item.get("grader")), canonical


def _are_messages(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(m, dict) and "role" in m for m in value)


def _wrong(path: Path, number: int, message: str) -> UsageError:
    return UsageError(f"{path}:{number}: {message}", next_steps=["see docs/bench.md, prompt sets"])
