"""Tokens that were paid for and used by nobody, from records of benches and logs of a router."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError
from fwctl.jsontext import JsonTextError, decoded
from fwctl.records.opening import lines_of

MAX_LINE_BYTES = 16 * 1024 * 1024
HELP = "see docs/cost.md, wasted tokens"
KINDS = ("benchmark", "truncated-retried", "cancelled", "fallback-duplicate")


@dataclass(slots=True)
class Wasted:
    """Attempts of one kind on one target. unknown: attempts whose tokens nobody counted."""

    target: str
    kind: str
    attempts: int = 0
    prompt: int = 0
    completion: int = 0
    unknown: int = 0


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Records of a file, without their texts. Raises UsageError with file and line."""
    for number, line in lines_of(path, MAX_LINE_BYTES, HELP):
        yield from _attempts(path, number, line)


def _attempts(path: Path, number: int, line: bytes) -> list[dict[str, Any]]:
    """The attempts that one line tells of: one of a record, several of a router's request."""
    try:
        found = decoded(line)
    except JsonTextError as error:
        raise _wrong(path, number, str(error)) from None
    if not isinstance(found, dict):
        raise _wrong(path, number, "a record is a JSON object")
    if found.get("event", "request") != "request":
        return []
    if "route" in found or "outcome" in found:
        rows = _routed(found, f"{path}:{number}")
    else:
        rows = [{key: found[key] for key in _KEYS if key in found}]
    for row in rows:
        _check(path, number, row)
    return rows


def _check(path: Path, number: int, row: Mapping[str, Any]) -> None:
    if not isinstance(row.get("target"), str):
        raise _wrong(path, number, "a record is a JSON object with the text `target`")
    for key in ("prompt_tokens", "output_tokens", "attempt"):
        value = row.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise _wrong(path, number, f"`{key}` is a whole number from 0 or null")


# How an attempt of a router may end after the target began to work on it; a refusal costs no tokens.
_WORKED = frozenset(
    {"timeout_ttft", "timeout_idle", "timeout_total", "sse_error", "truncated", "empty", "cancelled"}
)


def _routed(line: Mapping[str, Any], request: str) -> list[dict[str, Any]]:
    """A line of `fwctl route serve`'s log or trace: the attempts of one request."""
    tried = line.get("attempts")
    attempts = tried if isinstance(tried, list) else []
    rows = [
        {"target": item.get("target"), "request_id": request, "attempt": number}
        for number, item in enumerate(attempts, start=1)
        if isinstance(item, dict) and item.get("error") in _WORKED
    ]
    if isinstance(line.get("target"), str):
        rows.append(
            {
                "target": line["target"],
                "request_id": request,
                "attempt": len(attempts) + 1,
                "error_class": "cancelled" if line.get("outcome") == "client_gone" else None,
                "prompt_tokens": line.get("prompt_tokens"),
                "output_tokens": line.get("completion_tokens"),
            }
        )
    return rows


_KEYS = (
    *("run_id", "request_id", "target", "prompt_id", "repeat", "attempt"),
    *("error_class", "finish_reason", "prompt_tokens", "output_tokens"),
)


def _wrong(path: Path, number: int, why: str) -> UsageError:
    return UsageError(f"{path}:{number}: {why}", next_steps=[HELP])


def wasted(records: Iterable[Mapping[str, Any]]) -> list[Wasted]:
    """Each attempt in one kind at most: all of a bench run is `benchmark`; of other records an attempt
    that was cut off and asked again, one that the client left, one that another target answered too."""
    rows = list(records)
    last: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows:
        last[_request(row)] = max(last[_request(row)], row.get("attempt") or 1)
    found: dict[tuple[str, str], Wasted] = {}
    for row in rows:
        kind = _kind(row, last[_request(row)])
        if kind is not None:
            entry = found.setdefault((row["target"], kind), Wasted(row["target"], kind))
            _add(entry, row)
    return [found[key] for key in sorted(found)]


def _request(row: Mapping[str, Any]) -> tuple[str, str]:
    """What the attempts of one request have in common."""
    if row.get("run_id"):
        return str(row["run_id"]), f"{row['target']} {row.get('prompt_id')} {row.get('repeat')}"
    return "", str(row.get("request_id"))


def _kind(row: Mapping[str, Any], last: int) -> str | None:
    if row.get("run_id"):
        return "benchmark"
    if row.get("error_class") == "cancelled":
        return "cancelled"
    if (row.get("attempt") or 1) < last:
        return "truncated-retried" if row.get("finish_reason") == "length" else "fallback-duplicate"
    return None


def _add(entry: Wasted, row: Mapping[str, Any]) -> None:
    entry.attempts += 1
    prompt, completion = row.get("prompt_tokens"), row.get("output_tokens")
    if prompt is None and completion is None:
        entry.unknown += 1
    entry.prompt += prompt or 0
    entry.completion += completion or 0
