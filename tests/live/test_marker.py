"""The ownership marker in description and tags."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.catalog.fields import PLATFORM_FIELDS
from fwctl.live.marker import (
    MAX_TAGS,
    TAG_VALUE_CHARS,
    combine,
    field_code,
    format_marker,
    format_tags,
    join_description,
    read_tags,
    split_description,
    value_digest,
    values_digest,
)
from fwctl.live.model import Marker
from fwctl.redact import Secret

PATHS = [row.path for row in PLATFORM_FIELDS]
TIME = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
LONGEST = Marker(
    stack="s" * 20,
    name="n" * 63,
    role="next",
    protect=True,
    hold_until=TIME,
    expires=TIME,
    step="switched",
    attempt=9999,
    tagged=True,
    digest="0123456789ab",
    field_digests=dict.fromkeys(PATHS, "abcdef"),
)


def test_a_marker_reads_as_documented() -> None:
    marker = Marker("prod", "chat", role="next", protect=True, hold_until=TIME, digest="0a1b2c3d4e5f")
    assert format_marker(marker) == ("[fwctl prod/chat role=next protect hold=20261201T0800Z d=0a1b2c3d4e5f]")


def test_the_longest_marker_and_its_blank_fit_the_reserve_of_the_description() -> None:
    assert (
        len(" " + format_marker(LONGEST)) <= 200
    )  # what the longest description (799) leaves of the platform's 1,000, less one
    assert split_description(join_description("text", LONGEST)) == (
        "text",
        Marker(**{**_fields(LONGEST), "field_digests": {}}),
    )


def _fields(marker: Marker) -> dict[str, object]:
    return {name: getattr(marker, name) for name in Marker.__slots__}


def test_the_longest_tags_fit_six_of_128_characters_and_read_back() -> None:
    tags = format_tags(LONGEST)
    assert len(tags) <= MAX_TAGS
    assert all(0 < len(value) <= TAG_VALUE_CHARS for value in tags.values())
    assert read_tags(tags, PATHS) == LONGEST


def test_every_field_has_a_code_of_its_own() -> None:
    assert len({field_code(path) for path in PATHS}) == len(PATHS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "two\nlines",
        "ends with a bracket]",
        "[fwctl]",
        "[fwctl prod/chat",
        "[fwctl prod/chat] and more",
        "x[fwctl prod/chat]",
        "[fwctl PROD/chat]",
        "[fwctl prod/-chat]",
        "[fwctl prod/chat [nested]]",
        "[fwctl prod/chat  d=0a1b2c3d4e5f]",
        "[fwctl /chat]",
        "[fwctl " + "s" * 21 + "/chat]",
    ],
)
def test_what_is_not_exactly_a_marker_is_the_users_text(text: str) -> None:
    assert split_description(text) == (text, None)


def test_of_two_markers_the_last_counts_and_the_first_is_text() -> None:
    text, marker = split_description("[fwctl dev/other] [fwctl prod/chat]")
    assert (text, marker) == ("[fwctl dev/other]", Marker("prod", "chat"))


def test_blanks_behind_a_marker_do_not_hide_it() -> None:
    assert split_description("text [fwctl prod/chat]  \n") == ("text", Marker("prod", "chat"))


@pytest.mark.parametrize(
    "words",
    [
        "hold=tomorrow",
        "hold=20261399T0800Z",
        "n=many",
        "n=99999",
        "d=XYZ",
        "role=",
        "step=",
        "later=1",
        "exp=",
    ],
)
def test_a_broken_or_unknown_word_is_left_out(words: str) -> None:
    assert split_description(f"t [fwctl prod/chat {words}]") == ("t", Marker("prod", "chat"))


def test_joining_nothing_leaves_the_text() -> None:
    assert join_description("text", None) == "text"
    assert join_description("", Marker("prod", "chat")) == "[fwctl prod/chat]"


NAMES = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", fullmatch=True)
TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)).map(
    lambda moment: moment.replace(second=0, microsecond=0, tzinfo=UTC)
)
MARKERS = st.builds(
    Marker,
    stack=st.from_regex(r"[a-z0-9-]{1,20}", fullmatch=True),
    name=NAMES,
    role=st.none() | st.just("next"),
    protect=st.booleans(),
    hold_until=st.none() | TIMES,
    expires=st.none() | TIMES,
    step=st.none() | st.just("switched"),
    attempt=st.integers(0, 9999),
    tagged=st.booleans(),
    digest=st.none() | st.from_regex(r"[0-9a-f]{12}", fullmatch=True),
)


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=60), MARKERS)
def test_text_and_marker_come_back_whatever_the_user_wrote(text: str, marker: Marker) -> None:
    assert split_description(join_description(text, marker)) == (text, marker)


@settings(max_examples=60, deadline=None)
@given(MARKERS, st.dictionaries(st.sampled_from(PATHS), st.from_regex(r"[0-9a-f]{6}", fullmatch=True)))
def test_tags_come_back_in_any_order(marker: Marker, digests: dict[str, str]) -> None:
    whole = Marker(**{**_fields(marker), "field_digests": digests})  # type: ignore[arg-type]
    tags = format_tags(whole)
    assert read_tags(dict(reversed(tags.items())), list(reversed(PATHS))) == whole


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(["fwctl.owner", "fwctl.state", "fwctl.f1", "fwctl.fx"]), st.text()))
def test_any_text_in_the_tags_is_read_without_complaint(tags: dict[str, str]) -> None:
    marker = read_tags(tags, PATHS)
    assert marker is None or marker.stack


def test_broken_entries_of_a_digest_tag_are_left_out() -> None:
    code = field_code("precision")
    tags = {"fwctl.owner": "prod/chat", "fwctl.f1": f"{code}=abcdef.zzz=abcdef.{field_code('region')}=ABC"}
    marker = read_tags(tags, PATHS)
    assert marker is not None
    assert marker.field_digests == {"precision": "abcdef"}


@pytest.mark.parametrize("owner", ["", "prod", "prod/", "/chat", "PROD/chat", "prod/chat]"])
def test_tags_without_a_proper_owner_are_no_marker(owner: str) -> None:
    assert read_tags({"fwctl.owner": owner}, PATHS) is None


def test_the_text_decides_and_lends_the_tags_digests_only_to_their_own() -> None:
    text = Marker("prod", "chat", tagged=True)
    tags = Marker("prod", "chat", protect=True, field_digests={"precision": "abcdef"})
    assert combine(text, tags) == Marker("prod", "chat", tagged=True, field_digests={"precision": "abcdef"})
    assert combine(None, tags) is tags
    assert combine(text, None) is text
    assert combine(text, Marker("prod", "other", field_digests={"precision": "abcdef"})) is text


def test_tags_that_an_older_firectl_left_behind_do_not_count() -> None:
    stale = Marker("prod", "chat", tagged=True, field_digests={"precision": "abcdef"})
    text = Marker("prod", "chat", tagged=False)
    assert combine(text, stale) is text


def test_digests_are_short_stable_and_follow_the_value() -> None:
    assert len(value_digest(4)) == 6
    assert len(values_digest({"replicas.max": 4})) == 12
    assert value_digest({"a": 1, "b": 2}) == value_digest({"b": 2, "a": 1})
    assert value_digest(4) != value_digest(5)
    assert values_digest({"replicas.max": 4}) != values_digest({"replicas.min": 4})


def test_secrets_are_salted_with_their_owner() -> None:
    key = [Secret("${env:KEY}", "sk-secret")]
    assert value_digest(key, "acme/prod/a") != value_digest(key, "acme/prod/b")
    assert value_digest(key, "a") == value_digest([Secret("${env:OTHER}", "sk-secret")], "a")
    assert value_digest(key, "a") != value_digest([Secret("${env:KEY}", "sk-rotated")], "a")
    assert value_digest([Secret("${env:KEY}", None)], "a")


def test_a_value_without_a_canonical_form_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match="no canonical form for set"):
        value_digest({"a", "b"})
