import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from fwctl.errors import InvalidSpecError, Severity
from fwctl.report import markdown
from fwctl.report.layout import Style, safe
from fwctl.report.markdown_text import block, code, escape, prose, table
from fwctl.report.model import Report, failure
from tests.report import samples

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


class Words(HTMLParser):
    """The text that a page shows, and its elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.shown, self.tags = "", list[str]()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.shown += data


def read(text: str) -> Words:
    return Words(READER.render(text))


def shown(report: Report) -> str:
    return markdown.render(report, Style())


@settings(max_examples=150)
@given(st.text(min_size=1))
def test_text_of_others_is_shown_exactly_as_written(text: str) -> None:
    expected = safe(text).strip()
    words = read("x " + escape(text) + " x")
    assert " ".join(words.shown.split()) == " ".join(f"x {expected} x".split())
    assert set(words.tags) <= {"p", "span"}


@settings(max_examples=150)
@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_code_in_a_table_is_shown_exactly_as_written(text: str) -> None:
    words = read("\n".join(table(("a", "b"), [(code(text), "end")])))
    assert words.tags.count("td") == 2
    assert words.shown.split() == f"a b {safe(text)} end".split()


@pytest.mark.parametrize(
    "text",
    [
        "# no",
        "- no",
        "+ no",
        "1. no",
        "1) no",
        "=== no",
        "> no",
        "    no",
        "***",
        "`x",
        "[a](b)",
        "<b>",
        "a_b_",
    ],
)
def test_no_text_begins_a_block_or_a_mark(text: str) -> None:
    words = read(escape(text))
    assert set(words.tags) <= {"p"}
    assert words.shown.strip() == text.strip()


@pytest.mark.parametrize("text", ["@team please", "see #12", ":rocket:", "$8.00/h and $9.00/h"])
def test_nothing_is_left_that_github_turns_into_something_else(text: str) -> None:
    """Mentions, references, emoji and formulas are looked for in the text between elements."""
    page = READER.render(escape(text))
    for piece in re.split("<[^>]*>", page):
        assert not re.search(r"@\w|#\d|:\w+:|\$.*\$", piece)
    assert Words(page).shown.strip() == text


def test_words_between_backticks_are_code_in_prose() -> None:
    assert read(prose("raise `budget.x`, or not")).tags == ["p", "code"]
    assert read(prose("`fwctl lock` records `a`, `b`")).shown.strip() == "fwctl lock records a, b"
    assert read(prose("one ` alone")).shown.strip() == "one ` alone"


def test_a_block_holds_any_run_of_backticks() -> None:
    assert read("\n".join(block(["a ```` b"], "sh"))).shown.strip() == "a ```` b"


def test_the_first_line_is_an_unseen_marker_of_the_stack() -> None:
    text = shown(samples.plan(samples.change("chat", "update")))
    assert text.splitlines()[0] == f"<!-- fwctl:plan acme/prod {samples.DIGEST} -->"
    assert "fwctl:plan" not in read(text).shown


def test_no_name_ends_the_marker() -> None:
    report = samples.plan(samples.change("chat", "update"), stack="x--> <b>")
    assert shown(report).splitlines()[0] == f"<!-- fwctl:plan acme/x--b {samples.DIGEST} -->"


def test_a_plan_shows_fields_commands_cost_and_checks() -> None:
    fields = (
        samples.field("replicas.max", 3, 4),
        samples.field("model", "a", "b", effect="replace", output_changing=True),
        samples.field("direct_route.api_keys", "***", "***", sensitive=True),
    )
    change = samples.change("chat", "update", fields=fields, cost=samples.cost(40.0, 136.0, 8.0))
    text = shown(samples.plan(change, samples.change("eval", "no-op"), notes=["drop `x`"]))
    assert "| `replicas.max` | `3` | `4` | in place | `configs/chat.yaml:17` |" in text
    assert "forces replacement, **changes what the model answers**" in text
    assert "firectl deployment update chat -a acme" in text
    assert "| `chat` | `$32.00/h → $40.00/h (+$8.00/h)` | `$128.00/h → $136.00/h (+$8.00/h)` |" in text
    assert "| 1 unchanged | `$8.00/h` | `$16.00/h` |" in text
    assert "| **total** | `$32.00/h → $40.00/h (+$8.00/h)` | `$152.00/h → $160.00/h (+$8.00/h)` |" in text
    assert "floor of a month (730 h): $29,200.00 (+$5,840.00)" in read(text).shown
    assert "budget pass: floor: $40.00/h, budget $80.00/h" in read(text).shown
    assert "prices of 2026-09-01, USD" in text
    assert "✅ pass" in text
    assert text.count("deployments/eval") == 0


def test_what_is_dangerous_or_blocked_stands_at_the_top() -> None:
    item = samples.diagnostic(code="delete", message="not named", suggestion="`--allow-delete old`")
    report = samples.plan(
        samples.change("old", "delete"),
        samples.change("new", "create", "delete"),
        samples.change("chat", "blocked"),
        diagnostics=(item,),
    )
    head = shown(report).partition("### ")[0]
    assert "> This plan deletes or replaces `deployments/old`, `deployments/new`." in head
    assert "> Blocked, and nothing is applied while it is: `deployments/chat`." in head


def test_a_new_deployment_shows_values_without_a_before() -> None:
    change = samples.change("chat", "create", fields=(samples.field("region", None, "US"),))
    assert "| `region` | `US` | `configs/chat.yaml:17` |" in shown(samples.plan(change))


def test_fit_and_notes_of_a_change_are_told_and_a_plan_without_prices_has_no_cost() -> None:
    change = samples.change(
        "chat", "update", fit={"verdict": "tight", "evidence": "config"}, notes=["keep `x`"]
    )
    text = shown(samples.plan(change, cost={}))
    assert "Fit: **tight** (evidence: config)" in text
    assert "- keep `x`" in text
    assert "| cost |" not in text
    report = samples.plan(
        *[samples.change(f"d{at}", "update", reason="r" * 900) for at in range(900)], cost={}
    )
    assert "Cost" not in shown(report)
    assert "900 to update" in shown(report)


def test_drift_is_told_apart() -> None:
    row = {"address": "deployments/chat", "path": "replicas.max", "before": 2, "after": 9}
    text = shown(samples.plan(samples.change("chat", "update"), drift=[row]))
    assert "| `deployments/chat` | `replicas.max` | `2` | `9` |" in text


def big(number: int, fields: int, note: int = 0) -> Report:
    rows = tuple(samples.field(f"tags.key{at}", "before" * 4, "after" * 4) for at in range(fields))
    changes = [samples.change(f"d{at}", "update", fields=rows, reason="r" * note) for at in range(number)]
    return samples.plan(*changes)


@pytest.mark.parametrize(
    ("report", "has", "lacks"),
    [
        (big(5, 5), "firectl deployment update", "Shortened"),
        (big(120, 3), "`tags.key2`", "firectl deployment update"),
        (big(300, 12), "| `deployments/d299` |", "`tags.key2`"),
        (big(5000, 1, 200), "5000 to update", "deployments/d4999"),
    ],
    ids=["full", "fields", "table", "counts"],
)
def test_a_plan_gets_shorter_step_by_step_until_a_comment_holds_it(
    report: Report, has: str, lacks: str
) -> None:
    text = shown(report)
    assert markdown.characters(text) <= 65_536
    assert has in text
    assert lacks not in text
    assert samples.DIGEST in text
    assert "$40.00/h" in text


def test_wide_characters_count_as_the_two_units_they_take() -> None:
    assert markdown.characters("a😀é") == 4


def test_the_shortest_form_is_short_whatever_the_report_holds() -> None:
    names = [f"deployment-{at}" for at in range(5000)]
    found = tuple(samples.diagnostic(message="m" * 500, deployment=name) for name in names)
    changes = [samples.change(name, "delete", reason="x" * 900) for name in names]
    money = {**samples.plan().body["cost"], "unknown": names}
    checks = [{"name": "quota", "status": "fail", "message": "m" * 500, "deployment": name} for name in names]
    text = shown(
        samples.plan(*changes, diagnostics=found, cost=money, checks=checks, notes=["n" * 500] * 900)
    )
    assert markdown.characters(text) < 8000
    assert "and 4980 more" in text


def test_invalid_specs_are_a_document_with_the_problems() -> None:
    error = InvalidSpecError("the specs are not valid: 1 error", next_steps=["fwctl validate"])
    error.diagnostics = (samples.diagnostic(),)
    text = shown(failure("plan", error))
    assert text.startswith("<!-- fwctl:plan -->\n## fwctl plan: failed")
    assert "`configs/chat.yaml:9:22`" in text
    assert "> the specs are not valid: 1 error" in text
    many = InvalidSpecError("not valid", diagnostics=[samples.diagnostic(message="m" * 999)] * 200)
    assert "200 problems were found." in shown(failure("plan", many))


def test_a_fit_check_shows_verdicts_and_what_would_fit() -> None:
    other = {
        "accelerator": "NVIDIA_H200_141GB",
        "accelerator_count": 2,
        "precision": "FP8",
        "usd_per_hour": 18.0,
        "changes": ["2 x NVIDIA_H200_141GB"],
    }
    text = shown(
        samples.fit(samples.fit_result("eval", "does-not-fit", alternatives=[other], max_concurrency=None))
    )
    assert "## fwctl fit-check: 1 does-not-fit" in text
    assert "❌ **does-not-fit**" in text
    assert "what would fit for eval" in text
    assert "`$18.00/h`" in text


def test_validation_counts_and_lists() -> None:
    text = shown(
        samples.validate(samples.diagnostic(), samples.diagnostic(Severity.WARNING, "FW401", "cold"))
    )
    assert "2 deployments in 2 files, 1 error, 1 warning." in text
    assert "| warning | FW401 |" in text


def test_an_apply_shows_outcomes_and_model_strings() -> None:
    results = [
        {"address": "deployments/chat", "outcome": "done", "actions": ["create"], "seconds": 65.2},
        {
            "address": "deployments/eval",
            "outcome": "failed",
            "actions": ["create"],
            "error": {"message": "quota"},
        },
    ]
    strings = {"chat": {"base": "accounts/acme/deployments/chat", "router": None}}
    body = {"account": "acme", "stack": "prod", "digest": samples.DIGEST, "results": results}
    text = shown(Report("apply", {**body, "model_strings": strings}))
    assert "## fwctl apply: 1 done, 1 failed" in text
    assert "| `deployments/chat` | ✅ done | create | 1m5s |  |" in text
    assert "| `deployments/eval` | ❌ failed | create |  | quota |" in text
    assert "`accounts/acme/deployments/chat`" in text


def test_status_and_shapes_are_tables() -> None:
    counts = dict.fromkeys(("min", "max", "desired", "ready", "pending", "downloading", "initializing"), 1)
    row = {
        "name": "chat",
        "deployment_id": "chat",
        "managed": True,
        "state": "READY",
        "replicas": counts,
        "model_string": "accounts/acme/deployments/chat",
        "usd_per_hour": 8.0,
    }
    text = shown(Report("status", {"account": "acme", "deployments": [row], "watch": None}))
    assert "## fwctl status: 1 READY" in text
    assert "| `$8.00/h` | `accounts/acme/deployments/chat` |" in text
    shape = {
        "shape": "accounts/fireworks/deploymentShapes/x",
        "accelerator": "NVIDIA_H100_80GB",
        "accelerator_count": 1,
        "precision": "FP8",
        "usd_per_hour": 8.0,
        "verdict": "fits",
        "max_concurrency": {"low": 5.0},
    }
    text = shown(Report("shapes", {"model": "m", "shapes": [shape]}))
    assert "| fits | 5.0 |" in text
    long = shown(Report("status", {"account": "acme", "deployments": [row] * 3000, "watch": None}))
    assert "3000 READY" in long
    assert markdown.characters(long) < 1000


def test_a_command_without_a_layout_has_no_document() -> None:
    assert shown(Report("doctor", {"checks": []})) == ""
