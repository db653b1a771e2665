"""Pieces of HTML in which what users and servers wrote is never markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape as _escape

from fwctl.report.layout import safe


def escape(text: str) -> str:
    """Data as HTML text or attribute: shown exactly as written."""
    return _escape(safe(text))


def code(text: str) -> str:
    """Data as code, in which long names may break behind a slash."""
    return f"<code>{escape(text).replace('/', '/<wbr>')}</code>"


def table(
    caption: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Iterable[str] = (),
    place: str = "",
) -> list[str]:
    """A table of cells that are HTML already; the first column names the row. The caption is text.

    right: the names of the columns that hold numbers; place: of the one whose cells are never broken.
    """
    classes = dict.fromkeys(right, "number") | {place: "place"}
    kinds = [f' class="{classes[name]}"' if name in classes else "" for name in header]
    lines = ['<div class="scroll" tabindex="0" role="region" aria-label="' + escape(caption) + '"><table>']
    lines.append(f"<caption>{escape(caption)}</caption>")
    heads = (f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(header, kinds, strict=True))
    lines.append(f"<thead><tr>{''.join(heads)}</tr></thead><tbody>")
    for row in rows:
        first, *rest = row
        cells = (f"<td{kind}>{cell}</td>" for cell, kind in zip(rest, kinds[1:], strict=True))
        lines.append(f'<tr><th scope="row">{first}</th>{"".join(cells)}</tr>')
    return [*lines, "</tbody></table></div>"]


def badge(text: str, kind: str) -> str:
    """A word with the colour of its kind: good, warn, bad, info or plain."""
    return f'<span class="badge {kind}">{escape(text)}</span>'
