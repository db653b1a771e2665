"""Daily requests of `firectl deployment-metrics`: sums, the last day with one, and nonsense beside them."""

from __future__ import annotations

from fwctl.operate.daily_requests import last_requests, requests_of


def test_requests_are_summed_by_id_and_nonsense_is_left_out() -> None:
    series = [
        {
            "labels": {"deployment": "accounts/acme/deployments/a"},
            "values": [{"value": "1"}, {"value": "2.5"}],
        },
        {"labels": {"deployment": "a"}, "values": [{"value": "nan"}, {"value": None}, 7, {"value": "x"}]},
        {"labels": None, "values": [{"value": "1"}]},
        {"labels": {"deployment": "b"}, "values": None},
    ]
    assert requests_of(series) == {"a": 3.5, "b": 0.0}


def test_the_last_day_with_a_request_counts_to_its_end() -> None:
    # 1790812800 is 2026-10-01 00:00 UTC
    rows = [
        {
            "labels": {"deployment": "accounts/a/deployments/x"},
            "values": [{"timestamp": 1790812800, "value": "3"}, {"timestamp": 1790899200, "value": "0"}],
        },
        {"labels": None, "values": 3},
        {"labels": {"deployment": "y"}, "values": [{"timestamp": "x", "value": "1"}]},
    ]
    assert {id_: at.isoformat() for id_, at in last_requests(rows).items()} == {
        "x": "2026-10-02T00:00:00+00:00"
    }
