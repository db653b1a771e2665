"""Speed, linearity and memory of a replay of generated traces. Run: `python -m benchmarks.trace_replay`.

Each figure is of one process on one core. Traces are read from a JSONL file, tokenised by the
approximation, and replayed through the whole grid of one kind of source; tokens are those of the answers.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

from fwctl.speculation.entries import Options
from fwctl.speculation.running import Work, replay

BAR_TOKENS_PER_MINUTE = 1_000_000
BAR_LINEAR = 1.25  # time a token at ten times the traffic, against the small run
BAR_MEMORY_BYTES = 64 * 2**20  # further memory at ten times the traffic
TRACES = 300  # of 250 answer tokens; the large run has ten times as many
INDEX_TOKENS = 20_000  # filled by the small run already
KINDS = {
    "n-gram": Options(fields=(), index_tokens=0),
    "suffix": Options(fields=(), lengths=(2, 3, 4, 6), index_tokens=INDEX_TOKENS),
    "all sources": Options(index_tokens=INDEX_TOKENS),
}


def traces(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Half of the answers are free, half quote their prompt; word frequencies follow Zipf's law."""
    random = Random(seed)
    words = [
        "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(2, 9))) for _ in range(5000)
    ]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    for number in range(count):
        prompt = random.choices(words, weights, k=200)
        answer = random.choices(words, weights, k=250)
        if number % 2:
            answer[20:170] = prompt[30:180]
        yield {
            "id": f"{number}",
            "type": "quote" if number % 2 else "chat",
            "prompt": " ".join(prompt),
            "prediction": " ".join(prompt),
            "completion": " ".join(answer),
        }


def write(path: Path, count: int) -> None:
    with path.open("w") as file:
        file.writelines(json.dumps(item) + "\n" for item in traces(count, 1))


def measure(path: str, options: Options) -> tuple[int, float, int]:
    """Answer tokens, seconds of CPU, and the highest memory of a fresh process in bytes."""
    begun = time.process_time()
    counts = replay(Work((path,), Path(path).parent, options)).tally.types.values()
    used = time.process_time() - begun
    scale = 1 if sys.platform == "darwin" else 1024
    tokens = sum(sum(item.tokens.values()) for item in counts)
    return tokens, used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def fresh(path: Path, options: Options) -> tuple[int, float, int]:
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (str(path), options))


def main() -> int:
    """0 when the bars hold on this machine, 1 when not."""
    held = True
    with tempfile.TemporaryDirectory() as name:
        small, large = Path(name) / "small.jsonl", Path(name) / "large.jsonl"
        write(small, TRACES)
        write(large, 10 * TRACES)
        for kind, options in KINDS.items():
            few, few_s, few_bytes = fresh(small, options)
            many, many_s, many_bytes = fresh(large, options)
            rate, slope = many / many_s * 60, (many_s / many) / (few_s / few)
            more = many_bytes - few_bytes
            held = held and rate >= BAR_TOKENS_PER_MINUTE and slope <= BAR_LINEAR and more <= BAR_MEMORY_BYTES
            print(
                f"{kind:12} {many:,} tokens in {many_s:.1f} s: {rate / 1e6:.1f} M tokens/minute and core "
                f"(bar 1.0); time a token at 10 x the traffic {slope:.2f} x (bar {BAR_LINEAR}); "
                f"memory {many_bytes / 2**20:.0f} MiB, {more / 2**20:+.0f} at 10 x (bar +64)"
            )
    return 0 if held else 1


if __name__ == "__main__":
    raise SystemExit(main())
