"""What response formats did to a run: valid answers, cut-off ones, retries and the tokens they wasted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from sys import intern
from typing import Any

from fwctl.inference.failures import ErrorClass
from fwctl.inference.structured import runs_away
from fwctl.measure.target import Target
from fwctl.quality.cases import Cases, structured
from fwctl.quality.grading import Key, attempt_of, key_of
from fwctl.stats.binomial import wilson

Row = Mapping[str, Any]
# Hash of (target, prompt) -> type of the response format that is sent.
Formats = Mapping[int, str]
_CLASSES = (ErrorClass.INVALID_JSON, ErrorClass.SCHEMA_VIOLATION, ErrorClass.LENGTH, ErrorClass.EMPTY)


def structured_counts(
    rows: Iterable[Row], last: Mapping[Key, int], formats: Formats
) -> dict[str, dict[str, Any]]:
    """By target, for those that sent a response format.

    n: answers, after retries. formats: how many of each. valid: share with a Wilson interval. whitespace:
    answers that ran away into it, a part of invalid_json. retries and wasted_tokens: requests beyond the
    first and the output of those that were cut off. reasoning_only: cut off before the first visible word.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        key, attempt = key_of(row), attempt_of(row)
        kind = formats.get(hash(key[:2]))
        if kind is None:
            continue
        count = counts[key[0]]
        if attempt < last.get(key, 1):
            count["retries"] += 1
            count["wasted_tokens"] += int(row.get("output_tokens") or 0)
            continue
        kinds[key[0]][kind] += 1
        _count(count, row)
    return {name: _figures(count, kinds[name]) for name, count in sorted(counts.items())}


def lost_reasoning(rows: Iterable[Row], formats: Formats) -> list[str]:
    """Targets that reasoned, but not once where a json_schema was asked for. It is seen in the answers, so
    it holds for deployments too, whose name does not tell their model."""
    seen: dict[str, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for row in rows:
        if (row["measured"] or attempt_of(row) > 1) and row.get("error_class") is None:
            key = key_of(row)
            under_schema = formats.get(hash(key[:2])) == "json_schema"
            seen[key[0]][under_schema, _reasoned(row)] += 1
    return [
        f"{name}: it reasoned in {count[False, True]} answers, and in none of {count[True, False]} with "
        "json_schema, which switches reasoning off; json_object with the schema in the prompt, checked "
        "afterwards, or reasoning_effort keeps it on"
        for name, count in sorted(seen.items())
        if count[False, True] and count[True, False] and not count[True, True]
    ]


def _reasoned(row: Row) -> bool:
    """By the server's count, or because tokens came before the first visible one."""
    first, visible = row.get("ttft_s"), row.get("ttfv_s")
    early = first is not None and visible is not None and visible > first
    return bool(row.get("reasoning_tokens")) or early


def _count(count: Counter[str], row: Row) -> None:
    error, text = row.get("error_class"), row.get("text") or ""
    count["n"] += 1
    count["valid"] += error is None
    if error in _CLASSES:
        count[str(error)] += 1
    elif error is not None:
        count["failed"] += 1
    count["whitespace"] += error == ErrorClass.INVALID_JSON and runs_away([text])
    count["reasoning_only"] += (
        error == ErrorClass.LENGTH and not text.strip() and bool(row.get("reasoning_tokens"))
    )


def _figures(count: Counter[str], kinds: Counter[str]) -> dict[str, Any]:
    low, high = wilson(count["valid"], count["n"])
    share = count["valid"] / count["n"] if count["n"] else None
    words = (*(item.value for item in _CLASSES), "failed", "whitespace", "reasoning_only")
    return {
        "n": count["n"],
        "formats": dict(sorted(kinds.items())),
        "valid": {"value": share, "low": low, "high": high, "n": count["n"]},
        **{word: count[word] for word in (*words, "retries", "wasted_tokens")},
    }


def formats_of(cases: Cases, targets: Sequence[Target]) -> Formats:
    """Of every prompt that a target gets with one."""
    found: dict[int, str] = {}
    for target, case, body in structured(cases, targets):
        kind = str(body["response_format"].get("type"))
        if kind != "text":
            found[hash((target.name, case.prompt.id))] = intern(kind)
    return found
