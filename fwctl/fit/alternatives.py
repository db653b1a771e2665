"""What would fit instead: of each kind of change the cheapest, cheapest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fwctl.catalog import accelerators as catalogue
from fwctl.catalog.precision_support import support
from fwctl.fit.errors import FitError, RequestError
from fwctl.fit.precision import find_precision, scheme_for
from fwctl.fit.request import FitRequest, Offer
from fwctl.fit.result import Alternative, FitResult, Verdict
from fwctl.fit.weights import Layout, weigh

COUNTS = (1, 2, 4, 8)
_MAX_OFFERS = 400
_MOST = 6

Judge = Callable[[FitRequest], FitResult]


def search(request: FitRequest, result: FitResult, judge: Judge) -> tuple[Alternative, ...]:
    """Changes that make the request fit, at most six, by price, GPUs and number of changes.

    Only the platform's own combinations when `offers` are given; else the catalogue's accelerators at
    the usual counts with the request's precision, FP8 and FP4, where nothing speaks against the pair. A
    shorter context and fewer conversations on the same hardware are always looked at.
    """
    found = [*_hardware(request, judge), *_smaller(request, result, judge)]
    best: dict[tuple[str, ...], Alternative] = {}
    for item in sorted(found, key=_cost):
        best.setdefault(_kinds(item), item)
    return tuple(sorted(best.values(), key=lambda item: (*_cost(item), len(item.changes)))[:_MOST])


def _cost(item: Alternative) -> tuple[float, int, str]:
    price = float("inf") if item.usd_per_hour is None else item.usd_per_hour
    return price, item.accelerator_count, item.accelerator


def _kinds(item: Alternative) -> tuple[str, ...]:
    return tuple(change.split(" ", 1)[0] for change in item.changes)


def _rows(request: FitRequest) -> Iterable[list[Offer]]:
    """Combinations to try. Within a row the first that fits ends the row: more GPUs are no smaller change."""
    if request.offers is not None:
        return [[offer] for offer in request.offers[:_MAX_OFFERS]]
    names = sorted({request.accelerator.name, *(a.name for a in catalogue.ACCELERATORS)})
    precisions = dict.fromkeys((request.precision, "FP8", "FP4"))
    pairs = [(name, p) for name in names for p in precisions if support(p, name) is None]
    return [[Offer(name, count, p) for count in COUNTS] for name, p in pairs]


def _hardware(request: FitRequest, judge: Judge) -> list[Alternative]:
    found: list[Alternative] = []
    smallest: dict[str, float] = {}
    for row in _rows(request):
        for offer in row:
            fitting = [] if _hopeless(request, offer, smallest) else _offered(request, offer, judge)
            found += fitting
            if fitting:
                break
    if request.offers is None and request.kv_pool_bytes is None:
        found += _if_it_fits(request, request._replace(kv_precision="fp8"), request.shape, judge)
    return found


def _hopeless(request: FitRequest, offer: Offer, smallest: dict[str, float]) -> bool:
    """Whether one copy of the weights exceeds all GPUs together, so that no check is needed."""
    if request.architecture is None or request.parameters is not None:
        return False
    if offer.precision not in smallest:
        try:
            scheme = scheme_for(request.architecture, find_precision(offer.precision))
        except RequestError:
            return True
        smallest[offer.precision] = weigh(request.architecture, scheme, Layout()).total
    accelerator = catalogue.find(offer.accelerator)
    memory = max(accelerator.visible_bytes, accelerator.nominal_bytes) if accelerator else float("inf")
    return smallest[offer.precision] > offer.accelerator_count * memory


def _offered(request: FitRequest, offer: Offer, judge: Judge) -> list[Alternative]:
    own = offer.accelerator == request.accelerator.name
    accelerator = request.accelerator if own else catalogue.find(offer.accelerator)
    if accelerator is None:
        return []
    changed = request._replace(
        accelerator=accelerator,
        accelerator_count=offer.accelerator_count,
        precision=offer.precision,
        kv_precision=offer.kv_precision or request.kv_precision,
        kv_pool_bytes=None,
        weights_bytes=request.weights_bytes if offer.precision == request.precision else None,
        pipeline=1,
    )
    return _if_it_fits(request, changed, offer.shape, judge)


def _if_it_fits(
    request: FitRequest, changed: FitRequest, shape: str | None, judge: Judge
) -> list[Alternative]:
    changes = _changes(request, changed)
    if not changes:
        return []
    try:
        result = judge(changed)
    except FitError:
        return []
    if result.verdict is not Verdict.FITS or result.max_concurrency is None:
        return []
    price = (request.usd_per_gpu_hour or {}).get(changed.accelerator.name)
    return [
        Alternative(
            result.accelerator,
            result.accelerator_count,
            result.precision,
            result.kv_precision,
            shape,
            result.max_concurrency,
            None if price is None else round(price * result.accelerator_count, 4),
            changes,
        )
    ]


def _changes(old: FitRequest, new: FitRequest) -> tuple[str, ...]:
    changes = []
    if new.accelerator.name != old.accelerator.name:
        changes.append(f"accelerator {old.accelerator.name} -> {new.accelerator.name}")
    if new.accelerator_count != old.accelerator_count:
        changes.append(f"count {old.accelerator_count} -> {new.accelerator_count}")
    if new.precision.upper() != old.precision.upper():
        changes.append(f"precision {old.precision} -> {new.precision}")
    if new.kv_precision != old.kv_precision:
        changes.append(f"kv_precision {old.kv_precision or 'auto'} -> {new.kv_precision}")
    if new.workload.context_tokens != old.workload.context_tokens:
        changes.append(f"context {old.workload.context_tokens} -> {new.workload.context_tokens}")
    if new.workload.concurrency != old.workload.concurrency:
        changes.append(f"concurrency {old.workload.concurrency:g} -> {new.workload.concurrency:g}")
    return tuple(changes)


def _smaller(request: FitRequest, result: FitResult, judge: Judge) -> list[Alternative]:
    """The longest context, and the most conversations, that fit on the same hardware."""
    found = []
    if result.max_context_tokens:
        workload = request.workload._replace(context_tokens=result.max_context_tokens, p50_tokens=None)
        found += _if_it_fits(request, request._replace(workload=workload), request.shape, judge)
    if result.max_concurrency is not None and result.max_concurrency.low >= 1:
        workload = request.workload._replace(concurrency=float(int(result.max_concurrency.low)))
        found += _if_it_fits(request, request._replace(workload=workload), request.shape, judge)
    return found
