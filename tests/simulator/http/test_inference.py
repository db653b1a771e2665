"""Chat and text completions: what is asked for is what comes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import jsonschema
import pytest

from tests.simulator.http.support import LLAMA, SERVERLESS, Sim, content_of, events, serving

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "age": {"type": "integer", "minimum": 1, "maximum": 9},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
CLOCK = {
    "type": "function",
    "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}},
}
PLAIN = "accounts/acme/deployments/d1"


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sim]:
    with serving(tmp_path_factory.mktemp("inference")) as started:
        started.deploy("d1")
        yield started


def test_the_same_request_has_the_same_answer_and_another_seed_another(sim: Sim) -> None:
    first, second = (sim.chat(PLAIN).json()["choices"] for _ in range(2))
    assert first == second
    assert sim.chat(PLAIN, seed=7).json()["choices"] != first
    assert sim.chat(PLAIN, sim={"seed": "7"}).json()["choices"] != first


def test_max_tokens_ends_an_answer_with_length_and_is_counted(sim: Sim) -> None:
    body = sim.chat(PLAIN, max_tokens=5).json()
    assert body["choices"][0]["finish_reason"] == "length"
    assert body["usage"]["completion_tokens"] == 5
    assert body["usage"]["total_tokens"] == body["usage"]["prompt_tokens"] + 5


def test_max_completion_tokens_is_the_same_and_both_together_are_refused(sim: Sim) -> None:
    assert sim.chat(PLAIN, max_completion_tokens=3).json()["usage"]["completion_tokens"] == 3
    assert sim.chat(PLAIN, max_completion_tokens=3, max_tokens=3).status_code == 400


def test_a_natural_end_is_stop_and_ignore_eos_goes_on(sim: Sim) -> None:
    body = sim.chat(PLAIN, max_tokens=4000).json()
    assert body["choices"][0]["finish_reason"] == "stop"
    assert 8 <= body["usage"]["completion_tokens"] <= 1200
    endless = sim.chat(PLAIN, max_tokens=1500, ignore_eos=True).json()
    assert endless["choices"][0]["finish_reason"] == "length"
    assert endless["usage"]["completion_tokens"] == 1500


def test_a_stop_sequence_ends_the_text_before_it(sim: Sim) -> None:
    whole = sim.chat(PLAIN).json()["choices"][0]["message"]["content"]
    stop = whole[10:14]
    choice = sim.chat(PLAIN, stop=[stop, "never there"]).json()["choices"][0]
    assert choice["message"]["content"] == whole[: whole.index(stop)]
    assert (choice["finish_reason"], choice["stop_reason"]) == ("stop", stop)
    assert content_of(sim.stream(PLAIN, stop=stop)) == whole[: whole.index(stop)]


def test_the_length_of_free_text_can_be_fixed(sim: Sim) -> None:
    body = sim.chat(PLAIN, sim={"output_tokens": "37"}).json()
    assert body["usage"]["completion_tokens"] == 37
    assert body["choices"][0]["finish_reason"] == "stop"


def test_the_text_itself_can_be_fixed(sim: Sim) -> None:
    body = sim.chat(PLAIN, sim={"answer": "The answer is 42."}).json()
    assert body["choices"][0]["message"]["content"] == "The answer is 42."


def test_a_stream_adds_up_to_the_whole_answer_and_ends_with_done(sim: Sim) -> None:
    text = sim.stream(PLAIN)
    found = events(text)
    assert found[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert found[-1] == "[DONE]"
    assert found[-2]["choices"][0]["finish_reason"] == "stop"
    assert content_of(text) == sim.chat(PLAIN).json()["choices"][0]["message"]["content"]


@pytest.mark.parametrize(
    ("options", "knob", "places"),
    [
        (None, "auto", [-1]),
        ({"include_usage": True}, "auto", ["after"]),
        ({"include_usage": False}, "auto", []),
        (None, "none", []),
        (None, "after", ["after"]),
    ],
)
def test_usage_of_a_stream_stands_where_it_is_asked_for(
    sim: Sim, options: object, knob: str, places: list[object]
) -> None:
    fields = {} if options is None else {"stream_options": options}
    found = events(sim.stream(PLAIN, max_tokens=4, sim={"usage": knob}, **fields))[:-1]
    carrying = [event for event in found if "usage" in event]
    if places == ["after"]:
        assert [event["choices"] for event in carrying] == [[]]
        assert carrying == found[-1:]
    else:
        assert carrying == [found[at] for at in places if isinstance(at, int)]


def test_usage_in_every_chunk_can_be_had(sim: Sim) -> None:
    found = events(sim.stream(PLAIN, max_tokens=4, sim={"usage": "every"}))[1:-1]
    assert all(event["usage"]["completion_tokens"] == 4 for event in found)


def test_several_tokens_share_a_chunk_when_asked(sim: Sim) -> None:
    found = events(sim.stream(PLAIN, max_tokens=10, sim={"tokens_per_chunk": "4"}, return_token_ids=True))
    sizes = [len(event["choices"][0]["token_ids"]) for event in found[1:-2]]
    assert sizes == [4, 4, 2]


def test_several_choices_differ_and_are_told_apart_by_index(sim: Sim) -> None:
    body = sim.chat(PLAIN, n=3).json()
    texts = [choice["message"]["content"] for choice in body["choices"]]
    assert [choice["index"] for choice in body["choices"]] == [0, 1, 2]
    assert len(set(texts)) == 3
    rows = [row for event in events(sim.stream(PLAIN, n=3))[:-1] for row in event["choices"]]
    for index, text in enumerate(texts):
        assert "".join(row["delta"].get("content", "") for row in rows if row["index"] == index) == text
    assert sum(row["finish_reason"] is not None for row in rows) == 3


def test_a_reasoning_model_thinks_first_and_can_be_cut_while_thinking(sim: Sim) -> None:
    message = sim.chat(SERVERLESS).json()["choices"][0]["message"]
    assert message["reasoning_content"]
    assert message["content"]
    cut = sim.chat(SERVERLESS, max_tokens=10).json()["choices"][0]
    assert cut["finish_reason"] == "length"
    assert "content" not in cut["message"]
    rows = [event["choices"][0]["delta"] for event in events(sim.stream(SERVERLESS))[1:-2]]
    kinds = ["reasoning_content" if "reasoning_content" in delta else "content" for delta in rows]
    assert kinds == sorted(kinds, reverse=True)


def test_a_reasoning_effort_the_model_does_not_know_is_refused(sim: Sim) -> None:
    answer = sim.chat(SERVERLESS, reasoning_effort="none")
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "Invalid reasoning effort: none"
    low, high = (
        sim.chat(SERVERLESS, reasoning_effort=e).json()["usage"]["completion_tokens"] for e in ("low", "high")
    )
    assert low < high


def test_json_schema_answers_obey_the_schema_and_switch_thinking_off(sim: Sim) -> None:
    for number in range(20):
        fields = {"response_format": {"type": "json_schema", "json_schema": PERSON}, "seed": number}
        message = sim.chat(SERVERLESS, **fields).json()["choices"][0]["message"]
        jsonschema.validate(json.loads(message["content"]), PERSON)
        assert "reasoning_content" not in message


def test_the_openai_wrapping_of_a_schema_is_understood(sim: Sim) -> None:
    wrapped = {"type": "json_schema", "json_schema": {"name": "person", "strict": True, "schema": PERSON}}
    content = sim.chat(PLAIN, response_format=wrapped).json()["choices"][0]["message"]["content"]
    jsonschema.validate(json.loads(content), PERSON)


def test_json_object_is_an_object_and_a_grammar_is_obeyed(sim: Sim) -> None:
    content = sim.chat(PLAIN, response_format={"type": "json_object"}).json()["choices"][0]["message"][
        "content"
    ]
    assert isinstance(json.loads(content), dict)
    grammar = {"type": "grammar", "grammar": 'root ::= "yes" | "no"'}
    assert sim.chat(PLAIN, response_format=grammar).json()["choices"][0]["message"]["content"] in {
        "yes",
        "no",
    }


def test_a_json_answer_that_does_not_fit_is_cut_and_says_length(sim: Sim) -> None:
    fields = {"response_format": {"type": "json_schema", "json_schema": PERSON}, "max_tokens": 4}
    choice = sim.chat(PLAIN, **fields).json()["choices"][0]
    assert choice["finish_reason"] == "length"
    with pytest.raises(ValueError, match=r"."):
        json.loads(choice["message"]["content"])


@pytest.mark.parametrize(
    "response_format",
    [
        {"type": "xml"},
        {"type": "json_schema"},
        {"type": "json_schema", "json_schema": {"type": "nothing"}},
        {"type": "json_schema", "json_schema": {"$ref": "#/$defs/missing"}},
        {"type": "grammar"},
        {"type": "grammar", "grammar": "root ::= missing"},
        {"type": "grammar", "grammar": "root ::= root"},
    ],
)
def test_a_response_format_that_cannot_be_obeyed_is_refused_by_name(
    sim: Sim, response_format: object
) -> None:
    answer = sim.chat(PLAIN, response_format=response_format)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "response_format"


def test_a_tool_is_called_with_arguments_of_its_schema(sim: Sim) -> None:
    choice = sim.chat(PLAIN, tools=[WEATHER]).json()["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    call = choice["message"]["tool_calls"][0]
    assert call["function"]["name"] == "weather"
    assert isinstance(json.loads(call["function"]["arguments"])["city"], str)
    assert choice["message"]["content"] is None


def test_a_streamed_tool_call_names_itself_once_and_adds_up(sim: Sim) -> None:
    found = events(sim.stream(PLAIN, tools=[WEATHER]))[1:-2]
    calls = [event["choices"][0]["delta"]["tool_calls"][0] for event in found]
    assert [("id" in call, call["function"].get("name")) for call in calls[:2]] == [
        (True, "weather"),
        (False, None),
    ]
    whole = sim.chat(PLAIN, tools=[WEATHER]).json()["choices"][0]["message"]["tool_calls"][0]
    assert "".join(call["function"]["arguments"] for call in calls) == whole["function"]["arguments"]


def test_tool_choice_is_obeyed(sim: Sim) -> None:
    named = {"type": "function", "function": {"name": "clock"}}
    for choice, expected in ((named, ["clock"]), ("required", ["weather"]), ("none", None)):
        message = sim.chat(PLAIN, tools=[WEATHER, CLOCK], tool_choice=choice).json()["choices"][0]["message"]
        calls = [call["function"]["name"] for call in message.get("tool_calls", [])] or None
        assert calls == expected
    wrong = {"type": "function", "function": {"name": "other"}}
    assert sim.chat(PLAIN, tools=[WEATHER], tool_choice=wrong).status_code == 400


def test_tools_named_in_the_question_are_called_in_parallel_unless_forbidden(sim: Sim) -> None:
    messages = [{"role": "user", "content": "weather and clock please"}]
    both = sim.chat(PLAIN, messages=messages, tools=[WEATHER, CLOCK]).json()["choices"][0]["message"]
    assert [call["function"]["name"] for call in both["tool_calls"]] == ["weather", "clock"]
    one = sim.chat(PLAIN, messages=messages, tools=[WEATHER, CLOCK], parallel_tool_calls=False)
    assert len(one.json()["choices"][0]["message"]["tool_calls"]) == 1


def test_after_a_tool_s_result_the_model_answers_in_words(sim: Sim) -> None:
    messages = [
        {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "weather"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "sunny"},
    ]
    choice = sim.chat(PLAIN, messages=messages, tools=[WEATHER]).json()["choices"][0]
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["content"]


def test_log_probabilities_come_in_both_forms(sim: Sim) -> None:
    rows = sim.chat(PLAIN, max_tokens=3, logprobs=True, top_logprobs=2).json()["choices"][0]["logprobs"][
        "content"
    ]
    assert len(rows) == 3
    assert all(row["logprob"] <= 0 and len(row["top_logprobs"]) == 2 for row in rows)
    assert bytes(rows[0]["bytes"]).decode() == rows[0]["token"]
    legacy = sim.chat(PLAIN, max_tokens=3, logprobs=2).json()["choices"][0]["logprobs"]
    assert len(legacy["tokens"]) == len(legacy["token_logprobs"]) == len(legacy["token_ids"]) == 3
    streamed = events(sim.stream(PLAIN, max_tokens=3, logprobs=True))[1:-2]
    assert [event["choices"][0]["logprobs"]["content"][0]["token"] for event in streamed] == [
        row["token"] for row in rows
    ]


def test_token_ids_come_with_the_text_and_can_be_sent_back(sim: Sim) -> None:
    body = sim.chat(PLAIN, max_tokens=4, return_token_ids=True).json()
    assert len(body["prompt_token_ids"]) == body["usage"]["prompt_tokens"]
    ids = body["choices"][0]["token_ids"]
    assert len(ids) == 4
    asked = {"model": PLAIN, "prompt": ids, "max_tokens": 1, "echo": True}
    text = sim.http.post("/inference/v1/completions", json=asked).json()["choices"][0]["text"]
    assert text.startswith(body["choices"][0]["message"]["content"])


def test_text_completions_answer_every_prompt(sim: Sim) -> None:
    asked = {"model": PLAIN, "prompt": ["one", "two"], "max_tokens": 4, "n": 2, "stop": None}
    body = sim.http.post("/inference/v1/completions", json=asked).json()
    assert body["object"] == "text_completion"
    assert [choice["index"] for choice in body["choices"]] == [0, 1, 2, 3]
    assert body["usage"]["completion_tokens"] == 16
    asked |= {"prompt": [1, 2], "n": 1, "stream": True}
    found = events(sim.http.post("/inference/v1/completions", json=asked).text)
    assert "".join(event["choices"][0]["text"] for event in found[:-1])
    asked |= {"prompt": "said before", "echo": True}
    found = events(sim.http.post("/inference/v1/completions", json=asked).text)
    assert found[0]["choices"][0]["text"].startswith("said before")
    assert "said" not in found[1]["choices"][0]["text"]


def test_a_prediction_is_mostly_kept_and_its_matches_are_counted(sim: Sim) -> None:
    predicted = "def add(a, b):\n    return a + b\n" * 20
    fields = {"prediction": {"type": "content", "content": predicted}, "perf_metrics_in_response": True}
    kept = sim.chat(PLAIN, sim={"prediction_match": "1"}, **fields).json()
    assert kept["choices"][0]["message"]["content"] == predicted
    metrics = kept["perf_metrics"]
    assert metrics["speculation-prompt-matched-tokens"] == metrics["speculation-prompt-tokens"]
    edited = sim.chat(PLAIN, sim={"prediction_match": "0.7"}, **fields).json()
    metrics = edited["perf_metrics"]
    assert edited["choices"][0]["message"]["content"] != predicted
    assert 0 < metrics["speculation-prompt-matched-tokens"] < metrics["speculation-prompt-tokens"]
    assert sim.chat(PLAIN, prediction="plain text").status_code == 200
    assert sim.chat(PLAIN, speculation=[1, 2, 3]).status_code == 200
    assert sim.chat(PLAIN, speculation="a", prediction="b").status_code == 400


def test_performance_metrics_are_headers_and_on_demand_in_the_body(sim: Sim) -> None:
    answer = sim.chat(PLAIN, perf_metrics_in_response=True)
    body = answer.json()["perf_metrics"]
    for key in (
        "prompt-tokens",
        "cached-prompt-tokens",
        "server-time-to-first-token",
        "server-processing-time",
        "backend-host",
        "num-concurrent-requests",
        "deployment",
        "tokenizer-queue-duration",
        "tokenizer-duration",
        "prefill-queue-duration",
        "prefill-duration",
        "generation-queue-duration",
        "generation-duration",
    ):
        assert answer.headers[f"fireworks-{key}"] == str(body[key])
    assert "perf_metrics" not in sim.chat(PLAIN).json()
    last = events(sim.stream(PLAIN, perf_metrics_in_response=True))[-2]
    assert last["perf_metrics"]["deployment"] == PLAIN


def test_serverless_has_only_the_basic_metrics(sim: Sim) -> None:
    metrics = sim.chat(SERVERLESS, perf_metrics_in_response=True).json()["perf_metrics"]
    assert set(metrics) == {
        "prompt-tokens",
        "cached-prompt-tokens",
        "server-time-to-first-token",
        "server-processing-time",
    }


def test_a_repeated_prompt_is_cached_and_an_isolation_key_keeps_it_apart(sim: Sim) -> None:
    messages = [{"role": "user", "content": "a long prompt with many words in it " * 20}]

    def cached(**fields: object) -> int:
        body = sim.chat(PLAIN, messages=messages, max_tokens=1, **fields).json()
        return int(body["usage"]["prompt_tokens_details"]["cached_tokens"])

    assert cached() == 0
    assert cached() > 100
    assert cached(prompt_cache_isolation_key="other") == 0
    assert cached(prompt_cache_isolation_key="other") > 100


def test_the_prompt_s_blocks_that_are_shared_count_and_the_rest_does_not(sim: Sim) -> None:
    head = "shared words that come first in both prompts " * 20
    for tail, expected in (("one tail", False), ("another tail", True)):
        messages = [{"role": "user", "content": head + tail}]
        usage = sim.chat(PLAIN, messages=messages, max_tokens=1).json()["usage"]
        cached = usage["prompt_tokens_details"]["cached_tokens"]
        assert (cached > 0) is expected
        assert cached < usage["prompt_tokens"]


def test_stamps_carry_the_server_s_own_clock(sim: Sim) -> None:
    found = events(sim.stream(PLAIN, max_tokens=3, sim={"stamp": "1"}))[:-1]
    sent = [event["sim_stamp"]["sent_monotonic_ns"] for event in found]
    assert sent == sorted(sent)
    assert all(event["sim_stamp"]["received_monotonic_ns"] <= sent[0] for event in found)
    assert sim.chat(PLAIN, sim={"stamp": "1"}).json()["sim_stamp"]["sent_wall_ns"] > 0


def test_embeddings_are_unit_vectors_and_near_for_shared_words(sim: Sim) -> None:
    asked = {"model": PLAIN, "input": ["red green blue", "red green black", "far away"], "dimensions": 64}
    body = sim.http.post("/inference/v1/embeddings", json=asked).json()
    one, near, far = (row["embedding"] for row in body["data"])

    def dot(left: list[float], right: list[float]) -> float:
        return sum(a * b for a, b in zip(left, right, strict=True))

    assert abs(dot(one, one) - 1) < 1e-9
    assert dot(one, near) > dot(one, far)
    assert body["usage"]["prompt_tokens"] == 8
    for bad in ({"input": []}, {"input": "x", "dimensions": 0}, {"input": "x", "encoding_format": "base64"}):
        assert sim.http.post("/inference/v1/embeddings", json={"model": PLAIN, **bad}).status_code == 400
    assert sim.http.post("/inference/v1/embeddings", json={"input": "x"}).status_code == 400
    assert sim.http.post("/inference/v1/embeddings", json={"model": "nope", "input": [1]}).status_code == 404
    assert sim.http.post("/inference/v1/embeddings", json={"model": PLAIN, "input": [1]}).status_code == 200


def test_models_lists_what_the_key_can_call(sim: Sim) -> None:
    ids = [row["id"] for row in sim.http.get("/inference/v1/models").json()["data"]]
    assert PLAIN in ids
    assert SERVERLESS in ids
    assert sim.http.get("/inference/v1/models", headers={"authorization": "x"}).status_code == 401


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{"content": "x"}]}, "messages"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages"),
        ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"text": "x"}]}]}, "messages[0].content"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"n": 0}, "n"),
        ({"temperature": 3}, "temperature"),
        ({"top_p": 2}, "top_p"),
        ({"stop": ["a"] * 5}, "stop"),
        ({"stop": 3}, "stop"),
        ({"stream": "yes"}, "stream"),
        ({"logprobs": 9}, "logprobs"),
        ({"top_logprobs": 3}, "top_logprobs"),
        ({"tools": [{}]}, "tools"),
        ({"tool_choice": "sometimes"}, "tool_choice"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"prediction": 3}, "prediction"),
        ({"prediction": {"type": "other"}}, "prediction"),
        ({"speculation": [True]}, "speculation"),
        ({"speculation": {}}, "speculation"),
        ({"reasoning_effort": "extreme"}, "reasoning_effort"),
        ({"thinking": {"type": "maybe"}}, "thinking"),
        ({"thinking": {"type": "enabled", "budget_tokens": 3}}, "thinking"),
        ({"thinking": {"type": "enabled"}, "reasoning_effort": "low"}, "thinking"),
        ({"context_length_exceeded_behavior": "panic"}, "context_length_exceeded_behavior"),
        ({"model": ""}, "model"),
    ],
)
def test_a_malformed_field_is_refused_by_name(sim: Sim, fields: dict[str, object], param: str) -> None:
    answer = sim.http.post(
        "/inference/v1/chat/completions",
        json={"model": PLAIN, "messages": [{"role": "user", "content": "x"}], **fields},
    )
    assert answer.status_code == 400
    body = answer.json()
    assert body["error"]["param"] == param
    assert set(body) == {"error", "request_id"}


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b'{"model": "m"' + b"[" * 3000])
def test_a_body_that_is_no_request_is_refused(sim: Sim, raw: bytes) -> None:
    for path in ("chat/completions", "completions", "embeddings"):
        answer = sim.http.post(f"/inference/v1/{path}", content=raw)
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize("prompt", [None, [], [None], {"a": 1}, [True], [[1, "x"]]])
def test_a_prompt_that_is_none_is_refused(sim: Sim, prompt: object) -> None:
    answer = sim.http.post("/inference/v1/completions", json={"model": PLAIN, "prompt": prompt})
    assert answer.json()["error"]["param"] == "prompt"


def test_a_prompt_longer_than_the_context_is_400_and_max_tokens_is_lowered_by_default(sim: Sim) -> None:
    sim.http.delete("/v1/accounts/acme/deployments/short", params={"hard": "true"})
    body = {
        "baseModel": LLAMA,
        "acceleratorType": "NVIDIA_H100_80GB",
        "minReplicaCount": 1,
        "maxContextLength": 100,
        "precision": "BF16",
    }
    query = {"deploymentId": "short", "acceptShapelessRisk": "true"}
    assert sim.http.post("/v1/accounts/acme/deployments", params=query, json=body).status_code == 200
    sim.advance(600)
    name = "accounts/acme/deployments/short"
    long = [{"role": "user", "content": "word " * 200}]
    answer = sim.chat(name, messages=long)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "context_length_exceeded"
    fields = {"max_tokens": 5000, "ignore_eos": True}
    lowered = sim.chat(name, **fields).json()
    assert lowered["usage"]["total_tokens"] == 100
    assert lowered["choices"][0]["finish_reason"] == "length"
    assert sim.chat(name, context_length_exceeded_behavior="error", **fields).status_code == 400
    assert sim.chat(name, messages=long, prompt_truncate_len=50, max_tokens=1).status_code == 200


@pytest.mark.parametrize("value", ["abc", "-1", "nan"])
def test_a_knob_with_a_wrong_value_is_refused(sim: Sim, value: str) -> None:
    answer = sim.chat(PLAIN, sim={"ttft_ms": value})
    assert answer.status_code == 400
    assert "ttft" in answer.json()["error"]["message"]


def test_knobs_work_as_query_parameters_too(sim: Sim) -> None:
    asked = {"model": PLAIN, "messages": [{"role": "user", "content": "x"}]}
    answer = sim.http.post("/inference/v1/chat/completions?sim_output_tokens=11", json=asked)
    assert answer.json()["usage"]["completion_tokens"] == 11


def test_raw_output_shows_what_the_model_saw(sim: Sim) -> None:
    raw = sim.chat(PLAIN, max_tokens=2, raw_output=True).json()["choices"][0]["raw_output"]
    assert "Say hello." in raw["prompt_fragments"][0]
    assert len(raw["completion_token_ids"]) == 2


def test_thinking_in_the_anthropic_form_means_the_same(sim: Sim) -> None:
    model = "accounts/fireworks/models/deepseek-v3p1"
    off = sim.chat(model, thinking={"type": "disabled"}).json()["choices"][0]["message"]
    on = sim.chat(model, thinking={"type": "enabled"}).json()["choices"][0]["message"]
    assert ("reasoning_content" in off, "reasoning_content" in on) == (False, True)
    budget = sim.chat(model, thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=1024).json()
    assert budget["choices"][0]["finish_reason"] == "length"


def test_methods_paths_and_sizes_that_are_wrong_are_errors_in_the_side_s_own_form(sim: Sim) -> None:
    assert sim.http.get("/inference/v1/chat/completions").json()["error"]["code"] == "METHOD_NOT_ALLOWED"
    assert sim.http.post("/inference/v1/nothing").json()["error"]["code"] == "NOT_FOUND"
    assert sim.http.put("/v1/accounts/acme/deployments").json()["code"] == 5
    assert sim.http.get("/elsewhere").json()["code"] == 5


def test_early_headers_come_with_a_role_chunk_before_any_token(sim: Sim) -> None:
    text = sim.stream(PLAIN, max_tokens=2, sim={"early_role": "1"})
    assert [list(event["choices"][0]["delta"]) for event in events(text)[:3]] == [
        ["role", "content"],
        ["content"],
        ["content"],
    ]


def test_a_tool_call_that_does_not_fit_is_cut(sim: Sim) -> None:
    choice = sim.chat(PLAIN, tools=[WEATHER], max_tokens=3).json()["choices"][0]
    assert choice["finish_reason"] == "length"
    assert (
        sim.chat(PLAIN, tools=[{"type": "function", "function": {"name": "f", "parameters": 3}}]).status_code
        == 400
    )


def test_a_budget_of_no_tokens_is_an_empty_answer(sim: Sim) -> None:
    body = sim.chat(PLAIN, max_tokens=0).json()
    assert body["usage"]["completion_tokens"] == 0
    assert body["choices"][0]["finish_reason"] == "length"
    assert len(events(sim.stream(PLAIN, max_tokens=0))) == 3
