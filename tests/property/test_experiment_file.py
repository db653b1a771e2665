"""Whatever stands in an experiment's file, it is understood or refused with a place."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.quality.experiments.file import check_experiment
from fwctl.spec.files import Given
from tests.quality.experiments.support import TEXT

PIECES = (
    "",
    "{",
    "}",
    "[",
    ": ",
    "- ",
    "\n",
    "&a ",
    "*a",
    "$",
    "%",
    "0",
    "-1",
    "1e9",
    "null",
    "on",
    "4h",
    "\x00",
    "é",
    "!!x ",
)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, len(TEXT)), st.integers(0, 40), st.sampled_from(PIECES))
def test_a_damaged_file_is_refused_or_means_an_experiment(at: int, length: int, piece: str) -> None:
    text = TEXT[:at] + piece + TEXT[at + length :]
    experiment, found = check_experiment(Given("e.yaml", text.encode()), environ={})
    assert (experiment is None) == bool(found)
    assert all(item.position is not None for item in found)
    if experiment is not None:
        assert experiment.spend_cap_usd > 0
        assert experiment.baseline in experiment.candidates
        for entry in experiment.spec.deployments.values():
            assert entry.fields["replicas.min"] == 0
            assert not entry.protected
