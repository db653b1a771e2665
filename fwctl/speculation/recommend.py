"""Which source pays for which requests: figures, and a recommendation that is guarded against luck. Pure.

Settings are chosen on one part of the conversations and judged on another, one candidate a type, so that
trying many settings does not make luck look like gain. The level of the interval that decides is divided
by the number of types judged (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fwctl.speculation.entries import DRAFT, NGRAM, PREDICTION, RECOMMENDED, SUFFIX, Entry, Options, entries
from fwctl.speculation.intervals import (
    CONFIDENCE,
    MIN_GROUPS,
    acceptance,
    break_even_verify_cost,
    gain,
    interval,
)
from fwctl.speculation.tally import CHOOSE, JUDGE, Tally, TypeTally
from fwctl.speculation.verify import Spent

MARGIN = 0.10  # a smaller gain counts as no difference in `bench compare` and could not be confirmed
TIE = 0.03  # gains this close count as equal, and the source that is easier to take back wins
MOST_SLOWER = 0.5
LEAST_COVERED = 0.8  # of the judged requests a source must have been replayed on, to speak for all
NONE = "none"


@dataclass(frozen=True, slots=True)
class Bench:
    """One request type on the bench: its counts, the grid, and the rules it is judged by.

    margin: least gain, a share. types: how many types are judged side by side. whole: all types together,
    of which a sample that was drawn by type is no sample.
    """

    counts: TypeTally
    grid: Sequence[Entry]
    options: Options
    margin: float = MARGIN
    types: int = 1
    whole: bool = False

    def covered(self, at: int) -> bool:
        """Whether this entry was replayed on enough requests to speak for all of them."""
        if self.grid[at].source == DRAFT and self.options.drafts_sampled and not self.whole:
            return True
        return self.counts.answered[at] >= LEAST_COVERED * self.counts.requests[JUDGE]


def judge(tally: Tally, options: Options, margin: float = MARGIN) -> dict[str, Any]:
    """The figures of a replay: `by_type`, and `overall` for one deployment that serves all types."""
    grid, types = entries(options), sorted(tally.types)
    overall = TypeTally.empty(grid)
    for name in types:
        overall.merge(tally.types[name])
    return {
        "by_type": {
            name: judge_type(Bench(tally.types[name], grid, options, margin, len(types))) for name in types
        },
        "overall": judge_type(Bench(overall, grid, options, margin, whole=True)),
        "left_out": dict(sorted(tally.left_out.items())),
        "unaligned": tally.unaligned,
    }


def judge_type(bench: Bench) -> dict[str, Any]:
    """The document of one request type; see docs/json.md."""
    counts = bench.counts
    chosen = _chosen_settings(bench)
    return {
        "n_requests": sum(counts.requests.values()),
        "n_tokens": sum(counts.tokens.values()),
        "n_judged": counts.requests[JUDGE],
        "sources": [_source(bench, at) for at in chosen],
        "recommendation": _recommendation(bench, chosen),
        "trained_draft": _trained_draft(bench, chosen),
        "grid": [_cell(bench, at) for at in range(len(bench.grid)) if counts.answered[at]],
    }


def _chosen_settings(bench: Bench) -> list[int]:
    """For each source the index of the setting that was best on the choosing split, in the grid's order."""
    best: dict[str, tuple[float, int]] = {}
    for at, entry in enumerate(bench.grid):
        rows = bench.counts.rows(CHOOSE, at)
        if rows and bench.counts.answered[at] and _speaks(bench, at):
            found = gain(rows, bench.options.costs)
            if entry.source not in best or found > best[entry.source][0]:
                best[entry.source] = (found, at)
    return [at for _, at in best.values()]


def _speaks(bench: Bench, at: int) -> bool:
    """False for a prediction, alone or combined, in traffic where no request has that field."""
    entry = bench.grid[at]
    if entry.field is None:
        return True
    alone = bench.grid.index(Entry(PREDICTION, entry.k, field=entry.field))
    drafted = bench.counts.histograms[alone].drafted
    return drafted[0] < sum(drafted)


def _source(bench: Bench, at: int) -> dict[str, Any]:
    counts = bench.counts
    histogram, answered = counts.histograms[at], counts.answered[at]
    return _cell(bench, at) | {
        "n_requests": answered,
        "acceptance_by_position": acceptance(histogram),
        "drafting_share": 1 - histogram.drafted[0] / sum(histogram.drafted),
        "speedup": interval(counts.rows(JUDGE, at), bench.options.costs).to_json(),
        "share_slower": counts.slower[at] / answered,
        "break_even_verify_cost": break_even_verify_cost(counts.rows(JUDGE, at), bench.options.costs),
    }


def _cell(bench: Bench, at: int) -> dict[str, Any]:
    rows, entry = bench.counts.rows(JUDGE, at), bench.grid[at]
    return {
        "source": entry.source,
        "settings": entry.settings,
        "tokens_per_pass": sum(row.tokens for row in rows) / sum(row.passes for row in rows),
        "speedup": gain(rows, bench.options.costs),
    }


def _recommendation(bench: Bench, chosen: Sequence[int]) -> dict[str, Any]:
    at = _candidate(bench, chosen)
    if at is None:
        return _none("too few conversations with drafts to choose settings on one part and judge on another")
    counts, entry = bench.counts, bench.grid[at]
    confidence = 1 - (1 - CONFIDENCE) / max(bench.types, 1)
    found = interval(counts.rows(JUDGE, at), bench.options.costs, confidence)
    shown = f"{_named(entry)} projects {found.value:.2f} x"
    if found.low is None:
        return _none(f"{shown}, but fewer than {MIN_GROUPS} conversations judge it; give more traces")
    shown += f" [{found.low:.2f}, {found.high:.2f}] at {100 * confidence:.4g} % confidence"
    slower = counts.slower[at] / counts.answered[at]
    share = f"{100 * slower:.0f} % of the requests would be slower"
    if found.low < 1 + bench.margin:
        return _none(f"no source is sure to gain {100 * bench.margin:g} %; the best, {shown}")
    if slower > MOST_SLOWER:
        return _none(f"{shown}, but {share}")
    return {
        "source": entry.source,
        "settings": entry.settings,
        "reason": f"{shown}; {share}{_missing(entry)}",
        **_patches(entry),
    }


def _trained_draft(bench: Bench, chosen: Sequence[int]) -> dict[str, Any] | None:
    """What a draft model that knows the traffic as well as the suffix index does would give; None where it
    is not sure to gain the margin, and more than what can be switched on today."""
    counts, costs = bench.counts, bench.options.costs
    knowing = [at for at, entry in enumerate(bench.grid) if entry.source == SUFFIX and bench.covered(at)]
    rows = {at: _as_model(counts.rows(CHOOSE, at), bench.grid[at].k) for at in knowing}
    best = max((at for at in knowing if rows[at]), key=lambda at: gain(rows[at], costs), default=None)
    if best is None or not counts.answered[best]:
        return None
    confidence = 1 - (1 - CONFIDENCE) / max(bench.types, 1)
    found = interval(_as_model(counts.rows(JUDGE, best), bench.grid[best].k), costs, confidence)
    today = _candidate(bench, chosen)
    rival = 1.0 if today is None else gain(counts.rows(JUDGE, today), costs)
    if found.low is None or found.low < max(rival, 1.0) + bench.margin:
        return None
    return {"k": bench.grid[best].k, "speedup": found.to_json()}


def _as_model(rows: Sequence[Spent], draft_tokens: int) -> list[Spent]:
    """The same acceptance from a model, which drafts all its tokens in every pass and is paid for them."""
    return [Spent(row.tokens, row.passes, 0, row.passes * draft_tokens) for row in rows]


def _candidate(bench: Bench, chosen: Sequence[int]) -> int | None:
    """The one entry that is judged: the best on the choosing split, the easiest to take back of equals."""
    costs, grid = bench.options.costs, bench.grid
    gains = {
        at: gain(bench.counts.rows(CHOOSE, at), costs)
        for at in chosen
        if grid[at].source in RECOMMENDED and bench.covered(at)
    }
    near = [at for at, found in gains.items() if found >= max(gains.values()) * (1 - TIE)]
    return min(near, key=lambda at: RECOMMENDED.index(grid[at].source), default=None)


def _named(entry: Entry) -> str:
    return f"{entry.source} (" + ", ".join(f"{key} {value}" for key, value in entry.settings.items()) + ")"


def _missing(entry: Entry) -> str:
    return "; --draft-model names the model for the spec" if entry.source == DRAFT and not entry.model else ""


def _none(reason: str) -> dict[str, Any]:
    return {"source": NONE, "settings": {}, "reason": reason, "spec_patch": {}, "request_patch": {}}


def _patches(entry: Entry) -> dict[str, Any]:
    """The part of a deployment in a spec, and the part of a request, that switch the source on."""
    spec: dict[str, Any] = {}
    request: dict[str, Any] = {}
    if entry.source == NGRAM:
        spec = {"speculation": {"mode": "ngram", "ngram_length": entry.length, "draft_tokens": entry.k}}
    elif entry.source == DRAFT:
        model = {"draft_model": entry.model} if entry.model else {}
        spec = {"speculation": {"mode": "draft", **model, "draft_tokens": entry.k}}
    else:
        request = {"prediction": {"type": "content", "content": f"<{entry.field}>"}}
    return {"spec_patch": spec, "request_patch": request}
