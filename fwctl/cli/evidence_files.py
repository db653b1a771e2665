"""The evidence files beside the specs, and what else decides about their freshness."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fwctl.cli.command import Call
from fwctl.cli.places import spec_paths
from fwctl.errors import Diagnostic, UsageError
from fwctl.spec.model import Deployment, Spec
from fwctl.units import parse_duration

if TYPE_CHECKING:
    from fwctl.records.evidence import Stored
    from fwctl.records.freshness import Around

_FOLDER_NAME = "evidence"  # as in records.evidence, which `validate` has no time to import
_GATED = ("warn", "block")


class Found(NamedTuple):
    """The records beside the specs. there: a folder exists, or a gate asks for one."""

    stored: tuple[Stored, ...]
    problems: tuple[Diagnostic, ...]
    there: bool


def evidence_folder(call: Call, paths: Sequence[str], spec: Spec | None) -> Path:
    """Where new records go: `settings.evidence`, else evidence/, beside the first of the specs.

    Relative to the folder of the call, as messages show it.
    """
    return _folders(call, paths, spec)[0]


def _folders(call: Call, paths: Sequence[str], spec: Spec | None) -> list[Path]:
    name = str(spec.settings.get("evidence", _FOLDER_NAME)) if spec is not None else _FOLDER_NAME
    bases = [path if (call.env.cwd / path).is_dir() else path.parent for path in spec_paths(call, paths)]
    return list(dict.fromkeys(base / name for base in bases))


def find_evidence(call: Call, paths: Sequence[str], spec: Spec) -> Found:
    """Every usable record beside the specs, oldest first."""
    folders = [folder for folder in _folders(call, paths, spec) if (call.env.cwd / folder).exists()]
    if not folders:  # most repositories, and `validate` has no time to import what they do not need
        return Found((), (), any(_asks(entry) for entry in spec.deployments.values()))
    from fwctl.records.evidence import read

    stored: list[Stored] = []
    problems: list[Diagnostic] = []
    for folder in folders:
        records, wrong = read(call.env.cwd / folder, folder.as_posix())
        stored += records
        problems += wrong
    return Found(tuple(sorted(stored, key=lambda item: item.record.date)), tuple(problems), there=True)


def _asks(entry: Deployment) -> bool:
    return any(entry.own.get(gate) in _GATED for gate in ("gates.eval", "gates.bench"))


def around_each(call: Call, spec: Spec, found: Found) -> dict[str, Around]:
    """What else decides about freshness, by logical name."""
    from fwctl.records.freshness import Around

    now = call.env.clock.now()
    digests = _Digests(call.env.cwd)
    files = {item.record.suite_file for item in found.stored if item.record.suite_file}
    suites = {name: digest for name in files if (digest := digests.of(Path(name))) is not None}
    return {
        name: Around(now, _max_age(entry), suites, _wanted_suite(entry, digests))
        for name, entry in spec.deployments.items()
    }


def _max_age(entry: Deployment) -> timedelta | None:
    text = entry.own.get("gates.max_age")
    return timedelta(seconds=parse_duration(str(text))) if text else None


def _wanted_suite(entry: Deployment, digests: _Digests) -> str | None:
    """Digest of `slo.at.suite`, which stands relative to its spec file or to the folder of the call."""
    name = entry.own.get("slo.at.suite")
    if not name:
        return None
    at = entry.position_of("slo.at.suite")
    beside = digests.of(Path(at.file).parent / str(name)) if at is not None else None
    return beside if beside is not None else digests.of(Path(str(name)))


class _Digests:
    """Digests of prompt sets; each file is read once. A set that cannot be read has changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[Path, str | None] = {}

    def of(self, name: Path) -> str | None:
        """None when there is no such file here."""
        path = self._folder / name
        if path not in self._known:
            self._known[path] = _digest(path) if path.is_file() else None
        return self._known[path]


def _digest(path: Path) -> str:
    from fwctl.measure.suite import load

    try:
        return load(path).digest
    except UsageError:
        return "unreadable"
