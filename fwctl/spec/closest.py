"""Did you mean: the known word nearest to what was written."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

_MOST_LISTED = 14
_LONGEST_WORD = 64  # nothing in the tables is longer; comparing long text costs time and helps nobody
# Other people's names for precisions -> the platform's (Hugging Face and PyTorch dtype names).
_SYNONYMS = {
    "BFLOAT16": "BF16",
    "FLOAT16": "FP16",
    "HALF": "FP16",
    "FLOAT8": "FP8",
    "E4M3": "FP8",
    "MXFP4": "FP4_MX_MOE",
    "NVFP4": "FP4",
    "INT4": "FP4",
    "EU": "EUROPE",
    "ASIA": "APAC",
    "WORLD": "GLOBAL",
    "COST": "minimal",
}


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was most likely meant, None when nothing is near."""
    return _closest(word, tuple(known)) if 0 < len(word) <= _LONGEST_WORD else None


@lru_cache(1024)
def _closest(word: str, options: tuple[str, ...]) -> str | None:
    plain = _plain(word)
    by_plain: dict[str, str] = {}
    for option in options:
        by_plain.setdefault(_plain(option), option)
    if plain in by_plain:
        return by_plain[plain]
    synonym = _SYNONYMS.get(word.upper())
    if synonym in options:
        return synonym
    bare = _without_vendor(plain)
    for form, option in by_plain.items():
        if len(bare) > 1 and (form.endswith(plain) or _without_vendor(form).startswith(bare)):
            return option
    from difflib import get_close_matches

    near = get_close_matches(plain, by_plain, n=1, cutoff=0.72)
    return by_plain[near[0]] if near else None


def _without_vendor(plain: str) -> str:
    return plain.removeprefix("NVIDIA").removeprefix("AMD")


def _plain(word: str) -> str:
    return "".join(character for character in word.upper() if character.isalnum())


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """The suggestion for a message, None when nothing is near."""
    meant = closest(word, known)
    return f"did you mean {meant}?" if meant is not None else None


def listed(known: Iterable[str], rest: str) -> str:
    """The known words for a message; `rest` says where to find all of them when they are many."""
    words = tuple(known)
    shown = ", ".join(words[:_MOST_LISTED])
    return f"known: {shown}" if len(words) <= _MOST_LISTED else f"known: {shown}, … ({rest})"
