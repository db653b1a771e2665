"""Comments that silence advice."""

from __future__ import annotations

import pytest

from fwctl.spec.model import Evidence
from tests.spec.support import ADDED, codes, found, load_text, only, spec

ZERO = "replicas: {min: 0, max: 2}"  # FW401


def silenced(comment: str, extra: str = "") -> str:
    return spec(extra, replicas=f"{ZERO}  {comment}")


@pytest.mark.parametrize(
    "comment",
    [
        "# fwctl: ignore[FW401] nightly job",
        "#fwctl:ignore[FW401] nightly job",
        "# fwctl: ignore [ FW401 ]  nightly job",
    ],
)
def test_a_warning_is_silenced_on_its_line(comment: str) -> None:
    assert codes(load_text(silenced(comment))) == []
    assert found(load_text(silenced(comment), strict=True)) == []


@pytest.mark.parametrize("between", ["", "\n\n    # another remark\n   \n"])
def test_a_comment_that_stands_alone_is_for_the_next_line_with_content(between: str) -> None:
    text = spec(replicas=f"# fwctl: ignore[FW401] nightly job{between or chr(10)}    {ZERO}")
    assert codes(load_text(text)) == []


def test_several_comments_can_stand_above_one_line() -> None:
    text = spec(
        "traffic: batch",
        replicas=f"# fwctl: ignore[FW401] nightly\n    {ZERO}",
        model="# fwctl: ignore[FW409] ours\n    model: mine",
    ).replace("chat:", "chat: # fwctl: ignore[FW402] follows the shape\n   ", 1)
    assert codes(load_text(text.replace("    precision: FP8\n", ""))) == []


def test_several_codes_of_one_comment() -> None:
    text = silenced("# fwctl: ignore[FW401, FW403] nightly job")
    assert codes(load_text(text)) == []
    assert codes(load_text(text, evidence=Evidence(tested_replicas={"chat": 2}))) == ["FW408"]


def test_a_code_that_lacks_its_facts_is_not_called_useless() -> None:
    text = spec(precision="precision: FP8  # fwctl: ignore[FW404] validated")
    bench_alone = Evidence(tested_replicas={"chat": 2})
    assert codes(load_text(text, evidence=bench_alone)) == []
    model = "accounts/fireworks/models/llama-v3p1-8b-instruct"
    known = Evidence(tested_replicas={"chat": 2}, model_precision={model: "BF16"})
    assert codes(load_text(text, evidence=known)) == []
    same = Evidence(tested_replicas={"chat": 2}, model_precision={model: "FP8"})
    assert codes(load_text(text, evidence=same)) == ["FW408"]


def test_a_reason_is_wanted() -> None:
    assert codes(load_text(silenced("# fwctl: ignore[FW401]"))) == ["FW407"]


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("# fwctl: ignore[FW402] x", "FW402 silences nothing here"),
        ("# fwctl: ignore[FW999] x", "FW999 is no code"),
        ("# fwctl: ignore[fw401] x", "fw401 is no code"),
        ("# fwctl: ignore[] x", "an empty list"),
        ("# fwctl: ignore FW401 x", "silences nothing"),
        ("# fwctl: disable", "silences nothing"),
    ],
)
def test_a_comment_that_silences_nothing_is_said(comment: str, words: str) -> None:
    loaded = load_text(silenced(comment))
    assert sorted(codes(loaded)) == ["FW401", "FW408"]
    assert any(words in d.message for d in loaded.diagnostics)


def test_a_comment_behind_the_last_line_silences_nothing() -> None:
    assert codes(load_text(spec() + "# fwctl: ignore[FW401] x")) == ["FW408"]


def test_errors_are_not_silenced() -> None:
    loaded = load_text(spec(replicas="replicas: {min: 3, max: 2}  # fwctl: ignore[FW302] because"))
    assert codes(loaded) == ["FW302", "FW408"]
    assert "errors cannot be silenced" in loaded.diagnostics[1].message


def test_a_warning_of_an_error_code_can_be_silenced() -> None:
    text = spec("accept_shapeless_risk: true", shape="shape: none  # fwctl: ignore[FW301] custom weights")
    assert codes(load_text(text)) == []


def test_notes_stay() -> None:
    text = spec(
        "direct_route: {type: INTERNET, api_keys: ['${env:K}']}  # fwctl: ignore[FW108] x",
        region="region: US_IOWA_1",
    )
    assert codes(load_text(text)) == ["FW108", "FW408"]


def test_the_two_codes_about_comments_cannot_be_silenced() -> None:
    assert codes(load_text(silenced("# fwctl: ignore[FW401, FW407]"))) == ["FW407", "FW408"]


@pytest.mark.parametrize(
    "extra",
    [
        "display_name: 'a # fwctl: ignore[FW401] b'",
        "display_name: a#fwctl-ignore",
        "description: |\n  text\n  # fwctl: ignore[FW401] b",
        "tags: {a: \"# fwctl: x\"}\noverrides: ['# fwctl: y']",
        "# see fwctl: ignore[FW401]",
        "# fwctl ignore[FW401]",
    ],
)
def test_text_is_no_comment(extra: str) -> None:
    assert "FW408" not in codes(load_text(spec(extra)))


def test_values_that_cannot_be_used_do_not_disturb_comments() -> None:
    loaded = load_text(spec("tags: {a: !x 1}", replicas=f"{ZERO}  # fwctl: ignore[FW401] nightly"))
    assert codes(loaded) == ["FW107"]


def test_a_comment_in_an_unreadable_file_is_not_judged() -> None:
    assert codes(load_text(spec("tags: [  # fwctl: ignore[FW401] x"))) == ["FW101"]


def test_evidence_codes_are_judged_only_with_evidence() -> None:
    text = spec("lifecycle: {prevent_destroy: true}  # fwctl: ignore[FW404, FW410] x")
    assert codes(load_text(text)) == []
    problem = load_text(text, evidence=Evidence({"chat": 2}, {}, {"m": "BF16"}, {"chat": 9.0}))
    assert codes(problem) == ["FW408", "FW408"]
    assert only(load_text(text.replace("FW404, FW410", "FW401"))).position is not None
    assert found(load_text(text, strict=True)) == []
    assert ADDED == 11
