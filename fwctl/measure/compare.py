"""Two runs from their folders to one comparison, paired by prompt, repeat and load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fwctl.measure.arm import RunArm, read_arm
from fwctl.measure.floor import Floor, floor_of_repeats, floor_of_run, over_floor
from fwctl.measure.pairing import Matched, Options, matched, series_of
from fwctl.measure.sameness import reasons
from fwctl.measure.summary import quantile_name
from fwctl.stats.binomial import mcnemar, wilson
from fwctl.stats.noninferiority import assess, pairs_needed
from fwctl.stats.paired import Ratio, Verdict, compare_all
from fwctl.stats.quantiles import quantile
from fwctl.stats.resample import Pairs

ALPHA = 0.05
ERROR_MARGIN = 0.01  # a difference of failed requests that counts as none, as a share of all
LENGTH_DRIFT = 0.05
MOST_TYPES = 20


def compare_runs(cwd: Path, base: str, candidate: str, options: Options | None = None) -> dict[str, Any]:
    """The document of `bench compare` for two of `DIR` or `DIR:TARGET`, without gates.

    Raises UsageError for a folder that is no run or holds several targets.
    """
    return compare_arms(cwd, read_arm(cwd, base), read_arm(cwd, candidate), options or Options())


def compare_arms(cwd: Path, left: RunArm, right: RunArm, options: Options) -> dict[str, Any]:
    """The same for arms that were read already."""
    invalid = reasons(left, right, options.expected)
    both = matched(left, right, good=True)
    if not both.base:
        invalid.append(f"no prompt went well in both runs at the same load{_failures(left, right)}")
    floor = (
        floor_of_run(left, read_arm(cwd, options.floor), options)
        if options.floor
        else floor_of_repeats(left, options)
    )
    series = series_of(left, right, both)
    rows = judged(series, options, floor, invalid)
    types = _by_type(left, both)
    return {
        "base": left.name,
        "candidate": right.name,
        "comparisons": rows,
        "types": {
            name: judged(series_of(left, right, part), options, Floor(), invalid)
            for name, part in types.items()
        },
        "error_rate": _errors(left, right, invalid),
        "output_tokens": _lengths(left, right, both),
        "cached_share": {"base": left.cached_share, "candidate": right.cached_share},
        "speculation": _drafts(left, right, both, types),
        "usd_per_million_output_tokens": _cost(left, right),
        "floor": floor.to_json(),
        "tolerance": options.tolerance,
        "unpaired": len(left.by_key(good=False).keys() ^ right.by_key(good=False).keys()),
        "warnings": _warnings(left, right, both),
        "invalid_reasons": invalid,
    }


def _failures(left: RunArm, right: RunArm) -> str:
    """What the runs failed with, where that explains why nothing is left."""
    parts = []
    for word, arm in (("base", left), ("candidate", right)):
        counts = arm.table.counts("error_class", arm.table.all())
        bad = [f"{count} {name}" for name, count in counts.items() if name is not None]
        parts += [f"{word}: {', '.join(bad)}"] if bad else []
    return f" ({'; '.join(parts)})" if parts else ""


def judged(
    series: Mapping[str, Pairs], options: Options, floor: Floor, invalid: Sequence[str]
) -> list[dict[str, Any]]:
    """Rows of the document in the order of metrics and quantiles."""
    ratios = compare_all(
        series,
        options.quantiles,
        tolerance=options.tolerance,
        resamples=options.resamples,
        seed=options.seed,
    )
    return [
        {
            "metric": metric,
            "quantile": quantile_name(q),
            **_row(series[metric], q, over_floor(ratio, floor, metric, q)),
            "floor": floor.of(metric, q),
            **({"verdict": Verdict.INVALID.value, "n_needed": None} if invalid else {}),
        }
        for (metric, q), ratio in ratios.items()
    ]


def _row(pairs: Pairs, q: float, ratio: Ratio) -> dict[str, Any]:
    known = ratio.value is not None
    return {
        "base": quantile(pairs.base, q) if known else None,
        "candidate": quantile(pairs.candidate, q) if known else None,
        "ratio": ratio.value,
        "low": ratio.low,
        "high": ratio.high,
        "verdict": ratio.verdict.value,
        "n_pairs": ratio.n_pairs,
        "n_prompts": len(set(pairs.clusters)),
        "n_needed": ratio.n_needed,
    }


def _by_type(left: RunArm, both: Matched) -> dict[str, Matched]:
    """The pairs of each type of prompt, most frequent first; empty when there is one type."""
    column, names = left.table.words["type"], left.table.names["type"]
    parts: dict[int, Matched] = {}
    numbers: dict[int, dict[int, int]] = {}
    for base, candidate, cluster in zip(both.base, both.candidate, both.clusters, strict=True):
        code = column[base]
        own = numbers.setdefault(code, {})
        parts.setdefault(code, Matched()).add(base, candidate, own.setdefault(cluster, len(own)))
    if len(parts) < 2:
        return {}
    most = sorted(parts, key=lambda code: -len(parts[code].base))[:MOST_TYPES]
    return {str(names[code]): parts[code] for code in most}


def _drafts(
    left: RunArm, right: RunArm, both: Matched, types: Mapping[str, Matched]
) -> dict[str, Any] | None:
    """What servers said about drafts over the pairs, all and by type; None where they said nothing."""
    whole = _drafts_of(left, right, both)
    if whole["base"] is None and whole["candidate"] is None:
        return None
    return {**whole, "types": {name: _drafts_of(left, right, part) for name, part in types.items()}}


def _drafts_of(left: RunArm, right: RunArm, part: Matched) -> dict[str, Any]:
    base, candidate = left.table.drafts(part.base), right.table.drafts(part.candidate)
    one, two = base.window.tokens_per_pass, candidate.window.tokens_per_pass
    ratio = two / one if one is not None and two is not None else None
    return {"base": base.to_json(), "candidate": candidate.to_json(), "ratio": ratio}


def _errors(left: RunArm, right: RunArm, invalid: Sequence[str]) -> dict[str, Any]:
    """Failed requests of both arms, tested on the pairs in which only one of them failed."""
    both = matched(left, right, good=False)
    n = len(both.base)
    bad = [[not _ok(arm, row) for row in rows] for arm, rows in ((left, both.base), (right, both.candidate))]
    only_base = sum(a and not b for a, b in zip(*bad, strict=True))
    only_candidate = sum(b and not a for a, b in zip(*bad, strict=True))
    p = mcnemar(only_base, only_candidate)
    gain = assess(n, only_base, only_candidate, margin=ERROR_MARGIN)
    loss = assess(n, only_candidate, only_base, margin=ERROR_MARGIN)
    if invalid:
        verdict = Verdict.INVALID
    elif p <= ALPHA:
        verdict = Verdict.WORSE if only_candidate > only_base else Verdict.BETTER
    else:
        verdict = Verdict.SAME if gain.passed and loss.passed else Verdict.INCONCLUSIVE
    discordance = max((only_base + only_candidate) / n if n else 0.0, ERROR_MARGIN)
    return {
        "base": _share(left),
        "candidate": _share(right),
        "only_base": only_base,
        "only_candidate": only_candidate,
        "p": p,
        "verdict": verdict.value,
        "n_pairs": n,
        "n_needed": pairs_needed(ERROR_MARGIN, discordance) if verdict is Verdict.INCONCLUSIVE else None,
    }


def _ok(arm: RunArm, row: int) -> bool:
    return arm.table.names["error_class"][arm.table.words["error_class"][row]] is None


def _share(arm: RunArm) -> dict[str, Any]:
    n = len(arm.table)
    failed = n - len(arm.table.good(arm.table.all()))
    low, high = wilson(failed, n)
    classes = arm.table.counts("error_class", arm.table.all())
    errors = {word: count for word, count in classes.items() if word is not None}
    return {"n": n, "failed": failed, "value": failed / n, "low": low, "high": high, "errors": errors}


def _lengths(left: RunArm, right: RunArm, both: Matched) -> dict[str, Any]:
    """Median output length of both arms and of the pairs' ratio; an arm that talks longer takes longer."""
    one, two = left.table.numbers["output_tokens"], right.table.numbers["output_tokens"]
    pairs = [
        (one[a], two[b]) for a, b in zip(both.base, both.candidate, strict=True) if one[a] > 0 and two[b] > 0
    ]
    if not pairs:
        return {"base": None, "candidate": None, "ratio": None, "n_pairs": 0}
    total = sum(item[1] for item in pairs) / sum(item[0] for item in pairs)
    medians = [quantile([item[at] for item in pairs], 0.5) for at in (0, 1)]
    return {"base": medians[0], "candidate": medians[1], "ratio": total, "n_pairs": len(pairs)}


def _cost(left: RunArm, right: RunArm) -> dict[str, Any]:
    amounts = [arm.figures.get("usd_per_million_output_tokens") for arm in (left, right)]
    known = [float(item) if isinstance(item, int | float) else None for item in amounts]
    ratio = known[1] / known[0] if known[0] and known[1] is not None else None
    return {"base": known[0], "candidate": known[1], "ratio": ratio}


def _warnings(left: RunArm, right: RunArm, both: Matched) -> list[str]:
    found = []
    ratio = _lengths(left, right, both)["ratio"]
    if ratio is not None and abs(ratio - 1) > LENGTH_DRIFT:
        word = "longer" if ratio > 1 else "shorter"
        found.append(
            f"the candidate's answers are {abs(ratio - 1) * 100:.0f} % {word} in tokens; "
            "the total time follows that, the time per output token does not"
        )
    for word, arm in (("base", left), ("candidate", right)):
        if arm.summary.get("interrupted"):
            found.append(f"{word}: the run was interrupted")
        good = arm.table.good(arm.table.all())
        missing = len(good) - arm.table.counts("tokens_source", good).get("usage", 0)
        if missing:
            found.append(f"{word}: {missing} of {len(good)} answers carry no usage")
    return found
