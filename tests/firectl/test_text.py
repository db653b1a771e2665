from __future__ import annotations

import pytest

from fwctl.firectl.text import (
    is_header_only,
    last_line,
    only_notices,
    parse_record,
    parse_whoami,
    total_size,
    without_ansi,
)
from tests.firectl.support import sample


def test_colours_go_and_text_stays():
    text = without_ansi(sample("create-shapeless-success.txt"))
    assert "\x1b" not in text
    assert text.startswith("Deployment shapes are validated preset configurations")
    assert (
        "  - accounts/fireworks/deploymentShapes/gpt-oss-120b-minimal - 1x NVIDIA_H200_141GB, FP4, MINIMAL"
        in text
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\x1b[2K\rdone", "\ndone"),
        ("a\r\nb", "a\nb"),
        ("\x1b]8;;https://x\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x1b\\x", "x"),
        ("bell\x07 nul\x00", "bell nul"),
        ("\x1bMup", "up"),
    ],
)
def test_other_terminal_control_goes_too(text, plain):
    assert without_ansi(text) == plain


def test_an_unfinished_escape_of_megabytes_is_read_in_one_go():
    assert len(without_ansi("\x1b[" + "1" * 2_000_000)) > 0
    assert len(without_ansi("\x1b]" * 500_000)) >= 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n \n",
        sample("delete-verb-noun.txt").replace("exit=0", ""),
        sample("delete-deployment-2024.txt"),
        "A newer version of firectl is available: 1.9.0\nRun `firectl upgrade`\n",
        '2026/07/13 15:05:13 WARNING: --load-targets set via firectl; "default" is no longer added.',
    ],
)
def test_known_notices_are_not_an_answer(text):
    assert only_notices(text)


@pytest.mark.parametrize(
    "text", ["Name: x", "[", "no deployments", "x" * 5000, sample("list-deployment-shape-versions.txt")]
)
def test_everything_else_is(text):
    assert not only_notices(text)


def test_the_total_below_a_list():
    assert total_size(sample("list-deployment-shape-versions.txt")) == 8
    assert total_size(sample("deployment-list-creating-with-replica.txt")) == 1
    assert total_size("Total size: many") is None


def test_the_table_of_an_empty_list_is_its_header():
    assert is_header_only("NAME  BASE MODEL  REPLICAS\n")
    assert is_header_only("✔ acme\nNAME  STATE\n")
    assert not is_header_only(sample("deployment-list-creating-with-replica.txt"))
    assert not is_header_only("")
    assert not is_header_only("Name: x\n")


def test_the_record_that_create_prints_is_read_behind_the_hint_block():
    record = parse_record(without_ansi(sample("create-shapeless-success.txt")))
    assert record["name"] == "accounts/acme/deployments/vca-delete-probe"
    assert record["state"] == "CREATING"
    assert record["create_time"] == "2026-07-13 20:24:13"


def test_nested_lines_of_a_record_come_under_their_parent():
    record = parse_record(sample("docs-create-record-quickstart.txt"))
    assert record["autoscaling_policy.scale_down_window"] == "5m0s"
    assert record["base_model"] == "accounts/fireworks/models/gpt-oss-120b"
    assert record["status"] == "OK"


@pytest.mark.parametrize(
    ("text", "account"),
    [
        ("Account ID: acme\nEmail: user@example.com\n", "acme"),
        ("Account: accounts/acme (Acme)\n", "acme"),
        ("signed in as accounts/acme/users/u\n", "acme"),
        ("✔ acme\n", "acme"),
        ("Signed in as user@example.com (account acme)\n", "acme"),
        ("user@example.com\n", None),
        ("", None),
    ],
)
def test_whoami_names_the_account_in_whatever_form(text, account):
    assert parse_whoami(text).get("account_id") == account


def test_whoami_keeps_what_else_is_told():
    assert parse_whoami("Account ID: acme\nEmail: user@example.com\n")["email"] == "user@example.com"


def test_the_last_line_is_the_last_that_says_something():
    assert last_line("one\ntwo\n\n  \n") == "two"
    assert last_line("\n") == ""
    assert len(last_line("x" * 10_000)) == 500
