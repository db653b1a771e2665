"""`fwctl experiment ...` from the command line to exit code and document, on the simulator."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from fwctl.cli.main import run
from fwctl.env import SystemClock
from fwctl.quality.experiments.state import Phase, Spending, State, save
from fwctl.records.folderlock import folder_lock
from fwctl.simulator.commands.app import run as firectl_sim
from tests.cli.support import make_env
from tests.quality.experiments.support import TEXT, write_files

MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
SHAPE = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast"
LONG_AGO, LATER = "20200101T0000Z", "20990101T0000Z"


class Place:
    """A folder with a simulator behind firectl."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variables = {
            "FWCTL_FIRECTL": "sim",
            "FIRECTL_SIM_HOME": str(folder / "sim"),
            "FIRECTL_SIM_SPEED": "600",
            "FIREWORKS_API_KEY": "fw_test",
            "PATH": "/usr/bin",
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder.parent / "cache"),
            "FWCTL_ACCOUNT": "acme",
        }

    def fwctl(self, *argv: str, **more: str) -> tuple[int, Any, str]:
        env: Any = make_env(self.folder, {**self.variables, **more})
        code = run([*argv, "--format", "json"], env)
        return code, json.loads(env.stdout.text()), env.stderr.text()

    def create(self, key: str, description: str) -> None:
        words = ("--deployment-shape", SHAPE, "--description", description, "--deployment-id", key)
        self.firectl("deployment", "create", MODEL, *words, "--min-replica-count", "0")

    def firectl(self, *words: str) -> str:
        out, err = io.StringIO(), io.StringIO()
        code = firectl_sim(words, self.variables, self.folder, (io.StringIO(), out, err))
        assert code == 0, err.getvalue()
        return out.getvalue()

    def ids(self) -> list[str]:
        rows = json.loads(self.firectl("deployment", "list", "-o", "json"))
        rows = rows["deployments"] if isinstance(rows, dict) else rows
        left = (item for item in rows if item["state"] != "DELETING")
        return sorted(item["name"].rpartition("/")[2] for item in left)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def state(phase: Phase, **more: Any) -> State:
    values: dict[str, Any] = {
        "name": "shapes",
        "account": "acme",
        "stack": "prod",
        "run": "20261130T120000Z",
        "digest": "0123456789ab",
        "phase": phase,
        "started": "2026-11-30T12:00:00+00:00",
        "expires": "2099-01-01T00:00:00+00:00",
        "cap_usd": 20.0,
        "spending": Spending(1.5, 8.0, "2026-11-30T12:10:00+00:00"),
        "candidates": {"bf16": "shapes-bf16-aaaa", "fp8": "shapes-fp8-bbbb"},
        "usd_per_hour": {"bf16": 8.0, "fp8": None},
    }
    return State(**{**values, **more})


def test_list_status_and_stop_tell_and_delete_what_markers_say(place: Place) -> None:
    place.create("shapes-bf16-aaaa", f"[fwctl prod/shapes--bf16 exp={LATER}]")
    place.create("older-x-cccc", f"[fwctl prod/older--x exp={LATER}]")
    place.create("chat", "[fwctl prod/chat]")
    place.create("over-y-dddd", f"[fwctl prod/over--y exp={LONG_AGO}]")
    save(place.folder / ".fwctl", state(Phase.MEASURING))
    code, found, _ = place.fwctl("experiment", "list", "--stack", "prod")
    assert code == 0
    assert [(row["name"], row["phase"], row["candidates"]) for row in found["experiments"]] == [
        ("older", None, ["older-x-cccc"]),
        ("over", None, ["over-y-dddd"]),
        ("shapes", "measuring", ["shapes-bf16-aaaa"]),
    ]
    assert [row["expired"] for row in found["experiments"]] == [False, True, False]
    code, found, _ = place.fwctl("experiment", "status", "shapes")
    rows = {row["name"]: row["state"] for row in found["experiment"]["candidates"]}
    assert (code, rows["fp8"], rows["bf16"] != "absent") == (0, "absent", True)
    assert found["experiment"]["spent_usd"] == 1.5
    code, found, _ = place.fwctl("experiment", "stop", "shapes", "--yes", "--poll-interval", "0.2s")
    assert (code, found["deleted"], found["experiment"]["phase"]) == (0, 2, "stopped")
    assert place.ids() == ["chat", "older-x-cccc"]


def test_stop_works_without_the_files_and_asks_before(place: Place) -> None:
    place.create("shapes-bf16-aaaa", f"[fwctl prod/shapes--bf16 exp={LATER}]")
    code, found, _ = place.fwctl("experiment", "stop", "shapes", "--stack", "prod")
    assert (code, found["error"]["code"]) == (4, "refused")
    words = ("experiment", "stop", "shapes", "--stack", "prod", "--yes", "--poll-interval", "0.2s")
    code, found, _ = place.fwctl(*words)
    assert (code, found["deleted"], found["experiment"]) == (0, 1, None)
    assert place.ids() == []


def test_a_stop_that_finds_nothing_names_what_still_runs(place: Place) -> None:
    place.create("shapes-bf16-aaaa", f"[fwctl prod/shapes--bf16 exp={LATER}]")
    env: Any = make_env(place.folder, place.variables)
    assert run(["experiment", "stop", "shapse", "--stack", "prod", "--yes"], env) == 0
    assert "marker of 'shapse' in stack 'prod'; experiments with candidates: shapes" in env.stderr.text()
    assert place.ids() == ["shapes-bf16-aaaa"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("status", "shapse"), 64, "knows no experiment 'shapse'"),
        (("status", "../etc"), 64, "is not 1 to 24 of lower-case"),
        (("stop", "A B", "--yes"), 64, "is not 1 to 24 of lower-case"),
        (("run", "no.yaml"), 3, "is no valid experiment"),
    ],
)
def test_wrong_words_are_refused(place: Place, words: tuple[str, ...], code: int, said: str) -> None:
    save(place.folder / ".fwctl", state(Phase.DONE))
    ended, found, _ = place.fwctl("experiment", *words)
    assert ended == code
    assert said in found["error"]["message"]


def test_without_a_key_nothing_is_created(place: Place) -> None:
    write_files(place.folder)
    code, found, _ = place.fwctl("experiment", "run", "experiment.yaml", "--yes", FIREWORKS_API_KEY="")
    assert (code, found["error"]["code"]) == (5, "auth")


def test_without_a_terminal_and_yes_nothing_is_created(place: Place) -> None:
    path = write_files(place.folder)
    path.write_text(TEXT.replace("-minimal", "-bf16").replace("-b200", "-throughput"))
    code, found, errors = place.fwctl("experiment", "run", "experiment.yaml")
    assert (code, found["error"]["code"]) == (4, "refused")
    assert "can rule out a loss of" in errors  # what the suite can show is said before
    assert "$8.00 an hour a replica" in errors
    assert place.ids() == []


def test_validate_reads_candidates_like_deployments(place: Place) -> None:
    path = place.folder / "experiment.yaml"
    path.write_text(TEXT.replace("region: US", "regoin: US"))
    code, found, _ = place.fwctl("validate", str(path))
    assert code == 3
    assert [(row["code"], row["line"], row["path"]) for row in found["diagnostics"]] == [
        ("FW201", 15, "/base/regoin")
    ]


def test_a_second_run_at_the_same_time_is_refused(place: Place) -> None:
    write_files(place.folder)
    lock = place.folder / ".fwctl/experiments/shapes/run.lock"
    with folder_lock(lock, SystemClock(), "fwctl experiment run"):
        code, found, _ = place.fwctl("experiment", "run", "experiment.yaml", "--yes")
    assert (code, found["error"]["code"]) == (4, "refused")
    assert "`fwctl experiment run`" in found["error"]["message"]
