"""Which program `firectl` is: --firectl, FWCTL_FIRECTL, the PATH, or the simulator."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from fwctl.env import Env
from fwctl.errors import FirectlMissingError

SIMULATOR = "sim"
# -P: the current folder may hold a file that is called like a module.
SIMULATOR_COMMAND = (sys.executable, "-P", "-m", "fwctl.simulator")
# Source: the vendor's install page (docs.fireworks.ai), read 2026-11-30.
INSTALL_STEPS = (
    "Install it: curl -sSL https://cli.fireworks.ai/install.sh | bash",
    "(or: brew tap fw-ai/firectl && brew install firectl; on Windows: choco install firectl)",
    "Or name it with --firectl PATH or FWCTL_FIRECTL.",
    "Or try fwctl without an account: --firectl sim",
)


def locate(env: Env, option: str | None = None) -> list[str]:
    """The words that start firectl. `option` is the value of --firectl.

    Raises FirectlMissingError when the named program, or any on the PATH, does not exist or may not be
    run.
    """
    wanted = option or env.environ.get("FWCTL_FIRECTL") or "firectl"
    if wanted == SIMULATOR:
        return list(SIMULATOR_COMMAND)
    is_path = "/" in wanted or os.sep in wanted
    named = Path(wanted).expanduser() if is_path else Path(wanted)
    if is_path:
        named = env.cwd / named
    found = shutil.which(str(named), path=env.environ.get("PATH", ""))
    if found:
        return [found]
    if is_path and named.is_file():
        raise FirectlMissingError(f"{wanted} is not an executable file", next_steps=INSTALL_STEPS)
    where = "is not on the PATH" if not is_path else "does not exist"
    raise FirectlMissingError(f"firectl was not found: {wanted} {where}", next_steps=INSTALL_STEPS)
