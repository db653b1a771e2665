"""`fwctl fit-check`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from fwctl.cli.arguments import Paths
from fwctl.cli.command import Call, command
from fwctl.cli.evidence_fit import offline_pools
from fwctl.cli.fit_requests import architecture_of, check_specs, from_options, matrix
from fwctl.cli.prices import price_list
from fwctl.cli.session import load_specs, require_valid
from fwctl.errors import RefusedError, UsageError
from fwctl.exitcodes import Exit
from fwctl.report.model import Report
from fwctl.spec.model import Deployment


def _option(flag: str, metavar: str, text: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=text, show_default=False)


@dataclass(frozen=True)
class Question:
    """A model on hardware that no spec describes."""

    config: Annotated[
        str | None,
        _option("--config", "FILE|NAME", "config.json of the model, its folder, or a catalogue name."),
    ] = None
    model: Annotated[str | None, _option("--model", "NAME", "Model name; finds its architecture.")] = None
    accelerator: Annotated[
        str | None, _option("--accelerator", "GPU", "GPU type, for example H100 or NVIDIA_H200_141GB.")
    ] = None
    count: Annotated[int | None, _option("--count", "N", "GPUs of one replica [1].")] = None
    precision: Annotated[str | None, _option("--precision", "PRECISION", "Serving precision [BF16].")] = None
    kv_precision: Annotated[
        str | None, _option("--kv-precision", "NAME", "Precision of the KV cache: fp16, fp8, fp8_ds_mla ...")
    ] = None
    context: Annotated[int | None, _option("--context", "N", "Tokens of one conversation.")] = None
    concurrency: Annotated[
        float | None, _option("--concurrency", "N", "Conversations held at once by one replica [1].")
    ] = None
    engine: Annotated[
        str | None,
        _option("--engine", "fireworks|vllm|sglang|ideal", "Memory policy [fireworks]."),
    ] = None
    engine_utilization: Annotated[
        float | None, _option("--engine-utilization", "SHARE", "Share of GPU memory that the engine takes.")
    ] = None
    kv_pool_gib: Annotated[
        float | None, _option("--kv-pool-gib", "GIB", "Measured KV pool of one GPU, instead of the estimate.")
    ] = None
    parameters: Annotated[
        float | None, _option("--parameters", "N", "Parameters, for example 70e9, instead of the config's.")
    ] = None
    accelerator_memory_gib: Annotated[
        float | None,
        _option("--accelerator-memory-gib", "GIB", "Memory of a GPU type that fwctl does not know."),
    ] = None

    def given(self) -> list[str]:
        return ["--" + name.replace("_", "-") for name, value in vars(self).items() if value is not None]


@command(
    "fwctl fit-check",
    "fwctl fit-check configs/chat.yaml --require-fit",
    "fwctl fit-check --model llama-v3p1-70b-instruct --accelerator H100 --count 4 --precision FP8 \\\n"
    "      --context 32768 --concurrency 8",
    "fwctl fit-check --config model/config.json --accelerator H200 --count 8 --matrix",
    formats=("text", "json", "markdown", "github", "sarif", "junit", "html"),
)
def fit_check(
    call: Call,
    *,
    paths: Paths = None,
    question: Question,
    require_fit: Annotated[
        bool, typer.Option("--require-fit", help="Exit 4 for tight and unknown too.", show_default=False)
    ] = False,
    show_matrix: Annotated[
        bool,
        typer.Option("--matrix", help="Every accelerator, count and precision.", show_default=False),
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Every formula with the numbers put in.", show_default=False)
    ] = False,
) -> Report:
    """Check whether weights and KV memory fit, before anything is created.

    With PATHS every deployment of the specs is checked with its workload. With --model or --config the
    options describe one case. Exit 4 when something does not fit; the smallest changes that do fit
    are listed, cheapest first.
    """
    given = question.given()
    prices = price_list(call, None)
    body: dict[str, Any]
    diagnostics: tuple[Any, ...] = ()
    if question.config or question.model:
        if paths:
            raise UsageError(f"{given[0]} describes a case of its own; leave the paths out")
        values = _values(call, question) | {"usd_per_gpu_hour": prices.usd_per_gpu_hour}
        body = {"results": [from_options(values)]}
        if show_matrix:
            body["matrix"] = matrix(values, prices)
    else:
        if given or show_matrix:
            raise UsageError(f"{(given or ['--matrix'])[0]} needs --config FILE or --model NAME")
        loaded = load_specs(call, paths or [])
        spec = require_valid(call, loaded)
        results, problems = check_specs(
            spec,
            call.env.cwd,
            price_list(call, spec),
            environ=call.env.environ,
            pools=offline_pools(call, paths or [], spec),
        )
        diagnostics = (*loaded.diagnostics, *problems)
        body = {"results": [_placed(results[name], spec.deployments[name]) for name in results]}
    return replace(_report(body, diagnostics, require_fit=require_fit), detail=explain)


def _placed(result: Mapping[str, Any], entry: Deployment) -> dict[str, Any]:
    """The result with the place of the deployment in the specs, as fields of a plan have theirs."""
    at = entry.position_of("")
    return {**result, "source": {"file": at.file, "line": at.line} if at else None}


def _values(call: Call, question: Question) -> dict[str, Any]:
    if question.accelerator is None:
        raise UsageError("--accelerator is missing", next_steps=["fwctl fit-check --help"])
    reference = question.config or question.model or ""
    origin = "--config" if question.config else "--model"
    known = architecture_of(reference, call.env.cwd, origin, call.env.environ)
    if known.architecture is None and question.parameters is None:
        call.output.message("; ".join(known.missing))
    return {
        "accelerator": question.accelerator,
        "count": 1 if question.count is None else question.count,
        "precision": question.precision or "BF16",
        "model": question.model or question.config or "",
        "architecture": known.architecture,
        "missing": known.missing,
        "weights_bytes": known.weights_bytes,
        "kv_precision": question.kv_precision,
        "context_tokens": question.context,
        "concurrency": question.concurrency,
        "engine": question.engine or "fireworks",
        "engine_utilization": question.engine_utilization,
        "kv_pool_gib": question.kv_pool_gib,
        "parameters": question.parameters,
        "accelerator_memory_gib": question.accelerator_memory_gib,
        "name": question.model or question.config,
    }


def _report(body: Mapping[str, Any], diagnostics: tuple[Any, ...], *, require_fit: bool) -> Report:
    refused = {"does-not-fit"} | ({"tight", "unknown"} if require_fit else set())
    bad = [item for item in body["results"] if item["verdict"] in refused]
    if not bad:
        return Report("fit-check", body, Exit.OK, diagnostics)
    told = ", ".join(f"{item['name']}: {item['verdict']}" for item in bad)
    error = RefusedError(told, next_steps=_steps(bad))
    return Report("fit-check", body, Exit.REFUSED, diagnostics, error)


def _steps(results: Iterable[Mapping[str, Any]]) -> list[str]:
    steps = []
    for item in results:
        best = next(iter(item.get("alternatives", ())), None)
        if best:
            steps.append(f"{item['name']}: {'; '.join(best['changes'])}")
    return steps or ["fwctl fit-check --explain shows the arithmetic"]
