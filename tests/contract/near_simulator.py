"""The simulator without a process of its own: for tests that ask for what firectl does, not how it runs.

A call takes the same words, environment and folder, and gives the same output and exit code, in a
twentieth of the time. Faults can end the process, so that calls with faults stay children, as do other
programs.
"""

from __future__ import annotations

import io
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fwctl.process import Completed
from fwctl.process import run as run_process
from fwctl.simulator.commands.app import run


def start(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, **rest: Any) -> Completed:
    """What `fwctl.process.run` returns for `python -m fwctl.simulator WORDS`."""
    if "FIRECTL_SIM_FAULTS" in env or "fwctl.simulator" not in argv:
        return run_process(argv, env=env, cwd=cwd, **rest)
    began = time.monotonic()
    words = list(argv[list(argv).index("fwctl.simulator") + 1 :])
    stdout, stderr = io.StringIO(), io.StringIO()
    code = run(words, env, cwd, (io.StringIO(), stdout, stderr))
    return Completed(tuple(argv), code, stdout.getvalue(), stderr.getvalue(), time.monotonic() - began)
