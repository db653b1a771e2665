"""The cost report as text, CSV and HTML."""

from __future__ import annotations

import re
from typing import Any

from fwctl.report import csv, html, text
from fwctl.report.layout import Style
from fwctl.report.model import Report

FIGURES: dict[str, Any] = {
    "gpu_hours": 48.0,
    "starting_gpu_hours": 0.0,
    "usd": 384.0,
    "on_demand_usd": 384.0,
    "reserved_usd": 0.0,
    "unpriced_gpu_hours": 0.0,
    "prompt_tokens": 40_000_000,
    "completion_tokens": 8_000_000,
    "cached_prompt_tokens": 0,
    "usd_per_million_tokens": 8.0,
    "usd_per_million_prompt_tokens": 5.333333,
    "usd_per_million_completion_tokens": 21.333333,
    "idle_share": 0.25,
    "occupancy": None,
}
LISTS = (
    *("cost_centres", "reconciliation", "gaps", "pools"),
    *("unattributed", "wasted", "serverless", "trends"),
)
WHO = {"deployment_id": "chat", "name": "chat", "label": "chat", "model": "m/<x>", "accelerator": "H"}


def body(**more: Any) -> dict[str, Any]:
    day = {"source": "samples", "tokens_source": "billing", "usd_per_gpu_hour": 8.0}
    return {
        "account": "acme",
        "from": "2026-10-01",
        "to": "2026-10-02",
        "sources": {"sample_rounds": 1440, "billing_rows": 3, "unknown_columns": []},
        "price_dates": ["2026-09-01"],
        "total": FIGURES,
        "deployments": [{**WHO, "days": 2, **FIGURES}],
        "days": [
            {"day": "2026-10-01", **WHO, **day, **FIGURES},
            {"day": "2026-10-02", **WHO, **day, **FIGURES, "usd_per_million_tokens": None},
        ],
        **{key: [] for key in LISTS},
        **more,
    }


FULL = body(
    cost_centres=[{"tag": "team", "value": None, **FIGURES}, {"tag": "team", "value": "<b>", **FIGURES}],
    pools=[
        {
            "accelerator": "H",
            "gpus": 4,
            "gpu_hours": 96.0,
            "used_gpu_hours": 24.0,
            "unused_gpu_hours": 60.0,
            "unknown_gpu_hours": 12.0,
            "usd": 480.0,
            "unused_usd": 300.0,
        }
    ],
    reconciliation=[
        {
            "day": "2026-10-01",
            "accelerator": "H",
            "billed_gpu_hours": 50.0,
            "sampled_gpu_hours": 48.0,
            "residual_gpu_hours": 2.0,
            "residual_share": 0.04,
            "agrees": False,
            "cause": "unknown",
            "gap_seconds": 0.0,
            "gap_gpu_hours": None,
        }
    ],
    gaps=[{"start": "2026-10-01T10:00:00+00:00", "end": "2026-10-01T13:00:00+00:00"}] * 22,
    unattributed=[
        {"day": "2026-10-01", "model": "m/s", "prompt_tokens": 7, "completion_tokens": 1},
        {"day": "2026-10-02", "model": "m/s", "prompt_tokens": 2, "completion_tokens": 0},
    ],
    wasted=[
        {
            "target": "chat",
            "kind": "cancelled",
            "attempts": 2,
            "prompt_tokens": 7,
            "completion_tokens": 3,
            "attempts_without_tokens": 0,
            "usd": 0.01,
        }
    ],
    serverless=[
        {
            "label": "chat",
            "dedicated_usd": 384.0,
            "serverless_usd": 48.0,
            "tokens_per_day": 24e6,
            "break_even_tokens_per_day": 192e6,
            "cheaper": "serverless",
        },
        {
            "label": "free",
            "dedicated_usd": 1.0,
            "serverless_usd": 0.0,
            "tokens_per_day": 1.0,
            "break_even_tokens_per_day": None,
            "cheaper": "serverless",
        },
    ],
    trends=[
        {
            "label": "chat",
            "before_usd_per_million_tokens": 8.0,
            "recent_usd_per_million_tokens": 16.0,
            "change": 1.0,
            "rising": True,
            "cause": "idle",
        }
    ],
)


def shown(found: dict[str, Any]) -> str:
    return text.render(Report("cost", found), Style())


def test_text_says_everything_once() -> None:
    found = shown(FULL)
    for line in (
        "reserved 4 x H: 96.0 GPU-hours for $480.00, used 24.0, unused 60.0 ($300.00), not known 12.0",
        "rising: chat $8.00 -> $16.00 per million tokens (+100.0%); largest factor: idle",
        "chat: $384.00 dedicated, $48.00 serverless for the same tokens; serverless is cheaper",
        "  dedicated wins from 192,000,000 tokens a day on; now 24,000,000",
        "billing and samples agree within 2 % on 0 of 1 days and accelerators",
        "wasted: chat, cancelled: 2 attempts, 10 tokens, $0.01",
        "10 billed tokens of m/s belong to no deployment seen here (serverless?)",
        "no samples from 2026-10-01 10:00 UTC to 2026-10-01 13:00 UTC",
        "and 2 more gaps",
    ):
        assert line in found
    assert found.count("(without)") == 1


def test_what_is_unknown_is_said_and_never_zero() -> None:
    unknown = {
        **FIGURES,
        "usd": None,
        "prompt_tokens": None,
        "usd_per_million_tokens": None,
        "idle_share": None,
    }
    found = shown(body(total=unknown))
    assert re.search(r"total +48.0 +unknown +unknown +unknown +unknown +unknown", found)
    partly = shown(body(total={**FIGURES, "unpriced_gpu_hours": 3.0}))
    assert "$384.00 + unknown" in partly


def test_csv_leaves_unknown_cells_empty_and_defuses_formulas() -> None:
    rows = body()["days"]
    rows[0]["label"] = "=cmd()"
    rows[0]["model"] = "a\nb"
    found = csv.render(Report("cost", body(days=rows)), Style()).splitlines()
    assert found[0].startswith("day,deployment_id,name,label,model,accelerator,source,")
    assert found[1].startswith("2026-10-01,chat,chat,'=cmd(),a\\nb,H,samples,billing,8.0,48.0,")
    assert found[2].endswith(",0.25,")
    assert csv.render(Report("cost", body(days=[])), Style()) == ""
    assert csv.render(Report("plan", {"a": 1}), Style()) == ""


def test_the_page_has_charts_and_shows_data_as_data() -> None:
    page = html.render(Report("cost", FULL), Style())
    assert page.count('class="chart"') == 3  # dollars, dollars per million tokens, idle; no batch is known
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "<script" not in page
    assert "dedicated wins from" in page
    assert ">never<" in page


def test_a_page_without_any_use_is_still_a_page() -> None:
    page = html.render(Report("cost", body(deployments=[], days=[])), Style())
    assert 'class="chart"' not in page
    assert "0 rows" in page
