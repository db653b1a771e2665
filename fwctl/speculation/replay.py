"""Replays traces through every source and every setting, and counts. Pure but for its tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from fwctl.speculation import drafts
from fwctl.speculation.entries import (
    DRAFT,
    NGRAM,
    PREDICTION,
    PREDICTION_DRAFT,
    PREDICTION_NGRAM,
    SUFFIX,
    Entry,
    Options,
    entries,
)
from fwctl.speculation.intervals import cost
from fwctl.speculation.suffix import SuffixIndex
from fwctl.speculation.tally import JUDGE, TRAIN, Tally, TypeTally, group, split
from fwctl.speculation.tokens import Tokenizer
from fwctl.speculation.trace import Trace
from fwctl.speculation.trace import field as field_of
from fwctl.speculation.verify import END, Histogram, Offer, first_of, verify

# Offers are made once for all settings that differ in the number of drafted tokens only.
Key = tuple[str, str | None, int | None]


def key_of(entry: Entry) -> Key:
    return entry.source, entry.field, entry.length


@dataclass(slots=True)
class Replayer:
    """Feeds a tally. index: of the training split, when there is one.

    right: digest of a trace -> for each token of its answer 1 where a draft model's first choice was it.
    """

    options: Options
    tokenizer: Tokenizer
    index: SuffixIndex | None = None
    right: Mapping[str, Sequence[int]] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    grid: tuple[Entry, ...] = ()

    def __post_init__(self) -> None:
        self.grid = entries(self.options)

    def feed(self, trace: Trace) -> None:
        """Replay one trace. Conversations of the training split are counted and not replayed."""
        answer = self.tokenizer.ids(trace.completion)
        part = split(trace.cluster)
        counts = self.tally.of(trace.type, self.grid)
        counts.requests[part] += 1
        counts.tokens[part] += len(answer)
        if part == TRAIN or not answer:
            return
        offers = self._offers(trace, answer)
        place = group(trace.cluster)
        for at, entry in enumerate(self.grid):
            offer = offers.get(key_of(entry))
            if offer is not None:
                self._count(counts, at, offer, part, place)

    def _count(self, counts: TypeTally, at: int, offer: Offer, part: str, place: int) -> None:
        entry = self.grid[at]
        judged = part == JUDGE
        into = counts.histograms[at] if judged else Histogram.empty(entry.k)
        spent = verify(offer, entry.k, into)
        counts.add(part, place, at, spent)
        if judged:
            counts.answered[at] += 1
            counts.slower[at] += cost(spent, self.options.costs) > spent.tokens

    def _offers(self, trace: Trace, answer: Sequence[int]) -> dict[Key, Offer]:
        """What every source drafts in this answer; a source without any evidence for it is absent."""
        tokens = [*self.tokenizer.ids(trace.prompt), *answer, END]
        start = len(tokens) - len(answer)
        options, most = self.options, self.options.most
        found: dict[Key, Offer] = {
            (NGRAM, None, length): drafts.ngram(tokens, start, length, most) for length in options.lengths
        }
        if self.index is not None:
            offers = self.index.offers(tokens, start, options.lengths, most)
            found |= {
                (SUFFIX, None, length): offer for length, offer in zip(options.lengths, offers, strict=True)
            }
        if (drafted := self._drafted(trace, answer)) is not None:
            found[DRAFT, None, None] = drafted
        cap = trace.max_tokens or options.prediction_cap
        for name in options.fields:
            predicted = self.tokenizer.ids(field_of(trace, name))[:cap]
            found[PREDICTION, name, None] = drafts.prediction(tokens, start, predicted, most)
        self._combine(found)
        return found

    def _combine(self, found: dict[Key, Offer]) -> None:
        """Predictions with a second source behind them, where both speak about the same tokens."""
        for entry in self.grid:
            key = key_of(entry)
            if key in found or entry.source not in (PREDICTION_NGRAM, PREDICTION_DRAFT):
                continue
            first = found[PREDICTION, entry.field, None]
            second = found.get((NGRAM, None, entry.length) if entry.length else (DRAFT, None, None))
            if second is not None and len(second.matching) == len(first.matching):
                found[key] = first_of(first, second)

    def _drafted(self, trace: Trace, answer: Sequence[int]) -> Offer | None:
        """The draft model's offer: recorded beside the answer, or asked for."""
        most = self.options.most
        if trace.draft_tokens is None:
            right = self.right.get(digest(trace), ()) if self.right else ()
            return drafts.recorded(right, [1] * len(right), most) if len(right) == len(answer) else None
        aligned = align(trace, answer, self.tokenizer)
        if aligned is None:
            self.tally.unaligned += 1
            return None
        return drafts.recorded(aligned[1], aligned[0], most) if aligned[0] else None


def digest(trace: Trace) -> str:
    """Names a trace by its texts."""
    text = f"{len(trace.prompt)}:{trace.prompt}{trace.completion}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def align(
    trace: Trace, answer: Sequence[int], tokenizer: Tokenizer
) -> tuple[Sequence[int], Sequence[int]] | None:
    """The answer's tokens and the recorded choices in the same alphabet; None when they do not match.

    Recorded choices lie beside the answer's own recorded tokens, or beside what the tokenizer makes of it:
    ids beside ids of an exact tokenizer, texts beside the texts of its tokens. Texts without any blanks
    lie beside words or tokens without theirs.
    """
    choices = trace.draft_tokens or ()
    beside: Sequence[int | str]
    if trace.answer_tokens is not None:
        beside = trace.answer_tokens
    elif all(isinstance(item, int) for item in choices):
        beside = answer if tokenizer.exact else ()
    else:
        beside = _texts_beside(trace.completion, choices, tokenizer)
    if len(beside) != len(choices):
        return None
    numbers: dict[int | str, int] = {}
    return (
        [numbers.setdefault(item, len(numbers)) for item in beside],
        [numbers.setdefault(item, len(numbers)) for item in choices],
    )


def _texts_beside(completion: str, choices: Sequence[int | str], tokenizer: Tokenizer) -> Sequence[int | str]:
    texts = tokenizer.texts(completion)
    if any(isinstance(item, str) and item != item.strip() for item in choices):
        return texts
    words = completion.split()
    return words if len(words) == len(choices) else [text.strip() for text in texts]


def training(traces: Iterable[Trace], tokenizer: Tokenizer) -> Iterator[tuple[list[int], list[int]]]:
    """Prompt and answer tokens of the training split, for the suffix index."""
    for trace in traces:
        if split(trace.cluster) == TRAIN:
            yield tokenizer.ids(trace.prompt), tokenizer.ids(trace.completion)
