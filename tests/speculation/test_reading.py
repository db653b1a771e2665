"""Files of traces: every kind, every cut, and what is said about bad ones."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fwctl.errors import FwctlError, UsageError
from fwctl.speculation import worker
from fwctl.speculation.cluster import replay_on_ray
from fwctl.speculation.entries import Options
from fwctl.speculation.job import Work, job_of, replay_parts, run_job, unpacked
from fwctl.speculation.reading import MAX_LINE_BYTES, Part, by_duckdb, parts, read, read_suite
from fwctl.speculation.recommend import judge
from fwctl.speculation.running import build_index, replay
from fwctl.speculation.tokens import approximate
from tests.speculation import traffic

ITEMS: list[dict[str, Any]] = [{"id": f"{number}", "text": "ä" * (number % 7)} for number in range(50)]


def lines(items: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items).encode()


def everything(folder: Path, name: str, part_bytes: int = 1 << 20) -> list[Any]:
    return [item for part in parts([name], folder, part_bytes=part_bytes) for item in read(part)]


def has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def test_plain_and_gzip_files_hold_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(ITEMS))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines(ITEMS)))
    assert everything(tmp_path, "a.jsonl") == everything(tmp_path, "a.jsonl.gz") == ITEMS


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(1, 400), st.booleans())
def test_a_cut_file_holds_every_line_once(tmp_path: Path, part_bytes: int, newline: bool) -> None:
    data = lines(ITEMS)
    (tmp_path / "a.jsonl").write_bytes(data if newline else data[:-1])
    assert everything(tmp_path, "a.jsonl", part_bytes) == ITEMS


@pytest.mark.parametrize("part_bytes", [1 << 20, 64, 7])
def test_a_bad_line_is_named_by_its_number_in_the_file(tmp_path: Path, part_bytes: int) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(ITEMS[:20]) + b"\n{broken\n" + lines(ITEMS))
    with pytest.raises(UsageError, match=r"a\.jsonl:22: this is not JSON"):
        everything(tmp_path, "a.jsonl", part_bytes)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"\xff\xfe{}", "byte 1 (0xff) is not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"1" * 5000, "more than 4300 digits"),
        (b'{"completion": "one", "completion": "two"}', "the key 'completion' stands twice"),
        (b'{"max_tokens": NaN}', "NaN is not a number"),
        (b'{"prompt": "a\x00b"}', "Invalid control character at column 14"),
    ],
)
def test_hostile_lines_are_one_error(tmp_path: Path, line: bytes, message: str) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"{}\n" + line + b"\n{}\n")
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        everything(tmp_path, "a.jsonl")
    assert caught.value.message.startswith("a.jsonl:2: ")


def test_a_byte_order_mark_and_other_line_ends_are_no_part_of_a_trace(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"id": "1"}\r\n\r\n{"id": "2"}\r\n')
    assert everything(tmp_path, "a.jsonl") == [{"id": "1"}, {"id": "2"}]


def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "a.jsonl").open("wb") as file:
        file.truncate(MAX_LINE_BYTES + 2)
    with pytest.raises(UsageError, match="longer than"):
        everything(tmp_path, "a.jsonl", 1 << 30)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.gz").write_bytes(b"not gzip")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(lines(ITEMS))[:-20])
    for name, message in (
        ("none.jsonl", "does not exist"),
        ("pipe", "not a regular file"),
        (".", "folder without records.jsonl"),
        ("", "folder without records.jsonl"),
        ("a" * 300, "cannot read"),
        ("a.gz", "cannot read a.gz"),
        ("cut.gz", "cannot read cut.gz"),
    ):
        with pytest.raises(UsageError, match=message):
            everything(tmp_path, name)


@pytest.mark.skipif(has("duckdb"), reason="DuckDB is installed")
@pytest.mark.parametrize("name", ["a.parquet", "s3://bucket/a.jsonl"])
def test_a_missing_extra_says_which_install_brings_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(FwctlError) as caught:
        everything(tmp_path, name)
    assert "DuckDB" in caught.value.message
    assert caught.value.next_steps[0] == "pip install 'fwctl[traces]'"


@pytest.mark.skipif(not has("duckdb"), reason="needs the extra traces")
def test_parquet_and_zstd_files_hold_the_same(tmp_path: Path) -> None:
    import duckdb

    (tmp_path / "a.jsonl").write_bytes(lines(list(traffic.edit(20))))
    source = f"read_json('{tmp_path / 'a.jsonl'}')"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM {source}) TO '{tmp_path / 'a.parquet'}' (FORMAT parquet)")
        connection.execute(f"COPY (FROM {source}) TO '{tmp_path / 'a.jsonl.zst'}' (FORMAT json)")
    plain = everything(tmp_path, "a.jsonl")
    assert everything(tmp_path, "a.parquet") == plain
    assert everything(tmp_path, "a.jsonl.zst") == plain
    assert list(by_duckdb(Part("a.jsonl.zst", str(tmp_path / "a.jsonl.zst")), duckdb)) == plain
    twice = (tmp_path / "a.jsonl.zst").read_bytes() * 2
    (tmp_path / "twice.jsonl.zst").write_bytes(twice)
    assert everything(tmp_path, "twice.jsonl.zst") == plain * 2
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(UsageError, match=r"DuckDB cannot read b\.parquet"):
        everything(tmp_path, "b.parquet")
    (tmp_path / "b.zst").write_bytes(b"no zstd")
    with pytest.raises(UsageError, match=r"b\.zst"):
        everything(tmp_path, "b.zst")


class Database:
    """The part of DuckDB that is used. It answers every query with the same rows."""

    class Error(Exception):
        """As in the package."""

    def __init__(self, *rows: str, problem: str = "") -> None:
        self.rows = [(row,) for row in rows]
        self.problem = problem
        self.asked: list[Any] = []

    def connect(self, config: dict[str, str]) -> Database:
        assert config["memory_limit"] == "1GB"
        return self

    def execute(self, query: str, values: list[str]) -> Database:
        self.asked.append((query, values))
        if self.problem:
            raise self.Error(self.problem)
        return self

    def fetchmany(self, count: int) -> list[tuple[str]]:
        found, self.rows = self.rows[:count], self.rows[count:]
        return found

    def close(self) -> None:
        self.asked.append("closed")


def test_rows_of_a_table_are_traces() -> None:
    database = Database(
        '{"id": "1", "messages": "[{\\"role\\": \\"user\\"}]"}', "[]", '{"prompt": "[not json"}'
    )
    found = list(by_duckdb(Part("t.parquet", "/t.parquet"), database))
    assert found == [{"id": "1", "messages": [{"role": "user"}]}, [], {"prompt": "[not json"}]
    assert "read_parquet" in database.asked[0][0]
    assert database.asked[0][1] == ["/t.parquet"]
    assert database.asked[-1] == "closed"
    lines = Database('{"id": "1"}')
    assert list(by_duckdb(Part("s3://b/*.jsonl.gz", "s3://b/*.jsonl.gz"), lines)) == [{"id": "1"}]
    assert "read_json_objects" in lines.asked[0][0]


def test_what_a_database_cannot_read_is_one_error() -> None:
    part = Part("t.parquet", "/t.parquet")
    problem = "Failed to download:\n the host\tis away\n\nLINE 1: SELECT json FROM\n    ^"
    for path, step in (("t.parquet", "one a line"), ("s3://bucket/t.parquet", "credentials")):
        with pytest.raises(UsageError) as caught:
            list(by_duckdb(Part(path, path), Database(problem=problem)))
        assert caught.value.message == f"DuckDB cannot read {path}: Failed to download: the host is away"
        assert step in caught.value.next_steps[0]
    with pytest.raises(UsageError, match=r"t\.parquet:2: this is not JSON"):
        list(by_duckdb(part, Database("{}", '{"messages": "[broken"}')))


def test_a_folder_of_a_bench_run_stands_for_its_records(tmp_path: Path) -> None:
    (tmp_path / "runs/today").mkdir(parents=True)
    (tmp_path / "runs/today/records.jsonl").write_bytes(lines(ITEMS))
    assert everything(tmp_path, "runs/today") == ITEMS
    with pytest.raises(UsageError, match=r"'runs' is a folder without records\.jsonl"):
        everything(tmp_path, "runs")


def test_a_suite_is_read_by_id(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"id": "a", "prompt": "x"}\n{"prompt": "y"}\n[]\n')
    assert read_suite("s.jsonl", tmp_path) == {"a": {"id": "a", "prompt": "x"}}


def test_a_part_that_begins_behind_the_last_line_is_empty(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"id": 1}')
    assert list(read(Part("a.jsonl", str(tmp_path / "a.jsonl"), 5, 20))) == []


def digits(work: Work, engine: str = "local") -> dict[str, Any]:
    return judge(replay(work, engine).tally, work.options)


def test_several_processes_give_the_same_digits(tmp_path: Path) -> None:
    traffic.write(tmp_path / "a.jsonl", traffic.edit(20), traffic.quoting(20))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines(list(traffic.narrow(20)))))
    options = Options(lengths=(2, 3), draft_tokens=(2, 8))
    files = ("a.jsonl", "b.jsonl.gz")
    environ = {"PYTHONPATH": str(Path(__file__).parents[2])}
    alone = digits(Work(files, tmp_path, options))
    told: list[tuple[int, int]] = []
    work = Work(files, tmp_path, options, jobs=3, environ=environ, part_bytes=5000)
    found = replay(work, progress=lambda done, total: told.append((done, total)))
    assert judge(found.tally, options) == alone
    assert told[-1] == (len(parts(files, tmp_path, part_bytes=5000)),) * 2
    assert alone["overall"]["n_requests"] == 60


def test_a_sample_is_of_conversations_and_spread_over_all_splits(tmp_path: Path) -> None:
    traffic.write(tmp_path / "a.jsonl", traffic.chat(400))
    options = Options(lengths=(2,), draft_tokens=(2,), index_tokens=0, share=0.25)
    found = digits(Work(("a.jsonl",), tmp_path, options))
    counts = found["overall"]
    assert counts["n_requests"] + found["left_out"]["not in the sample of --share"] == 400
    assert 70 < counts["n_requests"] < 130  # 100, give or take three deviations of 9
    assert counts["n_judged"] == pytest.approx(counts["n_requests"] / 2, abs=15)


def test_an_error_of_a_worker_is_told_like_ones_own(tmp_path: Path) -> None:
    traffic.write(tmp_path / "a.jsonl", traffic.chat(5))
    (tmp_path / "b.jsonl").write_text('{"id": "1", "prompt": "a", "completion": "b"}\n{nonsense\n')
    options = Options(lengths=(2,), draft_tokens=(2,), index_tokens=0)
    environ = {"PYTHONPATH": str(Path(__file__).parents[2])}
    with pytest.raises(UsageError, match=r"b\.jsonl:2: this is not JSON"):
        replay(Work(("a.jsonl", "b.jsonl"), tmp_path, options, jobs=2, environ=environ))


def test_a_worker_reads_its_job_and_leaves_its_result(tmp_path: Path) -> None:
    traffic.write(tmp_path / "a.jsonl", traffic.edit(20))
    work = Work(("a.jsonl",), tmp_path, Options(lengths=(2,), draft_tokens=(2, 8)))
    todo = parts(work.files, tmp_path)
    index = build_index(work, todo, approximate())
    assert index is not None
    (tmp_path / "index").write_bytes(index.to_bytes())
    (tmp_path / "job.json").write_text(json.dumps(job_of(work, todo, True)))
    worker.main(str(tmp_path / "job.json"))
    assert judge(unpacked(json.loads((tmp_path / "job.out").read_text())), work.options) == digits(work)
    broken = job_of(work, [Part("none", str(tmp_path / "none"))], False)
    with pytest.raises(UsageError, match="cannot read none"):
        unpacked(run_job(broken, None))
    with pytest.raises(FwctlError, match="oops"):
        unpacked({"message": "oops", "next_steps": [], "usage": False})


def test_a_worker_that_dies_is_told(tmp_path: Path) -> None:
    traffic.write(tmp_path / "a.jsonl", traffic.edit(5))
    traffic.write(tmp_path / "b.jsonl", traffic.edit(5))
    options = Options(lengths=(2,), draft_tokens=(2,), index_tokens=0)
    (tmp_path / "fwctl").mkdir()
    (tmp_path / "fwctl/__init__.py").write_text("raise SystemExit('out of order')")
    work = Work(("a.jsonl", "b.jsonl"), tmp_path, options, jobs=2, environ={"PYTHONPATH": str(tmp_path)})
    with pytest.raises(FwctlError, match="without a result: out of order"):
        replay(work)


class Cluster:
    """The part of Ray that is used; tasks run when they are asked for, the last one first."""

    def __init__(self) -> None:
        self.started: list[dict[str, Any]] = []
        self.stopped = False

    def is_initialized(self) -> bool:
        return False

    def init(self, **settings: Any) -> None:
        self.started.append(settings)

    def shutdown(self) -> None:
        self.stopped = True

    def put(self, value: bytes) -> bytes:
        return value

    def remote(self, function: Any) -> Any:
        return SimpleNamespace(remote=lambda *values: lambda: json.loads(json.dumps(function(*values))))

    def wait(self, waiting: list[Any]) -> tuple[list[Any], list[Any]]:
        return waiting[-1:], waiting[:-1]

    def get(self, task: Any) -> Any:
        return task()


@pytest.mark.parametrize(
    ("environ", "settings"),
    [({}, {"num_cpus": 2, "include_dashboard": False}), ({"RAY_ADDRESS": "auto"}, {})],
)
def test_parts_of_a_cluster_add_up_to_the_same_digits(
    tmp_path: Path, environ: dict[str, str], settings: dict[str, Any]
) -> None:
    traffic.write(tmp_path / "a.jsonl", traffic.edit(20), traffic.narrow(20))
    work = Work(("a.jsonl",), tmp_path, Options(lengths=(2,), draft_tokens=(2, 8)), jobs=2, environ=environ)
    todo = parts(work.files, tmp_path, part_bytes=4000)
    assert len(todo) > 3
    ray, told = Cluster(), []

    def progress(done: int, total: int) -> None:
        told.append((done, total))

    for index in (build_index(work, todo, approximate()), None):
        expected = judge(replay_parts(work, todo, index), work.options)
        assert judge(replay_on_ray(work, todo, index, ray, progress), work.options) == expected
    assert told == [(done, len(todo)) for done in range(1, len(todo) + 1)] * 2
    assert ray.started[0] == {"log_to_driver": False, "logging_level": "ERROR", **settings}
    assert ray.stopped


@pytest.mark.skipif(has("ray"), reason="Ray is installed")
def test_a_missing_cluster_extra_says_which_install_brings_it(tmp_path: Path) -> None:
    traffic.write(tmp_path / "a.jsonl", traffic.chat(5))
    with pytest.raises(FwctlError) as caught:
        replay(Work(("a.jsonl",), tmp_path, Options()), "ray")
    assert caught.value.next_steps[0] == "pip install 'fwctl[cluster]'"


@pytest.mark.skipif(not has("ray"), reason="needs the extra cluster")
def test_a_local_ray_gives_the_same_digits(tmp_path: Path) -> None:
    traffic.write(tmp_path / "a.jsonl", traffic.edit(20), traffic.quoting(20), traffic.narrow(20))
    options = Options(lengths=(2, 3), draft_tokens=(2, 8))
    work = Work(("a.jsonl",), tmp_path, options, jobs=2, environ=dict(os.environ), part_bytes=20_000)
    assert len(parts(work.files, tmp_path, part_bytes=work.part_bytes)) > 2
    assert digits(work, "ray") == digits(replace(work, jobs=1))
