from __future__ import annotations

import pytest

from fwctl.errors import FirectlTooOldError, UsageError
from fwctl.firectl.capabilities import Capabilities, parse_help, parse_version, require, version_key
from tests.firectl.support import sample

COBRA_PARENT = """Manages deployments.

Usage:
  firectl deployment [command]

Available Commands:
  create      Creates a new deployment from a model.

Flags:
  -h, --help   help for deployment
"""


def test_the_captured_help_page_is_read_in_either_word_order():
    flags = parse_help("deployment create", sample("create-deployment-help-head50.txt"))
    assert {
        "--deployment-shape",
        "--cluster-id",
        "--help",
        "--load-targets",
        "--long-prompt",
        "--region",
    } <= flags
    assert "--preemptible" not in flags
    assert "--enable-hot" not in flags  # stands in a text, not in the flag column


def test_global_flags_of_a_help_page_count():
    assert parse_help("set-api-key", sample("set-api-key-help.txt")) == {
        "--help",
        "--account-id",
        "--api-key",
        "--profile",
    }


def test_a_flag_in_the_long_text_is_not_a_flag_of_the_command():
    assert "--wait" not in parse_help("deployment create", sample("create-deployment-help-head50.txt"))
    assert "--hard" not in parse_help("signin", sample("signin-help.txt"))


@pytest.mark.parametrize(
    "text", [COBRA_PARENT, "", "Usage:\n", "no page at all", "Usage:\n  kubectl get [flags]"]
)
def test_the_page_of_another_command_means_that_the_command_does_not_exist(text):
    assert parse_help("deployment tag set", text) == frozenset()


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.8.9\n", "1.8.9"),
        ("✔ acme\nA new version 1.9.0 is available\n1.8.9\n", "1.8.9"),
        ("firectl version v1.7.26", "1.7.26"),
        ("version 1.8.10", "1.8.10"),
        ("", None),
        ("dev build", None),
        ("1.8", None),
    ],
)
def test_the_version_is_the_line_that_holds_nothing_else(text, version):
    assert parse_version(text) == version


def test_versions_compare_as_numbers():
    assert version_key("1.8.10") > version_key("1.8.9") > version_key("1.7.29")


def test_what_no_help_page_told_is_unknown_and_not_missing():
    caps = Capabilities("1.8.9", {"deployment update": frozenset({"--file"})})
    assert caps.has("deployment update", "--file") is True
    assert caps.has("deployment update", "--region") is False
    assert caps.has("deployment list", "--show-deleted") is None
    assert (caps.update_file, caps.update_region, caps.show_deleted) == (True, False, True)
    assert caps.lacks("deployment update", "--region")
    assert not caps.lacks("deployment list", "--show-deleted")


@pytest.mark.parametrize(
    ("version", "tags", "match"),
    [
        ("1.8.2", False, False),
        ("1.8.3", True, False),
        ("1.8.5", True, True),
        ("2.0.0", True, True),
        ("", True, True),
    ],
)
def test_without_help_pages_the_version_tells_of_tags_and_match(version, tags, match):
    caps = Capabilities(version)
    assert (caps.has_tags, caps.has_match) == (tags, match)


def test_a_help_page_wins_over_the_version():
    caps = Capabilities(
        "9.9.9",
        {"deployment tag set": frozenset(), "deployment-shape-version match": frozenset({"--model"})},
    )
    assert (caps.has_tags, caps.has_match) == (False, True)


@pytest.mark.parametrize(
    ("version", "requirement", "met"),
    [
        ("1.8.2", ">=1.8.2", True),
        ("1.8.10", ">=1.8.2", True),
        ("1.8.1", ">=1.8.2", False),
        ("1.8.1", "1.8", True),
        ("1.8.9", ">=1.8, <2", True),
        ("2.0.0", ">=1.8, <2", False),
        ("1.8.9", "==1.8", True),
        ("1.8.9", "=1.8.9", True),
        ("1.9.0", "==1.8", False),
        ("1.8.0", ">1.8", False),
        ("1.8.1", ">1.8", True),
        ("1.8.0", "<=1.8", True),
        ("1.8.9", None, True),
        ("", "", True),
        ("", ">=1.0", False),
    ],
)
def test_the_required_version_of_a_spec(version, requirement, met):
    caps = Capabilities(version)
    if met:
        require(caps, requirement)
        return
    with pytest.raises(FirectlTooOldError) as caught:
        require(caps, requirement)
    assert str(requirement) in caught.value.message
    assert (version or "unknown") in caught.value.message
    assert caught.value.next_steps


@pytest.mark.parametrize("requirement", ["latest", ">=x", "~1.8", "1.8.2.1"])
def test_a_requirement_that_is_none_is_wrong_usage(requirement):
    with pytest.raises(UsageError, match="version requirement"):
        require(Capabilities("1.8.9"), requirement)
