from __future__ import annotations

import io
import os
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from fwctl.env import Env, SystemClock
from fwctl.process import run

REPO = Path(__file__).parent.parent


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def env(stdin: object, stderr: object) -> Env:
    return Env({}, Path(), stdin, io.StringIO(), stderr)  # type: ignore[arg-type]


def closed() -> Terminal:
    stream = Terminal()
    stream.close()
    return stream


@pytest.mark.parametrize(
    ("stdin", "stderr", "expected"),
    [
        (Terminal(), Terminal(), True),
        (io.StringIO(), Terminal(), False),
        (Terminal(), io.StringIO(), False),
        (None, Terminal(), False),
        (Terminal(), closed(), False),
    ],
    ids=["both terminals", "piped in", "piped out", "no stdin at all", "closed stderr"],
)
def test_a_question_can_be_asked_only_when_both_ends_are_a_terminal(stdin, stderr, expected):
    assert env(stdin, stderr).interactive is expected


def test_the_environment_is_not_shown_by_repr():
    assert "hunter2" not in repr(Env({"KEY": "hunter2"}, Path(), *[io.StringIO()] * 3))


def system(code: str, **variables: str) -> str:
    environ = {**os.environ, **variables}
    return run([sys.executable, "-c", code], env=environ, deadline_s=30, cwd=REPO).stdout.strip()


def test_the_api_key_of_the_environment_is_a_secret_from_the_start():
    code = "from fwctl.env import Env; print(Env.system().redactor.mask('a plain-key-123 b'))"
    assert system(code, FIREWORKS_API_KEY="plain-key-123") == "a *** b"


def test_a_folder_that_was_removed_is_named_as_the_reason():
    code = (
        "import os, tempfile\nfrom fwctl.env import Env\nfrom fwctl.errors import UsageError\n"
        "d = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d)\n"
        "try: Env.system()\nexcept UsageError as error: print(error.message)"
    )
    assert system(code) == "the current folder does not exist any more"


def test_the_system_clock_counts_in_utc_and_forward():
    clock = SystemClock()
    before = clock.monotonic()
    clock.sleep(0)
    assert clock.now().utcoffset() == timedelta(0)
    assert clock.monotonic() >= before
