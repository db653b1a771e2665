"""From options and specs to fit requests: finds configs, reads files, turns bad numbers into usage errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fwctl.catalog.prices import PriceList
from fwctl.errors import Diagnostic, Severity, UsageError
from fwctl.fit.check import check, quick
from fwctl.fit.errors import FitError, RequestError
from fwctl.fit.options import fit_request_from_options, request_for, understand
from fwctl.spec.closest import did_you_mean
from fwctl.spec.model import Deployment, Spec

if TYPE_CHECKING:
    from fwctl.fit.architecture import Architecture
    from fwctl.fit.request import Drafter, FitRequest, Offer
    from fwctl.live.model import LiveModel, LiveState, ShapeVersion

MATRIX_COUNTS = (1, 2, 4, 8)
MATRIX_PRECISIONS = ("BF16", "FP8", "FP4")

Json = Mapping[str, Any]


class Origin(NamedTuple):
    """What a reference to an architecture led to. weights_bytes: exact, when headers could be read."""

    architecture: Architecture | None
    missing: tuple[str, ...] = ()
    weights_bytes: float | None = None


def architecture_of(
    reference: str, folder: Path, origin: str, environ: Mapping[str, str] | None = None
) -> Origin:
    """The architecture behind a config file, a folder with one, a catalogue name or a hub id.

    environ: the variables that the hub's client reads; None keeps off the network. UsageError for a file
    that cannot be used.
    """
    from fwctl.hub.load import load

    try:
        found = load(
            reference, folder=folder, environ=environ or {}, network=environ is not None, exact_sizes=True
        )
    except UsageError as error:
        raise UsageError(f"{origin}: {error.message}") from None
    architecture, reasons = understand(found.config, found.hf_quant_config)
    size = found.sizes.loaded_bytes if found.sizes else None
    return Origin(architecture, found.missing or reasons, size)


def checked(request: Callable[[], FitRequest], fast: bool = False, given: Json | None = None) -> Json:
    """The fit result as JSON; a number that makes no sense is a usage error that names its option.

    given: values of the options, for a word near the one that is not known.
    """
    try:
        return (quick if fast else check)(request()).to_json()
    except RequestError as error:
        flag = {"accelerator_count": "count", "context_tokens": "context"}.get(error.field, error.field)
        near = did_you_mean(str((given or {}).get(error.field)), _words(error.field))
        option = f"--{flag.replace('_', '-')}"
        raise UsageError(f"{option}: {error.reason}", next_steps=[near] if near else []) from None
    except FitError as error:
        raise UsageError(str(error)) from None


def from_options(values: Mapping[str, Any]) -> Json:
    """One check from the options of `fit-check`."""
    return checked(lambda: fit_request_from_options(**values), given=values)


def _words(field: str) -> tuple[str, ...]:
    """Words that an option knows; none for numbers."""
    from fwctl.catalog.enums import ACCELERATORS, PRECISIONS
    from fwctl.fit.engines import ENGINES

    known = {"accelerator": ACCELERATORS, "precision": PRECISIONS, "engine": tuple(ENGINES)}
    return known.get(field, ())


def matrix(values: Mapping[str, Any], prices: PriceList) -> list[Json]:
    """Every accelerator of the catalogue, at the usual counts and precisions, without alternatives."""
    from fwctl.catalog.accelerators import ACCELERATORS

    rows: list[Json] = []
    for accelerator in ACCELERATORS:
        for count in MATRIX_COUNTS:
            for precision in MATRIX_PRECISIONS:
                chosen = {**values, "accelerator": accelerator, "count": count, "precision": precision}
                result = checked(lambda chosen=chosen: fit_request_from_options(**chosen), fast=True)  # type: ignore[misc]
                price = prices.price(accelerator.name)
                rows.append(
                    {
                        **{key: result[key] for key in _MATRIX_KEYS},
                        "usd_per_hour": None if price is None else price * count,
                    }
                )
    return rows


_MATRIX_KEYS = ("accelerator", "accelerator_count", "precision", "verdict", "max_concurrency")


class Around(NamedTuple):
    """What a check of a spec entry may look at. environ None keeps off the network."""

    folder: Path
    prices: PriceList
    live: LiveState | None
    environ: Mapping[str, str] | None
    pools: Mapping[str, float]


def check_specs(
    spec: Spec,
    folder: Path,
    prices: PriceList,
    live: LiveState | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    pools: Mapping[str, float] | None = None,
) -> tuple[dict[str, Json], list[Diagnostic]]:
    """Fit results by logical name; a deployment that cannot be checked gets a diagnostic instead.

    folder: where relative paths of files without a folder of their own begin. live: shapes and models
    as the platform tells them, when they were read. environ: with it a hub id in fit.config is fetched.
    pools: measured KV pools in bytes per GPU, by logical name.
    """
    around = Around(folder, prices, live, environ, pools or {})
    results: dict[str, Json] = {}
    problems: list[Diagnostic] = []
    for name, entry in spec.deployments.items():
        try:
            results[name] = check(_request(entry, spec.account, around)).to_json()
        except (FitError, UsageError) as error:
            problems.append(_problem(entry, str(error)))
    return results, problems


def _request(entry: Deployment, account: str, around: Around) -> FitRequest:
    from fwctl.live.normalise import full_name

    model_name = full_name(str(entry.fields.get("model", "")), account)
    live = around.live
    model = live.models.get(model_name) if live else None
    version = _version(entry, live)
    reference = entry.own.get("fit.config")
    at = entry.position_of("fit.config")
    base = around.folder / Path(at.file).parent if reference and at else around.folder
    known = (
        architecture_of(str(reference), base, "fit.config", around.environ)
        if reference
        else Origin(*known_architecture(model_name, model))
    )
    return request_for(
        entry.fields,
        entry.own,
        version.snapshot if version else None,
        known.architecture,
        name=entry.name,
        missing=known.missing,
        weights_bytes=known.weights_bytes,
        parameters=model.parameter_count if model else None,
        model_context=model.context_length if model else None,
        drafter=_drafter(entry, version, account),
        kv_pool_bytes=around.pools.get(entry.name),
        offers=_offers(model_name, live),
        usd_per_gpu_hour=around.prices.usd_per_gpu_hour,
    )


def known_architecture(
    name: str, model: LiveModel | None = None
) -> tuple[Architecture | None, tuple[str, ...]]:
    """By the model's own name, then by the Hugging Face page that the platform names."""
    from fwctl.catalog import architectures

    for candidate in (name, model.hugging_face_url if model else None, model.base_model if model else None):
        known = architectures.find(candidate) if candidate else None
        if known is not None:
            return understand(known)
    return None, (f"the architecture of {name} is not in the catalogue; set fit.config to its config.json",)


def _version(entry: Deployment, live: LiveState | None) -> ShapeVersion | None:
    """The shape version that the entry stands for, as far as it was read."""
    if live is None:
        return None
    versions = live.shapes.get(str(entry.fields.get("shape", ""))) or ()
    asked = str(entry.fields.get("shape", ""))
    exact = next((item for item in versions if item.name == asked), None)
    return (
        exact
        or next((item for item in versions if item.latest_validated), None)
        or next(iter(versions), None)
    )


def _drafter(entry: Deployment, version: ShapeVersion | None, account: str) -> Drafter | None:
    """The draft model of the spec, else the one that the shape carries."""
    from fwctl.fit.request import Drafter
    from fwctl.live.normalise import full_name

    if entry.fields.get("speculation.mode") == "disabled":
        return None
    carried = version.snapshot.get("speculation.draft_model") if version else None
    draft = entry.fields.get("speculation.draft_model") or carried
    if not draft:
        return None
    name = full_name(str(draft), account)
    architecture, _ = known_architecture(name)
    return Drafter(name, architecture)


def _offers(model: str, live: LiveState | None) -> list[Offer] | None:
    """What the platform offers for this model; None (anything) when nothing was read."""
    from fwctl.fit.request import Offer

    versions: Iterable[ShapeVersion] = live.matches.get(model, ()) if live else ()
    found = [
        Offer(
            str(item.snapshot["accelerator.type"]),
            int(item.snapshot["accelerator.count"]),
            str(item.snapshot.get("precision", "BF16")),
            item.shape,
        )
        for item in versions
        if "accelerator.type" in item.snapshot and "accelerator.count" in item.snapshot
    ]
    return found or None


def _problem(entry: Deployment, message: str) -> Diagnostic:
    return Diagnostic(
        Severity.WARNING,
        "fit",
        f"the fit of this deployment cannot be computed: {message}",
        deployment=entry.name,
        position=entry.position_of(""),
    )
