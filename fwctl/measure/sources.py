"""Recorded requests of other tools, one at a time, as prompts of a suite.

Each source turns one decoded item into a prompt without an id, or says why it cannot be used. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fwctl.measure.suite import SENT, SHAPES, are_messages

OTHER = "other"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A prompt: `body` in the keys of a suite. answer: what was answered then. left_out: keys of the
    request that a suite does not carry."""

    name: str
    type: str
    body: Mapping[str, Any]
    answer: str | None = None
    left_out: Sequence[str] = field(default_factory=tuple)


class UnusableItemError(ValueError):
    """Why an item is skipped; such items are counted by this text."""


_IGNORED = frozenset({"model", "stream", "stream_options", "n", "user", "max_completion_tokens"})
_ROLES = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
}


def from_openai_batch(item: Any) -> Drawn:
    """A line of an OpenAI batch file: `custom_id`, `url`, `body`."""
    body = _object(item).get("body")
    if not isinstance(body, Mapping):
        raise UnusableItemError("no `body`")
    url = item.get("url")
    if isinstance(url, str) and not url.endswith("completions"):
        raise UnusableItemError("no chat or completion request")
    return _request(body, _name(item.get("custom_id")), OTHER)


def from_chat_log(item: Any) -> Drawn:
    """A conversation: `messages`, or `conversations` in the form of ShareGPT; its last question is asked."""
    item = _object(item)
    turns = item.get("messages", item.get("conversations"))
    if not isinstance(turns, list) or not turns:
        raise UnusableItemError("neither `messages` nor `conversations`")
    messages = [_message(turn) for turn in turns]
    last = max((at for at, message in enumerate(messages) if message["role"] == "user"), default=None)
    if last is None:
        raise UnusableItemError("nothing was asked")
    answer = messages[last + 1] if last + 1 < len(messages) else {}
    said = answer.get("content") if answer.get("role") == "assistant" else None
    name = _name(item.get("id", item.get("conversation_id")))
    kept = {key: item[key] for key in SENT if key in item and key not in ("messages", "prompt")}
    body = _checked({"messages": messages[: last + 1], **kept})
    return Drawn(name, _type(item.get("type")), body, said if isinstance(said, str) else None)


def from_trace(item: Any) -> Drawn:
    """A line of a router's trace log, or any object with `messages` or `prompt` in it or in `request`."""
    item = _object(item)
    inner = item.get("request", item.get("body", item))
    if not isinstance(inner, Mapping) or ("messages" not in inner and "prompt" not in inner):
        known = "prompt_id" in item and "target" in item
        raise UnusableItemError(
            "a record of a bench run, which holds no prompt" if known else "neither `messages` nor `prompt`"
        )
    if item.get("error_class") or item.get("error"):
        raise UnusableItemError("a failed request")
    found = _request(inner, _name(item.get("id", item.get("request_id"))), _type(item.get("type")))
    answer = item.get("completion")
    mine = [key for key in found.left_out if inner is not item]
    return Drawn(found.name, found.type, found.body, answer if isinstance(answer, str) else None, mine)


SOURCES: dict[str, Callable[[Any], Drawn]] = {
    "openai-batch": from_openai_batch,
    "chat-log": from_chat_log,
    "trace": from_trace,
}


def _request(body: Mapping[str, Any], name: str, kind: str) -> Drawn:
    """A request of the API; `max_completion_tokens` is the newer name of `max_tokens`."""
    found = {key: body[key] for key in SENT if body.get(key) is not None}
    if "max_tokens" not in found and body.get("max_completion_tokens") is not None:
        found["max_tokens"] = body["max_completion_tokens"]
    prompt = found.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1:
        found["prompt"] = prompt[0]
    left_out = sorted(set(body) - {*SENT, *_IGNORED})
    return Drawn(name, kind, _checked(found), left_out=tuple(left_out))


def _checked(body: dict[str, Any]) -> dict[str, Any]:
    """The same body, when a suite can hold it."""
    messages, prompt = body.get("messages"), body.get("prompt")
    if messages is not None and prompt is not None:
        del body["prompt"]
    if messages is None and not isinstance(prompt, str):
        raise UnusableItemError("neither `messages` nor `prompt`")
    if messages is not None and not are_messages(messages):
        raise UnusableItemError("`messages` is not a list of messages")
    return {key: value for key, value in body.items() if key not in SHAPES or SHAPES[key][0](value)}


def _message(turn: Any) -> dict[str, Any]:
    """A turn of either form as a message."""
    if not isinstance(turn, Mapping):
        raise UnusableItemError("a turn is not an object")
    role = _ROLES.get(str(turn.get("role", turn.get("from"))).lower())
    if role is None:
        raise UnusableItemError("a turn of an unknown speaker")
    rest = {key: turn[key] for key in ("tool_calls", "tool_call_id", "name") if key in turn}
    return {"role": role, "content": turn.get("content", turn.get("value")), **rest}


def _object(item: Any) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise UnusableItemError("not an object")
    return item


def _name(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _type(value: Any) -> str:
    return value if isinstance(value, str) and value else OTHER
