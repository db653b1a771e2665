"""Command lines are read as cobra and pflag read them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.simulator import profiles
from fwctl.simulator.commands.parse import Invocation, UsageError, parse

LATEST = profiles.load("latest")


def read(line: str, profile: str = "latest") -> Invocation:
    return parse(line.split(), profiles.load(profile))


def refusal(line: str, profile: str = "latest") -> str:
    with pytest.raises(UsageError) as caught:
        read(line, profile)
    return str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        "-a acme deployment get x -o json",
        "deployment -a acme get -o json x",
        "deployment get x -oacme -o=json -a=acme",
        "deployment get --account-id acme --output=json x",
        "get deployment x -o json --account-id=acme",
        "-s gateway:443 -a acme get deployments x -o json",
        "-o json deployment get x -a acme",
        "deployment get -o json -a acme -- x",
    ],
)
def test_flags_stand_anywhere(line: str):
    found = read(line)
    assert found.command
    assert (found.command.path, found.args) == ("deployment get", ["x"])
    assert (found.flags["account-id"], found.flags["output"]) == ("acme", "json")


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("ds list", "deployment-shape list"),
        ("sftj list", "supervised-fine-tuning-job list"),
        ("rlor list", "rlor-trainer-job list"),
        ("deployment rm x", "deployment delete"),
        ("remove deployment x", "deployment delete"),
        ("list quotas", "quota list"),
        ("list deployment-shape-versions", "deployment-shape-version list"),
        ("prepare-model x", "model prepare"),
        ("download billing-metrics", "billing export-metrics"),
        ("export billing-metrics", "billing export-metrics"),
        ("load-lora x --deployment d", "load-lora"),
        ("model load-lora x", "model load-lora"),
        ("deployment tag set x", "deployment tag set"),
        ("policy residency set US", "policy residency set"),
        ("list identity-providers", "identity-provider list"),
    ],
)
def test_old_forms_and_aliases(line: str, path: str):
    found = read(line)
    assert found.command
    assert found.command.path == path


@pytest.mark.parametrize(
    ("line", "flags"),
    [
        ("--wait", {"wait": True}),
        ("--wait=false", {"wait": False}),
        ("--min-replica-count 3", {"min-replica-count": 3}),
        ("--min-replica-count=0x10", {"min-replica-count": 16}),
        ("--load-targets a=1,b=0.5 --load-targets c=2", {"load-targets": {"a": 1.0, "b": 0.5, "c": 2.0}}),
        ("--direct-route-api-keys a,b --direct-route-api-keys c", {"direct-route-api-keys": ["a,b", "c"]}),
        ("--scale-up-window 1m30s", {"scale-up-window": 90.0}),
        ("-c cluster", {"cluster-id": "cluster"}),
        ("--display-name=", {"display-name": ""}),
    ],
)
def test_values(line: str, flags: dict[str, Any]):
    assert read(f"deployment create m {line}").flags == flags


def test_comma_lists():
    flags = read("router create --deployments a,b --deployments c").flags
    assert flags == {"deployments": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("--version", "unknown flag: --version"),
        ("deployment get x --nope", "unknown flag: --nope"),
        ("deployment get x -z", "unknown shorthand flag: 'z' in -z"),
        ("deployment get x -o", "flag needs an argument: 'o' in -o"),
        ("deployment get x --output", "flag needs an argument: --output"),
        ("deployment get x ---y", "bad flag syntax: ---y"),
        ("deployment get", "accepts 1 arg(s), received 0"),
        ("deployment get a b", "accepts 1 arg(s), received 2"),
        ("model create a", "requires at least 2 arg(s), only received 1"),
        ("account get a b", "accepts at most 1 arg(s), received 2"),
        ("login", 'unknown command "login" for "firectl"'),
        ("deployment frobnicate", 'unknown command "frobnicate" for "firectl deployment"'),
        ("deployment tag frob x", 'unknown command "frob" for "firectl deployment tag"'),
        ("create nothing", 'unknown command "create" for "firectl"'),
        (
            "deployment scale x --replica-count two",
            'invalid argument "two" for "--replica-count" flag: strconv.ParseInt: parsing "two": invalid',
        ),
        ("deployment scale x --replica-count 3000000000", "value out of range"),
        ("deployment create m --wait=perhaps", "strconv.ParseBool"),
        ("deployment create m --load-targets x", "x must be formatted as key=value"),
        ("deployment create m --load-targets x=y", "strconv.ParseFloat"),
        ("deployment create m --scale-up-window 5", 'time: missing unit in duration "5"'),
        ("deployment create m --scale-up-window 5d", 'time: unknown unit "d" in duration "5d"'),
        ("deployment create m --scale-up-window soon", 'time: invalid duration "soon"'),
        ("deployment list -ojson -x", "unknown shorthand flag: 'x' in -x"),
        ("version -lx", "unknown shorthand flag: 'x' in -x"),
    ],
)
def test_mistakes_have_firectls_words(line: str, text: str):
    assert text in refusal(line)


def test_short_flags_join():
    assert read("version -l").flags == {"long": True}
    assert read("version -l=false").flags == {"long": False}
    assert refusal("version -lq") == "unknown shorthand flag: 'q' in -q"


@pytest.mark.parametrize(
    ("line", "topic"),
    [
        ("", ""),
        ("--help", ""),
        ("help", ""),
        ("deployment", "deployment"),
        ("deployment --help", "deployment"),
        ("help deployment", "deployment"),
        ("deployment tag", "deployment tag"),
        ("deployment tag -h", "deployment tag"),
    ],
)
def test_help_of_root_and_nouns(line: str, topic: str):
    found = read(line)
    assert (found.help, found.topic, found.command) == (True, topic, None)


def test_help_of_a_command_needs_no_arguments():
    found = read("deployment create --help")
    assert found.help
    assert found.command


def test_an_unknown_verb_with_help_shows_the_nouns_page():
    """How a build without tags answers a probe for them."""
    assert read("deployment tag set --help", "2026-07").topic == "deployment"


def test_an_unknown_verb_may_show_help_instead_of_an_error():
    assert read("deployment frob", "latest,unknown_verb=help").help


def test_old_forms_may_be_gone():
    assert (
        refusal("create deployment m", "latest,verb_noun=refuse") == 'unknown command "create" for "firectl"'
    )


def test_the_short_scale_is_of_2025_only():
    assert read("scale x --replica-count 0", "2025").args == ["x"]
    assert "unknown command" in refusal("scale x --replica-count 0")


def test_preemptible_is_unknown_or_ignored_in_old_builds():
    assert refusal("deployment create m --preemptible", "2026-07") == "unknown flag: --preemptible"
    ignored = read("deployment create m --preemptible", "2026-07,preemptible_unknown_flag=ignored")
    assert ignored.flags == {}


def test_flags_of_other_builds_are_unknown():
    assert refusal("deployment create m --enable-mtp") == "unknown flag: --enable-mtp"
    assert read("deployment create m --enable-mtp --multi-region us", "2025").flags["multi-region"] == "us"
    assert refusal("deployment update x --region us", "2026-07") == "unknown flag: --region"
    assert (
        refusal("deployment update x --region us", "latest,region_update=no_flag") == "unknown flag: --region"
    )
    assert read("deployment update x --region us").flags == {"region": "us"}
    assert "unknown" in refusal("deployment-shape-version match --model m", "2026-07")


@given(
    st.lists(
        st.sampled_from(["deployment", "create", "-a", "x", "--", "-o", "--wait", "=", "-", "--x=1", ""])
    )
)
@settings(max_examples=300)
def test_any_words_are_a_call_or_refused(words: list[str]):
    try:
        parse(words, LATEST)
    except UsageError as error:
        assert str(error)  # noqa: PT017
