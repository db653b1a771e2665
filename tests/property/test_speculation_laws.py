"""What a replay projects and what a server that drafts does are the same passes, token by token.

The server is the simulator's engine, which shares no code with the replay.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.inference.perf import parse_acceptance
from fwctl.measure.speculation import of_rows
from fwctl.simulator.http.engine.speculation import Drafter, Passes, plan_passes
from fwctl.speculation import drafts
from fwctl.speculation.verify import END, Histogram, Offer, verify

TEXTS = st.lists(st.integers(0, 4), min_size=1, max_size=60)
LENGTHS = st.integers(1, 4)
COUNTS = st.integers(1, 8)


def served(prompt: list[int], answer: list[int], drafter: Drafter) -> Passes:
    """The passes of a server whose first token comes with the prompt."""
    output = [*map(str, answer[1:]), "end"]
    return plan_passes(
        output, prompt=[*map(str, prompt), str(answer[0])], drafter=drafter, draw=random.Random(1)
    )


def looked_up(prompt: list[int], answer: list[int], length: int, count: int) -> Offer:
    return drafts.ngram([*prompt, *answer, END], len(prompt) + 1, length, count)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=40), TEXTS, LENGTHS, COUNTS)
def test_a_replay_takes_the_passes_that_a_server_with_ngrams_takes(
    prompt: list[int], answer: list[int], length: int, count: int
) -> None:
    measured = served(prompt, answer, Drafter(count, ngram=length))
    into = Histogram.empty(count)
    work = verify(looked_up(prompt, answer, length, count), count, into)
    assert (work.passes, work.free) == (len(measured.sizes), measured.drafted)
    assert [into.accepted[size] for size in range(count + 1)] == [
        measured.sizes.count(size + 1) for size in range(count + 1)
    ]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4), LENGTHS, COUNTS, st.booleans())
def test_tokens_a_pass_that_a_server_reports_are_those_of_its_passes_with_drafts(
    texts: list[tuple[list[int], list[int]]], length: int, count: int, conditional: bool
) -> None:
    rows, drafted, accepted = [], 0, 0
    for prompt, answer in texts:
        passes = served(prompt, answer, Drafter(count, ngram=length))
        if text := passes.acceptance_text(conditional=conditional):
            rows.append({"server": {"speculation-acceptance": text}})
        into = Histogram.empty(count)
        verify(looked_up(prompt, answer, length, count), count, into)
        drafted += sum(into.drafted[1:])
        accepted += sum(size * passes for size, passes in enumerate(into.accepted))
    found = of_rows(rows)
    assert found.unread == 0
    assert found.window.passes == drafted
    assert found.tokens_per_pass()["value"] == (pytest.approx(1 + accepted / drafted) if drafted else None)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 8), min_size=1, max_size=60), st.integers(1, 8))
def test_all_ways_to_count_acceptance_give_the_same_shares(accepted: list[int], count: int) -> None:
    passes = [min(size, count) for size in accepted]
    hits = [sum(size > at for size in passes) for at in range(count)]
    of_all = ",".join(f"{at}:{hit}/{len(passes)}" for at, hit in enumerate(hits))
    given_before = ",".join(
        f"{at}:{hit}/{total}" for at, (hit, total) in enumerate(zip(hits, [len(passes), *hits], strict=False))
    )
    shares = [hit / len(passes) for hit in hits]
    assert parse_acceptance(of_all).reached == pytest.approx(shares)
    assert parse_acceptance(given_before).reached == pytest.approx(shares)
