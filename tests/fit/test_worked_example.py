"""The example of docs/fit-check.md: 80 layers, 8 KV heads × 128, 70e9 parameters, nominal memory.

By hand: 2 × 80 × 8 × 128 × 2 bytes = 327,680 bytes a token; × 32,768 = 10,737,418,240 bytes.
4 × 80e9 − 140e9 = 180e9; / 10,737,418,240 = 16.76.
"""

from __future__ import annotations

import pytest

from fwctl.fit.check import check
from fwctl.fit.options import fit_request_from_options
from fwctl.fit.result import FitResult, Verdict

CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 80,
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
}


def answer(precision: str, count: int) -> FitResult:
    return check(
        fit_request_from_options(
            config=CONFIG,
            accelerator="H100",
            count=count,
            precision=precision,
            kv_precision="fp16",
            context_tokens=32768,
            concurrency=1,
            engine="ideal",
            parameters=70e9,
        )
    )


@pytest.mark.parametrize(
    ("precision", "count", "conversations"),
    [
        ("FP16", 1, 0),
        ("FP16", 2, 1),
        ("FP16", 4, 16),
        ("FP16", 8, 46),
        ("FP8", 1, 0),
        ("FP8", 2, 8),
        ("FP8", 4, 23),
        ("FP8", 8, 53),
    ],
)
def test_conversations_of_the_table(precision: str, count: int, conversations: int) -> None:
    result = answer(precision, count)
    assert result.max_concurrency is not None
    assert int(result.max_concurrency.mid) == conversations
    assert (result.verdict is Verdict.FITS) == (conversations >= 1)


def test_bytes_of_a_token_and_of_a_conversation() -> None:
    document = answer("FP16", 1).to_json()
    assert document["kv_bytes_per_token_total"] == 327_680
    assert document["kv_bytes_per_sequence_per_gpu"] == 10_737_418_240
    assert document["weights_bytes_total"] == 140_000_000_000
    assert document["usable_bytes_per_gpu"] == 80_000_000_000


def test_all_ends_are_equal_under_the_ideal_policy() -> None:
    band = answer("FP8", 4).to_json()["max_concurrency"]
    assert band["low"] == band["mid"] == band["high"]
