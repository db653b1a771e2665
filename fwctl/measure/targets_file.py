"""Files of `kind: Targets`: what a bench run asks, by name, with places in every message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fwctl.errors import Diagnostic, InvalidSpecError, Severity, UsageError
from fwctl.measure.target import Target
from fwctl.measure.target_entry import Entry, read_fields
from fwctl.spec.closest import did_you_mean, listed
from fwctl.spec.files import Given, read_file
from fwctl.spec.kinds import parse_kind
from fwctl.spec.mistakes import described
from fwctl.spec.nodes import Broken, place
from fwctl.spec.nodes import Mapping as Tree
from fwctl.spec.parse import ParsedFile, parse_all, text_at
from fwctl.spec.reader import Checked, Reader, Run
from fwctl.spec.report import Report, shown
from fwctl.spec.sources import Sources

KIND = "Targets"


@dataclass(frozen=True, slots=True)
class Resolved:
    """What stands behind a logical name. model: the string clients send. deployment: its resource.
    usd_per_hour: all replicas that run; None when not known. slo_s: objectives, seconds by metric."""

    model: str
    deployment: str
    usd_per_hour: float | None = None
    slo_s: Mapping[str, float] = field(default_factory=dict)


Resolver = Callable[[str, str | None], Resolved]


def load_targets(
    path: Path,
    names: Sequence[str],
    environ: Mapping[str, str],
    cwd: Path,
    resolve: Resolver | None = None,
) -> list[Target]:
    """The targets of these names in this order; all of the file when there are none.

    path: as the user wrote it, relative to `cwd`. resolve: (logical name, account) -> what serves it.
    Raises InvalidSpecError with every problem of the targets asked for, UsageError for a name that is
    not in the file.
    """
    report = Report(Sources())
    given = replace(read_file(cwd / path), file=str(path))
    file = parse_kind(given, KIND, "targets stand", report, environ)
    node = file.root.entries["targets"][1] if file.root and "targets" in file.root.entries else None
    found: dict[str, Target] = {}
    if isinstance(node, Tree) and file.root is not None:
        chosen = _chosen(path, names, list(node.entries))
        run = Run(report, environ, need_secrets=True)
        defaults = _defaults(file.root, run)
        for name in chosen:
            key, value = node.entries[name]
            target = Entry(run, name, key, defaults).target(value)
            if target is not None:
                found[name] = target
    elif node is not None and not isinstance(node, Broken):
        report.add("FW202", (node.start, node.end), f"targets takes a mapping, not {described(node)}")
    diagnostics = report.finish(strict=False)
    if any(item.severity is Severity.ERROR for item in diagnostics):
        raise InvalidSpecError(f"{path} is not valid", diagnostics=diagnostics)
    return [_resolved(target, file, resolve) for target in found.values()]


def check_targets(given: Given, environ: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """Every problem inside the targets of a file, whose envelope is checked with the specs. Keys need not
    be set, as nothing is sent."""
    report = Report(Sources())
    (file,) = parse_all([given], None, report)
    node = file.root.entries["targets"][1] if file.root and "targets" in file.root.entries else None
    if file.root is not None and isinstance(node, Tree):
        run = Run(report, environ)
        defaults = _defaults(file.root, run)
        for name, (key, value) in node.entries.items():
            Entry(run, name, key, defaults).target(value)
    return report.finish(strict=False)


def _chosen(path: Path, names: Sequence[str], known: Sequence[str]) -> list[str]:
    for at, name in enumerate(names):
        if name not in known:
            steps = [did_you_mean(name, known) or listed(known, f"see {path}")]
            raise UsageError(f"{path} has no target {shown(name)}", next_steps=steps)
        if name in names[:at]:
            raise UsageError(f"the target {shown(name)} is named twice")
    if not known:
        raise UsageError(f"{path} has no targets", next_steps=["see docs/bench.md, Targets"])
    return list(names or known)


def _defaults(root: Tree, run: Run) -> Checked:
    entry = root.entries.get("defaults")
    if entry is None:
        return Checked()
    reader = Reader(run, "/defaults")
    if isinstance(entry[1], Tree):
        return read_fields(reader, entry[1])
    reader.problem("FW202", place(*entry), "defaults takes a mapping of fields")
    return Checked()


def _resolved(target: Target, file: ParsedFile, resolve: Resolver | None) -> Target:
    if target.deployment is None:
        return target
    if resolve is None:
        raise UsageError(
            f"target {shown(target.name)} names a deployment, and no specs were read",
            next_steps=["write model: with the model string"],
        )
    found = resolve(target.deployment, target.account or text_at(file.root, "account"))
    hourly = target.usd_per_hour if target.usd_per_hour is not None else found.usd_per_hour
    return replace(
        target,
        model=found.model,
        deployment=found.deployment,
        usd_per_hour=hourly,
        slo_s=target.slo_s or found.slo_s,
    )
