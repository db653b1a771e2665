"""Arguments and options that several commands share."""

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
DetailedExitcode = Annotated[
    bool,
    typer.Option("--detailed-exitcode", help="Exit 2 when there are changes, 0 when there are none."),
]
