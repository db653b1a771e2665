"""The settings that a replay tries: every source of drafts with its grid. Pure data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fwctl.speculation.arithmetic import Costs

PREDICTION, NGRAM, SUFFIX, DRAFT = "prediction", "ngram", "suffix", "draft"
PREDICTION_NGRAM, PREDICTION_DRAFT = "prediction+ngram", "prediction+draft"
# What a user can switch on, the easiest to take back first: a field of the request, then the deployment.
RECOMMENDED = (PREDICTION, NGRAM, DRAFT)
# Settings of the second source in combinations, which are tried at one place of the grid.
COMBINED_LENGTH = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """One source with its settings. k: most drafted tokens a pass. length: of the n-gram or the context."""

    source: str
    k: int
    field: str | None = None
    length: int | None = None
    model: str | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What the source needs to be told, in JSON."""
        named = {"field": self.field, "length": self.length, "model": self.model}
        return {name: value for name, value in named.items() if value is not None} | {"k": self.k}


@dataclass(frozen=True, slots=True)
class Options:
    """How to replay. Token counts unless said otherwise.

    prediction_cap: of a predicted text where the request has no max_tokens; 2048 is the platform's
    default. index_tokens: room of the suffix index, 0 for none. draft_model: name for the recommendation.
    drafts_sampled: a draft model is asked about a sample of the requests only. share: of the conversations
    that are replayed.
    """

    fields: tuple[str, ...] = ("prediction",)
    lengths: tuple[int, ...] = (2, 3, 4, 6)
    draft_tokens: tuple[int, ...] = (2, 4, 8, 16)
    prediction_cap: int = 2048
    index_tokens: int = 1_000_000
    costs: Costs = field(default_factory=lambda: Costs(0.1, 0.02))
    draft_model: str | None = None
    tokenizer: str | None = None
    drafts_sampled: bool = False
    share: float = 1.0

    @property
    def most(self) -> int:
        """The longest draft that is tried."""
        return max(self.draft_tokens)

    def to_json(self) -> dict[str, Any]:
        """For the document of a replay and for its workers."""
        return {
            "fields": list(self.fields),
            "lengths": list(self.lengths),
            "draft_tokens": list(self.draft_tokens),
            "prediction_cap": self.prediction_cap,
            "index_tokens": self.index_tokens,
            "draft_cost": self.costs.draft,
            "verify_cost": self.costs.verify,
            "draft_model": self.draft_model,
            "tokenizer": self.tokenizer,
            "drafts_sampled": self.drafts_sampled,
            "share": self.share,
        }

    @classmethod
    def from_json(cls, item: dict[str, Any]) -> Options:
        rest = {name: value for name, value in item.items() if not name.endswith("_cost")}
        for name in ("fields", "lengths", "draft_tokens"):
            rest[name] = tuple(rest[name])
        return cls(**rest, costs=Costs(item["draft_cost"], item["verify_cost"]))


def entries(options: Options) -> tuple[Entry, ...]:
    """The whole grid, in a fixed order."""
    counts, model = options.draft_tokens, options.draft_model
    found = [Entry(PREDICTION, k, field=name) for name in options.fields for k in counts]
    found += [Entry(NGRAM, k, length=length) for length in options.lengths for k in counts]
    if options.index_tokens:
        found += [Entry(SUFFIX, k, length=length) for length in options.lengths for k in counts]
    found += [Entry(DRAFT, k, model=model) for k in counts]
    for name in options.fields:
        found += _combined(name, counts, model)
    return tuple(found)


def _combined(name: str, counts: Sequence[int], model: str | None) -> list[Entry]:
    return [Entry(PREDICTION_NGRAM, k, field=name, length=COMBINED_LENGTH) for k in counts] + [
        Entry(PREDICTION_DRAFT, k, field=name, model=model) for k in counts
    ]
