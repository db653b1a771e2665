"""Files of traces, line by line in bounded memory: plain, gzip, zstd, Parquet, object stores."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from io import BufferedReader
from pathlib import Path
from typing import Any, Protocol

from fwctl.errors import FwctlError, UsageError
from fwctl.jsontext import JsonTextError, decoded

MAX_LINE_BYTES = 16 * 2**20
MAX_SUITE_BYTES = 256 * 2**20
PART_BYTES = 8 * 2**20
RECORDS = "records.jsonl"  # of a folder of bench run
HELP = "traces are JSON objects, one a line: see docs/speculation.md"
CREDENTIALS = "credentials of object stores are secrets of DuckDB: see docs/speculation.md"
_BLOCK_BYTES = 2**20
_ERROR_LETTERS = 500  # of DuckDB, which explains what it needs for an object store in several lines
_ROWS = 256  # fetched from DuckDB at a time
_PARQUET = "SELECT to_json(row) FROM read_parquet($1) AS row"
_JSON_LINES = (
    "SELECT json FROM read_json_objects($1, format = 'newline_delimited', maximum_object_size = 16777216)"
)


# Logs are often several frames one behind the other; both readers go on to the next.
_ZSTD: dict[str, Callable[[Any, Any], Any]] = {
    "compression.zstd": lambda module, file: module.open(file, "rb"),
    "zstandard": lambda module, file: module.ZstdDecompressor().stream_reader(file, read_across_frames=True),
}


class _Lines(Protocol):
    """What the openers of plain and compressed files have in common."""

    def readline(self, size: int = -1, /) -> bytes: ...
    def seek(self, place: int, /) -> int: ...


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of work: lines that begin in bytes begin..end of a plain file, or a whole other source.

    name: as given, for messages. path: of the file, or the address of an object.
    """

    name: str
    path: str
    begin: int = 0
    end: int | None = None

    def to_json(self) -> list[Any]:
        return [self.name, self.path, self.begin, self.end]


def parts(names: Sequence[str], folder: Path, *, part_bytes: int = PART_BYTES) -> list[Part]:
    """The work in fixed pieces, whatever the number of workers. UsageError for what is no file."""
    return [part for name in names for part in _parts_of(name, folder, part_bytes)]


def _parts_of(name: str, folder: Path, part_bytes: int) -> list[Part]:
    if "://" in name:
        return [Part(name, name)]
    path = folder / name
    try:
        if path.is_dir() and (path / RECORDS).is_file():
            path = path / RECORDS
        if not path.is_file():
            raise UsageError(f"{name!r} {_why_no_file(path)}", next_steps=[HELP])
        size = path.stat().st_size
    except OSError as error:
        raise _unreadable(name, error) from None
    if _kind(name) is not None or size <= part_bytes:
        return [Part(name, str(path))]
    return [Part(name, str(path), begin, begin + part_bytes) for begin in range(0, size, part_bytes)]


def _why_no_file(path: Path) -> str:
    if path.is_dir():
        return f"is a folder without {RECORDS}; name the files in it"
    return "is not a regular file" if path.exists() else "does not exist"


def read(part: Part) -> Iterator[Any]:
    """Decoded lines. Raises UsageError with the place of the first one that is wrong."""
    kind = _kind(part.name)
    try:
        if "://" in part.path or kind == "parquet":
            yield from by_duckdb(part, load_duckdb(part.name))
        elif kind == "zstd":
            yield from _zstd(part)
        elif kind == "gzip":
            with gzip.open(part.path) as file:
                yield from _lines(part, file)
        else:
            with Path(part.path).open("rb") as file:
                yield from _lines(part, file)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(part.name, error) from None


def _kind(name: str) -> str | None:
    endings = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".parquet": "parquet", ".pq": "parquet"}
    return endings.get(Path(name).suffix.lower())


def _lines(part: Part, file: _Lines) -> Iterator[Any]:
    place = part.begin
    if place:  # the line that this byte is in the middle of belongs to the part before
        file.seek(place - 1)
        place += _rest_of_line(file) - 1
    number = 0
    while part.end is None or place < part.end:
        line = file.readline(MAX_LINE_BYTES + 1)
        if not line:
            return
        number += 1
        place += len(line)
        if len(line) > MAX_LINE_BYTES:
            raise _wrong(part, number, f"the line is longer than {MAX_LINE_BYTES // 2**20} MiB")
        if not line.isspace():
            yield _decoded(part, number, line)


def _rest_of_line(file: _Lines) -> int:
    """Skips to the next line, however long this one is; the number of bytes."""
    count = 0
    while block := file.readline(_BLOCK_BYTES):
        count += len(block)
        if block.endswith(b"\n"):
            break
    return count


def _decoded(part: Part, number: int, text: bytes | str) -> Any:
    """The JSON of the line with this number in its part. UsageError."""
    try:
        return decoded(text)
    except JsonTextError as error:
        raise _wrong(part, number, str(error)) from None


def _wrong(part: Part, number: int, message: str) -> UsageError:
    line = number + (_lines_before(part) if part.begin else 0)
    return UsageError(f"{part.name}:{line}: {message}", next_steps=[HELP])


def _lines_before(part: Part) -> int:
    """Complete lines in front of the first line of a part; read only for a message."""
    count, left = 0, part.begin - 1
    with Path(part.path).open("rb") as file:
        while left > 0 and (block := file.read(min(left, _BLOCK_BYTES))):
            count, left = count + block.count(b"\n"), left - len(block)
    return count + 1


def _unreadable(name: str, error: Exception) -> UsageError:
    why = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return UsageError(f"cannot read {name}: {why}", next_steps=[HELP])


def _zstd(part: Part) -> Iterator[Any]:
    """By the standard library (3.14), the zstandard package, or DuckDB, whichever is there."""
    for name, opened in _ZSTD.items():
        try:
            module = import_module(name)
        except ImportError:
            continue
        try:
            with Path(part.path).open("rb") as file, BufferedReader(opened(module, file)) as plain:
                yield from _lines(part, plain)
        except module.ZstdError as error:
            raise _unreadable(part.name, error) from None
        return
    yield from by_duckdb(part, load_duckdb(part.name))


def load_duckdb(name: str) -> Any:
    """The package, to read what has this name. FwctlError without the extra."""
    try:
        return import_module("duckdb")
    except ImportError:
        raise FwctlError(
            f"reading {name} needs DuckDB, which is not installed",
            next_steps=["pip install 'fwctl[traces]'", "or give JSONL files, plain or gzip"],
        ) from None


def by_duckdb(part: Part, duckdb: Any) -> Iterator[Any]:
    """Parquet files, and JSONL files in every compression and place that DuckDB knows."""
    query = _PARQUET if _kind(part.name) == "parquet" else _JSON_LINES
    try:
        with closing(duckdb.connect(config={"threads": "1", "memory_limit": "1GB"})) as connection:
            rows = connection.execute(query, [part.path])
            number = 0
            while found := rows.fetchmany(_ROWS):
                for (text,) in found:
                    number += 1
                    yield _unfolded(part, number, _decoded(part, number, text))
    except duckdb.Error as error:
        why = " ".join(str(error).partition("\nLINE ")[0].split())[:_ERROR_LETTERS]  # then comes the query
        step = CREDENTIALS if "://" in part.path else HELP
        raise UsageError(f"DuckDB cannot read {part.name}: {why}", next_steps=[step]) from None


def _unfolded(part: Part, number: int, item: Any) -> Any:
    """Columns that hold lists or objects as JSON text, as tables of logs often do."""
    if not isinstance(item, dict):
        return item
    for name in ("messages", "draft_tokens", "completion_tokens", "request", "response", "body"):
        value = item.get(name)
        if isinstance(value, str) and value[:1] in "[{":
            item[name] = _decoded(part, number, value)
    return item


def read_suite(name: str, folder: Path) -> dict[str, Mapping[str, Any]]:
    """Requests of a prompt set by id, for bench records. UsageError."""
    path = folder / name
    try:
        if not path.is_file() or path.stat().st_size > MAX_SUITE_BYTES:
            raise UsageError(f"{name} is not a prompt set, or larger than {MAX_SUITE_BYTES // 2**20} MiB")
    except OSError as error:
        raise _unreadable(name, error) from None
    found: dict[str, Mapping[str, Any]] = {}
    for item in read(Part(name, str(path))):
        if isinstance(item, dict) and isinstance(item.get("id"), str):
            found[item["id"]] = item
    return found
