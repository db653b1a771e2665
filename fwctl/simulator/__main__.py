"""`python -m fwctl.simulator ARGS…` and the console script `firectl-sim`."""

from __future__ import annotations

import gc
import io
import os
import sys
from pathlib import Path

_INTERRUPTED = 130
_ALLOCATIONS = 100_000  # between two collections: most calls end before the first


def _utf8(word: str) -> str:
    """A word as its bytes read in UTF-8, whatever the locale made of them; surrogates mark what is none."""
    return os.fsencode(word).decode("utf-8", "surrogateescape")


def main() -> int:
    """Run one command line of this process; returns its exit code.

    Output is UTF-8 whatever the locale, as a Go program's is.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    gc.set_threshold(_ALLOCATIONS)
    try:
        from fwctl.simulator.commands.app import run

        return run(
            [_utf8(word) for word in sys.argv[1:]],
            os.environ,
            Path.cwd(),
            (sys.stdin, sys.stdout, sys.stderr),
        )
    except KeyboardInterrupt:
        return _INTERRUPTED
    finally:
        gc.freeze()  # the interpreter's last collection has nothing to look through


if __name__ == "__main__":
    sys.exit(main())
