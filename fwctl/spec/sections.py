"""Trees -> what the rules look at: the top of each file, and every deployment with its defaults."""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass

from fwctl.catalog.field import Field, Kind
from fwctl.catalog.fields import FIELDS
from fwctl.catalog.run_fields import ENVELOPE, FILE_KINDS, FileKind
from fwctl.spec.groups import Group, deployment_group, run_group
from fwctl.spec.mistakes import described
from fwctl.spec.model import Evidence
from fwctl.spec.nodes import Mapping, Scalar, Sequence
from fwctl.spec.parse import DEFAULT_KIND, ParsedFile, node_at
from fwctl.spec.reader import Checked, Reader, Run, layered
from fwctl.spec.report import Report, escape, shown
from fwctl.spec.view import FileView, RunView, View

_KINDS = {kind.name: kind for kind in FILE_KINDS}
_REQUIRED = tuple(row.path for row in FIELDS if row.required)


@dataclass(frozen=True, slots=True)
class RunRead:
    """All that was read: `view` for the rules, and the files of kind Deployments among it."""

    view: RunView
    specs: tuple[ParsedFile, ...]


def read_run(
    files: list[ParsedFile],
    report: Report,
    environ: AnyMapping[str, str],
    *,
    need_secrets: bool,
    account: str | None,
    evidence: Evidence | None,
) -> RunRead:
    """Check every field of every file."""
    accepted = frozenset(name for file in files for name in _accepted(file))
    run = Run(report, environ, accepted, need_secrets)
    outer = [_defaults_file(file, run) for file in files if file.is_defaults and file.root is not None]
    views: list[FileView] = []
    deployments: list[View] = []
    specs: list[ParsedFile] = []
    for file in files:
        if file.root is None or file.is_defaults:
            continue
        checked = _top(file, file.root, run)
        is_spec = _is_spec(file)
        found = _deployments(checked, outer, run, evidence) if is_spec else []
        entries = checked.values.get("deployments")
        declares = not is_spec or (isinstance(entries, Mapping) and bool(entries.entries))
        views.append(FileView(file.source.file, file.start, checked, declares))
        deployments += found
        if is_spec:
            specs.append(file)
    _account_is_given(specs, views, account, report)
    names = {d.name: d for d in reversed(deployments)}
    return RunRead(RunView(tuple(views), tuple(deployments), account, names), tuple(specs))


def _is_spec(file: ParsedFile) -> bool:
    """Deployments, or something misspelt that has them."""
    return file.kind == DEFAULT_KIND or (
        file.kind not in _KINDS and file.root is not None and "deployments" in file.root.entries
    )


def _accepted(file: ParsedFile) -> list[str]:
    names = node_at(file.root, "settings", "accept_unknown")
    items = names.items if isinstance(names, Sequence) else []
    return [item.text for item in items if isinstance(item, Scalar)]


def _top(file: ParsedFile, root: Mapping, run: Run) -> Checked:
    """The top-level keys. Bodies of other kinds are looked at by their own readers."""
    reader = Reader(run)
    kind = _KINDS.get(file.kind)
    if _is_spec(file):
        checked = reader.read(run_group(), root)
    else:
        checked = reader.read(_envelope(kind), _without_body(root, kind))
    for key in ("apiVersion", *(kind.required if kind is not None else ())):
        if key not in root.entries:
            example = "write `apiVersion: fwctl/v1`" if key == "apiVersion" else None
            reader.problem("FW204", file.start, f"the file needs {key}", example)
    return checked


def _envelope(kind: FileKind | None = None) -> Group:
    """The keys that every kind has, and those of its body (which are named in messages only)."""
    group = Group("")
    group.children = {key: run_group().children[key] for key in ENVELOPE}
    for key in (kind.body if kind is not None else None) or ():
        group.children[key] = Field(key, Kind.OBJECT, "")
    return group


def _without_body(root: Mapping, kind: FileKind | None) -> Mapping:
    """The part of another kind's file that is checked here: the envelope and keys it does not have."""
    body = kind.body if kind is not None else None
    part = Mapping(root.start, root.end)
    part.entries = {
        key: entry
        for key, entry in root.entries.items()
        if key in ENVELOPE or (body is not None and key not in body)
    }
    return part


def _defaults_file(file: ParsedFile, run: Run) -> Checked:
    """The file of `--defaults`: deployment fields, either at its top or below `defaults:`."""
    assert file.root is not None
    if "defaults" not in file.root.entries:
        return Reader(run).read(deployment_group(), file.root)
    group = _envelope()
    group.children["defaults"] = run_group().children["defaults"]
    checked = Reader(run).read(group, file.root)
    return _defaults(checked, run)


def _defaults(checked: Checked, run: Run) -> Checked:
    node = checked.values.pop("defaults", None)
    return Reader(run, "/defaults").read(deployment_group(), node) if node is not None else Checked()


def _deployments(checked: Checked, outer: list[Checked], run: Run, evidence: Evidence | None) -> list[View]:
    layers = [*outer, _defaults(checked, run)]
    layers = [layer for layer in layers if layer.places]
    found = []
    names: Mapping | None = checked.values.get("deployments")
    for name, (key, node) in (names.entries if names is not None else {}).items():
        reader = Reader(run, "/deployments/" + escape(name), name)
        span = (key.start, key.end)
        Reader(run, "", name).key_trap(key, "deployments")
        if isinstance(node, Mapping):
            reader.read(deployment_group(), node)
        elif isinstance(node, Scalar | Sequence):
            message = f"deployment {shown(name)} must be a mapping of fields, not {described(node)}"
            reader.problem("FW202", span, message, "indent its fields below its name")
            continue
        else:
            continue
        view = View(name, span, layered([*layers, reader.checked]), run.accept_unknown, evidence)
        require_fields(view, reader)
        order_percentiles(view, reader)
        found.append(view)
    return found


def require_fields(d: View, reader: Reader) -> None:
    """FW204 at the nearest parent that is written; one message for a group that is missing as a whole."""
    missing: dict[str, list[str]] = {}
    for path in _REQUIRED:
        if not d.written(path):
            parent = path.rpartition(".")[0]
            missing.setdefault(parent if d.written(parent) else parent or path, []).append(path)
    for parent, paths in missing.items():
        span, at = d.place(parent)
        keys = " and ".join(path.removeprefix(f"{parent}.") for path in paths)
        if at:
            message = f"{parent} needs {keys}"
        else:
            message = f"deployment {shown(d.name)} needs {parent}" + (f" ({keys})" if keys != parent else "")
        example = "for example replicas: {min: 1, max: 2}" if parent == "replicas" else None
        reader.problem("FW204", span, message, example, path=at)


def order_percentiles(d: View, reader: Reader) -> None:
    """FW203 where a 95th percentile is below the median beside it."""
    for part in ("input", "output"):
        path = f"workload.{part}_tokens"
        p50, p95 = d.get(f"{path}.p50"), d.get(f"{path}.p95")
        if p50 is not None and p95 is not None and p95 < p50:
            span, at = d.place(f"{path}.p95")
            message = f"{path}: p95 {p95} is below p50 {p50}"
            reader.problem("FW203", span, message, "p95 is the length that 5 % exceed", path=at)


def _account_is_given(
    specs: list[ParsedFile], views: list[FileView], account: str | None, report: Report
) -> None:
    if specs and account is None and not any("account" in view.checked.places for view in views):
        report.add(
            "FW204",
            specs[0].start,
            "no file of this run names the account",
            suggestion="write `account: <your account>` (`firectl whoami` shows it)",
            path="",
        )
