"""kill -9 and the simulator's faults at every point of an apply: the next run makes it good.

A sample runs with the suite; `make test-deep` runs the whole.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fwctl.planning.digest import digest
from tests.contract.apply_stories import STORIES, Story
from tests.contract.apply_support import ROOT, Cell, serving, spec

SEED = 20261201
SAMPLED_KILLS = 5
SAMPLED_FAULTS = 6
MOST_POINTS = 40

# One row a kind of trouble that a firectl call can meet; nth and match are filled in.
FAULTS: dict[str, dict[str, Any]] = {
    "unavailable before": {"kind": "error", "code": "Unavailable", "message": "try again"},
    "unavailable after": {"kind": "error", "code": "Unavailable", "message": "try again", "when": "after"},
    "internal after": {"kind": "error", "code": "Internal", "message": "oops", "when": "after"},
    "deadline after": {"kind": "error", "code": "DeadlineExceeded", "message": "late", "when": "after"},
    "quota": {"kind": "error", "code": "ResourceExhausted", "message": "quota exceeded"},
    "killed before": {"kind": "crash", "when": "before"},
    "killed after": {"kind": "crash", "when": "after"},
    "silent exit before": {"kind": "exit", "exit_code": 3, "when": "before"},
    "silent exit after": {"kind": "exit", "exit_code": 3, "when": "after"},
    "hangs before": {"kind": "hang", "when": "before"},
    "hangs after": {"kind": "hang", "when": "after"},
    "five megabytes": {"kind": "noise", "bytes": 5_000_000, "stream": "stderr"},
    "cut output": {"kind": "truncate"},
    "no output": {"kind": "empty"},
    "bytes": {"kind": "garbage", "stream": "stdout"},
}
# The mutating commands of each change, for the whole matrix.
VERBS = {
    "create": ("deployment create", "deployment tag"),
    "update": ("deployment update", "deployment tag"),
    "restart": ("deployment update", "deployment tag"),
    "park": ("deployment update", "deployment tag"),
    "prune": ("deployment delete",),
    "adapters": ("deployment update", "load-lora"),
    "router": ("deployment create", "router"),
    "recreate": ("deployment delete", "deployment create", "deployment tag"),
    "blue-green": ("deployment create", "deployment update", "deployment delete", "deployment tag"),
}
HANG_DEADLINE_S = 1.5


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serving() as address:
        yield address


@dataclass
class Bench:
    """Starting points and end states, made once a story."""

    folder: Path
    endpoint: str
    known: dict[str, tuple[Path, dict[str, Any], int]]

    def cell(self, folder: Path) -> Cell:
        return Cell(
            folder, {"FIREWORKS_BASE_URL": self.endpoint, "XDG_CACHE_HOME": str(self.folder / "cache")}
        )

    def undisturbed(self, name: str) -> tuple[Path, dict[str, Any], int]:
        """Folder to start from, the end state, and the number of crash points on the way."""
        if name not in self.known:
            story, start, goal = STORIES[name], self.folder / f"{name}-start", self.folder / f"{name}-end"
            cell = self.cell(start)
            if story.before:
                cell.apply(spec(*story.before))
            shutil.rmtree(start / ".fwctl", ignore_errors=True)
            shutil.copytree(start, goal)
            ended = child(self.cell(goal), name, 0)
            assert ended.returncode == 0, ended.stderr
            points = int(ended.stdout)
            assert points > 0, f"{name} changes nothing"
            self.known[name] = start, self.cell(goal).everything(), points
        return self.known[name]

    def fresh(self, name: str, folder: Path) -> Cell:
        start, _, _ = self.undisturbed(name)
        shutil.copytree(start, folder)
        return self.cell(folder)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, endpoint: str) -> Bench:
    return Bench(tmp_path_factory.mktemp("stories"), endpoint, {})


def child(cell: Cell, name: str, nth: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.contract.apply_child", name, str(cell.folder), str(nth)],
        env=cell.environ,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def made_good(cell: Cell, story: Story) -> None:
    """Plans and applies until nothing is left to do."""
    for _ in range(4):
        planned = cell.plan(story.wanted, **story.plan_options)
        if all(change.actions == ("no-op",) for change in planned.changes):
            return
        cell.apply(story.wanted, planned)
    raise AssertionError(f"no end: {digest(planned)} {[(c.actions, c.reason) for c in planned.changes]}")


def killed_and_made_good(bench: Bench, folder: Path, name: str, nth: int, *, keeps_files: bool) -> None:
    _, end, _ = bench.undisturbed(name)
    cell = bench.fresh(name, folder)
    ended = child(cell, name, nth)
    assert ended.returncode == -9, (ended.stdout, ended.stderr)
    if not keeps_files:
        cell.forget()
    made_good(cell, STORIES[name])
    assert cell.everything() == end


@dataclass(frozen=True)
class Trouble:
    """The nth call of a verb meets a fault."""

    fault: str
    verb: str
    nth: int


def faulted_and_made_good(bench: Bench, folder: Path, name: str, trouble: Trouble) -> None:
    _, end, _ = bench.undisturbed(name)
    story, cell = STORIES[name], bench.fresh(name, folder)
    rule = FAULTS[trouble.fault]
    cell.fault(match=f"{trouble.verb}*", nth=trouble.nth, **rule)
    timeout_s = HANG_DEADLINE_S if rule["kind"] == "hang" else 20.0
    cell.apply(story.wanted, plan_options=dict(story.plan_options), timeout_s=timeout_s)
    cell.no_faults()
    made_good(cell, story)
    assert cell.everything() == end


def sample(count: int, names: list[str], *rows: list[Any]) -> list[tuple[Any, ...]]:
    """`count` combinations of different names, always the same ones for one seed."""
    draw = random.Random(SEED)
    return [(name, *(draw.choice(row) for row in rows)) for name in draw.sample(names, count)]


@pytest.mark.parametrize(
    ("name", "share", "keeps_files"),
    sample(SAMPLED_KILLS, list(STORIES), [0.1, 0.3, 0.5, 0.7, 0.9], [True, False]),
)
def test_a_killed_apply_is_made_good(
    bench: Bench, tmp_path: Path, name: str, share: float, keeps_files: bool
) -> None:
    print(f"seed {SEED}")
    _, _, points = bench.undisturbed(name)
    nth = max(1, round(points * share))
    killed_and_made_good(bench, tmp_path / "cell", name, nth, keeps_files=keeps_files)


@pytest.mark.parametrize(
    ("fault", "name", "nth"), sample(SAMPLED_FAULTS, list(FAULTS), ["create", "update", "blue-green"], [1, 2])
)
def test_a_call_in_trouble_is_made_good(
    bench: Bench, tmp_path: Path, fault: str, name: str, nth: int
) -> None:
    print(f"seed {SEED}")
    verb = "deployment update" if name == "update" else "deployment create"
    faulted_and_made_good(bench, tmp_path / "cell", name, Trouble(fault, verb, nth))


@pytest.mark.deep
@pytest.mark.parametrize("keeps_files", [True, False])
@pytest.mark.parametrize("nth", range(1, MOST_POINTS + 1))
@pytest.mark.parametrize("name", STORIES)
def test_every_crash_point_of_every_change(
    bench: Bench, tmp_path: Path, name: str, nth: int, keeps_files: bool
) -> None:
    _, _, points = bench.undisturbed(name)
    assert points <= MOST_POINTS
    if nth > points:
        pytest.skip("this change has fewer points")
    killed_and_made_good(bench, tmp_path / "cell", name, nth, keeps_files=keeps_files)


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_apply_killed_while_firectl_works_is_made_good_although_firectl_goes_on(
    bench: Bench, tmp_path: Path, when: str
) -> None:
    _, end, _ = bench.undisturbed("create")
    cell = bench.fresh("create", tmp_path / "cell")
    cell.fault(kind="hang", match="deployment create*", seconds=0.6, when=when)
    command = [sys.executable, "-m", "tests.contract.apply_child", "create", str(cell.folder), "-2"]
    with subprocess.Popen(command, env=cell.environ, cwd=ROOT, stdout=subprocess.PIPE) as apply:
        assert apply.stdout is not None
        assert apply.stdout.readline() == b"here\n"  # the intent is written, the call begins
        apply.kill()
    cell.no_faults()
    cell.forget()
    made_good(cell, STORIES["create"])
    assert cell.everything() == end


EVERY_TROUBLE = [
    (name, Trouble(fault, verb, nth))
    for name, verbs in VERBS.items()
    for verb in verbs
    for fault in FAULTS
    for nth in (1, 2)
]


@pytest.mark.deep
@pytest.mark.parametrize(("name", "trouble"), EVERY_TROUBLE, ids=str)
def test_every_fault_of_every_call_of_every_change(
    bench: Bench, tmp_path: Path, name: str, trouble: Trouble
) -> None:
    faulted_and_made_good(bench, tmp_path / "cell", name, trouble)
