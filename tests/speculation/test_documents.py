"""docs/json.md and docs/speculation.md say what the commands and the arithmetic really give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fwctl.cli.main import run
from tests.cli.support import SPEC, make_env
from tests.contract.test_cli_json import DOCS, ENVELOPE, keys
from tests.speculation import traffic
from tests.speculation.published import PUBLISHED, fit
from tests.speculation.test_commands import document

PAGE = Path(__file__).parents[2] / "docs/speculation.md"
JSON_PAGE = PAGE.with_name("json.md")


def test_the_keys_of_explain_are_listed(tmp_path: Path) -> None:
    found = document(tmp_path, "explain", "--acceptance", "0.5")
    listed = DOCS["speculate explain"]
    assert set(found) - ENVELOPE == listed
    assert keys(found["by_draft_tokens"]) <= listed | {"speedup"}


def test_the_keys_of_replay_are_listed(tmp_path: Path) -> None:
    traffic.write(tmp_path / "t.jsonl", traffic.quoting(30))
    found = document(tmp_path, "replay", "t.jsonl", "--lengths", "2", "--draft-tokens", "4")
    assert set(found) - ENVELOPE == DOCS["speculate replay"]
    [item] = found["by_type"].values()
    assert set(item) == DOCS["types of a replay"]
    text = JSON_PAGE.read_text()
    for key in set(item["recommendation"]) | keys(item["grid"]):
        assert f"`{key}`" in text, key
    assert keys(item["sources"]) == DOCS["sources of a replay"]
    assert set(found["overall"]) == set(item)


def test_the_table_of_the_published_case_is_what_the_module_computes() -> None:
    rows = re.findall(
        r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) x \| ([\d.]+) x \| ([\d.]+) % \|$",
        PAGE.read_text(),
        re.MULTILINE,
    )
    assert len(rows) == 4
    for row in rows:
        found = fit(PUBLISHED, int(row[0]))
        shown = (
            f"{found.ratio:.2f}",
            f"{found.cost:.3f}",
            f"{found.generic_speedup:.2f}",
            f"{found.tuned_speedup:.2f}",
            f"{100 * found.residual:.1f}",
        )
        assert shown == row[1:]


@pytest.mark.parametrize("name", ["ngram", "draft"])
def test_a_spec_patch_is_valid_in_a_spec(tmp_path: Path, name: str) -> None:
    items = traffic.quoting(60) if name == "ngram" else traffic.narrow(60)
    traffic.write(tmp_path / "t.jsonl", items)
    model = "accounts/fireworks/models/llama-v3p2-1b-instruct"
    found = document(tmp_path, "replay", "t.jsonl", "--draft-model", model, "--draft-tokens", "4")
    [item] = found["by_type"].values()
    patch = item["recommendation"]["spec_patch"]
    assert patch["speculation"]["mode"] == name
    lines = [
        f"    speculation: {{{', '.join(f'{key}: {value}' for key, value in patch['speculation'].items())}}}"
    ]
    (tmp_path / "configs").mkdir()
    spec = SPEC.replace(
        "    region: US\n", "\n".join(["    region: US", "    overrides: [speculation]", *lines]) + "\n"
    )
    (tmp_path / "configs/chat.yaml").write_text(spec)
    env = make_env(tmp_path, {}, terminal=False, stdin="")
    assert run(["validate", str(tmp_path / "configs")], env) == 0, env.stderr.text() + env.stdout.text()  # type: ignore[attr-defined]
