"""A tokenizer that needs no download: pieces of about four characters with stable IDs.

It is nobody's real vocabulary. Counts are near those of a BPE tokenizer on English text (one token for
most words), and the text of a token list is exactly the text it came from.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence

# Order matters: a word with its leading space, digits by three as recent tokenizers split them, one
# punctuation mark, a run of white space, any other single character.
_PIECE = re.compile(r" ?[A-Za-z]{1,9}|[0-9]{1,3}| ?[!-/:-@\[-`{-~]|\s{1,8}|.", re.DOTALL)
# Tokens whose text is remembered so that IDs sent back by a client become text again.
_MEMORY = 200_000


class Tokenizer:
    """Splits text and remembers the pieces it has seen, for clients that send token IDs."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._pieces: dict[int, str] = {}

    @staticmethod
    def split(text: str) -> list[str]:
        """Pieces whose concatenation is `text`."""
        return _PIECE.findall(text)

    def id_of(self, piece: str) -> int:
        """A stable ID below 2**31; the same piece has the same ID in every process."""
        known = self._ids.get(piece)
        if known is not None:
            return known
        number = zlib.crc32(piece.encode("utf-8", "surrogatepass")) & 0x7FFF_FFFF
        if len(self._ids) < _MEMORY:
            self._ids[piece] = number
            self._pieces.setdefault(number, piece)
        return number

    def ids(self, pieces: Iterable[str]) -> list[int]:
        return [self.id_of(piece) for piece in pieces]

    def text_of(self, ids: Sequence[int]) -> str:
        """Text of IDs seen before; an unknown ID becomes ` <ID>`."""
        return "".join(self._pieces.get(number, f" <{number}>") for number in ids)
