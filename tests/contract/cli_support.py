"""`fwctl` in a folder of its own, on the embedded simulator: real child processes, or in this one."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from fwctl.cli.main import run
from fwctl.env import Env
from tests.cli.support import SPEC, Done, Stream
from tests.contract import near_simulator

ROOT = Path(__file__).parents[2]


class Sandbox:
    """A folder with specs and a simulator; `fwctl(...)` and `firectl(...)` run in it.

    near: both run in the process of the tests, for what does not depend on processes; else as children.
    """

    def __init__(self, folder: Path, *, near: bool = False, **variables: str) -> None:
        self.folder = folder
        self.near = near
        self.environ = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(folder / "home"),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "FWCTL_FIRECTL": "sim",
            "FIRECTL_SIM_HOME": str(folder / "sim"),
            "FIRECTL_SIM_SPEED": "600",
            "FWCTL_POLL_INTERVAL": "500ms",
            **variables,
        }
        (folder / "home").mkdir()
        # Help pages are probed once for all tests of a run, as one user's are.
        self.environ["XDG_CACHE_HOME"] = str(folder.parent / "cache")

    def write(self, text: str = SPEC, name: str = "configs/chat.yaml") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def copy_examples(self) -> None:
        shutil.copytree(ROOT / "configs", self.folder / "configs")

    def run(self, *argv: str, stdin: str = "", timeout: float = 60, **variables: str) -> Done:
        done = subprocess.run(
            argv,
            cwd=self.folder,
            env={**self.environ, **variables},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def fwctl(self, *argv: str, **options: Any) -> Done:
        if self.near:
            return self._near(argv, **options)
        return self.run(sys.executable, "-m", "fwctl", *argv, **options)

    def _near(
        self, argv: tuple[str, ...], stdin: str = "", *, terminal: bool = False, **variables: str
    ) -> Done:
        out, err = Stream(terminal=terminal), Stream(terminal=terminal)
        environ = {**self.environ, "FWCTL_POLL_INTERVAL": "50ms", **variables}
        given = Stream(stdin, terminal=terminal)
        env = Env(environ, self.folder, given, out, err, start_firectl=near_simulator.start)
        env.redactor.register(environ.get("FIREWORKS_API_KEY"))
        with contextlib.chdir(self.folder):
            code = run(argv, env)
        assert "Traceback" not in out.text() + err.text()
        return Done(code, out.text(), err.text())

    def firectl(self, *argv: str) -> Done:
        if self.near:
            command = [sys.executable, "-m", "fwctl.simulator", *argv]
            done = near_simulator.start(command, env=self.environ, cwd=self.folder, deadline_s=60.0)
            return Done(done.returncode or 0, done.stdout, done.stderr)
        return self.run(sys.executable, "-m", "fwctl.simulator", *argv)

    def calls(self, *flags: str) -> list[dict[str, Any]]:
        """Calls that the simulator received, oldest first."""
        done = self.firectl("calls", "list", "-o", "json", *flags)
        assert done.code == 0, done.err
        found: list[dict[str, Any]] = json.loads(done.out)
        return found

    def settled(self) -> None:
        """Waits until no deployment is on its way out any more."""
        while '"DELETING"' in self.firectl("deployment", "list", "-o", "json", "-a", "acme").out:
            time.sleep(0.02)

    def mutations(self) -> int:
        """How many calls changed something."""
        return int(self.firectl("calls", "count", "--mutating").out)
