"""Axes and charts: where things stand, what is escaped, what an empty chart is."""

from __future__ import annotations

import struct
import zlib
from xml.etree import ElementTree as ET

import pytest

from fwctl.report import png, svg
from fwctl.report.axes import axis
from fwctl.report.charts import Axes, Interval, Point, Series, bars, forest, lines, scatter


def painted(data: bytes) -> tuple[int, int, set[bytes]]:
    """Width, height and colours (RGB) of a PNG with 8 bits a channel; filters as in its specification, 9.2"""
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    size = {2: 3, 6: 4}[kind]
    assert depth == 8
    found, at = b"", 8
    while at < len(data):
        length = int.from_bytes(data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            found += data[at + 8 : at + 8 + length]
        at += 12 + length
    rows, before, colours = zlib.decompress(found), bytes(width * size), set()
    for row in range(height):
        start = row * (width * size + 1)
        line = unfiltered(rows[start], rows[start + 1 : start + 1 + width * size], before, size)
        colours |= {bytes(line[i : i + 3]) for i in range(0, len(line), size)}
        before = bytes(line)
    return width, height, colours


def unfiltered(kind: int, line: bytes, before: bytes, size: int) -> bytearray:
    out = bytearray(line)
    for i in range(len(out)):
        a = out[i - size] if i >= size else 0
        b, c = before[i], before[i - size] if i >= size else 0
        nearest = min((a, b, c), key=lambda value: abs(a + b - c - value))
        out[i] = (out[i] + (0, a, b, (a + b) // 2, nearest)[kind]) % 256
    return out


NS = "{http://www.w3.org/2000/svg}"


def parsed(picture: str) -> ET.Element:
    return ET.fromstring(svg.standalone(picture))


def texts(picture: str) -> list[str]:
    return [item.text or "" for item in parsed(picture).iter(f"{NS}text")]


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.0, 1.0, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (0.0, 873.0, ["0", "200", "400", "600", "800", "1,000"]),
        (12.0, 17.0, ["12", "13", "14", "15", "16", "17"]),
        (0.0, 0.0, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (5.0, 5.0, ["5", "6", "7", "8", "9", "10"]),
    ],
)
def test_ticks_are_round_and_hold_every_value(low: float, high: float, labels: list[str]) -> None:
    found = axis([low, high], 0.0, 100.0)
    assert [label for _, label in found.ticks] == labels
    assert found.low <= low
    assert found.high >= high


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (1.0, 1000.0, ["1", "10", "100", "1,000"]),
        (1.0, 32.0, ["1", "2", "5", "10", "20"]),
        (0.9, 1.6, ["0.9", "1", "1.1", "1.2", "1.3", "1.5"]),
        (0.001, 0.01, ["0.001", "0.002", "0.005", "0.01"]),
    ],
)
def test_ticks_of_a_log_axis(low: float, high: float, labels: list[str]) -> None:
    found = axis([low, high], 0.0, 100.0, log=True)
    assert [label for _, label in found.ticks] == labels


def test_places_on_axes() -> None:
    straight, log = axis([0, 100], 0.0, 200.0), axis([1, 10000], 0.0, 200.0, log=True)
    assert (straight.at(50), straight.at(-5), straight.at(500)) == (100.0, 0.0, 200.0)
    assert log.at(100) == pytest.approx(100.0, abs=0.1)
    assert not axis([0.0, 10.0], 0.0, 1.0, log=True).log
    assert axis([7.0], 0.0, 1.0, log=True).at(7.0) == pytest.approx(0.5)


def test_names_are_never_markup() -> None:
    hostile = "<script>alert(1)</script>&\x1b[2J"
    picture = lines(hostile, [Series(hostile, [Point(1, 2), Point(2, 3)])], Axes(hostile, hostile))
    assert "<script" not in picture
    assert "\x1b" not in picture
    assert any("alert(1)" in text for text in texts(picture))


def test_a_line_has_marks_intervals_and_a_legend() -> None:
    picture = lines(
        "t", [Series("a", [Point(1, 5, 4, 6), Point(2, 7)]), Series("b", [Point(1, 1)])], Axes("x", "y")
    )
    root = parsed(picture)
    assert {"a", "b", "x", "y"} <= set(texts(picture))
    assert root.get("role") == "img"
    assert root.findtext(f"{NS}title") == "t"
    assert len(list(root.iter(f"{NS}circle"))) == 3  # two points and the legend
    # Series differ without colour too.
    assert {"7 4"} == {item.get("stroke-dasharray") for item in root.iter(f"{NS}path")} - {None}


def test_failures_stand_as_crosses() -> None:
    picture = scatter("t", [Series("a", [Point(1, 5)])], Axes("x", "y"), failed=[0.5, 0.7])
    assert picture.count('class="fail"') == 3  # two and the legend
    assert "failed" in texts(picture)
    assert scatter("t", [], Axes("x", "y"), failed=[1.0])


def test_ratios_stand_around_one() -> None:
    picture = forest("t", [Interval("ttft", 1.2, 1.1, 1.3)], x="ratio", tolerance=0.1)
    assert {"ttft", "1", "ratio"} <= set(texts(picture))


def test_a_bar_has_its_number() -> None:
    assert texts(bars("t", [("x" * 40, 1234), ("y", 0)])) == ["x" * 21 + "…", "1,234", "y", "0"]


def test_nothing_to_show_is_no_chart() -> None:
    axes = Axes("x", "y")
    assert lines("t", [Series("a", [])], axes) == scatter("t", [], axes) == bars("t", []) == ""
    assert forest("t", [], x="r", tolerance=0.1) == ""


def test_a_file_needs_nothing_else_and_is_ascii() -> None:
    text = svg.standalone(bars("München", [("é", 1)]))
    assert text.isascii()
    assert "prefers-color-scheme: dark" in text
    assert text.count("http") == 1  # the name space


def test_a_png_has_the_colours_of_the_chart_and_no_variable_is_left() -> None:
    picture = svg.image(
        "t", [svg.box(10, 10, 30, 30, f'fill="{svg.colour(0)}"'), svg.text(50, 30, "word")], 100, 50
    )
    width, height, colours = painted(png.png(picture))
    assert (width, height) == (200, 100)
    assert {b"\xff\xff\xff", b"\x0a\x62\xb0", b"\x1c\x22\x30"} <= colours  # paper, first series, ink
    assert "var(" not in svg.flat(picture)
