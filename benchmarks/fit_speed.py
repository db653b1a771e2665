"""CPU time of one fit check and of a matrix of 1,000 combinations.

    python -m benchmarks.fit_speed

Bars: one check at most 50 ms beyond start-up, 1,000 combinations at most 1 s. Exit 1 when missed.
"""

from __future__ import annotations

import itertools
import sys
import time

from fwctl.catalog import accelerators, architectures
from fwctl.fit.check import check, quick
from fwctl.fit.options import fit_request_from_options
from fwctl.fit.parse import architecture_from_config

MODELS = ("deepseek-ai/DeepSeek-V3.2", "meta-llama/Llama-3.1-405B-Instruct", "Qwen/Qwen3.5-122B-A10B")


def one_check_s(name: str) -> float:
    """Understanding the config, the check, its details and its alternatives."""
    config = architectures.find(name)
    assert config is not None
    start = time.process_time()
    request = fit_request_from_options(
        config=config, accelerator="H100", count=8, precision="FP8", context_tokens=32768, concurrency=64
    )
    check(request).to_json()
    return time.process_time() - start


def matrix_s(name: str) -> float:
    """13 accelerators × 7 counts × 11 contexts: 1,001 combinations."""
    config = architectures.find(name)
    assert config is not None
    architecture = architecture_from_config(config)
    names = [accelerator.name for accelerator in accelerators.ACCELERATORS]
    start = time.process_time()
    for accelerator, count, step in itertools.product(names, range(1, 8), range(1, 12)):
        quick(
            fit_request_from_options(
                architecture=architecture,
                accelerator=accelerator,
                count=count,
                precision="FP8",
                context_tokens=4096 * step,
                concurrency=1,
            )
        ).to_json()
    return time.process_time() - start


def main() -> int:
    single = max(min(one_check_s(name) for _ in range(5)) for name in MODELS)
    many = max(min(matrix_s(name) for _ in range(3)) for name in MODELS)
    print(f"one check: {1000 * single:.1f} ms, bar 50 ms: {'holds' if single <= 0.05 else 'MISSED'}")
    print(f"1,001 combinations: {many:.2f} s, bar 1 s: {'holds' if many <= 1 else 'MISSED'}")
    return 0 if single <= 0.05 and many <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
