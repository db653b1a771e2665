"""Whatever a model says, grading it ends, and ends with a verdict."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.inference.grammar import problems
from fwctl.inference.patterns import quick
from fwctl.quality.degenerate import degenerate
from fwctl.quality.graders.numeric import last_number
from fwctl.quality.verdict import Gate, Pair, count, judge
from fwctl.stats.multiplicity import holm
from tests.quality.support import rights

FEW = settings(max_examples=60, deadline=None)
TEXT = st.text(max_size=200)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)


@FEW
@given(TEXT)
def test_any_text_is_looked_at_without_a_crash(text: str) -> None:
    degenerate(text * 3)
    last_number(text)
    problems(text)
    quick(text)


@FEW
@given(TEXT, TEXT)
def test_text_graders_always_have_a_verdict(expected: str, answer: str) -> None:
    for kind in ("exact", "contains"):
        if expected.strip():
            assert rights(kind, expected, answer, expected)[1] is True


@FEW
@given(VALUES)
def test_json_is_equal_to_itself(value: Any) -> None:
    assert rights("json", json.dumps(value), json.dumps(value)) == [True]


@FEW
@given(VALUES, VALUES)
def test_json_equality_is_symmetric_where_it_is_exact(left: Any, right: Any) -> None:
    one, two = json.dumps(left), json.dumps(right)
    assert rights("json", one, two) == rights("json", two, one)


@FEW
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=3))
def test_a_number_is_read_as_it_is_written(number: Any) -> None:
    assert last_number(f"The total is {number:,} units.") == number


@FEW
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans(), st.booleans()), max_size=60))
def test_a_verdict_is_consistent_with_its_bound(rows: list[tuple[int, bool, bool]]) -> None:
    counts = count(Pair(str(prompt), base, candidate) for prompt, base, candidate in rows)
    found = judge(counts, 0.05)
    assert 1 <= counts.effect <= max(1.0, counts.n_pairs / max(1, counts.n_prompts))
    assert found.upper >= found.loss or counts.n_pairs == 0
    assert (found.verdict is Gate.PASS) == (found.upper < 0.05)
    assert (found.n_needed is None) == (found.verdict is not Gate.INCONCLUSIVE)


@FEW
@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_never_lowers_a_p_value_and_keeps_their_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(a >= p for p, a in zip(p_values, adjusted, strict=True))
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    assert [adjusted[at] for at in order] == sorted(adjusted)
