"""Laws of cost and watch: what holds for any samples, any export, any page and any course of the day."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fwctl.errors import FwctlError, InvalidSpecError, Severity, UsageError
from fwctl.operate.cost_billing import OPTIONAL, REQUIRED, read_billing
from fwctl.operate.cost_tokens import _split
from fwctl.operate.exporter import parse_page, quantile
from fwctl.operate.rules_model import Answer, Hit, Judged, Rule
from fwctl.operate.samples import MICROSECONDS, gap_us_by_day, integrate
from fwctl.operate.watch_config import load_config
from fwctl.operate.watch_state import State, from_json, step, to_json
from fwctl.records.samples import Round, Sample, parse_round

_E = TypeVar("_E", bound=Exception)


def refused(kind: type[_E], work: Callable[[], object]) -> _E | None:
    """The error that this kind of refusal is; None when the work was done. Others are not caught."""
    try:
        work()
    except kind as error:
        return error
    return None


START = datetime(2026, 10, 1, 22, tzinfo=UTC)
LAW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@LAW
@given(
    st.lists(st.tuples(st.integers(1, 400), st.integers(0, 5), st.integers(1, 8)), min_size=1, max_size=30)
)
def test_time_is_either_counted_or_a_gap(steps: list[tuple[int, int, int]]) -> None:
    """Every second of the range is in one step or in one gap, and GPU time is the sum of the steps."""
    at, rounds, expected = START, [], 0
    for seconds, ready, gpus in steps:
        rounds.append(Round(at, "a", (Sample("d", "m", "H", gpus, ready),)))
        expected += seconds * ready * gpus if seconds <= 180 else 0
        at += timedelta(seconds=seconds)
    rounds.append(Round(at, "a", ()))
    found = integrate(rounds, start=START, end=at)
    counted = sum(seconds for seconds, _, _ in steps if seconds <= 180)
    assert sum(gap_us_by_day(found.gaps).values()) == ((at - START).total_seconds() - counted) * MICROSECONDS
    assert sum(use.gpu_us for use in found.uses.values()) == expected * MICROSECONDS


@LAW
@given(st.integers(0, 10**12), st.lists(st.integers(0, 10**6), min_size=1, max_size=8))
def test_shared_tokens_add_up(count: int, weights: list[int]) -> None:
    if sum(weights):
        parts = _split(count, [Fraction(weight) for weight in weights])
        assert sum(parts) == count
        assert all(part >= 0 for part in parts)
        assert all(not part for part, weight in zip(parts, weights, strict=True) if not weight)


@LAW
@given(
    st.lists(st.floats(0, 1e6), min_size=3, max_size=3),
    st.floats(0.01, 0.99),
    st.floats(0.01, 0.99),
)
def test_a_higher_share_is_never_a_lower_quantile(rates: list[float], one: float, other: float) -> None:
    buckets = dict(zip((10.0, 100.0, math.inf), rates, strict=True))
    low, high = quantile(buckets, min(one, other)), quantile(buckets, max(one, other))
    assert (low is None) == (high is None)
    if low is not None and high is not None:
        assert 0 <= low.value <= high.value <= 100.0


@LAW
@given(st.binary(max_size=300), st.booleans())
def test_any_bytes_are_an_export_or_one_clear_error(tmp_path: Path, data: bytes, headed: bool) -> None:
    path = tmp_path / "billing.csv"
    head = ",".join((*REQUIRED, *OPTIONAL)).encode() + b"\n" if headed else b""
    path.write_bytes(head + data)
    error = refused(UsageError, lambda: read_billing(path))
    assert error is None or str(path) in str(error)


@LAW
@given(st.text(max_size=200))
def test_any_text_is_a_page_or_one_clear_error(text: str) -> None:
    error = refused(FwctlError, lambda: parse_page(text, START))
    assert error is None or "Prometheus text format" in str(error)


@LAW
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["time", "account", "deployments", "deployment_id", "ready", "tags"]), inner
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_a_round_or_one_clear_error(document: object) -> None:
    error = refused(ValueError, lambda: parse_round(json.dumps(document)))
    assert error is None or str(error)


@LAW
@given(st.text(alphabet="ab:{}[]- \n\"'&*#|>kindrules", max_size=120))
def test_any_text_is_a_watch_file_or_an_error_with_a_place(tmp_path: Path, text: str) -> None:
    (tmp_path / "w.yaml").write_text("apiVersion: fwctl/v1\nkind: Watch\n" + text)
    error = refused(InvalidSpecError, lambda: load_config(Path("w.yaml"), {}, tmp_path))
    found = error.diagnostics if error is not None else ()
    assert error is None or any(item.severity is Severity.ERROR and item.position for item in found)


RULE = Rule("r", Severity.NOTE, "", lambda _s, _l: Answer.NO, hold_s=120, resolve_s=120)


@LAW
@given(st.lists(st.sampled_from(["yes", "no", "unknown"]), max_size=40), st.integers(0, 40))
def test_fired_and_resolved_alternate_whatever_happens(course: list[str], restart: int) -> None:
    answers = {"yes": Hit("e", "f"), "no": Answer.NO, "unknown": Answer.UNKNOWN}
    state, told = State(), []
    for minute, word in enumerate(course):
        if minute == restart:
            state = from_json(to_json(state))
        now = START + timedelta(minutes=minute)
        told += [event.kind for event in step(state, [Judged(RULE, "a", "a", answers[word])], now)]
    assert told == [("fired", "resolved")[at % 2] for at in range(len(told))]
    assert bool(state.firing()) == (len(told) % 2 == 1)
