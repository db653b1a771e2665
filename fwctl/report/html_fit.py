"""Fit verdicts as HTML: the memory of one GPU as a bar, the numbers, what would fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fwctl.report.fit_text import conversations
from fwctl.report.html_text import badge, escape, table
from fwctl.report.model import Report
from fwctl.report.values import per_hour
from fwctl.units import GIB

_KIND = {"fits": "good", "tight": "warn", "does-not-fit": "bad"}
_COLOURS = {"weights": "weights", "overhead": "overhead", "kv pool": "kv", "left outside": "outside"}


def title(report: Report) -> str:
    """`Fit check: 2 fits, 1 tight`."""
    found = Counter(result["verdict"] for result in report.body.get("results", ()))
    return "Fit check: " + (
        ", ".join(f"{count} {word}" for word, count in found.items()) or "nothing to check"
    )


def body(report: Report) -> list[str]:
    """Header and a card for each deployment; the caller closes <main>."""
    lines = [
        "<header>",
        f"<h1>{escape(title(report))}</h1>",
        "</header>",
        "<main>",
        "<section><h2>Deployments</h2>",
    ]
    for result in report.body.get("results", ()):
        lines += _result(result)
    return [*lines, "</section>", *_matrix(report.body.get("matrix") or ())]


def _result(result: Mapping[str, Any]) -> list[str]:
    kind = _KIND.get(result["verdict"], "info")
    name = escape(str(result["name"] or result["model"]))
    heading = f"<h3>{name}</h3>{badge(result['verdict'], kind)}"
    lines = [f'<article class="card {kind}"><div class="title">{heading}</div>']
    hardware = f"{result['accelerator_count']} x {result['accelerator']}, {result['precision']}"
    lines.append(
        f'<p class="soft">{escape(str(result["model"]))} on {escape(hardware)}, KV '
        f"{escape(str(result['kv_precision']))}, engine policy {escape(str(result['engine']))}</p>"
    )
    lines += [f"<p>{escape(str(reason))}</p>" for reason in result.get("reasons", ())]
    lines += _bar(result.get("memory") or (), name)
    lines += _numbers(result)
    lines += [f'<p class="soft">assumed: {escape(str(text))}</p>' for text in result.get("assumed", ())]
    lines += _alternatives(result)
    explained = "\n".join(escape(str(line)) for line in result.get("explain", ()))
    if explained:
        lines.append(f"<details><summary>arithmetic</summary><pre>{explained}</pre></details>")
    return [*lines, "</article>"]


def _bar(memory: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """Parts of one GPU; the list below says the same in words."""
    parts = [(str(item["part"]), max(item["bytes"] or 0, 0)) for item in memory]
    total = sum(size for _, size in parts)
    if not total:
        return []
    pieces, items = [], []
    for part, size in parts:
        colour = f"background:var(--{_COLOURS.get(part, 'other')})"
        pieces.append(f'<div style="{colour};width:{100 * size / total:.2f}%"></div>')
        items.append(f'<li><span style="{colour}"></span>{escape(part)} {size / GIB:.2f} GiB</li>')
    told = f"Memory of one GPU of {name}: {total / GIB:.2f} GiB"
    return [
        f'<div class="bar" role="img" aria-label="{told}">{"".join(pieces)}</div>',
        f'<ul class="key">{"".join(items)}<li class="soft">of {total / GIB:.2f} GiB a GPU</li></ul>',
    ]


def _numbers(result: Mapping[str, Any]) -> list[str]:
    rows = []
    band = result.get("max_concurrency")
    if band:
        told = f"{band['low']:,.1f} to {band['high']:,.1f} (wanted {result['concurrency']:g})"
        rows.append((f"conversations of {result['context_tokens']:,} tokens", told))
    if result.get("max_context_tokens"):
        rows.append(
            (f"longest context at {result['concurrency']:g}", f"{result['max_context_tokens']:,} tokens")
        )
    if result.get("kv_bytes_per_token_per_gpu"):
        rows.append(("KV cache of a token", f"{result['kv_bytes_per_token_per_gpu']:,} bytes a GPU"))
    rows.append(("evidence", str(result["evidence"])))
    cells = [(escape(name), escape(told)) for name, told in rows]
    return table(f"Numbers of {result['name'] or result['model']}", ("figure", "value"), cells)


def _alternatives(result: Mapping[str, Any]) -> list[str]:
    rows = [
        (
            escape(f"{item['accelerator_count']} x {item['accelerator']}"),
            escape(str(item["precision"])),
            escape(conversations(item.get("max_concurrency"))),
            escape(per_hour(item.get("usd_per_hour"))),
            escape("; ".join(str(change) for change in item.get("changes", ()))),
        )
        for item in result.get("alternatives") or ()
    ]
    header = ("accelerators", "precision", "conversations", "cost", "change")
    return table("What would fit", header, rows, right=("conversations", "cost")) if rows else []


def _matrix(matrix: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [
        (
            escape(f"{item['accelerator_count']} x {item['accelerator']}"),
            escape(str(item["precision"])),
            badge(item["verdict"], _KIND.get(item["verdict"], "plain")),
            escape(conversations(item.get("max_concurrency"))),
            escape(per_hour(item.get("usd_per_hour"))),
        )
        for item in matrix
    ]
    if not rows:
        return []
    header = ("accelerators", "precision", "verdict", "conversations", "cost")
    lines = table("Every accelerator", header, rows, right=("conversations", "cost"))
    return ["<section><h2>Every accelerator</h2>", *lines, "</section>"]
