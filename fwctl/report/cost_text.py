"""What deployments cost, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fwctl.report.layout import Page, Span
from fwctl.report.model import Report
from fwctl.units import counted, format_usd

HEADER = ("deployment", "accelerator", "days", "GPU-hours", "cost", "tokens", "$/M tokens", "idle", "batch")
MOST_GAPS = 20
RIGHT = "days, GPU-hours, cost, tokens, $/M tokens, idle, batch"


def write(page: Page, report: Report) -> None:
    body = report.body
    page.line(f"Cost of account {body['account'] or 'unknown'}, {body['from']} to {body['to']} (UTC days)")
    page.line(Span(_sources(body), "dim"))
    page.blank()
    rows = [_row(item["label"], item) for item in body["deployments"]]
    page.table(HEADER, [*rows, _row("total", body["total"])], right=RIGHT)
    _pools(page, body)
    _centres(page, body)
    _trends(page, body)
    _serverless(page, body)
    _reconciled(page, body)
    _rest(page, body)


def _sources(body: Mapping[str, Any]) -> str:
    found = body["sources"]
    parts = []
    if found["sample_rounds"] is not None:
        rounds = found["sample_rounds"]
        parts.append(f"{rounds:,} {'round' if rounds == 1 else 'rounds'} of samples")
    if found["billing_rows"] is not None:
        parts.append(f"a billing export of {found['billing_rows']:,} rows")
    return f"from {' and '.join(parts)}; prices of {', '.join(body['price_dates'])}"


def _row(label: str, item: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        label,
        item.get("accelerator", ""),
        str(item.get("days", "")),
        *figures(item),
    )


def figures(item: Mapping[str, Any]) -> tuple[str, ...]:
    """GPU-hours, cost, tokens, price of a million tokens, idle share and batch occupancy, in this order."""
    return (
        f"{item['gpu_hours']:,.1f}",
        usd(item),
        tokens(item),
        format_usd(item["usd_per_million_tokens"]),
        percent(item["idle_share"]),
        percent(item["occupancy"]),
    )


def usd(item: Mapping[str, Any]) -> str:
    """`$192.00`, with a mark when some of the use has no known price."""
    partly = item["usd"] is not None and item["unpriced_gpu_hours"]
    return format_usd(item["usd"]) + (" + unknown" if partly else "")


def tokens(item: Mapping[str, Any]) -> str:
    """Prompt and generated tokens together, `unknown` when nobody counted them."""
    if item["prompt_tokens"] is None:
        return "unknown"
    return f"{item['prompt_tokens'] + item['completion_tokens']:,}"


def percent(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.1%}"


def _pools(page: Page, body: Mapping[str, Any]) -> None:
    if body["pools"]:
        page.blank()
    for pool in body["pools"]:
        page.line(
            f"reserved {pool['gpus']} x {pool['accelerator']}: {pool['gpu_hours']:,.1f} GPU-hours for "
            f"{format_usd(pool['usd'])}, used {pool['used_gpu_hours']:,.1f}, unused "
            f"{pool['unused_gpu_hours']:,.1f} ({format_usd(pool['unused_usd'])})"
            + (f", not known {pool['unknown_gpu_hours']:,.1f}" if pool["unknown_gpu_hours"] else "")
        )


def _centres(page: Page, body: Mapping[str, Any]) -> None:
    if body["cost_centres"]:
        page.blank()
        rows = [
            (item["value"] or "(without)", f"{item['gpu_hours']:,.1f}", usd(item), tokens(item))
            for item in body["cost_centres"]
        ]
        tag = body["cost_centres"][0]["tag"]
        page.table((tag, "GPU-hours", "cost", "tokens"), rows, right="GPU-hours, cost, tokens")


def _trends(page: Page, body: Mapping[str, Any]) -> None:
    if body["trends"]:
        page.blank()
    for item in body["trends"]:
        word = Span("rising", "yellow") if item["rising"] else Span("trend", "dim")
        why = f"; largest factor: {item['cause']}" if item["rising"] else ""
        page.line(
            word,
            f": {item['label']} {format_usd(item['before_usd_per_million_tokens'])} -> "
            f"{format_usd(item['recent_usd_per_million_tokens'])} per million tokens "
            f"({item['change']:+.1%}){why}",
        )


def _serverless(page: Page, body: Mapping[str, Any]) -> None:
    if body["serverless"]:
        page.blank()
    for item in body["serverless"]:
        even = item["break_even_tokens_per_day"]
        page.line(
            f"{item['label']}: {format_usd(item['dedicated_usd'])} dedicated, "
            f"{format_usd(item['serverless_usd'])} serverless for the same tokens; "
            f"{item['cheaper']} is cheaper"
        )
        if even is not None:
            page.line(
                f"dedicated wins from {even:,.0f} tokens a day on; now {item['tokens_per_day']:,.0f}",
                indent=2,
            )


def _reconciled(page: Page, body: Mapping[str, Any]) -> None:
    rows = [item for item in body["reconciliation"] if not item["agrees"]]
    if body["reconciliation"]:
        page.blank()
        page.line(
            f"billing and samples agree within 2 % on {len(body['reconciliation']) - len(rows)} of "
            f"{len(body['reconciliation'])} days and accelerators"
        )
    if rows:
        page.table(
            ("day", "accelerator", "billed GPU-hours", "sampled", "residual", "share", "explained by"),
            [
                (
                    item["day"],
                    item["accelerator"],
                    f"{item['billed_gpu_hours']:,.2f}",
                    f"{item['sampled_gpu_hours']:,.2f}",
                    f"{item['residual_gpu_hours']:+,.2f}",
                    percent(item["residual_share"]),
                    "a gap in the samples" if item["cause"] == "gap" else "nothing known",
                )
                for item in rows
            ],
            right="billed GPU-hours, sampled, residual, share",
        )


def _rest(page: Page, body: Mapping[str, Any]) -> None:
    if body["wasted"]:
        page.blank()
    for item in body["wasted"]:
        cost = "" if item["usd"] is None else f", {format_usd(item['usd'])}"
        page.line(
            f"wasted: {item['target']}, {item['kind']}: {counted(item['attempts'], 'attempt')}, "
            f"{item['prompt_tokens'] + item['completion_tokens']:,} tokens{cost}"
        )
    left: dict[str, int] = {}
    for item in body["unattributed"]:
        left[item["model"]] = left.get(item["model"], 0) + item["prompt_tokens"] + item["completion_tokens"]
    if left or body["gaps"]:
        page.blank()
    for model, count in left.items():
        named = model or "no named model"
        page.line(f"{count:,} billed tokens of {named} belong to no deployment seen here (serverless?)")
    for gap in body["gaps"][:MOST_GAPS]:
        page.line(Span(f"no samples from {moment(gap['start'])} to {moment(gap['end'])}", "dim"))
    if len(body["gaps"]) > MOST_GAPS:
        page.line(Span(f"and {len(body['gaps']) - MOST_GAPS} more gaps", "dim"))


def moment(text: str) -> str:
    """`2026-09-03 10:00 UTC` of an instant in UTC."""
    return f"{text[:16].replace('T', ' ')} UTC"
