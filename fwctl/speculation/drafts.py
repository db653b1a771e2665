"""Sources of drafts that need the request alone: prediction, n-gram lookup, recorded tokens. Pure.

Each function answers for every decoded position of one answer (see verify.py): `start` is the place of the
first of them in `tokens`, which holds the prompt, the answer and the end mark.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import islice

from fwctl.speculation.verify import Offer

REALIGN_TOKENS = 3  # a lost prediction is found again by this many tokens of the answer


def ngram(tokens: Sequence[int], start: int, length: int, most: int) -> Offer:
    """Drafts copied from behind the last earlier place of the same `length` tokens, prompt and answer alike.

    most: longest draft, up to 255. A draft ends where the text written so far ends. The first answer token
    and the end mark are looked at like any other.
    """
    places = _places_by_gram(tokens, start, length)
    count = len(tokens) - start
    offered, matching = bytearray(count), bytearray(count)
    later = -1  # place of the position behind, whose matching tokens are known
    for at in range(count - 1, -1, -1):
        place = places[at]
        if place >= 0:
            here = start + at
            room = min(most, here - place)
            offered[at] = room
            if tokens[place] == tokens[here]:
                if later == place + 1:
                    matching[at] = min(room, matching[at + 1] + 1)
                else:
                    matching[at] = _common(tokens, place, here, room)
        later = place
    return Offer(bytes(offered), bytes(matching))


def _places_by_gram(tokens: Sequence[int], start: int, length: int) -> list[int]:
    """For each position from `start` on, where the text behind the last equal n-gram begins, or -1."""
    known: dict[tuple[int, ...], int] = {}
    first = start - length  # the n-gram that ends before `start`; a shorter text has none
    if first > 0:
        grams = zip(*(islice(tokens, shift, first + shift) for shift in range(length)), strict=False)
        known.update(zip(grams, range(length, length + first), strict=False))
    begin = max(first, 0)
    found = [-1] * min(begin - first, len(tokens) - start)
    get = known.get
    place = begin + length
    for gram in zip(*(islice(tokens, begin + shift, None) for shift in range(length)), strict=False):
        if place >= len(tokens):
            break
        found.append(get(gram, -1))
        known[gram] = place
        place += 1
    return found


def _common(tokens: Sequence[int], one: int, other: int, most: int) -> int:
    """Length of the longest common beginning of the texts at two places, up to `most`."""
    if tokens[one : one + most] == tokens[other : other + most]:
        return most
    count = 0
    while tokens[one + count] == tokens[other + count]:
        count += 1
    return count


def prediction(tokens: Sequence[int], start: int, predicted: Sequence[int], most: int) -> Offer:
    """Drafts taken from a text that the caller expects, read along with the answer.

    The prediction is followed from its beginning. When the answer leaves it, it is found again by the
    last REALIGN_TOKENS tokens of the answer, at the next place behind the last known one, else at the
    first; until then nothing is drafted.
    """
    count = len(tokens) - start
    places = _places_in_prediction(tokens, start, predicted)
    offered, matching = bytearray(count), bytearray(count)
    later = -1
    for at in range(count - 1, -1, -1):
        place = places[at]
        if 0 <= place < len(predicted):
            room = min(most, len(predicted) - place)
            offered[at] = room
            if predicted[place] == tokens[start + at]:
                known = matching[at + 1] if later == place + 1 and at + 1 < count else 0
                matching[at] = min(room, known + 1)
        later = place
    return Offer(bytes(offered), bytes(matching))


def _places_in_prediction(tokens: Sequence[int], start: int, predicted: Sequence[int]) -> list[int]:
    """For each decoded position the place in the prediction that should come next, or -1 while lost."""
    places_of: dict[tuple[int, ...], list[int]] = {}
    for place in range(REALIGN_TOKENS, len(predicted)):
        places_of.setdefault(tuple(predicted[place - REALIGN_TOKENS : place]), []).append(place)
    written = start - 1  # the first token of the answer, which came with the prompt
    place, reached = 0, 0
    found: list[int] = []
    for at in range(written, len(tokens) - 1):
        if 0 <= place < len(predicted) and predicted[place] == tokens[at]:
            place += 1
            reached = place
        else:
            tail = tuple(tokens[max(written, at + 1 - REALIGN_TOKENS) : at + 1])
            place = _next_place(places_of.get(tail), reached)
            reached = max(reached, place)
        found.append(place)
    return found


def _next_place(places: list[int] | None, reached: int) -> int:
    if not places:
        return -1
    at = bisect_left(places, reached)
    return places[at] if at < len(places) else places[0]


def recorded(top1: Sequence[int], answer: Sequence[int], most: int) -> Offer:
    """Drafts of a model whose first choice behind every true beginning was recorded.

    top1[i]: its choice for answer[i], given the prompt and answer[:i]. A draft is confirmed as long as
    the choices are right, and behind its first wrong token nothing is looked at, so this is exact. A
    model always drafts `most` tokens. The end of the answer counts as missed: what was recorded for it,
    if anything, is not in the record.
    """
    count = len(answer)
    matching = bytearray(count)
    run = 0
    for at in range(count - 2, -1, -1):
        run = min(most, run + 1) if top1[at + 1] == answer[at + 1] else 0
        matching[at] = run
    return Offer(bytes([most]) * count, bytes(matching), bytes([1]) * count)
