"""The metrics page: what is read from it, and quantiles from buckets by hand."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from fwctl.errors import FwctlError
from fwctl.operate.exporter import Quantile, parse_page, quantile
from tests.operate.support import NOW, parsed, served

# As a client of the platform has it in its own tests (public, MIT).
PUBLISHED = """\
# HELP request_counter_total:sum_by_deployment Request rate
# TYPE request_counter_total:sum_by_deployment gauge
request_counter_total:sum_by_deployment{base_model="m",deployment="accounts/a/deployments/d1",deployment_account="a",deployment_id="d1"} 4.5
"""  # noqa: E501
INF = math.inf


def test_a_published_line_is_read() -> None:
    found = parse_page(PUBLISHED, NOW)["d1"]
    assert (found.requests_per_s, found.at) == (4.5, NOW)
    assert found.kv_blocks is None


def test_a_page_of_the_simulator_is_read_whole() -> None:
    # 54 good and 6 refused requests in the minute: 1 a second, a tenth of them 429
    rows = [*served("chat", 54), *served("chat", 6, status=429)]
    found = parsed(NOW, {"chat": (rows, 0.85), "quiet": ([], 0.0)})
    chat = found["chat"]
    assert chat.requests_per_s == 1.0
    assert chat.errors == {"429": 0.1}
    assert chat.error_share == pytest.approx(0.1)
    assert (chat.kv_blocks, chat.kv_slots, chat.concurrent) == (0.85, 0.425, 6.0)
    assert chat.prompt_per_s == 1000.0
    assert chat.at == NOW
    # 200 tokens each fall between 128 and 512: the middle is 320, 0.9 requests a second finish
    assert chat.generated_per_s == pytest.approx(288.0)
    # 300 ms falls between 200 and 500; the 95th of 100 parts lies at 200 + 0.95 x 300
    assert chat.quantile("latency_to_first_token_ms", 0.95) == Quantile(pytest.approx(485.0))
    assert found["quiet"].quantile("latency_to_first_token_ms", 0.95) is None
    assert found["quiet"].error_share is None


def test_the_oldest_sample_says_how_old_the_page_is() -> None:
    text = 'request_counter_total:sum_by_deployment{deployment_id="a"} 1 1790000000000\n'
    text += 'tokens_prompt_total:sum_by_deployment{deployment_id="a"} 1 1790000100000\n'
    found = parse_page(text, NOW)["a"]
    assert found.at == datetime.fromtimestamp(1_790_000_000, UTC)
    assert not found.stale(found.at + timedelta(seconds=180))
    assert found.stale(found.at + timedelta(seconds=181))


def test_rows_of_one_deployment_are_added_up_and_means_count_by_the_highest() -> None:
    rows = {
        "request_counter_total:sum_by_deployment": (1.5, 2.0),
        "generator_kv_blocks_fraction:avg_by_deployment": (0.9, 0.4),
    }
    text = "".join(
        f'{name}{{deployment_id="a",base_model="m{n}"}} {value}\n'
        for name, values in rows.items()
        for n, value in enumerate(values)
    )
    found = parse_page(text, NOW)["a"]
    assert (found.requests_per_s, found.kv_blocks) == (3.5, 0.9)


def test_an_edge_that_is_no_number_is_left_out() -> None:
    rows = [f'x_bucket:sum_by_deployment{{deployment_id="a",le="{le}"}} 1\n' for le in ("5", "NaN", "+Inf")]
    assert parse_page("".join(rows), NOW)["a"].histograms == {"x": {5.0: 1.0, INF: 1.0}}


@pytest.mark.parametrize("time", ["99999999999999999999", "1e21", "-1e18", "NaN", "Inf"])
def test_a_time_that_no_clock_shows_is_a_fault_of_the_page(time: str) -> None:
    with pytest.raises(FwctlError, match="not in the Prometheus text format"):
        parse_page(f'request_counter_total:sum_by_deployment{{deployment_id="a"}} 1 {time}\n', NOW)


def test_what_belongs_to_no_deployment_or_is_no_amount_is_left_out() -> None:
    text = 'request_counter_total:sum_by_deployment{base_model="m"} 1\n'
    text += 'request_counter_total:sum_by_deployment{deployment_id="a"} NaN\n'
    text += 'tokens_prompt_total:sum_by_deployment{deployment_id="a"} +Inf\n'
    text += 'tokens_cached_prompt_total:sum_by_deployment{deployment_id="a"} 1e300\n'
    text += 'unknown_series{deployment="accounts/x/deployments/b"} 1\n'
    found = parse_page(text, NOW)
    assert set(found) == {"b"}
    assert found["b"].requests_per_s is None


@pytest.mark.parametrize("text", ["<html>nothing</html>", 'a{b="c} 1', "a{} many", "\x00\x01"])
def test_what_is_no_page_is_told(text: str) -> None:
    with pytest.raises(FwctlError, match="Prometheus text format"):
        parse_page(text, NOW)


def test_an_empty_page_is_a_page() -> None:
    assert parse_page("", NOW) == {}


@pytest.mark.parametrize(
    ("buckets", "share", "expected"),
    [
        ({100: 5, 200: 10, INF: 10}, 0.5, Quantile(100)),
        ({100: 5, 200: 10, INF: 10}, 0.9, Quantile(180)),  # 4 of the 5 between 100 and 200
        ({100: 5, 200: 10, INF: 10}, 0.25, Quantile(50)),  # from 0 to the first edge
        ({100: 5, 200: 10, INF: 20}, 0.95, Quantile(200, above=True)),
        ({100: 0, 200: 0, INF: 0}, 0.5, None),
        ({100: 5}, 0.5, None),  # nobody knows the total without the open bucket
        ({INF: 5}, 0.5, None),
        ({100: 5, 200: 4, INF: 10}, 0.5, Quantile(100)),  # counts that fall count as level
    ],
)
def test_quantiles_are_those_of_histogram_quantile(
    buckets: dict[float, float], share: float, expected: Quantile | None
) -> None:
    assert quantile(buckets, share) == expected


def test_beyond_the_last_edge_is_said_and_not_invented() -> None:
    assert str(Quantile(120_000, above=True)) == "> 120,000"
    assert str(Quantile(350.4)) == "350"
