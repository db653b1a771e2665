"""Two runs from their folders to one comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError
from fwctl.measure.summary import METRICS, comparisons

MAX_CACHED_DIFFERENCE = 0.05
_NEEDED = ("target", "prompt_id", "repeat", "measured", "error_class", *METRICS)


def compare_runs(cwd: Path, base: str, candidate: str, *, tolerance: float) -> dict[str, Any]:
    """`comparisons` and `invalid_reasons` for two of `DIR` or `DIR:TARGET`.

    Raises UsageError for a folder that is no run or holds several targets.
    """
    first, left = _arm(cwd, base)
    second, right = _arm(cwd, candidate)
    invalid = [
        f"{word}: {reason}"
        for word, summary in (("base", first), ("candidate", second))
        for reason in summary["invalid_reasons"]
    ]
    if first["suite_digest"] != second["suite_digest"]:
        invalid.append("the prompt sets differ")
    shares = [_cached(rows) for rows in (left, right)]
    if shares[0] is not None and shares[1] is not None and abs(shares[0] - shares[1]) > MAX_CACHED_DIFFERENCE:
        invalid.append("the shares of cached prompt tokens differ by more than 5 points")
    found = comparisons(left, right, invalid=invalid, tolerance=tolerance)
    return {"base": base, "candidate": candidate, "comparisons": found, "invalid_reasons": invalid}


def _arm(cwd: Path, text: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    folder, wanted = cwd / text, ""
    if not folder.is_dir() and ":" in text:
        name, _, wanted = text.partition(":")
        folder = cwd / name
    summary = _json(folder / "summary.json")
    if not isinstance(summary.get("suite_digest"), str) or not isinstance(
        summary.get("invalid_reasons"), list
    ):
        raise UsageError(f"{folder / 'summary.json'} is not the summary of a run")
    rows = _rows(folder / "records.jsonl")
    names = sorted({str(row["target"]) for row in rows})
    if not wanted and len(names) > 1:
        raise UsageError(f"{text} holds several targets", next_steps=[f"{text}:{name}" for name in names])
    chosen = [row for row in rows if not wanted or row["target"] == wanted]
    if not chosen:
        raise UsageError(f"{text} holds no records; its targets are: {', '.join(names) or 'none'}")
    return summary, chosen


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is not JSON") from None
    return found if isinstance(found, dict) else {}


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = []
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                row = json.loads(line)
                if not isinstance(row, dict) or any(key not in row for key in _NEEDED):
                    raise UsageError(f"{path}:{number}: this is not a record of a run")
                rows.append(row)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path} holds a line that is not JSON") from None
    return rows


def _cached(rows: list[dict[str, Any]]) -> float | None:
    known = [row for row in rows if row.get("cached_tokens") is not None and row.get("prompt_tokens")]
    prompt: int = sum(row["prompt_tokens"] for row in known)
    return sum(row["cached_tokens"] for row in known) / prompt if prompt else None
