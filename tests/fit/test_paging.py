"""How many blocks a sequence takes; block sizes and counts are those of vLLM's logs."""

from __future__ import annotations

import pytest

from fwctl.catalog import architectures
from fwctl.fit.architecture import CacheKind
from fwctl.fit.kvcache import Growth, growths
from fwctl.fit.paging import CachePlan, linear_plan, paged_plan
from fwctl.fit.parse import architecture_from_config


def plan(name: str, ranks: int, kv: str, *, block: int = 16, chunk: int = 8192, align: int = 16) -> CachePlan:
    config = architectures.find(name)
    assert config is not None
    return paged_plan(growths(architecture_from_config(config).caches, kv, ranks), block, chunk, align)


def test_a_plain_cache_is_one_table_of_equal_blocks() -> None:
    found = plan("meta-llama/Llama-3.1-70B-Instruct", 4, "fp16")
    assert found.block_bytes == 16 * 81_920
    assert found.need(8192) == 512
    assert found.need(8193) == 513
    assert found.capacity(106.17 * 2**30) * 16 == pytest.approx(1_391_552, abs=64)


def test_nemotron_pages_hold_4176_tokens_in_groups_of_six_layers() -> None:
    """Log: block size 4,176; 6 attention and 23 Mamba layers; 2 + 4 blocks for 8,192 tokens."""
    found = plan("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 1, "fp8")
    assert {(g.kind, g.groups, g.block_tokens) for g in found.groups} == {
        (CacheKind.FULL, 1, 4176),
        (CacheKind.STATE, 4, 4176),
    }
    assert found.need(8192) == 6
    assert found.capacity(93.13 * 2**30) / found.need(8192) == 1299.0


def test_qwen_pages_hold_2096_tokens_on_two_gpus() -> None:
    found = plan("Qwen/Qwen3.5-122B-A10B", 2, "fp16")
    assert {g.block_tokens for g in found.groups} == {2096}
    assert found.need(8192) == 4 + 3


def test_gemma_4_pads_nothing_and_doubles_the_block_of_global_layers() -> None:
    """8,192 tokens: 256 blocks of 32 + 5 × (512 + 1) blocks of 16 in the windowed groups."""
    found = plan("google/gemma-4-31B-it", 1, "fp16")
    assert found.need(8192) == 256 + 5 * 513
    assert found.need(10_000) == 313 + 5 * 577  # the window and the chunk in flight: 9,215 tokens


def test_a_latent_beside_states_is_aligned_to_128_tokens() -> None:
    """Kimi-Linear, one GPU: state 2,170,880 bytes over 1,152 a token is 1,885, rounded to 1,920."""
    found = plan("moonshotai/Kimi-Linear-48B-A3B-Instruct", 1, "fp16", block=64, align=128)
    assert {g.block_tokens for g in found.groups} == {1920}


def test_kinds_of_nearly_equal_count_are_padded_to_the_larger() -> None:
    full = Growth(CacheKind.FULL, 10, 64.0, 0.0)
    window = Growth(CacheKind.WINDOW, 12, 64.0, 0.0, 32)
    found = paged_plan((full, window), 16, 0)
    assert [g.groups for g in found.groups] == [1, 1]
    assert found.block_bytes == 12 * 64 * 16


def test_pages_that_do_not_divide_are_padded_to_the_largest() -> None:
    full = Growth(CacheKind.FULL, 2, 64.0, 0.0)
    window = Growth(CacheKind.WINDOW, 2, 48.0, 0.0, 32)
    found = paged_plan((full, window), 16, 0)
    assert [g.block_tokens for g in found.groups] == [16, 16]
    assert found.block_bytes == 2 * 64 * 16


def test_windows_alone_share_one_table() -> None:
    found = paged_plan((Growth(CacheKind.WINDOW, 4, 64.0, 0.0, 33),), 16, 32)
    assert found.need(1000) == 4 + 1
    assert found.need(16) == 1 + 1


def test_states_alone_take_one_block_each() -> None:
    found = paged_plan((Growth(CacheKind.STATE, 4, 0.0, 100.0),), 16, 0)
    assert found.block_bytes == 400
    assert found.need(10**6) == 1
    assert found.concurrency(4000, 5) == 10


def test_a_model_without_cache_needs_nothing() -> None:
    found = paged_plan((), 16, 0)
    assert found.need(100) == 0
    assert found.concurrency(10, 5) == 10


def test_a_shared_prefix_is_charged_once_and_in_whole_blocks() -> None:
    """100 blocks of 16 tokens; 64 tokens each, 32 of them common: (100 − 2) / (4 − 2)."""
    found = paged_plan((Growth(CacheKind.FULL, 1, 10.0, 0.0),), 16, 0)
    assert found.concurrency(16_000, 64) == 25
    assert found.concurrency(16_000, 64, 32) == 49
    assert found.concurrency(16_000, 64, 40) == 49
    linear = linear_plan((Growth(CacheKind.FULL, 1, 10.0, 0.0, index_per_token=5.0, index_layers=2),))
    assert linear.concurrency(12_800, 64) == 10
    assert linear.concurrency(12_800, 64, 32) == (12_800 - 640) / 640


def test_a_prefix_that_is_everything_leaves_only_the_pool() -> None:
    found = paged_plan((Growth(CacheKind.FULL, 1, 10.0, 0.0),), 16, 0)
    assert found.concurrency(16_000, 32, 32) == 98 / 160
    assert found.concurrency(160, 32, 32) == 0


def test_the_largest_context_is_the_last_that_still_fits() -> None:
    found = paged_plan((Growth(CacheKind.FULL, 1, 10.0, 0.0),), 16, 0)
    assert found.largest_context(16_000, 2, 10_000) == 800
    assert found.largest_context(16_000, 2, 500) == 500
    assert found.largest_context(0, 1, 500) == 0


def test_a_draft_layer_joins_the_layers_that_keep_the_same() -> None:
    """12 + 1 attention and 36 state layers: groups of 13, three of them for the states (one padded)."""
    items = (
        Growth(CacheKind.STATE, 36, 0.0, 1600.0),
        Growth(CacheKind.FULL, 12, 100.0, 0.0),
        Growth(CacheKind.FULL, 1, 100.0, 0.0),
    )
    found = paged_plan(items, 16, 0)
    assert [(g.kind, g.groups) for g in found.groups] == [(CacheKind.STATE, 3), (CacheKind.FULL, 1)]
    assert found.block_bytes == 13 * 1600


def test_a_recurrent_layer_keeps_a_state_for_each_drafted_token() -> None:
    items = (Growth(CacheKind.STATE, 4, 0.0, 1600.0), Growth(CacheKind.FULL, 4, 100.0, 0.0))
    assert paged_plan(items, 16, 0).need(16) == 2
    assert paged_plan(items, 16, 0, drafted=3).need(16) == 5
