"""Text to token ids: exactly with a model's tokenizer.json, else by an approximation that says so."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any

from fwctl.errors import FwctlError, UsageError

APPROXIMATION = (
    "approximate: words in pieces of up to 10 letters, 3 digits, 4 signs or 16 blanks, "
    "and single letters where words have no blanks between them"
)
MAX_TOKENIZER_BYTES = 256 * 2**20
# Like the first step of the tokenizers of the large models: a word takes the blank before it along.
# Scripts without blanks between words (Thai to Khmer, Chinese, Japanese) and Hangul go letter by letter: in
# longer pieces the same sentence would be other pieces wherever it begins at another letter.
_BY_LETTER = (
    "\u0e00-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
)
_WORD = rf"[{_BY_LETTER}]| ?[^\W\d_{_BY_LETTER}]{{1,10}}"
_PIECE = re.compile(_WORD + r"|\d{1,3}| ?[^\w\s]{1,4}|\n+|\s{1,16}|_+|.", re.DOTALL)
_KNOWN_PIECES = 200_000


class _Ids(dict[str, int]):
    """Ids that are the same in every process; short pieces are their own id, so none are confused."""

    def __missing__(self, piece: str) -> int:
        raw = piece.encode("utf-8", "surrogatepass")
        data = bytes([len(raw)]) + raw if len(raw) <= 6 else b"\x0f" + blake2b(raw, digest_size=6).digest()
        if len(self) >= _KNOWN_PIECES:
            self.clear()
        found = self[piece] = int.from_bytes(data, "big")
        return found


def pieces(text: str) -> list[str]:
    """The parts of a text that count as tokens; together they are the text again."""
    return _PIECE.findall(text)


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Text to ids, to the texts of the tokens, and to the places in it where they end.

    about: how it counts, for people.
    """

    ids: Callable[[str], list[int]]
    texts: Callable[[str], list[str]]
    ends: Callable[[str], list[int]]
    exact: bool
    about: str


def approximate() -> Tokenizer:
    """The approximation. Ids are below 2^56."""
    ids = _Ids()

    def ends(text: str) -> list[int]:
        return list(accumulate(map(len, pieces(text))))

    return Tokenizer(lambda text: [ids[piece] for piece in pieces(text)], pieces, ends, False, APPROXIMATION)


def load_tokenizers() -> Any:
    """The package. FwctlError without the extra."""
    try:
        return import_module("tokenizers")
    except ImportError:
        raise FwctlError(
            "exact token counts need the tokenizers package, which is not installed",
            next_steps=["pip install 'fwctl[tokenizers]'", "leave --tokenizer out for an approximation"],
        ) from None


def exact(path: Path, tokenizers: Any) -> Tokenizer:
    """The tokenizer of a tokenizer.json, by the package of that name. UsageError for a bad file."""
    text = _read(path)
    try:
        tokenizer = tokenizers.Tokenizer.from_str(text)
    except Exception:  # the package raises bare Exception for a file it does not understand
        raise UsageError(
            f"{path} is not a tokenizer.json that the tokenizers package can read",
            next_steps=["give the tokenizer.json of the model's repository"],
        ) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def encode(text: str) -> Any:
        return tokenizer.encode(_plain(text), add_special_tokens=False)

    def texts(text: str) -> list[str]:
        plain = _plain(text)
        return [plain[begin:end] for begin, end in encode(plain).offsets]

    def ends(text: str) -> list[int]:
        return [end for _, end in encode(text).offsets]

    return Tokenizer(lambda text: list(encode(text).ids), texts, ends, True, f"exact: {path.name}")


def _read(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > MAX_TOKENIZER_BYTES:
            raise UsageError(f"{path} is not a tokenizer.json file")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not a tokenizer.json file: it is not UTF-8") from None


def _plain(text: str) -> str:
    """The text without lone surrogates, which cannot be handed on as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")
