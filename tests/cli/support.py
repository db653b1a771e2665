"""An environment of its own for each test: no real terminal, variables, clock or folder."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwctl.cli.main import run
from fwctl.env import Env
from tests.contract import near_simulator


class Stream(io.TextIOWrapper):
    """A text stream in memory that can play a terminal and can have any encoding."""

    def __init__(self, text: str = "", *, encoding: str = "utf-8", terminal: bool = False) -> None:
        self.bytes = io.BytesIO(text.encode(encoding))
        super().__init__(self.bytes, encoding=encoding, newline="\n")
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        self.flush()
        return self.bytes.getvalue().decode(self.encoding)


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


def make_env(
    folder: Path,
    environ: dict[str, str] | None = None,
    *,
    encoding: str = "utf-8",
    terminal: bool = False,
    stdin: str = "",
) -> Env:
    return Env(
        environ=environ or {},
        cwd=folder,
        stdin=Stream(stdin, terminal=terminal),
        stdout=Stream(encoding=encoding, terminal=terminal),
        stderr=Stream(encoding=encoding, terminal=terminal),
        start_firectl=near_simulator.start,
    )


def fwctl(env: Env, *argv: str) -> Done:
    code = run(argv, env)
    assert isinstance(env.stdout, Stream)
    assert isinstance(env.stderr, Stream)
    return Done(code, env.stdout.text(), env.stderr.text())


SPEC = """\
apiVersion: fwctl/v1
account: acme
stack: test
deployments:
  chat:
    model: accounts/fireworks/models/llama-v3p1-8b-instruct
    shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
    accelerator: {type: NVIDIA_H100_80GB, count: 1}
    precision: FP8 # fwctl: ignore[FW404] test
    region: US
    replicas: {min: 1, max: 2} # fwctl: ignore[FW403] test
    traffic: interactive
"""
