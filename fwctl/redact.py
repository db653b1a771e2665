"""Secrets never reach an output, a file or a process list: the wrapper and the mask."""

from __future__ import annotations

import re
import threading

MASK = "***"

# Shapes of credentials that are masked even when nobody registered the value; what stands before the
# secret is kept. Fireworks keys begin with `fw_` (docs.fireworks.ai, API keys page); auth.ini holds
# api_key, id_token and refresh_token.
_PATTERNS = (
    re.compile(r"(?P<before>)\bfw_[A-Za-z0-9_-]{3,}"),
    re.compile(r"(?i)(?P<before>\bbearer )[A-Za-z0-9._~+/=-]{6,}"),
    re.compile(r"(?i)(?P<before>--(?:api-key|direct-route-api-keys)[ =])\S+"),
    re.compile(
        r"(?i)(?P<before>(?:api_?key|id_token|refresh_token)"
        r"(?:\s{0,3}=\s{0,3}[\"']?|[\"']\s{0,3}:\s{0,3}[\"']))[^\s\"',]+"
    ),
    re.compile(r"(?P<before>)\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
)
_SECRET_FLAGS = frozenset({"--api-key", "--direct-route-api-keys"})
_SHORTEST_SECRET = 4  # masking shorter values would blank ordinary words
_LONG_SECRET = 8  # from here on an occurrence is no coincidence


class Secret:
    """A sensitive value. Printing, formatting or serialising it shows the mask, or fails.

    `reference` is the unresolved text of the spec (for example `${env:KEY}`), which is not secret.
    It is no dataclass, so that `dataclasses.asdict` of an object around it does not unfold it.
    """

    __slots__ = ("reference", "value")

    def __init__(self, reference: str, value: str | None = None) -> None:
        self.reference = reference
        self.value = value

    def __str__(self) -> str:
        return MASK

    def __repr__(self) -> str:
        return f"Secret({self.reference!r})" if self.reference.startswith("${env:") else "Secret(***)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return (self.reference, self.value) == (other.reference, other.value)

    def __hash__(self) -> int:
        return hash((self.reference, self.value))


class Redactor:
    """Replaces every registered secret, and anything that looks like a credential, by the mask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._secrets: frozenset[str] = frozenset()

    def register(self, *values: str | None) -> None:
        """Mask these values from now on, also in the forms that JSON and a shell give them, and line by
        line; empty and very short ones are ignored."""
        forms = {form for value in values if value for form in _forms(value)}
        with self._lock:
            self._secrets |= {form for form in forms if len(form) >= _SHORTEST_SECRET}

    def holds(self, text: str) -> bool:
        """True when a registered secret of 8 characters or more occurs in the text."""
        return any(len(secret) >= _LONG_SECRET and secret in text for secret in self._secrets)

    def mask(self, text: str) -> str:
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, MASK)
        for pattern in _PATTERNS:
            text = pattern.sub(rf"\g<before>{MASK}", text)
        return text

    def mask_argv(self, argv: list[str] | tuple[str, ...]) -> list[str]:
        """Every word masked, and the whole word behind a flag that carries a secret."""
        before = ("", *argv)
        return [
            MASK if flag in _SECRET_FLAGS else self.mask(word)
            for flag, word in zip(before, argv, strict=False)
        ]


def _forms(value: str) -> set[str]:
    """A secret as it may be written: itself, without blanks around it, escaped, and its longer lines."""
    import json  # only where there is a secret: `fwctl --version` has none to mask
    import shlex

    plain = {value, value.strip()}
    plain |= {line.strip() for line in value.splitlines() if len(line.strip()) >= _LONG_SECRET}
    escaped = {
        json.dumps(text, ensure_ascii=ascii_only)[1:-1] for text in plain for ascii_only in (True, False)
    }
    return plain | escaped | {shlex.quote(text).strip("'") for text in plain}
