"""Validation of a draft: what the rules refuse is left out of a live import, and told of a script."""

from __future__ import annotations

from collections.abc import Mapping

from fwctl.errors import Diagnostic, Severity
from fwctl.importing.model import Draft, Entry, Imported, Remark
from fwctl.importing.yaml_text import write
from fwctl.spec.files import Given
from fwctl.spec.load import load_given

FILE = "import.yaml"
_REQUIRED = frozenset({"model", "shape", "replicas.min", "replicas.max", "accept_shapeless_risk"})
_HEADING = "This spec does not validate yet:"


class AnyVariable(dict[str, str]):
    """An environment in which every variable is set, to a text that suits most fields."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return name.lower().replace("_", "-")


def problems_of(text: str, environ: Mapping[str, str]) -> list[Diagnostic]:
    """Errors of a document."""
    loaded = load_given([Given(FILE, text.encode("utf-8", "replace"))], environ=environ)
    return [item for item in loaded.diagnostics if item.severity is Severity.ERROR]


def finish(draft: Draft, environ: Mapping[str, str], *, prune: bool) -> Imported:
    """The text of a draft. prune: leave out optional fields that the rules refuse: an absent field is
    not managed, so that a plan stays without changes."""
    environ = AnyVariable({**environ, **draft.variables})
    while prune and _prune_once(draft, environ):
        pass
    text = write(draft)
    found = [] if not draft.entries else problems_of(text, environ)
    found = [item for item in found if prune or not _is_open(draft, item)]
    problems = tuple(dict.fromkeys(_line(draft, item) for item in found))
    if problems:
        draft.comments += [_HEADING, *(f"  {item}" for item in problems)]
        text = write(draft)
    return Imported(text, tuple(draft.remarks), problems, tuple(entry.name for entry in draft.entries))


def _is_open(draft: Draft, item: Diagnostic) -> bool:
    """True for a problem of a value that only a variable decides."""
    entry = next((entry for entry in draft.entries if entry.name == _name_in(item)), None)
    path = ".".join(_parts(item)[2:])
    return entry is not None and any(
        "${env:" in str(value)
        for name, value in entry.values.items()
        if path and (name == path or path.startswith(f"{name}."))
    )


def _line(draft: Draft, item: Diagnostic) -> str:
    """One line; a suggestion that quotes the model of an entry quotes it as the entry does."""
    where = f"{item.deployment}: " if item.deployment else ""
    entry = next((entry for entry in draft.entries if entry.name == _name_in(item)), None)
    model = str(entry.values.get("model", "")) if entry else ""
    fix = f"; {item.suggestion}" if item.suggestion else ""
    if item.code == "FW301" and model:
        fix = f"; `fwctl shapes {model}` lists the validated shapes"
    return " ".join(f"{item.code} {where}{item.message}{fix}".split())


def _prune_once(draft: Draft, environ: Mapping[str, str]) -> bool:
    by_name = {entry.name: entry for entry in draft.entries}
    dropped = False
    for item in problems_of(write(draft), environ) if draft.entries else []:
        entry = by_name.get(_name_in(item))
        path = _path_of(entry, item) if entry else None
        if entry is not None and path is not None:
            del entry.values[path]
            message = f"{path} is left out, so it is not managed: {item.message} ({item.code})"
            entry.comments.append(message)
            draft.remarks.append(Remark("", 0, "left_out", f"{entry.name}: {message}"))
            dropped = True
    return dropped


def _parts(item: Diagnostic) -> list[str]:
    return (item.path or "").split("/")[1:]


def _name_in(item: Diagnostic) -> str:
    parts = _parts(item)
    return parts[1] if len(parts) > 1 and parts[0] == "deployments" else item.deployment or ""


def _path_of(entry: Entry, item: Diagnostic) -> str | None:
    """The written field that a problem is about; None for one that the entry cannot do without."""
    parts = _parts(item)[2:]
    for length in range(len(parts), 0, -1):
        path = ".".join(parts[:length])
        below = [name for name in entry.values if name == path or name.startswith(f"{path}.")]
        droppable = [name for name in below if name not in _REQUIRED]
        if droppable:
            return droppable[0]
    return None
