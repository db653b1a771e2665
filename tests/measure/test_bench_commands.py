"""The bench commands from the command line to exit code and files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fwctl.cli.main import run
from tests.cli.support import make_env
from tests.measure.servers import serving

NOBODY = "http://127.0.0.1:1"


async def good(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    delta = {"choices": [{"index": 0, "delta": {"content": "{}"}, "finish_reason": "stop"}]}
    await response.write(f"data: {json.dumps(delta)}\n\ndata: [DONE]\n\n".encode())
    return response


def fwctl(folder: Path, *argv: str, **variables: str) -> tuple[int, str, str]:
    env: Any = make_env(folder, variables, terminal=False, stdin="")
    code = run(list(argv), env)
    return code, env.stdout.text(), env.stderr.text()


def run_words(url: str) -> tuple[str, ...]:
    return ("bench", "run", "--suite", "s.jsonl", "--target-url", url, "--model", "m")


def test_from_the_example_to_a_comparison(tmp_path: Path) -> None:
    code, text, _ = fwctl(tmp_path, "bench", "init")
    assert code == 0
    (tmp_path / "s.jsonl").write_text(text)
    with serving(good) as url:
        words = (*run_words(url), "--no-selftest", "--repeat", "3")
        code, text, told = fwctl(tmp_path, *words, "--out", "a", "--api-key-env", "KEY", KEY="sesame")
    assert "m: 9 of 9 went well" in text
    assert told.endswith("next: fwctl bench report a\nnext: fwctl bench compare BASE a\n")
    assert "sesame" not in text + (tmp_path / "a/records.jsonl").read_text()
    code, text, _ = fwctl(tmp_path, "bench", "compare", "a", "a", "--format", "json")
    first = json.loads(text)["comparisons"][0]
    # Three prompts are too few to say something about others, however often they are repeated.
    assert (first["metric"], first["verdict"], first["n_pairs"], first["n_needed"]) == (
        "ttft_s",
        "inconclusive",
        9,
        18,
    )


def test_nothing_that_went_well_fails(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"id": "a", "prompt": "x"}\n')
    code, text, _ = fwctl(tmp_path, *run_words(NOBODY), "--no-selftest")
    assert code == 1
    assert "1 connect" in text


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (("--concurrency", "0"), "--concurrency"),
        (("--rate", "0"), "--rate"),
        (("--rate", "nan"), "--rate"),
        (("--repeat", "0"), "--repeat"),
        (("--api-key-env", "NO_SUCH_KEY"), "NO_SUCH_KEY is not set"),
        (("--target-url", "http://["), "not a valid URL"),
    ],
)
def test_a_wrong_option_is_refused(tmp_path: Path, extra: tuple[str, ...], message: str) -> None:
    (tmp_path / "s.jsonl").write_text('{"id": "a", "prompt": "x"}\n')
    code, _, errors = fwctl(tmp_path, *run_words(NOBODY), *extra)
    assert code == 64
    assert message in errors
