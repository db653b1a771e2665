"""The control plane as Python objects: reads that return what firectl said, and the door for writes.

Reads return dicts with firectl's own field names in snake_case, unknown fields included, sensitive
values masked. A read that fails, is cut off or misses a page raises; it never returns less.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from fwctl.env import Env
from fwctl.firectl import argv as command_line
from fwctl.firectl.capabilities import Capabilities, require
from fwctl.firectl.locate import locate
from fwctl.firectl.outcome import Outcome
from fwctl.firectl.output import UnreadableError, parse_list, parse_object
from fwctl.firectl.paging import Page, read_all
from fwctl.firectl.probe import probe, read_version
from fwctl.firectl.retry import RetryPolicy, read_with_retry
from fwctl.firectl.runner import DEFAULT_TIMEOUT_S, Runner
from fwctl.firectl.text import is_header_only, only_notices, parse_whoami, total_size

_T = TypeVar("_T")
Row = dict[str, Any]


class Firectl:
    """One account through one firectl. Safe to use from several threads."""

    def __init__(
        self, runner: Runner, capabilities: Capabilities | None = None, *, retry: RetryPolicy | None = None
    ) -> None:
        self.runner = runner
        self._capabilities = capabilities
        self._retry = retry or RetryPolicy()
        self._lock = threading.Lock()

    @classmethod
    def open(
        cls,
        env: Env,
        *,
        account: str,
        option: str | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        auth: str = "env",
        profile: str | None = None,
        interrupt: threading.Event | None = None,
        observe: Callable[[Outcome], None] | None = None,
    ) -> Firectl:
        """Find firectl (`--firectl`, FWCTL_FIRECTL, PATH, `sim`) and make it ready; nothing is started
        yet. Raises FirectlMissingError."""
        command = locate(env, option)
        return cls(Runner(command, account, env, timeout_s, auth, profile, interrupt, observe))

    @property
    def account(self) -> str:
        return self.runner.account

    @property
    def capabilities(self) -> Capabilities:
        """What the installed build can do; asked once, on first use."""
        with self._lock:
            if self._capabilities is None:
                self._capabilities = probe(self.runner)
            return self._capabilities

    def require(self, requirement: str | None) -> None:
        """Raises FirectlTooOldError when the installed version does not meet the requirement."""
        if requirement:
            require(self.capabilities, requirement)

    def close(self) -> None:
        self.runner.close()

    # Writes

    def argv(self, verb: str, target: str | None, fields: Mapping[str, Any]) -> list[str]:
        """The words of a call as they would be run; no secret is among them."""
        return command_line.build(verb, target, fields, self.capabilities, account=self.account)

    def perform(
        self, verb: str, target: str | None, fields: Mapping[str, Any], *, timeout_s: float | None = None
    ) -> Outcome:
        """Build one mutating call and run it once. What firectl answers never raises."""
        words = self.argv(verb, target, fields)
        file = command_line.file_content(verb, fields, self.capabilities)
        return self.runner.call(words, file=file, timeout_s=timeout_s)

    def run(
        self, argv: Sequence[str], *, file: Mapping[str, Any] | None = None, timeout_s: float | None = None
    ) -> Outcome:
        """Run words that `argv.build` made, once."""
        return self.runner.call(argv, file=file, timeout_s=timeout_s)

    # Reads

    def list_deployments(self, show_deleted: bool = True) -> list[Row]:
        """All deployments of the account, deleted ones that still hold their ID included."""
        options: Row = {"show_deleted": True} if show_deleted and self.capabilities.show_deleted else {}
        return self._list("deployment list", "deployments", **options)

    def get_deployment(self, deployment_id: str) -> Row:
        return self._get("deployment get", deployment_id)

    def list_shape_versions(self, shape: str | None = None, base_model: str | None = None) -> list[Row]:
        """Versions of one shape (full name), or of all."""
        options = {"base_model": base_model} if base_model else {}
        return self._list("deployment-shape-version list", "deployment_shape_versions", shape, **options)

    def match_shapes(self, model: str) -> list[Row]:
        """Shape versions that this account can deploy for a model."""
        return self._list("deployment-shape-version match", "deployment_shape_versions", model)

    def get_model(self, name: str) -> Row:
        """A model by full name. Raises with error_class `not_found` when it does not exist."""
        return self._get("model get", name)

    def list_models(self) -> list[Row]:
        return self._list("model list", "models")

    def get_dataset(self, dataset_id: str) -> Row:
        """Raises with error_class `not_found` when it does not exist, as `get_tuning_job` does."""
        return self._get("dataset get", dataset_id)

    def get_tuning_job(self, job_id: str) -> Row:
        """A supervised fine-tuning job."""
        return self._get("supervised-fine-tuning-job get", job_id)

    def list_quotas(self) -> list[Row]:
        return self._list("quota list", "quotas")

    def list_routers(self) -> list[Row]:
        return self._list("router list", "routers")

    def list_reservations(self) -> list[Row]:
        return self._list("reservation list", "reservations")

    def list_deployed_models(self) -> list[Row]:
        return self._list("deployed-model list", "deployed_models")

    def deployment_metrics(self, metric: str, *, start: str, end: str, interval: str = "24h") -> list[Row]:
        """Series of one metric by deployment; start and end as YYYY-MM-DD, the end exclusive."""
        options = {
            "metric": metric,
            "group_by": "deployment",
            "start": start,
            "end": end,
            "interval": interval,
        }
        return self._page("deployment-metrics list", "series", None, options).rows

    def export_billing(self, path: Path, *, start: str, end: str) -> None:
        """Writes the billing metrics of at most 31 days to a CSV file; days as YYYY-MM-DD, UTC, the end
        exclusive."""
        options = {"start_time": start, "end_time": end, "filename": str(path)}
        self._read("billing export-metrics", None, options)

    def whoami(self) -> dict[str, str]:
        """What firectl says about the signed-in user; `account_id` where it can be read."""
        outcome = self._read("whoami", None, {})
        return parse_whoami(outcome.stdout or outcome.stderr)

    def version(self) -> str:
        """`1.8.9`, empty when firectl prints no version."""
        if self._capabilities is not None:
            return self._capabilities.version
        return read_version(self.runner)

    def _read(self, verb: str, target: str | None, options: Mapping[str, Any]) -> Outcome:
        # Reads need no probing: their flags are old, and what varies is decided by the callers above.
        words = command_line.build(verb, target, options, Capabilities(), account=self.account)
        outcome = read_with_retry(lambda: self.runner.call(words), self.runner.env.clock, self._retry)
        if "unknown flag: --no-paginate" in outcome.message:
            return self._read(verb, target, {key: options[key] for key in options if key != "no_paginate"})
        return outcome.checked()

    def _get(self, verb: str, target: str) -> Row:
        outcome = self._read(verb, target, {})
        return self._parsed(lambda: parse_object(outcome.raw_stdout))

    def _page(self, verb: str, key: str, target: str | None, options: Mapping[str, Any]) -> Page:
        outcome = self._read(verb, target, options)
        rows, token, total = self._parsed(lambda: parse_list(outcome.raw_stdout, key))
        return Page(rows, token, total, blank=only_notices(outcome.raw_stdout))

    def _list(self, verb: str, key: str, target: str | None = None, **options: Any) -> list[Row]:
        """All rows over all pages; see `paging` for what counts as a missing page."""
        return self._parsed(
            lambda: read_all(
                lambda more: self._page(verb, key, target, {**options, **more}),
                lambda: self._total(verb, target, options),
                paged=verb != "deployment-shape-version match",
            )
        )

    def _total(self, verb: str, target: str | None, options: Mapping[str, Any]) -> int | None:
        """N of the text form's `Total size: N`; an empty list prints its header only."""
        words = command_line.build(
            verb, target, {**options, "page_size": 1}, Capabilities(), account=self.account
        )
        words = [word for word in words if word not in ("-o", "json")]
        text = self.runner.call(words).checked().raw_stdout
        return 0 if is_header_only(text) else total_size(text)

    def _parsed(self, parse: Callable[[], _T]) -> _T:
        try:
            return parse()
        except UnreadableError as error:
            raise error.quoting(self.runner.env.redactor) from None
