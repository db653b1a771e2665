"""`fwctl.lock`: which shape version, model and prices the specs were last resolved to.

The file stands beside the specs in git. It is YAML that fwctl alone writes: one block an entry, sorted,
values as JSON, so that two branches that lock different entries merge without help. Reading is strict:
anything this module would not have written is an error with its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fwctl.errors import InvalidSpecError
from fwctl.records.atomic import replace_file

LOCK_NAME = "fwctl.lock"
LOCK_VERSION = 1
LARGEST_BYTES = 16 * 2**20
_HEADER = "# Written by `fwctl lock`. Commit it, and change it with `fwctl lock`, not by hand.\n"
_LINE = re.compile(r"(?P<indent> *)(?P<key>[^\s:#\"'][^:#\"']*):(?: (?P<value>\S.*))?")
_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


@dataclass(frozen=True, slots=True)
class LockedShape:
    """The version that a shape of the specs stands for; `snapshot` is canonical, by spec path."""

    version: str
    model: str
    precision: str
    snapshot: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LockedModel:
    """What the platform said about a model when it was locked; None where it said nothing."""

    hugging_face_url: str | None = None
    parameter_count: int | None = None
    context_length: int | None = None
    default_precision: str | None = None


@dataclass(frozen=True, slots=True)
class LockFile:
    """shapes is keyed by `shape_key`, models by full name; prices_date is the ISO date of the table."""

    shapes: Mapping[str, LockedShape] = field(default_factory=dict)
    models: Mapping[str, LockedModel] = field(default_factory=dict)
    prices_date: str | None = None

    def shape(self, shape: str, model: str) -> LockedShape | None:
        """The entry of a shape as a spec writes it, None when it is not locked."""
        return self.shapes.get(shape_key(shape, model))


def shape_key(shape: str, model: str) -> str:
    """The shape's own name, or for a preset such as `fast` the preset with the model it is for."""
    return shape if "/" in shape else f"{shape} of {model}"


def dumps(lock: LockFile) -> str:
    """The file's text; the same lock always gives the same bytes."""
    lines = [_HEADER, f"lock_version: {LOCK_VERSION}\n"]
    if lock.prices_date is not None:
        lines.append(f"prices_date: {json.dumps(lock.prices_date)}\n")
    lines.append("\nshapes:\n")
    for name, shape in sorted(lock.shapes.items()):
        lines.append(f"  {name}:\n")
        lines += [
            f"    {key}: {json.dumps(getattr(shape, key))}\n" for key in ("version", "model", "precision")
        ]
        lines.append("    snapshot:\n")
        lines += [f"      {path}: {_json(value)}\n" for path, value in sorted(shape.snapshot.items())]
    lines.append("\nmodels:\n")
    for name, model in sorted(lock.models.items()):
        lines.append(f"  {name}:\n")
        facts = {key: getattr(model, key) for key in LockedModel.__slots__}
        lines += [f"    {key}: {_json(value)}\n" for key, value in sorted(facts.items()) if value is not None]
    return "".join(lines)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def loads(text: str, source: str = LOCK_NAME) -> LockFile:
    """The lock in a file's text. Raises InvalidSpecError with the line of the first thing that is wrong."""
    tree = _tree(text, source)
    version = tree.pop("lock_version", None)
    if version != LOCK_VERSION:
        raise _broken(source, None, f"lock_version is {version!r}, this fwctl reads {LOCK_VERSION}")
    unknown = sorted(set(tree) - {"prices_date", "shapes", "models"})
    if unknown:
        raise _broken(source, None, f"unknown entry {unknown[0]!r}")
    return LockFile(
        shapes={name: _shape(source, name, row) for name, row in _rows(source, tree, "shapes").items()},
        models={name: _model(source, name, row) for name, row in _rows(source, tree, "models").items()},
        prices_date=_typed(source, "prices_date", tree.get("prices_date"), (str, type(None))),
    )


def _rows(source: str, tree: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    rows = tree.get(key, {})
    if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
        raise _broken(source, None, f"{key} is not a block of entries")
    return rows


def _shape(source: str, name: str, row: dict[str, Any]) -> LockedShape:
    snapshot = row.pop("snapshot", {})
    if not isinstance(snapshot, dict) or sorted(row) != ["model", "precision", "version"]:
        raise _broken(source, None, f"{name}: an entry has version, model, precision and snapshot")
    texts = {key: _typed(source, f"{name}: {key}", value, (str,)) for key, value in row.items()}
    return LockedShape(snapshot=snapshot, **texts)


_MODEL_TYPES: Mapping[str, type] = {
    "hugging_face_url": str,
    "parameter_count": int,
    "context_length": int,
    "default_precision": str,
}


def _model(source: str, name: str, row: dict[str, Any]) -> LockedModel:
    unknown = sorted(set(row) - set(_MODEL_TYPES))
    if unknown:
        raise _broken(source, None, f"{name}: unknown entry {unknown[0]!r}")
    return LockedModel(
        **{key: _typed(source, f"{name}: {key}", value, (_MODEL_TYPES[key],)) for key, value in row.items()}
    )


def _typed(source: str, what: str, value: Any, types: tuple[type, ...]) -> Any:
    if isinstance(value, bool) or not isinstance(value, types):
        raise _broken(source, None, f"{what} is not a {types[0].__name__}")
    return value


def _tree(text: str, source: str) -> dict[str, Any]:
    """Nested blocks of `key: value` lines, two blanks a level; a repeated key is an error."""
    root: dict[str, Any] = {}
    levels = [root]
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(_CONFLICT):
            raise _broken(source, number, "a merge conflict is not resolved")
        match = _LINE.fullmatch(line)
        depth, odd = divmod(len(match["indent"]), 2) if match else (0, 1)
        if match is None or odd or depth >= len(levels):
            raise _broken(source, number, f"not a line that fwctl writes: {line.strip()[:60]!r}")
        block, key = levels[depth], match["key"]
        if key in block:
            raise _broken(source, number, f"{key!r} stands there twice")
        del levels[depth + 1 :]
        if match["value"] is None:
            block[key] = {}
            levels.append(block[key])
        else:
            block[key] = _value(source, number, match["value"])
    return root


def _value(source: str, number: int, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise _broken(source, number, f"not a JSON value: {text[:60]!r}") from None


def _broken(source: str, line: int | None, why: str) -> InvalidSpecError:
    place = source if line is None else f"{source}:{line}"
    return InvalidSpecError(
        f"{place}: {why}",
        next_steps=(
            "restore the file from git, or delete it and run `fwctl lock`",
            "`--no-lock` goes on without it",
        ),
    )


def read(path: Path) -> LockFile | None:
    """The lock at `path`, None when there is no file. Raises InvalidSpecError when it cannot be used."""
    try:
        if not path.exists():
            return None
        if not path.is_file() and not path.is_dir():  # a pipe or a device could go on for ever
            raise _broken(str(path), None, "not a regular file")
        if path.stat().st_size > LARGEST_BYTES:
            raise _broken(str(path), None, f"larger than {LARGEST_BYTES // 2**20} MiB")
        return loads(path.read_bytes().decode(), str(path))
    except UnicodeDecodeError:
        raise _broken(str(path), None, "not UTF-8 text") from None
    except OSError as error:
        raise _broken(str(path), None, f"cannot be read ({error.strerror or error})") from None


def write(path: Path, lock: LockFile) -> bool:
    """Replaces the file in one step; False when it already said the same. Raises OSError."""
    return replace_file(path, dumps(lock).encode())
