"""From recorded requests to a prompt set, one at a time: a million of them take no more memory than ten."""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, TextIO

from fwctl.errors import UsageError
from fwctl.measure.jsonl import MAX_LINE_BYTES, numbered_lines, parse_line, wrong
from fwctl.measure.seen import Seen
from fwctl.measure.sources import SOURCES, Drawn, UnusableItemError
from fwctl.records.atomic import replacing
from fwctl.spec.closest import did_you_mean, listed

_CHUNK_BYTES = 1 << 16
_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Options:
    """limit: stop after so many. sample: that many, drawn evenly by the seed. type: instead of that of the
    source. max_tokens: where a request has none. expected: keep the recorded answer as `expected`."""

    source: str
    limit: int | None = None
    sample: int | None = None
    seed: int = 1
    type: str | None = None
    max_tokens: int | None = None
    expected: bool = False


@dataclass(slots=True)
class Counts:
    """What became of the items."""

    read: int = 0
    duplicates: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    written: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "read": self.read,
            "written": self.written,
            "duplicates": self.duplicates,
            "skipped": dict(self.skipped.most_common()),
            "left_out_keys": dict(self.left_out.most_common()),
            "types": dict(self.types.most_common()),
        }


def import_suite(path: Path, out: Path, options: Options) -> Counts:
    """Write the prompts of `path` to `out`. Raises UsageError."""
    if options.source not in SOURCES:
        near = did_you_mean(options.source, SOURCES) or listed(SOURCES, "")
        raise UsageError(f"--from does not know {options.source[:80]!r}", next_steps=[near])
    counts = Counts()
    lines = _unique(path, options, counts)
    if options.sample is not None:
        lines = _sampled(lines, options.sample, options.seed)
    try:
        if out.exists() and out.samefile(path):
            raise UsageError("--out is the file that is read")
        with replacing(out) as file:
            for row in lines:
                file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
                counts.types[row["type"]] += 1
                counts.written += 1
                if counts.written == options.limit:
                    break
            if not counts.written:
                raise _nothing(path, counts)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror or error}") from None
    return counts


def _nothing(path: Path, counts: Counts) -> UsageError:
    """The reason of most items is the reason of the whole."""
    reason, number = next(iter(counts.skipped.most_common(1)), ("it is empty", 0))
    told = f"{path} holds no request that can be used: {reason}" + (f" ({number} times)" if number else "")
    return UsageError(told, next_steps=[f"--from is one of {', '.join(SOURCES)}"])


def _unique(path: Path, options: Options, counts: Counts) -> Iterator[dict[str, Any]]:
    """Rows of the suite, each request once and each id once."""
    draw, bodies, names = SOURCES[options.source], Seen(), Seen()
    for item in items(path):
        counts.read += 1
        try:
            drawn = draw(item)
        except UnusableItemError as error:
            counts.skipped[str(error)] += 1
            continue
        counts.left_out.update(drawn.left_out)
        row = _row(drawn, options)
        content = json.dumps(row, sort_keys=True).encode()
        if not bodies.add(content):
            counts.duplicates += 1
            continue
        short = sha256(content).hexdigest()
        name = drawn.name or f"r-{short[:12]}"
        if not names.add(name):
            name = f"{name}-{short[:12]}"
            names.add(name)
        yield {"id": name, **row}


def _row(drawn: Drawn, options: Options) -> dict[str, Any]:
    body = dict(drawn.body)
    if options.max_tokens is not None:
        body.setdefault("max_tokens", options.max_tokens)
    row = {"type": options.type or drawn.type, **body}
    if options.expected and drawn.answer is not None:
        row["expected"] = drawn.answer
    return row


def _sampled(rows: Iterable[dict[str, Any]], size: int, seed: int) -> Iterator[dict[str, Any]]:
    """`size` of the rows, each with the same chance, in their order (reservoir sampling)."""
    random = Random(seed)  # noqa: S311 - a reproducible choice, not a secret
    kept: list[tuple[int, dict[str, Any]]] = []
    for at, row in enumerate(rows):
        if at < size:
            kept.append((at, row))
        elif (place := random.randrange(at + 1)) < size:
            kept[place] = (at, row)
    return (row for _, row in sorted(kept, key=lambda item: item[0]))


def items(path: Path) -> Iterator[Any]:
    """Values of a file: one a line, or the entries of one JSON array. Raises UsageError."""
    if _is_array(path):
        yield from _array(path)
        return
    for number, line in numbered_lines(path):
        yield parse_line(path, number, line)


def _is_array(path: Path) -> bool:
    """True when the first thing in the file opens a list."""
    if not path.is_file():
        return False  # what is wrong with it is said where lines are read
    try:
        with path.open("rb") as file:
            return file.read(1024).removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")
    except OSError:
        return False


def _array(path: Path) -> Iterator[Any]:
    """Entries of one array, read piece by piece."""
    decoder, text, entry = json.JSONDecoder(), "", 0
    with path.open("r", encoding="utf-8-sig") as file:
        text = _more(file, path, 1).lstrip(_SPACE)[1:]
        while not (text := text.lstrip(_SPACE + ",")).startswith("]"):
            try:
                value, end = decoder.raw_decode(text)
            except (ValueError, RecursionError):
                value, end = None, 0
            if end and (end < len(text) or not isinstance(value, int | float)):
                entry += 1
                yield value
                text = text[end:]
                continue
            if len(text) > MAX_LINE_BYTES:
                raise wrong(path, 1, f"entry {entry + 1} of the list is no JSON, or longer than 16 MiB")
            more = _more(file, path, entry + 1, len(text))
            if not more:
                raise wrong(path, 1, f"the list ends in its entry {entry + 1}, or that entry is no JSON")
            text += more


def _more(file: TextIO, path: Path, entry: int, least: int = 0) -> str:
    try:
        return file.read(max(_CHUNK_BYTES, least))
    except UnicodeDecodeError:
        raise wrong(path, 1, f"entry {entry} of the list is not UTF-8", "save the file as UTF-8") from None
