"""The log of every call, one JSON line at its start and one at its end; keys are masked."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FILE = "calls.ndjson"
MASK = "***"
_SECRET_FLAGS = ("--api-key", "--direct-route-api-keys", "--value", "--wandb-api-key")
_KEY_COMMANDS = ("set-api-key", "key-add")


def mask(argv: Sequence[str]) -> list[str]:
    """argv without the values that may be secrets."""
    masked: list[str] = []
    hide_next = False
    secret_value = "secret" in argv
    for word in argv:
        name, equals, _ = word.partition("=")
        secret = name in _SECRET_FLAGS and (name != "--value" or secret_value)
        if hide_next:
            masked.append(MASK)
        elif secret and equals:
            masked.append(f"{name}={MASK}")
        else:
            masked.append(word)
        hide_next = not hide_next and ((secret and not equals) or word in _KEY_COMMANDS)
    return masked


def append(home: Path, line: dict[str, Any]) -> None:
    """Add one line with a single write, so that lines of concurrent processes never mix."""
    data = (json.dumps(line) + "\n").encode()
    handle = os.open(home / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)


def read(home: Path) -> list[dict[str, Any]]:
    """Every call in order of its start, with `exit_code` and `end` when it ended."""
    try:
        text = (home / FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    found: dict[str, dict[str, Any]] = {}
    for line in text.splitlines():
        row = json.loads(line)
        if row["event"] == "start":
            found[row["id"]] = {key: value for key, value in row.items() if key != "event"}
        elif row["id"] in found:
            found[row["id"]] |= {"exit_code": row["exit_code"], "end": row["at"]}
    return list(found.values())


def clear(home: Path) -> None:
    (home / FILE).unlink(missing_ok=True)
