"""Load from processes of their own: shares, keys, interruption, going on, and what a run leaves behind."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fwctl.env import SystemClock
from fwctl.errors import FwctlError, UsageError
from fwctl.measure import worker
from fwctl.measure.load import Share
from fwctl.measure.part import Made, Part, perform
from fwctl.measure.plan import Cache, Plan, Shape
from fwctl.measure.progress import Progress
from fwctl.measure.run import run
from fwctl.measure.suite import load
from fwctl.measure.target import Target
from tests.measure.servers import serving

Seen = list[tuple[dict[str, Any], dict[str, str]]]


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, Seen]]:
    """A good server and the bodies and headers that it got."""
    seen: Seen = []

    async def good(request: web.Request) -> web.StreamResponse:
        seen.append((await request.json(), dict(request.headers)))
        response = web.StreamResponse()
        await response.prepare(request)
        delta = {"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]}
        await response.write(f"data: {json.dumps(delta)}\n\ndata: [DONE]\n\n".encode())
        return response

    with serving(good) as url:
        yield url, seen


def plan(tmp_path: Path, url: str, prompts: int = 6, **more: Any) -> Plan:
    path = tmp_path / "s.jsonl"
    path.write_text(
        "".join(json.dumps({"id": f"p{n}", "prompt": f"text {n}"}) + "\n" for n in range(prompts))
    )
    headers = {"x-team": "blue"}
    targets = [Target("a", url, "m1", "sesame", headers=headers), Target("b", url, "m2")]
    return replace(Plan(load(path), targets, Shape(2), tmp_path / "out"), **more)


def rows(made: Plan) -> list[dict[str, Any]]:
    return [json.loads(line) for line in made.records.read_text().splitlines()]


def keys(made: Plan) -> list[tuple[str, str, int]]:
    return sorted((row["target"], row["prompt_id"], row["repeat"]) for row in rows(made) if row["measured"])


def test_two_workers_send_every_request_once_with_its_key(tmp_path: Path, server: tuple[str, Seen]) -> None:
    url, seen = server
    seen.clear()
    told: list[int] = []
    made = plan(tmp_path, url, workers=2, repeats=2, warmup=1)
    summary = run(made, SystemClock(), environ=os.environ, watch=lambda progress: told.append(progress.done))
    assert keys(made) == sorted(
        (name, f"p{n}", repeat) for name in "ab" for n in range(6) for repeat in (0, 1)
    )
    assert (summary["valid"], summary["interrupted"], told[-1]) == (True, False, 24)
    authorised = {body["model"]: headers.get("Authorization") for body, headers in seen}
    assert authorised == {"m1": "Bearer sesame", "m2": None}
    assert {headers.get("x-team") for body, headers in seen if body["model"] == "m1"} == {"blue"}
    assert not [path for path in made.out.iterdir() if b"sesame" in path.read_bytes()]
    assert summary["targets"]["a"]["warm_up"]["n"] == 1


def test_a_sweep_runs_level_by_level_and_names_them(tmp_path: Path, server: tuple[str, Seen]) -> None:
    made = plan(tmp_path, server[0], sweep=(Shape(1), Shape(4), Shape(rate_per_s=500.0)))
    summary = run(made, SystemClock())
    assert list(summary["targets"]) == ["a@1", "a@4", "a@500/s", "b@1", "b@4", "b@500/s"]
    levels = [row["concurrency"] or row["rate_per_s"] for row in rows(made)]
    assert levels == [1] * 12 + [4] * 12 + [500.0] * 12
    assert "ttft_from_schedule_s" in summary["targets"]["a@500/s"]


def test_an_interrupted_run_gives_its_summary_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    asked: list[str] = []

    async def slow(request: web.Request) -> web.StreamResponse:
        import asyncio

        asked.append((await request.json())["messages"][0]["content"])
        if len(asked) == 5:
            threading.Timer(0, os.kill, (os.getpid(), signal.SIGINT)).start()
        await asyncio.sleep(0 if len(asked) < 5 or len(asked) > 8 else 5)
        return web.Response(text='data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n')

    with serving(slow) as url:
        first = plan(tmp_path, url, workers=1)
        summary = run(first, SystemClock())
        done = keys(first)
        assert (summary["interrupted"], len(done)) == (True, 4)
        assert summary["targets"]["a"]["n"] + summary["targets"]["b"]["n"] == 4
        with first.records.open("a") as file:
            file.write('{"half a line')
        before = len(asked)
        asked.extend([""] * 8)
        summary = run(replace(first, resume=True, workers=1), SystemClock())
    assert len(asked) - 8 - before == 8
    assert keys(first) == sorted((name, f"p{n}", 0) for name in "ab" for n in range(6))
    assert (summary["interrupted"], summary["sessions"]) == (False, 2)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"shape": Shape(3)}, "the load"),
        ({"repeats": 2}, "--repeat"),
        ({"cache": Cache.COLD}, "--cache"),
        ({"targets": [Target("a", "http://127.0.0.1:1", "other")]}, "the targets"),
    ],
)
def test_going_on_with_other_options_is_refused(tmp_path: Path, change: dict[str, Any], word: str) -> None:
    first = plan(tmp_path, "http://127.0.0.1:1", prompts=1)
    run(first, SystemClock())
    with pytest.raises(UsageError, match=word):
        run(replace(first, resume=True, **change), SystemClock())


def test_going_on_with_another_set_or_with_nothing_is_refused(tmp_path: Path) -> None:
    first = plan(tmp_path, "http://127.0.0.1:1", prompts=1)
    with pytest.raises(UsageError, match="cannot go on"):
        run(replace(first, resume=True), SystemClock())
    run(first, SystemClock())
    with pytest.raises(UsageError, match="prompt set"):
        run(replace(plan(tmp_path, "http://127.0.0.1:1", prompts=2), resume=True), SystemClock())
    document = json.loads((first.out / "run.json").read_text())
    for broken in ([], {**document, "sessions": [{}]}, {**document, "sessions": [7]}, {"run_id": 1}):
        (first.out / "run.json").write_text(json.dumps(broken))
        with pytest.raises(UsageError, match="not the file of a run"):
            run(replace(first, resume=True), SystemClock())


def test_a_run_that_is_done_is_not_warmed_up_again(tmp_path: Path, server: tuple[str, Seen]) -> None:
    made = plan(tmp_path, server[0], warmup=2)
    run(made, SystemClock())
    before = made.records.read_bytes()
    run(replace(made, resume=True), SystemClock())
    assert made.records.read_bytes() == before


def test_a_duration_ends_a_run_that_would_go_on_for_ever(tmp_path: Path, server: tuple[str, Seen]) -> None:
    for number, shape in enumerate((Shape(2), Shape(rate_per_s=200.0, poisson=False))):
        made = plan(
            tmp_path, server[0], shape=shape, repeats=None, duration_s=0.099, out=tmp_path / str(number)
        )
        began = time.monotonic()
        run(made, SystemClock())
        assert time.monotonic() - began < 10
        assert max(row["repeat"] for row in rows(made)) >= 1
    # One every 2.5 ms, the first at 0 and the last at 97.5 ms.
    assert len(rows(made)) == 40


def test_a_cold_cache_means_a_key_of_its_own_for_every_request(
    tmp_path: Path, server: tuple[str, Seen]
) -> None:
    seen = server[1]
    seen.clear()
    made = plan(tmp_path, server[0], cache=Cache.COLD, warmup=1, repeats=2)
    assert run(made, SystemClock())["cache"] == "cold"
    found = [body["prompt_cache_isolation_key"] for body, _ in seen]
    assert len(set(found)) == len(found) == 26


def test_a_warm_cache_means_that_every_prompt_was_sent_before(
    tmp_path: Path, server: tuple[str, Seen]
) -> None:
    seen = server[1]
    seen.clear()
    made = plan(tmp_path, server[0], cache=Cache.WARM)
    summary = run(made, SystemClock())
    assert [row["measured"] for row in rows(made)].count(False) == 12
    assert summary["targets"]["a"]["n"] == 6
    assert not [body for body, _ in seen if "prompt_cache_isolation_key" in body]


def test_a_worker_that_fails_ends_the_run_with_its_words(tmp_path: Path, server: tuple[str, Seen]) -> None:
    made = plan(tmp_path, server[0], workers=2)
    made.suite.path.write_text("not JSON\n")
    with pytest.raises(FwctlError, match=r"s\.jsonl:1"):
        run(made, SystemClock())


def test_shares_make_up_the_whole() -> None:
    # 7 at a time over 3 processes: 3, 2, 2; a single slot is the first one's.
    assert [Share(number, 3).slots(7) for number in range(3)] == [3, 2, 2]
    assert [Share(number, 3).slots(1) for number in range(3)] == [1, 0, 0]
    for concurrency in (None, 1, 2, 7):
        takers = [[n for n in range(3) if Share(n, 3).takes(index, concurrency)] for index in range(9)]
        assert all(len(found) == 1 for found in takers)


def test_progress_counts_recent_times_and_errors() -> None:
    progress = Progress(10, 0.0, 2.0, Shape())
    base = {"measured": True, "target": "a", "error_class": None, "ttft_s": 1.0, "total_s": None}
    for row in (
        base,
        {**base, "ttft_s": 3.0},
        {**base, "error_class": "connect"},
        {**base, "measured": False},
    ):
        progress.add(row)
    arm = progress.arms["a"]
    # p95 of 1 and 3 lies 95 % of the way from the first to the second.
    assert arm.spread(arm.ttft_s) == (2.0, pytest.approx(2.9))
    assert (arm.spread(arm.total_s), dict(arm.errors), progress.rate_per_s) == (None, {"connect": 1}, 2.0)


def test_a_part_goes_to_a_worker_and_back_without_its_secrets(tmp_path: Path) -> None:
    made = plan(tmp_path, "http://t", workers=3, sweep=(Shape(2), Shape(rate_per_s=5.0)), duration_s=3.0)
    part = Part(made, Shape(rate_per_s=5.0), "run", tmp_path / "r", Share(1, 3))
    text = json.dumps(worker.to_json(part, tmp_path / "go"))
    assert "sesame" not in text
    assert "blue" not in text
    found = worker.from_json(json.loads(text), {worker.SECRETS: worker.secrets_of(part)})
    # What only the parent needs is not handed on.
    assert found.plan == replace(made, workers=0)
    assert replace(found, plan=part.plan, done=()) == part


def test_what_a_worker_says_at_its_end_is_read_back() -> None:
    made = Made(cpu_s=1.5, wall_s=2.5, interrupted=True)
    made.lags.add(0.004)
    found = worker.made_from_json(json.loads(json.dumps(worker.made_to_json(made))))
    assert (found.cpu_s, found.wall_s, found.interrupted) == (1.5, 2.5, True)
    assert found.lags.seconds() == [pytest.approx(0.004)]


def test_a_torn_line_is_cut_off_however_long_it_is(tmp_path: Path) -> None:
    first = plan(tmp_path, "http://127.0.0.1:1", prompts=1)
    run(first, SystemClock())
    whole = first.records.read_bytes()
    for torn in (b"{" + b"x" * 200_000, b""):
        first.records.write_bytes(whole + torn)
        run(replace(first, resume=True), SystemClock())
        assert first.records.read_bytes() == whole
    first.records.write_bytes(b"{" + b"x" * 200_000)
    run(replace(first, resume=True), SystemClock())
    assert len(rows(first)) == 2
    first.records.unlink()
    run(replace(first, resume=True), SystemClock())
    assert len(rows(first)) == 2


def test_replicas_of_earlier_sessions_count(tmp_path: Path, server: tuple[str, Seen]) -> None:
    first = plan(tmp_path, server[0], prompts=1, workers=1)
    assert run(first, SystemClock(), sample=lambda: {"a": 1})["valid"]
    summary = run(replace(first, resume=True), SystemClock(), sample=lambda: {"a": 2})
    assert [row["ready"]["a"] for row in summary["replicas"]] == [1, 1, 2, 2]
    assert "the ready replicas of a changed" in summary["invalid_reasons"][-1]


def test_a_price_that_changed_is_no_reason_to_begin_anew(tmp_path: Path) -> None:
    first = plan(tmp_path, "http://127.0.0.1:1", prompts=1)
    run(first, SystemClock())
    dearer = [replace(target, usd_per_hour=9.0) for target in first.targets]
    assert run(replace(first, targets=dearer, resume=True), SystemClock())["sessions"] == 2


def test_a_duration_that_is_over_is_not_begun_again(tmp_path: Path) -> None:
    made = plan(tmp_path, "http://127.0.0.1:1", repeats=None, duration_s=0.02)
    run(made, SystemClock())
    before = made.records.read_bytes()
    summary = run(replace(made, resume=True), SystemClock())
    assert (made.records.read_bytes(), summary["sessions"]) == (before, 2)


def test_a_full_disk_ends_the_run_with_its_words(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    made = plan(tmp_path, "http://127.0.0.1:1", prompts=200)
    with pytest.raises(OSError, match="No space left"):
        perform(Part(made, made.shape, "run", Path("/dev/full")), Made())


class Told(BaseException):
    """What a process raises that is told to end."""


@pytest.mark.parametrize("cut", [KeyboardInterrupt, Told])
def test_whatever_cuts_a_run_off_leaves_a_summary(
    tmp_path: Path, server: tuple[str, Seen], cut: type[BaseException]
) -> None:
    class Cut(SystemClock):
        """Ends the run once, as soon as something was measured."""

        ended = False

        def monotonic(self) -> float:
            if not self.ended and (tmp_path / "out/records.jsonl").exists() and rows(made):
                self.ended = True
                raise cut
            return super().monotonic()

    made = plan(tmp_path, server[0], workers=1, sweep=(Shape(1), Shape(2)))
    if cut is Told:
        with pytest.raises(Told):
            run(made, Cut())
    else:
        assert run(made, Cut())["interrupted"]
    found = json.loads((made.out / "summary.json").read_text())
    assert found["interrupted"]
    assert 0 < len(keys(made)) <= 12
