"""What is replayed, in one process; and the same as a job in JSON for a process or a node of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwctl.errors import FwctlError, UsageError
from fwctl.speculation.entries import Options
from fwctl.speculation.reading import PART_BYTES, Part, read, read_suite
from fwctl.speculation.replay import Replayer
from fwctl.speculation.suffix import SuffixIndex
from fwctl.speculation.tally import Tally, sampled
from fwctl.speculation.tokens import Tokenizer, approximate, exact, load_tokenizers
from fwctl.speculation.trace import Trace, UnusableTraceError
from fwctl.speculation.trace import read as read_trace

if TYPE_CHECKING:
    from fwctl.speculation.endpoint import Drafter

NOT_SAMPLED = "not in the sample of --share"
Suite = Mapping[str, Mapping[str, Any]]
Progress = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
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


def tokenizer_of(options: Options, folder: Path) -> Tokenizer:
    """Exact when the options name a tokenizer.json. FwctlError or UsageError as `tokens.exact`."""
    if options.tokenizer is None:
        return approximate()
    return exact(folder / options.tokenizer, load_tokenizers())


def replay_parts(
    work: Work,
    todo: Sequence[Part],
    index: SuffixIndex | None,
    tokenizer: Tokenizer | None = None,
    progress: Progress = silent,
) -> Tally:
    """Replay in this process."""
    suite = read_suite(work.suite, work.folder) if work.suite else None
    tokenizer = tokenizer or tokenizer_of(work.options, work.folder)
    replayer = Replayer(work.options, tokenizer, index, work.right)
    for number, part in enumerate(todo, 1):
        for trace in traces_of(work, part, suite, replayer.tally):
            replayer.feed(trace)
        progress(number, len(todo))
    return replayer.tally


def traces_of(work: Work, part: Part, suite: Suite | None, tally: Tally | None = None) -> Iterator[Trace]:
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


def run_job(job: Mapping[str, Any], index: SuffixIndex | None, progress: Progress = silent) -> dict[str, Any]:
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
