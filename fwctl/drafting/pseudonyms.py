"""Stand-ins that keep the shape of what they replace: digits for digits, letters for letters. Pure.

The same value gets the same stand-in throughout a run, so that repetition, on which drafts live, stays.
Lengths, signs and the case of letters stay too, and with them the structure of JSON and most token
boundaries. A leading zero stays a zero and no other digit becomes one, so numbers stay numbers.
"""

from __future__ import annotations

import hmac
import string
from collections.abc import Collection, Iterator
from hashlib import blake2b

_ATTEMPTS = 50
_SMALL, _BIG = string.ascii_lowercase, string.ascii_uppercase


def digest(value: str) -> int:
    """64 bits that stand for a value in sets of millions."""
    return int.from_bytes(blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


class Pseudonyms:
    """key: random bytes of this run; without them nobody can tell a value from its stand-in.

    taken: digests of everything that was found, none of which may come back as a stand-in.
    """

    def __init__(self, key: bytes, taken: Collection[int]) -> None:
        self._key = key
        self._taken = taken

    def of(self, value: str) -> str:
        """The stand-in. Where all values of a shape are taken it is a calm one: a 1 and zeros, or x."""
        for attempt in range(_ATTEMPTS):
            found = self._drawn(value, attempt)
            if found != value and digest(found) not in self._taken:
                return found
        return "".join(_calm(value))

    def _drawn(self, value: str, attempt: int) -> str:
        source = self._numbers(value, attempt)
        drawn: list[str] = []
        leads = True
        for char in value:
            drawn.append(_like(char, next(source), leads=leads))
            leads = not char.isdecimal()
        return "".join(drawn)

    def _numbers(self, value: str, attempt: int) -> Iterator[int]:
        block = 0
        while True:
            text = f"{attempt}:{block}:{value}".encode("utf-8", "surrogatepass")
            yield from hmac.digest(self._key, text, "sha512")
            block += 1


def _like(char: str, number: int, *, leads: bool) -> str:
    if char.isdecimal():
        if leads:
            return "0" if not int(char) else "123456789"[number % 9]
        return "0123456789"[number % 10]
    if char.isalpha():
        return (_BIG if char.isupper() else _SMALL)[number % 26]
    return char


def _calm(value: str) -> Iterator[str]:
    leads = True
    for char in value:
        if char.isdecimal():
            yield "1" if leads and int(char) else "0"
            leads = False
        else:
            yield ("X" if char.isupper() else "x") if char.isalpha() else char
            leads = True
