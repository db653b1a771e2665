"""What fine-tuning leaves behind: a fingerprint of the data, the tuned model, and how well it drafts.

A dataset is remembered by a sketch of its word pairs, never by its text. A finished supervised job's
output model exists from then on. How close the data is to a text is the share of the text's word pairs
that the data has; the sketch keeps the smallest hashes (bottom-k), which estimates that share.
"""

from __future__ import annotations

import itertools
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from fwctl.simulator.platform import names
from fwctl.simulator.platform.world import World
from fwctl.simulator.timing import rfc3339

Doc = dict[str, Any]

JOBS = "supervisedFineTuningJobs"
_SKETCH = 2048
_WORD = re.compile(r"\w+|[^\w\s]")


def _pairs(text: str) -> Iterator[int]:
    words = _WORD.findall(text.lower())
    for first, second in itertools.pairwise(words):
        yield zlib.crc32(f"{first} {second}".encode("utf-8", "surrogatepass"))


def fingerprint(texts: Iterable[str]) -> list[int]:
    """The smallest hashes of the word pairs of all texts, in order."""
    found: set[int] = set()
    for text in texts:
        found.update(_pairs(text))
        if len(found) > 4 * _SKETCH:
            found = set(sorted(found)[:_SKETCH])
    return sorted(found)[:_SKETCH]


def remember(lines: Iterable[str]) -> Doc:
    """What a dataset of JSON lines leaves in its hidden part: its sketch and the number of examples."""
    count = 0

    def texts() -> Iterator[str]:
        nonlocal count
        for line in lines:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            count += 1
            yield from _texts_of(row)

    sketch = fingerprint(texts())
    return {"fingerprint": sketch, "exampleCount": count}


def _texts_of(value: Any) -> Iterator[str]:
    """Every text of an example that a model would say or see, whatever the format."""
    rows = [value]
    while rows:
        row = rows.pop()
        if isinstance(row, str):
            yield row
        elif isinstance(row, list | dict):
            rows += row.values() if isinstance(row, dict) else row


def closeness(sketch: list[int], text: str) -> float:
    """Share of the text's word pairs that the data has, 0 to 1; 0 for a text too short to tell."""
    edge = sketch[-1] if len(sketch) == _SKETCH else 2**32
    known = set(sketch)
    seen = {pair for pair in _pairs(text) if pair <= edge}
    return sum(pair in known for pair in seen) / len(seen) if seen else 0.0


def _ended(world: World, job: Doc) -> bool:
    return bool(job["state"] == "JOB_STATE_RUNNING" and world.now >= _end_s(world, job))


def _end_s(world: World, job: Doc) -> float:
    return float(job["_sim"]["createdS"]) + world.profile.number("job_s")


def _output(job: Doc) -> str:
    account = names.account_of(job["name"])
    return str(job.get("outputModel") or names.join(account, "models", f"{names.id_of(job['name'])}-model"))


def _model(world: World, job: Doc) -> Doc:
    dataset = world.tx.get("datasets", str(job.get("dataset", ""))) or {}
    done = rfc3339(_end_s(world, job))
    return {
        "name": _output(job),
        "displayName": job.get("displayName", ""),
        "createTime": done,
        "updateTime": done,
        "kind": "HF_PEFT_ADDON",
        "state": "READY",
        "status": {"code": "OK", "message": ""},
        "public": False,
        "fineTuningJob": job["name"],
        "peftDetails": {
            "baseModel": job.get("baseModel", ""),
            "r": int(job.get("loraRank") or 8),
            "targetModules": ["q_proj", "k_proj", "v_proj", "o_proj"],
        },
        "_sim": {"fingerprint": dataset.get("_sim", {}).get("fingerprint", [])},
    }


def outputs(world: World, account: str) -> dict[str, Doc]:
    """Output models of an account's finished jobs, by name."""
    jobs = (job for job in world.tx.all(JOBS) if names.account_of(job["name"]) == account)
    return {_output(job): _model(world, job) for job in jobs if _ended(world, job)}
