"""Each source of drafts in its plainest form: one pass at a time, no index, no shared work.

Written from the rules of docs/speculation.md alone, and slow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

END = -1
Draft = Callable[[list[int]], list[int]]  # from the text so far to drafted tokens


def decode(prompt: Sequence[int], answer: Sequence[int], draft: Draft, k: int) -> tuple[int, int, list[int]]:
    """Passes, drafted tokens and accepted tokens of each pass, by playing the target."""
    truth = [*answer, END]
    written = [answer[0]]  # comes with the prompt
    drafted, accepted = 0, []
    while written[-1] != END:
        proposal = draft([*prompt, *written])[:k]
        drafted += len(proposal)
        count = 0
        for token in proposal:
            if token != truth[len(written)]:
                break
            written.append(token)
            count += 1
        written.append(truth[len(written)])
        accepted.append(count)
    assert written == truth
    return len(accepted), drafted, accepted


def ngram(length: int) -> Draft:
    def draft(text: list[int]) -> list[int]:
        for place in range(len(text) - 1, length - 1, -1):
            if text[place - length : place] == text[len(text) - length :]:
                return text[place:]
        return []

    return draft


def prediction(prompt: Sequence[int], predicted: Sequence[int], realign: int) -> Draft:
    def draft(text: list[int]) -> list[int]:
        answer = text[len(prompt) :]
        place, reached = 0, 0
        for at, token in enumerate(answer):
            if 0 <= place < len(predicted) and predicted[place] == token:
                place += 1
                reached = place
                continue
            tail = answer[max(0, at + 1 - realign) : at + 1]
            found = [
                end
                for end in range(realign, len(predicted))
                if len(tail) == realign and list(predicted[end - realign : end]) == tail
            ]
            behind = [end for end in found if end >= reached]
            place = (behind or found or [-1])[0]
            reached = max(reached, place)
        return list(predicted[place:]) if place >= 0 else []

    return draft


def recorded(prompt: Sequence[int], answer: Sequence[int], top1: Sequence[int], k: int) -> Draft:
    """A model that says its recorded choice as long as it is on the true path, then anything."""

    def draft(text: list[int]) -> list[int]:
        at = len(text) - len(prompt)
        said: list[int] = []
        while len(said) < k:
            said.append(top1[at] if at < len(answer) else -9)
            at += 1
        return said

    return draft


def longest_context(
    trained: Sequence[tuple[Sequence[int], Sequence[int]]], text: Sequence[int], depth: int
) -> tuple[int, set[tuple[int, ...]]]:
    """Tokens of the longest end of the text that stood before an answer token in the training texts, and
    what followed there up to the end of that answer."""
    best, follow = 0, set()
    for prompt, answer in trained:
        whole = [*prompt[-depth:], *answer]
        for place in range(len(whole) - len(answer), len(whole)):
            count = 0
            while (
                count < min(depth, place, len(text))
                and whole[place - 1 - count] == text[len(text) - 1 - count]
            ):
                count += 1
            if count > best:
                best, follow = count, set()
            if count and count == best:
                follow.add(tuple(whole[place:]))
    return best, follow
