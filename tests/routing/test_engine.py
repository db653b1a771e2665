"""The engine against real sockets: when it moves on, when it must not, and what the client sees."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fwctl.routing.engine import Request
from fwctl.routing.model import BreakerPolicy, HedgePolicy, RetryPolicy, Timeouts
from tests.routing.upstreams import (
    CALM,
    DONE,
    HELLO,
    QUICK,
    ROLE,
    STOP,
    WHOLE,
    Box,
    answers,
    chunk,
    drops,
    hangs,
    routing,
    says,
)

GOOD = says(*HELLO)
WHOLE_HELLO = b"".join(HELLO)


def run(story: Callable[[], Awaitable[Any]]) -> Any:
    return asyncio.run(story())  # type: ignore[arg-type]


def error_of(data: bytes) -> dict[str, Any]:
    last = data.strip().split(b"\n\n")[-1].removeprefix(b"data: ")
    found: dict[str, Any] = json.loads(last)["error"]
    return found


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        (drops, "connect"),
        (hangs, "timeout_ttft"),
        (says(hang=True), "timeout_ttft"),
        (says(ROLE, hang=True), "timeout_ttft"),
        (says(ROLE, drop=True), "truncated"),
        (says(ROLE, DONE), "empty"),
        (says(), "empty"),
        (says(b'data: {"error":{"message":"x"}}\n\n'), "sse_error"),
        (says(b"event: error\ndata: {}\n\n"), "sse_error"),
        (says(b"data: garbage\n\n"), "sse_error"),
        (says(chunk(finish="error")), "empty"),
        (answers(200, WHOLE), "sse_error"),
        (answers(500), "http_5xx"),
        (answers(302, location="http://elsewhere/"), "http_3xx"),
        (answers(502, b"<html>"), "http_5xx"),
        (answers(408), "http_4xx"),
        (answers(425), "http_4xx"),
        (answers(429), "rate_limited"),
        (answers(529), "overloaded"),
        (answers(503, b'{"error":{"code":"DEPLOYMENT_SCALING_UP"}}'), "scaling_up"),
        (answers(401), "http_401"),
        (answers(402), "http_402"),
        (answers(403), "http_403"),
        (answers(404), "http_404"),
    ],
)
def test_a_target_that_cannot_serve_is_left_before_the_client_hears_anything(bad: Any, word: str) -> None:
    async def story() -> None:
        limits = QUICK if word == "timeout_ttft" else CALM
        async with routing(a=bad, b=GOOD, timeouts=limits) as box:
            answer, data = await box.send()
            assert (answer.status, data) == (200, WHOLE_HELLO)
            assert answer.headers["x-fwctl-target"] == "b"
            assert answer.headers["x-fwctl-attempts"] == "2"
            assert [item.error_class for item in box.records[0].tried] == [word, None]

    run(story)


@pytest.mark.parametrize("status", [400, 413, 422, 418])
def test_the_clients_own_mistake_goes_back_word_for_word_and_is_not_sent_again(status: int) -> None:
    async def story() -> None:
        body = b'{"error": {"message": "max_tokens is too large"}}'
        async with routing(a=answers(status, body), b=GOOD) as box:
            answer, data = await box.send()
            assert (answer.status, data) == (status, body)
            assert box.sent() == {"a": 1, "b": 0}
            assert answer.headers["x-fwctl-target"] == "a"
            assert box.records[0].outcome == "passed_on"

    run(story)


@pytest.mark.parametrize(
    "ending",
    [
        says(ROLE, chunk("Hel"), drop=True),
        says(ROLE, chunk("Hel"), hang=True),
        says(ROLE, chunk("Hel")),
        says(ROLE, chunk("Hel"), DONE),
        says(ROLE, chunk("Hel"), b'data: {"error":{"message":"secret detail"}}\n\n'),
        says(ROLE, chunk("Hel"), b'event: error\ndata: {"detail":"x"}\n\n', STOP, DONE),
        says(ROLE, chunk("Hel"), chunk(finish="error"), DONE),
        says(ROLE, chunk("Hel"), chunk("lo")[:20], drop=True),
    ],
)
def test_after_the_first_content_a_failure_is_an_error_event_and_never_another_target(ending: Any) -> None:
    async def story() -> None:
        async with routing(a=ending, b=GOOD, timeouts=QUICK) as box:
            answer, data = await box.send()
            assert answer.status == 200
            assert data.startswith(ROLE + chunk("Hel"))
            assert error_of(data)["code"] == "upstream_cut"
            assert b"[DONE]" not in data
            assert b"secret detail" not in data
            assert all(json.loads(event[6:]) for event in data.split(b"\n\n")[:-1])
            assert box.sent() == {"a": 1, "b": 0}
            assert box.records[0].outcome == "upstream_cut"

    run(story)


def test_a_stream_is_byte_for_byte_what_the_target_wrote_however_it_was_cut_into_pieces() -> None:
    odd = (
        b": ping\n\n"
        + ROLE
        + b"\r\n".join((b'data: {"choices":[{"delta":{"content":"x"}}]}', b"", b""))
        + STOP
        + DONE
    )

    async def story() -> None:
        async with routing(a=says(*(odd[at : at + 1] for at in range(len(odd))))) as box:
            _, data = await box.send()
            assert data == odd
            assert box.records[0].outcome == "ok"

    run(story)


def test_a_stream_that_has_its_finish_reason_is_complete_even_when_the_connection_breaks_then() -> None:
    async def story() -> None:
        async with routing(a=says(ROLE, chunk("Hello"), STOP, drop=True)) as box:
            _, data = await box.send()
            assert data == ROLE + chunk("Hello") + STOP
            assert box.records[0].outcome == "ok"

    run(story)


def test_every_one_of_several_answers_needs_its_finish_reason() -> None:
    async def story() -> None:
        async with routing(a=GOOD) as box:
            _, data = await box.send(n=2)
            assert error_of(data)["code"] == "upstream_cut"

    run(story)


def test_usage_and_times_are_recorded_for_the_target_that_answered() -> None:
    async def story() -> None:
        async with routing(a=answers(500), b=GOOD) as box:
            await box.send()
            record = box.records[0]
            assert record.usage == {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
            assert record.target == "b"
            assert 0 < (record.first_token_s or 0) <= record.total_s

    run(story)


def test_a_whole_answer_moves_on_too_and_is_not_touched() -> None:
    async def story() -> None:
        cut = json.dumps(WHOLE).encode()[:40]
        async with routing(
            a=[answers(200, cut), answers(200, {"choices": []})], b=answers(200, WHOLE)
        ) as box:
            for word in ("invalid_json", "empty"):
                answer, data = await box.send(stream=False)
                assert json.loads(data) == WHOLE
                assert answer.headers["content-type"] == "application/json"
                assert box.records[-1].tried[0].error_class == word
            assert box.records[0].usage == WHOLE["usage"]

    run(story)


def test_embeddings_and_completions_use_their_own_paths() -> None:
    async def story() -> None:
        async with routing(a=answers(200, {"data": [{"embedding": [0.5]}]})) as box:
            async with await box.router.send(
                Request("embeddings", {"model": "chat", "input": "x"})
            ) as answer:
                assert json.loads(await answer.read())["data"]
            assert box.places["a"].bodies == [{"model": "m", "input": "x"}]

    run(story)


def test_a_target_without_embeddings_is_not_gone_for_chat() -> None:
    async def story() -> None:
        async with routing(a=[answers(404), GOOD]) as box:
            async with await box.router.send(
                Request("embeddings", {"model": "chat", "input": "x"})
            ) as answer:
                assert answer.status == 502
            assert (await box.send())[0].status == 200

    run(story)


def test_all_attempts_share_one_deadline() -> None:
    async def story() -> None:
        async with routing(a=hangs, b=hangs, route={"total_s": 0.35}, timeouts=QUICK) as box:
            answer, data = await box.send()
            assert answer.status == 504
            assert error_of(data)["code"] == "deadline"
            assert box.records[0].total_s < 1

    run(story)


def test_a_stream_that_passes_the_deadline_ends_with_its_code() -> None:
    async def story() -> None:
        slow = says(ROLE, *(chunk("x") for _ in range(100)), gap_s=0.02)
        async with routing(a=slow, route={"total_s": 0.2}) as box:
            _, data = await box.send()
            assert error_of(data)["code"] == "deadline"

    run(story)


def test_a_whole_answer_leaves_time_for_another_target() -> None:
    async def story() -> None:
        async with routing(a=hangs, b=answers(200, WHOLE), route={"total_s": 1.0}) as box:
            answer, _ = await box.send(stream=False)
            assert answer.headers["x-fwctl-target"] == "b"

    run(story)


def test_when_every_target_fails_the_client_gets_one_error_that_lists_the_attempts() -> None:
    async def story() -> None:
        async with routing(a=answers(500), b=drops) as box:
            answer, data = await box.send()
            document = json.loads(data)
            assert answer.status == 502
            assert document["error"]["code"] == "all_targets_failed"
            assert [item["target"] for item in document["fwctl"]["attempts"]] == ["a", "b"]
            assert answer.headers["x-should-retry"] == "false"

    run(story)


def test_a_request_is_sent_at_most_three_times() -> None:
    async def story() -> None:
        async with routing(a=drops, b=drops, c=drops, d=GOOD) as box:
            answer, _ = await box.send()
            assert answer.status == 502
            assert box.sent() == {"a": 1, "b": 1, "c": 1, "d": 0}

    run(story)


def test_without_budget_the_first_error_goes_back_tagged() -> None:
    async def story() -> None:
        policy = RetryPolicy(budget=0.0, floor_per_s=0.0)
        async with routing(a=answers(500), b=GOOD, route={"retry": policy}) as box:
            answer, data = await box.send()
            assert (answer.status, error_of(data)["code"]) == (502, "budget_exhausted")
            assert box.sent() == {"a": 1, "b": 0}

    run(story)


def test_retry_after_is_respected_and_told_to_the_client() -> None:
    async def story() -> None:
        async with routing(a=answers(429, retry_after="7")) as box:
            first, _ = await box.send()
            second, data = await box.send()
            assert (first.status, second.status) == (429, 429)
            assert 6 <= int(second.headers["retry-after"]) <= 7
            assert error_of(data)["code"] == "all_targets_failed"
            assert box.sent() == {"a": 1}

    run(story)


def test_an_account_wide_limit_closes_every_target_of_that_account() -> None:
    limit = answers(429, b'{"error":{"message":"account rate limit"}}', retry_after="5")

    async def story() -> None:
        async with upstreams_of_one_account(limit) as box:
            answer, _ = await box.send()
            assert answer.headers["x-fwctl-target"] == "c"
            assert box.sent() == {"a": 1, "b": 0, "c": 1}
            await box.send()
            assert box.sent() == {"a": 1, "b": 0, "c": 2}

    run(story)


def upstreams_of_one_account(limit: Any) -> Any:
    """a and b share a server and an account, which needs one URL: their model strings tell them apart."""
    from contextlib import asynccontextmanager
    from dataclasses import replace

    from fwctl.routing.model import Route, Routes, Target

    @asynccontextmanager
    async def made() -> Any:
        async with routing(a=limit, b=GOOD, c=GOOD) as box:
            url = f"{box.base}/a/v1"
            first = Target("a", "m1", url, account="acme", timeouts=QUICK)
            second = replace(first, name="b", model="m2")
            third = Target("c", "m", f"{box.base}/c/v1", account="other", timeouts=QUICK)
            route = Route("chat", (first, second, third), total_s=5.0)
            box.router.reload(Routes("routes.yaml", None, {"chat": route}))
            yield box

    return made()


def test_a_cold_target_costs_one_probe_now_and_then_and_no_client_error() -> None:
    cold = answers(503, b'{"error":{"code":"DEPLOYMENT_SCALING_UP"}}')

    async def story() -> None:
        async with routing(a=cold, b=GOOD) as box:
            for _ in range(10):
                assert (await box.send())[0].status == 200
            assert box.sent() == {"a": 1, "b": 10}

    run(story)


def test_a_broken_first_target_stops_being_asked() -> None:
    async def story() -> None:
        async with routing(a=drops, b=GOOD, breaker=BreakerPolicy(min_requests=4)) as box:
            for _ in range(30):
                assert (await box.send())[0].status == 200
            asked = [item.target for record in box.records for item in record.tried]
            assert (asked.count("a"), asked.count("b")) == (3, 30)

    run(story)


def test_a_lone_target_that_is_open_is_probed_and_otherwise_spared() -> None:
    async def story() -> None:
        async with routing(a=drops, breaker=BreakerPolicy(min_requests=2)) as box:
            for _ in range(20):
                answer, _ = await box.send()
                assert answer.status in (502, 503)
            assert box.sent()["a"] <= 8

    run(story)


def test_a_client_that_leaves_cancels_the_target_and_counts_for_nothing() -> None:
    async def story() -> None:
        async with routing(a=says(ROLE, chunk("x"), hang=True)) as box:
            asked = Request("chat/completions", {"model": "chat", "stream": True, "messages": []})
            async with await box.router.send(asked) as answer:
                async for _ in answer:
                    break
            await until(lambda: box.places["a"].cancelled == 1)
            assert box.records[0].outcome == "client_gone"

    run(story)


def test_a_client_that_leaves_before_any_content_cancels_the_target_too() -> None:
    async def story() -> None:
        async with routing(a=hangs, timeouts=Timeouts()) as box:
            task = asyncio.ensure_future(box.send())
            await until(lambda: len(box.places["a"].bodies) == 1)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await until(lambda: box.places["a"].cancelled == 1)
            assert box.records[0].outcome == "client_gone"

    run(story)


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not done():
            await asyncio.sleep(0.005)


def test_a_slow_first_target_is_hedged_within_its_budget() -> None:
    async def story() -> None:
        policy = HedgePolicy(budget=0.5, after_s=0.03)
        async with routing(a=hangs, b=GOOD, timeouts=Timeouts(), route={"hedge": policy}) as box:
            await box.send()
            answer, data = await box.send()
            assert data == WHOLE_HELLO
            assert answer.record.hedged
            assert [item.error_class for item in answer.record.tried] == [None, "cancelled"]

    async def hedged() -> None:
        policy = HedgePolicy(budget=1.0, after_s=0.03)
        async with routing(a=hangs, b=GOOD, timeouts=Timeouts(), route={"hedge": policy}) as box:
            answer, data = await box.send()
            assert data == WHOLE_HELLO
            assert answer.headers["x-fwctl-target"] == "b"
            await until(lambda: box.places["a"].cancelled == 1)

    run(hedged)


def test_sessions_stay_on_one_target_and_return_to_it() -> None:
    weights = {"a": {"weight": 1.0}, "b": {"weight": 1.0}}

    async def story() -> None:
        async with routing(a=GOOD, b=GOOD, targets=weights) as box:
            homes = {}
            for _ in range(3):
                for user in ("u1", "u2", "u3", "u4", "u5", "u6"):
                    answer, _ = await box.send(user=user)
                    home = answer.headers["x-fwctl-target"]
                    assert homes.setdefault(user, home) == home
            assert set(homes.values()) == {"a", "b"}

    run(story)


def test_what_a_target_lacks_is_dropped_or_put_in_words_and_said() -> None:
    async def story() -> None:
        lacks = {"a": {"lacks": frozenset({"prediction", "json_schema"})}}
        async with routing(a=GOOD, targets=lacks) as box:
            schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
            answer, _ = await box.send(
                prediction={"type": "content", "content": "x"},
                response_format={"type": "json_schema", "json_schema": {"schema": schema}},
            )
            assert answer.headers["x-fwctl-adapted"] == "prediction=dropped, response_format=json_object"
            body = box.places["a"].bodies[0]
            assert "prediction" not in body
            assert body["response_format"] == {"type": "json_object"}
            assert "integer" in body["messages"][0]["content"]

    run(story)


def test_a_target_without_tools_gets_no_request_with_tools() -> None:
    async def story() -> None:
        lacks = {"a": {"lacks": frozenset({"tools"})}}
        async with routing(a=GOOD, b=GOOD, targets=lacks) as box:
            answer, _ = await box.send(tools=[{"type": "function"}])
            assert answer.headers["x-fwctl-target"] == "b"
        async with routing(a=GOOD, targets=lacks) as box:
            answer, data = await box.send(tools=[{"type": "function"}])
            assert (answer.status, error_of(data)["code"]) == (400, "bad_request")

    run(story)


def test_keys_go_to_their_own_target_and_no_other_header_does() -> None:
    async def story(box: Box) -> None:
        request = Request(
            "chat/completions",
            {"model": "chat", "stream": True, "messages": []},
            {"x-session-affinity": "s1"},
        )
        async with await box.router.send(request) as answer:
            await answer.read()
        sent = box.places["a"].headers[0]
        assert sent["authorization"] == "Bearer k-of-a"
        assert sent["x-session-affinity"] == "s1"

    async def main() -> None:
        async with routing(a=GOOD, targets={"a": {"api_key": "k-of-a"}}) as box:
            await story(box)

    asyncio.run(main())


def test_the_model_name_of_answers_can_be_the_routes() -> None:
    async def story() -> None:
        async with routing(a=[GOOD, answers(200, WHOLE)], route={"report_model": "route"}) as box:
            _, data = await box.send()
            assert data.count(b'"model":"chat"') == 4
            assert b'"model":"m"' not in data
            _, data = await box.send(stream=False)
            assert json.loads(data) == {**WHOLE, "model": "chat"}

    run(story)


def test_an_unknown_route_is_said_with_the_names_there_are() -> None:
    async def story() -> None:
        async with routing(a=GOOD) as box:
            answer, data = await box.send(model="other")
            assert answer.status == 404
            assert error_of(data)["code"] == "unknown_route"
            assert "chat" in error_of(data)["message"]

    run(story)


def test_a_kept_connection_that_the_server_closed_is_no_failure() -> None:
    async def story() -> None:
        async with routing(a=[GOOD, drops, GOOD], route={"retry": RetryPolicy(max_attempts=1)}) as box:
            await box.send()
            answer, data = await box.send()
            assert data == WHOLE_HELLO
            assert answer.record.attempts == 1

    run(story)
