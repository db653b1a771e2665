"""Reads what one plan needs from the platform, each thing once.

One list of deployments, one call a distinct shape, one a distinct model, one match a distinct model
that uses a preset, and the fixed reads. A failed list of deployments, shapes or models ends the run,
because absent data must never look like an absent deployment; a failed optional read is remembered in
`unread`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from fwctl.catalog.enums import SHAPE_PRESETS
from fwctl.errors import AuthError, FwctlError
from fwctl.live.identity import LEAVING, match
from fwctl.live.model import LiveDeployment, LiveModel, LiveState, ShapeVersion
from fwctl.live.normalise import (
    full_name,
    normalise_deployment,
    normalise_model,
    normalise_shape_version,
    shape_of,
    short_id,
)
from fwctl.spec.model import Spec

_PRESET_ORDER = ("MINIMAL", "THROUGHPUT", "FAST")
_Jobs = dict[tuple[str, str], Callable[[], Any]]


class Reader(Protocol):
    """The reads of `firectl.Firectl` that a plan uses."""

    def list_deployments(self, show_deleted: bool = ...) -> Sequence[Mapping[str, Any]]: ...
    def list_shape_versions(
        self, shape: str | None = ..., base_model: str | None = ...
    ) -> Sequence[Mapping[str, Any]]: ...
    def match_shapes(self, model: str) -> Sequence[Mapping[str, Any]]: ...
    def get_model(self, name: str) -> Mapping[str, Any]: ...
    def list_quotas(self) -> Sequence[Mapping[str, Any]]: ...
    def list_routers(self) -> Sequence[Mapping[str, Any]]: ...
    def list_reservations(self) -> Sequence[Mapping[str, Any]]: ...
    def list_deployed_models(self) -> Sequence[Mapping[str, Any]]: ...
    def whoami(self) -> Mapping[str, str]: ...


class Abilities(Protocol):
    """The part of `firectl.Capabilities` that decides what can be read."""

    @property
    def has_match(self) -> bool: ...


def read_live(
    firectl: Reader, spec: Spec | None, caps: Abilities, *, account: str | None = None, parallelism: int = 4
) -> LiveState:
    """Live state for a plan of `spec`, or of the whole account when it is None.

    Raises AuthError when what comes back belongs to another account, and whatever `firectl` raises for
    reads that a plan cannot do without.
    """
    own = account or (spec.account if spec else "")
    deployments = _deployments(firectl, own)
    own = own or next((item.account for item in deployments.values()), "")
    wanted = _Wanted.of(spec, deployments, own)
    unread: dict[str, str] = {}
    jobs = {**_needed(firectl, wanted, caps), **_fixed(firectl, wanted, unread)}
    done = _run(jobs, parallelism)
    shapes = _of_kind(done, "shape")
    return LiveState(
        account=own,
        deployments=deployments,
        shapes={asked: shapes[shape_of(asked)] for asked in wanted.asked_shapes},
        matches=_of_kind(done, "match"),
        models=_of_kind(done, "model"),
        quotas={short_id(str(row.get("name", ""))): row for row in done["fixed", "quotas"]},
        routers={short_id(str(row.get("name", ""))): row for row in done["fixed", "routers"]},
        reservations=tuple(done["fixed", "reservations"]),
        loaded_addons=_loaded(done.get(("fixed", "deployed_models"), ()), deployments),
        signed_in_as=next((str(row.get("account_id") or "") for row in done["fixed", "whoami"]), "") or None,
        unread=dict(sorted(unread.items())),
    )


def _needed(firectl: Reader, wanted: _Wanted, caps: Abilities) -> _Jobs:
    """Reads that a plan cannot do without."""
    offered = firectl.match_shapes if caps.has_match else partial(_validated_for, firectl)
    jobs: _Jobs = {("shape", shape): partial(_shape_versions, firectl, shape) for shape in wanted.shapes}
    jobs |= {("model", model): partial(_model, firectl, model) for model in sorted(wanted.models)}
    jobs |= {("match", model): partial(_match, offered, model) for model in sorted(wanted.preset_models)}
    return jobs


def _fixed(firectl: Reader, wanted: _Wanted, unread: dict[str, str]) -> _Jobs:
    """Reads whose failure is remembered in `unread`."""
    reads: dict[str, Callable[[], Sequence[Mapping[str, Any]]]] = {
        "whoami": lambda: [firectl.whoami()],
        "quotas": firectl.list_quotas,
        "routers": firectl.list_routers,
        "reservations": firectl.list_reservations,
    }
    if wanted.addons:
        reads["deployed_models"] = firectl.list_deployed_models
    return {("fixed", what): partial(_optional, what, read, unread) for what, read in reads.items()}


def _run(jobs: _Jobs, parallelism: int) -> dict[tuple[str, str], Any]:
    if parallelism <= 1:
        return {key: job() for key, job in jobs.items()}
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(parallelism, len(jobs))) as pool:
        running = {key: pool.submit(job) for key, job in jobs.items()}
        try:
            return {key: future.result() for key, future in running.items()}
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _of_kind(done: Mapping[tuple[str, str], Any], kind: str) -> dict[str, Any]:
    return {name: value for (what, name), value in sorted(done.items()) if what == kind}


class _Wanted:
    """The distinct names that must be read."""

    def __init__(self) -> None:
        self.asked_shapes: set[str] = set()
        self.models: set[str] = set()
        self.preset_models: set[str] = set()
        self.addons = False

    @property
    def shapes(self) -> list[str]:
        return sorted({shape_of(asked) for asked in self.asked_shapes})

    @classmethod
    def of(cls, spec: Spec | None, live: Mapping[str, LiveDeployment], account: str) -> _Wanted:
        wanted = cls()
        wanted.addons = any("addons.mode" in item.fields for item in live.values())
        if spec is None:
            return wanted
        for entry in spec.deployments.values():
            wanted._entry(entry.fields, account)
        found = match(spec.deployments.values(), live, spec.stack)
        for pair in found.by_name.values():
            for item in (pair.current, pair.next):
                if item is not None and "/" in str(item.fields.get("shape", "")):
                    wanted.asked_shapes.add(shape_of(str(item.fields["shape"])))
        return wanted

    def _entry(self, fields: Mapping[str, Any], account: str) -> None:
        model = full_name(str(fields.get("model", "")), account)
        shape = str(fields.get("shape", ""))
        names = [fields.get("model"), fields.get("speculation.draft_model"), *fields.get("addons.load", ())]
        self.models |= {full_name(str(name), account) for name in names if name}
        if shape in SHAPE_PRESETS:
            self.preset_models.add(model)
        elif "/" in shape:
            self.asked_shapes |= {shape, shape_of(shape)}
        self.addons = self.addons or "addons.load" in fields or "addons.mode" in fields


def _deployments(firectl: Reader, account: str) -> dict[str, LiveDeployment]:
    found: dict[str, LiveDeployment] = {}
    for raw in firectl.list_deployments(show_deleted=True):
        item = normalise_deployment(raw)
        if account and item.account != account:
            raise _foreign_account(account, item)
        before = found.get(item.deployment_id)
        if before is None or before.state in LEAVING:
            found[item.deployment_id] = item
    return dict(sorted(found.items()))


def _foreign_account(account: str, item: LiveDeployment) -> AuthError:
    return AuthError(
        f"asked for account {account!r}, but firectl answered with {item.name!r}",
        next_steps=("check `account:` in the spec and `firectl whoami`", "fwctl doctor"),
    )


def _shape_versions(firectl: Reader, shape: str) -> tuple[ShapeVersion, ...] | None:
    try:
        rows = firectl.list_shape_versions(shape)
    except FwctlError as error:
        if _is_missing(error):
            return None
        raise
    return _sorted_versions(rows) or None


def _validated_for(firectl: Reader, model: str) -> Sequence[Mapping[str, Any]]:
    """What `match` would say, for a firectl without it: the newest validated version of every shape of
    the model; whether the account may deploy it shows at create."""
    rows = firectl.list_shape_versions(base_model=model)
    return [row for row in rows if row.get("latest_validated")]


def _match(offered: Callable[[str], Sequence[Mapping[str, Any]]], model: str) -> tuple[ShapeVersion, ...]:
    try:
        return _sorted_versions(offered(model))
    except FwctlError as error:
        if _is_missing(error):
            return ()
        raise


def _sorted_versions(rows: Iterable[Mapping[str, Any]]) -> tuple[ShapeVersion, ...]:
    """Validated first, then small presets and few GPUs, then the name: the server's order says nothing."""

    def rank(version: ShapeVersion) -> tuple[Any, ...]:
        preset = version.preset or ""
        place = _PRESET_ORDER.index(preset) if preset in _PRESET_ORDER else len(_PRESET_ORDER)
        count = version.snapshot.get("accelerator.count")
        return (
            not version.latest_validated,
            not version.validated,
            place,
            count if isinstance(count, int) else 0,
            version.name,
        )

    return tuple(sorted((normalise_shape_version(row) for row in rows), key=rank))


def _model(firectl: Reader, name: str) -> LiveModel | None:
    try:
        return normalise_model(firectl.get_model(name), name)
    except FwctlError as error:
        if _is_missing(error):
            return None
        raise


def _is_missing(error: FwctlError) -> bool:
    return getattr(error, "error_class", None) == "not_found"


def _optional(
    what: str, read: Callable[[], Sequence[Mapping[str, Any]]], unread: dict[str, str]
) -> Sequence[Mapping[str, Any]]:
    try:
        return read()
    except AuthError:
        raise
    except FwctlError as error:
        unread[what] = error.message
        return ()


def _loaded(
    rows: Iterable[Mapping[str, Any]], deployments: Mapping[str, LiveDeployment]
) -> dict[str, tuple[str, ...]]:
    """Deployment ID -> LoRA models on it; the base itself and one that is being taken off do not count."""
    found: dict[str, set[str]] = {}
    for row in rows:
        key, model = short_id(str(row.get("deployment", ""))), str(row.get("model", ""))
        base = deployments[key].fields.get("model") if key in deployments else None
        if row.get("state") != "UNDEPLOYING" and model != base:
            found.setdefault(key, set()).add(model)
    return {key: tuple(sorted(models)) for key, models in sorted(found.items())}
