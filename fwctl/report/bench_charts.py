"""Which charts a bench report and a comparison have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fwctl.report import bench_words as words
from fwctl.report import charts
from fwctl.report.bench_report_rows import arms
from fwctl.report.charts import Axes, Interval, Point, Series

_UNITS = {"concurrency": "requests at a time", "rate_per_s": "requests a second"}
_COLOURS = {"better": 2, "worse": 1, "inconclusive": 4, "same": 5, "invalid": 5}
MOST_SERIES = 8


@dataclass(frozen=True, slots=True)
class Chart:
    """One picture. name: of its file. told: what to read from it, in a sentence."""

    name: str
    title: str
    told: str
    svg: str


def of_report(body: Mapping[str, Any]) -> list[Chart]:
    """Every chart that the data carries, in reading order."""
    return [
        item for item in (*_sweeps(body), *_distributions(body), *_courses(body), *_errors(body)) if item.svg
    ]


def _distributions(body: Mapping[str, Any]) -> Iterator[Chart]:
    for metric in ("ttft_s", "total_s", "tpot_s"):
        series = [
            Series(arm["label"] + _marks(arm, metric), _curve(arm["distributions"][metric]["curve"]))
            for arm in _telling(body)
            if arm["distributions"][metric] is not None
        ]
        known = [point.x for item in series for point in item.points]
        wide = bool(known) and min(known) > 0 and max(known) / min(known) > 20
        axes = Axes("milliseconds", "share of requests", log_x=wide, across=(("p50", 50.0), ("p95", 95.0)))
        title = f"Distribution of {words.METRICS[metric]}"
        told = "The share of requests, in %, that took at most so long. Further left is faster."
        yield Chart(
            f"distribution-{words.short(metric)}", title, told, charts.lines(title, series, axes, steps=True)
        )


def _telling(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The targets of a picture that holds few lines: of a sweep the lowest and the highest load."""
    swept = {point["label"] for item in body["sweeps"] for point in item["points"]}
    ends = {item["points"][at]["label"] for item in body["sweeps"] for at in (0, -1)}
    found = [arm for arm in arms(body) if arm["label"] not in swept or arm["label"] in ends]
    return found[:MOST_SERIES]


def _marks(arm: Mapping[str, Any], metric: str) -> str:
    found = arm["figures"][metric]
    parts = [f"{q} {words.time(item['value'])}" for q, item in found.items() if item["value"] is not None]
    return f" ({', '.join(parts)})" if parts else ""


def _curve(values: Sequence[float]) -> list[Point]:
    return [Point(value * 1000, 100 * at / (len(values) - 1)) for at, value in enumerate(values)]


def _sweeps(body: Mapping[str, Any]) -> Iterator[Chart]:
    for unit, words_of_unit in _UNITS.items():
        sweeps = [item for item in body["sweeps"] if item["unit"] == unit][: MOST_SERIES // 2]
        if not sweeps:
            continue
        loads = sorted({point["load"] for item in sweeps for point in item["points"]})
        ticks = loads if len(loads) <= 8 else loads[:: len(loads) // 8 + 1]
        log = loads[0] > 0
        for metric in ("ttft_s", "tpot_s"):
            series = [
                Series(f"{item['target']} {q}", _levels(item, metric, q))
                for item in sweeps
                for q in item["points"][0]["figures"][metric]
            ]
            series = [item for item in series if item.points]
            title = f"{words.METRICS[metric].capitalize()} against {words_of_unit}"
            axes = Axes(words_of_unit, "milliseconds", log_x=log, ticks_x=ticks)
            told = "Each mark with its 95 % interval. Where the line bends up, requests begin to queue."
            yield Chart(f"load-{words.short(metric)}-{unit}", title, told, charts.lines(title, series, axes))
        series = [
            Series(item["target"], [point for point in _tokens(item) if point is not None]) for item in sweeps
        ]
        title = f"Output tokens a second against {words_of_unit}"
        told = "What the whole system makes. Where it flattens, more load adds waiting only."
        axes = Axes(words_of_unit, "tokens a second", log_x=log, ticks_x=ticks)
        yield Chart(f"load-tokens-{unit}", title, told, charts.lines(title, series, axes))


def _levels(sweep: Mapping[str, Any], metric: str, q: str) -> list[Point]:
    found = []
    for point in sweep["points"]:
        item = point["figures"][metric][q]
        if item["value"] is not None:
            found.append(Point(point["load"], *(1000 * item[key] for key in ("value", "low", "high"))))
    return found


def _tokens(sweep: Mapping[str, Any]) -> Iterator[Point | None]:
    for point in sweep["points"]:
        rate = point["figures"]["throughput"]["output_tokens_per_s"]
        yield None if rate is None else Point(point["load"], rate)


def _courses(body: Mapping[str, Any]) -> Iterator[Chart]:
    for at, run in enumerate(body["runs"]):
        targets = run["targets"][:MOST_SERIES]
        series = [
            Series(arm["label"], [Point(x, 1000 * y) for x, y in arm["timeline"]["dots"]]) for arm in targets
        ]
        failed = [moment for arm in targets for moment in arm["timeline"]["failed"]]
        heights = [point.y for item in series for point in item.points]
        wide = bool(heights) and min(heights) > 0 and max(heights) / min(heights) > 20
        title = f"Course of {run['dir']}: time to first token"
        told = "One dot a request, thinned out in long runs. A trend or a gap means that something changed."
        axes = Axes("seconds since the start", "milliseconds", log_y=wide)
        yield Chart(f"course-{at + 1}", title, told, charts.scatter(title, series, axes, failed))


def _errors(body: Mapping[str, Any]) -> Iterator[Chart]:
    counts = [
        (f"{word} {arm['label']}", count)
        for arm in arms(body)
        for word, count in arm["figures"]["errors"].items()
    ]
    title = "Failed requests by class"
    yield Chart("errors", title, "What each target failed with.", charts.bars(title, counts[:40]))


def of_comparison(body: Mapping[str, Any]) -> list[Chart]:
    """The ratios of a comparison."""
    intervals = [
        Interval(
            f"{words.short(row['metric'])} {row['quantile']}",
            row["ratio"],
            row["low"],
            row["high"],
            _COLOURS[row["verdict"]],
        )
        for row in body["comparisons"]
        if row["ratio"] is not None and row["low"] > 0
    ]
    title = "Candidate over base"
    told = "Left of 1 is faster. The band holds the differences that count as none."
    picture = charts.forest(title, intervals, x="ratio, with its 95 % interval", tolerance=body["tolerance"])
    return [Chart("ratios", title, told, picture)] if picture else []
