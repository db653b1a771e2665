"""JUnit XML as Jenkins and GitLab read it: one suite, a test case for each deployment and each file.

The grammar is that of the Jenkins xUnit plugin (junit-10.xsd). It knows no file and line, so places
stand in the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from fwctl.errors import Severity
from fwctl.report.findings import Finding, findings, from_root
from fwctl.report.layout import Style, safe
from fwctl.report.model import Report

_SKIPPED = frozenset({"fit/unknown"})  # neither a pass nor a failure


@dataclass(slots=True)
class _Case:
    """A test case: what was found about one deployment, one file or the run."""

    name: str
    group: str
    found: list[Finding] = field(default_factory=list)

    @property
    def failures(self) -> list[Finding]:
        return [item for item in self.found if item.severity is Severity.ERROR]

    @property
    def skipped(self) -> list[Finding]:
        return [] if self.failures else [item for item in self.found if item.rule in _SKIPPED]


def render(report: Report, style: Style) -> str:
    """The document in ASCII, so that any locale carries it.

    A command that failed before it had a result is one case with an error.
    """
    cases = _cases(report, style)
    broken = report.error is not None and not report.body
    failed = sum(bool(case.failures) for case in cases)
    skipped = sum(bool(case.skipped) for case in cases)
    tests = len(cases) + broken
    counts = f"tests={_attr(str(tests))} failures={_attr(str(failed))} errors={_attr(str(int(broken)))}"
    name = _attr(f"fwctl {report.command}")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites name={name} {counts}>"]
    lines.append(f"  <testsuite name={name} {counts} skipped={_attr(str(skipped))}>")
    for case in cases:
        lines += _case(case, style)
    if broken:
        lines += _broken(report)
    text = "\n".join([*lines, "  </testsuite>", "</testsuites>"]) + "\n"
    return text.encode("ascii", "xmlcharrefreplace").decode()


def _cases(report: Report, style: Style) -> list[_Case]:
    """Every deployment and file that was looked at, those without a problem too."""
    body = report.body
    cases: dict[tuple[str, str], _Case] = {}

    def case(group: str, name: str) -> _Case:
        return cases.setdefault((group, name), _Case(name, group))

    for file in body.get("files", ()):
        case("files", from_root(str(file), style))
    names = body.get("deployments", ()) if report.command == "validate" else ()
    results = body.get("results", ()) if report.command == "fit-check" else ()
    for name in (*names, *(item["name"] or item["model"] for item in results)):
        case("deployments", str(name))
    for check in body.get("checks", ()) if report.command.startswith("eval ") else ():
        case("checks", _check_name(check["name"], check.get("deployment")))
    for row in body.get("gates", ()) if report.command == "bench compare" else ():
        case("gates", str(row["condition"]))
    for item in findings(report):
        if item.rule.startswith("error/") and not report.body:
            continue
        case(*_place(item, report, style)).found.append(item)
    return list(cases.values())


def _check_name(name: str, target: str | None) -> str:
    return f"{name} {target}" if target else name


def _place(item: Finding, report: Report, style: Style) -> tuple[str, str]:
    """Group and name of the case that a finding belongs to."""
    if report.command.startswith("eval ") and item.rule.startswith("check/"):
        return "checks", _check_name(item.rule.removeprefix("check/"), item.deployment)
    if item.gate:
        return "gates", item.gate
    if item.deployment:
        return "deployments", item.deployment
    return ("files", from_root(item.file, style)) if item.file else ("run", report.command)


def _case(case: _Case, style: Style) -> Iterator[str]:
    start = f"    <testcase classname={_attr(f'fwctl.{case.group}')} name={_attr(case.name)}"
    if not case.found:
        yield start + "/>"
        return
    yield start + ">"
    if case.failures:
        first = case.failures[0]
        text = "\n".join(_line(item, style) for item in case.failures)
        start = f"      <failure type={_attr(first.rule)} message={_attr(first.message)}>"
        yield f"{start}{_text(text)}</failure>"
    elif case.skipped:
        yield f"      <skipped message={_attr(case.skipped[0].message)}/>"
    rest = [item for item in case.found if item not in case.failures and item not in case.skipped]
    if rest:
        told = "\n".join(_line(item, style) for item in rest)
        yield f"      <system-out>{_text(told)}</system-out>"
    yield "    </testcase>"


def _broken(report: Report) -> Iterator[str]:
    assert report.error is not None
    kind, message = report.error.to_json()["code"], report.error.message
    text = "\n".join([message, *(f"next: {step}" for step in report.error.next_steps)])
    yield f"    <testcase classname={_attr('fwctl.run')} name={_attr(report.command)}>"
    yield f"      <error type={_attr(kind)} message={_attr(message)}>{_text(text)}</error>"
    yield "    </testcase>"


def _line(item: Finding, style: Style) -> str:
    """`configs/chat.yaml:9:22: error FW302: message; fix: ...`."""
    place = f"{from_root(item.file, style)}:{item.line}:{item.column}: " if item.file else ""
    return f"{place}{item.severity.value} {item.rule}: {item.text}"


def _attr(text: str) -> str:
    return quoteattr(_allowed(text))


def _text(text: str) -> str:
    return "\n".join(escape(_allowed(line)) for line in text.split("\n"))


def _allowed(text: str) -> str:
    """Characters that XML 1.0 has no form for are spelled out."""
    return safe(text).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
