"""Folders of runs for tests, with log-normal times from a seed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import exp
from pathlib import Path
from random import Random
from typing import Any

from fwctl.measure.summary import Facts, summarise


def rows(
    n: int = 100,
    *,
    factor: float = 1.0,
    seed: int = 1,
    repeats: int = 1,
    target: str = "t",
    failures: int = 0,
    **more: Any,
) -> list[dict[str, Any]]:
    """Most of the variance is that of the prompt and the same for every seed. failures: the first prompts."""
    prompts, noise = Random(99), Random(seed)
    middles = [prompts.gauss(0, 0.45) for _ in range(n)]
    found = []
    for repeat in range(repeats):
        for number in range(n):
            ttft = factor * 0.3 * exp(middles[number] + noise.gauss(0, 0.22))
            failed = number < failures
            found.append(
                {
                    "target": target,
                    "prompt_id": f"p{number}",
                    "repeat": repeat,
                    "type": ("chat", "edit")[number % 2],
                    "measured": True,
                    "started_at": f"2026-12-01T00:{number // 60 % 60:02}:{number % 60:02}+00:00",
                    "concurrency": 8,
                    "error_class": "rate_limited" if failed else None,
                    "dispatch_lag_s": 0.001,
                    "queue_lag_s": 0.001,
                    "ttft_s": None if failed else ttft,
                    "ttfv_s": None if failed else ttft,
                    "total_s": None if failed else ttft + factor,
                    "tpot_s": None if failed else factor * 0.01 * exp(noise.gauss(0, 0.1)),
                    "done_s": 2.0,
                    "prompt_tokens": 900,
                    "cached_tokens": 300,
                    "output_tokens": 100,
                    "tokens_source": "usage",
                    **more,
                }
            )
    return found


def save(
    folder: Path,
    records: Sequence[Mapping[str, Any]],
    digest: str = "sha256:d",
    facts: Mapping[str, Facts] | None = None,
    **summary: Any,
) -> str:
    """Write records.jsonl and summary.json; returns the name of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "records.jsonl").write_text("".join(json.dumps(item) + "\n" for item in records))
    found = summarise(records, [0.001], suite_digest=digest, open_loop=False, facts=facts)
    (folder / "summary.json").write_text(json.dumps({**found, **summary}))
    return folder.name
