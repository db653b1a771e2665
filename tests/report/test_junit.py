"""Checked against the grammar of the Jenkins xUnit plugin (tests/data/junit)."""

import xml.etree.ElementTree as ET
from pathlib import Path

import xmlschema
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.errors import AuthError, Severity
from fwctl.report import junit
from fwctl.report.layout import Style
from fwctl.report.model import Report, failure
from tests.report import samples

XSD = xmlschema.XMLSchema(str(Path(__file__).parents[1] / "data/junit/junit-10.xsd"))


def suite(report: Report) -> ET.Element:
    text = junit.render(report, Style())
    XSD.validate(text.encode())
    root = ET.fromstring(text.encode())
    [found] = root
    cases = found.findall("testcase")
    assert int(found.get("tests", "")) == len(cases)
    assert int(found.get("failures", "")) == len(found.findall("testcase/failure"))
    assert int(found.get("errors", "")) == len(found.findall("testcase/error"))
    assert int(found.get("skipped", "")) == len(found.findall("testcase/skipped"))
    return found


def cases(report: Report) -> dict[str, ET.Element]:
    return {str(case.get("name")): case for case in suite(report).findall("testcase")}


def test_every_file_and_deployment_is_a_case() -> None:
    assert list(cases(samples.validate())) == ["configs/chat.yaml", "configs/eval.yaml", "chat", "eval"]


def test_errors_fail_their_deployment_and_warnings_do_not() -> None:
    report = samples.validate(
        samples.diagnostic(),
        samples.diagnostic(line=12, message="another"),
        samples.diagnostic(Severity.WARNING, "FW401", "cold start", deployment="eval"),
    )
    found = cases(report)
    failed = found["chat"].find("failure")
    assert failed is not None
    assert failed.get("type") == "FW302"
    assert failed.text == (
        "configs/chat.yaml:9:22: error FW302: min 5 is more than max 2; fix: raise max to 5\n"
        "configs/chat.yaml:12:22: error FW302: another; fix: raise max to 5"
    )
    assert found["eval"].find("failure") is None
    said = found["eval"].find("system-out")
    assert said is not None
    assert "warning FW401" in str(said.text)


def test_a_problem_of_no_deployment_fails_its_file() -> None:
    found = cases(samples.validate(samples.diagnostic(deployment=None, code="FW101")))
    assert found["configs/chat.yaml"].find("failure") is not None


def test_an_unknown_fit_is_skipped_and_a_tight_one_passes() -> None:
    found = cases(
        samples.fit(
            samples.fit_result("a", "unknown"),
            samples.fit_result("b", "tight"),
            samples.fit_result("c", "fits"),
            samples.fit_result("d", "does-not-fit"),
        )
    )
    assert {name: [part.tag for part in case] for name, case in found.items()} == {
        "a": ["skipped"],
        "b": ["system-out"],
        "c": [],
        "d": ["failure"],
    }


def test_a_command_that_could_not_look_is_an_error() -> None:
    found = cases(failure("validate", AuthError("not signed in", next_steps=["sign in"])))
    error = found["validate"].find("error")
    assert error is not None
    assert error.get("type") == "auth"
    assert error.text == "not signed in\nnext: sign in"


def test_an_invalid_spec_before_the_fit_check_fails_its_deployment() -> None:
    from fwctl.errors import InvalidSpecError

    error = InvalidSpecError("the specs are not valid: 1 error", diagnostics=[samples.diagnostic()])
    assert [part.tag for part in cases(failure("fit-check", error))["chat"]] == ["failure"]


@settings(max_examples=80)
@given(st.text(st.characters(codec="utf-8")))
def test_any_text_gives_a_document_that_a_reader_accepts(text: str) -> None:
    item = samples.diagnostic(message=text, suggestion=text or None, deployment="chat")
    assert cases(samples.validate(item))["chat"].find("failure") is not None


def test_the_document_is_ascii_in_any_locale() -> None:
    text = junit.render(samples.validate(samples.diagnostic(message="é 模型 \ud800")), Style())
    assert text.isascii()
    assert ET.fromstring(text.encode()).tag == "testsuites"
