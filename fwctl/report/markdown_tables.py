"""Results other than plans as Markdown: a table each, and a sentence for when the table is too long."""

from __future__ import annotations

from collections import Counter

from fwctl.report.drift_text import MOVED_BY
from fwctl.report.markdown_plan import diagnostics
from fwctl.report.markdown_text import code, escape, folded, prose, table
from fwctl.report.model import Report
from fwctl.report.status_text import replicas
from fwctl.report.values import per_hour, value
from fwctl.units import counted, short_duration

_VERDICT = {"fits": "✅", "tight": "⚠️", "does-not-fit": "❌", "unknown": "❔"}
_OUTCOME = {"done": "✅", "failed": "❌", "in_progress": "⏳"}


def validate(report: Report) -> list[str]:
    return [*validate_numbers(report), *diagnostics(report)]


def validate_numbers(report: Report) -> list[str]:
    names, files = len(report.body["deployments"]), len(report.body["files"])
    found = Counter(item.severity.value for item in report.diagnostics)
    told = ", ".join(counted(number, word) for word, number in found.items())
    return [
        f"## fwctl validate: {'valid' if report.ok else 'invalid'}",
        "",
        f"{_many(names, 'deployment')} in {_many(files, 'file')}, {told or 'no problems'}.",
        "",
    ]


def fit(report: Report) -> list[str]:
    rows = []
    for item in report.body.get("results", ()):
        band = item.get("max_concurrency")
        verdict = item["verdict"]
        rows.append(
            (
                code(str(item["name"] or item["model"])),
                f"{_VERDICT.get(verdict, '❔')} **{verdict}**",
                escape(f"{item['accelerator_count']} x {item['accelerator']}, {item['precision']}"),
                f"{band['low']:.1f} to {band['high']:.1f}" if band else "",
                prose("; ".join(str(reason) for reason in item.get("reasons", ()))),
            )
        )
    header = ("deployment", "verdict", "hardware", "conversations", "why")
    lines = [*fit_numbers(report), *table(header, rows, right=("conversations",)), ""]
    return lines + _alternatives(report) + diagnostics(report)


def fit_numbers(report: Report) -> list[str]:
    found = Counter(item["verdict"] for item in report.body.get("results", ()))
    told = ", ".join(f"{number} {verdict}" for verdict, number in found.items())
    return [f"## fwctl fit-check: {told or 'nothing to check'}", ""]


def _alternatives(report: Report) -> list[str]:
    """For each deployment that has any, the changes that would fit, cheapest first."""
    lines: list[str] = []
    for item in report.body.get("results", ()):
        rows = [
            (
                escape(f"{other['accelerator_count']} x {other['accelerator']}, {other['precision']}"),
                code(per_hour(other.get("usd_per_hour"))),
                escape("; ".join(str(change) for change in other.get("changes", ()))),
            )
            for other in item.get("alternatives") or ()
        ]
        if rows:
            name = escape(str(item["name"] or item["model"]))
            lines += folded(f"what would fit for {name}", table(("hardware", "cost", "change"), rows))
    return lines


def status(report: Report) -> list[str]:
    rows = [
        (
            code(str(item["name"] or item["deployment_id"])),
            escape(item["state"]),
            escape(replicas(item["replicas"])),
            "yes" if item["managed"] else "no",
            code(per_hour(item["usd_per_hour"])),
            code(item["model_string"]) if item["model_string"] else "",
        )
        for item in report.body["deployments"]
    ]
    header = ("deployment", "state", "ready/wanted", "managed", "cost", "model string")
    watch = report.body["watch"] or {"alerts": []}
    alerts = [
        f"- **{escape(row['rule'])}** {escape(row['label'])}: {escape(row['evidence'])}"
        for row in watch["alerts"]
    ]
    return [
        *status_numbers(report),
        *alerts,
        *([""] if alerts else []),
        *table(header, rows, right=("cost",)),
    ]


def status_numbers(report: Report) -> list[str]:
    found = Counter(item["state"] for item in report.body["deployments"])
    told = ", ".join(f"{number} {escape(state)}" for state, number in found.most_common(10))
    return [f"## fwctl status: {told or 'no deployments'}", ""]


def shapes(report: Report) -> list[str]:
    rows = [
        (
            code(item["shape"]),
            escape(f"{item['accelerator_count']} x {item['accelerator']}"),
            escape(str(item["precision"] or "")),
            code(per_hour(item["usd_per_hour"])),
            escape(item["verdict"]),
            f"{item['max_concurrency']['low']:.1f}" if item["max_concurrency"] else "",
        )
        for item in report.body["shapes"]
    ]
    header = ("shape", "hardware", "precision", "cost", "fit", "conversations")
    return [*shapes_numbers(report), *table(header, rows, right=("cost", "conversations"))]


def shapes_numbers(report: Report) -> list[str]:
    return [f"## fwctl shapes: {len(report.body['shapes'])} of {code(report.body['model'])}", ""]


def apply(report: Report) -> list[str]:
    rows = []
    for item in report.body["results"]:
        error = item.get("error") or {}
        seconds = item.get("seconds") or 0.0
        rows.append(
            (
                code(item["address"]),
                f"{_OUTCOME.get(item['outcome'], '⚠️')} {escape(item['outcome'].replace('_', ' '))}",
                escape(", ".join(item["actions"])),
                short_duration(round(seconds)) if seconds >= 1 else "",
                prose(error.get("message") or item.get("note") or ""),
            )
        )
    lines = apply_numbers(report)
    if rows:
        lines += [*table(("deployment", "outcome", "did", "time", "why"), rows, right=("time",)), ""]
    strings = [
        (code(name), code(entry.get("router") or entry.get("base") or ""))
        for name, entry in (report.body.get("model_strings") or {}).items()
    ]
    if strings:
        lines += folded("model strings", table(("deployment", "model"), strings))
    return lines


def apply_numbers(report: Report) -> list[str]:
    found = Counter(item["outcome"].replace("_", " ") for item in report.body["results"])
    told = ", ".join(f"{number} {outcome}" for outcome, number in found.items())
    where = [
        f"{key} {code(report.body[key])}" for key in ("account", "stack", "digest") if key in report.body
    ]
    sentence = ", ".join(where)
    return [
        f"## fwctl {report.command}: {told or 'nothing to do'}",
        "",
        sentence[:1].upper() + sentence[1:],
        "",
    ]


def drift(report: Report) -> list[str]:
    rows = [
        (
            code(row["address"]),
            code(row["path"]) if row["path"] else "not on the platform",
            code(value(row["live"])) if row["path"] else "",
            code(value(row["wanted"])) if row["path"] else "",
            MOVED_BY[row["moved_by"]],
        )
        for row in report.body["drift"]
    ]
    return [*drift_numbers(report), *table(("deployment", "field", "live", "spec", "who"), rows), ""]


def drift_numbers(report: Report) -> list[str]:
    return [f"## fwctl drift: {_many(len(report.body['drift']), 'difference')}", ""]


def lock(report: Report) -> list[str]:
    body = report.body
    if body["problems"]:
        rows = [
            (code(row["deployment"]), escape(row["code"]), prose(row["message"])) for row in body["problems"]
        ]
        return [*lock_numbers(report), *table(("deployment", "what", "why"), rows), ""]
    rows_of_shapes = [(code(key), code(version)) for key, version in body["shapes"].items()]
    return [*lock_numbers(report), *table(("shape", "version"), rows_of_shapes), ""]


def lock_numbers(report: Report) -> list[str]:
    shapes, problems = len(report.body["shapes"]), len(report.body["problems"])
    return [f"## fwctl lock: {_many(shapes, 'shape')}, {_many(problems, 'problem')}", ""]


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
