"""`fwctl watch` and `fwctl watch rules`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwctl.cli.arguments import Paths
from fwctl.cli.command import Call, command
from fwctl.cli.options import duration_s
from fwctl.cli.places import STATE_FOLDER, has_specs
from fwctl.cli.session import Session, load_specs, own_account, require_valid
from fwctl.errors import UsageError
from fwctl.exitcodes import Exit
from fwctl.records.folderlock import folder_lock
from fwctl.report.model import Report

if TYPE_CHECKING:
    from fwctl.cli.watch_loop import Watch
    from fwctl.operate.watch import Look
    from fwctl.operate.watch_config import WatchConfig
    from fwctl.operate.watch_state import Event
    from fwctl.spec.model import Spec

SHORTEST_S = 10.0  # the metrics page allows six requests a minute
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="File of kind Watch.", show_default=False),
]


@command(
    "fwctl watch",
    "fwctl watch --once --format json",
    "fwctl watch --config watch.yaml --every 30s --format events",
    "fwctl watch rules > fwctl-rules.yml",
    formats=("text", "json", "events"),
)
def watch(
    call: Call,
    *,
    paths: Paths = None,
    once: Annotated[
        bool,
        typer.Option(
            "--once", help="Look once; exit 4 when an alert fires or is pending.", show_default=False
        ),
    ] = False,
    config: Config = None,
    every: Annotated[
        str, typer.Option("--every", metavar="DURATION", help="Time between looks [60s].")
    ] = "60s",
    metrics_url: Annotated[
        str | None,
        typer.Option(
            "--metrics-url",
            metavar="URL",
            help="Metrics page; that of the account when FIREWORKS_API_KEY is set.",
            show_default=False,
        ),
    ] = None,
    metrics_key_env: Annotated[
        str | None,
        typer.Option(
            "--metrics-key-env",
            metavar="VAR",
            help="Environment variable that holds the key for it.",
            show_default=False,
        ),
    ] = None,
) -> Report:
    """Watch replicas, latency, errors, cost and state, and tell what needs a hand. It only reads.

    Each alert fires once, when it was true for its hold time, and resolves once. The state is kept in
    .fwctl/history.db, and so are the samples that `fwctl cost` counts from. Ctrl-C or SIGTERM ends it.
    """
    from fwctl.cli.watch_loop import shown

    every_s = duration_s(every, "--every")
    if every_s < SHORTEST_S:
        raise UsageError(
            f"--every is {SHORTEST_S:g} s or longer: the metrics page allows 6 requests a minute"
        )
    if not once and call.settings.format == "json":
        raise UsageError(
            "a watch has no end, so it has no JSON document", next_steps=["--format events", "--once"]
        )
    spec = _spec(call, paths)
    found = _config(call, config)
    account = _account(call, spec, found)
    with Session(call, account) as session, _alone(call, account):
        running = _watch(call, session, spec, found, metrics=(metrics_url, metrics_key_env), paths=paths)
        if once:
            look, events = running.once()
            return _report(running, look, events)
        call.output.message(f"watching account {account} every {every_s:g} s; Ctrl-C ends")
        running.forever(every_s, shown(call, event_line(call)))
    raise AssertionError("a watch ends by a signal")


@command("fwctl watch rules > fwctl-rules.yml", "fwctl watch rules --config watch.yaml --format json")
def watch_rules(call: Call, *, paths: Paths = None, config: Config = None) -> Report:
    """Print the rules as a rule file for Prometheus, with the objectives of the specs.

    The file holds what the exporter's series can say. The JSON form lists the whole table.
    """
    from fwctl.operate.rules_prometheus import rule_file
    from fwctl.operate.watch_config import described_rules

    spec, found = _spec(call, paths), _config(call, config)
    deployments = {item.deployment_id: item for item in spec.deployments.values()} if spec else {}
    return Report(
        "watch rules",
        {"rules": described_rules(found.rules)},
        text=rule_file(found.rules, deployments),
    )


def _account(call: Call, spec: Spec | None, config: WatchConfig) -> str:
    """Whose deployments are watched. Raises UsageError when specs and files do not mean the same."""
    account = spec.account if spec else call.settings.account or config.account or own_account(call)
    if config.account not in (None, account):
        raise UsageError(f"the file of kind Watch is for account {config.account!r}, not for {account!r}")
    return account


@contextmanager
def _alone(call: Call, account: str) -> Iterator[None]:
    """Two watches of an account would overwrite what the other remembers and tell everything twice."""
    path = call.env.cwd / STATE_FOLDER / f"watch-{account}.lock"
    with folder_lock(path, call.env.clock, "fwctl watch") as note:
        if note is not None:
            call.output.message(note)
        yield


def _spec(call: Call, paths: list[str] | None) -> Spec | None:
    if not has_specs(call, paths or []):
        return None
    return require_valid(call, load_specs(call, paths or []))


def _config(call: Call, path: Path | None) -> WatchConfig:
    from fwctl.operate.watch_config import WatchConfig, load_config, secrets

    if path is None:
        return WatchConfig()
    found = load_config(path, call.env.environ, call.env.cwd)
    call.env.redactor.register(*secrets(found))
    return found


def _watch(
    call: Call,
    session: Session,
    spec: Spec | None,
    config: WatchConfig,
    *,
    metrics: tuple[str | None, str | None],
    paths: list[str] | None,
) -> Watch:
    from fwctl.cli.evidence_weighed import offline_evidence
    from fwctl.cli.metrics_page import metrics_page
    from fwctl.cli.watch_loop import Watch
    from fwctl.cli.watch_reading import Sources
    from fwctl.operate.sinks import post

    page = metrics_page(call, session.account, *metrics)
    if page.url is None:
        call.output.message("without metrics: set FIREWORKS_API_KEY, or give --metrics-url")
    evidence = offline_evidence(call, paths or [])(spec) if spec else None
    sources = Sources(
        call,
        session,
        spec,
        page,
        tuple(call.env.cwd / name for name in config.records),
        evidence.tested_replicas if evidence else {},
    )
    return Watch(call, session.account, config, sources.look, post)


def _report(running: Watch, look: Look, events: list[Event]) -> Report:
    alerts = sorted(running.state.alerts.values(), key=lambda item: (item.phase, item.since, item.key))
    body: dict[str, Any] = {
        "account": look.account,
        "time": look.now.isoformat(),
        "deployments": len({item.subject for item in running.judged if item.rule.scope == "deployment"}),
        "alerts": [alert.to_json() for alert in alerts],
        "events": [event.to_json() for event in events],
        "unknown": sorted({item.rule.name for item in running.judged if item.answer == "unknown"}),
        "metrics": {
            "wanted": look.metrics_wanted,
            "read_at": look.page_at.isoformat() if look.page_at else None,
            "error": look.page_error,
        },
    }
    return Report("watch", body, Exit.REFUSED if alerts else Exit.OK)


def event_line(call: Call) -> Callable[[Event], str]:
    """How a running watch writes an event: lines for people, or one JSON object."""
    if call.settings.format == "events":
        return lambda event: json.dumps(event.to_json(), allow_nan=False)
    from fwctl.report.watch_text import event_text

    style = call.output.style(call.env.stdout)
    return lambda event: event_text(event.to_json(), style)
