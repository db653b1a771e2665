"""A replay from files to counts: here, in several processes, or on a Ray cluster; the digits are the same."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from fwctl.errors import FwctlError, UsageError
from fwctl.process import Running
from fwctl.speculation.job import (
    Progress,
    Work,
    job_of,
    replay_parts,
    silent,
    tokenizer_of,
    traces_of,
    unpacked,
)
from fwctl.speculation.reading import HELP, Part, parts, read_suite
from fwctl.speculation.replay import training
from fwctl.speculation.suffix import SuffixIndex
from fwctl.speculation.tally import Tally
from fwctl.speculation.tokens import Tokenizer

if TYPE_CHECKING:
    from fwctl.speculation.endpoint import Asked, Drafter

__all__ = ["Replayed", "Work", "replay"]

_WAIT_S = 0.2
_NAMED = 3  # files in a message


@dataclass(frozen=True, slots=True)
class Replayed:
    """Counts, how tokens were counted, the size of the suffix index in tokens, requests to a drafter, and how
    many traces it was too slow for."""

    tally: Tally
    tokens: str
    index_tokens: int
    asks: int = 0
    unasked: int = 0


def replay(work: Work, engine: str = "local", progress: Progress = silent) -> Replayed:
    """Build the index, replay every part, add up. Raises UsageError for bad files and for files without
    any request that can be replayed, FwctlError.

    progress is called with parts done and all parts.
    """
    ray = load_ray() if engine == "ray" else None
    todo = parts(work.files, work.folder, part_bytes=work.part_bytes)
    tokenizer = tokenizer_of(work.options, work.folder)
    index = build_index(work, todo, tokenizer)
    size, asks, unasked = len(index.tokens) if index else 0, 0, 0
    if work.drafter is not None:
        asked = ask_drafter(work, todo, tokenizer, work.drafter)
        work, asks, unasked = replace(work, right=asked.right), asked.asks, asked.left_out
    if ray is not None:
        from fwctl.speculation.cluster import replay_on_ray

        tally = replay_on_ray(work, todo, index, ray, progress)
    elif work.jobs > 1 and len(todo) > 1:
        tally = _in_processes(work, todo, index, progress)
    else:
        tally = replay_parts(work, todo, index, tokenizer, progress)
    if not tally.types:
        raise _nothing(work, tally)
    return Replayed(tally, tokenizer.about, size, asks, unasked)


def _nothing(work: Work, tally: Tally) -> UsageError:
    why = "; ".join(f"{count:,} x {reason}" for reason, count in sorted(tally.left_out.items()))
    names = ", ".join(work.files[:_NAMED]) + " ..." * (len(work.files) > _NAMED)
    return UsageError(f"{names}: no request with an answer ({why or 'no lines'})", next_steps=[HELP])


def load_ray() -> Any:
    """The package. FwctlError without the extra."""
    try:
        return import_module("ray")
    except ImportError:
        raise FwctlError(
            "--engine ray needs Ray, which is not installed",
            next_steps=["pip install 'fwctl[cluster]'", "or --jobs N on one machine"],
        ) from None


def ask_drafter(work: Work, todo: Sequence[Part], tokenizer: Tokenizer, drafter: Drafter) -> Asked:
    """First choices of a draft model for a sample of the traces. NetworkError, AuthError."""
    from fwctl.speculation.endpoint import ask, sample

    suite = read_suite(work.suite, work.folder) if work.suite else None
    traces = sample((trace for part in todo for trace in traces_of(work, part, suite)), drafter.requests)
    return ask(traces, tokenizer, drafter, work.options.most)


def build_index(work: Work, todo: Sequence[Part], tokenizer: Tokenizer) -> SuffixIndex | None:
    """From the training split, in the order of the files, until the index is full; None when empty."""
    most = work.options.index_tokens
    if not most:
        return None
    suite = read_suite(work.suite, work.folder) if work.suite else None
    texts = training((trace for part in todo for trace in traces_of(work, part, suite)), tokenizer)
    index = SuffixIndex.build(texts, most)
    return index if index.places else None


def _in_processes(work: Work, todo: Sequence[Part], index: SuffixIndex | None, progress: Progress) -> Tally:
    """Every process takes each n-th part; a result is a file, since there may be much of it.

    The first error ends all. A worker prints a line for each part that it has done.
    """
    with TemporaryDirectory(prefix="fwctl-replay-") as name, ExitStack() as stack:
        folder = Path(name)
        if index is not None:
            (folder / "index").write_bytes(index.to_bytes())
        running: list[tuple[Running, Path]] = []
        for number in range(min(work.jobs, len(todo))):
            job = folder / f"job{number}.json"
            job.write_text(json.dumps(job_of(work, todo[number :: work.jobs], index is not None)))
            argv = [sys.executable, "-m", "fwctl.speculation.worker", str(job)]
            running.append((stack.enter_context(Running(argv, env=work.environ, cwd=work.folder)), job))
        tally, children = Tally(), list(running)
        while running:
            running[0][0].ended(_WAIT_S)
            for child, job in [item for item in running if item[0].ended()]:
                running.remove((child, job))
                tally.merge(_result(child, job))
            progress(sum(child.output()[0].count("\n") for child, _ in children), len(todo))
        return tally


def _result(child: Running, job: Path) -> Tally:
    path = job.with_suffix(".out")
    if not path.exists():
        lines = child.output()[1].strip().splitlines() or ["no message"]
        raise FwctlError(f"a worker of the replay ended without a result: {lines[-1]}")
    return unpacked(json.loads(path.read_bytes()))
