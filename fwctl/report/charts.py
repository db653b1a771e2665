"""Charts as SVG elements for a page that has `svg.STYLE` in it; `svg.standalone` makes files of them.

Series differ in dash and mark as well as in colour. Every function returns an empty text when there is
nothing to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fwctl.report import svg
from fwctl.report.axes import Axis, axis

WIDTH, PLOT_HEIGHT = 460, 226
LEFT, RIGHT, TOP, BOTTOM = 58, 18, 30, 38
NAMES = 150  # width of the names beside bars and intervals
ROW, LEGEND_ROW = 24, 17
LONGEST_LEGEND, LONGEST_NAME = 52, 22


@dataclass(frozen=True, slots=True)
class Point:
    """A value with its interval; low and high None where there is none."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart. `name` stands in the legend."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Axes:
    """What stands at the axes, and how they are scaled. across: named heights with a line through.
    ticks_x: where marks stand, instead of round numbers."""

    x: str
    y: str
    log_x: bool = False
    log_y: bool = False
    across: Sequence[tuple[str, float]] = ()
    ticks_x: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Interval:
    """One row of a forest plot. colour: number of a series."""

    name: str
    value: float
    low: float
    high: float
    colour: int = 5


def lines(title: str, series: Sequence[Series], axes: Axes, *, steps: bool = False) -> str:
    """A line for each series, with marks and intervals; steps: stairs without marks."""
    points = [point for item in series for point in item.points]
    if not points:
        return ""
    heights = [value for point in points for value in (point.y, point.low, point.high) if value is not None]
    heights += [height for _, height in axes.across]
    plot = _plot([point.x for point in points], heights, axes)
    body = plot.frame(axes)
    for number, item in enumerate(series):
        body += _stairs(plot, number, item.points) if steps else _line(plot, number, item.points)
    return plot.image(title, body, [item.name for item in series])


def _stairs(plot: _Plot, number: int, points: Sequence[Point]) -> list[str]:
    parts = []
    for at, point in enumerate(points):
        x, y = plot.at(point.x, point.y)
        parts.append(f"H{x:.1f}V{y:.1f}" if at else f"M{x:.1f} {y:.1f}")
    return [svg.path("".join(parts), number)]


def _line(plot: _Plot, number: int, points: Sequence[Point]) -> list[str]:
    places = [plot.at(point.x, point.y) for point in points]
    found = [svg.path("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places), number)]
    for point, (x, y) in zip(points, places, strict=True):
        if point.low is not None and point.high is not None:
            low, high = plot.y.at(point.low), plot.y.at(point.high)
            found.append(svg.path(f"M{x:.1f} {low:.1f}V{high:.1f}", number, 1.5, dashed=False))
        found.append(svg.mark(number, x, y))
    return found


def scatter(title: str, series: Sequence[Series], axes: Axes, failed: Sequence[float] = ()) -> str:
    """Dots; what failed has no height and stands as crosses along the top."""
    points = [point for item in series for point in item.points]
    if not points and not failed:
        return ""
    plot = _plot(
        [0.0, *(point.x for point in points), *failed], [point.y for point in points] or [0.0, 1.0], axes
    )
    body = plot.frame(axes)
    for number, item in enumerate(series):
        body += [svg.mark(number, *plot.at(point.x, point.y), 2.2) for point in item.points]
    for moment in failed:
        body.append(f'<path class="fail" d="M{plot.x.at(moment) - 3:.1f} 17l6 6m0 -6l-6 6"/>')
    return plot.image(title, body, [item.name for item in series], failed=bool(failed))


def forest(title: str, rows: Sequence[Interval], *, x: str, tolerance: float) -> str:
    """Intervals of ratios around 1; the band holds the differences that count as none."""
    if not rows:
        return ""
    low, high, bottom = 1 / (1 + tolerance), 1 + tolerance, TOP - 10 + ROW * len(rows)
    values = [low, high, *(value for row in rows for value in (row.low, row.high))]
    across = axis(values, NAMES, WIDTH - RIGHT, log=True)
    body = [
        svg.box(
            across.at(low), TOP - 20, across.at(high) - across.at(low), bottom - TOP + 20, 'class="band"'
        ),
        svg.rule((across.at(1.0), TOP - 20), (across.at(1.0), bottom), "mark"),
    ]
    body += [svg.text(across.at(tick), bottom + 16, label, "middle", "axis") for tick, label in across.ticks]
    body.append(svg.text(WIDTH - RIGHT, bottom + 32, x, "end", "axis"))
    for number, row in enumerate(rows):
        y = TOP + ROW * number - 6
        body.append(svg.text(NAMES - 8, y + 4, svg.cut(row.name, LONGEST_NAME), "end"))
        ends = f"M{across.at(row.low):.1f} {y}H{across.at(row.high):.1f}"
        body.append(svg.path(ends, row.colour, 3, dashed=False))
        body.append(svg.mark(0, across.at(row.value), y, 4.5).replace(svg.colour(0), svg.colour(row.colour)))
    return svg.image(title, body, WIDTH, bottom + BOTTOM)


def bars(title: str, rows: Sequence[tuple[str, int]], colour: int = 1) -> str:
    """Counts, each with its number beside the bar."""
    if not rows:
        return ""
    most = max(1, *(count for _, count in rows))
    body = []
    for number, (name, count) in enumerate(rows):
        y, width = 6 + ROW * number, max((WIDTH - NAMES - 70) * count / most, 1)
        body.append(svg.text(NAMES - 8, y + 13, svg.cut(name, LONGEST_NAME), "end"))
        body.append(svg.box(NAMES, y, width, 16, f'rx="2" fill="{svg.colour(colour)}"'))
        body.append(svg.text(NAMES + width + 6, y + 13, f"{count:,}"))
    return svg.image(title, body, WIDTH, 8 + ROW * len(rows))


def _plot(xs: Sequence[float], ys: Sequence[float], axes: Axes) -> _Plot:
    across = axis(xs, LEFT, WIDTH - RIGHT, log=axes.log_x)
    upwards = axis(ys, PLOT_HEIGHT - BOTTOM, TOP, log=axes.log_y, zero=not axes.log_y)
    return _Plot(across, upwards)


@dataclass(frozen=True, slots=True)
class _Plot:
    """The two axes; y grows upwards."""

    x: Axis
    y: Axis

    def at(self, x: float, y: float) -> tuple[float, float]:
        return self.x.at(x), self.y.at(y)

    def frame(self, axes: Axes) -> list[str]:
        """Grid, ticks, names of the axes, and heights with a line across."""
        low, right, found = PLOT_HEIGHT - BOTTOM, WIDTH - RIGHT, []
        for tick, label in self.y.ticks:
            y = self.y.at(tick)
            found += [
                svg.rule((LEFT, y), (right, y), "grid"),
                svg.text(LEFT - 6, y + 4, label, "end", "axis"),
            ]
        for tick, label in [(tick, f"{tick:,g}") for tick in axes.ticks_x] or self.x.ticks:
            x = self.x.at(tick)
            anchor = "end" if x > right - 12 else "middle"
            found += [
                svg.rule((x, low), (x, low + 4), "grid"),
                svg.text(
                    min(x + 8, right + RIGHT) if anchor == "end" else x, low + 17, label, anchor, "axis"
                ),
            ]
        found.append(svg.text(right, PLOT_HEIGHT - 5, axes.x, "end", "axis"))
        found.append(svg.text(2, 10, axes.y, "start", "axis"))
        for name, height in axes.across:
            y = self.y.at(height)
            found += [
                svg.rule((LEFT, y), (right, y), "mark"),
                svg.text(LEFT + 4, y - 3, name, "start", "axis"),
            ]
        return found

    def image(self, title: str, body: list[str], names: Sequence[str], *, failed: bool = False) -> str:
        """The plot with its legend below."""
        for number, name in enumerate(names):
            y = PLOT_HEIGHT + LEGEND_ROW * number + 8
            body += [svg.path(f"M{LEFT} {y}h26", number), svg.mark(number, LEFT + 13, y)]
            body.append(svg.text(LEFT + 34, y + 4, svg.cut(name, LONGEST_LEGEND)))
        if failed:
            y = PLOT_HEIGHT + LEGEND_ROW * len(names) + 8
            body.append(f'<path class="fail" d="M{LEFT + 10} {y - 3}l6 6m0 -6l-6 6"/>')
            body.append(svg.text(LEFT + 34, y + 4, "failed"))
        return svg.image(title, body, WIDTH, PLOT_HEIGHT + LEGEND_ROW * (len(names) + failed) + 4)
