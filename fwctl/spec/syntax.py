"""PyYAML's syntax errors in words that say what to do."""

from __future__ import annotations

import yaml

from fwctl.spec.report import Report, invisible_in, shown
from fwctl.spec.sources import Source

# Part of the parser's message -> what usually causes it. First match wins.
_ADVICE = (
    ("mapping values are not allowed", "quote a value that contains ': ', or check the indentation"),
    ("could not find expected ':'", "a key needs a colon and a space after it"),
    ("did not find expected key", "check the indentation of this line, and quotes and brackets above it"),
    ("expected <block end>", "check the indentation of this line, and quotes and brackets above it"),
    ("did not find expected '-' indicator", "every item of a list begins with '- ' in the same column"),
    ("did not find expected ',' or", "a bracket is not closed, or a comma is missing"),
    ("expected ',' or", "a bracket is not closed, or a comma is missing"),
    ("unexpected end of stream", "a quote that was opened is not closed"),
    ("cannot start any token", "quote a value that begins with @, `, % or a tab"),
    ("alphabetic or numeric", "quote text that begins with * or &"),
    ("unknown escape character", "inside double quotes write \\\\ for a backslash, or use single quotes"),
    ("did not find expected hexdecimal number", "an escape such as \\x41 needs hexadecimal digits"),
    ("incompatible YAML document", "remove the %YAML line"),
)
DEEPEST = 100  # levels; the deepest place of the schema is 7
TOO_DEEP = f"nested more than {DEEPEST} levels deep"
_FALLBACK = "check indentation, quotes and brackets near this place"


def report_syntax_error(source: Source, error: yaml.YAMLError, report: Report) -> None:
    """Report what the parser could not read, at the place it names."""
    problem = str(getattr(error, "problem", None) or error)
    offset = _offset(source, error)
    start = source.base + offset
    if "maximum nesting depth" in problem:
        report.add("FW110", (start, start + 1), TOO_DEEP)
        return
    tab = _indenting_tab(source, start)
    if tab is not None:
        report.add("FW103", (tab, tab + 1), "a tab indents this line", suggestion="indent with spaces")
        return
    context = getattr(error, "context", None)
    message = f"not valid YAML: {problem}" + (f" ({context})" if context else "")
    if source.text[offset : offset + 1] in ("@", "`", "%"):
        message += f": {shown(source.text[offset])}"
    advice = next((advice for part, advice in _ADVICE if part in problem), _FALLBACK)
    line = source.line_text(source.line_of(start))
    invisible = invisible_in(line)
    if invisible is not None:
        advice = f"the line holds {invisible}; write plain spaces"
    elif "${env:" in line:
        advice = 'inside [ ] and { } put quotes around a reference: "${env:NAME}"'
    report.add("FW101", (start, min(start + 1, source.base + len(source.text))), message, suggestion=advice)


def _offset(source: Source, error: yaml.YAMLError) -> int:
    """Where the problem is; for what is still open at the end of the file, where it was opened."""
    end = len(source.text.rstrip())
    mark = getattr(error, "problem_mark", None)
    opened = getattr(error, "context_mark", None)
    if opened is not None and (mark is None or mark.index >= end):
        mark = opened
    return min(mark.index, end) if mark is not None else 0


def _indenting_tab(source: Source, start: int) -> int | None:
    """Offset of a tab in the white space before the text of the line, None when there is none."""
    line = source.line_of(start)
    text = source.line_text(line)
    indent = text[: len(text) - len(text.lstrip(" \t"))]
    if "\t" not in indent:
        return None
    return source.base + source.line_starts[line - 1] + indent.index("\t")
