"""SARIF 2.1.0, for code scanning: https://docs.oasis-open.org/sarif/sarif/v2.1.0/.

GitHub refuses a file in which a result has no place, so every result names a file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from fwctl import __version__
from fwctl.errors import Severity
from fwctl.report.findings import TROUBLESHOOTING, Finding, findings, from_root
from fwctl.report.json import plain
from fwctl.report.layout import Style
from fwctl.report.model import Report

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
VERSION = "2.1.0"
ROOT = "%SRCROOT%"
FINGERPRINT = "fwctl/v1"
# Help of a rule must be an absolute URI; without FWCTL_DOCS_URL it names the page within the project.
NO_MANUAL = "urn:fwctl:"
_NOWHERE = "configs"  # the default folder of specs, for a problem that belongs to no file

# Rules that have no page of their own: id -> what it checks.
_TITLES = {
    "fit/does-not-fit": "Weights or KV memory do not fit on the accelerators",
    "fit/tight": "The workload fits only at the optimistic end of the estimate",
    "fit/unknown": "The fit cannot be computed",
}


def render(report: Report, style: Style) -> str:
    """One run with the rules that were broken and a result for each problem."""
    found = findings(report)
    results = found if report.body else [item for item in found if item.file]
    ids = sorted({item.rule for item in results})
    pages = {item.rule: item.page for item in results}
    driver: dict[str, Any] = {
        "name": "fwctl",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(id_, pages[id_], style) for id_ in ids],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "automationDetails": {"id": f"fwctl/{report.command}/"},
        "originalUriBaseIds": {ROOT: {"description": {"text": "the root of the repository"}}},
        "invocations": [_invocation(report)],
        "results": [*_results(results, ids, _fallback(report), style)],
    }
    document = {"$schema": SCHEMA, "version": VERSION, "runs": [run]}
    return json.dumps(plain(document), indent=2, allow_nan=False) + "\n"


def _rule(id_: str, page: str | None, style: Style) -> dict[str, Any]:
    title, text, markdown = _help(id_)
    return {
        "id": id_,
        "name": "".join(word.capitalize() for word in title.replace("/", " ").split()),
        "shortDescription": {"text": title},
        "fullDescription": {"text": text},
        "help": {"text": text, "markdown": markdown},
        "helpUri": help_uri(page or TROUBLESHOOTING, style),
    }


def help_uri(page: str, style: Style) -> str:
    """The page of a rule in the manual that FWCTL_DOCS_URL names, else its name within the project."""
    name, mark, place = page.partition("#")
    if style.manual:
        name = style.manual + quote(name.removeprefix("docs/").removesuffix(".md")) + ".html"
    else:
        name = NO_MANUAL + quote(name)
    return name + mark + quote(place)


def _help(id_: str) -> tuple[str, str, str]:
    """(title, plain text, Markdown) of a rule."""
    from fwctl.spec import rulebook

    rule = next((rule for rule in rulebook.rules() if rule.code == id_), None)
    if rule is not None:
        parts = rulebook.sections(rule)
        text = " ".join(parts.get("What it checks", parts["title"]).split())
        return parts["title"], text, rulebook.page(rule)
    title = _TITLES.get(id_) or id_.replace("/", ": ").replace("_", " ")
    return title, title, title


def _results(
    found: Iterable[Finding], ids: list[str], fallback: str, style: Style
) -> Iterable[dict[str, Any]]:
    """One result for each problem; problems that are alike are told apart by their number."""
    seen: Counter[str] = Counter()
    at = {id_: number for number, id_ in enumerate(ids)}
    for item in found:
        print_ = fingerprint(item, style)
        seen[print_] += 1
        yield {
            "ruleId": item.rule,
            "ruleIndex": at[item.rule],
            "level": item.severity.value,
            "message": {"text": item.text},
            "locations": [_location(item, fallback, style)],
            "partialFingerprints": {FINGERPRINT: f"{print_}:{seen[print_]}"},
        }


def fingerprint(item: Finding, style: Style) -> str:
    """Stays the same when the problem moves to another line or when the words of the message change."""
    where = from_root(item.file, style) if item.file else ""
    what = item.path or ("" if item.deployment else item.message)
    key = "\n".join((item.rule, where, item.deployment or "", what))
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _location(item: Finding, fallback: str, style: Style) -> dict[str, Any]:
    name = from_root(item.file or fallback, style)
    artifact = {"uri": f"file://{quote(name)}"} if name.startswith("/") else {"uri": quote(name)}
    if not name.startswith("/"):
        artifact["uriBaseId"] = ROOT
    physical: dict[str, Any] = {"artifactLocation": artifact}
    if item.line:
        region = {"startLine": item.line, "startColumn": max(item.column, 1)}
        if item.end_line >= item.line and item.end_column:
            region |= {"endLine": item.end_line, "endColumn": item.end_column}
        physical["region"] = region
    location: dict[str, Any] = {"physicalLocation": physical}
    if item.deployment:
        name = f"deployments/{item.deployment}"
        location["logicalLocations"] = [
            {"name": item.deployment, "fullyQualifiedName": name, "kind": "resource"}
        ]
    return location


def _fallback(report: Report) -> str:
    """The file of problems that have none: the first spec."""
    files = report.body.get("files") or ()
    return str(files[0]) if files else _NOWHERE


def _invocation(report: Report) -> dict[str, Any]:
    """A run that found problems went well; one that could not look did not."""
    invocation: dict[str, Any] = {
        "executionSuccessful": bool(report.body) or bool(report.diagnostics),
        "exitCode": int(report.exit_code),
    }
    if report.error is not None:
        text = "; next: ".join((report.error.message, *report.error.next_steps))
        invocation["toolExecutionNotifications"] = [
            {"level": Severity.ERROR.value, "message": {"text": text}}
        ]
    return invocation
