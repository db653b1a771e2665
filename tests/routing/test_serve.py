"""The proxy over HTTP: what clients, operators and load balancers see."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from fwctl.errors import InvalidSpecError, UsageError
from tests.routing.serving import CHAT, config, make, proxying
from tests.routing.upstreams import HELLO, ROLE, WHOLE, answers, chunk, drops, hangs, says, upstreams

GOOD = says(*HELLO)


def run(story: Callable[[], Awaitable[Any]]) -> None:
    asyncio.run(story())  # type: ignore[arg-type]


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not done():
            await asyncio.sleep(0.005)


def test_a_stream_comes_through_with_headers_that_say_who_answered(tmp_path: Path) -> None:
    async def story() -> None:
        async with upstreams(a=drops, b=GOOD) as (base, _), proxying(tmp_path, config(base, "a", "b")) as it:
            response, data = await it.post()
            assert data == b"".join(HELLO)
            assert response.headers["x-fwctl-target"] == "b"
            assert response.headers["x-fwctl-attempts"] == "2"
            assert response.headers["content-type"].startswith("text/event-stream")

    run(story)


def test_whole_answers_and_every_path_come_through(tmp_path: Path) -> None:
    async def story() -> None:
        vectors = {"object": "list", "data": [{"embedding": [1.0], "index": 0}]}
        async with (
            upstreams(a=[answers(200, WHOLE), answers(200, WHOLE), answers(200, vectors)]) as (base, _),
            proxying(tmp_path, config(base, "a")) as it,
        ):
            for path, wanted in (
                ("chat/completions", WHOLE),
                ("completions", WHOLE),
                ("embeddings", vectors),
            ):
                response, data = await it.post({"model": "chat", "input": "x"}, path)
                assert (response.status, json.loads(data)) == (200, wanted)
            status, text = await it.get("/v1/models")
            assert [row["id"] for row in json.loads(text)["data"]] == ["chat"]
            assert status == 200

    run(story)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "bad_request"),
        (b"{", 400, "bad_request"),
        (b"[1]", 400, "bad_request"),
        (b'{"model": 5}', 400, "bad_request"),
        (b"\xff\xfe", 400, "bad_request"),
        (b"[" * 100_000, 400, "bad_request"),
        (b'{"model": "chat", "x": ' + b"[" * 600 + b"]" * 600 + b"}", 400, "bad_request"),
        (b'{"model": "other"}', 404, "unknown_route"),
        (b'{"model": "chat", "x": "' + b"y" * 1_100_000 + b'"}', 413, "bad_request"),
    ],
)
def test_a_bad_request_is_one_clear_error_and_reaches_no_target(
    tmp_path: Path, body: bytes, status: int, code: str
) -> None:
    async def story() -> None:
        text = "max_body_mib: 1, drain: {delay: 0s}"
        async with (
            upstreams(a=GOOD) as (base, places),
            proxying(tmp_path, config(base, "a", settings=text)) as it,
        ):
            response, data = await it.post(body)
            error = json.loads(data)["error"]
            assert (response.status, error["code"]) == (status, code)
            assert error["type"] == ("not_found_error" if status == 404 else "invalid_request_error")
            assert set(error) == {"message", "type", "param", "code"}
            assert places["a"].bodies == []

    run(story)


def test_a_large_prompt_goes_through(tmp_path: Path) -> None:
    async def story() -> None:
        async with upstreams(a=GOOD) as (base, places), proxying(tmp_path, config(base, "a")) as it:
            asked = {**CHAT, "messages": [{"role": "user", "content": "y" * 3_000_000}]}
            assert (await it.post(asked))[0].status == 200
            assert places["a"].bodies == [{**asked, "model": "m"}]

    run(story)


def test_a_body_that_grows_beyond_the_limit_is_cut_off_too(tmp_path: Path) -> None:
    async def story() -> None:
        async def pieces() -> Any:
            for _ in range(20):
                yield b"x" * 100_000

        text = "max_body_mib: 1, drain: {delay: 0s}"
        async with upstreams(a=GOOD) as (base, _), proxying(tmp_path, config(base, "a", settings=text)) as it:
            try:
                async with it.http.post(f"{it.url}/chat/completions", data=pieces()) as response:
                    assert response.status == 413
            except aiohttp.ClientError:
                pass  # the server closed the connection while the client was still writing
            assert (await it.post())[0].status == 200

    run(story)


def test_client_keys_are_needed_where_there_are_any_and_never_sent_on(tmp_path: Path) -> None:
    async def story() -> None:
        text = config("{base}", "a", settings='client_keys: ["${env:K1}", "${env:K2}"], drain: {delay: 0s}')
        async with upstreams(a=GOOD) as (base, places):
            environ = {"K1": "first-key", "K2": "second-key"}
            async with proxying(tmp_path, text.replace("{base}", base), environ) as it:
                for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic first-key"}):
                    response, data = await it.post(**headers)
                    assert (response.status, json.loads(data)["error"]["code"]) == (401, "unauthorized")
                assert (await it.get("/v1/models"))[0] == 401
                assert (await it.post(authorization="Bearer second-key"))[0].status == 200
                assert (await it.post(x_api_key="first-key", cookie="a=b", x_team="t"))[0].status == 200
                sent = places["a"].headers
                assert not {"authorization", "x-api-key", "cookie", "x-team"} & (set(sent[0]) | set(sent[1]))
                assert "first-key" not in it.log.getvalue()

    run(story)


def test_without_client_keys_it_listens_on_this_machine_only(tmp_path: Path) -> None:
    async def story() -> None:
        for host in ("0.0.0.0", "192.0.2.1", "example.com", "::"):
            with pytest.raises(UsageError) as caught:
                make(tmp_path, config("http://127.0.0.1:1", "a"), host=host)
            assert "this machine only" in caught.value.message
        make(tmp_path, config("http://127.0.0.1:1", "a"), host="::1")

    run(story)


def test_a_client_that_leaves_frees_the_target(tmp_path: Path) -> None:
    async def story() -> None:
        acts = [says(ROLE, chunk("x"), hang=True), hangs]
        async with upstreams(a=acts) as (base, places), proxying(tmp_path, config(base, "a")) as it:
            for expected in (1, 2):
                task = asyncio.ensure_future(it.post())
                await until(lambda: len(places["a"].bodies) == expected)  # noqa: B023
                await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                await until(lambda: places["a"].cancelled == expected)  # noqa: B023
            outcomes = [line["outcome"] for line in it.lines() if line["event"] == "request"]
            assert outcomes == ["client_gone", "client_gone"]

    run(story)


def test_a_stream_that_breaks_ends_with_a_coded_event_and_closes_the_connection(tmp_path: Path) -> None:
    async def story() -> None:
        async with (
            upstreams(a=says(ROLE, chunk("x"), drop=True)) as (base, _),
            proxying(tmp_path, config(base, "a")) as it,
        ):
            response, data = await it.post()
            assert json.loads(data.split(b"\n\n")[-2][6:])["error"]["code"] == "upstream_cut"
            assert b"[DONE]" not in data
            assert response.headers.get("connection") is None

    run(story)


def test_a_slow_reader_holds_back_the_target_instead_of_filling_memory(tmp_path: Path) -> None:
    async def story() -> None:
        sent = 0

        async def flood(request: Any) -> Any:
            nonlocal sent
            response = aiohttp.web.StreamResponse(headers={"content-type": "text/event-stream"})
            await response.prepare(request)
            for _ in range(4000):
                await response.write(chunk("x" * 10_000))
                sent += 1
            await response.write(HELLO[3] + HELLO[5])
            return response

        async with upstreams(a=flood) as (base, _), proxying(tmp_path, config(base, "a")) as it:
            async with it.http.post(f"{it.url}/chat/completions", json=CHAT) as response:
                await response.content.readany()
                last = -1
                while sent != last:
                    last = sent
                    await asyncio.sleep(0.2)
                assert sent < 3000
                while await response.content.readany():
                    pass
            assert sent == 4000

    run(story)


def test_a_client_that_does_not_read_is_cut_off_after_the_deadline(tmp_path: Path) -> None:
    async def story() -> None:
        flood = says(*(chunk("x" * 100_000) for _ in range(200)), hang=True)
        async with upstreams(a=flood) as (base, places):
            text = config(base, "a", route="    timeouts: {total: 300ms}\n")
            async with proxying(tmp_path, text) as it:
                assert it.server.proxy is not None
                it.server.proxy.slow_client_s = 0.1
                async with it.http.post(f"{it.url}/chat/completions", json=CHAT) as response:
                    await response.content.readany()
                    proxy = it.server.proxy
                    await until(lambda: proxy.running == 0)
                    await until(lambda: places["a"].cancelled == 1)

    run(story)


async def raw(url: str, data: bytes) -> bytes:
    """What comes back for these bytes until the connection ends."""
    host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(data)
    try:
        return await asyncio.wait_for(reader.read(), 5)
    finally:
        writer.close()


def test_what_is_no_http_is_one_log_line_and_shows_no_key(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with upstreams(a=GOOD) as (base, _), proxying(tmp_path, config(base, "a")) as it:
            head = b"GET /v1/models HTTP/1.1\r\nauthorization: Bearer sk-CANARY\rx: y\r\n\r\n"
            assert (await raw(it.url, head)).startswith(b"HTTP/1.0 400 ")
            (line,) = [line for line in it.lines() if line["event"] == "bad_http"]
            assert line["error"] == "BadHttpMessage"
            assert "CANARY" not in it.log.getvalue() + caplog.text

    run(story)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_body_that_is_not_encoded_as_it_says_is_the_clients_mistake(tmp_path: Path, encoding: str) -> None:
    async def story() -> None:
        async with upstreams(a=GOOD) as (base, places), proxying(tmp_path, config(base, "a")) as it:
            head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-encoding: {encoding}\r\n"
            body = json.dumps(CHAT)
            answer = await raw(it.url, f"{head}content-length: {len(body)}\r\n\r\n{body}".encode())
            assert answer.startswith(b"HTTP/1.1 400 ")
            assert b'"code": "bad_request"' in answer
            assert places["a"].bodies == []

    run(story)


def test_a_client_that_does_not_send_its_body_is_cut_off(tmp_path: Path) -> None:
    async def story() -> None:
        async with upstreams(a=GOOD) as (base, places), proxying(tmp_path, config(base, "a")) as it:
            assert it.server.proxy is not None
            it.server.proxy.body_s = 0.1
            head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"
            assert await raw(it.url, head) == b""
            assert it.server.proxy.running == 0
            assert places["a"].bodies == []

    run(story)


@pytest.mark.parametrize("head", [b"", b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow: "])
def test_a_client_that_does_not_send_its_header_is_cut_off_and_others_are_not(
    tmp_path: Path, head: bytes
) -> None:
    async def story() -> None:
        async with upstreams(a=GOOD) as (base, _), proxying(tmp_path, config(base, "a")) as it:
            assert it.server.proxy is not None
            assert (await it.post())[0].status == 200  # its connection stays open
            it.server.proxy.header_s = 0.1
            assert await raw(it.url, head) == b""
            assert len(it.server.proxy.heard) == 1
            assert (await it.post())[0].status == 200

    run(story)


def test_a_trace_log_that_cannot_be_written_is_said_once_and_costs_no_request(tmp_path: Path) -> None:
    async def story() -> None:
        text = "trace: {file: no/folder/traces.jsonl, share: 100%}, drain: {delay: 0s}"
        async with (
            upstreams(a=GOOD) as (base, _),
            proxying(tmp_path, config(base, "a", settings=text)) as it,
        ):
            assert [(await it.post())[0].status for _ in range(3)] == [200] * 3
            told = [line for line in it.lines() if line["event"] == "trace"]
            assert len(told) == 1
            assert "No such file" in told[0]["message"]

    run(story)


def test_the_metrics_page_counts_attempts_outcomes_and_tokens(tmp_path: Path) -> None:
    async def story() -> None:
        async with (
            upstreams(a=answers(500), b=GOOD) as (base, _),
            proxying(tmp_path, config(base, "a", "b")) as it,
        ):
            await it.post()
            status, page = await it.get("/metrics")
            assert status == 200
            for line in (
                'fwctl_route_requests_total{outcome="ok",route="chat"} 1.0',
                'fwctl_route_attempts_total{outcome="http_5xx",route="chat",target="a"} 1.0',
                'fwctl_route_attempts_total{outcome="ok",route="chat",target="b"} 1.0',
                'fwctl_route_tokens_total{kind="completion",route="chat",target="b"} 2.0',
                'fwctl_route_breaker_state{route="chat",target="a"} 0.0',
                'fwctl_route_first_token_seconds_count{route="chat",target="b"} 1.0',
                "fwctl_route_in_flight 0.0",
            ):
                assert line in page.splitlines()

    run(story)


def test_logs_are_json_lines_without_content(tmp_path: Path) -> None:
    async def story() -> None:
        async with upstreams(a=GOOD) as (base, _), proxying(tmp_path, config(base, "a")) as it:
            await it.post({**CHAT, "messages": [{"role": "user", "content": "very private"}]})
            line = it.lines()[-1]
            assert (line["event"], line["outcome"], line["target"]) == ("request", "ok", "a")
            assert "very private" not in it.log.getvalue()
            assert "Hel" not in it.log.getvalue()

    run(story)


def test_the_trace_log_holds_what_replays_need_and_no_secret(tmp_path: Path) -> None:
    async def story() -> None:
        text = "trace: {file: traces.jsonl, share: 100%}, drain: {delay: 0s}"
        async with (
            upstreams(a=[GOOD, answers(200, WHOLE)]) as (base, _),
            proxying(tmp_path, config(base, "a", settings=text)) as it,
        ):
            asked = {**CHAT, "messages": [{"role": "user", "content": "my key is fw_abcdefgh"}]}
            await it.post(asked, x_fwctl_type="edit")
            await it.post({**asked, "stream": False})
        lines = [json.loads(line) for line in (tmp_path / "traces.jsonl").read_text().splitlines()]
        assert [line["completion"] for line in lines] == ["Hello", "Hello"]
        assert [line["type"] for line in lines] == ["edit", "other"]
        assert lines[0]["messages"] == [{"role": "user", "content": "my key is fw_***"}] or (
            "fw_abcdefgh" not in str(lines[0])
        )
        assert {"id", "created_at", "model", "finish_reason", "outcome"} <= set(lines[0])
        assert lines[0]["model"] == "chat"
        assert (tmp_path / "traces.jsonl").stat().st_mode & 0o077 == 0

    run(story)


def test_a_reload_takes_a_good_file_and_keeps_the_old_one_for_a_bad_one(tmp_path: Path) -> None:
    async def story() -> None:
        async with upstreams(a=GOOD, b=GOOD) as (base, _), proxying(tmp_path, config(base, "a")) as it:
            assert (await it.post())[0].headers["x-fwctl-target"] == "a"
            (tmp_path / "routes.yaml").write_text("kind: Routes\nroutes: {}\n")
            assert not it.server.reload()
            assert (await it.post())[0].headers["x-fwctl-target"] == "a"
            (tmp_path / "routes.yaml").write_text(config(base, "b"))
            assert it.server.reload()
            assert (await it.post())[0].headers["x-fwctl-target"] == "b"
            told = [line for line in it.lines() if line["event"] == "reload"]
            assert [line["ok"] for line in told] == [False, True]
            assert "routes.yaml:1" in told[0]["message"]
            assert 'fwctl_route_reloads_total{result="refused"} 1.0' in (await it.get("/metrics"))[1]

    run(story)


def test_reload_and_drain_under_load_lose_no_request(tmp_path: Path) -> None:
    async def story() -> None:
        slow = says(*HELLO, gap_s=0.01)
        results: list[int] = []
        async with upstreams(a=slow, b=slow) as (base, _):
            server = make(tmp_path, config(base, "a", settings="drain: {delay: 200ms}"))
            async with aiohttp.ClientSession() as http:
                stop = asyncio.Event()

                async def client(url: str) -> None:
                    while not stop.is_set():
                        async with http.post(f"{url}/chat/completions", json=CHAT) as response:
                            assert await response.read() == b"".join(HELLO)
                            results.append(response.status)

                async with server.listening() as url:
                    tasks = [asyncio.ensure_future(client(url)) for _ in range(12)]
                    for name in ("b", "a", "b"):
                        wanted = len(results) + 12
                        await until(lambda: len(results) > wanted)  # noqa: B023
                        (tmp_path / "routes.yaml").write_text(
                            config(base, name, settings="drain: {delay: 200ms}")
                        )
                        assert server.reload()
                    asyncio.get_running_loop().call_later(0.1, stop.set)
                await asyncio.gather(*tasks)
        assert len(results) > 36
        assert set(results) == {200}

    run(story)


def test_while_it_drains_it_is_not_ready_and_closes_connections(tmp_path: Path) -> None:
    async def story() -> None:
        async with upstreams(a=GOOD) as (base, _), proxying(tmp_path, config(base, "a")) as it:
            assert await it.get("/readyz") == (200, "ready\n")
            assert it.server.proxy is not None
            it.server.proxy.draining = True
            assert (await it.get("/readyz"))[0] == 503
            assert (await it.get("/healthz"))[0] == 200
            response, data = await it.post()
            assert data == b"".join(HELLO)
            assert response.headers["connection"] == "close"

    run(story)


def test_a_file_with_errors_does_not_start(tmp_path: Path) -> None:
    async def story() -> None:
        with pytest.raises(InvalidSpecError):
            make(tmp_path, "kind: Routes\n")

    run(story)


def test_an_unknown_path_says_which_there_are(tmp_path: Path) -> None:
    async def story() -> None:
        async with upstreams(a=GOOD) as (base, _), proxying(tmp_path, config(base, "a")) as it:
            status, text = await it.get("/v1/nothing")
            assert status == 404
            assert "POST /v1/chat/completions" in json.loads(text)["error"]["message"]

    run(story)
