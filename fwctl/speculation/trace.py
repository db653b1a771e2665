"""One recorded request with its answer, from the shapes in which logs hold it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

OTHER = "other"
MAX_TYPE_LENGTH = 100
MAX_LEVELS = 16  # of lists and objects around a text; APIs use two


@dataclass(frozen=True, slots=True)
class Trace:
    """prompt: all texts of the request. fields: the whole request, in which a prediction may be looked up.

    cluster: digest of the conversation: requests that share it are not independent. draft_tokens: first
    choices of a draft model for each token of the answer, ids or texts. answer_tokens: the answer's own
    tokens when they were recorded with it.
    """

    id: str
    type: str
    cluster: int
    messages: tuple[Mapping[str, Any], ...]
    prompt: str
    completion: str
    fields: Mapping[str, Any]
    max_tokens: int | None = None
    draft_tokens: tuple[int | str, ...] | None = None
    answer_tokens: tuple[int | str, ...] | None = None


class UnusableTraceError(ValueError):
    """A line that says nothing about drafts; the text is the reason, and such lines are counted by it."""


NOT_TEXT = "neither `messages` nor `prompt`"
NO_ANSWER = "no answer"
NO_TEXT = "a bench record without text; bench run --keep-text keeps it"
FAILED = "failed request"
WARM_UP = "warm-up request of a bench run"
WRONG = "not an object"
_ANSWERED = ("ok", "client_gone")  # how the router says that a text was the model's


def read(item: object, suite: Mapping[str, Mapping[str, Any]] | None = None) -> Trace:
    """The trace in one decoded line: a trace line, a bench record with text, or request and response.

    suite: requests of a prompt set by id, for bench records, which hold no prompts. Raises
    UnusableTraceError.
    """
    if not isinstance(item, dict):
        raise UnusableTraceError(WRONG)
    if item.get("error_class") or item.get("error") or item.get("outcome", "ok") not in _ANSWERED:
        raise UnusableTraceError(FAILED)
    if item.get("measured") is False:
        raise UnusableTraceError(WARM_UP)
    name = _text(item.get("id") or item.get("prompt_id") or item.get("custom_id") or "")
    request = _request(item, (suite or {}).get(_text(item.get("prompt_id") or "")))
    completion = _completion(item)
    if not completion:
        raise UnusableTraceError(NO_TEXT if "response_digest" in item else NO_ANSWER)
    messages = _messages(request)
    limit = request.get("max_tokens")
    return Trace(
        name,
        (_text(item.get("type") or request.get("type") or "") or OTHER)[:MAX_TYPE_LENGTH],
        _cluster(item, messages, name),
        messages,
        "\n".join(text_of(message.get("content")) for message in messages),
        completion,
        request,
        limit if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0 else None,
        _tokens(item.get("draft_tokens")),
        _tokens(item.get("completion_tokens")),
    )


def _request(item: dict[str, Any], of_suite: Mapping[str, Any] | None) -> Mapping[str, Any]:
    for name in ("request", "body"):
        inner = item.get(name)
        if isinstance(inner, dict):
            deeper = inner.get("body")
            return {**item, **(deeper if isinstance(deeper, dict) else inner)}
    if of_suite is not None:
        return {**item, **of_suite}
    if not {"messages", "prompt", "text", "response_digest"} & set(item):
        raise UnusableTraceError(NOT_TEXT)
    return item


def _messages(request: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    messages = request.get("messages")
    if isinstance(messages, list):
        return tuple(message for message in messages if isinstance(message, dict))
    prompt = text_of(request.get("prompt"))
    return ({"role": "user", "content": prompt},) if prompt else ()


def _completion(item: dict[str, Any]) -> str:
    for name in ("completion", "text", "output", "response"):
        found = item.get(name)
        if isinstance(found, dict):
            found = _of_response(found)
        if isinstance(found, str) and found:
            return found
    return ""


def _of_response(response: dict[str, Any]) -> str:
    """The text of an answer as the API gives it, also inside the `body` of a batch file."""
    body = response.get("body") if isinstance(response.get("body"), dict) else response
    assert isinstance(body, dict)
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else body
    if not isinstance(first, dict):
        return ""
    message = first.get("message")
    return text_of(message.get("content")) if isinstance(message, dict) else text_of(first.get("text"))


def text_of(value: object, levels: int = MAX_LEVELS) -> str:
    """A text, the `content` of an object, or the text parts of a list; empty for anything else, and for
    what is nested deeper than so many levels."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and levels:
        inner = value.get("content", value.get("text"))
        return (
            inner if isinstance(inner, str) else text_of(inner, levels - 1) if isinstance(inner, list) else ""
        )
    if isinstance(value, list) and levels:
        return "".join(text_of(part, levels - 1) for part in value if isinstance(part, str | dict))
    return ""


def field(trace: Trace, name: str) -> str:
    """The text in a field of the request; dots go into objects, whole numbers into lists (-1: the last)."""
    value: object = trace.fields
    for part in name.split("."):
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.lstrip("-").isdecimal() and len(part) < 10:
            at = int(part)
            value = value[at] if -len(value) <= at < len(value) else None
        else:
            return ""
    return text_of(value)


def _cluster(item: dict[str, Any], messages: Sequence[Mapping[str, Any]], name: str) -> int:
    """64 bits that all requests of a conversation share: its id, else the first thing the user said."""
    given = item.get("conversation_id") or item.get("conversation")
    if isinstance(given, str | int):
        key = f"id:{given}"
    else:
        said = [message for message in messages if message.get("role") not in ("system", "developer")]
        key = f"said:{text_of(said[0].get('content'))}" if said else f"line:{name}"
    return int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _tokens(value: object) -> tuple[int | str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(item, int | str) or item is None for item in value):
        return None
    return tuple("" if item is None else item for item in value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""
