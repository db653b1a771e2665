"""What a stream says: deltas, finish reason, usage and metrics, with the times that matter."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from fwctl.inference.failures import ErrorClass, Failure
from fwctl.inference.opening import Opening
from fwctl.inference.perf import from_body
from fwctl.inference.sse import Event
from fwctl.stats.quantiles import quantile

try:
    # A fifth of the time per chunk goes into JSON; both raise ValueError for what is not JSON.
    from orjson import loads
except ImportError:
    from json import loads  # type: ignore[assignment]

STALL_S = 1.0
# No answer is that long; a file with a larger number is read differently by every JSON library.
_TOO_MANY_TOKENS = 10**12
_MORE = frozenset({"usage", "perf_metrics", "error"})
_TEXT_KEYS = ("content", "text", "refusal")
_REASONING_KEYS = ("reasoning_content", "reasoning")


@dataclass(slots=True)
class Choice:
    """One answer of a response, by index."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    tools: dict[int, dict[str, str]] = field(default_factory=dict)
    finish_reason: str | None = None


@dataclass(slots=True)
class Usage:
    """Token counts of the server; None where it said nothing. Output includes reasoning."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(slots=True)
class Answer:
    """Everything known about one response. Times are seconds on the clock of the caller's stamps.

    began: an event has come, so that the body is a stream.
    """

    choices: dict[int, Choice] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    server: dict[str, float | str] = field(default_factory=dict)
    first_token_at: float | None = None
    first_visible_at: float | None = None
    last_token_at: float | None = None
    gaps_s: list[float] = field(default_factory=list)
    reads_with_tokens: int = 0
    began: bool = False
    done: bool = False
    failure: Failure | None = None

    @property
    def text(self) -> str:
        """Visible text of the first choice."""
        return "".join(self.choices[0].text) if 0 in self.choices else ""

    @property
    def parts(self) -> list[str]:
        """The same in the pieces in which it came."""
        return self.choices[0].text if 0 in self.choices else []

    @property
    def reasoning(self) -> str:
        return "".join(self.choices[0].reasoning) if 0 in self.choices else ""

    @property
    def finish_reason(self) -> str | None:
        return self.choices[0].finish_reason if 0 in self.choices else None

    @property
    def max_gap_s(self) -> float | None:
        """Longest pause between two reads that carried tokens."""
        return max(self.gaps_s, default=None)

    @property
    def stalls(self) -> int:
        """Pauses longer than a second and than five times the median pause."""
        limit = max(5 * quantile(self.gaps_s, 0.5), STALL_S) if self.gaps_s else STALL_S
        return sum(gap > limit for gap in self.gaps_s)

    @property
    def digest(self) -> str:
        """sha256 of what was visible, all choices and tool calls in order."""
        seen = [["".join(c.text), sorted(c.tools.items())] for _, c in sorted(self.choices.items())]
        return "sha256:" + sha256(json.dumps(seen).encode()).hexdigest()

    def absorb(self, event: Event, at: float) -> None:
        """Take one event that arrived in the read stamped `at`."""
        self.began = True
        if event.data[:2] != b'{"' and event.data.strip() == b"[DONE]":
            self.done = True
            return
        try:
            payload = _loads(event.data)
        except (ValueError, RecursionError):
            self._fail("an event of the stream is not JSON")
            return
        if event.name == "error" or not isinstance(payload, dict):
            self._fail("the stream carries an error event")
            return
        self.absorb_payload(payload, at)

    def absorb_plain(self, data: bytes, at: float) -> bool:
        """Take an event that brings nothing but text of the only choice, as nearly all do; False, with
        nothing done, for every other."""
        try:
            payload = loads(data)
            (item,) = payload["choices"]
            delta = item["delta"]
            text = delta["content"]
        except (ValueError, LookupError, TypeError, RecursionError):
            return False
        if (
            not text
            or len(delta) != 1
            or type(text) is not str
            or item.get("finish_reason") is not None
            or item.get("index") != 0
            or 0 not in self.choices
            or self.first_visible_at is None
            or not _MORE.isdisjoint(payload)
        ):
            return False
        self.choices[0].text.append(text)
        last = self.last_token_at
        if last is not None and at > last:
            self.reads_with_tokens += 1
            self.gaps_s.append(at - last)
            self.last_token_at = at
        return True

    def absorb_payload(self, payload: dict[str, Any], at: float) -> None:
        """Take one chunk, or the whole body of a response that is not streamed."""
        if payload.get("error"):
            self._fail("the server reported an error after HTTP 200")
            return
        fresh = visible = False
        choices = payload.get("choices")
        for item in choices if isinstance(choices, list) else ():
            if isinstance(item, dict):
                token, seen = self._choice(item)
                fresh, visible = fresh or token, visible or seen
        if fresh:
            self._stamp(at, visible)
        if isinstance(usage := payload.get("usage"), dict):
            self._usage(usage)
        if "perf_metrics" in payload:
            self.server |= from_body(payload["perf_metrics"])

    def end(self, opening: Opening | None = None) -> Failure | None:
        """Judge the response at its end; the failure is kept in `failure` too. opening: of a body that has to
        be a stream."""
        if self.failure is None:
            self.failure = self._verdict()
            if opening is not None and not self.began:
                self.failure = opening.failure() or self.failure
        return self.failure

    def _verdict(self) -> Failure | None:
        reason = self.finish_reason
        if reason is None and not self.done:
            return Failure(ErrorClass.TRUNCATED, "the stream ended without finish_reason and [DONE]")
        if reason == "content_filter":
            return Failure(ErrorClass.CONTENT_FILTER, "a content filter stopped the answer")
        if reason == "error":
            return Failure(ErrorClass.SSE_ERROR, "the answer ended with finish_reason error")
        if self.first_token_at is None:
            return Failure(ErrorClass.EMPTY, "the answer is empty")
        return None

    def _fail(self, message: str) -> None:
        if self.failure is None:
            self.failure = Failure(ErrorClass.SSE_ERROR, message)

    def _choice(self, item: dict[str, Any]) -> tuple[bool, bool]:
        """Whether the choice brought a token at all, and a visible one."""
        index = item.get("index")
        if not isinstance(index, int):
            index = 0
        choice = self.choices.get(index)
        if choice is None:
            choice = self.choices[index] = Choice()
        delta = item.get("delta") or item.get("message") or item
        if not isinstance(delta, dict):
            delta = {}
        if isinstance(reason := item.get("finish_reason"), str) and reason:
            choice.finish_reason = reason
        if len(delta) == 1 and isinstance(text := delta.get("content"), str) and text:
            choice.text.append(text)
            return True, True
        visible = _collect(delta, _TEXT_KEYS, choice.text)
        # Some servers send the same reasoning under both names; it counts once.
        thought = _collect(delta, _REASONING_KEYS, choice.reasoning)
        called = _tool_calls(delta.get("tool_calls"), choice)
        return visible or thought or called, visible or called

    def _stamp(self, at: float, visible: bool) -> None:
        if self.first_token_at is None:
            self.first_token_at = at
        if visible and self.first_visible_at is None:
            self.first_visible_at = at
        if self.last_token_at is None:
            self.reads_with_tokens = 1
        elif at > self.last_token_at:
            self.reads_with_tokens += 1
            self.gaps_s.append(at - self.last_token_at)
        self.last_token_at = at

    def _usage(self, usage: dict[str, Any]) -> None:
        """The last usage of a stream is the one that holds."""
        prompt, output = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
        self.usage = Usage(
            _count(usage.get("prompt_tokens")),
            _count(prompt.get("cached_tokens")) if isinstance(prompt, dict) else None,
            _count(usage.get("completion_tokens")),
            _count(output.get("reasoning_tokens")) if isinstance(output, dict) else None,
        )


def _loads(data: bytes) -> Any:
    """Half of a surrogate pair is no Unicode, but a server may split an emoji between two events."""
    try:
        return loads(data)
    except ValueError:
        return json.loads(data)


def _count(value: object) -> int | None:
    """A number of tokens; None for what cannot be one."""
    return value if type(value) is int and 0 <= value < _TOO_MANY_TOKENS else None


def _collect(delta: dict[str, Any], keys: tuple[str, ...], into: list[str]) -> bool:
    """Append the first non-empty text among the keys."""
    for key in keys:
        if isinstance(text := delta.get(key), str) and text:
            into.append(text)
            return True
    return False


def _tool_calls(calls: object, choice: Choice) -> bool:
    """Join fragments of tool calls by their index; True when one brought something."""
    found = False
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            continue
        index = call.get("index")
        tool = choice.tools.setdefault(index if isinstance(index, int) else 0, {"name": "", "arguments": ""})
        for key in tool:
            if isinstance(part := function.get(key), str) and part:
                tool[key] += part
                found = True
    return found
