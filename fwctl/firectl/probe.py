"""Asks the installed firectl what it can do, and remembers the answer by version.

The cache is a convenience: deleting it, or breaking it, costs a few calls and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fwctl.firectl.capabilities import HELP_PAGES, Capabilities, parse_help, parse_version
from fwctl.firectl.errors import ErrorClass
from fwctl.firectl.runner import Runner

_FORMAT = 1
_PARALLEL = 4
_ON_EVERY_PAGE = ("Usage:", "Flags:")  # a text without them was cut, and says nothing about the build


def read_version(runner: Runner) -> str:
    """`firectl version`, empty when it prints none. Raises the call's error when it fails."""
    outcome = runner.call(["version"]).checked()
    return parse_version(outcome.stdout) or parse_version(outcome.stderr) or ""


def probe(runner: Runner) -> Capabilities:
    """Version and help pages; the pages come from the cache when this build was asked before."""
    version = read_version(runner)
    path = cache_path(runner.env.environ, runner.command, version)
    cached = _load(path) if path else None
    if cached is not None:
        return Capabilities(version, cached)
    flags = _read_pages(runner)
    if path and len(flags) == len(HELP_PAGES):
        _save(path, flags)
    return Capabilities(version, flags)


def cache_path(environ: Mapping[str, str], command: Sequence[str], version: str) -> Path | None:
    """Where the pages of this very build are kept: its version, its file and its FIRECTL_* settings
    make the name. None when there is no home, or no version to go by."""
    home = environ.get("HOME") or environ.get("USERPROFILE")
    root = environ.get("XDG_CACHE_HOME") or (home and str(Path(home) / ".cache"))
    if not root or not version:
        return None
    identity: list[Any] = [_FORMAT, version, list(command)]
    with contextlib.suppress(OSError):
        found = Path(command[0]).stat()
        identity += [found.st_size, found.st_mtime_ns]
    identity += sorted((name, value) for name, value in environ.items() if name.startswith("FIRECTL_"))
    name = hashlib.sha256(json.dumps(identity).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Path(root) / "fwctl" / f"firectl-{name}.json"


def _read_pages(runner: Runner) -> dict[str, frozenset[str]]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_PARALLEL) as pool:
        pages = list(pool.map(lambda command: _page(runner, command), HELP_PAGES))
    return {command: page for command, page in zip(HELP_PAGES, pages, strict=True) if page is not None}


def _page(runner: Runner, command: str) -> frozenset[str] | None:
    """Flags of a command, an empty set when it does not exist, None when the page could not be read."""
    outcome = runner.call([*command.split(), "--help"])
    if not outcome.ok:
        return frozenset() if outcome.error_class is ErrorClass.INVALID else None
    text = outcome.stdout + "\n" + outcome.stderr
    return parse_help(command, text) if all(word in text for word in _ON_EVERY_PAGE) else None


def _load(path: Path) -> dict[str, frozenset[str]] | None:
    """The cached pages; None when there are none or the file is not what was written."""
    try:
        pages = json.loads(path.read_text(encoding="utf-8"))["pages"]
        flags = {command: frozenset(pages[command]) for command in HELP_PAGES}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return flags if all(isinstance(flag, str) for page in flags.values() for flag in page) else None


def _save(path: Path, flags: Mapping[str, frozenset[str]]) -> None:
    """Write beside and rename, so that a reader never sees half a file; failure is no matter."""
    text = json.dumps({"pages": {command: sorted(page) for command, page in flags.items()}}, indent=1)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".firectl-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
