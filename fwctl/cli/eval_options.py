"""Options that evaluations share: who is asked, what has to be shown, and whom graders ask."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fwctl.cli.command import Call
from fwctl.cli.keys import server_key
from fwctl.errors import UsageError

if TYPE_CHECKING:
    from fwctl.measure.target import Target
    from fwctl.quality.graders.means import Means, Model

MOST = 10_000
TARGETS = "targets.yaml"


@dataclass(frozen=True)
class Arms:
    """Who is asked: targets of a file, or models behind a URL."""

    targets: Annotated[
        Path | None, typer.Option("--targets", metavar="FILE", help="File of kind Targets [targets.yaml].")
    ] = None
    target: Annotated[
        list[str] | None,
        typer.Option("--target", metavar="NAME", help="Target of that file. May be repeated."),
    ] = None
    specs: Annotated[
        list[str] | None,
        typer.Option("--specs", metavar="PATH", help="Spec file or folder. May be repeated."),
    ] = None
    target_url: Annotated[
        str | None,
        typer.Option("--target-url", metavar="URL", help="OpenAI-compatible server instead, up to /v1."),
    ] = None
    model: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="M", help="Model string there. May be repeated."),
    ] = None
    api_key_env: Annotated[
        str | None,
        typer.Option("--api-key-env", metavar="VAR", help="Environment variable that holds the key."),
    ] = None


@dataclass(frozen=True)
class Servers:
    """Endpoints that graders ask."""

    judge: Annotated[
        str | None, typer.Option("--judge", metavar="NAME", help="Target of the file that judges.")
    ] = None
    embed: Annotated[
        str | None, typer.Option("--embed", metavar="NAME", help="Target of the file that embeds.")
    ] = None
    judge_url: Annotated[
        str | None, typer.Option("--judge-url", metavar="URL", help="Or the server of the judge, up to /v1.")
    ] = None
    judge_model: Annotated[
        str | None, typer.Option("--judge-model", metavar="M", help="Model string of the judge.")
    ] = None
    judge_key_env: Annotated[
        str | None, typer.Option("--judge-key-env", metavar="VAR", help="Variable with the judge's key.")
    ] = None
    embed_url: Annotated[
        str | None, typer.Option("--embed-url", metavar="URL", help="Or the server of embeddings, up to /v1.")
    ] = None
    embed_model: Annotated[
        str | None, typer.Option("--embed-model", metavar="M", help="Model string of the embeddings.")
    ] = None
    embed_key_env: Annotated[
        str | None, typer.Option("--embed-key-env", metavar="VAR", help="Variable with their key.")
    ] = None


@dataclass(frozen=True)
class Power:
    """What the suite has to show."""

    margin: Annotated[
        float, typer.Option("--margin", metavar="X", help="Loss that has to be ruled out [0.02].")
    ] = 0.02
    discordance: Annotated[
        float,
        typer.Option("--discordance", metavar="X", help="Share of prompts on which equal arms differ."),
    ] = 0.06

    def check(self) -> None:
        if not 0 < self.margin < 1 or not 0 < self.discordance <= 1:
            raise UsageError("--margin and --discordance are shares such as 0.02 for 2 points")


def targets_of(call: Call, arms: Arms) -> list[Target]:
    """The targets that the options name. Raises UsageError, InvalidSpecError."""
    from fwctl.measure.target import Target

    if arms.target_url is None:
        return _of_file(call, arms)
    if arms.targets is not None or arms.target:
        raise UsageError("give either --target-url or targets of a file")
    models = arms.model or []
    if not models:
        raise UsageError("--target-url needs --model")
    if len(set(models)) < len(models):
        raise UsageError("--model is given twice with the same string")
    key = server_key(call, arms.target_url, arms.api_key_env, "--target-url")
    return [Target(name, arms.target_url, name, key, api_key_env=arms.api_key_env) for name in models]


def _of_file(call: Call, arms: Arms) -> list[Target]:
    if arms.model or arms.api_key_env:
        raise UsageError("--model and --api-key-env belong to --target-url")
    path = Path(arms.targets or TARGETS)
    if arms.targets is None and not (call.env.cwd / path).is_file():
        raise UsageError(
            "nobody to ask: there is no targets.yaml and no --target-url",
            next_steps=["--target-url URL --model MODEL", "--targets FILE (docs/bench.md, Targets)"],
        )
    return _named(call, path, arms.target or [], arms.specs or [])


def _named(call: Call, path: Path, names: list[str], specs: list[str]) -> list[Target]:
    from fwctl.cli.bench_targets import DeploymentNames
    from fwctl.measure.targets_file import load_targets

    resolve = DeploymentNames(call, specs)
    return load_targets(path, names, call.env.environ, call.env.cwd, resolve)


def means_of(
    call: Call,
    servers: Servers,
    folder: Path,
    concurrency: int,
    *,
    targets: Path | None,
    specs: list[str] | None = None,
) -> Means:
    """What graders may use. folder: where files of the prompt set lie. targets: the file with `--judge` and
    `--embed`."""
    from fwctl.inference.client import Endpoint
    from fwctl.quality.graders.means import Means, Model

    def model(
        target: str | None, url: str | None, name: str | None, variable: str | None, word: str
    ) -> Model | None:
        if target is not None:
            if (url, name, variable) != (None, None, None):
                raise UsageError(f"--{word} names a server already; leave out --{word}-url and its options")
            (found,) = _named(call, Path(targets or TARGETS), [target], specs or [])
            if found.headers or found.extra:
                raise UsageError(
                    f"--{word} {target}: a grader sends neither headers nor extra",
                    next_steps=["give it a target of its own without them"],
                )
            return Model(Endpoint(found.url, found.api_key, found.timeouts), found.model)
        if url is None and name is None:
            return None
        if url is None or name is None:
            raise UsageError(f"--{word}-url and --{word}-model belong together")
        return Model(Endpoint(url, server_key(call, url, variable, f"--{word}-url")), name)

    judge, embed = (
        (servers.judge, servers.judge_url, servers.judge_model, servers.judge_key_env, "judge"),
        (servers.embed, servers.embed_url, servers.embed_model, servers.embed_key_env, "embed"),
    )
    return Means(folder, call.env.environ, model(*judge), model(*embed), concurrency, call.output.message)
