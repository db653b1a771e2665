"""One side of a comparison: a target of a run, read from its folder."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError
from fwctl.measure.lines import parse
from fwctl.measure.table import METRICS, NUMBERS, Row, Table
from fwctl.spec.closest import did_you_mean

_NEEDED = ("target", "prompt_id", "repeat", "measured", "error_class", *METRICS)
LARGEST_SUMMARY_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class RunArm:
    """`keys`: for each row of the table a number that is the same for the same prompt, repeat and load;
    `prompts`: one that is the same for the same prompt. Both hold within one process only."""

    name: str
    target: str
    summary: Mapping[str, Any]
    table: Table
    keys: array[int]
    prompts: array[int]
    repeats: array[int]

    def by_key(self, *, good: bool) -> dict[int, int]:
        """Row by key; the last attempt counts. good: only requests that went well."""
        rows = self.table.good(self.table.all()) if good else self.table.all()
        return {self.keys[row]: row for row in rows}

    @property
    def figures(self) -> Mapping[str, Any]:
        """What summary.json says about this target; empty when it says nothing."""
        found = self.summary.get("targets")
        item = found.get(self.target) if isinstance(found, Mapping) else None
        return item if isinstance(item, Mapping) else {}

    @property
    def cached_share(self) -> float | None:
        """Cached prompt tokens over prompt tokens of the requests that tell both."""
        prompt, cached = self.table.numbers["prompt_tokens"], self.table.numbers["cached_tokens"]
        known = [row for row in self.table.all() if not isnan(cached[row]) and prompt[row] > 0]
        total = sum(prompt[row] for row in known)
        return sum(cached[row] for row in known) / total if total else None


def read_arm(cwd: Path, text: str) -> RunArm:
    """`DIR` or `DIR:TARGET`. Raises UsageError for a folder that is no run or holds several targets."""
    folder, wanted = cwd / text, ""
    if not folder.is_dir() and ":" in text:
        name, _, wanted = text.rpartition(":")
        folder = cwd / name
    summary = read_summary(folder)
    arm = _arms(folder, text, summary, wanted)
    if not len(arm.table):
        raise UsageError(f"{text} holds no measured records", next_steps=[f"see {folder / 'summary.json'}"])
    return arm


def _arms(folder: Path, text: str, summary: Mapping[str, Any], wanted: str) -> RunArm:
    table, keys, prompts, repeats = Table(), array("q"), array("q"), array("q")
    seen: dict[str, None] = {}
    for row in read_records(folder / "records.jsonl"):
        target = str(row["target"])
        seen.setdefault(target)
        if not row["measured"] or target != (wanted or next(iter(seen))):
            continue
        table.add(row)
        load = (row.get("concurrency"), row.get("rate_per_s"))
        keys.append(hash((row["prompt_id"], row["repeat"], load)))
        prompts.append(hash(row["prompt_id"]))
        repeats.append(int(row["repeat"]))
    names = sorted(seen)
    if not wanted and len(names) > 1:
        raise UsageError(f"{text} holds several targets", next_steps=[f"{text}:{name}" for name in names])
    if wanted and wanted not in seen:
        near = did_you_mean(wanted, names)
        raise UsageError(
            f"{text} holds no records; its targets are: {', '.join(names) or 'none'}",
            next_steps=[near] if near else [],
        )
    return RunArm(text, wanted or (names[0] if names else ""), summary, table, keys, prompts, repeats)


def read_summary(folder: Path) -> dict[str, Any]:
    """summary.json of a run. Raises UsageError."""
    path = folder / "summary.json"
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"cannot read {path}: it is no regular file")
        with path.open("rb") as file:
            found = json.loads(file.read(LARGEST_SUMMARY_BYTES))
    except OSError as error:
        steps = ["fwctl bench run --out DIR"] if isinstance(error, FileNotFoundError) else []
        raise UsageError(f"cannot read {path}: {error.strerror or error}", next_steps=steps) from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is not JSON") from None
    if (
        not isinstance(found, dict)
        or not isinstance(found.get("suite_digest"), str)
        or not isinstance(found.get("invalid_reasons"), list)
    ):
        raise UsageError(f"{path} is not the summary of a run")
    return found


def read_records(path: Path) -> Iterator[Row]:
    """Records one by one; a last line that was cut off is left out. Raises UsageError."""
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"cannot read {path}: it is no regular file")
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                row = parse(line)
                if row is None and not line.endswith(b"\n"):
                    return
                if row is None or not _usable(row):
                    raise UsageError(f"{path}:{number}: this is not a record of a run")
                yield row
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None


def _usable(row: Row) -> bool:
    """True when everything that is computed with has the type it should have."""
    return (
        all(key in row for key in _NEEDED)
        and isinstance(row["repeat"], int)
        and isinstance(row["prompt_id"], str)
        and all(_is_number(row.get(name)) for name in _NUMBERS)
        and all(isinstance(row.get(name), str | None) for name in _TEXTS)
    )


def _is_number(value: object) -> bool:
    """Null, or a finite number that is no nonsense."""
    return value is None or (isinstance(value, int | float) and abs(value) < LARGEST)


LARGEST = 1e15
_NUMBERS = (*NUMBERS, "repeat", "concurrency", "rate_per_s")
_TEXTS = ("error_class", "limited_by", "finish_reason", "tokens_source", "type")
