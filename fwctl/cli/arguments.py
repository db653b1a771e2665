"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATHS", help="Spec files and folders; configs/ unless given.", show_default=False
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Warnings are errors.", show_default=False)]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target", metavar="NAME", help="Only this deployment; may be repeated.", show_default=False
    ),
]
Excludes = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude", metavar="NAME", help="Not this deployment; may be repeated.", show_default=False
    ),
]
