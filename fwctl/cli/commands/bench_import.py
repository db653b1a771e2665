"""`fwctl bench import`: recorded requests of other tools as a prompt set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fwctl.cli.command import Call, command
from fwctl.errors import UsageError
from fwctl.report.model import Report


@command(
    "fwctl bench import --from openai-batch batch.jsonl --out prompts.jsonl",
    "fwctl bench import --from chat-log chats.json --out prompts.jsonl --sample 300",
    "fwctl bench import --from trace traces.jsonl --out prompts.jsonl --type chat --max-tokens 512",
)
def bench_import(
    call: Call,
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What the other tool recorded.")],
    source: Annotated[
        str, typer.Option("--from", metavar="openai-batch|chat-log|trace", help="What FILE is.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The prompt set to write.")],
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", help="Stop after N prompts.")] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", help="N prompts, drawn evenly.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of --sample [1].")] = 1,
    kind: Annotated[str | None, typer.Option("--type", metavar="TYPE", help="Class of every prompt.")] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", metavar="N", help="Limit where a request has none."),
    ] = None,
    expected: Annotated[
        bool, typer.Option("--expected", help="Keep recorded answers for `fwctl eval`.")
    ] = False,
) -> Report:
    """Write recorded requests as a prompt set, each request once, with ids that stay the same.

    openai-batch: lines with `custom_id` and `body`. chat-log: conversations with `messages`, or
    `conversations` in the form of ShareGPT, as lines or as one list; the last question is asked.
    trace: the trace log of a route, or lines with `messages` or `prompt`.
    """
    from fwctl.measure.importers import Options, import_suite
    from fwctl.measure.suite import load

    for option, value in (("--limit", limit), ("--sample", sample), ("--max-tokens", max_tokens)):
        if value is not None and value < 1:
            raise UsageError(f"{option} is a number from 1 on")
    if limit is not None and sample is not None:
        raise UsageError("give one of --limit and --sample")
    options = Options(source, limit, sample, seed, kind, max_tokens, expected)
    target = call.env.cwd / out
    counts = import_suite(call.env.cwd / file, target, options).to_json()
    suite = load(target)
    body = {"out": str(out), "suite_digest": suite.digest, **counts}
    return Report("bench import", body, text=_text(body))


def _text(body: dict[str, Any]) -> str:
    lines = [f"{body['out']}: {body['written']:,} prompts of {body['read']:,} recorded requests"]
    lines += [f"  {count:,} of type {name}" for name, count in body["types"].items()]
    if body["duplicates"]:
        lines.append(f"  {body['duplicates']:,} left out because the same request came before")
    lines += [f"  {count:,} left out: {reason}" for reason, count in body["skipped"].items()]
    lines += [
        f"  {count:,} without their `{key}`, which a prompt set does not carry"
        for key, count in body["left_out_keys"].items()
    ]
    return "\n".join(lines) + "\n"
