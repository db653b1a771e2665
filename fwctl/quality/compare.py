"""Two evaluations to one verdict. Broken answers and wrong answers are judged apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fwctl.quality.arms import Arm
from fwctl.quality.floor import floor_of
from fwctl.quality.model import BROKEN, GRADED, Outcome
from fwctl.quality.totals import LEAST_FOR_ZERO
from fwctl.quality.verdict import ALPHA, Counts, Gate, Judgement, Pair, count, judge
from fwctl.stats.binomial import wilson
from fwctl.stats.multiplicity import holm

# A larger share of answers without a partner means that one of the runs is not whole.
MOST_UNPAIRED = 0.01
# Prompts that differ are named up to this number.
MOST_NAMED = 1000

Key = tuple[str, int]


def compare_arms(
    base: Arm, candidate: Arm, *, margin: float, broken_margin: float, floor: Arm | None = None
) -> dict[str, Any]:
    """The document of `fwctl eval compare` without its checks: `verdict`, `quality`, `types`, `broken`,
    `floor`, `invalid_reasons`. Margins are shares."""
    keys = sorted(base.grades.keys() & candidate.grades.keys())
    quality_pairs = list(_graded(base, candidate, keys))
    counts = count(pair for _, pair in quality_pairs)
    quality = judge(counts, margin)
    types = _types(quality_pairs)
    broken_counts = count(_whole(base, candidate, keys))
    broken = judge(broken_counts, broken_margin)
    invalid = [
        *_invalid(base, candidate, keys),
        *_nothing(counts),
        *(_all_wrong(types) if len(types) > 1 else ()),
    ]
    verdict = _verdict(invalid, quality, broken, types)
    return {
        "base": base.text,
        "candidate": candidate.text,
        "verdict": verdict.value,
        "margin": margin,
        "broken_margin": broken_margin,
        "alpha": ALPHA,
        "quality": {
            **_document(counts, quality),
            "base_accuracy": _accuracy(counts, counts.both + counts.only_base),
            "candidate_accuracy": _accuracy(counts, counts.both + counts.only_candidate),
            "lost_prompts": _prompts(quality_pairs, base=True),
            "gained_prompts": _prompts(quality_pairs, base=False),
        },
        "types": types,
        "broken": {**_document(broken_counts, broken), "classes": _classes(base, candidate, keys)},
        "floor": floor_of(base, candidate, floor),
        "invalid_reasons": invalid,
    }


def _verdict(
    invalid: Sequence[str], quality: Judgement, broken: Judgement, types: Sequence[Mapping[str, Any]]
) -> Gate:
    """A fail needs one gate that fails; a pass needs all to pass."""
    if invalid:
        return Gate.INVALID
    gates = {quality.verdict, broken.verdict}
    if Gate.FAIL in gates or any(row["regressed"] for row in types):
        return Gate.FAIL
    return Gate.INCONCLUSIVE if Gate.INCONCLUSIVE in gates else Gate.PASS


def _graded(base: Arm, candidate: Arm, keys: Sequence[Key]) -> Iterator[tuple[str, Pair]]:
    """Pairs of which both sides have a mark, with their type."""
    for key in keys:
        left, right = base.grades[key], candidate.grades[key]
        if left["outcome"] in GRADED and right["outcome"] in GRADED:
            pair = Pair(key[0], left["outcome"] == Outcome.RIGHT, right["outcome"] == Outcome.RIGHT)
            yield str(left["type"]), pair


def _whole(base: Arm, candidate: Arm, keys: Sequence[Key]) -> Iterator[Pair]:
    """Whether each side gave an answer that can be judged at all."""
    for key in keys:
        left, right = (arm.grades[key]["outcome"] not in BROKEN for arm in (base, candidate))
        yield Pair(key[0], left, right)


def _types(pairs: Sequence[tuple[str, Pair]]) -> list[dict[str, Any]]:
    """By type, with p-values adjusted by Holm: so many tests find a loss by chance in 5 % of comparisons
    together, not each."""
    by_type: dict[str, list[Pair]] = defaultdict(list)
    for name, pair in pairs:
        by_type[name].append(pair)
    counts = {name: count(found) for name, found in sorted(by_type.items())}
    # The margin only matters for the verdict on the whole; here the bound and the test are of interest.
    found = {name: judge(item, margin=1.0) for name, item in counts.items()}
    adjusted = holm([item.p_value for item in found.values()])
    rows = []
    for (name, item), p_holm in zip(found.items(), adjusted, strict=True):
        row = {"type": name, **_document(counts[name], item), "p_holm": p_holm}
        del row["verdict"], row["n_needed"]
        row["regressed"] = item.loss > 0 and p_holm <= ALPHA
        rows.append(row)
    return rows


def _document(counts: Counts, found: Judgement) -> dict[str, Any]:
    return {
        "verdict": found.verdict.value,
        "n_pairs": counts.n_pairs,
        "n_prompts": counts.n_prompts,
        "both": counts.both,
        "only_base": counts.only_base,
        "only_candidate": counts.only_candidate,
        "neither": counts.neither,
        "design_effect": counts.effect,
        "loss": found.loss,
        "loss_upper": found.upper,
        "p_value": found.p_value,
        "n_needed": found.n_needed,
    }


def _accuracy(counts: Counts, right: int) -> dict[str, Any]:
    n = counts.n_pairs
    low, high = wilson(right / counts.effect, n / counts.effect)
    return {"value": right / n if n else None, "low": low, "high": high, "n": n}


def _prompts(pairs: Sequence[tuple[str, Pair]], *, base: bool) -> list[str]:
    """Prompts that only this side answered right, in any repeat; the first of many."""
    found = (pair.prompt_id for _, pair in pairs if pair.base is base and pair.candidate is not base)
    return list(dict.fromkeys(found))[:MOST_NAMED]


def _classes(base: Arm, candidate: Arm, keys: Sequence[Key]) -> dict[str, dict[str, int]]:
    return {
        outcome.value: {
            "base": sum(base.grades[key]["outcome"] == outcome for key in keys),
            "candidate": sum(candidate.grades[key]["outcome"] == outcome for key in keys),
        }
        for outcome in BROKEN
    }


def _all_wrong(types: Sequence[Mapping[str, Any]]) -> list[str]:
    """Types of which one side has many answers and not one right, while the other has some: a template or
    a stop word, which no comparison of quality can tell from a loss."""
    found = []
    for row in types:
        right = {"base": row["both"] + row["only_base"], "candidate": row["both"] + row["only_candidate"]}
        for word, other in (("base", "candidate"), ("candidate", "base")):
            if row["n_pairs"] >= LEAST_FOR_ZERO and not right[word] and right[other] > row["n_pairs"] / 5:
                found.append(
                    f"{word}: none of {row['n_pairs']} answers of type {row['type']} is right: look at the "
                    "chat template, stop words and max_tokens first"
                )
    return found


def _nothing(counts: Counts) -> list[str]:
    return [] if counts.n_pairs else ["no prompt was graded on both sides"]


def _invalid(base: Arm, candidate: Arm, keys: Sequence[Key]) -> list[str]:
    """Why the two runs do not compare what they seem to compare."""
    found = []
    if base.summary.get("suite_digest") != candidate.summary.get("suite_digest"):
        found.append("the prompt sets differ")
    if base.quality.get("graders") != candidate.quality.get("graders"):
        found.append("the graders differ: grade both runs again with `fwctl eval grade`")
    for word, arm in (("base", base), ("candidate", candidate)):
        found += [f"{word}: {problem}" for problem in arm.figures.get("problems", ())]
        alone = len(arm.grades) - len(keys)
        if alone > MOST_UNPAIRED * len(arm.grades):
            found.append(f"{alone} of {len(arm.grades)} answers of the {word} have no partner")
    return found
