"""The JSON of answers: whole ones and chunks, chat and text, in the platform's dialect of OpenAI's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from fwctl.simulator.http.engine.answer import CONTENT, REASONING, TOOL, Choice, Piece
from fwctl.simulator.http.engine.request import Request
from fwctl.simulator.http.engine.seeds import rng
from fwctl.simulator.http.engine.tokens import Tokenizer


class Envelope(NamedTuple):
    """What all chunks of one answer share. created: epoch seconds."""

    id: str
    model: str
    created: int
    chat: bool
    tokenizer: Tokenizer
    prompt_ids: list[int]


def usage(prompt_tokens: int, completion_tokens: int, cached_tokens: int) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "completion_tokens": completion_tokens,
        "prompt_tokens_details": {"cached_tokens": cached_tokens},
    }


def _alternatives(piece: str, logprob: float, count: int) -> list[tuple[str, float]]:
    """The token itself and seeded less likely ones, best first."""
    draw = rng("alternatives", piece)
    words = [piece, *(f" {word}" for word in ("other", "another", "more", "some", "few"))]
    left = 1 - math.exp(logprob)
    out = [(piece, logprob)]
    for word in words[1 : max(1, count)]:
        share = left * draw.uniform(0.2, 0.5)
        left -= share
        out.append((word, min(logprob, math.log(max(share, 1e-6)))))
    return out[: max(1, count)]


def _logprob(piece: str, at: int) -> float:
    return round(-abs(rng("logprob", piece, at).gauss(0, 0.35)), 6)


def logprobs(request: Request, env: Envelope, pieces: Sequence[Piece], start: int) -> dict[str, Any] | None:
    """Log probabilities of these pieces, in the form the request asked for."""
    if not request.logprobs:
        return None
    rows, offset = [], 0
    for at, piece in enumerate(pieces, start):
        value = _logprob(piece.text, at)
        top = _alternatives(piece.text, value, request.top_logprobs)[: request.top_logprobs]
        rows.append((piece.text, value, top, offset))
        offset += len(piece.text)
    if request.legacy_logprobs:
        return {
            "tokens": [text for text, *_ in rows],
            "token_logprobs": [value for _, value, *_ in rows],
            "top_logprobs": [dict(top) for _, _, top, _ in rows],
            "text_offset": [at for *_, at in rows],
            "token_ids": env.tokenizer.ids(text for text, *_ in rows),
        }
    return {"content": [_row(env, *row) for row in rows]}


def _row(
    env: Envelope, text: str, value: float, top: Sequence[tuple[str, float]], offset: int
) -> dict[str, Any]:
    return {
        "token": text,
        "logprob": value,
        "sampling_logprob": value,
        "bytes": list(text.encode("utf-8", "replace")),
        "token_id": env.tokenizer.id_of(text),
        "text_offset": offset,
        "top_logprobs": [
            {
                "token": word,
                "logprob": lp,
                "token_id": env.tokenizer.id_of(word),
                "bytes": list(word.encode("utf-8", "replace")),
            }
            for word, lp in top
        ],
    }


def _message(choice: Choice) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant"}
    content, reasoning = choice.text(CONTENT), choice.text(REASONING)
    if content or not reasoning:
        message["content"] = content if not choice.calls or content else None
    if reasoning:
        message["reasoning_content"] = reasoning
    if choice.calls:
        message["tool_calls"] = [
            {
                "index": i,
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": choice.arguments(i)},
            }
            for i, call in enumerate(choice.calls)
        ]
    return message


def whole_choice(request: Request, env: Envelope, index: int, choice: Choice, echo: str) -> dict[str, Any]:
    """One entry of `choices` of a complete answer."""
    row: dict[str, Any] = {"index": index}
    if env.chat:
        row["message"] = _message(choice)
    else:
        row["text"] = echo + choice.text(CONTENT)
    row["finish_reason"] = choice.finish_reason
    if choice.stop_reason is not None:
        row["stop_reason"] = choice.stop_reason
    found = logprobs(request, env, choice.pieces, 0)
    if found is not None or not env.chat:
        row["logprobs"] = found
    if request.return_token_ids:
        row["token_ids"] = env.tokenizer.ids(piece.text for piece in choice.pieces)
        if not env.chat:
            row["prompt_token_ids"] = env.prompt_ids
    if request.raw_output:
        row["raw_output"] = {
            "prompt_fragments": [env.tokenizer.text_of(env.prompt_ids)],
            "prompt_token_ids": env.prompt_ids,
            "completion": "".join(piece.text for piece in choice.pieces),
            "completion_token_ids": env.tokenizer.ids(piece.text for piece in choice.pieces),
        }
    return row


def whole(
    request: Request, env: Envelope, choices: Sequence[Choice], counted: dict[str, Any], echoes: Sequence[str]
) -> dict[str, Any]:
    """A complete answer."""
    body: dict[str, Any] = {
        "id": env.id,
        "object": "chat.completion" if env.chat else "text_completion",
        "created": env.created,
        "model": env.model,
        "choices": [whole_choice(request, env, i, c, echoes[i]) for i, c in enumerate(choices)],
        "usage": counted,
    }
    if request.return_token_ids and env.chat:
        body["prompt_token_ids"] = env.prompt_ids
    return body


def _delta(choice: Choice, pieces: Sequence[Piece], begun: set[int]) -> dict[str, Any]:
    delta: dict[str, Any] = {}
    for channel, key in ((REASONING, "reasoning_content"), (CONTENT, "content")):
        text = "".join(piece.text for piece in pieces if piece.channel == channel)
        if text:
            delta[key] = text
    calls: dict[int, dict[str, Any]] = {}
    for piece in pieces:
        if piece.channel != TOOL:
            continue
        call = calls.setdefault(piece.call, {"index": piece.call, "function": {"arguments": ""}})
        if piece.call not in begun:
            begun.add(piece.call)
            call["id"], call["type"] = choice.calls[piece.call]["id"], "function"
            call["function"]["name"] = choice.calls[piece.call]["name"]
        call["function"]["arguments"] += piece.text
    if calls:
        delta["tool_calls"] = list(calls.values())
    return delta


class Chunks:
    """Writes the chunks of one streamed answer as bytes of server-sent events."""

    def __init__(
        self, request: Request, env: Envelope, choices: Sequence[Choice], echoes: Sequence[str]
    ) -> None:
        self._request, self._env, self._choices, self._echoes = request, env, choices, list(echoes)
        self._begun: list[set[int]] = [set() for _ in choices]
        self._base = {
            "id": env.id,
            "object": "chat.completion.chunk" if env.chat else "text_completion",
            "created": env.created,
            "model": env.model,
        }

    def event(self, choices: list[dict[str, Any]], extra: dict[str, Any]) -> bytes:
        return b"data: " + orjson.dumps(self._base | {"choices": choices} | extra) + b"\n\n"

    def role(self, extra: dict[str, Any]) -> bytes:
        """The role-only chunk that opens a chat stream; carries the prompt's token IDs when wanted."""
        rows = [
            {"index": i, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
            for i in range(len(self._choices))
        ]
        if self._request.return_token_ids:
            extra = extra | {"prompt_token_ids": self._env.prompt_ids}
        return self.event(rows, extra)

    def tokens(self, index: int, start: int, end: int, extra: dict[str, Any], finish: str | None) -> bytes:
        """A chunk with tokens start..end of a choice; finish: its finish_reason, None before the end."""
        choice = self._choices[index]
        pieces = choice.pieces[start:end]
        row: dict[str, Any] = {"index": index}
        if self._env.chat:
            row["delta"] = _delta(choice, pieces, self._begun[index])
        else:
            row["text"] = self._echoes[index] + "".join(piece.text for piece in pieces)
            self._echoes[index] = ""
        row["finish_reason"] = finish
        if finish is not None and choice.stop_reason is not None:
            row["stop_reason"] = choice.stop_reason
        if self._request.logprobs:
            row["logprobs"] = logprobs(self._request, self._env, pieces, start)
        if self._request.return_token_ids:
            row["token_ids"] = self._env.tokenizer.ids(piece.text for piece in pieces)
            if not self._env.chat and start == 0:
                row["prompt_token_ids"] = self._env.prompt_ids
        return self.event([row], extra)
