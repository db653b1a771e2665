"""`python -m fwctl.simulator ARGS…` and the console script `firectl-sim`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from fwctl.simulator.commands.app import run


def main() -> int:
    """Run one command line of this process; returns its exit code."""
    return run(sys.argv[1:], os.environ, Path.cwd(), (sys.stdin, sys.stdout, sys.stderr))


if __name__ == "__main__":
    sys.exit(main())
