"""From documents to speeds, against hand arithmetic and the fit check's own figures."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.simulator.catalogue import load
from fwctl.simulator.http.inference import sizes
from fwctl.simulator.http.knobs import KnobError, Knobs

CATALOGUE = load()


def model(name: str) -> dict[str, Any]:
    found = CATALOGUE.model(f"accounts/fireworks/models/{name}")
    assert found is not None
    return found


def hardware(kind: str, count: int, precision: str) -> dict[str, Any]:
    return {"acceleratorType": kind, "acceleratorCount": count, "precision": precision}


def test_a_known_architecture_takes_its_figures_from_the_fit_check() -> None:
    speed = sizes.speed_of(hardware("NVIDIA_H100_80GB", 1, "BF16"), model("llama-v3p1-8b-instruct"))
    # 32 layers x 8 heads x 128 x 2 (K and V) x 2 bytes.
    assert speed.size.kv_bytes_per_token == 131_072
    # 8.03e9 parameters of 2 bytes.
    assert speed.size.weight_bytes == pytest.approx(16.06e9, rel=0.01)
    # 79.19 GiB less weights and a few GiB, over 131,072 bytes a token.
    assert 400_000 < speed.kv_pool_tokens < 500_000


def test_a_mixture_s_active_parameters_are_those_of_its_experts_per_token() -> None:
    speed = sizes.speed_of(hardware("NVIDIA_H200_141GB", 4, "FP8"), model("qwen3-235b-a22b"))
    assert speed.size.active_parameters == pytest.approx(22e9, rel=0.05)
    assert speed.size.active_bytes < speed.size.weight_bytes / 8


def test_an_unknown_architecture_goes_by_its_parameter_count() -> None:
    own = {"name": "accounts/acme/models/own", "baseModelDetails": {"parameterCount": "8000000000"}}
    speed = sizes.speed_of(hardware("NVIDIA_H100_80GB", 1, "FP8"), own)
    assert speed.size.weight_bytes == 8e9
    assert speed.size.kv_bytes_per_token == 131_072
    mixture = {"name": "x", "baseModelDetails": {"parameterCount": "100000000000", "moe": True}}
    assert sizes.active_parameters(mixture) == pytest.approx(8e9)
    assert sizes.active_parameters({"name": "accounts/a/models/m-30b-a3b"}) == 3e9
    assert sizes.active_parameters({"name": "accounts/a/models/m-a1p5b"}) == 1.5e9


def test_hardware_nobody_knows_and_a_precision_nobody_knows_still_serve() -> None:
    speed = sizes.speed_of(hardware("NVIDIA_NEXT", 1, "FP3"), model("llama-v3p1-8b-instruct"))
    assert speed.kv_pool_tokens > 0


def test_faster_memory_decodes_faster_and_fewer_bits_too() -> None:
    llama = model("llama-v3p1-8b-instruct")
    steps = [
        sizes.speed_of(hardware(kind, 1, precision), llama).step_s(1, 1000)
        for kind, precision in (
            ("NVIDIA_A100_80GB", "BF16"),
            ("NVIDIA_H100_80GB", "BF16"),
            ("NVIDIA_H200_141GB", "BF16"),
            ("NVIDIA_H200_141GB", "FP8"),
        )
    ]
    assert steps == sorted(steps, reverse=True)


def test_the_context_is_the_deployment_s_else_the_model_s() -> None:
    llama = model("llama-v3p1-8b-instruct")
    assert sizes.context_of({"maxContextLength": 4096}, llama) == 4096
    assert sizes.context_of({}, llama) == 131_072
    assert sizes.context_of(None, {}) == 131_072


def test_what_drafts_on_a_deployment() -> None:
    target, small = model("llama-v3p1-70b-instruct"), model("llama-v3p2-1b-instruct")
    knobs = Knobs({})
    assert sizes.drafter_of(None, target, None, knobs) is None
    assert sizes.drafter_of({}, target, None, knobs) is None
    assert sizes.drafter_of({"draftTokenCount": 4}, target, None, knobs) is None
    ngram = sizes.drafter_of({"draftTokenCount": 4, "ngramSpeculationLength": 3}, target, None, knobs)
    assert ngram is not None
    assert (ngram.tokens, ngram.ngram, ngram.cost) == (4, 3, 0.0)
    draft = sizes.drafter_of({"draftTokenCount": 4, "draftModel": "d"}, target, small, knobs)
    assert draft is not None
    # 1.24e9 against 70.6e9 parameters is 0.0175; the least is 0.02.
    assert draft.cost == 0.02
    fixed = sizes.drafter_of({"draftTokenCount": 4}, target, small, Knobs({"acceptance": "0.5,1"}))
    assert fixed is not None
    assert fixed.acceptance == (0.5, 1.0)
    for wrong in ("a", "2", ""):
        with pytest.raises(KnobError):
            sizes.drafter_of({"draftTokenCount": 4}, target, small, Knobs({"acceptance": wrong}))
