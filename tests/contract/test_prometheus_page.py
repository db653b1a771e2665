"""The metrics page, read by prometheus_client's own parser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.simulator.http.support import LLAMA, SERVERLESS, Sim, serving

# docs.fireworks.ai, exporting metrics.
SUMS = {
    "request_counter_total",
    "requests_error_total",
    "tokens_cached_prompt_total",
    "tokens_prompt_total",
    "latency_generation_per_token_ms_bucket",
    "latency_generation_queue_ms_bucket",
    "latency_overall_ms_bucket",
    "latency_to_first_token_ms_bucket",
    "latency_prefill_ms_bucket",
    "latency_prefill_queue_ms_bucket",
    "tokens_generated_per_request_bucket",
    "tokens_prompt_per_request_bucket",
}
AVERAGES = {
    "generator_kv_blocks_fraction",
    "generator_kv_slots_fraction",
    "generator_model_forward_time",
    "requests_coordinator_concurrent_count",
    "prefiller_prompt_cache_ttl",
}
PAGE = "/v1/accounts/acme/metrics"
Samples = dict[str, list[tuple[dict[str, str], float]]]


@pytest.fixture
def sim(tmp_path: Path) -> Iterator[Sim]:
    with serving(tmp_path) as started:
        yield started


def read(text: str) -> Samples:
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation
        for sample in family.samples:
            assert sample.timestamp
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def page(sim: Sim) -> Samples:
    answer = sim.http.get(PAGE)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return read(answer.text)


def test_every_published_name_and_label_is_there(sim: Sim) -> None:
    name = sim.deploy("d1")
    sim.chat(name, max_tokens=20)
    sim.chat(name, sim={"fault": "status;status=429"})
    sim.chat(name, temperature=9)
    sim.chat(SERVERLESS)
    found = page(sim)
    assert set(found) == {f"{n}:sum_by_deployment" for n in SUMS} | {
        f"{n}:avg_by_deployment" for n in AVERAGES
    }
    labels, rate = found["request_counter_total:sum_by_deployment"][0]
    assert labels == {
        "base_model": LLAMA,
        "deployment": "accounts/acme/deployments/d1",
        "deployment_account": "acme",
        "deployment_id": "d1",
    }
    assert rate > 0
    assert {row[0]["deployment_id"] for rows in found.values() for row in rows} == {"d1"}


def test_rates_are_per_second_over_one_minute_and_errors_carry_their_status(sim: Sim) -> None:
    name = sim.deploy("d1", ready=False)
    for _ in range(3):
        assert sim.chat(name).status_code == 503
    found = page(sim)
    assert found["request_counter_total:sum_by_deployment"][0][1] == pytest.approx(3 / 60, rel=1e-4)
    labels, rate = found["requests_error_total:sum_by_deployment"][0]
    assert (labels["http_code"], rate) == ("503", pytest.approx(3 / 60, rel=1e-4))


def test_buckets_are_cumulative_and_end_in_infinity(sim: Sim) -> None:
    name = sim.deploy("d1")
    for tokens in (1, 20, 200):
        sim.chat(name, max_tokens=tokens, ignore_eos=True)
    rows = page(sim)["tokens_generated_per_request_bucket:sum_by_deployment"]
    counts = {row["le"]: round(value * 60) for row, value in rows}
    assert counts["1"] == 1
    assert counts["32"] == 2
    assert counts["512"] == counts["+Inf"] == 3
    assert list(counts.values()) == sorted(counts.values())


def test_a_seventh_request_within_a_minute_is_429(sim: Sim) -> None:
    assert [sim.http.get(PAGE).status_code for _ in range(7)] == [200] * 6 + [429]
    assert sim.http.get(PAGE).json()["code"] == 8


def test_the_page_is_kept_for_its_refresh_time(sim: Sim) -> None:
    sim.deploy("d1")
    first = sim.http.get(PAGE).text
    sim.chat("accounts/acme/deployments/d1")
    assert sim.http.get(PAGE).text == first


def test_refresh_and_rate_can_be_set_for_tests(tmp_path: Path) -> None:
    settings = {"FIRECTL_SIM_METRICS_REFRESH_S": "0", "FIRECTL_SIM_METRICS_PER_MINUTE": "100"}
    with serving(tmp_path, **settings) as sim:
        name = sim.deploy("d1")
        assert page(sim)["request_counter_total:sum_by_deployment"][0][1] == 0
        sim.chat(name)
        assert page(sim)["request_counter_total:sum_by_deployment"][0][1] > 0
        for _ in range(8):
            assert sim.http.get(PAGE).status_code == 200


def test_another_account_s_page_is_forbidden_and_a_key_is_needed(sim: Sim) -> None:
    assert sim.http.get("/v1/accounts/other/metrics").status_code == 403
    assert sim.http.get(PAGE, headers={"authorization": "x"}).status_code == 401


def test_an_account_without_deployments_has_an_empty_page_that_parses(sim: Sim) -> None:
    assert page(sim) == {}
