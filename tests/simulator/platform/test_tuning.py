"""What a dataset leaves behind, and what a finished job makes."""

from __future__ import annotations

import json

from fwctl.simulator.platform import tuning

WORDS = " ".join(f"word{number}" for number in range(5000))


def test_a_text_is_near_to_data_that_holds_it_and_far_from_data_that_does_not() -> None:
    sketch = tuning.fingerprint(["the cat sat on the mat", "the dog ran"])
    assert tuning.closeness(sketch, "the cat sat") == 1.0
    assert tuning.closeness(sketch, "THE CAT ran away") == 1 / 3
    assert tuning.closeness(sketch, "nothing alike here") == 0.0
    assert tuning.closeness(sketch, "one") == 0.0
    assert tuning.closeness([], "the cat sat") == 0.0


def test_the_sketch_of_large_data_stays_small_and_estimates_the_share() -> None:
    many = [WORDS, *(f"other{number} text{number}" for number in range(20_000))]
    sketch = tuning.fingerprint(many)
    assert len(sketch) == 2048
    half = WORDS + " " + " ".join(f"strange{number}" for number in range(5000))
    assert 0.4 < tuning.closeness(sketch, half) < 0.6


def test_a_dataset_counts_its_examples_and_reads_every_text_in_them() -> None:
    rows = [
        json.dumps({"messages": [{"role": "user", "content": "the cat sat"}]}),
        json.dumps({"prompt": "on the mat", "weights": [1, None, True]}),
        "not json",
        "",
        "[" * 100_000,
    ]
    found = tuning.remember(rows)
    assert found["exampleCount"] == 2
    assert tuning.closeness(found["fingerprint"], "the cat sat") == 1.0
    assert tuning.closeness(found["fingerprint"], "on the mat") == 1.0
