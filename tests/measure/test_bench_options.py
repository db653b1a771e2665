"""From the options of `bench run` to a plan, and the progress that people see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fwctl.cli.bench_options import Load, Running, make_plan, worker_count
from fwctl.cli.bench_progress import headline, watching
from fwctl.cli.command import Call
from fwctl.cli.options import Settings
from fwctl.cli.output import Output
from fwctl.errors import UsageError
from fwctl.measure.plan import Cache, Plan, Shape
from fwctl.measure.progress import Progress
from fwctl.measure.target import Target
from tests.cli.support import make_env


def a_call(folder: Path, *, terminal: bool = False, quiet: bool = False) -> Any:
    env = make_env(folder, {"TERM": "xterm"}, terminal=terminal)
    return Call(env, Settings(), Output(env, quiet=quiet))


def planned(folder: Path, load: Load, running: Running | None = None) -> Plan:
    (folder / "s.jsonl").write_text('{"id": "a", "prompt": "x"}\n')
    targets = [Target("a", "http://t", "m"), Target("b", "http://t", "m")]
    return make_plan(a_call(folder), Path("s.jsonl"), targets, load, running or Running())


@pytest.mark.parametrize(
    ("load", "shapes"),
    [
        (Load(), (Shape(1),)),
        (Load(concurrency=8, seed=3), (Shape(8, seed=3),)),
        (Load(rate="5"), (Shape(rate_per_s=5.0),)),
        (Load(rate="0.5/s", arrivals="constant"), (Shape(rate_per_s=0.5, poisson=False),)),
        (Load(sweep="1,2, 4"), (Shape(1), Shape(2), Shape(4))),
        (Load(sweep="1/s,2.5/s"), (Shape(rate_per_s=1.0), Shape(rate_per_s=2.5))),
    ],
)
def test_a_load_becomes_shapes(tmp_path: Path, load: Load, shapes: tuple[Shape, ...]) -> None:
    assert planned(tmp_path, load).shapes == shapes


def test_what_is_not_given_has_its_default(tmp_path: Path) -> None:
    plan = planned(tmp_path, Load())
    assert (plan.repeats, plan.duration_s, plan.warmup, plan.cache, plan.resume) == (
        1,
        None,
        5,
        Cache.NATURAL,
        False,
    )
    assert plan.out.parent == tmp_path / "runs"
    # One warm-up request for each slot, so that the first wave is not measured.
    assert planned(tmp_path, Load(sweep="2,16")).warmup == 16
    assert planned(tmp_path, Load(warmup=0)).warmup == 0


def test_a_duration_takes_the_place_of_one_time_through_the_set(tmp_path: Path) -> None:
    plan = planned(tmp_path, Load(duration="10m"))
    assert (plan.duration_s, plan.repeats) == (600.0, None)
    assert planned(tmp_path, Load(duration="10m", repeat=3)).repeats == 3


def test_going_on_names_the_folder(tmp_path: Path) -> None:
    plan = planned(tmp_path, Load(), Running(resume=Path("runs/one")))
    assert (plan.out, plan.resume) == (tmp_path / "runs/one", True)


@pytest.mark.parametrize(
    ("load", "running", "words"),
    [
        (Load(concurrency=2, rate="5"), Running(), "one of --concurrency, --rate and --sweep"),
        (Load(concurrency=0), Running(), "--concurrency"),
        (Load(rate="fast"), Running(), "--rate"),
        (Load(rate="inf"), Running(), "--rate"),
        (Load(sweep="1,two"), Running(), "--sweep"),
        (Load(sweep="1,,2"), Running(), "--sweep"),
        (Load(sweep="0"), Running(), "--sweep"),
        (Load(sweep="2,2"), Running(), "names a load twice"),
        (Load(arrivals="odd"), Running(), "--arrivals"),
        (Load(duration="soon"), Running(), "--duration"),
        (Load(duration="0"), Running(), "--duration"),
        (Load(repeat=0), Running(), "--repeat"),
        (Load(warmup=-1), Running(), "--warmup"),
        (Load(cache="hot"), Running(), "cold, warm, natural"),
        (Load(), Running(out=Path("a"), resume=Path("b")), "leave out --out"),
    ],
)
def test_a_wrong_option_is_named(tmp_path: Path, load: Load, running: Running, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        planned(tmp_path, load, running)


def test_workers_are_counted_or_found() -> None:
    assert (worker_count("auto"), worker_count("4")) == (None, 4)
    for text in ("0", "many", "-1", "9999", "1.5"):
        with pytest.raises(UsageError, match="--workers"):
            worker_count(text)


def progress(now: float) -> Progress:
    found = Progress(20, 100.0, now, Shape(8))
    row = {"measured": True, "target": "fast", "error_class": None, "ttft_s": 0.2, "total_s": 1.5}
    for item in (row, row, {**row, "error_class": "rate_limited"}, {**row, "measured": False}):
        found.add(item)
    return found


def test_a_headline_says_how_far_it_is() -> None:
    assert headline(progress(110.0)) == "3 of 20 done, 1 to warm up, 0.4/s, load 8, 10s"


def test_elsewhere_a_line_comes_every_ten_seconds(tmp_path: Path) -> None:
    call = a_call(tmp_path)
    with watching(call) as watch:
        assert watch is not None
        for now in (101.0, 109.0, 110.5, 112.0):
            watch(progress(now))
    text = call.env.stderr.text()
    assert text.count("of 20 done") == 1
    assert "fast: 3 done, errors 1 rate_limited, ttft 0.200 / 0.200 s, total 1.500 / 1.500 s" in text


def test_on_a_terminal_a_table_is_drawn(tmp_path: Path) -> None:
    call = a_call(tmp_path, terminal=True)
    with watching(call) as watch:
        assert watch is not None
        watch(progress(101.0))
        watch(progress(101.1))
    text = call.env.stderr.text()
    assert "3 of 20 done" in text
    assert "0.200 / 0.200" in text
    assert call.env.stdout.text() == ""


def test_quiet_shows_nothing(tmp_path: Path) -> None:
    with watching(a_call(tmp_path, quiet=True)) as watch:
        assert watch is None
