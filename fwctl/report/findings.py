"""Every problem that a report tells, in one shape, for the formats that other programs read."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fwctl.errors import Diagnostic, Severity
from fwctl.report.layout import Style
from fwctl.report.model import Report

TROUBLESHOOTING = "docs/troubleshooting.md"
_VERDICTS = {"does-not-fit": Severity.ERROR, "tight": Severity.WARNING, "unknown": Severity.NOTE}
_CHECKS = {"fail": Severity.ERROR, "warn": Severity.WARNING, "unknown": Severity.NOTE}
_OUTCOMES = {"failed": Severity.ERROR, "in_progress": Severity.NOTE, "not_started": Severity.WARNING}
_GATES = {"failed": Severity.ERROR, "invalid": Severity.ERROR, "inconclusive": Severity.WARNING}
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem. rule: a diagnostic's code, or the word for a verdict, check or failure, such as
    `fit/tight`. line and column count from 1, the end is exclusive; 0 stands for not known. path: JSON
    Pointer into the file. page: the documentation, relative to the project."""

    rule: str
    severity: Severity
    message: str
    deployment: str | None = None
    file: str | None = None
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    path: str | None = None
    suggestion: str | None = None
    page: str | None = None
    gate: str | None = None

    @property
    def text(self) -> str:
        """The message with the way out."""
        return f"{self.message}; fix: {self.suggestion}" if self.suggestion else self.message


def findings(report: Report) -> list[Finding]:
    """Problems of a report, errors first, otherwise in the order in which they were found."""
    found = [of_diagnostic(item) for item in report.diagnostics]
    known = {(item.deployment, item.message) for item in found}
    others = (*_verdicts(report), *_checks(report), *_outcomes(report), *_gates(report))
    found += [item for item in others if (item.deployment, item.message) not in known]
    error = report.error
    if error is not None and not any(item.severity is Severity.ERROR for item in found):
        steps = "; ".join(error.next_steps) or None
        found.append(
            Finding(
                f"error/{error.to_json()['code']}",
                Severity.ERROR,
                error.message,
                error.deployment,
                suggestion=steps,
                page=entry(error.to_json()["code"]),
            )
        )
    return sorted(found, key=lambda item: _ORDER[item.severity])


def of_diagnostic(item: Diagnostic) -> Finding:
    """A diagnostic as a finding."""
    at = item.position
    return Finding(
        item.code if item.code.startswith("FW") else f"check/{item.code}",
        item.severity,
        item.message,
        item.deployment,
        file=at.file if at else None,
        line=at.line if at else 0,
        column=at.column if at else 0,
        end_line=at.end_line if at else 0,
        end_column=at.end_column if at else 0,
        path=item.path,
        suggestion=item.suggestion,
        page=item.docs or entry(item.code),
    )


def entry(word: str) -> str:
    """The page of a word that a failure has."""
    return f"{TROUBLESHOOTING}#{word}"


def counts(found: list[Finding]) -> dict[str, int]:
    """Number of findings by severity."""
    return {severity.value: sum(item.severity is severity for item in found) for severity in _ORDER}


def from_root(file: str, style: Style) -> str:
    """A file's name relative to the root of the repository; as it is when it lies outside or no root is
    known."""
    name = file.replace("\\", "/")
    if not style.root:
        return posixpath.normpath(name)
    whole = posixpath.normpath(posixpath.join(style.folder, name))
    inside = posixpath.relpath(whole, style.root)
    return whole if inside.startswith("../") else inside


def _verdicts(report: Report) -> Iterator[Finding]:
    """Fit results that are not plainly fine."""
    for result in report.body.get("results", ()) if report.command == "fit-check" else ():
        severity = _VERDICTS.get(result["verdict"])
        if severity is None:
            continue
        name = str(result["name"] or result["model"])
        reasons = "; ".join(str(reason) for reason in result.get("reasons", ()))
        message = f"{name}: {result['verdict']} on {result['accelerator_count']} x {result['accelerator']}"
        best = next(iter(result.get("alternatives") or ()), None)
        yield Finding(
            f"fit/{result['verdict']}",
            severity,
            f"{message}: {reasons}" if reasons else message,
            name,
            *_source(result),
            suggestion="; ".join(best["changes"]) if best else None,
            page="docs/fit-check.md",
        )


def _source(item: Mapping[str, Any]) -> tuple[str | None, int, int, int, int]:
    source = item.get("source") or {}
    line = source.get("line") or 0
    column = source.get("column") or 0
    return source.get("file"), line, column, line, 0


def _checks(report: Report) -> Iterator[Finding]:
    """Checks of a plan that did not pass. A failed one is mostly told by the diagnostic that it raised."""
    for check in report.body.get("checks", ()):
        severity = _CHECKS.get(check["status"])
        if severity is not None:
            yield Finding(
                f"check/{check['name']}",
                severity,
                check["message"],
                check.get("deployment"),
                page=entry(check["name"]),
            )


def _outcomes(report: Report) -> Iterator[Finding]:
    """Deployments that an apply did not bring to its end."""
    for result in report.body.get("results", ()) if report.command != "fit-check" else ():
        severity = _OUTCOMES.get(result.get("outcome", ""))
        if severity is None:
            continue
        error = result.get("error") or {}
        told = error.get("message") or result.get("note") or result["outcome"].replace("_", " ")
        yield Finding(
            f"apply/{error.get('code') or result['outcome']}",
            severity,
            f"{result['address']}: {told}",
            result["address"].partition("/")[2],
            suggestion="; ".join(error.get("next_steps", ())) or None,
            page=entry(error.get("code") or "unknown"),
        )


def _gates(report: Report) -> Iterator[Finding]:
    """Gates of a comparison that did not pass; an open one is an error unless that is allowed."""
    from fwctl.report.bench_words import gate as told

    if report.command != "bench compare":
        return
    for row in report.body.get("gates", ()):
        severity = _GATES.get(row["outcome"])
        if severity is None:
            continue
        if severity is Severity.WARNING and not report.ok:
            severity = Severity.ERROR
        message = f"{row['condition']} ({row['source']}): {row['outcome']}: {told(row)}"
        yield Finding(
            f"gate/{row['outcome']}", severity, message, page="docs/bench.md", gate=row["condition"]
        )
    for reason in report.body.get("invalid_reasons", ()):
        yield Finding(
            "bench/invalid", Severity.ERROR, f"the comparison is invalid: {reason}", page="docs/bench.md"
        )
