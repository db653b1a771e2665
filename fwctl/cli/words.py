"""What completion knows about each command: written down as words.json, so that no command is imported.

`python -m fwctl.cli.generate docs` writes the file from the commands; a test keeps it equal.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("words.json")


def read() -> dict[str, Any]:
    """Command -> `formats`, `arguments` ([name, metavar]), `options` ([name, flags, help, metavar]).

    The metavar of a switch is None.
    """
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def declared() -> dict[str, Any]:
    """The same, from the commands themselves."""
    from fwctl.cli import registry

    return {entry.name: _of(entry) for entry in registry.COMMANDS}


def dumps(words: dict[str, Any]) -> str:
    """The file's text."""
    return json.dumps(words, indent=1) + "\n"


def _of(entry: Any) -> dict[str, Any]:
    from typer.models import ArgumentInfo, OptionInfo

    from fwctl.cli.build import load

    command = load(entry)
    options, arguments = [], []
    for parameter in command.parameters:
        notes = getattr(parameter.annotation, "__metadata__", ())
        info = next(note for note in notes if isinstance(note, (ArgumentInfo, OptionInfo)))
        if isinstance(info, ArgumentInfo):
            arguments.append([parameter.name, info.metavar])
            continue
        flags = [flag for flag in (info.default, *(info.param_decls or ())) if isinstance(flag, str)]
        switch = getattr(parameter.annotation, "__origin__", None) is bool
        options.append([parameter.name, flags, info.help or "", None if switch else info.metavar])
    return {"arguments": arguments, "formats": list(command.formats), "options": options}
