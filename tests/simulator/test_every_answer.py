"""One deployment's life under every answer to every open question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fwctl.simulator.profiles import NAMES, SWITCHES
from tests.simulator.support import FAST, MODEL, Sim

ANSWERS = [f"latest,{name}={answer}" for name, row in SWITCHES.items() for answer in row.answers]


def rows(text: str) -> list[dict[str, object]]:
    """A list in either wrapping, with or without notices around it; nothing means empty."""
    at = min((text.find(mark) for mark in "[{" if mark in text), default=-1)
    if at < 0:
        return []
    found, _ = json.JSONDecoder().raw_decode(text[at:])
    return list(found) if isinstance(found, list) else list(found["deployments"])


@pytest.mark.parametrize("profile", [*NAMES, *ANSWERS])
def test_a_deployment_lives_and_dies(tmp_path: Path, profile: str):
    sim = Sim(tmp_path, FIRECTL_SIM_PROFILE=profile, FIREWORKS_API_KEY="fw_test")
    listing = ["deployment", "list", "-o", "json"]
    assert rows(sim.ok(*listing).stdout) == []
    sim.create("chat", "--min-replica-count", "1", "--wait", "--region", "us")
    (row,) = rows(sim.ok(*listing).stdout)
    assert row["state"] == "READY"
    sim.ok("deployment", "update", "chat", "--max-replica-count", "2")
    assert "Max Replica Count: 2" in sim.ok("deployment", "get", "chat").stdout
    again = sim("deployment", "create", MODEL, "--deployment-shape", FAST, "--deployment-id", "chat")
    assert (again.code, "code = AlreadyExists" in again.stderr) == (1, True)
    sim.ok("deployment", "delete", "chat", "--wait")
    assert rows(sim.ok(*listing).stdout) == []
    deleted = sim(*listing, "--show-deleted")
    if "list_show_deleted=no" in profile:
        assert "unknown flag: --show-deleted" in deleted.stderr
    else:
        assert [row["state"] for row in rows(deleted.stdout)] == ["DELETED"]
    sim.ok("deployment", "undelete", "chat")
    sim.ok("deployment", "delete", "chat", "--hard", "--wait")
    assert sim("deployment", "get", "chat").code == 1
