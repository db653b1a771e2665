"""`fwctl speculate replay`: which drafts would have paid off on recorded traffic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwctl.cli.command import Call, command
from fwctl.errors import UsageError
from fwctl.report.model import Report

if TYPE_CHECKING:
    from fwctl.speculation.endpoint import Drafter
    from fwctl.speculation.entries import Options

MAX_JOBS = 1024
MAX_SETTINGS = 16
PROGRESS_S = 10.0
MAX_DRAFT_REQUESTS = 10_000
ENGINES = ("local", "ray")
_MAX_TOKENS = 1_000_000_000


def _numbers(flag: str, text: str, usual: str) -> Any:
    return typer.Option(flag, metavar="N,N", help=f"{text} [{usual}].", show_default=False)


@dataclass(frozen=True)
class Sources:
    """Options that say which drafts are tried and what they cost."""

    prediction_field: Annotated[
        list[str] | None,
        typer.Option(
            "--prediction-field",
            metavar="NAME",
            help="Field of the request used as prediction [prediction]. May be repeated.",
        ),
    ] = None
    prediction_cap: Annotated[
        int, typer.Option("--prediction-cap", metavar="N", help="Its most tokens without max_tokens [2048].")
    ] = 2048
    lengths: Annotated[str, _numbers("--lengths", "Lengths of n-gram and suffix", "2,3,4,6")] = "2,3,4,6"
    draft_tokens: Annotated[str, _numbers("--draft-tokens", "Draft tokens a pass", "2,4,8,16")] = "2,4,8,16"
    index_tokens: Annotated[
        int,
        typer.Option("--index-tokens", metavar="N", help="Room of the suffix index; 0: none [1000000]."),
    ] = 1_000_000
    draft_model: Annotated[
        str | None, typer.Option("--draft-model", metavar="M", help="Name of the draft model.")
    ] = None
    draft_url: Annotated[
        str | None,
        typer.Option(
            "--draft-url", metavar="URL", help="OpenAI-compatible server, up to /v1, that is asked."
        ),
    ] = None
    draft_requests: Annotated[
        int,
        typer.Option("--draft-requests", metavar="N", help="Requests by type it is asked about [20]."),
    ] = 20
    api_key_env: Annotated[
        str | None,
        typer.Option("--api-key-env", metavar="VAR", help="Environment variable that holds its key."),
    ] = None
    draft_cost: Annotated[
        float, typer.Option("--draft-cost", metavar="C", help="Drafting a token, in target passes [0.1].")
    ] = 0.1
    verify_cost: Annotated[
        float, typer.Option("--verify-cost", metavar="V", help="Verifying a token, in target passes [0.02].")
    ] = 0.02

    def to_options(self, tokenizer: str | None) -> Options:
        """The form that the replay takes. Raises UsageError."""
        from fwctl.speculation.arithmetic import Costs
        from fwctl.speculation.entries import Options

        if not 1 <= self.prediction_cap <= _MAX_TOKENS or not 0 <= self.index_tokens <= _MAX_TOKENS:
            raise UsageError("--prediction-cap is a number from 1, --index-tokens from 0")
        try:
            costs = Costs(self.draft_cost, self.verify_cost)
        except ValueError as error:
            raise UsageError(f"--draft-cost, --verify-cost: {error}") from None
        return Options(
            fields=tuple(dict.fromkeys(self.prediction_field or ["prediction"])),
            lengths=_list("--lengths", self.lengths),
            draft_tokens=_list("--draft-tokens", self.draft_tokens),
            prediction_cap=self.prediction_cap,
            index_tokens=self.index_tokens,
            costs=costs,
            draft_model=self.draft_model,
            tokenizer=tokenizer,
            drafts_sampled=self.draft_url is not None,
        )

    def drafter(self, call: Call) -> Drafter | None:
        """The draft model that is asked, when there is one. Raises UsageError."""
        from fwctl.cli.keys import server_key
        from fwctl.speculation.endpoint import Drafter

        if self.draft_url is None:
            if self.api_key_env is not None:
                raise UsageError("--api-key-env belongs to --draft-url")
            return None
        if self.draft_model is None or not 1 <= self.draft_requests <= MAX_DRAFT_REQUESTS:
            raise UsageError(
                f"--draft-url needs --draft-model, and --draft-requests from 1 to {MAX_DRAFT_REQUESTS}"
            )
        key = server_key(call, self.draft_url, self.api_key_env, "--draft-url")
        return Drafter(self.draft_url, self.draft_model, key, self.draft_requests)


def _list(flag: str, text: str) -> tuple[int, ...]:
    """Ascending numbers from 1 to 64, the platform's limits for both."""
    parts = text.split(",")
    if len(parts) > MAX_SETTINGS or not all(part.strip().isdecimal() and len(part) < 9 for part in parts):
        raise UsageError(f"{flag} takes up to {MAX_SETTINGS} whole numbers, separated by commas")
    found = tuple(sorted({int(part) for part in parts}))
    if not (found[0] >= 1 and found[-1] <= 64):
        raise UsageError(f"{flag} takes numbers from 1 to 64")
    return found


@command(
    "fwctl speculate replay traces.jsonl",
    "fwctl speculate replay logs/*.jsonl.gz --jobs 4 --prediction-field original_file",
)
def speculate_replay(
    call: Call,
    *,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Traces: JSONL, gzip, zstd, Parquet, or addresses.")
    ],
    sources: Sources,
    suite: Annotated[
        str | None,
        typer.Option("--suite", metavar="FILE", help="Prompt set of bench records, which hold no prompts."),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option("--tokenizer", metavar="FILE", help="tokenizer.json of the model, for exact tokens."),
    ] = None,
    share: Annotated[
        float, typer.Option("--share", metavar="X", help="Share of the conversations that is replayed [1].")
    ] = 1.0,
    margin: Annotated[
        float, typer.Option("--margin", metavar="X", help="Least gain that is recommended [0.1].")
    ] = 0.1,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", help="Processes [1].")] = 1,
    engine: Annotated[
        str,
        typer.Option("--engine", metavar="local|ray", help="This machine, or a cluster [local]."),
    ] = "local",
) -> Report:
    """Replay traces through every source of drafts, by the greedy verify rule, token by token.

    Needs no GPU and no account. Settings are chosen on one part of the conversations and judged on
    another. The result says, by type of request, which drafts would have paid off.
    """
    from fwctl.speculation.recommend import judge
    from fwctl.speculation.running import Work, replay

    if not 1 <= jobs <= MAX_JOBS or engine not in ENGINES:
        raise UsageError(f"--jobs is a number from 1 to {MAX_JOBS}, --engine local or ray")
    if not 0 <= margin < 10:
        raise UsageError("--margin is a share from 0, such as 0.1 for 10 %")
    if not 0 < share <= 1:
        raise UsageError("--share is above 0, up to 1 for all conversations")
    options = replace(sources.to_options(tokenizer), share=share)
    env = call.env
    drafter = sources.drafter(call)
    work = Work(tuple(files), env.cwd, options, suite, jobs, env.environ, drafter=drafter)
    call.output.message(f"replaying {', '.join(files[:3])}{' ...'[: 4 * (len(files) > 3)]}")
    done = replay(work, engine, _Progress(call))
    if done.unasked:
        call.output.message(f"the draft model was too slow: {done.unasked} requests are replayed without it")
    body = {
        "files": list(files),
        "tokens": done.tokens,
        "index_tokens": done.index_tokens,
        "draft_requests_sent": done.asks,
        "draft_requests_unfinished": done.unasked,
        "margin": margin,
        "options": options.to_json(),
        **judge(done.tally, options, margin),
    }
    return Report("speculate replay", body).hinted(_hints(body))


class _Progress:
    """A line on stderr every few seconds."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.told = call.env.clock.monotonic()
        self.done = 0

    def __call__(self, done: int, total: int) -> None:
        now = self.call.env.clock.monotonic()
        if done > self.done and now - self.told >= PROGRESS_S:
            self.told, self.done = now, done
            self.call.output.message(f"{done} of {total} parts")


def _hints(body: dict[str, Any]) -> tuple[str, ...]:
    if all(item["recommendation"]["source"] == "none" for item in body["by_type"].values()):
        return ()
    return ("next: switch it on in one deployment and compare: fwctl bench run, fwctl bench compare",)
