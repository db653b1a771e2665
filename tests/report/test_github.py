"""Limits: docs.github.com, workflow commands; 10 annotations of a severity a step, summary of 1 MiB."""

import json
import re
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.errors import AuthError, Severity
from fwctl.report import github
from fwctl.report.layout import Style
from fwctl.report.model import Report, failure
from tests.report import samples

COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


def annotations(report: Report, style: Style | None = None) -> list[tuple[str, dict[str, str], str]]:
    """What a runner reads: commands outside of regions in which they are stopped."""
    found, stopped = [], None
    for line in github.render(report, style or Style()).splitlines():
        if stopped:
            stopped = None if line.strip() == f"::{stopped}::" else stopped
        elif line.startswith("::stop-commands::"):
            stopped = line.removeprefix("::stop-commands::")
        elif match := COMMAND.fullmatch(line):
            pairs = dict(pair.split("=", 1) for pair in match[2].split(",") if pair)
            found.append((match[1], {key: unquote(text) for key, text in pairs.items()}, unquote(match[3])))
    assert stopped is None
    return found


def test_a_problem_becomes_an_annotation_at_its_place() -> None:
    assert annotations(samples.validate(samples.diagnostic())) == [
        (
            "error",
            {
                "file": "configs/chat.yaml",
                "line": "9",
                "endLine": "9",
                "col": "22",
                "endColumn": "23",
                "title": "fwctl FW302",
            },
            "min 5 is more than max 2; fix: raise max to 5",
        )
    ]


def test_the_file_is_named_from_the_root_of_the_repository() -> None:
    style = Style(folder="/w/repo/infra", root="/w/repo")
    [(_, properties, _)] = annotations(samples.validate(samples.diagnostic()), style)
    assert properties["file"] == "infra/configs/chat.yaml"


def test_percent_line_ends_colons_and_commas_are_escaped() -> None:
    text = github.command_line("error", "100% a\r\nb:c,d", title="50%: x,y\n")
    assert text == "::error title=50%25%3A x%2Cy%0A::100%25 a%0D%0Ab:c,d"


@settings(max_examples=80)
@given(st.text())
def test_no_message_can_start_a_command_of_its_own(message: str) -> None:
    text = github.command_line("error", message, title=message)
    assert "\n" not in text
    assert "\r" not in text
    match = re.fullmatch(r"::error (?:title=(?P<title>[^:,]*))?::(?P<body>.*)", text, re.DOTALL)
    assert match or (not message and text == "::error::")
    if match:
        assert match["body"].replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%") == message


def test_ten_of_each_severity_and_the_rest_is_counted() -> None:
    found = [
        samples.diagnostic(severity, line=line)
        for severity in (Severity.NOTE, Severity.WARNING, Severity.ERROR)
        for line in range(1, 26)
    ]
    shown = annotations(samples.validate(*found))
    kinds = [kind for kind, _, _ in shown]
    assert kinds == ["error"] * 10 + ["warning"] * 10 + ["notice"] * 10
    assert shown[9][2] == "and 16 more errors; the step summary lists them"
    assert shown[29][2] == "and 16 more notes; the step summary lists them"


def test_exactly_ten_are_all_shown() -> None:
    shown = annotations(samples.validate(*(samples.diagnostic(line=line) for line in range(1, 11))))
    assert [properties["line"] for _, properties, _ in shown] == [str(line) for line in range(1, 11)]


def test_a_problem_over_several_lines_has_no_columns() -> None:
    from fwctl.errors import Position

    item = samples.diagnostic(position=Position("a.yaml", 3, 5, 9, 2))
    [(_, properties, _)] = annotations(samples.validate(item))
    assert (properties["line"], properties["endLine"]) == ("3", "9")
    assert "col" not in properties


def test_text_of_the_result_cannot_run_commands() -> None:
    change = samples.change("chat", "update", reason="\n::set-output name=x::y ##[add-path]/tmp")
    report = samples.plan(change)
    assert annotations(report) == []
    log = github.render(report, Style())
    assert log.index("::stop-commands::") < log.index("set-output") < log.rindex("::\n::endgroup::")


def test_a_long_message_is_shortened_to_what_the_page_shows() -> None:
    [(_, _, message)] = annotations(samples.validate(samples.diagnostic(message="é" * 5000)))
    assert len(message.encode()) <= 4096
    assert message.endswith("...")


def test_fit_verdicts_and_checks_are_annotations_too() -> None:
    fit = samples.fit(
        samples.fit_result("eval", "does-not-fit", reasons=["weights need 120 GiB"]),
        samples.fit_result("chat", "tight"),
        samples.fit_result("other", "fits"),
    )
    assert [(kind, properties["title"], properties["line"]) for kind, properties, _ in annotations(fit)] == [
        ("error", "fwctl fit/does-not-fit", "7"),
        ("warning", "fwctl fit/tight", "7"),
    ]
    checks = [
        {"name": "lock", "status": "warn", "message": "there is no fwctl.lock", "deployment": None},
        {"name": "traffic", "status": "unknown", "message": "not readable", "deployment": "chat"},
        {"name": "quota", "status": "pass", "message": "fine", "deployment": None},
    ]
    told = annotations(samples.plan(samples.change("chat", "update"), checks=checks))
    assert [(kind, message) for kind, _, message in told] == [
        ("warning", "there is no fwctl.lock"),
        ("notice", "chat: not readable"),
    ]


def test_a_failed_check_that_a_diagnostic_tells_is_not_told_twice() -> None:
    item = samples.diagnostic(code="quota", message="80 GPUs, quota is 64")
    checks = [{"name": "quota", "status": "fail", "message": "80 GPUs, quota is 64", "deployment": "chat"}]
    report = samples.plan(samples.change("chat", "blocked"), diagnostics=(item,), checks=checks)
    assert len(annotations(report)) == 1


def test_a_command_that_could_not_start_is_an_annotation() -> None:
    report = failure("plan", AuthError("not signed in", next_steps=["set FIREWORKS_API_KEY"]))
    assert annotations(report) == [
        ("error", {"title": "fwctl error/auth"}, "not signed in; fix: set FIREWORKS_API_KEY")
    ]


def test_failed_deployments_of_an_apply_are_annotations() -> None:
    results = [
        {"address": "deployments/chat", "outcome": "failed", "actions": ["create"], "seconds": 1.0,
         "error": {"code": "firectl_failed", "message": "quota exceeded", "next_steps": ["see quota"]}},
        {"address": "deployments/eval", "outcome": "not_started", "actions": ["create"]},
        {"address": "deployments/ok", "outcome": "done", "actions": ["create"]},
    ]  # fmt: skip
    report = Report("apply", {"results": results, "model_strings": {}})
    assert [(kind, message) for kind, _, message in annotations(report)] == [
        ("error", "chat: deployments/chat: quota exceeded; fix: see quota"),
        ("warning", "eval: deployments/eval: not started"),
    ]
    assert github.outputs(report)["failed"] == "1"
    assert github.outputs(report)["model_strings"] == "{}"


def test_outputs_tell_digest_counts_cost_and_the_exit_code() -> None:
    report = samples.plan(
        samples.change("chat", "update"), samples.change("eval", "no-op"), samples.change("x", "no-op")
    )
    values = github.outputs(report)
    assert values["digest"] == samples.DIGEST
    assert values["exit_code"] == "0"
    assert values["ok"] == "true"
    assert values["changes"] == "true"
    assert (values["update"], values["unchanged"], values["blocked"]) == ("1", "2", "0")
    assert (values["floor_usd_per_hour"], values["ceiling_change"]) == ("40", "8")
    assert values["monthly_floor_usd"] == "29200"


def test_an_unknown_price_is_an_empty_output_and_never_zero() -> None:
    report = samples.plan(samples.change("chat", "update"), cost=samples.cost(None, None, None))
    assert github.outputs(report)["floor_usd_per_hour"] == ""


def test_verdicts_are_counted_in_outputs() -> None:
    values = github.outputs(
        samples.fit(samples.fit_result("a", "does-not-fit"), samples.fit_result("b", "fits"))
    )
    assert (values["does_not_fit"], values["fits"], values["exit_code"]) == ("1", "1", "4")


@pytest.mark.parametrize("value", ["one\ntwo", "x\r\nname=forged", "\n"])
def test_a_value_of_several_lines_cannot_set_another_output(value: str) -> None:
    first, *_, last = github._output("name", value).splitlines()
    name, _, end = first.partition("<<")
    assert name == "name"
    assert last == end
    assert end not in value


def test_the_files_get_summary_and_outputs() -> None:
    files = github.appended(samples.plan(samples.change("chat", "update")), 1024 * 1024)
    marker = f"<!-- fwctl:plan acme/prod {samples.DIGEST} -->"
    assert files["GITHUB_STEP_SUMMARY"].startswith(f"{marker}\n## fwctl plan: 1 to update")
    assert f"digest={samples.DIGEST}\n" in files["GITHUB_OUTPUT"]
    assert all("=" in line for line in files["GITHUB_OUTPUT"].splitlines())
    assert files["FWCTL_COMMENT"] == files["GITHUB_STEP_SUMMARY"]


def test_the_comment_is_short_enough_for_a_pull_request_where_the_summary_is_not() -> None:
    many = [samples.change(f"d{number}", "create", reason="é" * 500) for number in range(300)]
    files = github.appended(samples.plan(*many), 1024 * 1024)
    assert len(files["FWCTL_COMMENT"]) <= 65_536 < len(files["GITHUB_STEP_SUMMARY"])


def test_a_summary_is_never_longer_than_the_room() -> None:
    many = [samples.change(f"d{number}", "create", reason="é" * 500) for number in range(3000)]
    report = samples.plan(*many)
    for room in (1024 * 1024, 4000, 10):
        text = github.appended(report, room)["GITHUB_STEP_SUMMARY"]
        assert len(text.encode()) <= room


def test_model_strings_are_one_line_of_json() -> None:
    strings = {"chat": {"base": "accounts/acme/deployments/chat", "router": None, "addons": {}}}
    report = Report("apply", {"results": [], "model_strings": strings})
    assert json.loads(github.outputs(report)["model_strings"]) == strings
