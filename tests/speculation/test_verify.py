"""The greedy verify rule by hand, and every source against its plainest form on small random texts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.speculation import drafts
from fwctl.speculation.suffix import DEPTH_TOKENS, SuffixIndex
from fwctl.speculation.verify import END, Histogram, Offer, Spent, first_of, verify
from tests.speculation import brute

TEXT = st.lists(st.integers(0, 3), max_size=25)
ANSWER = st.lists(st.integers(0, 3), min_size=1, max_size=25)
COUNT = st.integers(1, 7)


def work(offer: Offer, k: int) -> tuple[Spent, list[int]]:
    into = Histogram.empty(k)
    return verify(offer, k, into), into.accepted


def whole(prompt: list[int], answer: list[int]) -> tuple[list[int], int]:
    return [*prompt, *answer, END], len(prompt) + 1


def accepted_tokens(draft: list[int], truth: list[int]) -> int:
    """Drafted tokens that the target confirms: the longest common beginning."""
    count = 0
    for drafted, true in zip(draft, truth, strict=False):
        if drafted != true:
            break
        count += 1
    return count


def test_a_right_prediction_by_hand() -> None:
    # Answer of 9 tokens, all predicted, 4 a pass. Token 1 comes with the prompt. Pass 1 confirms 2..5 and
    # adds 6; pass 2 confirms 7..9 and adds the end. 9 tokens in 2 passes, 4 + 3 drafted.
    answer = list(range(1, 10))
    tokens, start = whole([], answer)
    found, accepted = work(drafts.prediction(tokens, start, answer, 4), 4)
    assert found == Spent(tokens=9, passes=2, free=7, paid=0)
    assert accepted == [0, 0, 0, 1, 1]


def test_a_prediction_with_one_wrong_token_is_found_again_by_hand() -> None:
    # 1 2 3 4 5 6 7 8 predicted, 1 2 9 4 5 6 7 8 answered, 4 a pass. Pass 1 drafts 3 behind 2... token by
    # token: after 1: draft 2 3 4 5, 2 is right, the target says 9. Lost until 4 5 6 are written: three
    # plain passes. Then 7 8 are drafted, both right, and the end comes with them. 8 tokens in 5 passes.
    answer = [1, 2, 9, 4, 5, 6, 7, 8]
    tokens, start = whole([], answer)
    found, accepted = work(drafts.prediction(tokens, start, [1, 2, 3, 4, 5, 6, 7, 8], 4), 4)
    assert found == Spent(tokens=8, passes=5, free=6, paid=0)
    assert accepted == [3, 1, 1, 0, 0]


def test_an_ngram_by_hand() -> None:
    # Prompt 1 2 3 4 5, answer 7 1 2 3 4 9, n-grams of 2, 3 a pass. After 7, 7 1: nothing known, two plain
    # passes write 1 and 2. Behind 1 2 stands 3 4 5: 3 4 are right, the target says 9. Then 4 9 is new:
    # one plain pass for the end. 6 tokens in 4 passes, 3 drafted.
    tokens, start = whole([1, 2, 3, 4, 5], [7, 1, 2, 3, 4, 9])
    found, accepted = work(drafts.ngram(tokens, start, 2, 3), 3)
    assert found == Spent(tokens=6, passes=4, free=3, paid=0)
    assert accepted == [3, 0, 1, 0]


def test_a_draft_model_by_hand() -> None:
    # Answer 1 2 3 4 5; the model is wrong at the third token. 2 a pass: after 1 it says 2 and wrong: 2 is
    # right, the target adds 3. Then 4 5 are right and the end comes along. 5 tokens in 2 passes.
    found, accepted = work(drafts.recorded([1, 2, 0, 4, 5], [1, 2, 3, 4, 5], 2), 2)
    assert found == Spent(tokens=5, passes=2, free=0, paid=4)
    assert accepted == [0, 1, 1]


def test_an_empty_or_short_answer_takes_as_many_passes_as_tokens() -> None:
    assert work(Offer(b"", b""), 4)[0] == Spent(0, 0, 0, 0)
    tokens, start = whole([1, 2], [3])
    assert work(drafts.ngram(tokens, start, 2, 4), 4)[0] == Spent(1, 1, 0, 0)


@settings(max_examples=150, deadline=None)
@given(TEXT, ANSWER, st.integers(1, 4), COUNT)
def test_ngram_is_its_plainest_form(prompt: list[int], answer: list[int], length: int, k: int) -> None:
    tokens, start = whole(prompt, answer)
    passes, drafted, accepted = brute.decode(prompt, answer, brute.ngram(length), k)
    for most in (k, 12):
        found, histogram = work(drafts.ngram(tokens, start, length, most), k)
        assert (found.passes, found.free) == (passes, drafted)
        assert histogram == [accepted.count(count) for count in range(k + 1)]


@settings(max_examples=150, deadline=None)
@given(TEXT, ANSWER, st.lists(st.integers(0, 3), max_size=30), COUNT)
def test_prediction_is_its_plainest_form(
    prompt: list[int], answer: list[int], predicted: list[int], k: int
) -> None:
    tokens, start = whole(prompt, answer)
    plain = brute.prediction(prompt, predicted, drafts.REALIGN_TOKENS)
    passes, drafted, accepted = brute.decode(prompt, answer, plain, k)
    found, histogram = work(drafts.prediction(tokens, start, predicted, k), k)
    assert (found.passes, found.free) == (passes, drafted)
    assert histogram == [accepted.count(count) for count in range(k + 1)]


@settings(max_examples=80, deadline=None)
@given(TEXT, ANSWER, st.data(), COUNT)
def test_recorded_choices_are_their_plainest_form(
    prompt: list[int], answer: list[int], data: st.DataObject, k: int
) -> None:
    top1 = data.draw(st.lists(st.integers(0, 3), min_size=len(answer), max_size=len(answer)))
    passes, drafted, accepted = brute.decode(prompt, answer, brute.recorded(prompt, answer, top1, k), k)
    found, histogram = work(drafts.recorded(top1, answer, k), k)
    assert (found.passes, found.paid) == (passes, drafted)
    assert histogram == [accepted.count(count) for count in range(k + 1)]


@settings(max_examples=80, deadline=None)
@given(TEXT, ANSWER, st.lists(st.integers(0, 3), max_size=30), COUNT)
def test_a_combination_asks_the_second_where_the_first_is_silent(
    prompt: list[int], answer: list[int], predicted: list[int], k: int
) -> None:
    tokens, start = whole(prompt, answer)
    first, second = brute.prediction(prompt, predicted, drafts.REALIGN_TOKENS), brute.ngram(2)
    passes, drafted, _ = brute.decode(prompt, answer, lambda text: first(text) or second(text), k)
    both = first_of(drafts.prediction(tokens, start, predicted, k), drafts.ngram(tokens, start, 2, k))
    assert work(both, k)[0] == Spent(len(answer), passes, drafted, 0)


def test_a_combination_pays_for_the_tokens_of_the_model_alone() -> None:
    answer = [1, 2, 3, 4, 5, 6]
    tokens, start = whole([], answer)
    first = drafts.prediction(tokens, start, [1, 2, 3], 2)
    both = first_of(first, drafts.recorded(answer, answer, 2))
    # 2 3 predicted, 4 added; then 5 6 by the model, and the end.
    assert work(both, 2)[0] == Spent(tokens=6, passes=2, free=2, paid=2)
    again = first_of(drafts.recorded(answer, answer, 2), first)
    assert work(again, 2)[0] == Spent(tokens=6, passes=2, free=0, paid=4)


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(TEXT, ANSWER), max_size=4), TEXT, ANSWER)
def test_the_suffix_index_finds_the_longest_context(
    trained: list[tuple[list[int], list[int]]], prompt: list[int], answer: list[int]
) -> None:
    index = SuffixIndex.build(trained, 10_000)
    index = SuffixIndex.from_bytes(index.to_bytes())
    tokens, start = whole(prompt, answer)
    [offer] = index.offers(tokens, start, [1], 6)
    for at in range(len(answer)):
        length, follow = brute.longest_context(trained, tokens[: start + at], DEPTH_TOKENS)
        truth = tokens[start + at :]
        allowed = {(len(text[:6]), accepted_tokens(text[:6], truth)) for text in follow} or {(0, 0)}
        assert (offer.offered[at], offer.matching[at]) in allowed
        [longer] = index.offers(tokens, start, [length + 1], 6)
        assert not longer.offered[at]


def test_the_suffix_index_takes_the_most_frequent_continuation() -> None:
    trained = [([], [1, 2, 7, 7])] + [([], [1, 2, 8, 8])] * 3
    index = SuffixIndex.build(trained, 1000)
    tokens, start = whole([], [1, 2, 8, 8])
    [offer] = index.offers(tokens, start, [2], 4)
    assert list(offer.offered) == [0, 2, 1, 0]
    assert list(offer.matching) == [0, 2, 1, 0]


def test_the_suffix_index_is_bounded_and_may_be_empty() -> None:
    index = SuffixIndex.build((([1, 2], list(range(100))) for _ in range(1000)), 500)
    assert len(index.tokens) <= 501
    nothing = SuffixIndex.build([], 500)
    assert nothing.offers([1, 2, END], 1, [1], 4)[0].offered == bytes(2)
