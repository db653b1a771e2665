"""A draft model asked over HTTP what it would write next, on true beginnings of recorded answers.

One walk gives its first choice at every position: it writes up to `most` tokens, is right up to its first
wrong one, and is asked again behind the true token there. Requests with `prompt` go to `/completions`;
those with `messages` to `/chat/completions` with the beginning as an unfinished assistant message, which
the server must know how to continue (`continue_final_message`, as vLLM and SGLang call it).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fwctl.errors import AuthError, FwctlError, NetworkError
from fwctl.inference.failures import from_status
from fwctl.speculation.replay import digest
from fwctl.speculation.tally import TRAIN, split
from fwctl.speculation.tokens import Tokenizer
from fwctl.speculation.trace import Trace
from fwctl.units import short_duration

if TYPE_CHECKING:
    import httpx

REQUESTS_PER_TYPE = 20
_AT_A_TIME = 8
_TIMEOUT_S = 60.0
LIMIT_S = 600.0  # for all of them: a slow endpoint must not hold a replay for hours
_BODY_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Drafter:
    """An OpenAI-compatible server, up to /v1. requests: recorded requests it is asked about, by type.
    limit_s: for all of them."""

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    requests: int = REQUESTS_PER_TYPE
    limit_s: float = LIMIT_S


@dataclass(frozen=True, slots=True)
class Asked:
    """right: digest of a trace -> for each token of the answer 1 where the model's first choice was it.

    The first token comes with the prompt; its place holds 0 and is never looked at. asks: HTTP requests.
    left_out: traces that the limit left unfinished.
    """

    right: dict[str, list[int]]
    asks: int
    left_out: int


def sample(traces: Iterable[Trace], most: int) -> list[Trace]:
    """The first `most` different traces of each type outside the training split."""
    found: dict[str, dict[str, Trace]] = {}
    for trace in traces:
        of_type = found.setdefault(trace.type, {})
        if split(trace.cluster) != TRAIN and trace.draft_tokens is None and len(of_type) < most:
            of_type[digest(trace)] = trace
    return [trace for of_type in found.values() for trace in of_type.values()]


def ask(traces: Sequence[Trace], tokenizer: Tokenizer, drafter: Drafter, most: int) -> Asked:
    """Ask about every trace; NetworkError or AuthError at the first failure, and when no trace is done within
    the limit. most: longest draft."""
    return asyncio.run(_ask(traces, tokenizer, drafter, most))


async def _ask(traces: Sequence[Trace], tokenizer: Tokenizer, drafter: Drafter, most: int) -> Asked:
    import httpx

    headers = {"authorization": f"Bearer {drafter.key}"} if drafter.key else {}
    gate = asyncio.Semaphore(_AT_A_TIME)
    try:
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, headers=headers) as client:
            walks = [_Walk(trace, tokenizer, drafter, most, client) for trace in traces]

            async def one(walk: _Walk) -> None:
                async with gate:
                    await walk.run()

            with suppress(TimeoutError):
                async with asyncio.timeout(drafter.limit_s), asyncio.TaskGroup() as group:
                    for walk in walks:
                        group.create_task(one(walk))
    except* FwctlError as errors:
        raise _first(errors) from None
    done = [walk for walk in walks if walk.done]
    if walks and not done:
        raise NetworkError(
            f"the draft endpoint finished no request within {short_duration(drafter.limit_s)}",
            next_steps=["a smaller --draft-requests, or a faster server"],
        )
    return Asked(
        {digest(walk.trace): walk.right for walk in done},
        sum(walk.asks for walk in walks),
        len(walks) - len(done),
    )


def _first(errors: BaseExceptionGroup[FwctlError]) -> FwctlError:
    found = errors.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found


class _Walk:
    """Goes through one answer."""

    def __init__(
        self, trace: Trace, tokenizer: Tokenizer, drafter: Drafter, most: int, client: httpx.AsyncClient
    ) -> None:
        self.trace = trace
        self.tokenizer = tokenizer
        self.drafter = drafter
        self.most = most
        self.client = client
        self.answer = tokenizer.ids(trace.completion)
        self.ends = tokenizer.ends(trace.completion)
        self.right = [0] * len(self.answer)
        self.asks = 0
        self.done = False

    async def run(self) -> None:
        at = 1
        while at < len(self.answer):
            drafted, ended = self._tokens(
                at, *await self._continue(self.trace.completion[: self.ends[at - 1]])
            )
            count = 0
            while at < len(self.answer) and count < len(drafted) and drafted[count] == self.answer[at]:
                self.right[at] = 1
                at, count = at + 1, count + 1
            if count < len(drafted) or ended or not count:
                at += 1  # a wrong token, or the end too early: the true one is next
        self.done = True

    def _tokens(self, at: int, text: str, cut: bool) -> tuple[Sequence[int], bool]:
        """What was drafted as tokens behind the first `at`, and whether it ended by itself.

        The text is tokenised behind the true beginning, as it would stand there. The last token of a text
        that was cut off may be half a one.
        """
        ids = self.tokenizer.ids(self.trace.completion[: self.ends[at - 1]] + text)
        if ids[:at] != self.answer[:at]:
            return (), True  # the draft goes on inside the last true token: another token there
        drafted = ids[at:]
        return drafted[: max(1, len(drafted) - 1)] if cut else drafted, not cut

    async def _continue(self, beginning: str) -> tuple[str, bool]:
        """What the model writes behind the beginning, and whether it was cut off."""
        import httpx

        path, body = self._body(beginning)
        self.asks += 1
        try:
            url = self.drafter.url.rstrip("/") + path
            async with self.client.stream("POST", url, json=body) as response:
                content = await _content(response)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise NetworkError(f"the draft endpoint did not answer: {type(error).__name__}") from None
        failure = from_status(response.status_code, content)
        if failure is not None:
            raise _refused(response.status_code, failure.message, path)
        return _completion(content)

    def _body(self, beginning: str) -> tuple[str, dict[str, Any]]:
        body: dict[str, Any] = {"model": self.drafter.model, "max_tokens": self.most, "temperature": 0}
        if "messages" not in self.trace.fields:
            return "/completions", body | {"prompt": self.trace.prompt + beginning}
        messages: list[Mapping[str, Any]] = [
            *self.trace.messages,
            {"role": "assistant", "content": beginning},
        ]
        more = {"messages": messages, "continue_final_message": True, "add_generation_prompt": False}
        return "/chat/completions", body | more


async def _content(response: httpx.Response) -> bytes:
    """The body, whose size is bounded."""
    found = b""
    async for chunk in response.aiter_bytes():
        found += chunk
        if len(found) > _BODY_BYTES:
            raise NetworkError(f"the draft endpoint answered with more than {_BODY_BYTES} bytes")
    return found


def _completion(content: bytes) -> tuple[str, bool]:
    """The text of a response, and whether it was cut off."""
    try:
        choice = json.loads(content)["choices"][0]
        text = choice["message"]["content"] if "message" in choice else choice["text"]
        if isinstance(text, str | None):
            return text or "", choice.get("finish_reason") == "length"
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    raise NetworkError("the draft endpoint answered with something else than a completion")


def _refused(status: int, message: str, path: str) -> FwctlError:
    if status in (401, 403):
        return AuthError(f"draft endpoint: {message}", next_steps=["--api-key-env names the key's variable"])
    steps = ["check --draft-url and --draft-model"]
    if path == "/chat/completions" and status in (400, 422):
        steps = ["this server may not continue an assistant message: give traces with the rendered `prompt`"]
    return NetworkError(f"draft endpoint: {message}", next_steps=steps)
