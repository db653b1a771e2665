"""Advice that is silenced in the file: `# fwctl: ignore[FW403, FW404] reason`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fwctl.errors import Diagnostic, Severity
from fwctl.spec.model import Evidence
from fwctl.spec.nodes import Mapping, Node, Scalar
from fwctl.spec.nodes import Sequence as ListNode
from fwctl.spec.parse import ParsedFile
from fwctl.spec.report import Report, shown
from fwctl.spec.rules.registry import RULES, Rule
from fwctl.spec.sources import Source

_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#[ \t]*fwctl[ \t]*:[^\r\n]*", re.MULTILINE)
_IGNORE = re.compile(r"#[ \t]*fwctl[ \t]*:[ \t]*ignore[ \t]*\[([^\]]*)\](.*)")
_BLANK = re.compile(r"[ \t]*(?:#.*)?")
_OWN = frozenset({"FW407", "FW408"})


@dataclass(slots=True)
class _Ignore:
    source: Source
    span: tuple[int, int]
    line: int
    codes: tuple[str, ...]
    used: set[str] = field(default_factory=set)


def silence(files: Sequence[ParsedFile], report: Report, evidence: Evidence) -> None:
    """Drop warnings that a comment names, and say what is wrong with the comments (FW407, FW408)."""
    ignores = [found for file in files if file.root is not None for found in _in_file(file, report)]
    if not ignores:
        return
    by_line: dict[tuple[str, int], list[_Ignore]] = {}
    for ignore in ignores:
        by_line.setdefault((ignore.source.file, ignore.line), []).append(ignore)
    unwanted = {at for at, diagnostic in enumerate(report.found) if _silenced(diagnostic, by_line)}
    report.discard(unwanted)
    for ignore in ignores:
        _unused(ignore, report, evidence)


def _silenced(diagnostic: Diagnostic, by_line: dict[tuple[str, int], list[_Ignore]]) -> bool:
    at = diagnostic.position
    if diagnostic.severity is not Severity.WARNING or at is None or diagnostic.code in _OWN:
        return False
    hits = [ignore for ignore in by_line.get((at.file, at.line), ()) if diagnostic.code in ignore.codes]
    for ignore in hits:
        ignore.used.add(diagnostic.code)
    return bool(hits)


def _in_file(file: ParsedFile, report: Report) -> list[_Ignore]:
    source = file.source
    comments = list(_COMMENT.finditer(source.text))
    scalars = sorted(_scalar_spans(file.root)) if comments else []
    lines = _Lines(source)
    found = []
    for comment in comments:
        span = (source.base + comment.start(), source.base + comment.end())
        at = bisect_right(scalars, (span[0], span[1])) - 1
        if at >= 0 and scalars[at][1] > span[0]:
            continue
        parsed = _IGNORE.fullmatch(comment.group())
        if parsed is None:
            report.add(
                "FW408",
                span,
                f"comment {shown(comment.group())} silences nothing",
                severity=Severity.WARNING,
                suggestion="write # fwctl: ignore[FW401] and the reason",
            )
            continue
        codes = tuple(code.strip() for code in parsed.group(1).split(",") if code.strip())
        if not parsed.group(2).strip():
            report.add(
                "FW407",
                span,
                "an ignore needs its reason",
                severity=Severity.WARNING,
                suggestion="write it behind the bracket",
            )
        found.append(_Ignore(source, span, lines.meant(span[0]), codes))
    return found


def _scalar_spans(node: Node | None) -> Iterator[tuple[int, int]]:
    """Where text stands; inside it a # begins no comment."""
    if isinstance(node, Scalar):
        yield node.start, node.end
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from _scalar_spans(item)
    elif isinstance(node, Mapping):
        for key, value in node.entries.values():
            yield key.start, key.end
            yield from _scalar_spans(value)


class _Lines:
    """Which line a comment speaks of: its own, or the next one with content when it stands alone."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._following: list[int] | None = None

    def meant(self, start: int) -> int:
        source = self.source
        line = source.line_of(start)
        if source.text[source.line_starts[line - 1] : start - source.base].strip():
            return line
        if self._following is None:
            self._following = self._next_with_content()
        return self._following[line]

    def _next_with_content(self) -> list[int]:
        """For every line, the first one behind it that has content; one pass, however many comments."""
        count = len(self.source.line_starts)
        following = [count + 1] * (count + 1)
        for line in range(count, 1, -1):
            blank = _BLANK.fullmatch(self.source.line_text(line))
            following[line - 1] = following[line] if blank else line
        return following


def _judged(rule: Rule, evidence: Evidence) -> bool:
    """False when the rule is silent for want of facts, not because all is well."""
    return not rule.needs or (evidence.read and bool(getattr(evidence, rule.needs)))


def _unused(ignore: _Ignore, report: Report, evidence: Evidence) -> None:
    for code in ignore.codes or ("",):
        rule = RULES.get(code)
        if code in ignore.used or (rule is not None and not _judged(rule, evidence)):
            continue
        if rule is None:
            message = f"{code or 'an empty list'} is no code that can be silenced"
        elif rule.severity is Severity.ERROR:
            message = f"{code} silences nothing here; errors cannot be silenced"
        else:
            message = f"{code} silences nothing here"
        report.add(
            "FW408", ignore.span, message, severity=Severity.WARNING, suggestion="remove it from the comment"
        )
