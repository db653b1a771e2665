"""A file of `kind: Experiment` -> Experiment, with every problem at its place.

Candidates are read like deployments of a spec: the same fields, the same rules, the base merged below.
"""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fwctl.catalog.experiment_fields import (
    DECIDED,
    DEFAULT_MAX_REPLICAS,
    EXPERIMENT_FIELDS,
    GIVEN,
)
from fwctl.errors import Diagnostic, Severity
from fwctl.quality.experiments.model import SEPARATOR, Experiment
from fwctl.quality.experiments.values import Values, name_problem
from fwctl.spec.build import Places, split
from fwctl.spec.files import Given
from fwctl.spec.groups import deployment_group, group_of
from fwctl.spec.kinds import is_kind, load_kind, require_rows, wrong
from fwctl.spec.mistakes import described
from fwctl.spec.model import Deployment, Spec
from fwctl.spec.nodes import Broken, Mapping, Node, Sequence
from fwctl.spec.parse import ParsedFile, node_at, parse_all
from fwctl.spec.reader import Checked, Reader, Run, layered
from fwctl.spec.report import Report, escape, shown
from fwctl.spec.rules.check import run_rules
from fwctl.spec.sections import require_fields
from fwctl.spec.sources import Sources, Span
from fwctl.spec.view import FileView, RunView, View

KIND = "Experiment"
FEWEST, MOST = 2, 4
_DECIDED = {path: why for why, paths in DECIDED.items() for path in paths}


def load_experiment(path: Path, *, environ: AnyMapping[str, str], shown_as: str | None = None) -> Experiment:
    """Read and check one file. shown_as: its name in messages. Raises InvalidSpecError with every problem."""

    def check(given: Given) -> tuple[Experiment | None, tuple[Diagnostic, ...]]:
        return check_experiment(given, environ=environ)

    experiment = load_kind(path, shown_as, check, what="experiment", page="docs/experiments.md")
    return replace(experiment, suite=path.parent / experiment.suite)


def check_experiment(
    given: Given, *, environ: AnyMapping[str, str], need_secrets: bool = True, most: int = MOST
) -> tuple[Experiment | None, tuple[Diagnostic, ...]]:
    """As `load_experiment`, from bytes; the suite stays as it is written. Advice (FW4xx) is left out: a
    candidate is to be tried, not to be kept. most: candidates that there may be."""
    report = Report(Sources())
    (file,) = parse_all([given], None, report)
    experiment = None
    if file.root is not None:
        experiment = _File(file, report, Run(report, environ, _accepted(file), need_secrets), most).read()
    found = tuple(
        replace(item, path=item.path.replace("/deployments/", "/candidates/", 1) if item.path else None)
        for item in report.finish(strict=False)
        if item.severity is not Severity.WARNING
    )
    failed = any(item.severity is Severity.ERROR for item in found)
    return (None if failed else experiment), found


def _accepted(file: ParsedFile) -> frozenset[str]:
    """The values that `settings.accept_unknown` names."""
    names = node_at(file.root, "settings", "accept_unknown") if file.root is not None else None
    return (
        frozenset(getattr(item, "text", "") for item in names.items)
        if isinstance(names, Sequence)
        else frozenset()
    )


@dataclass(slots=True)
class _Candidate:
    name: str
    key: Span
    checked: Checked
    varied: tuple[str, ...]


class _File:
    """One parsed file on its way to an Experiment."""

    def __init__(self, file: ParsedFile, report: Report, run: Run, most: int) -> None:
        assert file.root is not None
        self.file = file
        self.root: Mapping = file.root
        self.report = report
        self.run = run
        self.most = most
        self.reader = Reader(run)

    def read(self) -> Experiment | None:
        if not is_kind(self.file, KIND, "an experiment stands", self.report):
            return None
        top = self.reader.read(group_of(EXPERIMENT_FIELDS), self.root)
        require_rows(EXPERIMENT_FIELDS, self.reader, self.file)
        candidates = self._candidates(top)
        self._check_rules(top, candidates)
        return self._build(top, candidates)

    def _candidates(self, top: Checked) -> list[_Candidate]:
        node = top.values.get("base")
        base = Reader(self.run, "/base")
        if isinstance(node, Mapping):
            base.read(deployment_group(), node)
            self._decided(base)
        written = top.values.get("candidates")
        entries = written.entries if isinstance(written, Mapping) else {}
        if isinstance(written, Mapping) and not FEWEST <= len(entries) <= self.most:
            count = f"an experiment has {FEWEST} to {self.most} candidates, not {len(entries)}"
            self._wrong("candidates", count, "FW203")
        found = [self._candidate(name, key, node, base.checked) for name, (key, node) in entries.items()]
        return [item for item in found if item is not None]

    def _candidate(self, name: str, key: Any, node: Node, base: Checked) -> _Candidate | None:
        reader = Reader(self.run, "/candidates/" + escape(name), name)
        span = (key.start, key.end)
        if reader.key_trap(key, "candidates"):
            return None
        if problem := name_problem(name):
            reader.problem("FW310", span, f"candidate {shown(name)} {problem}")
        if not isinstance(node, Mapping):
            if not isinstance(node, Broken):
                message = f"candidate {shown(name)} must be a mapping of fields, not {described(node)}"
                reader.problem("FW202", span, message)
            return None
        reader.read(deployment_group(), node)
        self._decided(reader)
        own = tuple(path for path in reader.checked.values if path in reader.checked.places)
        checked = (
            layered([layer for layer in (base, reader.checked) if layer.places])
            if base.places
            else reader.checked
        )
        checked.values = {"replicas.max": DEFAULT_MAX_REPLICAS, **checked.values, **GIVEN}
        checked.places = {
            "replicas.max": span,
            "replicas": span,
            **checked.places,
            **dict.fromkeys(GIVEN, span),
        }
        require_fields(View(name, span, checked, self.run.accept_unknown), reader)
        return _Candidate(name, span, checked, own)

    def _decided(self, reader: Reader) -> None:
        """What a candidate may not say for itself."""
        values = reader.checked.values
        for path in [path for path in values if path in _DECIDED and values[path] != GIVEN.get(path)]:
            message = f"{path} cannot be chosen here: {_DECIDED[path]}"
            reader.problem("FW201", reader.checked.places[path], message, "take it out", path=path)
            del values[path]

    def _check_rules(self, top: Checked, candidates: list[_Candidate]) -> None:
        views = tuple(
            View(item.name, item.key, item.checked, self.run.accept_unknown)
            for item in candidates
            if name_problem(item.name) is None
        )
        whole = FileView(self.file.source.file, self.file.start, top, declares=True)
        run_rules(RunView((whole,), views, None, {view.name: view for view in views}), self.report)

    def _build(self, top: Checked, candidates: list[_Candidate]) -> Experiment | None:
        get = top.values.get
        read = Values(top, self._wrong)
        name = read.name(Path(self.file.source.file).stem.lower())
        cap, life, margin, load = read.dollars(), read.life_s(), read.margin(), read.load()
        baseline = read.baseline([item.name for item in candidates])
        if not candidates or None in (cap, life, get("account"), get("suite")):
            return None
        entries = [_entry(f"{name}{SEPARATOR}{item.name}", item, self.report.sources) for item in candidates]
        return Experiment(
            name=name,
            file=self.file.source.file,
            spec=self._spec(top, entries),
            candidates=tuple(item.name for item in candidates),
            baseline=baseline,
            suite=Path(str(get("suite"))),
            spend_cap_usd=cap or 0.0,
            time_to_live_s=life or 0.0,
            load=load,
            slo=read.slo(),
            margin=margin,
            deployment=get("deployment"),
            varied={item.name: item.varied for item in candidates},
        )

    def _spec(self, top: Checked, entries: list[Deployment]) -> Spec:
        settings = {
            path.removeprefix("settings."): value
            for path, value in top.values.items()
            if path.startswith("settings.")
        }
        return Spec(
            account=str(top.values["account"]),
            stack=str(top.values.get("stack", "default")),
            deployments={entry.name: entry for entry in entries},
            settings=settings,
            sha256={self.file.source.file: self.file.sha256},
        )

    def _wrong(self, path: str, message: str, code: str, suggestion: str | None = None) -> None:
        wrong(self.reader, self.file, code, message, path=path, suggestion=suggestion)


def _entry(name: str, item: _Candidate, sources: Sources) -> Deployment:
    fields, own = split(item.checked.values)
    places = Places(sources, {**item.checked.places, "": item.key})
    return Deployment(name, name, fields, own, item.checked.references, places)
