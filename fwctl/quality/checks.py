"""The verdict of a comparison as checks, in sentences, for every format that shows checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fwctl.quality.outlook import percent, points
from fwctl.quality.verdict import Gate

_STATUS = {Gate.PASS: "pass", Gate.FAIL: "fail", Gate.INVALID: "fail", Gate.INCONCLUSIVE: "fail"}


def checks_of(found: Mapping[str, Any], *, allow_inconclusive: bool = False) -> list[dict[str, Any]]:
    """`name`, `status` and `message` of every gate. An invalid comparison has no other result."""
    if found["invalid_reasons"]:
        return [_check("eval_valid", "fail", reason) for reason in found["invalid_reasons"]]
    open_ = "unknown" if allow_inconclusive else "fail"
    rows = [
        _gate("eval_quality", found["quality"], found["margin"], "right answers", open_),
        _gate("eval_broken", found["broken"], found["broken_margin"], "whole answers", open_),
    ]
    return [*rows, *_types(found["types"]), *_floor(found["floor"])]


def run_checks(quality: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Checks of one evaluation: whether its targets answered at all, and what may go wrong."""
    rows = []
    for name, item in quality["targets"].items():
        rows += [{**_check("eval_valid", "fail", text), "deployment": name} for text in item["problems"]]
        if not item["problems"]:
            told = f"{item['right']} of {item['right'] + item['wrong']} graded answers are right"
            rows.append({**_check("eval_valid", "pass", told), "deployment": name})
    return rows + [_check("eval_request", "warn", text) for text in quality["warnings"]]


def _gate(name: str, row: Mapping[str, Any], margin: float, what: str, open_: str) -> dict[str, Any]:
    verdict = Gate(row["verdict"])
    change = f"{points(abs(row['loss']))} {'fewer' if row['loss'] > 0 else 'more'} {what}"
    if row["loss"] == 0:
        change = f"as many {what}"
    bound = f"a loss of {points(row['loss_upper'])} or more is ruled out"
    if verdict is Gate.PASS:
        message = f"{change}; {bound}, {points(margin)} are allowed"
    elif verdict is Gate.FAIL:
        message = f"{change}: a loss is shown (p = {row['p_value']:.2g}), {points(margin)} are allowed"
    else:
        message = (
            f"inconclusive: {change}; {bound}, which is more than the {points(margin)} allowed; "
            f"about {row['n_needed']} prompts would decide it (now {row['n_prompts']})"
        )
    return _check(name, open_ if verdict is Gate.INCONCLUSIVE else _STATUS[verdict], message)


def _types(rows: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    lost = [row for row in rows if row["regressed"] and len(rows) > 1]
    for row in lost:
        lost_share = f"{points(row['loss'])} fewer right answers"
        yield _check("eval_type", "fail", f"{row['type']}: {lost_share} (p = {row['p_holm']:.2g}, Holm)")
    if len(rows) > 1 and not lost:
        yield _check("eval_type", "pass", f"no type of {len(rows)} shows a loss of its own")


def _floor(floor: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    if floor is None:
        return
    own, across = floor["discordance"]["value"], floor["candidate_discordance"]
    told = f"the base differs from itself on {percent(own)} of {floor['n_pairs']} pairs"
    if across is not None:
        told += f", from the candidate on {percent(across)}"
    if floor["problem"]:
        yield _check("eval_floor", "warn", f"{floor['problem']}; {told}")
    else:
        yield _check("eval_floor", "pass", told)


def _check(name: str, status: str, message: str) -> dict[str, Any]:
    return {"name": name, "status": status, "message": message}
