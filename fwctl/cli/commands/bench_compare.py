"""`fwctl bench compare`: two runs, paired by prompt and repeat."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fwctl.cli.command import Call, command
from fwctl.errors import UsageError
from fwctl.exitcodes import Exit
from fwctl.report.model import Report


@command("fwctl bench compare runs/base runs/candidate", "fwctl bench compare runs/ab:m1 runs/ab:m2")
def bench_compare(
    call: Call,
    *,
    base: Annotated[str, typer.Argument(metavar="BASE", help="DIR or DIR:TARGET.")],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="DIR or DIR:TARGET.")],
    tolerance: Annotated[
        float, typer.Option("--tolerance", metavar="X", help="Difference that counts as none [0.1].")
    ] = 0.1,
) -> Report:
    """Compare two runs, paired by prompt and repeat; lower is better.

    `same` means that a difference above the tolerance is ruled out.
    """
    from fwctl.measure.compare import compare_runs

    if not 0 < tolerance < 10:
        raise UsageError("--tolerance is a share above 0, such as 0.1 for 10 %")
    found = compare_runs(call.env.cwd, base, candidate, tolerance=tolerance)
    lines = [
        f"{row['metric']:8} {row['quantile']}  {_ratio(row)}  {row['verdict']}  n={row['n_pairs']}"
        + (f", needs {row['n_needed']}" if row["n_needed"] else "")
        for row in found["comparisons"]
    ]
    text = "\n".join([*lines, *(f"invalid: {reason}" for reason in found["invalid_reasons"])]) + "\n"
    return Report("bench compare", found, Exit.FAILED if found["invalid_reasons"] else Exit.OK, text=text)


def _ratio(row: dict[str, Any]) -> str:
    return "n/a" if row["ratio"] is None else f"{row['ratio']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
