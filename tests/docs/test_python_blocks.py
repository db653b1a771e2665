"""Every python block of the documentation runs against the simulator and prints what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.contract.cli_support import ROOT
from tests.docs import python_blocks
from tests.docs.console import difference
from tests.simulator.http.support import KEY, SERVERLESS, Sim, serving

PAGES = python_blocks.pages()
# The file that docs/routing.md reads. `base_url` is the simulator.
ROUTES = """\
apiVersion: fwctl/v1
kind: Routes
settings: {{base_url: "{url}/inference/v1"}}
routes:
  chat: {{targets: [{{name: only, model: {model}}}]}}
"""


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sim]:
    with serving(tmp_path_factory.mktemp("python-blocks")) as listening:
        yield listening


@pytest.mark.parametrize("page", PAGES)
def test_the_page_prints_what_it_shows(page: str, sim: Sim, tmp_path: Path) -> None:
    (tmp_path / "routes.yaml").write_text(ROUTES.format(url=sim.url, model=SERVERLESS))
    (tmp_path / "page.py").write_text(python_blocks.program(PAGES[page], sim.url))
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env={**environ, "FIREWORKS_API_KEY": KEY},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(python_blocks.END + "\n")
    for block, output in zip(PAGES[page], printed, strict=False):
        if block.shown is not None:
            assert not (why := difference(block.shown, output.splitlines())), why


def test_names_that_are_public_exist() -> None:
    text = (python_blocks.DOCS / "library.md").read_text()
    rows = re.findall(r"^\| `(fwctl[\w.]*)` \| (.*?) \|", text, re.MULTILINE)
    assert rows
    for module, names in rows:
        for name in re.findall(r"`(\w+)`", names):
            assert hasattr(import_module(module), name), f"{module}.{name}"


@pytest.mark.deep
def test_the_pages_pass_the_strict_type_checker(tmp_path: Path) -> None:
    """`make types` does the same."""
    for name, found in PAGES.items():
        (tmp_path / f"{name.replace('-', '_')}_page.py").write_text(python_blocks.program(found))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *map(str, sorted(tmp_path.glob("*.py")))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_a_block_can_be_left_out_and_tells_its_output() -> None:
    text = "<!-- not run: it needs a GPU -->\n```python\na\n```\n\n```python\nb\n```\n\n```text\nc\n```\n"
    assert python_blocks.blocks(text) == [python_blocks.Block("b\n", ["c"])]
