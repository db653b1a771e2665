"""Pieces of SVG: no script, no font of their own, light and dark. What users wrote is never markup."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fwctl.report.html_text import escape

COLOURS = 6
DASHES = ("", "7 4", "2 3", "10 3 2 3", "4 2", "1 4")

LIGHT = {
    "s1": "#0a62b0", "s2": "#b84300", "s3": "#00724e", "s4": "#8f3f86", "s5": "#7a5d00", "s6": "#4a5568",
    "grid": "#dfe3ec", "mark": "#59627a", "band": "#e9edf5", "fail": "#a3202a",
}  # fmt: skip
DARK = {
    "s1": "#6fb4f2", "s2": "#ff9d5c", "s3": "#4fd3a4", "s4": "#e39bd9", "s5": "#e0c25a", "s6": "#b6bfd2",
    "grid": "#303748", "mark": "#a2abc0", "band": "#222938", "fail": "#ff9ea4",
}  # fmt: skip
PAPER, INK = "#ffffff", "#1c2230"


def _root(colours: Mapping[str, str]) -> str:
    return f":root {{ {' '.join(f'--{name}: {colour};' for name, colour in colours.items())} }}"


_LOOK = """\
.chart text { font: 12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: currentColor; }
.chart .axis { fill: var(--mark); }
.chart .grid { stroke: var(--grid); }
.chart .mark { stroke: var(--mark); stroke-dasharray: 3 3; }
.chart .band { fill: var(--band); }
.chart .fail { stroke: var(--fail); stroke-width: 1.5; }
"""
# For the page that shows charts; `standalone` puts it into the file.
STYLE = f"""\
{_root(LIGHT)}
@media (prefers-color-scheme: dark) {{ {_root(DARK)} }}
.chart {{ display: block; width: 100%; max-width: 44rem; height: auto; }}
{_LOOK}@media (max-width: 30rem) {{ .chart text {{ font-size: 14px; }} }}
@media print {{ .chart {{ break-inside: avoid; }} }}
"""
_FILE_STYLE = f"""\
svg {{ background: {PAPER}; color: {INK}; }}
@media (prefers-color-scheme: dark) {{ svg {{ background: #12151d; color: #e6e9f2; }} }}
"""


def image(title: str, body: Sequence[str], width: float, height: float) -> str:
    """The whole element; the title is read out by screen readers."""
    told = escape(title)
    start = f'<svg class="chart" viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{told}">'
    return f"{start}<title>{told}</title>{''.join(body)}</svg>"


def standalone(svg: str) -> str:
    """An SVG file of one `image`, in ASCII."""
    return _file(svg, _FILE_STYLE + STYLE)


def flat(svg: str) -> str:
    """The same in light colours for programs that know neither variables nor media queries."""
    text = _file(svg, _LOOK.replace("currentColor", INK))
    return re.sub(r"var\(--(\w+)\)", lambda found: LIGHT[found[1]], text)


def _file(svg: str, style: str) -> str:
    start, _, rest = svg.partition(">")
    text = f'{start} xmlns="http://www.w3.org/2000/svg"><style>{style}</style>{rest}\n'
    return text.encode("ascii", "xmlcharrefreplace").decode()


def colour(number: int) -> str:
    """Of the series with this number, from 0."""
    return f"var(--s{number % COLOURS + 1})"


def text(x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> str:
    """anchor: start, middle or end. kind: a class of STYLE."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def rule(low: tuple[float, float], high: tuple[float, float], kind: str) -> str:
    """A straight line of a class."""
    (x1, y1), (x2, y2) = low, high
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def path(steps: str, number: int, width: float = 2.0, *, dashed: bool = True) -> str:
    """A line in the colour and dashes of a series."""
    dash = f' stroke-dasharray="{DASHES[number % len(DASHES)]}"' if dashed and number % len(DASHES) else ""
    return f'<path d="{steps}" fill="none" stroke="{colour(number)}" stroke-width="{width:g}"{dash}/>'


def box(x: float, y: float, width: float, height: float, look: str) -> str:
    """A rectangle; look: its attributes."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" {look}/>'


def mark(number: int, x: float, y: float, size: float = 4.0) -> str:
    """Circle, square, triangle or diamond, so that series differ without colour."""
    look = f'fill="{colour(number)}"'
    kind = number % 4
    if kind == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" {look}/>'
    if kind == 1:
        return box(x - size, y - size, 2 * size, 2 * size, look)
    if kind == 2:
        return f'<path d="M{x:.1f} {y - size:.1f}l{size:g} {2 * size:g}h-{2 * size:g}z" {look}/>'
    edge = f"l{size:g} {size:g}l-{size:g} {size:g}l-{size:g} -{size:g}z"
    return f'<path d="M{x:.1f} {y - size:.1f}{edge}" {look}/>'


def cut(words: str, most: int) -> str:
    """At most that many characters, marked when something is missing."""
    return words if len(words) <= most else words[: most - 1] + "…"
