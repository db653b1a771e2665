"""Faults on purpose, as far as they can be shown inside one process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fwctl.simulator import faults
from tests.simulator.support import Sim


@pytest.fixture
def sim(tmp_path: Path) -> Sim:
    made = Sim(tmp_path)
    made.create("a")
    made.create("b")
    return made


def add(sim: Sim, *words: str) -> None:
    sim.ok("faults", "add", *words)


def test_the_nth_matching_call_fails_with_a_code(sim: Sim):
    add(
        sim,
        "error",
        "--match",
        "deployment get*",
        "--nth",
        "2",
        "--code",
        "DeadlineExceeded",
        "--message",
        "slow",
    )
    assert [sim("deployment", "get", "a").code for _ in range(3)] == [0, 1, 0]
    assert sim("deployment", "list").code == 0
    (row,) = sim.ok("faults", "list", "-o", "json").json
    assert (row["matched"], row["id"]) == (3, 1)
    assert sim.ok("faults", "list").stdout.splitlines()[1].split() == [
        "error",
        "deployment",
        "get*",
        "2",
        "1",
        "3",
    ]
    sim.ok("faults", "clear")
    assert sim.ok("faults", "list", "-o", "json").json == []


def test_an_error_before_the_effect_leaves_nothing_and_after_it_everything(sim: Sim):
    add(sim, "error", "--match", "deployment delete a")
    result = sim("deployment", "delete", "a")
    assert result.stderr.endswith("rpc error: code = Unavailable desc = injected fault\n")
    assert sim.get("a")["state"] == "CREATING"
    add(sim, "error", "--match", "deployment delete a", "--when", "after", "--nth", "1")
    assert sim("deployment", "delete", "a").code == 1
    assert sim.get("a")["state"] == "DELETING"


def test_all_calls_from_one_on(sim: Sim):
    add(sim, "error", "--nth", "2", "--times", "0", "--match", "deployment list*")
    assert [sim("deployment", "list").code for _ in range(4)] == [0, 1, 1, 1]


def test_an_exit_code_without_a_word(sim: Sim):
    add(sim, "exit", "--exit-code", "7")
    result = sim("deployment", "list")
    assert (result.code, result.stderr) == (7, "")
    assert result.stdout != ""
    add(sim, "exit", "--when", "before", "--nth", "1")
    assert sim("deployment", "list").stdout == ""


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_noise_of_any_size_on_either_stream(sim: Sim, stream: str):
    add(sim, "noise", "--stream", stream, "--bytes", "100000", "--message", "hello")
    text = getattr(sim.ok("deployment", "list"), stream)
    assert text.startswith("hello\nxxx")
    assert len(text) >= 100_000


def test_truncated_and_empty_output(sim: Sim):
    add(sim, "truncate", "--bytes", "25")
    assert len(sim.ok("deployment", "list", "-o", "json").stdout) == 25
    add(sim, "empty", "--match", "deployment get*")
    assert sim.ok("deployment", "get", "a").stdout == ""


def test_a_lost_page(sim: Sim):
    add(sim, "lose_page")
    assert len(sim.ok("deployment", "list", "-o", "json").json) == 1
    assert len(sim.ok("deployment", "list", "-o", "json").json) == 2


def test_state_changed_behind_the_back(sim: Sim):
    add(sim, "mutate", "name=a", "field=displayName", "value=theirs", "--match", "deployment update*")
    sim.ok("deployment", "update", "a", "--description", "mine")
    row = sim.get("a")
    assert (row["display_name"], row["description"]) == ("theirs", "mine")
    add(sim, "vanish", "name=a", "--match", "deployment get*")
    assert sim("deployment", "get", "a").code == 1
    add(sim, "mutate", "name=gone", "--match", "deployment list*")
    sim.ok("deployment", "list")


def test_slow_calls_go_on(sim: Sim):
    add(sim, "slow", "--seconds", "0.01")
    sim.ok("deployment", "list")
    add(sim, "hang", "--seconds", "0.01", "--nth", "1")
    sim.ok("deployment", "list")


def test_garbage_needs_a_real_stream(sim: Sim):
    add(sim, "garbage")
    sim.ok("deployment", "list")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.json", json.dumps([{"kind": "error", "match": "deployment list*"}])),
        ("f.yaml", "faults:\n  - kind: error\n    match: deployment list*\n"),
    ],
)
def test_rules_from_a_file(sim: Sim, name: str, text: str):
    (sim.folder / name).write_text(text)
    environ = {"FIRECTL_SIM_FAULTS": name}
    assert sim("deployment", "list", **environ).code == 1
    assert sim("deployment", "list", **environ).code == 0
    assert len(sim.ok("faults", "list", "-o", "json", **environ).json) == 1


@pytest.mark.parametrize("text", ["5", "[5]", "{", "[{kind: nope}]", "a: [", '{"faults": 5}'])
def test_bad_files_are_one_line(sim: Sim, text: str):
    (sim.folder / "f.yaml").write_text(text)
    result = sim("deployment", "list", FIRECTL_SIM_FAULTS="f.yaml")
    assert result.code == 1
    assert result.stderr.startswith("firectl-sim: ")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["explode"],
        ["error", "--when", "later"],
        ["noise", "--stream", "both"],
        ["slow", "--seconds", "many"],
    ],
)
def test_bad_rules_are_refused(sim: Sim, words: list[str]):
    assert "fault" in sim("faults", "add", *words).stderr


def test_every_kind_can_be_added(sim: Sim):
    for kind in faults.KINDS:
        add(sim, kind, "--nth", "1000000")
    assert len(sim.ok("faults", "list", "-o", "json").json) == len(faults.KINDS)


def test_control_commands_are_never_hit(sim: Sim):
    add(sim, "error", "--times", "0")
    sim.ok("sim", "status")
    sim.ok("faults", "clear")
