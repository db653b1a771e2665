"""Every kind of spec file with the outcome that `fwctl validate` gives for it.

tests/data/spec_cases.json: files, exit code, codes (a prefix each), the line of the first code; `source`
says where each outcome comes from.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fwctl.errors import Severity
from fwctl.spec.load import load

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "data" / "spec_cases.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case_has_its_outcome(case: dict[str, Any], tmp_path: Path) -> None:
    for name, text in case["files"].items():
        data = text[7:].encode("latin-1") if text.startswith("LATIN1:") else text.encode()
        (tmp_path / name).write_bytes(data)
    found = load([tmp_path], environ={}).diagnostics
    errors = [d for d in found if d.severity is Severity.ERROR]
    assert bool(errors) is (case["exit"] == 3), found
    for code in case["codes"]:
        assert any(d.code.startswith(code) for d in found), found
    if "line" in case and case["codes"]:
        lines = [d.position.line for d in found if d.position and d.code.startswith(case["codes"][0])]
        assert case["line"] in lines, found
    for code in case.get("not_codes", []):
        assert not any(d.code.startswith(code) for d in found), found
