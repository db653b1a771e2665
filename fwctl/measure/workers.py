"""A level of a run made by processes of their own, while this one collects, shows and watches."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from fwctl.errors import FwctlError
from fwctl.measure import worker
from fwctl.measure.lines import parse
from fwctl.measure.load import Share
from fwctl.measure.part import Made, Part
from fwctl.process import Completed, Graces, Running

READY_S = 60.0
LEAD_S = 0.05  # between the word to start and the start, so that every worker has read it
POLL_S = 0.2
# A worker that is asked to end writes what it has; it may have thousands of connections to close.
GRACES = Graces(interrupt_s=10.0)

OnRow = Callable[[Mapping[str, Any]], None]
Idle = Callable[[], None]


class Follower:
    """Reads a file that grows, whole lines only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self._rest = b""

    def lines(self) -> list[bytes]:
        """What came since the last time, each with its line end."""
        if self._file is None:
            if not self._path.exists():
                return []
            self._file = self._path.open("rb")
        *found, self._rest = (self._rest + self._file.read()).split(b"\n")
        return [line + b"\n" for line in found]

    def pass_on(self, file: IO[bytes], on_row: OnRow) -> None:
        """Append to `file` what came since the last time, and tell of each record in it."""
        for line in self.lines():
            file.write(line)
            if (row := parse(line)) is not None:
                on_row(row)

    def close(self) -> None:
        """Close the file, if it was ever there."""
        if self._file is not None:
            self._file.close()


def perform(
    part: Part, count: int, made: Made, environ: Mapping[str, str], *, on_row: OnRow, idle: Idle
) -> None:
    """Make one level with `count` workers and append their records to `part.records`.

    `idle` is called several times a second. Raises FwctlError when a worker fails; after Ctrl-C
    `made.interrupted` is set and everything that was done is kept.
    """
    with (
        TemporaryDirectory(prefix="fwctl-") as text,
        part.records.open("ab") as file,
        contextlib.ExitStack() as stack,
    ):
        folder = Path(text)
        parts = [
            replace(part, records=folder / f"{number}.jsonl", share=Share(number, count))
            for number in range(count)
        ]
        followers = [Follower(item.records) for item in parts]
        for follower in followers:
            stack.callback(follower.close)

        def collect() -> None:
            for follower in followers:
                follower.pass_on(file, on_row)
            file.flush()
            idle()

        running = _start(parts, folder, environ)
        try:
            _go(running, folder / "go")
            while not _over(running, POLL_S / count):
                collect()
        except KeyboardInterrupt:
            made.interrupted = True
        finally:
            ended = _stop(running)
            collect()
    for item in ended:
        made.merge(result_of(item, made.interrupted))


def _start(parts: Sequence[Part], folder: Path, environ: Mapping[str, str]) -> list[Running]:
    """The workers; their keys go by the environment, never by file or argument."""
    env = {**environ, worker.SECRETS: worker.secrets_of(parts[0])}
    running: list[Running] = []
    try:
        for part in parts:
            path = part.records.with_suffix(".json")
            path.write_text(json.dumps(worker.to_json(part, folder / "go")), encoding="utf-8")
            argv = [sys.executable, "-m", "fwctl.measure.worker", str(path)]
            running.append(Running(argv, env=env, graces=GRACES))
    except BaseException:
        _stop(running)
        raise
    return running


def _go(running: Sequence[Running], go: Path) -> None:
    """Wait until every worker is ready, then tell them the common start."""
    for item in running:
        while not item.output()[0].startswith("ready"):
            if item.ended(POLL_S / 10):
                return  # its last line says why
            if item.seconds > READY_S:
                raise FwctlError(
                    "a worker did not start in time", next_steps=["run it on a machine with less load"]
                )
    fresh = go.with_suffix(".new")
    fresh.write_text(repr(time.monotonic() + LEAD_S))
    fresh.replace(go)


def _over(running: Sequence[Running], wait_s: float) -> bool:
    """True when all have ended, or one has failed; then the rest would make the wrong load."""
    ended = [item for item in running if item.ended(wait_s)]
    return len(ended) == len(running) or any(item.stop().returncode for item in ended)


def _stop(running: Sequence[Running]) -> list[Completed]:
    """End all at once, so that none goes on with a load of its own."""
    if not running:
        return []
    with ThreadPoolExecutor(len(running)) as pool:
        return list(pool.map(Running.stop, running))


def result_of(ended: Completed, interrupted: bool) -> Made:
    """What a worker said at its end; one that was interrupted before it was ready has nothing to say.

    Raises FwctlError with its own words when it failed.
    """
    try:
        row = json.loads(ended.stdout.rsplit("\n", 2)[-2])
        if "error" not in row:
            return worker.made_from_json(row)
        why = str(row["error"])
    except (ValueError, LookupError, TypeError):
        why = (ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"])[-1]
    if interrupted:
        return Made(interrupted=True)
    raise FwctlError(f"a worker failed: {why}", next_steps=["--resume DIR goes on with the run"])
