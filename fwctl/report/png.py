"""Charts as pixels, for places that take no SVG. Needs the extra `png`."""

from __future__ import annotations

from fwctl.errors import FwctlError
from fwctl.report.svg import PAPER, flat, image, text

ZOOM = 2.0  # sharp on screens with two pixels a point


def png(svg: str) -> bytes:
    """A PNG file of one `svg.image`, in light colours. Raises FwctlError where none can be drawn."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise FwctlError(
            "PNG files need resvg-py, which is not installed", next_steps=["pip install 'fwctl[png]'"]
        ) from None

    def drawn(picture: str) -> bytes:
        return svg_to_bytes(svg_string=flat(picture), background=PAPER, zoom=ZOOM)

    # Without a font every word is left out in silence.
    if drawn(image("", [text(0, 12, "0")], 12, 12)) == drawn(image("", [], 12, 12)):
        raise FwctlError(
            "this machine has no font, so a PNG would hold no text",
            next_steps=["install one, for example fonts-dejavu-core", "leave out --png: SVG needs none"],
        )
    return drawn(svg)
