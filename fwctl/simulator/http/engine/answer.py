"""The answer to a request: its tokens, its tool calls, and why it ended."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from fwctl.simulator.http.engine import prose
from fwctl.simulator.http.engine.fields import RequestError
from fwctl.simulator.http.engine.grammar import Grammar, GrammarError
from fwctl.simulator.http.engine.reasoning import reasoning_tokens
from fwctl.simulator.http.engine.request import Request, text_of
from fwctl.simulator.http.engine.schemas import SchemaError, any_object, value_for
from fwctl.simulator.http.engine.seeds import rng
from fwctl.simulator.http.engine.tokens import Tokenizer

# Natural length of free text: log-normal, median 96 tokens, between 8 and 1,200.
_MEDIAN, _SIGMA, _SHORTEST, _LONGEST = 96, 0.7, 8, 1200
REASONING, CONTENT, TOOL = "reasoning", "content", "tool"


class Piece(NamedTuple):
    """One token. channel: reasoning, content or tool; call: index of the tool call it belongs to."""

    channel: str
    text: str
    call: int = 0


@dataclass
class Choice:
    """finish_reason: stop, length or tool_calls. stop_reason: the stop sequence that was met."""

    pieces: list[Piece]
    finish_reason: str
    stop_reason: str | None = None
    calls: list[dict[str, str]] = field(default_factory=list)

    def text(self, channel: str) -> str:
        return "".join(piece.text for piece in self.pieces if piece.channel == channel)

    def arguments(self, call: int) -> str:
        return "".join(p.text for p in self.pieces if p.channel == TOOL and p.call == call)


class Wishes(NamedTuple):
    """What a test fixes about the answer: its length, its text, the share of a prediction that is kept."""

    output_tokens: int | None = None
    answer: str | None = None
    prediction_match: float = 0.85


def natural_length(draw: random.Random) -> int:
    return max(_SHORTEST, min(_LONGEST, round(_MEDIAN * math.exp(draw.gauss(0, _SIGMA)))))


def _function_for(request: Request) -> list[dict[str, Any]]:
    """The functions to call: the forced one, or those whose names the conversation mentions, else the
    first. After a tool's result the model answers in words.
    """
    if not request.tools or request.tool_choice == "none":
        return []
    functions = [tool["function"] for tool in request.tools]
    if isinstance(request.tool_choice, dict):
        return [f for f in functions if f["name"] == request.tool_choice["name"]]
    last = request.messages[-1] if request.messages else {}
    if last.get("role") in {"tool", "function"} and request.tool_choice == "auto":
        return []
    text = text_of(last.get("content")).lower()
    named = [f for f in functions if f["name"].lower() in text] or functions[:1]
    return named if request.parallel_tool_calls else named[:1]


def _tool_pieces(functions: list[dict[str, Any]], draw: random.Random) -> Choice:
    pieces: list[Piece] = []
    calls: list[dict[str, str]] = []
    for index, function in enumerate(functions):
        try:
            value = value_for(function.get("parameters") or {"type": "object"}, draw)
        except SchemaError as error:
            raise RequestError(f"tools: parameters of {function['name']}: {error}", "tools") from None
        calls.append({"id": f"call_{draw.getrandbits(96):024x}", "name": function["name"]})
        text = json.dumps(value, ensure_ascii=False)
        pieces += [Piece(TOOL, part, index) for part in Tokenizer.split(text)]
    return Choice(pieces, "tool_calls", calls=calls)


def structured_text(request: Request, draw: random.Random) -> str | None:
    """JSON or grammar text that the response format demands; None for free text. Raises RequestError."""
    try:
        if request.response_format == "grammar":
            return Grammar(request.grammar or "").text(draw)
        if request.response_format == "json_schema" or request.schema is not None:
            return json.dumps(value_for(request.schema, draw), ensure_ascii=False)
    except (SchemaError, GrammarError) as error:
        raise RequestError(f"response_format: {error}", "response_format") from None
    if request.response_format == "json_object":
        return json.dumps(any_object(draw), ensure_ascii=False)
    return None


def _free_text(
    request: Request, predicted: Sequence[str], wishes: Wishes, draw: random.Random
) -> Iterator[str]:
    """Content tokens up to their natural end; endless when the caller ignores it."""
    endless = prose.pieces(draw)
    if wishes.answer is not None:
        yield from Tokenizer.split(wishes.answer)
    elif predicted:
        yield from prose.edited(list(predicted), wishes.prediction_match, draw)
    else:
        count = wishes.output_tokens
        yield from islice(endless, natural_length(draw) if count is None else count)
    if request.ignore_eos:
        yield from endless


def _cut_at_stop(pieces: list[Piece], stops: Sequence[str]) -> tuple[list[Piece], str | None]:
    """The pieces before the first stop sequence in the content, and that sequence."""
    text = "".join(piece.text for piece in pieces if piece.channel == CONTENT)
    found = [(text.find(stop), stop) for stop in stops]
    met = [(at, stop) for at, stop in found if at >= 0]
    if not met:
        return pieces, None
    at, stop = min(met)
    kept: list[Piece] = []
    for piece in pieces:
        if piece.channel != CONTENT:
            kept.append(piece)
            continue
        if at <= 0:
            break
        kept.append(Piece(CONTENT, piece.text[:at]))
        at -= len(piece.text)
    return kept, stop


def make_choice(
    request: Request,
    model: str,
    prompt_key: object,
    *,
    index: int,
    predicted: Sequence[str],
    wishes: Wishes,
    budget: int,
) -> Choice:
    """Choice `index`, at most `budget` tokens long. Same request, same key: same answer.

    model: full name of the base model. prompt_key: what the prompt was, and the seed.
    predicted: tokens of the caller's prediction.
    """
    draw = rng("answer", prompt_key, index)
    functions = _function_for(request)
    structured = None if functions else structured_text(request, draw)
    head: list[Piece] = []
    # A JSON schema switches the thinking of a reasoning model off, as documented.
    if request.chat and (structured is None or request.reasoning_effort is not None):
        count = reasoning_tokens(model, request.reasoning_effort)
        head = [Piece(REASONING, text) for text in islice(prose.pieces(draw), count)]
    if functions:
        choice = _tool_pieces(functions, draw)
        pieces = head + choice.pieces
        finish = "tool_calls" if len(pieces) <= budget else "length"
        return Choice(pieces[:budget], finish, calls=choice.calls)
    if structured is not None and wishes.answer is None:
        source: Iterator[str] = iter(Tokenizer.split(structured))
    else:
        source = _free_text(request, predicted, wishes, draw)
    return _cut(head, source, request.stop, budget)


def _cut(head: list[Piece], source: Iterator[str], stops: Sequence[str], budget: int) -> Choice:
    """Thinking and content within the budget, up to the first stop sequence."""
    room = max(0, budget - len(head))
    drawn = list(islice(source, room + 1))
    pieces = (head + [Piece(CONTENT, text) for text in drawn[:room]])[:budget]
    pieces, stop = _cut_at_stop(pieces, stops)
    cut_off = len(drawn) > room or len(head) > budget
    return Choice(pieces, "length" if stop is None and cut_off else "stop", stop)
