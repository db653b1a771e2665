"""Whatever bytes a firectl prints on both streams, every read ends in an object or one FwctlError."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fwctl.errors import FwctlError
from fwctl.firectl.capabilities import Capabilities
from fwctl.firectl.client import Firectl
from tests.firectl.support import STEADY, make_runner

PIECES = st.sampled_from(
    [
        b'{"deployments":[',
        b"]}",
        b"\xff\xfe",
        b"\x00",
        b"\xef\xbb\xbf",
        b"[{",
        b"\n",
        b"Failed to execute: ",
        b"\x1b[31m",
    ]
)
OUTPUT = st.lists(st.one_of(PIECES, st.binary(max_size=12)), max_size=12).map(b"".join)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stdout=OUTPUT, stderr=OUTPUT, code=st.sampled_from([0, 0, 1, 3]))
def test_any_bytes_are_an_answer_or_one_error(folder: Path, stdout: bytes, stderr: bytes, code: int) -> None:
    (folder / "out").write_bytes(stdout)
    (folder / "err").write_bytes(stderr)
    runner = make_runner(folder, f"cat {folder}/out; cat {folder}/err >&2; exit {code}")
    firectl = Firectl(runner, Capabilities("1.8.9"), retry=STEADY)
    reads = (firectl.list_deployments, firectl.whoami, lambda: firectl.get_deployment("x"))
    for read in reads:
        with contextlib.suppress(FwctlError):
            read()
    outcome = firectl.perform("deployment delete", "x", {})
    assert outcome.ok or outcome.message
