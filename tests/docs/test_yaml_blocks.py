"""Every whole file that a page shows as YAML is one that `fwctl validate` takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.contract.cli_support import ROOT, Sandbox

BLOCK = re.compile(r"^```yaml\n(apiVersion: .*?)^```", re.DOTALL | re.MULTILINE)
FILES = [
    pytest.param(text, id=f"{page.stem}-{text.split('kind: ')[1].split()[0]}")
    for page in sorted((ROOT / "docs").glob("*.md"))
    for text in BLOCK.findall(page.read_text())
]


@pytest.mark.parametrize("text", FILES)
def test_the_file_of_the_page_is_valid(text: str, tmp_path: Path) -> None:
    variables = dict.fromkeys(re.findall(r"\$\{env:(\w+)\}", text), "https://example.com/")
    (tmp_path / "file.yaml").write_text(text)
    done = Sandbox(tmp_path, near=True, **variables).fwctl("validate", "file.yaml", "--strict")
    assert done.out == "valid: 0 deployments in 1 file, no problems\n", done.out + done.err
