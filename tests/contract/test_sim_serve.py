"""`fwctl sim serve` as a real process: readiness, signals, one state with firectl-sim, clear refusals."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

HEADERS = {"authorization": "Bearer fw_test"}
SHAPE = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-minimal"
MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"


def environ(folder: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return kept | {"HOME": str(folder), "FIRECTL_SIM_SPEED": "1000"} | more


@contextmanager
def served(folder: Path, *argv: str, **more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "fwctl", "sim", "serve", "--port", "0", *argv]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environ(folder, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def firectl_sim(folder: Path, *argv: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "fwctl.simulator", *argv],
        cwd=folder,
        env=environ(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_its_url_says_it_is_the_simulator_and_ends_on_a_signal(
    tmp_path: Path, number: signal.Signals
) -> None:
    with served(tmp_path) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        assert httpx.get(f"{url}/healthz").json() == {"status": "ok", "simulator": True}
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert out == ""
    assert err.splitlines()[0] == f"fwctl sim: the Fireworks simulator listens on {url}; nothing is billed"
    assert "Traceback" not in err


def test_a_stream_that_runs_does_not_hold_the_end_up(tmp_path: Path) -> None:
    body = {
        "model": "accounts/fireworks/models/gpt-oss-120b",
        "messages": [{"role": "user", "content": "x"}],
        "stream": True,
        "max_tokens": 2000,
        "ignore_eos": True,
    }
    slow = HEADERS | {"x-sim-tokens-per-second": "1"}
    with (
        served(tmp_path) as (process, url),
        httpx.stream("POST", f"{url}/inference/v1/chat/completions", json=body, headers=slow) as answer,
    ):
        assert answer.status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0


def test_it_shares_its_state_with_firectl_sim_and_remembers_its_traffic(tmp_path: Path) -> None:
    with served(tmp_path) as (_, url):
        firectl_sim(
            tmp_path,
            "deployment",
            "create",
            MODEL,
            "--deployment-id",
            "d1",
            "--deployment-shape",
            SHAPE,
            "--min-replica-count",
            "1",
            "--wait",
        )
        body = {"model": "accounts/acme/deployments/d1", "prompt": "x", "max_tokens": 3}
        answer = httpx.post(f"{url}/inference/v1/completions", json=body, headers=HEADERS)
        assert answer.status_code == 200
        listed = httpx.get(f"{url}/v1/accounts/acme/deployments", headers=HEADERS).json()
        assert [row["name"] for row in listed["deployments"]] == ["accounts/acme/deployments/d1"]
        series = firectl_sim(
            tmp_path, "deployment-metrics", "list", "--metric", "requests-total", "-o", "json"
        )
        assert "accounts/acme/deployments/d1" in series
        firectl_sim(tmp_path, "faults", "add", "status", "status=429", "--match", "inference completion *")
        refused = httpx.post(f"{url}/inference/v1/completions", json=body, headers=HEADERS)
        assert refused.status_code == 429


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("FIRECTL_SIM_TTFT_MS", "soon", "FIRECTL_SIM_TTFT_MS is 'soon'; write a number"),
        ("FIRECTL_SIM_PROFILE", "1999", "no profile '1999'"),
        ("FIRECTL_SIM_SPEED", "fast", "FIRECTL_SIM_SPEED is 'fast'"),
        ("FIRECTL_SIM_FAULTS", "missing.yaml", "the faults file"),
        ("FIRECTL_SIM_ANSWERS", "missing.jsonl", "missing.jsonl cannot be read"),
        ("FIRECTL_SIM_CATALOG", "missing.json", "missing.json"),
    ],
)
def test_a_wrong_setting_is_one_line_and_exit_64(
    tmp_path: Path, variable: str, value: str, said: str
) -> None:
    with served(tmp_path, **{variable: value}) as (process, url):
        assert url == ""
        _, err = process.communicate(timeout=20)
    assert process.returncode == 64
    assert said in err
    assert "Traceback" not in err


def test_a_state_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    (tmp_path / ".firectl-sim").mkdir()
    (tmp_path / ".firectl-sim/state.db").write_bytes(b"not a database, " * 100)
    with served(tmp_path) as (process, _):
        _, err = process.communicate(timeout=20)
    assert process.returncode == 64
    assert "state" in err
    assert "Traceback" not in err


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with served(tmp_path, "--port", port) as (process, _):
            _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in err


def test_without_its_extra_it_names_the_package_to_install(tmp_path: Path) -> None:
    """A folder with an aiohttp that cannot be imported stands before the real one."""
    (tmp_path / "aiohttp.py").write_text(
        "raise ModuleNotFoundError('No module named aiohttp', name='aiohttp')\n"
    )
    with served(tmp_path, PYTHONPATH=str(tmp_path)) as (process, _):
        _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "pip install 'fwctl[runtime]'" in err
    assert "Traceback" not in err
