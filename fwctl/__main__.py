"""Where the `fwctl` command starts. `--version` is answered before anything large is imported."""

from __future__ import annotations

import gc
import os
import sys

from fwctl import __version__

_ALLOCATIONS = 50_000  # between two collections: most commands end before the first


def main() -> int:
    """Run one command line and return its exit code (docs/exit-codes.md)."""
    argv = sys.argv[1:]
    _open_closed_streams()
    if argv == ["--version"] and sys.stdout and not os.environ.get("FWCTL_FORMAT"):
        sys.stdout.write(f"fwctl {__version__}\n")
        return 0
    if argv[:1] == ["__complete"]:
        return _complete(argv[1:])
    gc.set_threshold(_ALLOCATIONS)
    from fwctl.cli.main import run_process

    try:
        return run_process(argv)
    finally:
        gc.freeze()  # the interpreter's last collection has nothing to look through


def _open_closed_streams() -> None:
    """Python has no stream for a descriptor that was closed (`fwctl plan >&-`): what is written goes
    nowhere then. Opened first, it takes that descriptor, which no other file gets."""
    for name, flags in (("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), "r" if name == "stdin" else "w"))


def _complete(words: list[str]) -> int:
    from pathlib import Path

    from fwctl.cli.complete import complete

    for value, text in complete(words, Path.cwd()):
        sys.stdout.write(f"{value}\t{text}\n" if text else f"{value}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
