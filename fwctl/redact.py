"""Secrets never reach an output, a file or a process list: the wrapper and the mask."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MASK = "***"

# Shapes of credentials that are masked even when nobody registered the value.
# Fireworks keys begin with `fw_` (docs.fireworks.ai, API keys page).
_PATTERNS = (
    re.compile(r"\bfw_[A-Za-z0-9_-]{3,}"),
    re.compile(r"(?i)(?<=bearer )[A-Za-z0-9._~+/=-]{6,}"),
    re.compile(r"(?i)(?<=--api-key[ =])\S+"),
    re.compile(r"(?i)(?<=api_key = )\S+"),
    re.compile(r"(?i)(?<=api_key=)\S+"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
)
_SHORTEST_SECRET = 4  # masking shorter values would blank ordinary words
_LONG_SECRET = 8  # from here on an occurrence is no coincidence


@dataclass(frozen=True, slots=True)
class Secret:
    """A sensitive value. Printing, formatting or serialising it shows the mask.

    `reference` is the unresolved text of the spec (for example `${env:KEY}`), which is not secret.
    """

    reference: str
    value: str | None = field(repr=False)

    def __str__(self) -> str:
        return MASK

    def __repr__(self) -> str:
        return f"Secret({self.reference!r})" if self.reference.startswith("${env:") else "Secret(***)"


class Redactor:
    """Replaces every registered secret, and anything that looks like a credential, by the mask."""

    def __init__(self) -> None:
        self._secrets: set[str] = set()

    def register(self, *values: str | None) -> None:
        """Mask these values from now on; empty and very short ones are ignored."""
        self._secrets.update(v for v in values if v and len(v) >= _SHORTEST_SECRET)

    def holds(self, text: str) -> bool:
        """True when a registered secret of 8 characters or more occurs in the text."""
        return any(len(secret) >= _LONG_SECRET and secret in text for secret in tuple(self._secrets))

    def mask(self, text: str) -> str:
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, MASK)
        for pattern in _PATTERNS:
            text = pattern.sub(MASK, text)
        return text

    def mask_argv(self, argv: list[str] | tuple[str, ...]) -> list[str]:
        return [self.mask(word) for word in argv]
