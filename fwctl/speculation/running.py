"""A replay from files to counts: here, in several processes, or on a Ray cluster; the digits are the same."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from fwctl.errors import FwctlError, UsageError
from fwctl.process import Running
from fwctl.speculation.entries import Options
from fwctl.speculation.reading import PART_BYTES, Part, parts, read, read_suite
from fwctl.speculation.replay import Replayer, training
from fwctl.speculation.suffix import SuffixIndex
from fwctl.speculation.tally import Tally, sampled
from fwctl.speculation.tokens import Tokenizer, approximate, exact, load_tokenizers
from fwctl.speculation.trace import Trace, UnusableTraceError
from fwctl.speculation.trace import read as read_trace

if TYPE_CHECKING:
    from fwctl.speculation.endpoint import Asked, Drafter

_WAIT_S = 0.2
NOT_SAMPLED = "not in the sample of --share"
Suite = Mapping[str, Mapping[str, Any]]
Progress = Callable[[int, int], None]


def _silent(done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is replayed and how. folder: where relative names begin. suite: prompt set of bench records.

    part_bytes: plain files are cut into pieces of this size, for processes to share. drafter: a draft
    model that is asked about traces without recorded choices.
    """

    files: tuple[str, ...]
    folder: Path
    options: Options
    suite: str | None = None
    jobs: int = 1
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    part_bytes: int = PART_BYTES
    drafter: Drafter | None = None
    right: Mapping[str, list[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Replayed:
    """Counts, how tokens were counted, the size of the suffix index in tokens, requests to a drafter."""

    tally: Tally
    tokens: str
    index_tokens: int
    asks: int = 0


def tokenizer_of(options: Options, folder: Path) -> Tokenizer:
    """Exact when the options name a tokenizer.json. FwctlError or UsageError as `tokens.exact`."""
    if options.tokenizer is None:
        return approximate()
    return exact(folder / options.tokenizer, load_tokenizers())


def replay(work: Work, engine: str = "local", progress: Progress = _silent) -> Replayed:
    """Build the index, replay every part, add up. Raises UsageError for bad files, FwctlError.

    progress is called with parts done and all parts.
    """
    ray = load_ray() if engine == "ray" else None
    todo = parts(work.files, work.folder, part_bytes=work.part_bytes)
    tokenizer = tokenizer_of(work.options, work.folder)
    index = build_index(work, todo, tokenizer)
    size, asks = len(index.tokens) if index else 0, 0
    if work.drafter is not None:
        asked = ask_drafter(work, todo, tokenizer, work.drafter)
        work, asks = replace(work, right=asked.right), asked.asks
    if ray is not None:
        from fwctl.speculation.cluster import replay_on_ray

        tally = replay_on_ray(work, todo, index, ray, progress)
    elif work.jobs > 1 and len(todo) > 1:
        tally = _in_processes(work, todo, index, progress)
    else:
        tally = replay_parts(work, todo, index, tokenizer, progress)
    return Replayed(tally, tokenizer.about, size, asks)


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
    traces = sample((trace for part in todo for trace in _traces(work, part, suite)), drafter.requests)
    return ask(traces, tokenizer, drafter, work.options.most)


def build_index(work: Work, todo: Sequence[Part], tokenizer: Tokenizer) -> SuffixIndex | None:
    """From the training split, in the order of the files, until the index is full; None when empty."""
    most = work.options.index_tokens
    if not most:
        return None
    suite = read_suite(work.suite, work.folder) if work.suite else None
    texts = training((trace for part in todo for trace in _traces(work, part, suite)), tokenizer)
    index = SuffixIndex.build(texts, most)
    return index if index.places else None


def replay_parts(
    work: Work,
    todo: Sequence[Part],
    index: SuffixIndex | None,
    tokenizer: Tokenizer | None = None,
    progress: Progress = _silent,
) -> Tally:
    """Replay in this process."""
    suite = read_suite(work.suite, work.folder) if work.suite else None
    tokenizer = tokenizer or tokenizer_of(work.options, work.folder)
    replayer = Replayer(work.options, tokenizer, index, work.right)
    for number, part in enumerate(todo, 1):
        for trace in _traces(work, part, suite, replayer.tally):
            replayer.feed(trace)
        progress(number, len(todo))
    return replayer.tally


def _traces(work: Work, part: Part, suite: Suite | None, tally: Tally | None = None) -> Iterator[Trace]:
    """Traces of a part that are in the sample; what is left out is counted in the tally."""
    for item in read(part):
        try:
            trace = read_trace(item, suite)
        except UnusableTraceError as error:
            if tally is not None:
                tally.leave_out(str(error))
            continue
        if sampled(trace.cluster, work.options.share):
            yield trace
        elif tally is not None:
            tally.leave_out(NOT_SAMPLED)


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


def job_of(work: Work, todo: Sequence[Part], has_index: bool) -> dict[str, Any]:
    """What a worker needs to know, as JSON."""
    return {
        "options": work.options.to_json(),
        "folder": str(work.folder),
        "suite": work.suite,
        "parts": [part.to_json() for part in todo],
        "index": "index" if has_index else None,
        "right": dict(work.right),
    }


def _result(child: Running, job: Path) -> Tally:
    path = job.with_suffix(".out")
    if not path.exists():
        lines = child.output()[1].strip().splitlines() or ["no message"]
        raise FwctlError(f"a worker of the replay ended without a result: {lines[-1]}")
    return unpacked(json.loads(path.read_bytes()))


def run_job(
    job: Mapping[str, Any], index: SuffixIndex | None, progress: Progress = _silent
) -> dict[str, Any]:
    """The work of a worker; its result or its error as JSON, see `unpacked`."""
    options = Options.from_json(job["options"])
    work = Work((), Path(job["folder"]), options, job["suite"], right=job["right"])
    todo = [Part(*item) for item in job["parts"]]
    try:
        return {"tally": replay_parts(work, todo, index, progress=progress).to_json()}
    except FwctlError as error:
        usage = isinstance(error, UsageError)
        return {"message": error.message, "next_steps": list(error.next_steps), "usage": usage}


def unpacked(result: Mapping[str, Any]) -> Tally:
    """The tally of a worker; its error is raised again."""
    if "tally" in result:
        return Tally.from_json(result["tally"])
    kind = UsageError if result["usage"] else FwctlError
    raise kind(result["message"], next_steps=result["next_steps"])
