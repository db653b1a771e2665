"""GitHub Actions: annotations on stdout, a step summary, and outputs for the steps that follow.

Limits: docs.github.com, "Workflow commands for GitHub Actions" and "Limitations of annotations", read
2026-11-30.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from fwctl.errors import Severity
from fwctl.report import markdown, text
from fwctl.report.findings import Finding, counts, findings, from_root
from fwctl.report.json import plain
from fwctl.report.layout import Style
from fwctl.report.model import Report
from fwctl.report.values import has_changes
from fwctl.units import counted

MOST_OF_A_KIND = 10  # annotations of one severity that GitHub shows for a step; 50 for a job
LONGEST_MESSAGE_BYTES = 4096  # longer messages are cut by the page
SUMMARY_BYTES = 1024 * 1024  # a longer summary of a step is refused as a whole
SUMMARY = "GITHUB_STEP_SUMMARY"
OUTPUT = "GITHUB_OUTPUT"
COMMENT = "FWCTL_COMMENT"  # our own: the comment for a pull request, for whoever posts it

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_MESSAGE, ":": "%3A", ",": "%2C"}
_COST = ("floor_usd_per_hour", "ceiling_usd_per_hour", "floor_change", "ceiling_change", "monthly_floor_usd")


def render(report: Report, style: Style) -> str:
    """The result as text in a group of the log, then at most 10 annotations of each severity."""
    lines = [*_log(report, style)]
    found = findings(report)
    for severity in _COMMANDS:
        lines += _annotations([item for item in found if item.severity is severity], style)
    return "".join(line + "\n" for line in lines)


def appended(report: Report, room_bytes: int) -> dict[str, str]:
    """What goes to the files of GITHUB_STEP_SUMMARY, GITHUB_OUTPUT and FWCTL_COMMENT."""
    return {
        SUMMARY: markdown.summary(report, min(room_bytes, SUMMARY_BYTES)),
        OUTPUT: "".join(_output(*item) for item in outputs(report).items()),
        COMMENT: markdown.render(report, Style()),
    }


def outputs(report: Report) -> dict[str, str]:
    """Values that later steps read as `steps.ID.outputs.NAME`."""
    body = report.body
    values: dict[str, Any] = {"command": report.command, "ok": report.ok, "exit_code": int(report.exit_code)}
    number = counts(findings(report))
    values |= {f"{severity}s": amount for severity, amount in number.items()}
    values |= {key: body[key] for key in ("account", "stack", "digest") if key in body}
    if report.command.startswith("eval "):
        values |= _evaluation(body)
    elif "summary" in body:
        values |= body["summary"]
        values["changes"] = has_changes(body["summary"]) or bool(body["summary"].get("blocked"))
        money = body.get("cost") or {}
        values |= {key: money.get(key) for key in _COST}
    if "results" in body:
        key = "verdict" if report.command == "fit-check" else "outcome"
        words = [str(item.get(key, "")) for item in body["results"]]
        values |= {word.replace("-", "_"): words.count(word) for word in words if word}
    if report.command == "bench compare" and body:
        words = [str(row["verdict"]) for row in body["comparisons"]]
        values |= {word: words.count(word) for word in ("better", "worse", "same", "inconclusive")}
        words = [str(row["outcome"]) for row in body["gates"]]
        values |= {f"gates_{word}": words.count(word) for word in ("passed", "failed", "inconclusive")}
    if "model_strings" in body:
        values["model_strings"] = json.dumps(plain(body["model_strings"]), sort_keys=True)
    return {name: _shown(value) for name, value in values.items()}


def _evaluation(body: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict of a comparison with the loss and its bound; of a run, how many checks passed."""
    if "verdict" in body:
        quality = body["quality"]
        return {"verdict": body["verdict"], "loss": quality["loss"], "loss_upper": quality["loss_upper"]}
    return {"passed": sum(check["status"] == "pass" for check in body.get("checks", ()))}


def command_line(command: str, message: str, **properties: str | int) -> str:
    """One workflow command; what is in it can neither end it nor start another."""
    told = ",".join(f"{key}={_escape(str(value), _PROPERTY)}" for key, value in properties.items() if value)
    return f"::{command}{' ' + told if told else ''}::{_escape(message, _MESSAGE)}"


def _log(report: Report, style: Style) -> Iterator[str]:
    """The text of the result, in which the runner looks for no commands.

    The token that ends such a region must not be known to who wrote the text; no text holds its own
    digest.
    """
    shown = text.render(report, Style(unicode=style.unicode)).rstrip("\n")
    if not shown:
        return
    token = sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    yield command_line("group", f"fwctl {report.command}")
    yield f"::stop-commands::{token}"
    yield shown
    yield f"::{token}::"
    yield "::endgroup::"


def _annotations(found: list[Finding], style: Style) -> Iterator[str]:
    """As many as GitHub shows; when there are more, the last one counts the rest."""
    shown = found if len(found) <= MOST_OF_A_KIND else found[: MOST_OF_A_KIND - 1]
    for item in shown:
        yield _annotation(item, style)
    rest = len(found) - len(shown)
    if rest:
        word = found[0].severity.value
        yield command_line(
            _COMMANDS[found[0].severity],
            f"and {counted(rest, f'more {word}')}; the step summary lists them",
            title="fwctl",
        )


def _annotation(item: Finding, style: Style) -> str:
    properties: dict[str, str | int] = {}
    if item.file is not None:
        properties = {"file": from_root(item.file, style), "line": item.line, "endLine": item.end_line}
        if item.line == item.end_line:  # columns are read only within one line
            properties |= {"col": item.column, "endColumn": item.end_column}
    message = item.text if item.deployment is None or item.file else f"{item.deployment}: {item.text}"
    return command_line(_COMMANDS[item.severity], _within(message), **properties, title=f"fwctl {item.rule}")


def _within(message: str) -> str:
    data = message.encode("utf-8", "backslashreplace")
    if len(data) <= LONGEST_MESSAGE_BYTES:
        return data.decode()
    return data[: LONGEST_MESSAGE_BYTES - 3].decode("utf-8", "ignore") + "..."


def _escape(value: str, table: Mapping[str, str]) -> str:
    return re.sub("[%\r\n:,]", lambda match: table.get(match.group(), match.group()), value)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _output(name: str, value: str) -> str:
    """A value of one line as it is, anything else between two lines that it cannot hold."""
    if not re.search("[\r\n]", value):
        return f"{name}={value}\n"
    end = "fwctl_" + sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{name}<<{end}\n{value}\n{end}\n"
