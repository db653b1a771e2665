"""Laws of reading firectl: whatever it prints, an object or an FwctlError; rows are never lost."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.errors import FwctlError
from fwctl.firectl.capabilities import parse_help, parse_version
from fwctl.firectl.errors import classify, failure_line
from fwctl.firectl.outcome import judge
from fwctl.firectl.output import canonical_keys, parse_list, parse_object
from fwctl.firectl.text import only_notices, parse_record, parse_whoami, total_size, without_ansi
from fwctl.process import Completed
from fwctl.redact import Redactor

FRAGMENTS = st.sampled_from(
    [
        '{"deployments":',
        "[",
        "]",
        "{",
        "}",
        '"',
        "\\",
        ",",
        ":",
        "\n",
        "\r",
        "\x1b[33m",
        "NaN",
        "1e999",
        "null",
        "Name: x\n",
        "Failed to execute: ",
        "BLOCKED: ",
        "rpc error: code = ",
        " desc = ",
        "Total size: ",
        "✔ a\n",
        "\ud7ff",
        "\0",
        "- ",
    ]
)
NOISE = st.lists(st.one_of(FRAGMENTS, st.text(max_size=8)), max_size=30).map("".join)
NAMES = st.text("abcdefghij-", min_size=1, max_size=8)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=10)
)
ROWS = st.lists(
    st.dictionaries(
        st.sampled_from(["name", "base_model", "state", "min_replica_count", "annotations"]), SCALARS
    ),
    max_size=5,
)
NOTICES = st.sampled_from(
    [
        "",
        "✔ acme\n",
        "\nDEPRECATION WARNING: The `firectl <verb> <noun>` syntax is deprecated\ne.g. firectl x\n",
        "A newer version of firectl is available\n",
        "\x1b[33mDeployment shapes are validated [preset] {configurations}\x1b[0m\n",
        "2026/07/13 15:05:13 WARNING: --load-targets set\n",
    ]
)
# No word of fwctl's own texts begins like this, so finding one means that it leaked.
SECRETS = st.text(
    st.characters(categories=["L", "N", "P", "S"], exclude_characters="*"), min_size=6, max_size=30
).map(lambda text: f"§{text}§")
MANY = settings(max_examples=150, deadline=None)
FEW = settings(max_examples=60, deadline=None)


def completed(stdout: str, stderr: str, code: int | None) -> Completed:
    return Completed(("firectl",), code, stdout, stderr, 0.1)


@MANY
@given(NOISE)
def test_any_text_is_an_answer_or_one_clear_error(text: str) -> None:
    plain = without_ansi(text)
    for read in (lambda: parse_list(plain, "deployments"), lambda: parse_object(plain)):
        with contextlib.suppress(FwctlError):
            read()
    only_notices(plain), total_size(plain), parse_record(plain), parse_whoami(plain)
    parse_version(plain), parse_help("deployment create", plain)


@MANY
@given(NOISE, NOISE, st.sampled_from([0, 1, 2, -9, None]))
def test_any_end_of_a_child_is_a_success_or_a_classified_failure(
    stdout: str, stderr: str, code: int | None
) -> None:
    outcome = judge(completed(stdout, stderr, code), ("x",), Redactor(), 1.0)
    if outcome.ok:
        assert code == 0
        assert failure_line(without_ansi(stdout), without_ansi(stderr), succeeded=True) is None
    else:
        assert outcome.message
        assert outcome.error_class is not None
        assert outcome.next_steps


@FEW
@given(st.text(max_size=200), st.text(max_size=200))
def test_classifying_never_fails(line: str, output: str) -> None:
    assert classify(line, output).next_steps


@MANY
@given(ROWS, NOTICES, NOTICES, st.booleans(), st.sampled_from([None, 0, 2]))
def test_rows_survive_notices_wrapping_and_indentation(
    rows: list[dict[str, Any]], before: str, after: str, wrapped: bool, indent: int | None
) -> None:
    text = json.dumps({"deployments": rows} if wrapped else rows, indent=indent)
    assert parse_list(without_ansi(before + text + "\n" + after), "deployments")[0] == rows


@MANY
@given(ROWS.filter(bool), st.booleans(), st.data())
def test_a_cut_answer_is_never_fewer_rows(
    rows: list[dict[str, Any]], wrapped: bool, data: st.DataObject
) -> None:
    text = json.dumps({"deployments": rows} if wrapped else rows)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    try:
        parse_list(cut, "deployments")
    except FwctlError:
        return
    raise AssertionError(cut)


@FEW
@given(ROWS)
def test_snake_case_answers_are_kept_as_they_are_and_reading_twice_changes_nothing(
    rows: list[dict[str, Any]],
) -> None:
    assert canonical_keys(canonical_keys(rows)) == canonical_keys(rows) == rows


@FEW
@given(
    SECRETS,
    NOISE,
)
def test_a_registered_secret_is_in_no_part_of_an_outcome(secret: str, noise: str) -> None:
    redactor = Redactor()
    redactor.register(secret)
    outcome = judge(
        completed(noise + secret, f"Failed to execute: {secret} {noise}", 1), (secret,), redactor, 1.0
    )
    for text in (
        outcome.stdout,
        outcome.stderr,
        outcome.message,
        *outcome.next_steps,
        *outcome.argv,
        repr(outcome),
    ):
        assert secret not in text
