"""Laws of the fit arithmetic: monotone, ordered, and never surprised by a config."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.catalog import accelerators, architectures
from fwctl.fit.architecture import Architecture
from fwctl.fit.check import check, quick
from fwctl.fit.engines import ENGINES
from fwctl.fit.options import fit_request_from_options, understand
from fwctl.fit.parse import architecture_from_config
from fwctl.fit.precision import PRECISIONS
from fwctl.fit.result import FitResult, Verdict

MODELS = [model.hub for model in architectures.models()]
NAMES = [accelerator.name for accelerator in accelerators.ACCELERATORS]
ORDER = (Verdict.FITS, Verdict.TIGHT, Verdict.DOES_NOT_FIT)


@cache
def architecture(name: str) -> Architecture:
    config = architectures.find(name)
    assert config is not None
    return architecture_from_config(config)


def ask(name: str, **options: Any) -> FitResult:
    values = {"accelerator": "H200", "count": 8, "precision": "FP8", "context_tokens": 8192, "concurrency": 1}
    return quick(fit_request_from_options(architecture=architecture(name), **{**values, **options}))


def middle(result: FitResult) -> float:
    assert result.max_concurrency is not None
    return result.max_concurrency.mid


models = st.sampled_from(MODELS)
engines = st.sampled_from(list(ENGINES))


@settings(max_examples=60, deadline=None)
@given(models, engines, st.integers(1, 200_000), st.integers(0, 100_000))
def test_longer_conversations_never_make_room_for_more(
    name: str, engine: str, tokens: int, more: int
) -> None:
    short = middle(ask(name, engine=engine, context_tokens=tokens))
    assert middle(ask(name, engine=engine, context_tokens=tokens + more)) <= short


@settings(max_examples=40, deadline=None)
@given(models, engines, st.integers(1, 1000), st.integers(0, 10_000))
def test_more_conversations_never_make_a_verdict_better(name: str, engine: str, few: int, more: int) -> None:
    if architecture(name).unknown:
        return
    first = ask(name, engine=engine, concurrency=few).verdict
    assert ORDER.index(ask(name, engine=engine, concurrency=few + more).verdict) >= ORDER.index(first)


@settings(max_examples=40, deadline=None)
@given(models, st.sampled_from([1, 2, 4]), st.integers(1, 100_000))
def test_twice_the_gpus_never_hold_fewer(name: str, count: int, tokens: int) -> None:
    one = middle(ask(name, engine="ideal", count=count, context_tokens=tokens))
    assert middle(ask(name, engine="ideal", count=2 * count, context_tokens=tokens)) >= one * (1 - 1e-9)


@settings(max_examples=80, deadline=None)
@given(
    models,
    engines,
    st.sampled_from(NAMES),
    st.tuples(st.sampled_from([1, 2, 4, 8]), st.sampled_from(list(PRECISIONS))),
    st.integers(1, 200_000),
)
def test_low_is_never_above_mid_nor_mid_above_high(
    name: str, engine: str, accelerator: str, layout: tuple[int, str], tokens: int
) -> None:
    count, precision = layout
    result = ask(
        name, engine=engine, accelerator=accelerator, count=count, precision=precision, context_tokens=tokens
    )
    for band in (result.kv_pool, result.max_concurrency, result.kv_cache_tokens):
        assert band is not None
        assert band.low <= band.mid <= band.high
    assert result.overhead is not None
    assert result.overhead.low >= result.overhead.mid >= result.overhead.high


@settings(max_examples=30, deadline=None)
@given(models, st.integers(1, 64))
def test_the_largest_context_fits_and_one_more_token_does_not(name: str, concurrency: int) -> None:
    if architecture(name).unknown:
        return
    result = check(
        fit_request_from_options(
            architecture=architecture(name),
            accelerator="B200",
            count=8,
            precision="FP8",
            context_tokens=1024,
            concurrency=concurrency,
            engine="vllm",
        )
    )
    most, limit = result.max_context_tokens, architecture(name).max_context
    assert most is not None
    if most:
        at = ask(name, accelerator="B200", context_tokens=most, concurrency=concurrency, engine="vllm")
        assert at.verdict is Verdict.FITS
    if limit is None or most < limit:
        over = ask(name, accelerator="B200", context_tokens=most + 1, concurrency=concurrency, engine="vllm")
        assert over.verdict is not Verdict.FITS


texts = st.text(max_size=8)
junk = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        texts,
        st.sampled_from(["*", "M", "full"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=8,
)


def keys_of(config: dict[str, Any]) -> list[tuple[str, ...]]:
    paths: list[tuple[str, ...]] = []
    for key, value in config.items():
        paths.append((key,))
        if isinstance(value, dict):
            paths += [(key, *path) for path in keys_of(value)]
    return paths


@settings(max_examples=250, deadline=None)
@given(models, st.data())
def test_a_damaged_config_is_understood_or_names_a_field(name: str, data: st.DataObject) -> None:
    config = copy.deepcopy(dict(architectures.find(name) or {}))
    for _ in range(data.draw(st.integers(1, 3))):
        paths = keys_of(config)
        if not paths:
            break
        path = data.draw(st.sampled_from(paths))
        place: Any = config
        for part in path[:-1]:
            place = place[part]
        if not isinstance(place, dict):
            continue
        if data.draw(st.booleans()):
            place[path[-1]] = data.draw(junk)
        else:
            place.pop(path[-1], None)
    found, reasons = understand(config)
    if found is None:
        assert reasons
        assert ": " in reasons[0]
        return
    result = quick(
        fit_request_from_options(
            architecture=found,
            accelerator="H200",
            count=8,
            precision="FP8",
            context_tokens=8192,
            concurrency=1,
        )
    )
    assert result.verdict in Verdict


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted({k for m in architectures.models() for k in m.config})), junk))
def test_a_config_of_junk_never_raises(config: dict[str, Any]) -> None:
    found, reasons = understand(config)
    assert found is not None or reasons


@settings(max_examples=60, deadline=None)
@given(junk)
def test_a_quantisation_of_junk_never_raises(value: Any) -> None:
    base = dict(architectures.find("qwen3-8b") or {})
    for field in ("ignore", "config_groups", "quantized_layers", "weight_block_size", "quant_algo", "bits"):
        understand({**base, "quantization_config": {"quant_method": "modelopt", field: value}})
    understand(base, {"quantization": value})
    understand(base, value)
