"""`evidence/*.json`: what was measured, kept in git beside the specs.

One file a result, named after its content, so that two branches that add results merge without help and
a file that was changed by hand is told from one that was written. Which record still counts is decided
in `records.freshness`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from fwctl import __version__
from fwctl.errors import Diagnostic, FwctlError, Position, RefusedError, Severity, UsageError
from fwctl.records.atomic import replace_file

FOLDER_NAME = "evidence"
FORMAT_VERSION = 1
KINDS = ("bench", "eval", "capacity", "experiment")
LARGEST_BYTES = 4 * 2**20
MOST_FILES = 10_000
_DIGEST_DIGITS = 12
_SHORT_CHARACTERS = 48


@dataclass(frozen=True, slots=True)
class EvidenceRecord:
    """One measurement of one configuration.

    kind: one of KINDS. model: full resource name. precision, shape_version, accelerator: as they ran, None
    where there is none (no shape) or nobody could tell. shape_version: full name with `/versions/`.
    accelerator_count: GPUs a replica. replicas: ready ones during the measurement. date: aware, when it
    ended. suite_digest: `sha256:…` of the prompt set, suite_file: where it lay, relative to the folder of the
    run. passed: the verdict; None where the kind has none (a bench without objectives). valid: False when
    the harness was the bottleneck or the setting moved meanwhile; such a record cannot be written.
    selftest: the harness's own error. deployment: the logical name it was measured for, else None.
    results: the numbers, JSON values.
    """

    kind: str
    model: str
    date: datetime
    precision: str | None = None
    shape_version: str | None = None
    accelerator: str | None = None
    accelerator_count: int | None = None
    region: str | None = None
    replicas: int | None = None
    suite_digest: str | None = None
    suite_file: str | None = None
    passed: bool | None = None
    valid: bool = True
    invalid_reasons: tuple[str, ...] = ()
    selftest: Mapping[str, Any] | None = None
    deployment: str | None = None
    results: Mapping[str, Any] = field(default_factory=dict)
    fwctl_version: str = __version__

    def to_json(self) -> dict[str, Any]:
        """The document of the file."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["date"] = self.date.isoformat()
        values["invalid_reasons"] = list(self.invalid_reasons)
        return {"format_version": FORMAT_VERSION, **values}


@dataclass(frozen=True, slots=True)
class Stored:
    """A record and the file it stands in, as a reader would name it (`evidence/eval-….json`)."""

    file: str
    record: EvidenceRecord

    def __str__(self) -> str:
        return f"{self.file} of {self.record.date.date().isoformat()}"


def file_name(record: EvidenceRecord) -> str:
    """`<kind>-<model>-<12 hex digits of the content>.json`."""
    short = re.sub(r"[^A-Za-z0-9._-]+", "-", record.model.rsplit("/", 1)[-1])[:_SHORT_CHARACTERS].strip("-.")
    return f"{record.kind}-{short or 'model'}-{_digest(record.to_json())}.json"


def _digest(document: Mapping[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:_DIGEST_DIGITS]


def write(folder: Path, record: EvidenceRecord) -> Path:
    """Stores a record in one step and returns its file; the same record again is the same file.

    Raises RefusedError for an invalid run, UsageError for a record that could not be read back, FwctlError
    when the folder cannot be written.
    """
    if not record.valid:
        raise RefusedError(
            f"an invalid run is no evidence: {'; '.join(record.invalid_reasons) or 'no reason given'}",
            next_steps=["measure again; `fwctl bench selftest` shows what this machine can carry"],
        )
    try:
        same = _record(json.loads(json.dumps(record.to_json(), allow_nan=False)))
        document = same.to_json()
        path = folder / file_name(same)
    except (_UnusableError, TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"this result cannot be stored as evidence: {error}") from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(path, (json.dumps(document, indent=2, sort_keys=True) + "\n").encode())
    except OSError as error:
        raise FwctlError(f"cannot write {path}: {error.strerror or error}") from None
    return path


def read(folder: Path, shown: str | None = None) -> tuple[tuple[Stored, ...], tuple[Diagnostic, ...]]:
    """Every record of a folder, oldest first, and one diagnostic for each file that cannot be used.

    shown: how the folder is named in messages. A folder that does not exist holds nothing. Never raises
    for what the files hold.
    """
    name = shown if shown is not None else str(folder)
    try:
        if not folder.exists():
            return (), ()
        files = sorted(path for path in folder.iterdir() if path.suffix == ".json" and path.name[0] != ".")
    except OSError as error:
        return (), (_problem(name, f"cannot be read ({error.strerror or error})"),)
    found: list[Stored] = []
    problems: list[Diagnostic] = []
    if len(files) > MOST_FILES:
        problems.append(_problem(name, f"holds {len(files)} files; only the first {MOST_FILES} are read"))
    for path in files[:MOST_FILES]:
        place = f"{name}/{path.name}"
        try:
            found.append(Stored(place, read_file(path)))
        except _UnusableError as error:
            problems.append(_problem(place, str(error)))
    return tuple(sorted(found, key=lambda item: (item.record.date, item.file))), tuple(problems)


class _UnusableError(Exception):
    """Why a file is no evidence."""


def read_file(path: Path) -> EvidenceRecord:
    try:
        if not path.is_file():  # a pipe could be read for ever
            raise _UnusableError("is not a regular file")
        if path.stat().st_size > LARGEST_BYTES:
            raise _UnusableError(f"is larger than {LARGEST_BYTES // 2**20} MiB")
        document = json.loads(path.read_bytes().decode("utf-8"), parse_constant=_no_constant)
        digest = _digest(document)
    except OSError as error:
        raise _UnusableError(f"cannot be read ({error.strerror or error})") from None
    except (ValueError, RecursionError):
        raise _UnusableError("is not JSON in UTF-8") from None
    record = _record(document)
    if not path.name.endswith(f"-{digest}.json"):
        raise _UnusableError("was changed after it was written: its name does not match its content")
    if not record.valid:
        raise _UnusableError("records an invalid run")
    return record


def _no_constant(_text: str) -> Any:
    raise ValueError


def _record(document: Any) -> EvidenceRecord:
    if not isinstance(document, dict):
        raise _UnusableError("does not hold a JSON object")
    rows = dict(document)
    version = rows.pop("format_version", None)
    if isinstance(version, bool) or version != FORMAT_VERSION:
        raise _UnusableError(f"has format_version {version!r}, this fwctl reads {FORMAT_VERSION}")
    unknown = sorted(set(rows) - set(_READ))
    if unknown:
        raise _UnusableError(f"has a key that is not known: {unknown[0][:80]!r}")
    missing = [key for key in ("kind", "model", "date") if key not in rows]
    if missing:
        raise _UnusableError(f"has no {missing[0]}")
    values = {key: _READ[key](key, value) for key, value in rows.items()}
    return EvidenceRecord(**values)


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _UnusableError(f"has a {key} that is not a text")
    return value


def _kind(key: str, value: Any) -> str:
    if value not in KINDS:
        raise _UnusableError(f"has the {key} {str(value)[:40]!r}; known are {', '.join(KINDS)}")
    return str(value)


def _count(key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise _UnusableError(f"has a {key} that is not a count")
    return value


def _yes_or_no(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _UnusableError(f"has a {key} that is neither true nor false")
    return value


def _object(key: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _UnusableError(f"has {key} that are not an object")
    return value


def _texts(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _UnusableError(f"has {key} that are not a list")
    return tuple(_text(key, item) for item in value)


def _date(key: str, value: Any) -> datetime:
    """In UTC, so that dates of every zone can be compared."""
    try:
        found = datetime.fromisoformat(_text(key, value))
        if found.tzinfo is None:
            raise _UnusableError(f"has a {key} without a time zone")
        return found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise _UnusableError(f"has a {key} that is not a time") from None


_Read = Callable[[str, Any], Any]


def _optional(read_value: _Read) -> _Read:
    return lambda key, value: None if value is None else read_value(key, value)


_READ: Mapping[str, _Read] = {
    "kind": _kind,
    "model": _text,
    "date": _date,
    "precision": _optional(_text),
    "shape_version": _optional(_text),
    "accelerator": _optional(_text),
    "accelerator_count": _optional(_count),
    "region": _optional(_text),
    "replicas": _optional(_count),
    "suite_digest": _optional(_text),
    "suite_file": _optional(_text),
    "passed": _optional(_yes_or_no),
    "valid": _yes_or_no,
    "invalid_reasons": _texts,
    "selftest": _optional(_object),
    "deployment": _optional(_text),
    "results": _object,
    "fwctl_version": _text,
}


def _problem(place: str, why: str) -> Diagnostic:
    return Diagnostic(
        Severity.WARNING,
        "evidence",
        f"{place} {why}; it does not count as evidence",
        position=Position(place, 1, 1, 1, 1),
        suggestion="restore it from git, or delete it and measure again",
    )
