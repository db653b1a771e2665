"""Several files as one run: defaults, accounts, names, order, kinds."""

from __future__ import annotations

import gc

import pytest

from fwctl.errors import Severity
from fwctl.spec.rules.run import cycles
from tests.spec.support import FIELDS, HEAD, chat, codes, found, load_text, only, spec


def named(name: str, extra: str = "", **fields: str) -> str:
    return spec(extra, head=HEAD.replace("chat", name), **fields)


def with_top(line: str) -> str:
    return HEAD.replace("deployments", f"{line}\ndeployments")


def test_a_run_is_the_union_of_its_files() -> None:
    loaded = load_text(named("b"), named("a"))
    assert loaded.spec is not None
    assert set(loaded.spec.deployments) == {"a", "b"}
    assert set(loaded.spec.sha256) == {"f0.yaml", "f1.yaml"}
    assert loaded.files == ("f0.yaml", "f1.yaml")


def test_the_second_use_of_a_name_or_id_is_reported_in_its_file() -> None:
    first = only(load_text(spec(), spec()))
    assert (first.code, first.position and first.position.file) == ("FW311", "f1.yaml")
    twin = only(load_text(spec(), named("other", "id: chat")))
    assert (twin.code, twin.path) == ("FW311", "/deployments/other/id")


def test_an_alias_of_a_deployment_is_another_deployment() -> None:
    loaded = load_text(spec().replace("chat:", "chat: &chat") + "  other: *chat\n")
    assert loaded.spec is not None
    assert set(loaded.spec.deployments) == {"chat", "other"}


@pytest.mark.parametrize(
    ("first", "second", "line"),
    [
        ("account: acme", "account: other", 2),
        ("account: acme\nstack: a", "account: acme\nstack: b", 3),
        ("account: acme\nsettings: {prices: a}", "account: acme\nsettings: {prices: b}", 3),
        (
            "account: acme\nbudget: {floor_usd_per_hour: 1}",
            "account: acme\nbudget: {floor_usd_per_hour: 2}",
            3,
        ),
    ],
)
def test_files_that_disagree_do_not_make_a_run(first: str, second: str, line: int) -> None:
    loaded = load_text(
        spec(head=HEAD.replace("account: acme", first)), named("b").replace("account: acme", second)
    )
    problem = only(loaded)
    assert (problem.code, problem.position and (problem.position.file, problem.position.line)) == (
        "FW313",
        ("f1.yaml", line),
    )


def test_files_that_say_the_same_or_nothing_agree() -> None:
    loaded = load_text(
        spec(
            head=with_top(
                "stack: prod\nsettings: {accept_unknown: [A], send_pins: never}\n"
                "budget: {floor_usd_per_hour: 80}"
            )
        ),
        named("b").replace("account: acme\n", "settings: {accept_unknown: [B, A]}\n"),
    )
    assert loaded.spec is not None
    assert (loaded.spec.account, loaded.spec.stack) == ("acme", "prod")
    assert loaded.spec.settings == {"accept_unknown": ["A", "B"], "send_pins": "never"}
    assert loaded.spec.budget == {"floor_usd_per_hour": 80.0}


def test_the_account_comes_from_a_file_or_the_command_line() -> None:
    text = spec(head=HEAD.replace("account: acme\n", ""))
    assert found(load_text(text)) == [("FW204", 1)]
    named_there = load_text(text, account="acme")
    assert named_there.spec is not None
    assert named_there.spec.account == "acme"
    assert only(load_text(spec(), account="other")).code == "FW313"


@pytest.mark.parametrize("version", ["fwctl/v2", "v1", "''", "1", ""])
def test_the_version_of_the_format_is_known(version: str) -> None:
    assert {code for code, _ in found(load_text(spec().replace("fwctl/v1", version)))} <= {"FW205", "FW202"}
    assert found(load_text(spec().replace("fwctl/v1", version)))


def test_a_file_without_the_version_of_the_format() -> None:
    assert found(load_text(spec().replace("apiVersion: fwctl/v1\n", ""))) == [("FW204", 1)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("apiVersion: fwctl/v1\naccount: acme\ndeployments: {}\n", [("FW315", 3)]),
        ("apiVersion: fwctl/v1\naccount: acme\ndeployments:\n", [("FW315", 3)]),
        ("apiVersion: fwctl/v1\naccount: acme\n", [("FW315", 1)]),
        ("apiVersion: fwctl/v1\naccount: acme\ndeployment: {a: 1}\n", [("FW315", 1), ("FW201", 3)]),
        ("apiVersion: fwctl/v1\naccount: acme\ndeployments: []\n", [("FW202", 3)]),
        ("apiVersion: fwctl/v1\naccount: acme\ndeployments: x\n", [("FW202", 3)]),
        ("apiVersion: fwctl/v1\naccount: acme\ndeployments: {chat: }\n", [("FW202", 3)]),
        ("apiVersion: fwctl/v1\naccount: acme\ndeployments: {chat: [a]}\n", [("FW202", 3)]),
        ("apiVersion: fwctl/v1\naccount: acme\ndeployments: {chat: !x 1}\n", [("FW107", 3)]),
    ],
)
def test_a_file_of_deployments_declares_some(text: str, expected: list[tuple[str, int]]) -> None:
    assert found(load_text(text)) == expected


KIND = "apiVersion: fwctl/v1\nkind: {}\naccount: acme\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (KIND.format("Targets") + "targets: {a: 1}\n", []),
        (KIND.format("Targets"), [("FW204", 1)]),
        (KIND.format("Routes") + "routes: {}\nx-a: 1\n", []),
        (KIND.format("Routes") + "routes: {}\nruotes: {}\n", [("FW201", 5)]),
        (KIND.format("Routes") + "routes: {}\ndeployments: {}\n", [("FW201", 5)]),
        (KIND.format("Watch") + "rules: {}\nanything: 1\n", []),
        (KIND.format("Adapt"), []),
        (KIND.format("Experiment").replace("acme", "NO"), [("FW204", 1)] * 4 + [("FW105", 3)]),
        (KIND.format("targets") + "targets: {}\n", [("FW205", 2)]),
        (KIND.format("Nope"), [("FW205", 2)]),
        (KIND.format("[a]") + "deployments: {}\n", [("FW202", 2), ("FW315", 4)]),
    ],
)
def test_other_kinds_have_envelope_and_top_level_keys(text: str, expected: list[tuple[str, int]]) -> None:
    loaded = load_text(text)
    assert found(loaded) == expected
    assert loaded.spec is None


def test_a_misspelt_kind_is_still_looked_at_as_deployments() -> None:
    text = spec(replicas="replicas: {min: 3, max: 2}").replace("account", "kind: Deployment\naccount", 1)
    assert found(load_text(text)) == [("FW205", 2), ("FW302", 11)]


def test_files_of_other_kinds_belong_to_the_run() -> None:
    routes = KIND.format("Routes") + "routes: {}\n"
    loaded = load_text(spec(), routes)
    assert loaded.spec is not None
    assert set(loaded.spec.sha256) == {"f0.yaml"}
    assert found(load_text(spec(), routes.replace("acme", "other"))) == [("FW313", 3)]


def test_a_price_list_beside_the_specs_is_no_spec() -> None:
    priced = spec(head=with_top("settings: {prices: f1.yaml}"))
    assert load_text(priced, "NVIDIA_H100_80GB: 8\n").spec is not None
    assert load_text(spec(), "NVIDIA_H100_80GB: 8\n").spec is None


# Defaults


def test_defaults_fill_what_is_not_written() -> None:
    top = "defaults: {region: EUROPE, tags: {a: x, b: x}, autoscaling: {scale_up_window: 1m}}"
    own = "tags: {b: y}\nautoscaling: {scale_down_window: 5m}"
    text = spec(own, head=with_top(top), region="")
    fields = chat(load_text(text)).fields
    assert fields["region"] == "EUROPE"
    assert fields["tags"] == {"a": "x", "b": "y"}
    assert fields["autoscaling.scale_up_window"] == "1m0s"
    assert fields["autoscaling.scale_down_window"] == "5m0s"


def test_lists_are_replaced_by_the_stronger_layer() -> None:
    text = spec("overrides: [precision]", head=with_top("defaults: {overrides: [speculation, accelerator]}"))
    assert chat(load_text(text)).own["overrides"] == ["precision"]


def test_a_file_of_defaults_is_weaker_than_those_of_the_file() -> None:
    text = spec(head=with_top("defaults: {region: EUROPE}"), region="", precision="")
    loaded = load_text(text, defaults="region: APAC\nprecision: FP16\nx-note: a\n")
    assert (chat(loaded).fields["region"], chat(loaded).fields["precision"]) == ("EUROPE", "FP16")
    assert loaded.files == ("f0.yaml",)


def test_a_file_of_defaults_may_have_the_form_of_a_spec() -> None:
    loaded = load_text(spec(region=""), defaults="apiVersion: fwctl/v1\ndefaults: {region: APAC}\n")
    assert chat(loaded).fields["region"] == "APAC"


@pytest.mark.parametrize(
    ("defaults", "expected"),
    [
        ("precison: FP8", ["FW201"]),
        ("apiVersion: fwctl/v1\ndefaults: {precision: FP9}", ["FW205"]),
        ("defaults: 5", ["FW202"]),
        ("- a", ["FW206"]),
        ("a: [", ["FW101"]),
        ("", ["FW111"]),
        ("model: NO", ["FW105"]),
    ],
)
def test_a_file_of_defaults_is_checked_too(defaults: str, expected: list[str]) -> None:
    loaded = load_text(spec(), defaults=defaults)
    assert codes(loaded) == expected
    assert loaded.diagnostics[0].position is not None
    assert loaded.diagnostics[0].position.file == "defaults.yaml"


@pytest.mark.parametrize("value", ["[]", "", "x", "5"])
def test_defaults_are_a_mapping(value: str) -> None:
    assert found(load_text(spec(head=with_top(f"defaults: {value}")))) == [("FW202", 3)]


def test_a_wrong_default_is_reported_once_at_its_place() -> None:
    text = spec(head=with_top("defaults: {traffic: nightly, autoscaling: {scale_up_window: 2h}}"))
    more = "".join(f"  d{at}:\n" + "".join(f"    {row}\n" for row in FIELDS.values()) for at in range(3))
    assert found(load_text(text + more)) == [("FW205", 3), ("FW303", 3)]


def test_a_rule_joins_default_and_own_values() -> None:
    text = spec(head=with_top("defaults: {replicas: {min: 5}}"), replicas="replicas: {max: 2}")
    assert found(load_text(text)) == [("FW302", 3)]


def test_a_wrong_own_value_hides_the_default() -> None:
    text = spec("tags: 5", head=with_top('defaults: {tags: {a: "${env:A}"}, replicas: {min: 5}}'),
                replicas="replicas: {min: x, max: 2}")  # fmt: skip
    assert [code for code, _ in found(load_text(text, environ={"A": "b"}))] == ["FW202", "FW202"]


@pytest.mark.parametrize(
    ("default", "own", "references"),
    [
        ('{a: "${env:A}"}', "{b: y}", {"a": "${env:A}", "b": "y"}),
        ("{a: x}", '{b: "${env:A}"}', {"a": "x", "b": "${env:A}"}),
        ('{a: "${env:A}"}', "{a: y}", {"a": "y"}),
    ],
)
def test_references_of_both_layers_are_kept(default: str, own: str, references: dict[str, str]) -> None:
    text = spec(f"tags: {own}", head=with_top(f"defaults: {{tags: {default}}}"))
    assert chat(load_text(text, environ={"A": "v"})).references["tags"] == references


def test_an_own_value_drops_the_reference_of_the_default() -> None:
    text = spec("display_name: Own", head=with_top('defaults: {display_name: "${env:A}"}'))
    assert chat(load_text(text, environ={"A": "v"})).references == {}


# Order


def test_circles_are_found_once_each() -> None:
    after = {"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": [], "e": ["e"], "f": ["d", "d"]}
    assert cycles(after) == [["a", "b", "c"], ["e"]]


def test_a_long_chain_is_no_circle_and_no_recursion() -> None:
    chain = {str(at): [str(at + 1)] for at in range(5000)} | {"5000": []}
    assert cycles(chain) == []


def test_circles_across_files() -> None:
    loaded = load_text(named("a", "lifecycle: {after: [b]}"), named("b", "lifecycle: {after: [a]}"))
    assert only(loaded).message == "after goes round in a circle: a -> b -> a"


# Order of what is found


def test_diagnostics_are_sorted_by_file_and_place() -> None:
    loaded = load_text(
        spec("a: 1", replicas="replicas: {min: 0, max: 2}"), named("b", "c: 1", region="region: x")
    )
    places = [(d.position.file, d.position.line) for d in loaded.diagnostics if d.position]
    assert places == sorted(places)
    assert len(places) == 4


def test_a_note_or_warning_does_not_stop_a_run() -> None:
    loaded = load_text(spec(replicas="replicas: {min: 0, max: 2}"))
    assert [d.severity for d in loaded.diagnostics] == [Severity.WARNING]
    assert loaded.spec is not None
    strict = load_text(spec(replicas="replicas: {min: 0, max: 2}"), strict=True)
    assert strict.spec is None


def test_positions_are_there_for_every_field_and_parent() -> None:
    deployment = chat(load_text(spec("tags:\n  team: search")))
    assert deployment.position_of("") is not None
    assert {
        path: deployment.positions[path].line for path in ("", "model", "replicas.min", "tags", "tags.team")
    } == {
        "": 4,
        "model": 5,
        "replicas.min": 10,
        "tags": 11,
        "tags.team": 12,
    }
    parent = deployment.position_of("replicas.max_concurrency")
    assert parent is not None
    assert (parent.line, parent.column) == (10, 5)
    assert len(deployment.positions) == len(list(deployment.positions))


def test_no_shape_is_an_absent_field() -> None:
    fields = chat(load_text(spec(shape="shape: none", extra="accept_shapeless_risk: true"))).fields
    assert "shape" not in fields
    assert fields["accept_shapeless_risk"] is True


@pytest.mark.parametrize("condition", [">=1.8.2", "1.8", ">= 1.8, <2"])
def test_conditions_on_the_version_of_firectl(condition: str) -> None:
    loaded = load_text(spec(head=with_top(f"settings: {{require_firectl: '{condition}'}}")))
    assert loaded.spec is not None
    assert loaded.spec.settings["require_firectl"] == condition


@pytest.mark.parametrize("condition", ["latest", ">=1.8.2.1", "~1", "1,", "1" * 300])
def test_no_conditions_on_the_version_of_firectl(condition: str) -> None:
    assert found(load_text(spec(head=with_top(f"settings: {{require_firectl: '{condition}'}}")))) == [
        ("FW208", 3)
    ]


@pytest.mark.parametrize(
    ("extra", "protected"),
    [
        ("", False),
        ("traffic: interactive", True),
        ("traffic: interactive\nlifecycle: {prevent_destroy: false}", False),
        ("lifecycle: {prevent_destroy: true}", True),
    ],
)
def test_interactive_traffic_is_protected_unless_said(extra: str, protected: bool) -> None:
    assert chat(load_text(spec(extra))).protected is protected


@pytest.mark.parametrize("was_on", [True, False])
def test_the_collector_is_left_as_it_was(was_on: bool) -> None:
    before = gc.isenabled()
    (gc.enable if was_on else gc.disable)()
    try:
        load_text(spec())
        assert gc.isenabled() is was_on
    finally:
        (gc.enable if before else gc.disable)()


def test_the_id_is_the_name_unless_given() -> None:
    assert chat(load_text(spec())).deployment_id == "chat"
    assert chat(load_text(spec("id: chat-2"))).deployment_id == "chat-2"
