"""firectl billing …"""

from __future__ import annotations

import csv
from typing import Any

from fwctl.simulator.commands.context import CommandError, Context, wrapped
from fwctl.simulator.commands.render import print_one, print_page, table
from fwctl.simulator.platform import billing, listing

Doc = dict[str, Any]

_FILE = "billing_metrics.csv"
_TYPES = {"": "", "inference": "TEXT_COMPLETION", "deployment": "DEPLOYMENT", "training": "TRAINING"}


def _rows(ctx: Context) -> tuple[list[Doc], tuple[float, float]]:
    with ctx.reading() as world:
        world.readable(ctx.account)
        span = billing.window(ctx.flags.get("start-time", ""), ctx.flags.get("end-time", ""), world.now)
        return list(billing.rows(world, ctx.account, *span)), span


def export_metrics(ctx: Context) -> None:
    with wrapped(ctx, "exporting billing metrics"):
        rows, _ = _rows(ctx)
    name = ctx.flags.get("filename", _FILE)
    try:
        with (ctx.cwd / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, billing.COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise CommandError(f"error exporting billing metrics: open {name}: {error.strerror}") from None
    ctx.print(f"Billing metrics exported to {name}")


def get_usage(ctx: Context) -> None:
    kind = str(ctx.flags.get("usage-type", "")).lower()
    if kind not in _TYPES:
        raise CommandError(f'invalid value "{kind}" for --usage-type')
    with wrapped(ctx, "getting usage"):
        rows, _ = _rows(ctx)
    chosen = [row for row in rows if row["usage_type"].startswith(_TYPES[kind])]
    usage = [
        {
            "usageType": row["usage_type"],
            "baseModel": row["base_model_name"],
            "acceleratorType": row["accelerator_type"],
            "acceleratorSeconds": str(row["accelerator_seconds"] or 0),
            "promptTokens": str(row["prompt_tokens"] or 0),
            "completionTokens": str(row["completion_tokens"] or 0),
            "cost": billing.money(billing.cost_usd(row)),
        }
        for row in chosen
    ]
    total = sum(map(billing.cost_usd, chosen))
    print_one(ctx, {"usage": usage, "totalCost": billing.money(total)})


def list_invoices(ctx: Context) -> None:
    """The simulator bills nothing, so there is never an invoice."""
    with wrapped(ctx, "listing invoices"), ctx.reading() as world:
        world.readable(ctx.account)
        page = listing.page([], ctx.query())
    print_page(ctx, page, "invoices", table(("NAME", "CREATE TIME", "AMOUNT", "STATE"), []))
