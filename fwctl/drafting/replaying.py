"""The hold-out replayed: what n-grams, a suffix index and draft models that can be asked would give."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fwctl.drafting.adapt import Adapt
from fwctl.drafting.desk import Desk
from fwctl.errors import FwctlError
from fwctl.speculation.arithmetic import Costs
from fwctl.speculation.drafts import recorded
from fwctl.speculation.endpoint import Drafter, ask
from fwctl.speculation.entries import DRAFT, Options
from fwctl.speculation.job import Work, tokenizer_of
from fwctl.speculation.projection import project
from fwctl.speculation.reading import parts, read
from fwctl.speculation.recommend import judge
from fwctl.speculation.replay import digest
from fwctl.speculation.running import replay
from fwctl.speculation.trace import Trace
from fwctl.speculation.trace import read as read_trace

ASKED_REQUESTS = 40  # of the hold-out, of each draft model


def replayed(adapt: Adapt, holdout: Path) -> dict[str, Any]:
    """The sources that need no draft model, over all types, and what they recommend.

    `sources` as in `speculate replay`. Settings are chosen on one part of the hold-out, judged on another.
    """
    options = _options(adapt)
    done = replay(Work((holdout.name,), holdout.parent, options))
    overall = judge(done.tally, options, adapt.evaluating.margin)["overall"]
    found = {key: overall[key] for key in ("n_requests", "n_tokens", "sources", "recommendation")}
    return {**found, "tokens": done.tokens}


def asked(adapt: Adapt, holdout: Path, models: Mapping[str, str], desk: Desk) -> list[dict[str, Any]]:
    """What each draft model drafts on true beginnings of the hold-out. models: label -> model.

    Empty without `evaluate.draft_url`. An endpoint that does not serve a model is told and left out.
    """
    url = adapt.evaluating.draft_url
    if url is None:
        return []
    options = _options(adapt)
    tokenizer = tokenizer_of(options, adapt.folder)
    traces = _traces(holdout)
    found: list[dict[str, Any]] = []
    for label, model in models.items():
        drafter = Drafter(url, model, desk.draft_key(url), ASKED_REQUESTS)
        try:
            right = ask(traces, tokenizer, drafter, options.most).right
        except FwctlError as error:
            desk.say(f"{label}: {model} could not be asked: {error.message}")
            found.append({"label": label, "model": model, "error": error.message, "by_draft_tokens": []})
            continue
        rows = [_projected(traces, right, count, options.costs) for count in adapt.evaluating.draft_tokens]
        found.append({"label": label, "model": model, "error": None, "by_draft_tokens": rows})
    return found


def _options(adapt: Adapt) -> Options:
    tokenizer = adapt.collecting.tokenizer
    path = str((adapt.folder / tokenizer).resolve()) if tokenizer else None
    return Options(tokenizer=path)


def _traces(holdout: Path) -> list[Trace]:
    found: list[Trace] = []
    for part in parts((holdout.name,), holdout.parent):
        for row in read(part):
            if len(found) < ASKED_REQUESTS:
                found.append(read_trace(row))
    return found


def _projected(
    traces: list[Trace], right: Mapping[str, list[int]], draft_tokens: int, costs: Costs
) -> dict[str, Any]:
    offers = (
        (trace.cluster, recorded(marks, [1] * len(marks), draft_tokens))
        for trace in traces
        if (marks := right.get(digest(trace)))
    )
    found = project(offers, draft_tokens, costs)
    return {
        "source": DRAFT,
        "draft_tokens": draft_tokens,
        "n_requests": found.requests,
        "tokens_per_pass": found.tokens_per_pass,
        "acceptance_by_position": list(found.acceptance_by_position),
        "speedup": found.speedup.to_json(),
        "share_slower": found.share_slower,
    }
