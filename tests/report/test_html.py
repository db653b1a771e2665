"""One file that needs nothing else; checked with the parser of the standard library."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from fwctl.report import html
from fwctl.report.layout import Style
from fwctl.report.model import Report
from tests.report import samples

VOID = {"meta", "wbr", "br", "hr", "img", "input", "link"}


class Tree(HTMLParser):
    """Fails on elements that are not closed in order; keeps tags, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open, self.tags, self.text = list[str](), list[tuple[str, dict[str, str | None]]](), ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += data


PLAN = samples.plan(
    samples.change(
        "chat",
        "update",
        fields=(
            samples.field("replicas.max", 3, 4, output_changing=True),
            samples.field("k", "s", "t", sensitive=True),
        ),
        fit={"verdict": "fits"},
        notes=["a note"],
    ),
    samples.change("new", "create", fields=(samples.field("region", None, "US", output_changing=True),)),
    samples.change("old", "delete"),
    samples.change("still", "no-op"),
    diagnostics=(samples.diagnostic(), samples.diagnostic(position=None, suggestion=None)),
    drift=[{"address": "deployments/chat", "path": "replicas.max", "before": 2, "after": 9}],
    notes=["remember"],
)
FIT = samples.fit(
    samples.fit_result("chat", "fits"),
    samples.fit_result("none", "unknown", memory=[], max_concurrency=None, max_context_tokens=None),
    samples.fit_result(
        "eval",
        "does-not-fit",
        reasons=["weights need 120 GiB"],
        assumed=["head size 128"],
        alternatives=[
            {
                "accelerator": "NVIDIA_H200_141GB",
                "accelerator_count": 2,
                "precision": "FP8",
                "max_concurrency": {"low": 3.0},
                "usd_per_hour": 18.0,
                "changes": ["2 x NVIDIA_H200_141GB"],
            }
        ],
    ),
)
MATRIX = Report("fit-check", {"results": [], "matrix": [samples.fit_result("m", "tight", usd_per_hour=8.0)]})


def page(report: Report) -> Tree:
    text = html.render(report, Style())
    assert text.isascii()
    return Tree(text)


@pytest.mark.parametrize("report", [PLAN, FIT, MATRIX], ids=["plan", "fit", "matrix"])
def test_the_file_loads_nothing_and_runs_nothing(report: Report) -> None:
    text = html.render(report, Style())
    assert not re.search(r"url\(|@import", text)
    assert all({"src", "href", "srcset", "onclick"}.isdisjoint(attrs) for _, attrs in Tree(text).tags)
    assert {tag for tag, _ in Tree(text).tags}.isdisjoint(
        {"script", "link", "iframe", "img", "object", "form"}
    )
    assert "default-src 'none'" in text


@pytest.mark.parametrize("report", [PLAN, FIT, MATRIX], ids=["plan", "fit", "matrix"])
def test_the_structure_is_one_that_a_screen_reader_can_use(report: Report) -> None:
    tree = page(report)
    tags = [tag for tag, _ in tree.tags]
    assert ("html", {"lang": "en"}) in tree.tags
    assert tags.count("h1") == tags.count("main") == tags.count("title") == 1
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert tags.count("caption") == tags.count("table")
    assert all("scope" in attrs for tag, attrs in tree.tags if tag == "th")
    for tag, attrs in tree.tags:
        if attrs.get("role") in ("img", "region"):
            assert attrs.get("aria-label"), tag


def test_light_and_dark_are_both_there() -> None:
    text = html.render(PLAN, Style())
    assert "prefers-color-scheme: dark" in text
    assert "color-scheme: light dark" in text


def test_a_plan_shows_changes_cost_checks_drift_problems_and_notes() -> None:
    shown = page(PLAN).text
    for words in (
        "Plan of acme/prod: 1 to create, 1 to update, 1 to delete, 1 unchanged",
        "This plan deletes or replaces",
        "replicas.max",
        "changes what the model answers",
        "fit: fits",
        "firectl deployment update chat -a acme",
        "$32.00/h → $40.00/h (+$8.00/h)",
        "floor of a month (730 h): $29,200.00 (+$5,840.00)",
        "20 of 64 GPUs",
        "Drift",
        "FW302",
        "raise max to 5",
        "remember",
        "***",
    ):
        assert words in shown
    assert "deployments/still" not in shown


def test_memory_is_told_in_words_beside_the_bar() -> None:
    tree = page(FIT)
    assert "weights 8.00 GiB" in tree.text
    assert "kv pool 24.00 GiB" in tree.text
    [label] = {
        attrs["aria-label"] for _, attrs in tree.tags if attrs.get("role") == "img" and "chat" in str(attrs)
    }
    assert label == "Memory of one GPU of chat: 32.00 GiB"
    widths = [
        attrs["style"] for tag, attrs in tree.tags if tag == "div" and "width" in str(attrs.get("style"))
    ]
    assert widths[:2] == ["background:var(--weights);width:25.00%", "background:var(--kv);width:75.00%"]


def test_hostile_text_is_shown_and_never_markup() -> None:
    change = samples.change(
        samples.HOSTILE,
        "update",
        fields=(samples.field(samples.HOSTILE, samples.HOSTILE, samples.HOSTILE, effect=samples.HOSTILE),),
        reason=samples.HOSTILE,
        notes=[samples.HOSTILE],
    )
    tree = page(samples.plan(change, stack=samples.HOSTILE, notes=[samples.HOSTILE]))
    assert "script" not in {tag for tag, _ in tree.tags}
    assert "<script>alert(1)</script>" in tree.text
    tree = page(samples.fit(samples.fit_result(samples.HOSTILE, "tight", reasons=[samples.HOSTILE])))
    assert "script" not in {tag for tag, _ in tree.tags}


def test_no_changes_are_said() -> None:
    assert "no changes" in page(samples.plan(samples.change("still", "no-op"), cost={}, checks=[])).text


def test_without_a_result_there_is_no_page() -> None:
    assert html.render(Report("plan"), Style()) == ""
    assert html.render(Report("status", {"deployments": []}), Style()) == ""
