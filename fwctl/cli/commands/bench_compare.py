"""`fwctl bench compare`: two runs, paired by prompt and repeat, and gates on what they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwctl.cli.command import Call, command
from fwctl.errors import UsageError
from fwctl.exitcodes import Exit
from fwctl.report.model import Report

if TYPE_CHECKING:
    from fwctl.measure.arm import RunArm
    from fwctl.measure.gates import Condition


@command(
    "fwctl bench compare runs/base runs/candidate",
    "fwctl bench compare runs/ab:fast runs/ab:fp8 --expect-change precision,shape,shape_version",
    "fwctl bench compare runs/base runs/now --fail-if 'ttft_p95 > 1.10x' --fail-if 'error_rate > 1%'",
    "fwctl bench compare runs/base runs/now --spec configs/chat.yaml --deployment chat --format markdown",
    formats=("text", "json", "markdown", "html", "github", "junit"),
)
def bench_compare(
    call: Call,
    *,
    base: Annotated[str, typer.Argument(metavar="BASE", help="DIR or DIR:TARGET.")],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="DIR or DIR:TARGET.")],
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="Exit 4 unless ruled out, such as 'ttft_p95 > 1.10x'. May be repeated.",
        ),
    ] = None,
    allow_inconclusive: Annotated[
        bool, typer.Option("--allow-inconclusive", help="Let a gate pass that the runs cannot decide.")
    ] = False,
    expect_change: Annotated[
        list[str] | None,
        typer.Option("--expect-change", metavar="NAMES", help="What was meant to differ. May be repeated."),
    ] = None,
    floor: Annotated[
        str | None,
        typer.Option("--floor", metavar="DIR", help="A second run of the base; gives the noise floor."),
    ] = None,
    spec: Annotated[
        list[str] | None,
        typer.Option("--spec", metavar="PATH", help="Gate on `slo:` of this spec too. May be repeated."),
    ] = None,
    deployment: Annotated[
        str | None,
        typer.Option("--deployment", metavar="NAME", help="Whose `slo:` [the candidate's target]."),
    ] = None,
    tolerance: Annotated[
        float, typer.Option("--tolerance", metavar="X", help="Difference that counts as none [0.1].")
    ] = 0.1,
    percentiles: Annotated[
        str, typer.Option("--percentiles", metavar="LIST", help="Percentiles to compare [50,95].")
    ] = "50,95",
) -> Report:
    """Compare two runs, paired by prompt and repeat; lower is better.

    `no difference shown` (`same` in JSON) means that a difference above the tolerance is ruled out.
    Gates fail on what they name, and on what the runs cannot rule out. Exit 4 when a gate does not
    pass, 1 when the comparison is invalid and there is no gate.
    """
    from fwctl.measure.arm import read_arm
    from fwctl.measure.compare import compare_arms
    from fwctl.measure.gates import judge_gates, parse_condition, passed, quantiles_of
    from fwctl.measure.pairing import Options

    if not 0 < tolerance < 10:
        raise UsageError("--tolerance is a share above 0, such as 0.1 for 10 %")
    conditions = [parse_condition(text) for text in fail_if or ()]
    quantiles = fractions(percentiles)
    left, right = read_arm(call.env.cwd, base), read_arm(call.env.cwd, candidate)
    conditions += _slo(call, spec, deployment, right)
    options = Options(
        tolerance,
        sorted({*quantiles, *quantiles_of(conditions)}),
        [name.strip() for text in expect_change or () for name in text.split(",") if name.strip()],
        floor,
    )
    found = compare_arms(call.env.cwd, left, right, options)
    gates = judge_gates(conditions, found, left, right)
    return Report(
        "bench compare",
        {**found, "gates": gates},
        _code(found, gates, passed(gates, allow_inconclusive=allow_inconclusive)),
    )


def fractions(text: str) -> list[float]:
    """`50,95,99` -> [0.5, 0.95, 0.99]. Raises UsageError."""
    found = []
    for word in text.split(","):
        try:
            value = float(word)
        except ValueError:
            value = 0.0
        if not 0 < value < 100:
            raise UsageError("--percentiles is a list of numbers between 0 and 100, such as 50,95,99")
        found.append(value / 100)
    return sorted(set(found))


def _code(found: Mapping[str, Any], gates: Sequence[Mapping[str, Any]], good: bool) -> Exit:
    if gates:
        return Exit.OK if good else Exit.REFUSED
    return Exit.FAILED if found["invalid_reasons"] else Exit.OK


def _slo(call: Call, spec: Sequence[str] | None, name: str | None, arm: RunArm) -> list[Condition]:
    """The objectives of a deployment. Raises UsageError when there are none."""
    from fwctl.cli.session import load_specs, require_valid
    from fwctl.measure.gates import slo_conditions
    from fwctl.spec.closest import did_you_mean

    if not spec:
        if name is not None:
            raise UsageError("--deployment needs --spec", next_steps=["--spec configs/"])
        return []
    loaded = require_valid(call, load_specs(call, spec))
    wanted = name or arm.target.partition("@")[0]
    entry = loaded.deployments.get(wanted)
    if entry is None:
        near = did_you_mean(wanted, loaded.deployments)
        raise UsageError(
            f"the specs have no deployment {wanted!r}",
            next_steps=[*([near] if near else []), "--deployment NAME"],
        )
    found = slo_conditions(entry.own, wanted)
    if not found:
        raise UsageError(f"deployment {wanted!r} has no `slo:`", next_steps=["fwctl explain slo"])
    return found
