"""Files of kind Adapt: every problem at its line."""

from __future__ import annotations

import pytest

from fwctl.drafting.adapt_file import check_adapt
from fwctl.spec.files import Given
from tests.drafting.pipeline_support import TEXT


def told(text: str) -> list[tuple[str, int]]:
    found, diagnostics = check_adapt(Given("adapt.yaml", text.encode()), environ={})
    assert (found is None) == bool(diagnostics)
    return [(item.code, item.position.line if item.position else 0) for item in diagnostics]


def test_what_is_not_said_has_a_default() -> None:
    found, _ = check_adapt(Given("adapt.yaml", TEXT.encode()), environ={})
    assert found is not None
    assert found.training.epochs == (1, 2)
    assert (found.evaluating.draft_tokens, found.evaluating.margin) == ((3, 5), 0.05)
    assert found.evaluating.spend_cap_usd == 60
    assert found.evaluating.time_to_live_s == 4 * 3600
    assert found.collecting.anonymise
    assert not found.watching.restart


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("kind: Adapt", "kind: Watch", "FW205", 2),
        ("name: tuned", "name: Tuned", "FW310", 5),
        ("name: tuned", f"name: {'t' * 19}", "FW310", 5),
        ("  epochs: [1, 2]", "  epochs: [1, 1]", "FW203", 14),
        ("  epochs: [1, 2]", "  epochs: []", "FW203", 14),
        ("  epochs: [1, 2]", "  epochs: 2", "FW202", 14),
        ("  epochs: [1, 2]", "  epochs: [1, 2, 3, 4, 5]", "FW203", 14),
        ("  epochs: [1, 2]", "  epochs: [a]", "FW202", 14),
        ("  spend_cap: $60", "  spend_cap: 60 dollars", "FW208", 20),
        ("  spend_cap: $60", "  spend_cap: $60\n  margin: much", "FW208", 21),
        ("  spend_cap: $60", "  spend_cap: $60\nwatch: {on_drift: panic}", "FW205", 21),
        ("  traces: [traces.jsonl]", "  traces: [t]\n  since: yesterday", "FW208", 10),
        ("deployment: chat", "deploymnt: chat", "FW201", 6),
    ],
)
def test_a_mistake_is_told_at_its_line(old: str, new: str, code: str, line: int) -> None:
    assert (code, line) in told(TEXT.replace(old, new))
