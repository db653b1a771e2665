"""What was imported plans to no changes, whatever the platform holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.importing.check import AnyVariable, finish
from fwctl.importing.from_live import draft_of
from fwctl.live.normalise import normalise_shape_version
from fwctl.live.reader import read_live
from fwctl.planning.engine import make_plan
from fwctl.planning.options import PlanOptions
from fwctl.spec.files import Given
from fwctl.spec.load import load_given
from tests.planning.support import ACCOUNT, CAPS, FAST, MINIMAL, NOW, PRICES, SHAPES, V1, Platform, row

TEXTS = st.text(max_size=30).filter(lambda text: "[fwctl" not in text)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "deployment_shape": st.sampled_from([V1, f"{MINIMAL}/versions/m1", f"{FAST}/versions/gone", ""]),
    "accelerator_type": st.sampled_from(["NVIDIA_H100_80GB", "NVIDIA_A100_80GB", "NVIDIA_GB900_300GB"]),
    "accelerator_count": st.integers(1, 8),
    "precision": st.sampled_from(["FP8", "FP8_MM_V2", "BF16", "FP2_NEW"]),
    "min_replica_count": st.integers(0, 2),
    "max_replica_count": st.integers(2, 4),
    "display_name": TEXTS,
    "description": TEXTS,
    "draft_token_count": st.integers(0, 100),
    "draft_model": st.sampled_from(["", "accounts/fireworks/models/qwen3-8b"]),
    "ngram_speculation_length": st.integers(0, 5),
    "enable_addons": st.booleans(),
    "long_prompt": st.booleans(),
    "enable_session_affinity": st.booleans(),
    "max_context_length": st.sampled_from([0, 4096, 131072]),
    "direct_route_type": st.sampled_from(["", "INTERNET", "NEW_KIND"]),
    "direct_route_api_keys": st.lists(st.just("sk-canary"), max_size=2),
    "preemptible": st.booleans(),
    "annotations": st.dictionaries(st.sampled_from(["custom/team", "custom/Bad Key", "other"]), TEXTS),
    "placement": st.sampled_from(
        [
            {"multi_region": "US"},
            {"region": "US_IOWA_1"},
            {"region": "US_MARS_1"},
            {"regions": ["US_IOWA_1", "EU_X"]},
        ]
    ),
    "autoscaling_policy": st.fixed_dictionaries(
        {},
        optional={
            "scale_up_window": st.sampled_from(["30s", "45s", "9000s"]),
            "scale_to_zero_window": st.sampled_from(["0s", "60s", "600s"]),
            "load_targets": st.dictionaries(
                st.sampled_from(["default", "requests_per_second", "brand_new"]),
                st.floats(0.1, 9),
                min_size=1,
            ),
        },
    ),
}


@st.composite
def accounts(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Up to three deployments with any mixture of fields, some marked."""
    rows = []
    for name in sorted(draw(st.sets(st.sampled_from(["a", "b", "c"]), min_size=1))):
        fields = {key: draw(FIELDS[key]) for key in sorted(draw(st.sets(st.sampled_from(sorted(FIELDS)))))}
        if draw(st.booleans()):
            fields["description"] = f"{fields.get('description', '')} [fwctl prod/x-{name}]"
        rows.append(row(name, **fields))
    return rows


@settings(max_examples=60, deadline=None)
@given(accounts())
def test_an_import_plans_to_no_changes(rows: list[dict[str, Any]]) -> None:
    shapes = {
        name: tuple(normalise_shape_version(version) for version in versions)
        for name, versions in SHAPES.items()
    }
    live = replace(read_live(Platform(rows), None, CAPS, account=ACCOUNT), shapes=shapes)
    done = finish(draft_of(live, None, None), AnyVariable(), prune=True)
    assert done.problems == (), done.spec
    assert "sk-canary" not in done.spec
    loaded = load_given([Given("a.yaml", done.spec.encode())], environ={})
    assert loaded.spec is not None
    assert len(loaded.spec.deployments) == len(rows)
    plan = make_plan(loaded.spec, live, caps=CAPS, options=PlanOptions(no_lock=True), prices=PRICES, now=NOW)
    changed = {c.name: (c.actions, c.fields, c.blocked_by) for c in plan.changes if c.actions != ("no-op",)}
    assert not changed, done.spec
