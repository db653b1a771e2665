"""Bench reports and comparisons in every format, made from runs on disk."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from fwctl.errors import UsageError
from fwctl.exitcodes import Exit
from fwctl.measure.arm import read_arm
from fwctl.measure.compare import compare_arms
from fwctl.measure.digest import digest_of
from fwctl.measure.gates import judge_gates, parse_condition
from fwctl.measure.pairing import Options
from fwctl.measure.summary import Facts
from fwctl.report import bench_charts, bench_words, github, html, junit, markdown, text
from fwctl.report.bench_report_text import histogram
from fwctl.report.layout import Style
from fwctl.report.model import Report
from tests.measure.runs import rows, save


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    save(folder / "base", rows(150, repeats=2), facts={"t": Facts(usd_per_hour=4.0, slo_s={"ttft_s": 0.5})})
    save(folder / "slow", rows(150, repeats=2, factor=1.3, seed=2, failures=9), warnings=["t: <b>odd</b>"])
    levels = [
        row
        for load in (1, 4, 16)
        for row in rows(40, factor=1 + load / 16, target=f"fast@{load}", concurrency=load)
    ]
    save(folder / "sweep", levels, interrupted=True, invalid_reasons=["the client was late"], valid=False)
    return folder


def report(runs: Path, *names: str) -> Report:
    return Report("bench report", digest_of(runs, names, (0.5, 0.95)))


def comparison(runs: Path, *conditions: str, base: str = "base", candidate: str = "slow") -> Report:
    left, right = read_arm(runs, base), read_arm(runs, candidate)
    found = compare_arms(runs, left, right, Options(resamples=100))
    gates = judge_gates([parse_condition(item) for item in conditions], found, left, right)
    return Report("bench compare", {**found, "gates": gates}, Exit.REFUSED if gates else Exit.OK)


def test_the_table_has_price_beside_latency(runs: Path) -> None:
    shown = text.render(report(runs, "base", "slow"), Style())
    first, second = (
        line for line in shown.splitlines() if line.startswith(("base:t", "slow:t")) and " at a " in line
    )
    assert "8 at a time" in first
    assert re.search(r"\d\.\d\d$", first)
    assert second.endswith("n/a")
    assert "slow:t failed: 18 rate_limited" in shown


def test_a_histogram_fits_a_narrow_terminal_without_unicode(runs: Path) -> None:
    shown = text.render(report(runs, "base"), Style(width=40, unicode=False))
    bars = [line for line in shown.splitlines() if "##" in line]
    assert len(bars) > 10
    assert shown.isascii()
    assert max(map(len, bars)) <= 40
    assert any(line.endswith("p50") for line in shown.splitlines())


def test_the_smallest_bin_is_seen_and_one_value_is_one_bin() -> None:
    found = {"n": 1001, "bins": [(1.0, 2.0, 1000), (2.0, 4.0, 1), (4.0, 8.0, 0)]}
    estimates = {"p50": {"value": 1.5}, "p95": {"value": None}}
    assert list(histogram(found, estimates, 40, True)) == [
        "1.00 s " + "█" * 18 + " 1,000 p50",
        "2.00 s ▏" + " " * 17 + "     1",
        "4.00 s " + " " * 18 + "     0",
    ]


def test_markdown_has_the_table_and_the_rest_behind_a_click(runs: Path) -> None:
    shown = markdown.render(report(runs, "base", "slow"), Style())
    assert "fwctl bench report: 2 targets" in shown
    assert "USD per M output" in shown
    assert "<details><summary>base:t</summary>" in shown
    assert "goodput" in shown
    assert r"\<b\>odd" in shown


def test_the_page_stands_alone_and_shows_every_chart(runs: Path) -> None:
    page = html.render(report(runs, "base", "slow", "sweep"), Style())
    assert page.isascii()
    assert not re.search(r"(?:src|href)=|url\(|@import|https?://", page)
    assert "<b>odd" not in page
    names = [chart.name for chart in bench_charts.of_report(report(runs, "base", "slow", "sweep").body)]
    assert names == [
        "load-ttft-concurrency",
        "load-tpot-concurrency",
        "load-tokens-concurrency",
        "distribution-ttft",
        "distribution-total",
        "distribution-tpot",
        "course-1",
        "course-2",
        "course-3",
        "errors",
    ]
    assert page.count('class="chart"') == len(names)
    assert "the run was interrupted" in page
    assert "the client was late" in page


def test_a_sweep_is_ordered_by_load_and_a_run_of_one_load_is_none(runs: Path) -> None:
    (sweep,) = digest_of(runs, ["sweep"], (0.5,))["sweeps"]
    assert (sweep["target"], sweep["unit"], [item["load"] for item in sweep["points"]]) == (
        "fast",
        "concurrency",
        [1, 4, 16],
    )
    assert digest_of(runs, ["base"], (0.5,))["sweeps"] == []


def test_a_document_does_not_grow_with_the_run(runs: Path) -> None:
    save(runs / "long", rows(1500))
    arm = digest_of(runs, ["long"], (0.5,))["runs"][0]["targets"][0]
    assert len(arm["timeline"]["dots"]) == 600
    assert arm["timeline"]["n"] == 1500
    assert len(arm["distributions"]["ttft_s"]["curve"]) == 101
    assert sum(count for _, _, count in arm["distributions"]["ttft_s"]["bins"]) == 1500


def test_a_run_without_answers_is_shown_and_one_without_records_refused(runs: Path) -> None:
    save(runs / "failed", rows(5, failures=5))
    shown = text.render(report(runs, "failed"), Style())
    assert "100.0 %" in shown
    assert "n/a" in shown
    assert 'class="chart"' in html.render(report(runs, "failed"), Style())
    save(runs / "empty", [])
    with pytest.raises(UsageError, match="no measured records"):
        digest_of(runs, ["empty"], (0.5,))


def test_a_comparison_in_text_and_markdown(runs: Path) -> None:
    shown = text.render(comparison(runs, "ttft_p50 > 1.1x", "error_rate > 50%"), Style())
    assert re.search(r"ttft p50 .* worse +282", shown)
    assert "FAILED  ttft_p50 > 1.1x: 1.3" in shown
    assert "PASSED  error_rate > 50%: 6.0 %" in shown
    assert re.search(r"chat +1\d\d +1\.\d\d worse", shown)
    shown = markdown.render(comparison(runs, "ttft_p50 > 1.1x"), Style())
    assert "| **failed** | `ttft_p50 > 1.1x` |" in shown
    assert "**worse**" in shown
    assert "type chat" in shown


def test_a_comparison_for_machines_of_a_pipeline(runs: Path) -> None:
    found = comparison(runs, "ttft_p50 > 1.1x", "error_rate > 50%")
    shown = junit.render(found, Style())
    assert 'tests="2" failures="1"' in shown
    assert '<testcase classname="fwctl.gates" name="error_rate &gt; 50%"/>' in shown
    assert '<failure type="gate/failed"' in shown
    assert "::error title=fwctl gate/failed::ttft_p50 > 1.1x (--fail-if): failed" in github.render(
        found, Style()
    )
    outputs = github.outputs(found)
    assert (outputs["gates_failed"], outputs["gates_passed"]) == ("1", "1")
    assert int(outputs["worse"]) > 0


def test_a_comparison_tells_what_drafts_gave_on_both_sides_in_every_format(runs: Path) -> None:
    # In 10 passes of the edits 9, 6, 3, 2 and 1 reached positions 1 to 5: 1 + 2.1 tokens a pass.
    said = {"server": {"speculation-acceptance": "1:9/10,2:6/10,3:3/10,4:2/10,5:1/10"}}
    drafted = [{**item, **said} if item["type"] == "edit" else item for item in rows(150)]
    save(runs / "drafted", drafted)
    found = comparison(runs, candidate="drafted")
    shown = text.render(found, Style())
    assert re.search(r"tokens a pass +none +3\.10 \(3\.10 to 3\.10\)", shown)
    assert re.search(r"accepted by position +none +90\.0 %, 60\.0 %, 30\.0 %, 20\.0 % \.\.\.", shown)
    assert re.search(r"edit .* none -> 3\.10$", shown, re.MULTILINE)
    assert re.search(r"chat .* none -> none$", shown, re.MULTILINE)
    for page in (markdown.render(found, Style()), html.render(found, Style())):
        _, of_edit = page.split("type edit", 1)
        assert "tokens a pass" in page
        assert "accepted by position" in of_edit
    assert "tokens a pass" not in text.render(comparison(runs), Style())


def test_a_report_tells_acceptance_by_position_in_every_format(runs: Path) -> None:
    said = {"server": {"speculation-acceptance": "1:9/10,2:6/10"}}
    save(runs / "positions", [{**item, **said} if item["type"] == "edit" else item for item in rows(40)])
    found = report(runs, "positions")
    shown = text.render(found, Style())
    assert re.search(r"accepted by position +90\.0 %, 60\.0 %$", shown, re.MULTILINE)
    assert re.search(r"edit: tokens a pass +2\.50 \(2\.50 to 2\.50\)$", shown, re.MULTILINE)
    for page in (markdown.render(found, Style()), html.render(found, Style())):
        assert "edit: accepted by position" in page
        assert re.search(r"90\\?\.0 %, 60\\?\.0 %", page)  # Markdown may escape the point
    assert "drafts" not in text.render(report(runs, "base"), Style())


def test_an_invalid_comparison_is_said_everywhere(runs: Path) -> None:
    save(runs / "other", rows(150), digest="sha256:other")
    found = comparison(runs, "ttft_p50 > 1.1x", candidate="other")
    assert "INVALID: the prompt sets differ" in text.render(found, Style())
    assert "bench compare: invalid" in markdown.render(found, Style())
    assert "the comparison is invalid" in junit.render(found, Style())
    assert "the prompt sets differ" in html.render(found, Style())


def test_the_page_of_a_comparison_has_the_ratios(runs: Path) -> None:
    page = html.render(comparison(runs, "ttft_p50 > 1.1x"), Style())
    assert "Bench comparison: " in page
    assert page.count('class="chart"') == 1
    assert "Gates" in page


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "n/a"),
        (0.0, "0.00 ms"),
        (0.000_45, "0.45 ms"),
        (0.0123, "12.3 ms"),
        (0.1234, "123 ms"),
        (0.9996, "1.00 s"),
        (1.234, "1.23 s"),
        (123.4, "123 s"),
    ],
)
def test_times_have_three_digits(value: float | None, shown: str) -> None:
    assert bench_words.time(value) == shown


def test_what_is_not_known_is_never_zero() -> None:
    shown: list[Any] = [bench_words.number(None), bench_words.share(None), bench_words.dollars(None)]
    assert shown == ["n/a"] * 3
    assert bench_words.estimate(None) == "n/a"
    assert bench_words.errors({}) == "none"


def documented(title: str) -> set[str]:
    """Keys of the first column of a table of docs/json.md."""
    page = (Path(__file__).parents[2] / "docs/json.md").read_text()
    section = page.split(f"\n## {title}\n")[1].split("\n## ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {key for cell in cells for key in re.findall(r"`([^`]+)`", cell)}


def test_the_page_of_json_lists_the_keys_of_real_documents(runs: Path) -> None:
    found: Any = comparison(runs, "ttft_p50 > 1.1x").body
    assert set(found) == documented("bench compare")
    assert set(found["comparisons"][0]) == documented("comparisons of bench compare")
    assert set(found["gates"][0]) == documented("gates of bench compare")
    body = digest_of(runs, ["base", "sweep"], (0.5, 0.95))
    assert set(body) | {"charts"} == documented("bench report")
    assert set(body["runs"][0]) == documented("runs of bench report")
    arm = body["runs"][0]["targets"][0]
    assert set(arm) == documented("targets of bench report")
    assert set(arm["figures"]) == documented("figures of a target")
