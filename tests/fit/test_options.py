"""Requests from options and from spec entries."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.catalog import accelerators, architectures
from fwctl.fit.architecture import Architecture
from fwctl.fit.check import check
from fwctl.fit.errors import RequestError
from fwctl.fit.options import accelerator, fit_request_from_options, request_for
from fwctl.fit.parse import architecture_from_config
from fwctl.fit.request import Drafter, FitRequest, Offer
from tests.fit.builders import config


def llama() -> Architecture:
    found = architectures.find("llama-v3p1-8b-instruct")
    assert found is not None
    return architecture_from_config(found)


@pytest.mark.parametrize(
    "name", ["H200", "h200", "NVIDIA_H200_141GB", "nvidia-h200-141gb", "NVIDIA_H200", "H200_141GB", " H200 "]
)
def test_short_names_of_accelerators_are_accepted(name: str) -> None:
    assert accelerator(name).name == "NVIDIA_H200_141GB"


def test_an_unknown_accelerator_needs_its_memory() -> None:
    with pytest.raises(RequestError, match="NVIDIA_H100_80GB"):
        accelerator("X100")
    made = accelerator("amd x100", 256)
    assert (made.name, made.visible_gib, made.vendor) == ("AMD X100", 256, "amd")
    assert made.nominal_bytes == pytest.approx(256 * 2**30)
    assert accelerator("H200", 100).name == "NVIDIA_H200_141GB"
    with pytest.raises(RequestError, match="above 0"):
        accelerator("X100", -1)


def test_rates_fall_back_to_the_next_wider_format() -> None:
    a100, h100, b200 = (accelerators.find(name) for name in ("A100", "H100", "B200"))
    assert a100 is not None
    assert h100 is not None
    assert b200 is not None
    assert a100.tflops(4) == a100.tflops(8) == 312
    assert (h100.tflops(16), h100.tflops(8), h100.tflops(4)) == (989, 1979, 1979)
    assert b200.tflops(4) == 9000


@pytest.mark.parametrize(
    ("name", "layers"),
    [
        ("accounts/fireworks/models/gpt-oss-120b", 36),
        ("gpt-oss-120b", 36),
        ("https://huggingface.co/openai/gpt-oss-120b/tree/main", 36),
        ("openai/GPT-OSS-120B", 36),
    ],
)
def test_a_model_is_found_by_any_of_its_names(name: str, layers: int) -> None:
    found = architectures.find(name)
    assert found is not None
    assert found["num_hidden_layers"] == layers


@pytest.mark.parametrize(
    "name", ["accounts/acme/models/gpt-oss-120b", "", "gpt-oss", "https://huggingface.co/x"]
)
def test_a_name_that_may_be_something_else_is_not_found(name: str) -> None:
    assert architectures.find(name) is None


def test_names_of_the_catalogue_are_unambiguous() -> None:
    names = [n.lower() for m in architectures.models() for n in (m.hub, *m.names, *m.also)]
    assert len(names) == len(set(names))


def test_absent_context_and_concurrency_are_assumed_and_said_so() -> None:
    request = fit_request_from_options(config=config(), accelerator="H100", count=1, precision="BF16")
    assert request.workload.context_tokens == 4096
    assert request.assumed == ("context 4,096 tokens (the model maximum)", "concurrency 1")
    blind = fit_request_from_options(accelerator="H100", count=1, precision="BF16")
    assert blind.workload.context_tokens == 8192
    assert "no context given" in blind.assumed[0]


def test_an_accelerator_may_be_given_as_a_value() -> None:
    request = fit_request_from_options(
        architecture=llama(), accelerator=accelerator("H100"), count=1, precision="BF16", offers=[]
    )
    assert request.accelerator.name == "NVIDIA_H100_80GB"
    assert request.offers == ()


FIELDS = {
    "model": "accounts/fireworks/models/llama-v3p1-8b-instruct",
    "accelerator.type": "NVIDIA_H100_80GB",
    "accelerator.count": 2,
    "precision": "FP8",
}


def entry(
    own: dict[str, Any] | None = None, snapshot: dict[str, Any] | None = None, **more: Any
) -> FitRequest:
    return request_for(FIELDS, own or {}, snapshot, llama(), **more)


def test_pins_of_the_spec_win_over_the_snapshot() -> None:
    request = entry(
        snapshot={"accelerator.type": "NVIDIA_B200_180GB", "accelerator.count": 8, "precision": "FP4"}
    )
    assert (request.accelerator.name, request.accelerator_count, request.precision) == (
        "NVIDIA_H100_80GB",
        2,
        "FP8",
    )
    carried = request_for(
        {"model": "m"},
        {},
        {"accelerator.type": "NVIDIA_B200_180GB", "accelerator.count": 8, "precision": "FP4"},
        llama(),
    )
    assert carried.accelerator_count == 8


@pytest.mark.parametrize("missing", ["accelerator.type", "accelerator.count", "precision"])
def test_hardware_that_nobody_states_is_named(missing: str) -> None:
    fields = {key: value for key, value in FIELDS.items() if key != missing}
    with pytest.raises(RequestError) as error:
        request_for(fields, {}, None, llama())
    assert error.value.field == missing


@pytest.mark.parametrize(
    "own",
    [
        {
            "workload.input_tokens.p95": 14_000,
            "workload.output_tokens.p95": 900,
            "workload.input_tokens.p50": 1800,
            "workload.output_tokens.p50": 300,
            "workload.concurrency_per_replica": 8,
            "workload.shared_prefix_tokens": 900,
        },
        {
            "workload.input_tokens": {"p50": 1800, "p95": 14_000},
            "workload.output_tokens": {"p50": 300, "p95": 900},
            "workload.concurrency_per_replica": 8,
            "workload.shared_prefix_tokens": 900,
        },
    ],
)
def test_percentiles_of_input_and_output_add_up(own: dict[str, Any]) -> None:
    request = entry(own)
    assert request.workload == (14_900, 8.0, 2100, 900)
    assert request.assumed == ()


def test_a_plain_workload_is_context_and_concurrency() -> None:
    workload = entry({"workload.context_tokens": 32768, "workload.concurrency": 8}).workload
    assert (workload.context_tokens, workload.concurrency, workload.p50_tokens) == (32768, 8.0, None)


@pytest.mark.parametrize(
    ("fields", "snapshot", "model_context", "expected", "origin"),
    [
        ({"max_context_length": 4096}, {"max_context_length": 8192}, None, 4096, "max_context_length"),
        ({}, {"max_context_length": 8192}, None, 8192, "shape"),
        ({}, {}, 16384, 16384, "model"),
        ({}, {}, None, 131072, "model"),
        ({"max_context_length": float("inf")}, {"max_context_length": True}, None, 131072, "model"),
    ],
)
def test_an_absent_workload_falls_back_from_spec_to_shape_to_model(
    fields: dict[str, Any], snapshot: dict[str, Any], model_context: int | None, expected: int, origin: str
) -> None:
    request = request_for({**FIELDS, **fields}, {}, snapshot, llama(), model_context=model_context)
    assert request.workload.context_tokens == expected
    assert origin in request.assumed[0]


def test_without_an_architecture_the_platforms_parameter_count_serves() -> None:
    request = request_for(FIELDS, {}, None, None, parameters=8e9, missing=["no config"])
    assert (request.parameters, request.missing) == (8e9, ("no config",))
    assert request.workload.context_tokens == 8192
    assert entry(parameters=8e9).parameters is None


def test_adapters_are_counted_for_multi_lora_only() -> None:
    loaded = {"addons.load": ["accounts/a/models/x", "accounts/a/models/y"]}
    many = request_for({**FIELDS, **loaded, "addons.mode": "multi_lora"}, {}, None, llama())
    assert many.adapters is not None
    assert many.adapters.cached == 2
    more = request_for({**FIELDS, **loaded}, {"workload.adapters_cached": 4}, None, llama())
    assert more.adapters is not None
    assert more.adapters.cached == 4
    assert request_for({**FIELDS, **loaded, "addons.mode": "live_merge"}, {}, None, llama()).adapters is None
    assert entry().adapters is None


def test_a_drafter_is_inherited_from_the_shape_unless_disabled() -> None:
    inherited = entry(snapshot={"speculation.draft_model": "accounts/fireworks/models/d"})
    assert inherited.drafter == Drafter("accounts/fireworks/models/d", None)
    carried = {"speculation.draft_model": "d", "speculation.draft_tokens": 4}
    assert entry(snapshot=carried).draft_tokens == 4
    assert entry(snapshot={"speculation.draft_tokens": 4}).draft_tokens == 0
    known = Drafter("d", llama())
    assert entry(drafter=known).drafter is known
    disabled = request_for(
        {**FIELDS, "speculation.mode": "disabled"}, {}, {"speculation.draft_model": "d"}, llama()
    )
    assert disabled.drafter is None


def test_an_entry_can_be_checked() -> None:
    result = check(
        entry(
            {"workload.context_tokens": 8192, "workload.concurrency": 4},
            offers=[Offer("NVIDIA_H100_80GB", 1, "FP8")],
            usd_per_gpu_hour={"NVIDIA_H100_80GB": 4.0},
            name="chat",
        )
    )
    document = result.to_json()
    assert (document["name"], document["verdict"]) == ("chat", "fits")
    assert document["roofline"]["usd_per_hour"] == 8.0
