"""From evidence files beside the specs to what rules, gates and the fit check may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fwctl.cli.command import Call
from fwctl.cli.places import lock_of, spec_paths
from fwctl.errors import Diagnostic, InvalidSpecError, UsageError
from fwctl.spec.model import Deployment, Evidence, Spec
from fwctl.units import parse_duration

if TYPE_CHECKING:
    from fwctl.planning.context import Context
    from fwctl.records.evidence import Stored
    from fwctl.records.freshness import Around, Setting
    from fwctl.records.lockfile import LockFile

_FOLDER_NAME = "evidence"  # as in records.evidence, which `validate` has no time to import
_GATED = ("warn", "block")
# FW410 compares these with what fits in memory; only then is the fit worth its time.
_IN_FLIGHT = ("replicas.max_concurrency", "autoscaling.load_targets")


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


def offline_evidence(
    call: Call, paths: Sequence[str], gates_follow: bool = False
) -> Callable[[Spec], Evidence | None]:
    """For `spec.load`: what the files beside the specs say, without a look at the platform."""

    def gather(spec: Spec) -> Evidence | None:
        found = find_evidence(call, paths, spec)
        lock = _lock(call, paths)
        fitting, models = _conversations(call, spec), _own_precision(lock)
        if not found.there:
            nothing = not (fitting or models)
            return None if nothing else Evidence({}, {}, models, fitting, read=False)
        from fwctl.planning.evidence import offline_settings, weigh

        settings = offline_settings(spec, lock)
        around = around_each(call, spec, found)
        known = weigh(
            found.stored,
            settings,
            around,
            model_precision=models,
            conversations=fitting,
            read=found.there,
        )
        return replace(known, gates_follow=gates_follow)

    return gather


def _lock(call: Call, paths: Sequence[str]) -> LockFile | None:
    """A lock that cannot be read is the plan's to report, and `--no-lock` goes on without it."""
    try:
        return lock_of(call, paths)
    except InvalidSpecError:
        return None


def _own_precision(lock: LockFile | None) -> dict[str, str]:
    models = lock.models if lock is not None else {}
    return {name: facts.default_precision for name, facts in models.items() if facts.default_precision}


def _conversations(call: Call, spec: Spec) -> dict[str, float]:
    """Conversations that fit on a replica, for entries that say how many may be in flight."""
    asked = {
        name: entry
        for name, entry in spec.deployments.items()
        if any(path in entry.fields for path in _IN_FLIGHT) and declares_lengths(entry)
    }
    if not asked:
        return {}
    from fwctl.cli.fit_requests import check_specs
    from fwctl.cli.prices import price_list

    results, _ = check_specs(replace(spec, deployments=asked), call.env.cwd, price_list(call, spec))
    return conversations_of(spec, results)


def declares_lengths(entry: Deployment) -> bool:
    """True when the spec says how long a conversation is; else the fit check assumes the longest."""
    return any(
        path == "workload.context_tokens" or path.startswith("workload.input_tokens.") for path in entry.own
    )


def conversations_of(spec: Spec, fit: Mapping[str, Mapping[str, object]]) -> dict[str, float]:
    """Middle of the band of conversations of the declared workload that fit, by logical name, where the
    fit check knows one."""
    found: dict[str, float] = {}
    for name, result in fit.items():
        if name not in spec.deployments or not declares_lengths(spec.deployments[name]):
            continue
        band = result.get("max_concurrency")
        if isinstance(band, Mapping) and isinstance(band.get("mid"), int | float):
            found[name] = float(band["mid"])
    return found


def planned_evidence(call: Call, context: Context, found: Found) -> Evidence:
    """What the records say about each deployment as this plan will make it run."""
    from fwctl.planning.evidence import settings_of, weigh

    models = {
        name: model.default_precision
        for name, model in context.live.models.items()
        if model is not None and model.default_precision
    }
    if not found.stored:
        return Evidence({}, {}, models, conversations_of(context.spec, context.fit), read=found.there)
    return weigh(
        found.stored,
        settings_of(context),
        around_each(call, context.spec, found),
        model_precision=models,
        conversations=conversations_of(context.spec, context.fit),
        read=found.there,
    )


def measured_pools(call: Call, context: Context, found: Found) -> dict[str, float]:
    """KV pool per GPU in bytes that a fresh capacity test measured, by logical name."""
    from fwctl.planning.evidence import settings_of

    return _pools(call, context.spec, found, lambda: settings_of(context))


def offline_pools(call: Call, paths: Sequence[str], spec: Spec) -> dict[str, float]:
    """The same without a look at the platform, as far as spec and lock say what runs."""
    from fwctl.planning.evidence import offline_settings

    found = find_evidence(call, paths, spec)
    return _pools(call, spec, found, lambda: offline_settings(spec, lock_of(call, paths)))


def _pools(
    call: Call, spec: Spec, found: Found, settings: Callable[[], Mapping[str, Setting]]
) -> dict[str, float]:
    from fwctl.planning.evidence import measured_pool_bytes

    if not any(item.record.kind == "capacity" for item in found.stored):
        return {}
    around = around_each(call, spec, found)
    pools = {
        name: measured_pool_bytes(found.stored, setting, around[name]) for name, setting in settings().items()
    }
    return {name: pool for name, pool in pools.items() if pool is not None}
