"""YAML itself: what cannot be read, what is read differently by others, and where it stands."""

from __future__ import annotations

import pytest

from fwctl.errors import Severity
from fwctl.spec.compose import Parser, fast_parser, python_parser
from tests.spec.support import ADDED, HEAD, chat, codes, found, load_text, only, spec


def test_the_python_parser_stands_in_where_the_fast_one_was_not_built() -> None:
    assert fast_parser(has_libyaml=False) is python_parser
    assert fast_parser(has_libyaml=True) is not python_parser


PARSERS: list[Parser] = [fast_parser(), python_parser]
BOTH = pytest.mark.parametrize("parser", PARSERS, ids=["fast", "python"])

# name, text, (code, line) of every error.
UNREADABLE: list[tuple[str, str | bytes, tuple[str, int]]] = [
    ("empty", "", ("FW111", 1)),
    ("only-comment", "# later\n", ("FW111", 1)),
    ("only-null", "~\n", ("FW111", 1)),
    ("empty-document", "---\n...\n", ("FW111", 1)),
    ("scalar-root", "hello\n", ("FW206", 1)),
    ("list-root", "# specs\n- a\n- b\n", ("FW206", 2)),
    ("tagged-root", "!x hello\n", ("FW107", 1)),
    ("second-document", spec() + "---\na: 1\n", ("FW106", ADDED)),
    ("second-document-empty", spec() + "---\n", ("FW106", ADDED)),
    ("tab-only", spec("autoscaling:\n\tscale_up_window: 30s").replace("    \t", "\t"), ("FW103", 12)),
    ("tab-after-spaces", spec("autoscaling:\n \tscale_up_window: 30s"), ("FW103", 12)),
    ("open-quote", spec('display_name: "abc'), ("FW101", ADDED)),
    ("open-bracket", spec("tags: {a: b"), ("FW101", ADDED)),
    ("two-colons", spec("display_name: Chat: production"), ("FW101", ADDED)),
    ("at-sign", spec("display_name: @chat"), ("FW101", ADDED)),
    ("bad-escape", spec('display_name: "a\\qb"'), ("FW101", ADDED)),
    ("wrong-indent", spec("tags:\n   a: b\n  c: d"), ("FW101", 13)),
    ("no-space-after-colon", spec("display_name:x"), ("FW101", ADDED)),
    ("star", spec("display_name: *"), ("FW101", ADDED)),
    ("yaml-3", "%YAML 3.0\n---\n" + spec(), ("FW101", 1)),
    ("latin-1", spec("display_name: é").encode("latin-1"), ("FW102", ADDED)),
    ("nul", spec("display_name: a\0b"), ("FW102", ADDED)),
    ("delete-character", spec("display_name: a\x7fb"), ("FW102", ADDED)),
    ("mark-inside", spec() + "\ufeff  other: {}\n", ("FW102", ADDED)),
    ("utf-16-without-mark", spec().encode("utf-16-le"), ("FW102", 1)),
    ("utf-16-cut", spec().encode("utf-16")[:-1], ("FW102", 10)),
    ("utf-32", spec().encode("utf-32"), ("FW102", 1)),
    ("too-large", b"#" * (16 * 2**20 + 1), ("FW110", 1)),
    ("too-deep", "x-a: " + "[" * 101 + "]" * 101 + "\n" + spec(), ("FW110", 1)),
    ("far-too-deep", "x-a: " + "[" * 5000 + "]" * 5000 + "\n" + spec(), ("FW110", 1)),
]


@BOTH
@pytest.mark.parametrize(
    ("text", "expected"), [row[1:] for row in UNREADABLE], ids=[row[0] for row in UNREADABLE]
)
def test_unreadable_text_is_one_error_at_its_place(
    text: str | bytes, expected: tuple[str, int], parser: Parser
) -> None:
    loaded = load_text(text, parser=parser)
    assert found(loaded) == [expected]
    assert loaded.spec is None


READABLE = {
    "byte-order-mark": b"\xef\xbb\xbf" + spec().encode(),
    "utf-16": spec().encode("utf-16"),
    "utf-16-be": b"\xfe\xff" + spec().encode("utf-16-be"),
    "crlf": spec().replace("\n", "\r\n").encode(),
    "old-mac": spec().replace("\n", "\r").encode(),
    "document-start": ("---\n" + spec() + "...\n").encode(),
    "yaml-1.2": ("%YAML 1.2\n---\n" + spec()).encode(),
    "no-newline-at-end": spec().rstrip("\n").encode(),
    "flow": (
        b"{apiVersion: fwctl/v1, account: acme, deployments: {chat: {model: accounts/a/models/m, "
        b"shape: fast, replicas: {min: 1, max: 2}}}}"
    ),
}


@BOTH
@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE)
def test_every_usual_form_of_text_is_read(text: bytes, parser: Parser) -> None:
    assert chat(load_text(text, parser=parser)).fields["replicas.max"] == 2


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
def test_lines_count_alike_whatever_ends_them(newline: str) -> None:
    assert found(load_text(spec("precison: FP8").replace("\n", newline))) == [("FW201", ADDED)]


def test_columns_count_characters() -> None:
    position = only(load_text(spec('hot_load: {bucket_url: "s3://größe/x", enabled: 5}'))).position
    assert position is not None
    assert (position.column, position.end_column) == (53, 54)


def test_a_tab_between_key_and_value_is_white_space() -> None:
    assert chat(load_text(spec("display_name:\tChat"))).fields["display_name"] == "Chat"


def test_a_written_out_jinja_template_says_what_is_wrong() -> None:
    assert set(codes(load_text(spec("display_name: {{ name }}")))) == {"FW114", "FW202"}


@pytest.mark.parametrize(
    "text", [spec("\u00a0 tags: {a: b}"), spec("tags:\u00a0{a: b}"), spec("\u3000a: b: c")]
)
def test_an_invisible_character_is_named(text: str) -> None:
    suggestions = [d.suggestion or "" for d in load_text(text).diagnostics]
    assert any("an invisible character (U+" in suggestion for suggestion in suggestions)


@BOTH
def test_half_a_surrogate_pair_is_refused(parser: Parser) -> None:
    loaded = load_text(spec('display_name: "\\ud800"'), parser=parser)
    assert len(found(loaded)) == 1
    assert found(loaded)[0][1] == ADDED


def test_a_line_with_an_unquoted_reference_in_brackets_says_to_quote_it() -> None:
    problem = only(load_text(spec("addons: {load: [${env:LORA}]}")))
    assert problem.suggestion is not None
    assert '"${env:NAME}"' in problem.suggestion


TRAPS_FOR_TEXT = [
    "NO",
    "Yes",
    "on",
    "off",
    "true",
    "1.10",
    "12e3",
    "010",
    "0o17",
    "0x1F",
    "0b11",
    "1_000",
    "1:30",
    "190:20:30",
    "2026-12-01",
    "=",
    ".inf",
    ".NaN",
]


@pytest.mark.parametrize("value", [*TRAPS_FOR_TEXT, "2026-12-01T08:00:00Z", "2026-12-01 08:00:00"])
def test_unquoted_text_that_yaml_changes_is_a_trap_and_quotes_are_the_way_out(value: str) -> None:
    trapped = only(load_text(spec(f"display_name: {value}")))
    assert (trapped.code, trapped.severity) == ("FW105", Severity.ERROR)
    assert trapped.suggestion == f'put quotes around it: "{value}"'
    assert chat(load_text(spec(f'display_name: "{value}"'))).fields["display_name"] == value


@pytest.mark.parametrize(
    "value",
    [
        "y",
        "n",
        "N",
        "1.2.3",
        "0.5%",
        "v1.10",
        "1e",
        "0x",
        "08a",
        ".5.5",
        "-",
        "_",
        "1,5",
        "١",
        "Chat 2",
        "null x",
    ],
)
def test_text_that_all_readers_take_as_text_needs_no_quotes(value: str) -> None:
    loaded = load_text(spec(f"display_name: {value}"))
    if value != "-":
        assert chat(loaded).fields["display_name"] == value


@pytest.mark.parametrize(
    "value", ["010", "08", "0o17", "0x10", "0b11", "1_0", "1:30", "yes", "2026-12-01", "="]
)
def test_numbers_are_plain_decimals(value: str) -> None:
    assert found(load_text(spec(accelerator=f"accelerator: {{type: NVIDIA_H100_80GB, count: {value}}}"))) == [
        ("FW105", 7)
    ]


@pytest.mark.parametrize(
    "value", ["'1'", "1.0", "1e0", "true", "null", "", "[1]", "{a: 1}", "NaN", ".nan", "-.inf", "one"]
)
def test_nothing_is_converted_to_a_number(value: str) -> None:
    assert found(load_text(spec(accelerator=f"accelerator: {{type: NVIDIA_H100_80GB, count: {value}}}"))) == [
        ("FW202", 7)
    ]


@pytest.mark.parametrize("value", ["0", "-1", "65", "-0", "9" * 30, "9" * 399])
def test_numbers_have_bounds(value: str) -> None:
    assert found(load_text(spec(accelerator=f"accelerator: {{type: NVIDIA_H100_80GB, count: {value}}}"))) == [
        ("FW203", 7)
    ]


def test_a_million_digits_are_no_number() -> None:
    loaded = load_text(spec(f"max_context_length: {'9' * 1_000_000}"))
    assert found(loaded) == [("FW202", ADDED)]
    assert len(loaded.diagnostics[0].message) < 500
    assert loaded.diagnostics[0].source_line is None


@pytest.mark.parametrize("key", ["NO", "1", "1.10", "null", "2026-12-01", "on"])
def test_keys_have_the_same_traps(key: str) -> None:
    assert ("FW105", ADDED) in found(load_text(spec(f"tags: {{{key}: x}}")))
    assert ("FW105", 4) in found(load_text(spec().replace("chat:", f"{key}:")))


@BOTH
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (spec(replicas="replicas: {min: 1, min: 2, max: 3}"), 10),
        (spec('"precision": FP8'), ADDED),
        ("x-a:\n  b: 1\n  b: 2\n" + spec(), 3),
        (spec("display_name: a\ndisplay_name: b"), 12),
    ],
    ids=["nested", "quoted", "below-x", "same-level"],
)
def test_a_key_given_twice_names_both_places(text: str, line: int, parser: Parser) -> None:
    problem = only(load_text(text, parser=parser))
    assert (problem.code, problem.position and problem.position.line) == ("FW104", line)
    assert "already given at line" in problem.message


@pytest.mark.parametrize("tag", ["!!str ", "!!int ", "!x ", "!!python/object:os.system ", "! "])
def test_tags_are_refused(tag: str) -> None:
    assert ("FW107", ADDED) in found(load_text(spec(f"display_name: {tag}x")))
    assert ("FW107", ADDED) in found(load_text(spec(f"tags: {tag}{{a: b}}")))


X_COMMON = "apiVersion: fwctl/v1\naccount: acme\nx-common: &common\n  {}\ndeployments:\n  chat:\n"


@BOTH
def test_merge_keys_fill_what_is_not_written_wherever_they_stand(parser: Parser) -> None:
    head = X_COMMON.format("{precision: FP16, region: EUROPE, display_name: Both}")
    loaded = load_text(spec("<<: *common", head=head, region=""), parser=parser)
    fields = chat(loaded).fields
    assert (fields["precision"], fields["region"], fields["display_name"]) == ("FP8", "EUROPE", "Both")


def test_the_earlier_mapping_of_a_merged_list_wins() -> None:
    head = "x-a: &a {region: EUROPE}\nx-b: &b {region: APAC, display_name: B}\n" + HEAD
    fields = chat(load_text(spec("<<: [*a, *b]", head=head, region=""))).fields
    assert (fields["region"], fields["display_name"]) == ("EUROPE", "B")


def test_a_merged_value_is_reported_where_it_is_merged() -> None:
    head = X_COMMON.format("{precision: FP9}")
    assert found(load_text(spec("<<: *common", head=head, precision=""))) == [("FW205", 12)]


@pytest.mark.parametrize("value", ["common", "", "[common]", "5"])
def test_a_merge_key_needs_a_mapping(value: str) -> None:
    assert found(load_text(spec(f"<<: {value}"))) == [("FW113", ADDED)]


def test_two_merge_keys_are_a_key_given_twice() -> None:
    text = spec("<<: *a\n<<: *b", head="x-a: &a {long_prompt: true}\nx-b: &b {region: US}\n" + HEAD)
    problem = only(load_text(text))
    assert problem.code == "FW104"
    assert problem.suggestion == "write one merge key with a list: <<: [*a, *b]"


def test_a_quoted_merge_key_is_a_key() -> None:
    assert found(load_text(spec('"<<": {precision: FP8}'))) == [("FW201", ADDED)]


@BOTH
def test_an_alias_is_reported_where_it_is_used(parser: Parser) -> None:
    head = "x-r: &r {min: 5, max: 2}\n" + HEAD
    assert found(load_text(spec(head=head, replicas="replicas: *r"), parser=parser)) == [("FW302", 11)]


def test_an_alias_can_stand_for_a_list_a_key_and_a_tagged_value() -> None:
    head = "x-l: &l [accounts/acme/models/a]\nx-k: &k team\nx-t: &t [!x 1]\n" + HEAD
    loaded = load_text(
        spec("addons: {load: *l}\ntags: {*k : search}\noverrides: *t", head=head, precision="")
    )
    assert found(loaded) == [("FW107", 3)]
    loaded = load_text(
        spec("addons: {load: *l}\ntags: {*k : search}", head=head.replace("!x ", ""), precision="")
    )
    assert chat(loaded).fields["tags"] == {"team": "search"}


def test_an_anchor_can_be_set_again() -> None:
    head = "x-a: &a EUROPE\nx-b: &a APAC\n" + HEAD
    assert chat(load_text(spec(head=head, region="region: *a"))).fields["region"] == "APAC"


@BOTH
@pytest.mark.parametrize(
    ("text", "line"),
    [(spec("tags: *nothing"), ADDED), (spec("tags: &t {a: *t}"), ADDED), (spec("<<: *nothing"), ADDED)],
    ids=["undefined", "inside-itself", "merged"],
)
def test_an_alias_needs_an_anchor_above_it(text: str, line: int, parser: Parser) -> None:
    assert found(load_text(text, parser=parser)) == [("FW109", line)]


def laughs(levels: int, width: int) -> str:
    lines = ["x-0: &a0 [" + ", ".join(["x"] * width) + "]"]
    for at in range(1, levels):
        lines.append(f"x-{at}: &a{at} [" + ", ".join([f"*a{at - 1}"] * width) + "]")
    return "\n".join(lines) + "\n"


def test_aliases_that_explode_are_refused() -> None:
    assert found(load_text(laughs(9, 9) + spec())) == [("FW109", 7)]


def test_aliases_that_do_not_explode_are_read() -> None:
    assert found(load_text(laughs(4, 9) + spec())) == []


def test_aliases_that_nest_too_deep_are_refused() -> None:
    lines = ["x-0: &a0 [x]"] + [f"x-{at}: &a{at} [[[[[[[[[*a{at - 1}]]]]]]]]]" for at in range(1, 20)]
    assert found(load_text("\n".join(lines) + "\n" + spec())) == [("FW110", 12)]


def test_many_values_without_aliases_are_no_explosion() -> None:
    assert found(load_text("x-a: [" + "a," * 50_000 + "]\n" + spec())) == []


def test_complex_keys_are_refused() -> None:
    assert found(load_text(spec("? [a]\n: b"))) == [("FW114", ADDED)]


def test_the_thousands_of_the_same_problem_are_counted_not_listed() -> None:
    loaded = load_text(spec("tags: [" + "!x a," * 10_500 + "]"))
    assert len([d for d in loaded.diagnostics if d.code == "FW107"]) == 10_000
    assert any("and 500 more of FW107" in d.message for d in loaded.diagnostics)


def test_the_thousands_of_a_key_are_counted_not_listed() -> None:
    loaded = load_text(spec() + "x-a:\n" + "  a: 1\n" * 10_201)
    assert len(loaded.diagnostics) == 10_000
    assert loaded.diagnostics[-1].message.endswith("(and 200 more of FW104 in this file)")
