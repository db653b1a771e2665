"""Spec <-> plain JSON, for plan files: the desired state with `${env:NAME}` unresolved.

The document holds no secret by construction: a sensitive value is its reference, and every field whose
text referred to the environment holds that text.
"""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from typing import Any

from fwctl.catalog.fields import BY_PATH
from fwctl.errors import Diagnostic, InvalidSpecError, Position, Severity
from fwctl.redact import Secret
from fwctl.spec import formats
from fwctl.spec.build import split
from fwctl.spec.groups import deployment_group
from fwctl.spec.model import Deployment, Spec
from fwctl.spec.nodes import Mapping, Node, Scalar, Sequence
from fwctl.spec.reader import Checked, Reader, Run
from fwctl.spec.report import Report, escape
from fwctl.spec.sources import Sources

_PLACE = ("file", "line", "column", "end_line", "end_column")


def to_document(spec: Spec) -> dict[str, Any]:
    """JSON-able form: account, stack, settings, budget, sha256, and for each deployment its
    `deployment_id`, `fields` and `own` (path -> value, unresolved where the path is in `references`) and
    `positions` (path -> [file, line, column, end_line, end_column])."""
    return {
        "account": spec.account,
        "stack": spec.stack,
        "settings": dict(spec.settings),
        "budget": dict(spec.budget),
        "sha256": dict(spec.sha256),
        "deployments": {
            name: _deployment_document(spec.deployments[name]) for name in sorted(spec.deployments)
        },
    }


def _deployment_document(d: Deployment) -> dict[str, Any]:
    def unresolved(values: AnyMapping[str, Any]) -> dict[str, Any]:
        return {path: _plain(d.references.get(path, values[path])) for path in sorted(values)}

    return {
        "deployment_id": d.deployment_id,
        "fields": unresolved(d.fields),
        "own": unresolved(d.own),
        "references": sorted(d.references),
        "positions": {
            path: [getattr(place, key) for key in _PLACE]
            for path, place in sorted(d.positions.items())
            if path in d.fields or path in d.own or not path
        },
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Secret):
        return value.reference
    return [_plain(item) for item in value] if isinstance(value, list) else value


def from_document(document: Any, environ: AnyMapping[str, str]) -> Spec:
    """The Spec of a document, its references resolved against `environ` (secrets needed).

    Raises InvalidSpecError, with every problem, on anything that `to_document` cannot have written and
    on a variable that is not set.
    """
    root = _typed(document, dict, "the desired state")
    report = Report(Sources())
    settings = _typed(root.get("settings", {}), dict, "settings")
    accepted = settings.get("accept_unknown", [])
    names = (
        frozenset(name for name in accepted if isinstance(name, str))
        if isinstance(accepted, list)
        else frozenset()
    )
    run = Run(report, environ, names, need_secrets=True)
    deployments = {
        name: _deployment(name, _typed(entry, dict, f"deployment {name}"), run)
        for name, entry in _typed(root.get("deployments"), dict, "deployments").items()
    }
    diagnostics = report.finish(strict=False)
    if any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics):
        raise _invalid(diagnostics)
    return Spec(
        account=_named(root.get("account"), "account"),
        stack=_named(root.get("stack"), "stack"),
        deployments=deployments,
        settings=settings,
        budget={key: _amount(value) for key, value in _typed(root.get("budget", {}), dict, "budget").items()},
        sha256={
            file: _typed(digest, str, "sha256")
            for file, digest in _typed(root.get("sha256", {}), dict, "sha256").items()
        },
    )


def _typed(value: Any, wanted: type, what: str) -> Any:
    if isinstance(value, wanted):
        return value
    raise InvalidSpecError(f"the stored desired state is damaged: {what} is not readable")


def _named(value: Any, path: str) -> str:
    text: str = _typed(value, str, path)
    _, check = formats.CHECKS[path]
    _typed(text if check(text) is None else None, str, path)
    return text


def _amount(value: Any) -> float:
    return float(_typed(None if isinstance(value, bool) else value, int | float, "budget"))  # type: ignore[arg-type]


def _invalid(diagnostics: tuple[Diagnostic, ...]) -> InvalidSpecError:
    first = next(d for d in diagnostics if d.severity is Severity.ERROR)
    return InvalidSpecError(first.message, deployment=first.deployment, diagnostics=diagnostics)


def _deployment(name: str, entry: dict[str, Any], run: Run) -> Deployment:
    """Read the values as if they stood in a file, so that a stored value is checked like a written one."""
    written = {**_paths(entry, "fields", managed=True), **_paths(entry, "own", managed=False)}
    source = run.report.sources.add(f"deployment {name} of the plan", "")
    tree = _tree(written, source.base)
    reader = Reader(run, "/deployments/" + escape(name), name)
    checked: Checked = reader.read(deployment_group(), tree)
    fields, own = split(checked.values)
    given = _typed(entry.get("deployment_id"), str, f"deployment_id of {name}")
    if "id" in checked.references:
        given = checked.values.get("id", given)
    positions = _positions(_typed(entry.get("positions", {}), dict, f"positions of {name}"))
    return Deployment(name, given, fields, own, checked.references, positions)


def _paths(entry: dict[str, Any], key: str, *, managed: bool) -> dict[str, Any]:
    found: dict[str, Any] = _typed(entry.get(key), dict, key)
    for path in found:
        row = BY_PATH.get(path)
        if row is None or row.managed is not managed:
            raise InvalidSpecError(f"the stored desired state is damaged: {path} is no field of {key}")
    return found


def _positions(stored: dict[str, Any]) -> dict[str, Position]:
    found = {}
    for path, place in stored.items():
        match place:
            case [str(), int(), int(), int(), int()]:
                found[path] = Position(*place)
            case _:
                raise InvalidSpecError(f"the stored desired state is damaged: the position of {path}")
    return found


def _tree(values: AnyMapping[str, Any], at: int) -> Mapping:
    """Path -> value as the mapping a spec file would have."""
    root = Mapping(at, at)
    for path, value in values.items():
        place = root
        *parents, last = path.split(".")
        for key in parents:
            child = place.entries.setdefault(key, (Scalar(key, False, at, at), Mapping(at, at)))[1]
            assert isinstance(child, Mapping)
            place = child
        place.entries[last] = (Scalar(last, False, at, at), node_of(value, at))
    return root


def node_of(value: Any, at: int) -> Node:
    """A JSON value as a node; text counts as quoted."""
    if isinstance(value, dict):
        mapping = Mapping(at, at)
        mapping.entries = {
            key: (Scalar(key, False, at, at), node_of(item, at)) for key, item in value.items()
        }
        return mapping
    if isinstance(value, list):
        listed = Sequence(at, at)
        listed.items = [node_of(item, at) for item in value]
        return listed
    if isinstance(value, bool):
        return Scalar("true" if value else "false", True, at, at)
    if isinstance(value, int | float):
        return Scalar(repr(value), True, at, at)
    if value is None:
        return Scalar("null", True, at, at)
    return Scalar(value, False, at, at)
