"""`settings.outputs`: the model strings that clients use, as a JSON file beside the specs."""

from __future__ import annotations

import errno
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from fwctl.records.atomic import replace_file

FORMAT_VERSION = 1
LARGEST_BYTES = 16 * 2**20


def write_outputs(path: Path, account: str, names: Collection[str], strings: Mapping[str, Any]) -> bool:
    """Writes the strings of a run; False when nothing changed. Raises OSError.

    names: what the specs declare. Those that this run did not look at keep what the file said.
    """
    kept = {name: value for name, value in _read(path).items() if name in names}
    models = {**kept, **strings}
    document = {
        "format_version": FORMAT_VERSION,
        "account": account,
        "models": {name: models[name] for name in sorted(models)},
    }
    return replace_file(path, json.dumps(document, indent=2).encode() + b"\n")


def _read(path: Path) -> Mapping[str, Any]:
    """The models of an earlier run, nothing when there is no file or an empty one. Raises
    FileExistsError for a file that is something else, so that a slip of the pen overwrites nothing."""
    if not path.exists():
        return {}
    usable = path.is_file() and path.stat().st_size <= LARGEST_BYTES  # a pipe could be read for ever
    data = path.read_bytes() if usable else b"?"
    try:
        document = json.loads(data) if data.strip() else {"models": {}}
    except (ValueError, RecursionError):
        document = None
    models = document.get("models") if isinstance(document, dict) else None
    if not isinstance(models, dict):
        raise FileExistsError(errno.EEXIST, "it exists and was not written by fwctl")
    return models
