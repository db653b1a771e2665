"""Laws of the HTTP simulator: whatever is sent, it obeys or refuses, and never stumbles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fwctl.simulator.http.engine import request as requests
from fwctl.simulator.http.engine import schemas
from fwctl.simulator.http.engine.answer import Wishes, make_choice
from fwctl.simulator.http.engine.fields import RequestError
from fwctl.simulator.http.engine.grammar import Grammar, GrammarError
from fwctl.simulator.http.engine.regexgen import PatternError, matching
from fwctl.simulator.http.engine.seeds import rng
from fwctl.simulator.http.engine.speculation import Drafter, plan_passes
from fwctl.simulator.http.engine.tokens import Tokenizer
from tests.simulator.http.support import SERVERLESS, Sim, serving

JSON: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
LEAVES = st.sampled_from(
    [
        {"type": "integer", "minimum": -5, "maximum": 5},
        {"type": "string", "maxLength": 9},
        {"type": "string", "minLength": 3},
        {"type": "boolean"},
        {"type": "number", "minimum": 0, "maximum": 1},
        {"type": "null"},
        {"enum": ["red", 3, None]},
        {"type": "string", "pattern": "^[a-f]{2,4}$"},
    ]
)
SCHEMA: Any = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(
            lambda properties, extra: {
                "type": "object",
                "properties": properties,
                "required": sorted(properties)[::2],
                "additionalProperties": extra,
            },
            st.dictionaries(st.sampled_from("abcdef"), inner, max_size=4),
            st.booleans(),
        ),
        st.builds(
            lambda items, low: {"type": "array", "items": items, "minItems": low}, inner, st.integers(0, 3)
        ),
        st.builds(lambda options: {"anyOf": options}, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=8,
)
FIELDS = (
    *("model", "messages", "prompt", "max_tokens", "n", "stop", "stream", "seed", "logprobs", "top_logprobs"),
    *("tools", "tool_choice", "response_format", "prediction", "speculation", "reasoning_effort", "thinking"),
    *("stream_options", "user", "temperature", "prompt_truncate_len", "context_length_exceeded_behavior"),
)


@given(st.text())
def test_the_pieces_of_a_text_are_the_text(text: str) -> None:
    assert "".join(Tokenizer.split(text)) == text


@settings(max_examples=60)
@given(SCHEMA, st.integers(0, 1000))
def test_every_value_made_for_a_schema_obeys_it(schema: Any, seed: int) -> None:
    jsonschema.validate(schemas.value_for(schema, rng(seed)), schema)


@settings(max_examples=60)
@given(JSON)
def test_any_json_as_a_schema_is_obeyed_or_refused(schema: Any) -> None:
    with suppress(schemas.SchemaError):
        schemas.value_for(schema, rng(1))


@settings(max_examples=60)
@given(st.text(max_size=40) | st.text(alphabet='root:="abc|()*+?[]{}0123,\\ \n-^.', max_size=40))
def test_any_text_as_a_grammar_is_obeyed_or_refused(source: str) -> None:
    with suppress(GrammarError):
        Grammar("root ::= " + source).text(rng(1))


@settings(max_examples=60)
@given(st.text(alphabet="ab\\dws[]()|*+?{}0123,^$.-:=!<>P", max_size=20))
def test_any_text_as_a_pattern_is_matched_or_refused(pattern: str) -> None:
    with suppress(PatternError):
        matching(pattern, rng(1))


@settings(max_examples=120)
@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6), st.booleans())
def test_any_body_is_read_or_refused_with_a_reason(body: dict[str, Any], chat: bool) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "prompt": "x", **body}
    with suppress(RequestError):
        asked = requests.read(body, chat=chat)
        make_choice(asked, "m", "k", index=0, predicted=(), wishes=Wishes(), budget=50)


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from("abc"), max_size=60),
    st.lists(st.sampled_from("abc"), max_size=60),
    st.none() | st.tuples(st.integers(1, 8), st.integers(0, 4)),
)
def test_passes_emit_every_token_once_and_accept_no_more_than_they_draft(
    output: list[str], prediction: list[str], drafting: tuple[int, int] | None
) -> None:
    drafter = Drafter(*drafting) if drafting else None
    passes = plan_passes(output, prompt=prediction, prediction=prediction, drafter=drafter, draw=rng(1))
    assert sum(passes.sizes) == len(output)
    assert all(size >= 1 for size in passes.sizes)
    assert 0 <= passes.matched <= len(output)
    for hits, conditional, totals in zip(passes.hits, passes.conditional, passes.totals, strict=True):
        assert hits <= conditional <= totals
    assert passes.hits == sorted(passes.hits, reverse=True)


@settings(max_examples=40)
@given(st.integers(0, 60), st.lists(st.sampled_from([" the", "a", "."]), max_size=2))
def test_an_answer_never_exceeds_its_budget_nor_holds_a_stop_sequence(budget: int, stops: list[str]) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "stop": stops}
    choice = make_choice(
        requests.read(body, chat=True), "m", "k", index=0, predicted=(), wishes=Wishes(), budget=budget
    )
    assert len(choice.pieces) <= budget
    assert not any(stop in choice.text("content") for stop in stops)


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sim]:
    with serving(tmp_path_factory.mktemp("fuzz")) as started:
        yield started


PATHS = st.sampled_from(
    [
        ("POST", "/inference/v1/chat/completions"),
        ("POST", "/inference/v1/completions"),
        ("POST", "/inference/v1/embeddings"),
        ("POST", "/v1/accounts/acme/deployments"),
        ("PATCH", "/v1/accounts/acme/deployments/d1"),
        ("PATCH", "/v1/accounts/acme/deployments/d1:scale"),
        ("POST", "/v1/accounts/acme/deployments/d1:setTags"),
        ("POST", "/v1/accounts/acme/deploymentShapeVersions:match"),
        ("POST", "/v1/accounts/acme/models"),
        ("POST", "/v1/accounts/acme/deployedModels"),
        ("POST", "/v1/accounts/acme/routers"),
        ("POST", "/v1/accounts/acme/datasets"),
        ("PATCH", "/v1/accounts/acme/quotas/monthly-spend-usd"),
        ("GET", "/v1/accounts/acme/deployments"),
    ]
)
KEYS = (
    *FIELDS,
    "baseModel",
    "replicaCount",
    "tags",
    "keys",
    "createDeploymentRequest",
    "modelId",
    "router",
    "value",
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    PATHS,
    st.binary(max_size=40) | st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4),
    st.text(max_size=9),
)
def test_no_request_is_the_server_s_own_failure(
    sim: Sim, path: tuple[str, str], body: bytes | dict[str, Any], word: str
) -> None:
    if isinstance(body, dict) and "inference" in path[1]:
        body = {"model": SERVERLESS, **body}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    query = {"filter": word, "pageToken": word, "updateMask": word, "sim_seed": "1"}
    answer = sim.http.request(path[0], path[1], params=query, content=content)
    assert answer.status_code < 500 or answer.status_code == 503, answer.text
    if answer.status_code >= 400 and "inference" not in path[1]:
        assert set(answer.json()) == {"code", "message", "details"}
