"""The way from paths on the command line to specs, firectl, live state: shared by all commands."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import Enum
from types import TracebackType
from typing import TYPE_CHECKING, Any

from fwctl.cli.choices import Scope
from fwctl.cli.command import Call
from fwctl.cli.places import has_specs, spec_paths
from fwctl.errors import AuthError, InvalidSpecError, Severity, UsageError
from fwctl.report.diagnostics import count_line
from fwctl.spec.model import Loaded, Spec

if TYPE_CHECKING:
    from fwctl.firectl.client import Firectl
    from fwctl.firectl.outcome import Outcome
    from fwctl.live.model import LiveState, ShapeVersion


class Gates(Enum):
    """UNREAD: for commands that must work so that evidence can be made. RULES: missing evidence that blocks
    is an error. FOLLOW: a plan asks the gates next."""

    UNREAD = 0
    RULES = 1
    FOLLOW = 2


def load_specs(
    call: Call,
    paths: Sequence[str],
    *,
    need_secrets: bool = False,
    strict: bool = False,
    gates: Gates = Gates.UNREAD,
) -> Loaded:
    """Load and validate; the result may hold errors. gates: whether the evidence beside the specs counts."""
    from fwctl.cli.evidence_weighed import offline_evidence
    from fwctl.spec.load import load

    return load(
        spec_paths(call, paths),
        environ=call.env.environ,
        defaults=call.settings.defaults,
        need_secrets=need_secrets,
        strict=strict,
        evidence=None if gates is Gates.UNREAD else offline_evidence(call, paths, gates is Gates.FOLLOW),
    )


def require_valid(call: Call, loaded: Loaded) -> Spec:
    """The spec; InvalidSpecError with every diagnostic when there is an error in it."""
    if loaded.spec is None or any(item.severity is Severity.ERROR for item in loaded.diagnostics):
        raise InvalidSpecError(
            f"the specs are not valid: {count_line(loaded.diagnostics)}",
            next_steps=["fwctl validate"],
            diagnostics=loaded.diagnostics,
        )
    check_account(call, loaded.spec.account)
    return loaded.spec


def scope_spec(call: Call, scope: Scope) -> Spec:
    """The specs that a command about named deployments means; an empty spec where there are none."""
    if has_specs(call, scope.paths):
        spec = require_valid(call, load_specs(call, scope.paths))
        if scope.stack not in (None, spec.stack):
            raise UsageError(f"--stack says {scope.stack!r}, the specs say {spec.stack!r}")
        return spec
    return Spec(own_account(call), scope.stack or "default")


def check_account(call: Call, account: str) -> None:
    """AuthError when --account names another account than the specs."""
    wanted = call.settings.account
    if wanted and wanted != account:
        raise AuthError(
            f"the specs are for account {account!r}, --account says {wanted!r}",
            next_steps=["leave --account out, or give the specs of that account"],
        )


@dataclass(slots=True)
class Session(AbstractContextManager["Session"]):
    """firectl for one run; closed on every exit."""

    call: Call
    account: str
    interrupt: threading.Event | None = None
    _open: list[Firectl] = field(default_factory=list)

    @property
    def firectl(self) -> Firectl:
        """The facade, made on first use. Raises FirectlMissingError."""
        if not self._open:
            self._open.append(open_firectl(self.call, self.account, self.interrupt))
        return self._open[0]

    def live(self, spec: Spec | None, *, silent: bool = False) -> LiveState:
        """Everything a plan needs from the platform. silent: no line about it on stderr."""
        from fwctl.live.reader import read_live

        if spec is not None:
            self.firectl.require(spec.settings.get("require_firectl"))
        if not silent:
            self.call.output.message(f"reading live state of account {self.account} ...")
        return read_live(
            self.firectl,
            spec,
            self.firectl.capabilities,
            account=self.account,
            parallelism=self.call.settings.parallelism,
        )

    def requests_by_day(self, since: date) -> list[dict[str, Any]]:
        """Requests of every deployment from that day on, UTC, as `operate.daily_requests` reads them."""
        end = self.call.env.clock.now().date() + timedelta(days=1)
        return self.firectl.deployment_metrics("requests-total", start=f"{since}", end=f"{end}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for item in self._open:
            item.close()


def open_firectl(call: Call, account: str, interrupt: threading.Event | None = None) -> Firectl:
    """firectl as the options say."""
    from fwctl.firectl.client import Firectl

    settings = call.settings
    return Firectl.open(
        call.env,
        account=account,
        option=settings.firectl,
        timeout_s=settings.firectl_timeout_s,
        auth=settings.auth,
        profile=settings.profile,
        interrupt=interrupt,
        observe=_narrator(call) if settings.verbose else None,
    )


def own_account(call: Call) -> str:
    """The account without a spec: --account, else the one firectl is signed in to."""
    if call.settings.account:
        return call.settings.account
    firectl = open_firectl(call, "")
    try:
        found = firectl.whoami().get("account_id")
    finally:
        firectl.close()
    if not found:
        raise AuthError(
            "firectl does not say which account it is signed in to",
            next_steps=["give it with --account ID or FWCTL_ACCOUNT"],
        )
    return found


def _narrator(call: Call) -> Callable[[Outcome], None]:
    from fwctl.report.layout import Span
    from fwctl.report.values import shell_line

    def observe(outcome: Outcome) -> None:
        words = shell_line(call.env.redactor.mask_argv(outcome.argv))
        call.output.message(Span(f"firectl {words} ({outcome.seconds:.1f} s)", "dim"))

    return observe


def shape_versions(call: Call, model: str, account: str) -> tuple[ShapeVersion, ...]:
    """What the platform can run a model on: by `match` where firectl has it, else the list by model."""
    from fwctl.live.normalise import full_name, normalise_shape_version

    name = full_name(model, account)
    with Session(call, account) as session:
        firectl = session.firectl
        match = firectl.capabilities.has_match
        rows = firectl.match_shapes(name) if match else firectl.list_shape_versions(base_model=name)
    found = [normalise_shape_version(row) for row in rows]
    return tuple(sorted(found, key=lambda item: (not item.latest_validated, not item.validated, item.name)))
