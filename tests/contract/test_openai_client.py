"""OpenAI's own client, unchanged, against the simulator."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from tests.simulator.http.support import KEY, SERVERLESS, Sim, serving

PLAIN = "accounts/acme/deployments/d1"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "year": {"type": "integer", "minimum": 1900, "maximum": 2100},
    },
    "required": ["title", "year"],
    "additionalProperties": False,
}
TOOL: Any = {
    "type": "function",
    "function": {
        "name": "lookup",
        "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
    },
}
HELLO: Any = [{"role": "user", "content": "Say hello."}]


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sim]:
    with serving(tmp_path_factory.mktemp("openai")) as started:
        started.deploy("d1")
        yield started


@pytest.fixture
def client(sim: Sim) -> Iterator[OpenAI]:
    with OpenAI(api_key=KEY, base_url=f"{sim.url}/inference/v1", max_retries=0) as made:
        yield made


def test_chat(client: OpenAI) -> None:
    answer = client.chat.completions.create(model=PLAIN, messages=HELLO, max_tokens=9)
    assert answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 9
    assert answer.usage.prompt_tokens_details is not None


def test_streaming_with_usage(client: OpenAI) -> None:
    stream = client.chat.completions.create(
        model=PLAIN, messages=HELLO, max_tokens=9, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == 9
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1])
    whole = client.chat.completions.create(model=PLAIN, messages=HELLO, max_tokens=9)
    assert text == whole.choices[0].message.content


def test_the_streaming_helper_collects_tool_calls(client: OpenAI) -> None:
    with client.chat.completions.stream(model=PLAIN, messages=HELLO, tools=[TOOL]) as stream:
        for _ in stream:
            pass
        final = stream.get_final_completion()
    calls = final.choices[0].message.tool_calls
    assert calls is not None
    assert isinstance(json.loads(calls[0].function.arguments)["id"], int)
    assert final.choices[0].finish_reason == "tool_calls"


def test_json_schema(client: OpenAI) -> None:
    response_format: Any = {
        "type": "json_schema",
        "json_schema": {"name": "film", "schema": SCHEMA, "strict": True},
    }
    answer = client.chat.completions.create(model=PLAIN, messages=HELLO, response_format=response_format)
    jsonschema.validate(json.loads(answer.choices[0].message.content or ""), SCHEMA)


def test_logprobs(client: OpenAI) -> None:
    answer = client.chat.completions.create(
        model=PLAIN, messages=HELLO, max_tokens=4, logprobs=True, top_logprobs=3
    )
    logprobs = answer.choices[0].logprobs
    assert logprobs is not None
    assert logprobs.content is not None
    assert [len(row.top_logprobs) for row in logprobs.content] == [3] * 4


def test_prediction_several_choices_and_stop(client: OpenAI) -> None:
    prediction: Any = {"type": "content", "content": "alpha beta gamma"}
    answer = client.chat.completions.create(
        model=PLAIN,
        messages=HELLO,
        prediction=prediction,
        n=2,
        stop=[" gamma"],
        extra_headers={"x-sim-prediction-match": "1"},
    )
    assert [choice.message.content for choice in answer.choices] == ["alpha beta"] * 2


def test_completions_embeddings_and_models(client: OpenAI) -> None:
    assert client.completions.create(model=PLAIN, prompt="once", max_tokens=3).choices[0].text
    vector = client.embeddings.create(model=PLAIN, input="words", dimensions=8, encoding_format="float")
    assert len(vector.data[0].embedding) == 8
    assert PLAIN in [model.id for model in client.models.list()]


@pytest.mark.parametrize(
    ("fields", "kind", "code"),
    [
        ({"model": "accounts/acme/deployments/nope"}, openai.NotFoundError, "NOT_FOUND"),
        ({"temperature": 9}, openai.BadRequestError, "INVALID_ARGUMENT"),
        (
            {"extra_headers": {"x-sim-fault": "status;status=429;retry_after=1"}},
            openai.RateLimitError,
            "RESOURCE_EXHAUSTED",
        ),
        (
            {"extra_headers": {"x-sim-fault": "status;status=503;code=DEPLOYMENT_SCALING_UP"}},
            openai.InternalServerError,
            "DEPLOYMENT_SCALING_UP",
        ),
        ({"extra_headers": {"authorization": "Bearer x"}}, openai.AuthenticationError, "UNAUTHORIZED"),
    ],
)
def test_errors_are_the_client_s_own_classes(
    client: OpenAI, fields: dict[str, Any], kind: type[openai.APIStatusError], code: str
) -> None:
    with pytest.raises(kind) as caught:
        client.chat.completions.create(**({"model": PLAIN, "messages": HELLO} | fields))
    assert caught.value.code == code


def test_an_error_inside_a_stream_is_raised(client: OpenAI) -> None:
    stream = client.chat.completions.create(
        model=PLAIN, messages=HELLO, stream=True, extra_headers={"x-sim-fault": "error-event;after=2"}
    )
    with pytest.raises(openai.APIError, match="Internal server error"):
        list(stream)


def test_a_client_that_leaves_frees_its_replica(sim: Sim) -> None:
    """One request fills the only place; after it is cancelled the next one gets in."""
    name = sim.deploy("d2", maxConcurrencyPerReplica=1)
    slow = {"x-sim-inference-speed": "1", "x-sim-tokens-per-second": "1", "x-sim-ttft-ms": "0"}

    async def scenario() -> tuple[int, str]:
        async with AsyncOpenAI(api_key=KEY, base_url=f"{sim.url}/inference/v1", max_retries=0) as client:
            stream = await client.chat.completions.create(
                model=name, messages=HELLO, max_tokens=500, stream=True, extra_headers=slow
            )
            await anext(stream)
            refused = 0
            try:
                await client.chat.completions.create(model=name, messages=HELLO)
            except openai.RateLimitError as error:
                refused = error.status_code
            await stream.close()
            for _ in range(3000):
                try:
                    answer = await client.chat.completions.create(model=name, messages=HELLO, max_tokens=1)
                    return refused, str(answer.choices[0].finish_reason)
                except openai.RateLimitError:
                    await asyncio.sleep(0)
            return refused, "never"

    assert asyncio.run(scenario()) == (429, "length")


def test_a_waiting_request_that_is_cancelled_leaves_no_trace(sim: Sim) -> None:
    """A whole answer is abandoned before its first byte."""
    name = sim.deploy("d3", maxConcurrencyPerReplica=1)

    async def scenario() -> str:
        async with AsyncOpenAI(api_key=KEY, base_url=f"{sim.url}/inference/v1", max_retries=0) as client:
            slow = {"x-sim-inference-speed": "1", "x-sim-ttft-ms": "60000"}
            with pytest.raises(openai.APITimeoutError):
                await client.chat.completions.create(
                    model=name, messages=HELLO, extra_headers=slow, timeout=0.2
                )
            for _ in range(3000):
                try:
                    answer = await client.chat.completions.create(model=name, messages=HELLO, max_tokens=1)
                    return str(answer.choices[0].finish_reason)
                except openai.RateLimitError:
                    await asyncio.sleep(0)
            return "never"

    assert asyncio.run(scenario()) == "length"


def test_reasoning_comes_beside_the_content(client: OpenAI) -> None:
    answer = client.chat.completions.create(model=SERVERLESS, messages=HELLO, reasoning_effort="low")
    assert getattr(answer.choices[0].message, "reasoning_content", None)
    assert answer.choices[0].message.content
