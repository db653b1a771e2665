"""A day of the watch against the simulator: `firectl-sim` as a process, its clock moved on between looks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fwctl.cli.command import Call
from fwctl.cli.metrics_page import MetricsPage
from fwctl.cli.options import Settings
from fwctl.cli.output import Output
from fwctl.cli.session import Session, load_specs, require_valid
from fwctl.cli.watch_loop import Watch
from fwctl.cli.watch_reading import Sources
from fwctl.operate.watch_config import WatchConfig
from fwctl.operate.watch_state import Event
from fwctl.spec.model import Spec
from tests.cli.support import SPEC, fwctl, make_env

START = datetime(2026, 10, 1, tzinfo=UTC)
STEP = timedelta(minutes=5)
ID = "chat"
LATE = (
    *("deployment", "create", "accounts/fireworks/models/llama-v3p1-8b-instruct", "--deployment-id", "late"),
    *("--deployment-shape", "fast", "--region", "US"),
    *("--min-replica-count", "1", "--max-replica-count", "1"),
)
# Time of day -> what happens then.
SCRIPT: dict[tuple[int, int], tuple[tuple[str, ...], ...]] = {
    (2, 0): (("sim", "traffic", ID, "--concurrency", "200"),),  # more than two replicas carry
    (4, 0): (("sim", "traffic", ID, "--concurrency", "0"),),
    (6, 0): (LATE, ("sim", "stall", "late")),
    (8, 0): (("sim", "unstall", "late"),),
    (10, 0): (("sim", "fail", "late", "--message", "out of capacity"),),
    (12, 0): (("deployment", "delete", "late", "--ignore-checks"),),
}


class Clock:
    """Stands still until the test moves it, as the simulator's does."""

    def __init__(self) -> None:
        self.at = START

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return (self.at - START).total_seconds()

    def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing waits here")


class World:
    """One folder with specs, a simulator and a watch."""

    def __init__(self, folder: Path) -> None:
        (folder / "configs").mkdir()
        text = SPEC.replace("stack: test\n", "stack: test\nbudget: {ceiling_usd_per_hour: 12}\n")
        (folder / "configs" / "chat.yaml").write_text(text)
        self.clock = Clock()
        self.environ = {
            "FWCTL_FIRECTL": "sim",
            "FIRECTL_SIM_HOME": str(folder / "sim"),
            "FIRECTL_SIM_NOW": "2026-10-01T00:00:00Z",
        }
        self.folder = folder
        env = replace(make_env(folder, self.environ), clock=self.clock)
        self.call = Call(env, Settings(firectl="sim"), Output(env))

    def firectl(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "fwctl.simulator", *words],
            cwd=self.folder,
            env={**self.environ, "PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    def advance(self, step: timedelta) -> None:
        self.firectl("sim", "clock-advance", f"{step.seconds}s")
        self.clock.at += step

    def create(self) -> Spec:
        """The deployment of the specs, just asked for."""
        model = "accounts/fireworks/models/llama-v3p1-8b-instruct"
        self.firectl(
            *("deployment", "create", model, "--deployment-id", ID, "--deployment-shape", "fast"),
            *("--region", "US", "--min-replica-count", "1", "--max-replica-count", "2"),
        )
        return require_valid(self.call, load_specs(self.call, [str(self.folder / "configs")]))


def lived(world: World) -> Iterator[Event]:
    """The day; the watch is started anew every six hours."""
    spec = world.create()
    with Session(world.call, "acme") as session:
        sources = Sources(world.call, session, spec, MetricsPage(world.call, None, None))
        for step in range(288):
            if step % 72 == 0:
                watch = Watch(world.call, "acme", WatchConfig(), sources.look, lambda _url, _body: None)
            at = world.clock.at
            for words in SCRIPT.get((at.hour, at.minute), ()):
                world.firectl(*words)
            yield from watch.once()[1]
            world.advance(STEP)


# By hand from the script, the table of rules, and the simulator's 65 s of start-up and 10 min of window.
EXPECTED = [
    ("00:00", "fired", "cold-start", ID, "interactive traffic meets no ready replica: 1 wanted"),
    ("00:10", "resolved", "cold-start", ID, ""),  # ready at 00:05, quiet for a minute at the next look
    ("02:10", "fired", "at-max-replicas", ID, "2 of at most 2 replicas are ready and 2 are wanted"),
    ("02:10", "fired", "over-budget", "acme", "cost $16.00 an hour, $12.00 is the budget (chat $16.00)"),
    ("04:15", "resolved", "at-max-replicas", ID, ""),  # the window ends at 04:10
    ("04:15", "resolved", "over-budget", "acme", ""),
    ("06:35", "fired", "stuck", "late", "CREATING for 35m"),  # the first look after half an hour
    ("08:00", "resolved", "stuck", "late", ""),
    ("08:05", "fired", "over-budget", "acme", "(chat $8.00, late $8.00)"),
    ("10:00", "fired", "failed", "late", "its state is FAILED: out of capacity"),
    ("10:05", "resolved", "over-budget", "acme", ""),
    ("12:00", "resolved", "failed", "late", ""),
]


@pytest.mark.deep
def test_each_incident_of_a_day_is_told_once_and_ends_once(tmp_path: Path) -> None:
    events = list(lived(World(tmp_path)))
    told = [(f"{item.at:%H:%M}", item.kind, item.alert.rule, item.alert.label) for item in events]
    assert told == [row[:4] for row in EXPECTED]
    for event, row in zip(events, EXPECTED, strict=True):
        assert row[4] in event.alert.evidence


@pytest.mark.deep
def test_samples_and_the_export_of_the_simulator_agree(tmp_path: Path) -> None:
    """Six hours with a round every three minutes. Billed are 5 h 58 min 55 s of the first replica, and
    what the second ran from soon after 03:00 on; each start is seen up to three minutes late."""
    world = World(tmp_path)
    spec = world.create()
    with Session(world.call, "acme") as session:
        sources = Sources(world.call, session, spec, MetricsPage(world.call, None, None))
        watch = Watch(world.call, "acme", WatchConfig(), sources.look, lambda _url, _body: None)
        for minute in range(0, 361, 3):
            if minute == 180:
                world.firectl("sim", "traffic", ID, "--concurrency", "200")
            watch.once()
            if minute < 360:
                world.advance(timedelta(minutes=3))
    words = ("cost", "--account", "acme", "--fetch-billing", "--from", "2026-10-01", "--to", "2026-10-01")
    done = fwctl(replace(make_env(tmp_path, world.environ), clock=world.clock), *words, "--format", "json")
    assert done.code == 0, done.err
    (row,) = done.document["reconciliation"]
    assert row["agrees"], row
    assert 8.8 < row["sampled_gpu_hours"] <= row["billed_gpu_hours"] < 9.0
    assert done.document["days"][0]["usd"] == pytest.approx(8 * row["sampled_gpu_hours"], abs=1e-4)
    assert done.document["gaps"] == []
