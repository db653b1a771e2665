"""The winner as a change of the user's spec: a unified diff where the text can be changed safely, else the
lines to write. Pure; a diff is given out only after its result was read back as a spec."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from difflib import unified_diff
from typing import Any

from fwctl.catalog.experiment_fields import GIVEN
from fwctl.catalog.fields import BY_PATH
from fwctl.quality.experiments.model import Experiment
from fwctl.spec.files import Given
from fwctl.spec.load import load_given
from fwctl.spec.model import Deployment, Spec

# What the shape decides and a spec may pin: a pin that stays behind would contradict the new shape.
PINS = ("accelerator.type", "accelerator.count", "precision")
# Said by a candidate for the experiment's sake.
NOT_PROPOSED = (*GIVEN, "replicas.max", "display_name", "description", "tags")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]*")


def wanted(
    experiment: Experiment, winner: str, runs_as: Mapping[str, Any], entry: Deployment | None
) -> dict[str, Any]:
    """Field -> value, None for one that has to go. runs_as: the fields of the live winner.

    Fields that no candidate said for itself stay as they are.
    """
    own = experiment.entry(winner).fields
    varied = dict.fromkeys(path for paths in experiment.varied.values() for path in paths)
    found = {
        path: own.get(path) for path in varied if path not in NOT_PROPOSED and path in {*own, *_of(entry)}
    }
    if "shape" in found:
        for path in PINS:
            if path in _of(entry) or path in found:
                found[path] = own.get(path, runs_as.get(path))
    if entry is None:
        return {path: value for path, value in found.items() if value is not None}
    return {path: value for path, value in found.items() if value != entry.fields.get(path)}


def _of(entry: Deployment | None) -> Mapping[str, Any]:
    return entry.fields if entry is not None else {}


def edited(
    file: str,
    text: str,
    entry: Deployment,
    changes: Mapping[str, Any],
    *,
    environ: Mapping[str, str],
    account: str,
) -> str | None:
    """The text of the file with these changes, None when it cannot be changed without a doubt."""
    found = _edited(file, text.splitlines(keepends=True), entry, changes)
    if found is None:
        return None
    after = "".join(found)
    spec = load_given([Given(file, after.encode())], environ=environ, account=account).spec
    return after if _means(spec, entry, changes) else None


def diff(file: str, before: str, after: str) -> str:
    """Both texts of the file as a unified diff."""
    lines = (before.splitlines(keepends=True), after.splitlines(keepends=True))
    return "".join(unified_diff(*lines, f"a/{file}", f"b/{file}", n=2))


def _edited(file: str, lines: list[str], entry: Deployment, changes: Mapping[str, Any]) -> list[str] | None:
    found = list(lines)
    new: dict[str, Any] = {}
    spots = []
    for path, value in changes.items():
        place = entry.positions.get(path) if path in entry.fields else None
        if place is None:
            new[path] = value
        elif place.file != file or place.line != place.end_line:
            return None
        else:
            spots.append((place, value))
    for place, value in sorted(spots, key=lambda item: (-item[0].line, -item[0].column)):
        line = found[place.line - 1]
        text = _scalar(value)
        if value is None or text is None:
            return None
        found[place.line - 1] = line[: place.column - 1] + text + line[place.end_column - 1 :]
    return _with_new(file, found, entry, new)


def _with_new(file: str, lines: list[str], entry: Deployment, new: Mapping[str, Any]) -> list[str] | None:
    """Fields that the entry does not have yet, on lines of their own behind its shape."""
    after = entry.positions.get("shape")
    if not new:
        return lines
    if after is None or after.file != file or any(path.partition(".")[0] in _groups(entry) for path in new):
        return None
    line = lines[after.line - 1]
    start = re.match(r" +(?=shape:)", line)
    if start is None:
        return None
    rows = [f"{start[0]}{text}\n" for text in _flow(new)]
    return [*lines[: after.line], *rows, *lines[after.line :]]


def _groups(entry: Deployment) -> set[str]:
    return {path.partition(".")[0] for path in entry.positions}


def _flow(values: Mapping[str, Any]) -> list[str]:
    """`precision: FP8`, `speculation: {mode: ngram, ngram_length: 3}`."""
    groups: dict[str, list[str]] = {}
    for path, value in values.items():
        top, _, rest = path.partition(".")
        groups.setdefault(top, []).append(f"{rest}: {_text(value)}" if rest else _text(value))
    nested = {path.partition(".")[0] for path in values if "." in path}
    return [
        f"{top}: {{{', '.join(parts)}}}" if top in nested else f"{top}: {parts[0]}"
        for top, parts in groups.items()
    ]


def _text(value: Any) -> str:
    return _scalar(value) or json.dumps(value)


def _scalar(value: Any) -> str | None:
    """A value as plain YAML, None for a collection."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) and not value.isdigit() else json.dumps(value)
    return None


def _means(spec: Spec | None, entry: Deployment, changes: Mapping[str, Any]) -> bool:
    """True when the edited file means the old entry with exactly these changes."""
    now = spec.deployments.get(entry.name) if spec is not None else None
    if now is None:
        return False
    own = {path: value for path, value in changes.items() if not BY_PATH[path].managed}
    goal = {path: value for path, value in {**entry.fields, **changes}.items() if path not in own}
    same = dict(now.own) == _without_none({**entry.own, **own})
    return same and dict(now.fields) == _without_none(goal)


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {path: value for path, value in values.items() if value is not None}


def snippet(name: str, changes: Mapping[str, Any]) -> str:
    """The lines to write, where no diff can be given."""
    rows: Iterable[str] = _flow({path: value for path, value in changes.items() if value is not None})
    gone = [f"    # without {path}" for path, value in changes.items() if value is None]
    return "\n".join(["deployments:", f"  {name}:", *(f"    {row}" for row in rows), *gone]) + "\n"
