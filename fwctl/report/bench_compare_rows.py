"""The rows of a comparison of two runs, before a format gives them its colours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fwctl.report import bench_words as words

HEADER = ("", "base", "candidate", "ratio", "verdict", "pairs")
RIGHT = ("base", "candidate", "pairs")


class Row(NamedTuple):
    """One figure of both runs. verdict: key of `bench_words.VERDICTS`, "" where none is given. told: its
    words. pairs: "" where the runs are not paired."""

    name: str
    base: str
    candidate: str
    ratio: str
    verdict: str = ""
    told: str = ""
    pairs: str = ""


def metrics(rows: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """Quantiles that have pairs."""
    for row in rows:
        if row["n_pairs"]:
            yield Row(
                f"{words.short(row['metric'])} {row['quantile']}",
                words.time(row["base"]),
                words.time(row["candidate"]),
                words.ratio(row),
                row["verdict"],
                words.verdict(row),
                f"{row['n_pairs']:,}",
            )


def of_type(body: Mapping[str, Any], name: str) -> Iterator[Row]:
    """The figures of one type of prompt."""
    yield from metrics(body["types"][name])
    if body["speculation"]:
        yield from _drafts(body["speculation"]["types"][name])


def _drafts(found: Mapping[str, Any]) -> Iterator[Row]:
    """What servers said about drafts and predicted outputs, where they did."""
    base, candidate = (
        dict(words.drafts(found[side], words.SHOWN_POSITIONS)) for side in ("base", "candidate")
    )
    for name in dict.fromkeys((*base, *candidate)):
        ratio = found["ratio"] if name == words.DRAFTED else None
        yield Row(name, base.get(name, "none"), candidate.get(name, "none"), _ratio(ratio))


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def others(body: Mapping[str, Any], *, plain: bool) -> Iterator[Row]:
    """Failures, cost, length, cache and drafts. plain: `USD` for `$`, which may begin a formula."""
    failed = body["error_rate"]
    yield Row(
        "failed",
        words.share(failed["base"]["value"]),
        words.share(failed["candidate"]["value"]),
        f"p = {failed['p']:.2g}",
        failed["verdict"],
        words.verdict(failed),
        f"{failed['n_pairs']:,}",
    )
    cost = (
        ("USD per million output tokens", words.plain_dollars) if plain else ("$ per M output", words.dollars)
    )
    for (name, show), key in (
        (cost, "usd_per_million_output_tokens"),
        (("output tokens p50", words.number), "output_tokens"),
        (("cached share", words.share), "cached_share"),
    ):
        row = body[key]
        yield Row(name, show(row["base"]), show(row["candidate"]), _ratio(row.get("ratio")))
    if body["speculation"]:
        yield from _drafts(body["speculation"])


def headline(body: Mapping[str, Any]) -> str:
    """`2 worse, 6 with no difference shown`."""
    if body["invalid_reasons"]:
        return "invalid"
    found = [row["verdict"] for row in body["comparisons"] if row["n_pairs"]]
    parts = [f"{found.count(word)} {word}" for word in ("worse", "better", "inconclusive") if word in found]
    if "same" in found:
        parts.append(f"{found.count('same')} with no difference shown")
    return ", ".join(parts) or "nothing to compare"


def notes(body: Mapping[str, Any]) -> list[str]:
    """What stands under the table."""
    found = [f"A difference up to {words.share(body['tolerance'])} counts as none; intervals are 95 % ones."]
    source = body["floor"]["source"]
    if source:
        found.append(f"Noise floor from {source}.")
    if body["unpaired"]:
        found.append(f"{body['unpaired']} requests have no partner in the other run and are left out.")
    return found
