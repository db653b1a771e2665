"""Evaluations as tables of plain text, which every format for people shows in its own way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fwctl.report.model import Report

# Outcome -> how it is told; only those that occurred are shown.
OUTCOMES = ("wrong", "empty", "truncated", "failed", "degenerate", "ungraded", "unasked")
SHOWN_PROMPTS = 10
VERDICT_KINDS = {"pass": "good", "fail": "bad", "inconclusive": "warn", "invalid": "bad"}


@dataclass(frozen=True, slots=True)
class Table:
    """Cells are text; `right` names the columns that hold numbers."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[str, ...]


def headline(report: Report) -> tuple[str, str]:
    """The result in a few words, and its kind: good, warn or bad."""
    body = report.body
    if report.command == "eval compare":
        told = f"{body['verdict']}: {body['candidate']} against {body['base']}"
        return told, VERDICT_KINDS[body["verdict"]]
    if body["summary"]["interrupted"]:
        return f"{body['out']}: interrupted", "warn"
    problems = sum(len(item["problems"]) for item in body["summary"]["quality"]["targets"].values())
    return f"{body['out']}: {'says nothing about quality' if problems else 'graded'}", (
        "bad" if problems else "good"
    )


def tables(report: Report) -> list[Table]:
    """Everything that is shown, in order."""
    if report.command == "eval compare":
        return _compare(report.body)
    if report.body["summary"]["interrupted"]:
        return []
    return _run(report.body["summary"]["quality"])


def notes(report: Report) -> list[str]:
    """Sentences below the tables."""
    if report.command != "eval compare":
        quality = report.body["summary"].get("quality") or {}
        return _judge(quality.get("judge"))
    body = report.body
    found = [
        "right: Wilson intervals of 95 %; loss: share of pairs lost, net, with its one-sided bound of 95 %; "
        "p: exact test on the prompts that differ"
        + (", for types adjusted by Holm" if len(body["types"]) > 1 else "")
    ]
    for key, word in (("lost_prompts", "lost"), ("gained_prompts", "gained")):
        if names := body["quality"][key]:
            more = f" and {len(names) - SHOWN_PROMPTS} more" if len(names) > SHOWN_PROMPTS else ""
            found.append(f"{word}: {', '.join(names[:SHOWN_PROMPTS])}{more}")
    if (effect := body["quality"]["design_effect"]) > 1:
        found.append(f"repeats of a prompt resemble each other: {effect:.1f} of them count as one")
    return found


def interval(found: Mapping[str, Any]) -> str:
    """`94.0 % [91.6, 95.8]`, or that nothing was graded."""
    if found["value"] is None:
        return "none graded"
    return f"{100 * found['value']:.1f} % [{100 * found['low']:.1f}, {100 * found['high']:.1f}]"


def _compare(body: Mapping[str, Any]) -> list[Table]:
    rows = [_pairs("all", body["quality"], body["quality"]["p_value"])]
    if len(body["types"]) > 1:
        rows += [_pairs(row["type"], row, row["p_holm"]) for row in body["types"]]
    header = ("type", "pairs", "base right", "candidate right", "lost", "gained", "loss", "at most", "p")
    found = [Table("Right answers", header, tuple(rows), header[1:])]
    classes = body["broken"]["classes"]
    if any(count for row in classes.values() for count in row.values()):
        shown = tuple((name, str(row["base"]), str(row["candidate"])) for name, row in classes.items())
        found.append(Table("Broken answers", ("class", "base", "candidate"), shown, ("base", "candidate")))
    return found


def _pairs(name: str, row: Mapping[str, Any], p_value: float) -> tuple[str, ...]:
    n = row["n_pairs"]
    right = [(row["both"] + row[side]) / n if n else None for side in ("only_base", "only_candidate")]
    return (
        name,
        str(n),
        *("none" if share is None else f"{100 * share:.1f} %" for share in right),
        str(row["only_base"]),
        str(row["only_candidate"]),
        f"{100 * row['loss']:.1f}",
        f"{100 * row['loss_upper']:.1f}",
        f"{p_value:.2g}",
    )


def _run(quality: Mapping[str, Any]) -> list[Table]:
    header = ("target", "type", "answers", "right", *OUTCOMES)
    rows: list[tuple[str, ...]] = []
    for name, item in quality["targets"].items():
        rows.append(_outcomes(name, "all", item))
        if len(item["types"]) > 1:
            rows += [_outcomes("", kind, part) for kind, part in item["types"].items()]
    used = [at for at, word in enumerate(header) if at < 4 or any(row[at] != "0" for row in rows)]
    shown = tuple(tuple(row[at] for at in used) for row in rows)
    names = tuple(header[at] for at in used)
    found = [Table("Answers", names, shown, names[2:])]
    structured = [(name, item["structured"]) for name, item in quality["targets"].items()]
    if any(item for _, item in structured):
        found.append(_structured([(name, item) for name, item in structured if item]))
    return found


def _outcomes(name: str, kind: str, item: Mapping[str, Any]) -> tuple[str, ...]:
    return name, kind, str(item["n"]), interval(item["accuracy"]), *(str(item[word]) for word in OUTCOMES)


_STRUCTURED = {
    "invalid_json": "no JSON",
    "schema_violation": "breaks schema",
    "whitespace": "whitespace",
    "length": "cut off",
    "reasoning_only": "only reasoning",
    "empty": "empty",
    "failed": "failed",
    "retries": "retries",
    "wasted_tokens": "wasted tokens",
}


def _structured(items: list[tuple[str, Mapping[str, Any]]]) -> Table:
    header = ("target", "format", "answers", "valid", *_STRUCTURED.values())
    rows = tuple(
        (
            name,
            ", ".join(f"{count} {kind}" for kind, count in item["formats"].items()),
            str(item["n"]),
            interval(item["valid"]),
            *(str(item[key]) for key in _STRUCTURED),
        )
        for name, item in items
    )
    used = [at for at, _ in enumerate(header) if at < 4 or any(row[at] != "0" for row in rows)]
    names = tuple(header[at] for at in used)
    return Table("Structured output", names, tuple(tuple(row[at] for at in used) for row in rows), names[2:])


def _judge(judge: Mapping[str, Any] | None) -> list[str]:
    if judge is None:
        return []
    return [
        f"the judge agrees with itself in {interval(judge[name])} of {judge[name]['n']} {words}"
        for name, words in (("swap", "answers with the order swapped"), ("repeat", "answers judged again"))
        if judge[name]["n"]
    ]
