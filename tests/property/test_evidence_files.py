"""Whatever stands in a file of evidence, reading it is a record or one problem."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.records.evidence import KINDS, EvidenceRecord, read, write

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
WRITTEN = EvidenceRecord("bench", "m", datetime(2026, 12, 1, tzinfo=UTC)).to_json()


def outcome(name: str, data: bytes) -> tuple[int, int]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(data)
        stored, problems = read(Path(folder))
    return len(stored), len(problems)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_one_problem(data: bytes) -> None:
    assert outcome("x.json", data) == (0, 1)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(WRITTEN)), JSON, max_size=4))
def test_any_values_under_a_name_that_fits_are_a_record_or_one_problem(changes: dict[str, Any]) -> None:
    document = {**WRITTEN, **changes}
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    name = f"x-{sha256(text.encode()).hexdigest()[:12]}.json"
    assert sum(outcome(name, json.dumps(document).encode())) == 1


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    model=st.text(min_size=1, max_size=40),
    replicas=st.none() | st.integers(0, 1000),
    passed=st.none() | st.booleans(),
    results=st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3),
)
def test_what_was_written_is_read(kind: str, model: str, **values: Any) -> None:
    record = EvidenceRecord(kind, model, datetime(2026, 12, 1, tzinfo=UTC), **values)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), record)
        stored, problems = read(Path(folder))
    assert [item.record for item in stored] == [record]
    assert problems == ()
