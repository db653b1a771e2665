"""Which shape version a deployment will run, and what speaks against it (FW502, FW503, FW504).

An existing deployment stays on its version until `--upgrade-shapes`. A create or a change of shape takes
the locked version, else the latest validated one. Names such as `fast` are resolved through `match`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fwctl.catalog.field import Owner
from fwctl.catalog.fields import BY_PATH
from fwctl.errors import Diagnostic
from fwctl.live.model import LiveDeployment, ShapeVersion
from fwctl.live.normalise import full_name, shape_of
from fwctl.planning.context import Context, problem
from fwctl.planning.values import is_preset, same
from fwctl.spec.model import Deployment

NO_SHAPE = "none"


@dataclass(frozen=True, slots=True)
class ShapeChoice:
    """version: the one that will run, None without a shape or when it could not be found. name: what is
    sent to firectl. moved_to: a newer validated version that the deployment does not follow by itself."""

    name: str | None = None
    version: ShapeVersion | None = None
    locked: bool = False
    moved_to: ShapeVersion | None = None
    problems: tuple[Diagnostic, ...] = ()

    @property
    def snapshot(self) -> Mapping[str, Any]:
        return self.version.snapshot if self.version else {}


def choose(context: Context, entry: Deployment, current: LiveDeployment | None) -> ShapeChoice:
    """The shape version for one entry; `current` is the deployment that exists."""
    asked = str(entry.fields.get("shape", NO_SHAPE))
    if asked == NO_SHAPE:
        return ShapeChoice()
    running = str(current.fields.get("shape", "")) if current else ""
    if current is not None and running and _satisfies(context, entry, asked, current):
        return _stay(context, entry, asked, running)
    return _fresh(context, entry, asked)


def _satisfies(context: Context, entry: Deployment, asked: str, current: LiveDeployment) -> bool:
    running = str(current.fields["shape"])
    if not is_preset(asked):
        return asked == running or same(BY_PATH["shape"], asked, running)
    if current.fields.get("model") != full_name(str(entry.fields["model"]), context.spec.account):
        return False
    version = context.running_version(current)
    return asked == "default" or (version is not None and _has_preset(version, asked))


def _has_preset(version: ShapeVersion, asked: str) -> bool:
    return (version.preset or "").lower() == asked


def _stay(context: Context, entry: Deployment, asked: str, running: str) -> ShapeChoice:
    version = context.versions_by_name.get(running)
    newest = latest(context.live.shapes.get(shape_of(running)) or ())
    newer = newest if newest is not None and newest.name != running else None
    if newer is not None and asked == running and "/versions/" in asked:
        newer = None  # the spec pins this version
    if newer is not None and context.options.upgrade_shapes:
        return ShapeChoice(newer.name, newer, problems=_faults(context, entry, newer))
    return ShapeChoice(running, version, moved_to=newer)


def latest(versions: Sequence[ShapeVersion]) -> ShapeVersion | None:
    """The latest validated version of a list as `live` orders it."""
    return next((version for version in versions if version.validated), None)


def _fresh(context: Context, entry: Deployment, asked: str) -> ShapeChoice:
    model = full_name(str(entry.fields.get("model", "")), context.spec.account)
    options = context.options
    if context.lock is not None and not options.no_lock and not options.upgrade_shapes:
        entry_in_lock = context.lock.shape(asked, model)
        if entry_in_lock is not None:
            return _locked(context, entry, entry_in_lock.version)
    if is_preset(asked):
        return _preset(context, entry, asked, model)
    versions = context.live.shapes.get(asked) or ()
    pinned = "/versions/" in asked and not asked.endswith("/versions/latest")
    version = next((v for v in versions if v.name == asked), None) if pinned else latest(versions)
    if version is None:
        return ShapeChoice(asked, problems=(_missing(entry, asked, versions, pinned),))
    return ShapeChoice(version.name, version, problems=_faults(context, entry, version))


def _locked(context: Context, entry: Deployment, name: str) -> ShapeChoice:
    version = context.versions_by_name.get(name)
    fix = "`fwctl lock --upgrade` and commit the lock, or pass --no-lock"
    if version is None:
        gone = problem("FW502", f"the locked {name} no longer exists", entry, "shape", suggestion=fix)
        return ShapeChoice(name, locked=True, problems=(gone,))
    faults = _faults(context, entry, version, fix)
    return ShapeChoice(name, version, locked=True, problems=faults)


def _preset(context: Context, entry: Deployment, asked: str, model: str) -> ShapeChoice:
    offered = context.live.matches.get(model, ())
    fitting = [v for v in offered if v.validated and (asked == "default" or _has_preset(v, asked))]
    if not fitting:
        none = problem(
            "FW502",
            f"no validated shape with preset `{asked}` for {model} on this account",
            entry,
            "shape",
            suggestion=f"`fwctl shapes {model}` lists what there is",
        )
        return ShapeChoice(asked, problems=(none,))
    version = next((v for v in fitting if _agrees(entry, v)), fitting[0])
    return ShapeChoice(version.name, version, problems=_faults(context, entry, version))


def _agrees(entry: Deployment, version: ShapeVersion) -> bool:
    """True when the version carries every pin of the entry; the server picks in the same way."""
    return all(
        same(BY_PATH[path], value, version.snapshot[path])
        for path, value in entry.fields.items()
        if BY_PATH[path].owner is Owner.SHAPE and path in version.snapshot
    )


def _missing(entry: Deployment, asked: str, versions: Iterable[ShapeVersion], pinned: bool) -> Diagnostic:
    if list(versions) and not pinned:
        return problem("FW504", f"{asked} has no validated version", entry, "shape")
    return problem(
        "FW502",
        f"{asked} does not exist, or this account cannot see it",
        entry,
        "shape",
        suggestion=f"`fwctl shapes {entry.fields.get('model', 'MODEL')}` lists the shapes of the model",
    )


def _faults(
    context: Context, entry: Deployment, version: ShapeVersion, suggestion: str | None = None
) -> tuple[Diagnostic, ...]:
    found = []
    if not version.validated:
        message = f"{version.name} is not validated"
        found.append(problem("FW504", message, entry, "shape", suggestion=suggestion))
    model = full_name(str(entry.fields.get("model", "")), context.spec.account)
    details = context.live.models.get(model)
    bases = {model, details.base_model if details else None}
    if version.base_model and version.base_model not in bases:
        message = f"{version.shape} is for {version.base_model}, not for {model}"
        found.append(problem("FW503", message, entry, "shape"))
    return tuple(found)
