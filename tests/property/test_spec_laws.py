"""Laws of reading specs: nothing raises, and what a spec means does not depend on how it is laid out."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fwctl.errors import Severity
from fwctl.spec.compose import Parser, fast_parser, python_parser
from fwctl.spec.document import from_document, to_document
from fwctl.spec.files import Given
from fwctl.spec.load import load_given
from fwctl.spec.model import Loaded

FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PARSERS: list[Parser] = [fast_parser(), python_parser]
BOTH = pytest.mark.parametrize("parser", PARSERS, ids=["fast", "python"])

# Pieces that YAML, the schema or the comments treat in a special way.
PIECES = st.sampled_from(
    [
        *("[", "]", "{", "}", ": ", "- ", "? ", "&a ", "*a", "<<: *a", "!x ", "|\n", ">\n", "\n", "  ", "\t"),
        *(
            "'",
            '"',
            "#",
            "---",
            "...",
            "%YAML 1.1",
            "@",
            "`",
            "NO",
            "null",
            "1:30",
            "0x1",
            "${env:X}",
            "${env:",
        ),
        *(
            "\\",
            "\x00",
            "é",
            "\u2028",
            "\x85",
            ",",
            "~",
            "=",
            "x-a: ",
            "defaults: ",
            "deployments:",
            "account:",
        ),
        *("1e999", "\r", "\ufeff", "# fwctl: ignore[FW401] x\n", '"\\ud800"', "replicas:", "tags: {"),
        *("kind: Routes\n", "api_keys: [a]", "9" * 500),
    ]
)
SPEC = """apiVersion: fwctl/v1
account: acme
settings: {accept_unknown: [NVIDIA_GB400], prices: prices.yaml}
x-common: &common {region: US}
defaults:
  tags: {team: search}
deployments:
  chat:
    <<: *common
    model: accounts/fireworks/models/llama-v3p1-8b-instruct
    shape: fast
    accelerator: {type: NVIDIA_H100_80GB, count: 1}
    precision: BF16
    replicas: {min: 0, max: 2}  # fwctl: ignore[FW401] nightly
    autoscaling:
      load_targets: {default: 0.8}
      schedules: [{cron: "0 8 * * 1-5", timezone: Europe/London, duration: 10h, min_replicas: 2}]
    addons: {mode: multi_lora, load: [accounts/acme/models/lora]}
    description: "${env:X}"
    lifecycle: {after: [other]}
  other: {model: llama, shape: none, accept_shapeless_risk: true, replicas: {min: 1, max: 1}}
"""


def check(data: bytes, parser: Parser) -> Loaded:
    """Load, and hold the result to what every result promises."""
    loaded = load_given([Given("a.yaml", data)], environ={"X": "value"}, parser=parser)
    lines = max(data.count(b"\n") + data.count(b"\r") + 1, 1)
    for diagnostic in loaded.diagnostics:
        json.dumps(diagnostic.to_json()).encode()
        at = diagnostic.position
        assert at is not None
        assert at.line >= 1
        assert at.column >= 1
        assert (at.line, at.column) <= (at.end_line, at.end_column)
        if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
            assert at.end_line <= lines
    failed = any(diagnostic.severity is Severity.ERROR for diagnostic in loaded.diagnostics)
    assert failed or loaded.spec is not None or b"kind" in data
    assert not (failed and loaded.spec is not None)
    return loaded


@BOTH
@FEW
@given(data=st.binary(max_size=200))
def test_any_bytes_give_diagnostics(parser: Parser, data: bytes) -> None:
    check(data, parser)


@BOTH
@FEW
@given(data=st.data())
def test_any_mutation_of_a_spec_gives_diagnostics(parser: Parser, data: st.DataObject) -> None:
    text = SPEC
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 40))
        text = text[:at] + data.draw(st.one_of(PIECES, st.just(""))) + text[at + cut :]
    check(text.encode("utf-8", "surrogatepass"), parser)


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12), PIECES.filter(str.isprintable)
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.one_of(
                st.sampled_from(
                    ["replicas", "min", "tags", "speculation", "autoscaling", "schedules", "api_keys"]
                ),
                st.text(max_size=6),
                st.integers(),
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)
FIELD_NAMES = st.sampled_from(
    [
        "model",
        "shape",
        "accelerator",
        "precision",
        "region",
        "replicas",
        "autoscaling",
        "speculation",
        "addons",
        "direct_route",
        "tags",
        "overrides",
        "workload",
        "slo",
        "lifecycle",
        "id",
        "router",
        "hot_load",
        "description",
    ]
)


@FEW
@given(
    fields=st.dictionaries(FIELD_NAMES, TREES, max_size=5),
    top=st.dictionaries(st.text(max_size=5), TREES, max_size=1),
)
def test_any_tree_in_place_of_any_field_gives_diagnostics(
    fields: dict[str, Any], top: dict[str, Any]
) -> None:
    tree = {"apiVersion": "fwctl/v1", "account": "acme", **top, "deployments": {"chat": fields}}
    check(yaml.safe_dump(tree, allow_unicode=True).encode("utf-8", "replace"), fast_parser())


KEYS = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)
DEPLOYMENTS = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["accounts/fireworks/models/a", "accounts/acme/models/b"]),
        "shape": st.sampled_from(["fast", "accounts/fireworks/deploymentShapes/s"]),
        "replicas": st.builds(
            lambda low, more: {"min": low, "max": low + more}, st.integers(1, 50), st.integers(0, 50)
        ),
    },
    optional={
        "precision": st.sampled_from(["BF16", "FP8", "FP4"]),
        "region": st.sampled_from(["US", "us-iowa-1", "EU_LONDON_1"]),
        "accelerator": st.fixed_dictionaries(
            {"type": st.sampled_from(["NVIDIA_H100_80GB", "NVIDIA_B200_180GB"]), "count": st.integers(1, 64)}
        ),
        "autoscaling": st.fixed_dictionaries(
            {},
            optional={
                "scale_up_window": st.integers(0, 3600).map("{}s".format),
                "load_targets": st.fixed_dictionaries(
                    {"default": st.floats(0.01, 1)}, optional={"concurrent_requests": st.integers(1, 99)}
                ),
            },
        ),
        "tags": st.dictionaries(KEYS, st.sampled_from(["a", "b c"]), max_size=3),
        "description": st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), max_size=30).map(
            lambda text: text.replace("$", "")
        ),
        "traffic": st.sampled_from(["interactive", "batch"]),
        "workload": st.fixed_dictionaries({"context_tokens": st.integers(1, 10**6)}),
        "long_prompt": st.booleans(),
    },
)  # fmt: skip
NAMES = st.from_regex(r"[a-z]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True)
SPECS = st.dictionaries(NAMES, DEPLOYMENTS, min_size=1, max_size=4)


class Careful(yaml.SafeDumper):
    """Quotes what begins with a digit: PyYAML writes the text 08 without quotes, which FW105 refuses."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if text[:1].isdigit() else None)


Careful.add_representer(str, _text)


def dump(deployments: dict[str, Any], flow: bool | None = False) -> bytes:
    tree = {"apiVersion": "fwctl/v1", "account": "acme", "deployments": deployments}
    text: str = yaml.dump(tree, Dumper=Careful, sort_keys=False, default_flow_style=flow, width=1000)
    return text.encode()


def meaning(*files: bytes) -> dict[str, Any]:
    """Everything a spec says, without where it says it."""
    loaded = load_given([Given(f"{at}.yaml", data) for at, data in enumerate(files)], environ={})
    assert loaded.spec is not None, loaded.diagnostics
    return {
        name: (d.deployment_id, dict(d.fields), dict(d.own))
        for name, d in sorted(loaded.spec.deployments.items())
    }


@FEW
@given(deployments=SPECS, data=st.data())
def test_meaning_does_not_depend_on_the_order_of_keys_and_files(
    deployments: dict[str, Any], data: st.DataObject
) -> None:
    expected = meaning(dump(deployments))
    names = data.draw(st.permutations(list(deployments)))
    orders = {name: data.draw(st.permutations(list(deployments[name]))) for name in names}
    shuffled = {name: {key: deployments[name][key] for key in orders[name]} for name in names}
    assert meaning(dump(shuffled)) == expected
    assert meaning(dump(shuffled, flow=True)) == expected
    assert meaning(*[dump({name: shuffled[name]}) for name in names]) == expected


@FEW
@given(deployments=SPECS)
def test_meaning_does_not_depend_on_aliases(deployments: dict[str, Any]) -> None:
    """PyYAML writes an anchor and aliases for an object that stands there more than once."""
    shared = next(iter(deployments.values()))
    twins = dict.fromkeys(deployments, shared)
    copies = {name: json.loads(json.dumps(shared)) for name in deployments}
    assert meaning(dump(twins)) == meaning(dump(copies))


@FEW
@given(deployments=SPECS)
def test_a_document_means_the_same(deployments: dict[str, Any]) -> None:
    loaded = load_given([Given("a.yaml", dump(deployments))], environ={})
    assert loaded.spec is not None
    document = json.loads(json.dumps(to_document(loaded.spec)))
    after = from_document(document, {})
    assert to_document(after) == document
    for name, deployment in loaded.spec.deployments.items():
        assert after.deployments[name].fields == deployment.fields
        assert after.deployments[name].own == deployment.own


@FEW
@given(text=st.text(max_size=30))
def test_quoted_text_arrives_as_it_is(text: str) -> None:
    quoted = json.dumps(text, ensure_ascii=True)
    data = dump({"chat": {"model": "accounts/a/models/b", "shape": "fast", "replicas": {"min": 1, "max": 1}}})
    loaded = load_given([Given("a.yaml", data + f"    fit: {{config: {quoted}}}\n".encode())], environ={})
    if loaded.spec is not None:
        assert loaded.spec.deployments["chat"].own["fit.config"] == text
    else:
        assert {d.code for d in loaded.diagnostics if d.severity is Severity.ERROR} <= {
            "FW108",
            "FW208",
            "FW102",
            "FW101",
        }
        assert not text.strip() or "${env:" in text or not text.isascii()
