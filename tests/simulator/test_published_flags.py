"""The simulator's own flag table against the published one, build by build."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fwctl.simulator import profiles
from fwctl.simulator.commands.registry import commands, exists, flags_of
from fwctl.simulator.commands.table import GLOBAL

PUBLISHED = json.loads((Path(__file__).parent.parent / "data" / "published_flags.json").read_text())
# Version of a build of each era (docs, release notes; the page of 2026-07-13 predates 1.7.26).
VERSIONS = {"2025": (1, 7, 16), "2026-07": (1, 7, 25), "latest": (1, 8, 9)}


def _at_least(version: tuple[int, ...], since: str | None) -> bool:
    return since is None or version >= tuple(map(int, since.split(".")))


def _published(path: str, era: str) -> dict[str, str]:
    return {
        flag.removeprefix("--"): row["type"]
        for flag, row in PUBLISHED["commands"][path]["flags"].items()
        if era in row["eras"] and _at_least(VERSIONS[era], row.get("since_version"))
    }


def _own(path: str, era: str) -> dict[str, str]:
    return {flag.name: flag.kind for flag in flags_of(commands()[path], profiles.load(era))}


@pytest.mark.parametrize("era", VERSIONS)
@pytest.mark.parametrize("path", [path for path in PUBLISHED["commands"] if path.startswith("deployment ")])
def test_deployment_commands_have_exactly_the_published_flags(path: str, era: str):
    published = PUBLISHED["commands"][path]
    there = _at_least(VERSIONS[era], published.get("since_version"))
    assert exists(commands()[path], profiles.load(era)) == there
    if there:
        assert _own(path, era) == _published(path, era)


@pytest.mark.parametrize("path", PUBLISHED["commands"])
def test_no_published_flag_is_missing(path: str):
    own = _own(path, "latest")
    published = _published(path, "latest")
    assert {name: own.get(name) for name in published} == published


def test_short_forms_are_the_published_ones():
    rows = [*GLOBAL, *(flag for path in PUBLISHED["commands"] for flag in commands()[path].flags)]
    own = {f"--{flag.name}": f"-{flag.short}" for flag in rows if flag.short and not flag.hidden}
    published = {
        flag: row["short"]
        for flags in (PUBLISHED["global_flags"], *(c["flags"] for c in PUBLISHED["commands"].values()))
        for flag, row in flags.items()
        if "short" in row and flag != "--help"
    }
    assert own == published


def test_global_flags_are_the_published_ones():
    visible = {f"--{flag.name}" for flag in GLOBAL if not flag.hidden}
    assert visible == set(PUBLISHED["global_flags"]) - {"--help"}


@pytest.mark.parametrize("path", PUBLISHED["commands"])
def test_positionals_are_the_published_ones(path: str):
    args = PUBLISHED["commands"][path]["args"]
    command = commands()[path]
    assert (command.least, command.most) == (sum(not a.startswith("[") for a in args), len(args))
