"""Collects diagnostics while a run is read, and orders them at the end."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from fwctl.errors import Diagnostic, Severity
from fwctl.spec.sources import Sources, Span

MOST_OF_A_CODE = 10_000  # of one code in one file; the rest is counted in one last line
MOST_GUESSES = 200  # of one code in one file; looking for what was meant costs a millisecond
_LONGEST_SHOWN = 200


def shown(text: str) -> str:
    """User text inside a message: quoted, control characters escaped, a very long one shortened."""
    if len(text) > _LONGEST_SHOWN:
        text = text[:_LONGEST_SHOWN] + "…"
    if text.isprintable() and "'" not in text:
        return f"'{text}'"
    return repr(text)


# White space and marks that look like nothing or like a space; pasted text is full of them.
_INVISIBLE = re.compile("[\u00a0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2069\u3000\ufeff]")


def invisible_in(text: str) -> str | None:
    """Name of the first character that nobody sees, for a message; None when there is none."""
    found = _INVISIBLE.search(text)
    return f"an invisible character (U+{ord(found.group()):04X})" if found else None


def flow(value: object) -> str:
    """An example as YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    text = str(value)
    needs_quotes = isinstance(value, str) and any(mark in text for mark in "*{}[]:,#&")
    return f'"{text}"' if needs_quotes else text


def escape(key: str) -> str:
    """One segment of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


class Report:
    """The diagnostics of one run. Places are spans of `sources`."""

    __slots__ = ("_counts", "_found", "_seen", "sources")

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._found: list[tuple[Span, Diagnostic]] = []
        self._counts: Counter[tuple[str, str]] = Counter()
        self._seen: set[tuple[str, Span, str]] = set()

    def full(self, code: str, span: Span, most: int = MOST_OF_A_CODE) -> bool:
        """True when that many problems of this code stand in that file: by default, no more are kept."""
        return self._counts[self.sources.of(span[0]).file, code] >= most

    def overflows(self, code: str, span: Span) -> bool:
        """True when no more of this code are kept for that file; then this one is counted only."""
        if not self.full(code, span):
            return False
        self._counts[self.sources.of(span[0]).file, code] += 1
        return True

    def add(
        self,
        code: str,
        span: Span,
        message: str,
        *,
        severity: Severity = Severity.ERROR,
        suggestion: str | None = None,
        deployment: str | None = None,
        path: str | None = None,
    ) -> None:
        """Record one problem. The same one at the same place (defaults, shared by many) counts once."""
        same = (code, span, message)
        if same in self._seen:
            return
        if self.overflows(code, span):
            return
        source = self.sources.of(span[0])
        self._counts[source.file, code] += 1
        self._seen.add(same)
        place = source.position(*span)
        self._found.append(
            (
                span,
                Diagnostic(
                    severity,
                    code,
                    message,
                    deployment=deployment,
                    path=path,
                    position=place,
                    suggestion=suggestion,
                    docs=f"docs/rules/{code}.md",
                    source_line=None,
                ),
            )
        )

    @property
    def found(self) -> list[Diagnostic]:
        return [diagnostic for _, diagnostic in self._found]

    def discard(self, unwanted: set[int]) -> None:
        """Drop the diagnostics at these places of `found` (silenced advice)."""
        self._found = [pair for at, pair in enumerate(self._found) if at not in unwanted]

    def finish(self, *, strict: bool) -> tuple[Diagnostic, ...]:
        """All diagnostics by file and place, with their source lines; warnings are errors when strict."""
        self._count_the_rest()
        order = sorted(self._found, key=lambda pair: (pair[0], pair[1].code, pair[1].message))
        result = []
        for span, diagnostic in order:
            line = self.sources.of(span[0]).snippet(diagnostic.position.line) if diagnostic.position else None
            severity = diagnostic.severity
            if strict and severity is Severity.WARNING:
                severity = Severity.ERROR
            result.append(replace(diagnostic, severity=severity, source_line=line))
        return tuple(result)

    def _count_the_rest(self) -> None:
        last = {
            (self.sources.of(span[0]).file, d.code): (at, span, d) for at, (span, d) in enumerate(self._found)
        }
        for key, count in self._counts.items():
            if count > MOST_OF_A_CODE:
                at, span, diagnostic = last[key]
                more = f"{diagnostic.message} (and {count - MOST_OF_A_CODE} more of {key[1]} in this file)"
                self._found[at] = (span, replace(diagnostic, message=more))
