"""`fwctl route …` as real processes: OpenAI's client, signals, what is printed, what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai import OpenAI

from tests.simulator.http.support import KEY, SERVERLESS, Sim, serving

HELLO: Any = [{"role": "user", "content": "Say hello."}]
FILE = """\
apiVersion: fwctl/v1
kind: Routes
account: acme
settings:
  client_keys: ["${{env:ROUTER_KEY}}"]
  keep_headers: [x-sim-fault]
  drain: {{delay: 0s}}
routes:
  chat:
    targets:
      - {{name: gone, base_url: "http://127.0.0.1:9/v1", model: m}}
      - {{base_url: "{url}/inference/v1", model: {model}}}
"""


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sim]:
    with serving(tmp_path_factory.mktemp("sim")) as started:
        yield started


def environ(folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return kept | {"HOME": str(folder), "FIREWORKS_API_KEY": KEY, "ROUTER_KEY": "sk-client"}


@contextmanager
def routed(folder: Path, text: str, *argv: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    (folder / "routes.yaml").write_text(text)
    command = [sys.executable, "-m", "fwctl", "route", "serve", "--port", "0", *argv]
    process = subprocess.Popen(
        command, cwd=folder, env=environ(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def fwctl(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fwctl", *argv],
        cwd=folder,
        env=environ(folder),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def proxy(sim: Sim, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("route")
    with routed(folder, FILE.format(url=sim.url, model=SERVERLESS)) as (_, url):
        yield url


@pytest.fixture
def client(proxy: str) -> Iterator[OpenAI]:
    with OpenAI(api_key="sk-client", base_url=proxy, max_retries=0) as made:
        yield made


def test_openais_client_gets_its_answer_from_the_target_that_works(client: OpenAI) -> None:
    raw = client.chat.completions.with_raw_response.create(model="chat", messages=HELLO, max_tokens=9)
    answer = raw.parse()
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 9
    assert raw.headers["x-fwctl-target"] == "gpt-oss-120b"


def test_openais_client_streams_with_usage(client: OpenAI) -> None:
    stream = client.chat.completions.create(
        model="chat", messages=HELLO, max_tokens=400, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert chunks[-1].usage is not None


def test_a_stream_that_breaks_off_raises_in_openais_client_instead_of_ending_early(client: OpenAI) -> None:
    stream = client.chat.completions.create(
        model="chat",
        messages=HELLO,
        max_tokens=400,
        stream=True,
        extra_headers={"x-sim-fault": "cut;after=4"},
    )
    assert next(stream)
    with pytest.raises(openai.APIError) as caught:
        list(stream)
    assert caught.value.code == "upstream_cut"


def test_openais_client_sees_embeddings_models_and_typed_errors(client: OpenAI, proxy: str) -> None:
    assert [model.id for model in client.models.list()] == ["chat"]
    with pytest.raises(openai.NotFoundError) as missing:
        client.chat.completions.create(model="nope", messages=HELLO)
    assert missing.value.code == "unknown_route"
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="chat", messages=HELLO, temperature=99)
    stranger = OpenAI(api_key="sk-wrong", base_url=proxy, max_retries=0)
    with stranger, pytest.raises(openai.AuthenticationError) as refused:
        stranger.models.list()
    assert refused.value.code == "unauthorized"


def test_openais_client_does_not_multiply_the_attempts_of_an_outage(sim: Sim, tmp_path: Path) -> None:
    text = FILE.format(url="http://127.0.0.1:9", model="m")
    with (
        routed(tmp_path, text) as (_, url),
        OpenAI(api_key="sk-client", base_url=url, max_retries=2) as made,
    ):
        with pytest.raises(openai.InternalServerError) as caught:
            made.chat.completions.create(model="chat", messages=HELLO)
        assert caught.value.code == "all_targets_failed"
        page = httpx.get(url.removesuffix("/v1") + "/metrics").text
        assert 'fwctl_route_requests_total{outcome="all_targets_failed",route="chat"} 1.0' in page


def test_hangup_reloads_and_sigterm_ends_it_with_a_log_of_json_lines(sim: Sim, tmp_path: Path) -> None:
    text = FILE.format(url=sim.url, model=SERVERLESS)
    with routed(tmp_path, text) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        assert process.stderr is not None
        assert json.loads(process.stderr.readline())["event"] == "listening"
        (tmp_path / "routes.yaml").write_text(text.replace("  chat:", "  other:"))
        process.send_signal(signal.SIGHUP)
        assert json.loads(process.stderr.readline()) | {"at": ""} == {
            "at": "",
            "event": "reload",
            "ok": True,
            "routes": ["other"],
        }
        process.send_signal(signal.SIGTERM)
        rest = [json.loads(line) for line in process.stderr]
        assert [line["event"] for line in rest] == ["drain", "stopped"]
        assert process.wait(10) == 0


def test_a_change_of_the_file_is_noticed_without_a_signal(sim: Sim, tmp_path: Path) -> None:
    text = FILE.format(url=sim.url, model=SERVERLESS)
    with routed(tmp_path, text) as (process, _):
        assert process.stderr is not None
        process.stderr.readline()
        (tmp_path / "routes.yaml").write_text("nonsense: [")
        line = json.loads(process.stderr.readline())
        assert (line["event"], line["ok"]) == ("reload", False)
        assert "the old file stays: routes.yaml:1" in line["message"]


def test_what_cannot_be_served_is_refused_with_a_next_step(tmp_path: Path) -> None:
    (tmp_path / "routes.yaml").write_text(
        FILE.format(url="http://127.0.0.1:9", model="m").replace('["${env:ROUTER_KEY}"]', "[]")
    )
    done = fwctl(tmp_path, "route", "serve", "--host", "0.0.0.0", "--port", "0")
    assert done.returncode == 64
    assert "this machine only" in done.stderr
    assert fwctl(tmp_path, "route", "serve", "--port", "70000").returncode == 64
    assert fwctl(tmp_path, "route", "serve", "--config", "none.yaml").returncode == 3


def test_check_asks_every_target_and_says_what_to_do(sim: Sim, tmp_path: Path) -> None:
    (tmp_path / "routes.yaml").write_text(FILE.format(url=sim.url, model=SERVERLESS))
    done = fwctl(tmp_path, "route", "check", "--format", "json")
    document = json.loads(done.stdout)
    assert done.returncode == document["exit_code"] == 1
    rows = {row["target"]: row for row in document["targets"]}
    assert (rows["gone"]["ok"], rows["gone"]["error"]) == (False, "connect")
    assert rows["gpt-oss-120b"]["ok"]
    assert rows["gpt-oss-120b"]["first_token_s"] > 0
    shown = fwctl(tmp_path, "route", "check")
    assert "nothing listens there" in shown.stdout
    offline = fwctl(tmp_path, "route", "check", "--offline")
    assert (offline.returncode, offline.stdout) == (0, "routes.yaml: no problems; routes: chat\n")


def test_check_fails_for_a_withdrawn_adapter_before_anything_is_deployed(tmp_path: Path) -> None:
    (tmp_path / "routes.yaml").write_text(
        "apiVersion: fwctl/v1\nkind: Routes\naccount: acme\nroutes:\n"
        "  chat: {targets: [{model: accounts/acme/models/lora}, {deployment: chat}]}\n"
    )
    done = fwctl(tmp_path, "route", "check", "--offline", "--format", "json")
    assert done.returncode == 3
    found = {item["code"]: item["severity"] for item in json.loads(done.stdout)["diagnostics"]}
    assert found == {"FW601": "warning", "FW603": "error"}


def test_drill_shows_an_outage_and_holds_its_bars(tmp_path: Path) -> None:
    (tmp_path / "routes.yaml").write_text(FILE.format(url="https://never.asked.example", model="m"))
    started = time.monotonic()
    done = fwctl(tmp_path, "route", "drill", "--scenario", "outage", "--format", "json")
    (row,) = json.loads(done.stdout)["drills"]
    assert (done.returncode, row["missed"]) == (0, []), done.stderr
    assert row["requests"] == 360
    assert 360 < row["attempts"] <= 396
    assert (row["client_errors"], row["cut_streams"]) == (0, 0)
    assert time.monotonic() - started < 60


def test_drill_names_the_scenario_that_was_meant(tmp_path: Path) -> None:
    (tmp_path / "routes.yaml").write_text(FILE.format(url="https://never.asked.example", model="m"))
    unknown = fwctl(tmp_path, "route", "drill", "--scenario", "outtage")
    assert unknown.returncode == 64
    assert "did you mean outage?" in unknown.stderr
