"""From a measured limit to what a spec should say."""

from __future__ import annotations

import pytest
import yaml

from fwctl.measure.capacity import Level
from fwctl.measure.capacity_advice import kv_pool_tokens, propose
from fwctl.measure.objectives import Verdict

BEST = Level(12.0, Verdict.MET, None, 1, 400, (), in_flight_p50=10.0, in_flight_p95=17.0)


def test_replicas_cover_the_peak_and_targets_leave_room_for_a_start() -> None:
    """12/s on two replicas are 6/s each: 20/s at peak need 3.3, so 4; the target is 80 % of 6."""
    found = propose(BEST, 2, peak_rps=20.0)
    assert found.values == {
        "replicas.max": 4,
        "replicas.max_concurrency": 9,
        "autoscaling.load_targets": {"default": 0.8, "requests_per_second": 4.8},
    }
    assert "one replica meets the objectives up to 6 requests a second" in found.notes


@pytest.mark.parametrize(("peak", "replicas"), [(6.0, 1), (12.0, 2), (12.01, 3), (0.5, 1)])
def test_a_peak_that_fits_exactly_needs_no_further_replica(peak: float, replicas: int) -> None:
    assert propose(BEST, 2, peak_rps=peak).values["replicas.max"] == replicas


def test_the_ceiling_never_goes_below_the_floor_of_the_spec() -> None:
    assert propose(BEST, 2, peak_rps=1.0, current={"replicas.min": 3}).values["replicas.max"] == 3


def test_without_a_peak_nothing_is_said_about_replicas() -> None:
    found = propose(BEST, 2, peak_rps=None)
    assert "replicas.max" not in found.values
    assert any("workload.peak_rps" in note for note in found.notes)


def test_memory_caps_the_concurrency_that_was_seen() -> None:
    found = propose(BEST, 1, peak_rps=12.0, conversations=7.9)
    assert found.values["replicas.max_concurrency"] == 7
    assert "17 requests were in flight, memory holds 7.9 conversations" in found.notes
    assert propose(BEST, 1, peak_rps=12.0, conversations=20.0).values["replicas.max_concurrency"] == 17


def test_load_targets_of_the_spec_are_kept() -> None:
    current = {"autoscaling.load_targets": {"default": 0.5, "concurrent_requests": 8.0}}
    found = propose(BEST, 2, peak_rps=12.0, current=current)
    assert found.values["autoscaling.load_targets"] == {
        "default": 0.5,
        "concurrent_requests": 8.0,
        "requests_per_second": 4.8,
    }


def test_the_patch_is_a_piece_of_spec() -> None:
    text = propose(BEST, 2, peak_rps=20.0).yaml("chat")
    assert yaml.safe_load(text) == {
        "deployments": {
            "chat": {
                "replicas": {"max": 4, "max_concurrency": 9},
                "autoscaling": {"load_targets": {"default": 0.8, "requests_per_second": 4.8}},
            }
        }
    }


def test_the_pool_follows_from_its_share_in_use_and_the_tokens_in_flight() -> None:
    """20 requests of 1000 + 200/2 tokens fill 22,000 tokens; at 25 % of the blocks of two replicas the pool
    of one holds 22,000 / 0.25 / 2 = 44,000."""
    assert kv_pool_tokens(0.25, 20, 1000, 200, 2) == pytest.approx(44_000)
    assert kv_pool_tokens(0.01, 20, 1000, 200, 2) is None
    assert kv_pool_tokens(0.5, 0, 1000, 200, 2) is None
