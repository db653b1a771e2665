"""Checked against the published schema (tests/data/sarif) and what GitHub asks of a file."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator
from jsonschema.validators import validator_for

from fwctl.errors import AuthError, Position, Severity
from fwctl.report import sarif
from fwctl.report.layout import Style
from fwctl.report.model import Report, failure
from tests.report import samples

SCHEMA = json.loads((Path(__file__).parents[1] / "data/sarif/sarif-2.1.0-rtm.5.json").read_text())
VALIDATOR = Draft4Validator(SCHEMA, format_checker=Draft4Validator.FORMAT_CHECKER)
FOLDER = Style(folder="/w/repo/infra", root="/w/repo")


def run(report: Report, style: Style | None = None) -> dict[str, Any]:
    text = sarif.render(report, style or Style())
    assert text.isascii()
    document = json.loads(text)
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []
    assert document["version"] == "2.1.0"
    found: dict[str, Any] = document["runs"][0]
    return found


def test_the_schema_is_the_one_it_says() -> None:
    assert validator_for(SCHEMA) is Draft4Validator
    assert "2.1.0" in SCHEMA["title"]


def test_a_problem_has_rule_level_place_and_fix() -> None:
    found = run(samples.validate(samples.diagnostic()), FOLDER)
    [result] = found["results"]
    assert result["ruleId"] == "FW302"
    assert result["level"] == "error"
    assert result["message"]["text"] == "min 5 is more than max 2; fix: raise max to 5"
    [location] = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "infra/configs/chat.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 9, "startColumn": 22, "endLine": 9, "endColumn": 23},
    }
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "deployments/chat"
    assert found["invocations"] == [{"executionSuccessful": True, "exitCode": 3}]


def test_a_rule_carries_its_page_and_a_link_to_it() -> None:
    [rule] = run(samples.validate(samples.diagnostic()))["tool"]["driver"]["rules"]
    assert rule["id"] == "FW302"
    assert rule["helpUri"] == "urn:fwctl:docs/rules/FW302.md"
    assert rule["help"]["markdown"].startswith("# FW302: ")
    assert rule["shortDescription"]["text"]
    style = Style(manual="https://docs.example.org/fwctl/")
    [rule] = run(samples.validate(samples.diagnostic()), style)["tool"]["driver"]["rules"]
    assert rule["helpUri"] == "https://docs.example.org/fwctl/rules/FW302.html"


def test_every_level_and_rule_index_is_right() -> None:
    items = [
        samples.diagnostic(Severity.NOTE, "FW108"),
        samples.diagnostic(Severity.WARNING, "FW401"),
        samples.diagnostic(Severity.ERROR, "FW302"),
        samples.diagnostic(Severity.ERROR, "FW302", line=30),
    ]
    found = run(samples.validate(*items))
    rules = [rule["id"] for rule in found["tool"]["driver"]["rules"]]
    assert rules == ["FW108", "FW302", "FW401"]
    assert [(rules[item["ruleIndex"]], item["level"]) for item in found["results"]] == [
        ("FW302", "error"),
        ("FW302", "error"),
        ("FW401", "warning"),
        ("FW108", "note"),
    ]


def prints(report: Report) -> list[str]:
    return [item["partialFingerprints"][sarif.FINGERPRINT] for item in run(report)["results"]]


def test_a_fingerprint_stays_when_lines_move_or_words_change() -> None:
    before = samples.diagnostic()
    after = samples.diagnostic(line=40, message="the minimum of 5 is above the maximum of 2")
    assert prints(samples.validate(before)) == prints(samples.validate(after))


@pytest.mark.parametrize(
    "other",
    [
        {"code": "FW303"},
        {"deployment": "eval"},
        {"path": "/deployments/chat/region"},
        {"position": Position("configs/other.yaml", 9, 22, 9, 23)},
    ],
)
def test_another_problem_has_another_fingerprint(other: dict[str, Any]) -> None:
    first, second = prints(samples.validate(samples.diagnostic(), samples.diagnostic(**other)))
    assert first != second


def test_problems_that_are_alike_are_told_apart() -> None:
    first, second = prints(samples.validate(samples.diagnostic(), samples.diagnostic(line=30)))
    assert first.removesuffix(":1") == second.removesuffix(":2")


def test_a_problem_without_a_place_is_put_into_the_first_file() -> None:
    [result] = run(samples.validate(samples.diagnostic(position=None, deployment=None)))["results"]
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "configs/chat.yaml", "uriBaseId": "%SRCROOT%"}
    }


def test_names_of_files_are_uris() -> None:
    item = samples.diagnostic(position=Position("configs/my chat#1 é.yaml", 1, 1, 1, 2))
    [result] = run(samples.validate(item))["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "configs/my%20chat%231%20%C3%A9.yaml"
    item = samples.diagnostic(position=Position("/elsewhere/chat.yaml", 1, 1, 1, 2))
    [result] = run(samples.validate(item), FOLDER)["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "file:///elsewhere/chat.yaml"}


def test_fit_verdicts_are_results_at_the_deployment() -> None:
    found = run(samples.fit(samples.fit_result("eval", "does-not-fit"), samples.fit_result("a", "fits")))
    [result] = found["results"]
    assert (result["ruleId"], result["level"]) == ("fit/does-not-fit", "error")
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 7
    [rule] = found["tool"]["driver"]["rules"]
    assert rule["helpUri"].endswith("docs/fit-check.md")


def test_a_command_that_could_not_look_is_a_failed_invocation() -> None:
    found = run(failure("validate", AuthError("not signed in", next_steps=["sign in"])))
    assert found["results"] == []
    [invocation] = found["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["exitCode"] == 5
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "not signed in; next: sign in"


def test_hostile_text_stays_text() -> None:
    item = samples.diagnostic(message=samples.HOSTILE, suggestion=None)
    [result] = run(samples.validate(item))["results"]
    assert result["message"]["text"] == samples.HOSTILE


def test_nothing_found_is_a_valid_file_without_results() -> None:
    assert run(samples.validate())["results"] == []


def test_strange_codes_still_make_a_rule() -> None:
    [rule] = run(samples.validate(replace(samples.diagnostic(), code="id_held")))["tool"]["driver"]["rules"]
    assert rule["id"] == "check/id_held"
