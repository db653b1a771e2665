"""Laws of what people hand to the bench commands: one clear error, or a result that holds."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fwctl.errors import FwctlError, UsageError
from fwctl.measure.gates import parse_condition
from fwctl.measure.importers import Options, import_suite
from fwctl.measure.sources import SOURCES
from fwctl.measure.suite import load
from fwctl.measure.targets_file import load_targets
from fwctl.report.axes import axis
from fwctl.stats.paired import compare_all
from fwctl.stats.resample import Pairs

KEYS = st.sampled_from(
    [
        *("id", "custom_id", "body", "url", "messages", "conversations", "prompt", "role", "from"),
        *("value", "content", "type", "request", "max_tokens", "completion", "expected", "tags"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_prompt_set_or_one_error(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        path.write_bytes(data)
        with pytest.raises(UsageError) as caught:
            load(path)
        assert str(path) in str(caught.value)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.dictionaries(KEYS, JSON, max_size=5), max_size=4), st.sampled_from(sorted(SOURCES)))
def test_what_an_import_writes_is_a_prompt_set(items: list[object], source: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "in", Path(folder) / "out"
        path.write_text("".join(json.dumps(item) + "\n" for item in items))
        try:
            counts = import_suite(path, out, Options(source))
        except UsageError:
            assert not out.exists()
            return
        assert load(out).count == counts.written > 0


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="tfvpcos_0159.><= x%ms$\u00e9", max_size=24))
def test_any_text_is_a_condition_or_one_error(text: str) -> None:
    try:
        found = parse_condition(text)
    except UsageError:
        return
    assert found.limit >= 0


@settings(max_examples=60, deadline=None)
@given(JSON)
def test_any_file_of_targets_is_read_or_one_error(value: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        document = {"apiVersion": "fwctl/v1", "kind": "Targets", "targets": value}
        (Path(folder) / "t.yaml").write_text(json.dumps(document))
        with pytest.raises(FwctlError):
            load_targets(Path("t.yaml"), [], {}, Path(folder))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=6), st.booleans(), st.booleans())
@example([5e-324], True, False)
@example([1.0, 5e-324], True, False)
@example([0.0, 5e-324], False, True)
def test_an_axis_holds_every_value(values: list[float], log: bool, zero: bool) -> None:
    found = axis(values, 10.0, 200.0, log=log, zero=zero)
    slack = (found.high - found.low) * 1e-6  # less than a pixel
    assert found.low <= min(values) + slack
    assert found.high >= max(values) - slack
    assert 2 <= len(found.ticks) <= 8
    assert all(10.0 <= found.at(value) <= 200.0 for value in values)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(1e-6, 1e3), min_size=80, max_size=120), st.floats(0.01, 100.0))
def test_scaling_an_arm_scales_its_ratio(values: list[float], factor: float) -> None:
    pairs = Pairs(values, [value * factor for value in values], range(len(values)))
    found = compare_all({"m": pairs}, (0.5, 0.95), resamples=20)
    for ratio in found.values():
        assert ratio.value == pytest.approx(factor, rel=1e-9)
        assert ratio.low == pytest.approx(factor, rel=1e-9)
        assert ratio.high == pytest.approx(factor, rel=1e-9)
