"""A drafting pipeline, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fwctl.report.layout import Page, Span
from fwctl.report.model import Report
from fwctl.units import format_usd

COLUMNS = ("drafter", "tokens/pass", "projected", "measured", "agree", "against today", "quality")


def write(page: Page, report: Report) -> None:
    drift, adapt = report.body.get("drift"), report.body.get("adapt")
    if drift is not None:
        _drift(page, drift)
    if adapt is None:
        return
    page.line(f"Drafter of {adapt['deployment']}, pipeline {adapt['name']}, round {adapt['round']}")
    for step, write_step in (("collect", _collect), ("train", _train), ("evaluate", _evaluate)):
        page.blank()
        if adapt[step] is None:
            page.line(f"{step}: not done")
            continue
        write_step(page, adapt[step])
    page.blank()
    decision = adapt["decide"]
    page.line(
        Span(f"decide: {decision['verdict']}: {decision['reason']}", "bold")
        if decision
        else "decide: not done"
    )
    _promotion(page, report.body.get("promotion"))


def _collect(page: Page, found: Mapping[str, Any]) -> None:
    requests, tokens = found["requests"], found["answer_tokens"]
    page.line(
        f"collect: {requests['train']:,} requests to train on ({tokens['train']:,} answer tokens), "
        f"{requests['holdout']:,} held out, {found['conversations']:,} conversations"
    )
    for name, row in found["by_type"].items():
        page.line(f"{name}: {row.get('train', 0):,} and {row.get('holdout', 0):,}", indent=2)
    for reason, count in found["left_out"].items():
        page.line(f"left out, {reason}: {count:,}", indent=2)
    replaced = found["replaced"]
    if replaced is None:
        page.line("not anonymised", indent=2)
        return
    for kind, row in replaced["by_kind"].items():
        page.line(f"replaced, {kind}: {row['values']:,} values in {row['places']:,} places", indent=2)


def _train(page: Page, found: Mapping[str, Any]) -> None:
    dataset, usd = found["dataset"], found["cost_usd"]
    page.line(f"train: dataset {dataset['id']}, {format_usd(usd)}")
    words = {True: "taken as a draft model", False: "refused", None: "nobody could say"}
    for row in found["asked"]:
        page.line(f"{row['model']}: {words[row['accepted']]} {row['message']}".rstrip(), indent=2)
    for job in found["jobs"]:
        said = f": {job['message']}" if job["message"] else ""
        epochs = f"{job['epochs']} epoch{'s'[: job['epochs'] != 1]}"
        page.line(f"{job['short']}: {job['model']}, {epochs}, {job['state'].lower()}{said}", indent=2)


def _evaluate(page: Page, found: Mapping[str, Any]) -> None:
    replay = found["replay"]
    page.line(f"evaluate: {format_usd(found['spent_usd'])} spent, experiment {found['experiment']}")
    for row in replay["sources"]:
        page.line(
            f"replay, {row['source']}: {row['tokens_per_pass']:.2f} tokens a pass, "
            f"projected {_interval(row['speedup'])}",
            indent=2,
        )
    for model in replay["draft_models"]:
        for row in model["by_draft_tokens"]:
            page.line(
                f"replay, {model['label']} k={row['draft_tokens']}: {row['tokens_per_pass']:.2f} tokens a "
                f"pass, projected {_interval(row['speedup'])}",
                indent=2,
            )
    page.blank()
    rows = [_arm(row, found["baseline"]) for row in found["arms"]]
    page.table(COLUMNS, rows, right="tokens/pass, projected, measured, against today")
    page.line("Speed-ups against no drafter; `against today` is the total time against what runs now.")
    for reason in dict.fromkeys(found["invalid_reasons"]):
        page.line(Span(f"invalid: {reason}", "yellow"))


def _arm(row: Mapping[str, Any], baseline: str) -> tuple[str | Span, ...]:
    off, tokens = row["against_off"], row["tokens_per_pass"]["value"]
    agree: str | Span = {True: "yes", None: ""}.get(off["agree"], Span("no", "yellow"))
    return (
        row["name"],
        "" if tokens is None else f"{tokens:.2f}",
        _interval(off["projected"]),
        _interval(off["measured"]) if row["name"] != "off" else "",
        agree if row["name"] != "off" else "",
        "today" if row["name"] == baseline else _interval(row["against_baseline"]["all"]),
        row["quality"]["verdict"].replace("_", " "),
    )


def _interval(found: Mapping[str, Any]) -> str:
    if found["value"] is None:
        return ""
    if found["low"] is None:
        return f"{found['value']:.2f}"
    return f"{found['value']:.2f} ({found['low']:.2f}-{found['high']:.2f})"


def _promotion(page: Page, found: Mapping[str, Any] | None) -> None:
    if found is None:
        return
    page.blank()
    if not found["changes"]:
        page.line(f"The spec of {found['deployment']} says so already.")
        return
    if found["written"]:
        page.line(f"Written to {found['file']}:")
    page.blank()
    for line in (found["diff"] or found["yaml"]).splitlines():
        page.raw(line)


def _drift(page: Page, found: Mapping[str, Any]) -> None:
    base = found["base_tokens_per_pass"]
    page.line(
        f"Acceptance: {found['trend']}; {'no drafts' if base is None else f'{base:.2f} tokens a pass'} then"
    )
    rows = [
        (
            row["begins"][:16].replace("T", " "),
            f"{row['requests']:,}",
            "" if row["tokens_per_pass"] is None else f"{row['tokens_per_pass']:.2f}",
        )
        for row in found["windows"]
    ]
    page.table(("window", "requests", "tokens/pass"), rows, right="requests, tokens/pass")
