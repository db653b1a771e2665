"""docs/json.md is true: its tables list exactly the keys of real documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import SPEC
from tests.contract.cli_support import ROOT, Sandbox

ENVELOPE = {"format_version", "command", "ok", "exit_code", "diagnostics"}


def documented() -> dict[str, set[str]]:
    """Heading -> keys of the first column of its table."""
    found: dict[str, set[str]] = {}
    for section in (ROOT / "docs/json.md").read_text().split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
        found[title] = {key for cell in cells for key in re.findall(r"`([^`]+)`", cell)}
    return found


DOCS = documented()


def keys(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    return {key for row in rows for key in row}


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """One real document of each command."""
    box = Sandbox(tmp_path_factory.mktemp("json"), near=True)
    box.write(SPEC)
    json = ("--format", "json")
    found = {
        "validate": box.fwctl("validate", *json),
        "fit-check": box.fwctl("fit-check", *json),
        "plan": box.fwctl("plan", "--out", "p.json", *json),
        "show": box.fwctl("show", "p.json", *json),
        "apply": box.fwctl("apply", "--yes", *json),
        "status": box.fwctl("status", *json),
    }
    box.firectl("deployment", "update", "chat", "--max-replica-count", "4")
    found["drifted"] = box.fwctl("plan", *json)
    box.write("apiVersion: fwctl/v1\n")
    found["invalid"] = box.fwctl("validate", *json)
    return {name: done.document for name, done in found.items()}


def test_every_document_has_the_envelope(documents: dict[str, dict[str, Any]]) -> None:
    assert DOCS["Every document"] == ENVELOPE | {"error"}
    for document in documents.values():
        assert set(document) >= ENVELOPE
        assert document["ok"] is ("error" not in document)
    assert keys(documents["invalid"]["diagnostics"]) == DOCS["diagnostics"]
    assert set(documents["invalid"]["error"]) == DOCS["error"]


@pytest.mark.parametrize(
    ("heading", "command"),
    [
        ("validate", "validate"),
        ("fit-check", "fit-check"),
        ("plan and show", "plan"),
        ("plan and show", "show"),
        ("apply", "apply"),
        ("status", "status"),
    ],
)
def test_a_commands_own_keys_are_listed(
    documents: dict[str, dict[str, Any]], heading: str, command: str
) -> None:
    assert set(documents[command]) - ENVELOPE == DOCS[heading]


@pytest.mark.parametrize(
    ("heading", "command", "key"),
    [
        ("results of fit-check", "fit-check", "results"),
        ("changes of a plan", "plan", "changes"),
        ("results of apply", "apply", "results"),
        ("deployments of status", "status", "deployments"),
    ],
)
def test_keys_of_rows_are_listed(
    documents: dict[str, dict[str, Any]], heading: str, command: str, key: str
) -> None:
    assert keys(documents[command][key]) == DOCS[heading]


def test_fields_and_parts_of_a_plan_are_listed(documents: dict[str, dict[str, Any]]) -> None:
    plan, drifted = documents["plan"], documents["drifted"]
    assert (
        keys(field for change in plan["changes"] for field in change["fields"]) == DOCS["fields of a change"]
    )
    text = (ROOT / "docs/json.md").read_text()
    for row in (*plan["checks"], *drifted["drift"], plan["cost"], plan["summary"]):
        for key in row:
            assert f"`{key}`" in text, key


def test_the_document_written_beside_the_text_is_the_same(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, near=True)
    box.write()
    box.fwctl("validate", "--json-out", "v.json")
    assert (tmp_path / "v.json").read_text() == box.fwctl("validate", "--format", "json").out
