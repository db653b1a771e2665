"""Every console block of the documentation is run again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.contract.cli_support import ROOT, Sandbox
from tests.docs import console

DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.glob("*.md") if console.read(path))
# config.json of Llama 3.1 8B, as far as memory depends on it (huggingface.co/meta-llama/Llama-3.1-8B).
LLAMA_8B = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "torch_dtype": "bfloat16",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_commands_of_the_page_do_what_it_shows(page: Path, tmp_path: Path) -> None:
    box = Sandbox(tmp_path)
    if page.name != "from-firectl.md":  # it starts with nothing
        box.copy_examples()
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text(json.dumps(LLAMA_8B))
    commands = console.read(page)
    done = box.run("bash", "-c", console.script(commands), timeout=240)
    assert console.problems(commands, done.out) == [], done.err


def test_what_is_not_run_says_why() -> None:
    for path in DOCS.rglob("*.md"):
        for reason in re.findall(r"<!-- not run: ?(.*?) ?-->", path.read_text()):
            assert len(reason) > 10


def test_a_block_of_another_output_is_found() -> None:
    steps = console.steps("```console\n$ cat <<X\n> a\n> X\na\n$ false\n...\n```")
    assert [step.command for step in steps] == ["cat <<X\na\nX", "false"]
    assert console.problems(steps, "a\n<<0>>\n<<1>>\n") == []
    assert console.problems(steps, "b\n<<0>>\n<<1>>\n") != []
    assert console.problems(steps, "a\n<<0>>\n<<64>>\n") != []
    assert console.problems(steps, "a\n<<0>>\n") == ["the session ended at `false`"]


def test_blocks_can_be_left_out_or_prepared() -> None:
    text = "<!-- not run: it never ends -->\n```console\n$ a\n```\n<!-- first: b -->\n\n```console\n$ c\n```"
    assert [step.command for step in console.steps(text)] == ["b", "c"]
