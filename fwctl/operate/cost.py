"""What deployments cost by the day, and what a million tokens cost. Pure, exact arithmetic.

Sources: rounds of samples (which deployment ran on how many GPUs) and the billing export (GPU-seconds
and tokens by model). One of the two gives the GPU time of a line, never a mean of both.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction

from fwctl.catalog.prices import PriceList
from fwctl.operate.cost_billing import BilledRow, Billing
from fwctl.operate.cost_model import Figures, Line, Pool, Residual
from fwctl.operate.cost_prices import exact
from fwctl.operate.cost_tokens import Tokens, allocate
from fwctl.operate.samples import MICROSECONDS, Gap, Key, Sampled, Use, days, gap_us_by_day

# Two sources that differ by more are reported as a disagreement.
TOLERANCE = Fraction(2, 100)
HOUR_S = 3600
DAY_US = 24 * HOUR_S * MICROSECONDS
Place = tuple[date, str]  # a day and an accelerator


@dataclass(frozen=True, slots=True)
class Span:
    """Whole days, UTC, both ends included."""

    first: date
    last: date

    @property
    def start(self) -> datetime:
        return datetime.combine(self.first, time(), UTC)

    @property
    def end(self) -> datetime:
        return datetime.combine(self.last + timedelta(days=1), time(), UTC)

    @property
    def days(self) -> list[date]:
        return [self.first + timedelta(days=n) for n in range((self.last - self.first).days + 1)]


@dataclass(frozen=True, slots=True)
class Cost:
    """The whole result. unattributed: billed tokens of (day, model) that no known deployment served,
    which is serverless use or a deployment that was never sampled."""

    span: Span
    lines: tuple[Line, ...]
    residuals: tuple[Residual, ...]
    pools: tuple[Pool, ...]
    gaps: tuple[Gap, ...]
    unattributed: Mapping[tuple[date, str], Tokens] = field(default_factory=dict)


def cost(
    span: Span,
    prices: Mapping[date, PriceList],
    *,
    sampled: Sampled | None = None,
    billing: Billing | None = None,
    pools: Mapping[str, int] | None = None,
    now: datetime | None = None,
) -> Cost:
    """Bring both sources together. prices: one list for each day of the span. pools: reserved GPUs by
    accelerator, as `integrate` received them. now: nothing after it is missing or paid."""
    rows = [row for row in billing.rows if span.first <= row.day <= span.last] if billing else []
    uses = sampled.uses if sampled else {}
    only_billed = _only_billed(rows, uses)
    tokens, rest = allocate(rows, uses, only_billed)
    until = min(now or span.end, span.end)
    gaps = _until(sampled.gaps, until) if sampled else ()
    holey = {day for day, gap_us in gap_us_by_day(gaps).items() if gap_us > TOLERANCE * DAY_US}
    lines = [
        _sampled_line(key, use, tokens, prices[key.day], sampled, whole=key.day not in holey)
        for key, use in uses.items()
        if use.gpu_us or use.wall_us or use.starting_us
    ]
    lines += [
        _billed_line(key, gpu_s, tokens, prices[key.day], bool((pools or {}).get(key.accelerator)))
        for key, gpu_s in only_billed.items()
    ]
    lines.sort(key=lambda line: (line.key.day, line.label, line.key))
    return Cost(
        span,
        tuple(lines),
        tuple(_residuals(rows, uses, gaps)) if sampled and billing else (),
        tuple(_pools(list(days(span.start, until)), prices, pools or {}, uses, gaps)) if sampled else (),
        gaps,
        rest,
    )


def _until(gaps: Iterable[Gap], end: datetime) -> tuple[Gap, ...]:
    return tuple(Gap(gap.start, min(gap.end, end), gap.gpus) for gap in gaps if gap.start < end)


def _only_billed(rows: Sequence[BilledRow], uses: Mapping[Key, Use]) -> dict[Key, Fraction]:
    """GPU-seconds of (day, model, accelerator) that no sample knows about."""
    seen = {(key.day, key.model, key.accelerator) for key, use in uses.items() if use.gpu_us}
    found: dict[Key, Fraction] = defaultdict(Fraction)
    for row in rows:
        if row.gpu_s and row.accelerator and (row.day, row.model, row.accelerator) not in seen:
            found[Key(row.day, "", row.model, row.accelerator)] += row.gpu_s
    return dict(found)


def _sampled_line(
    key: Key,
    use: Use,
    tokens: Mapping[Key, Tokens],
    prices: PriceList,
    sampled: Sampled | None,
    *,
    whole: bool,
) -> Line:
    """whole: the day has no gap, so that its GPU time stands against the tokens of the whole day."""
    assert sampled is not None
    last = sampled.latest[key.deployment_id]
    gpu_s, reserved_s = _seconds(use.gpu_us), use.reserved_us / MICROSECONDS
    price = exact(prices.price(key.accelerator))
    contract = exact(prices.reserved_usd_per_gpu_hour.get(key.accelerator))
    served = tokens.get(key)
    whole = whole or (served is not None and served.source == "samples")
    known = Figures(
        starting_gpu_s=_seconds(use.starting_us),
        idle_gpu_s=_seconds(use.idle_us),
        known_gpu_s=_seconds(use.known_us),
        slots=use.slots / MICROSECONDS,
        slots_gpu_s=_seconds(use.slots_known_us),
    )
    return Line(
        key,
        "samples",
        served.source if served else "unknown",
        _figures(known, gpu_s, (gpu_s - reserved_s, price), (reserved_s, contract), served, whole=whole),
        price,
        last.name,
        last.tags,
    )


def _billed_line(
    key: Key, gpu_s: Fraction, tokens: Mapping[Key, Tokens], prices: PriceList, pooled: bool
) -> Line:
    """pooled: some of it may be reserved, which only samples could tell, so its price is not known."""
    price = exact(prices.price(key.accelerator))
    served = tokens.get(key)
    figures = _figures(
        Figures(), gpu_s, (gpu_s, None if pooled else price), (Fraction(0), Fraction(0)), served
    )
    return Line(key, "billing", served.source if served else "unknown", figures, price)


Priced = tuple[Fraction, Fraction | None]


def _figures(
    known: Figures,
    gpu_s: Fraction,
    on_demand: Priced,
    reserved: Priced,
    served: Tokens | None,
    *,
    whole: bool = True,
) -> Figures:
    """`known` with GPU time, dollars and tokens. on_demand, reserved: (GPU-seconds, dollars an hour)."""
    unpriced = any(seconds and price is None for seconds, price in (on_demand, reserved))
    amounts = [
        Fraction(0) if unpriced or price is None else seconds * price / HOUR_S
        for seconds, price in (on_demand, reserved)
    ]
    counted = served if whole and not unpriced else None
    return replace(
        known,
        gpu_s=gpu_s,
        unpriced_gpu_s=gpu_s if unpriced else Fraction(0),
        on_demand_usd=amounts[0],
        reserved_usd=amounts[1],
        counted_usd=sum(amounts, Fraction(0)) if counted else Fraction(0),
        counted_gpu_s=gpu_s if counted else Fraction(0),
        counted_prompt=counted.prompt if counted else 0,
        counted_completion=counted.completion if counted else 0,
        prompt=served.prompt if served else 0,
        completion=served.completion if served else 0,
        cached=served.cached if served else 0,
        uncounted_gpu_s=Fraction(0) if served else gpu_s,
    )


def _seconds(microseconds: int) -> Fraction:
    return Fraction(microseconds, MICROSECONDS)


def _residuals(rows: Sequence[BilledRow], uses: Mapping[Key, Use], gaps: Sequence[Gap]) -> Iterator[Residual]:
    """Both sources by day and accelerator; a day without any sample has nothing to compare."""
    billed: dict[Place, Fraction] = defaultdict(Fraction)
    sampled: dict[Place, Fraction] = defaultdict(Fraction)
    for row in rows:
        if row.gpu_s and row.accelerator:
            billed[row.day, row.accelerator] += row.gpu_s
    for key, use in uses.items():
        if use.gpu_us:
            sampled[key.day, key.accelerator] += _seconds(use.gpu_us)
    missing = gap_us_by_day(gaps)
    least_us, most_us, open_days = _gap_gpus(gaps)
    for place in sorted({*billed, *sampled}):
        gap_us = missing.get(place[0], 0)
        if gap_us < DAY_US:
            inside = (_seconds(least_us[place]), _seconds(most_us[place]))
            yield Residual(
                *place,
                billed[place],
                sampled[place],
                _seconds(gap_us),
                None if place[0] in open_days else inside,
                TOLERANCE,
            )


def _gap_gpus(gaps: Iterable[Gap]) -> tuple[Counter[Place], Counter[Place], set[date]]:
    """Least and most GPU-microseconds within gaps by place, and the days with a gap that has an open end."""
    least_us: Counter[Place] = Counter()
    most_us: Counter[Place] = Counter()
    open_days: set[date] = set()
    for gap in gaps:
        for day, length_us in days(gap.start, gap.end):
            if gap.gpus is None:
                open_days.add(day)
                continue
            for accelerator, (least, most) in gap.gpus.items():
                least_us[day, accelerator] += length_us * least
                most_us[day, accelerator] += length_us * most
    return least_us, most_us, open_days


def _pools(
    passed: Sequence[tuple[date, int]],
    prices: Mapping[date, PriceList],
    pools: Mapping[str, int],
    uses: Mapping[Key, Use],
    gaps: Sequence[Gap],
) -> Iterator[Pool]:
    """The reserved pools. passed: days of the range with the microseconds of each that are over."""
    missing = gap_us_by_day(gaps)
    covered: dict[Place, Fraction] = defaultdict(Fraction)
    for key, use in uses.items():
        covered[key.day, key.accelerator] += use.reserved_us / MICROSECONDS
    for accelerator, gpus in sorted(pools.items()):
        whole = unknown = used = Fraction(0)
        usd: Fraction | None = Fraction(0)
        unused: Fraction | None = Fraction(0)
        for day, length_us in passed:
            paid, lost = gpus * _seconds(length_us), gpus * _seconds(missing.get(day, 0))
            price = exact(prices[day].reserved_usd_per_gpu_hour.get(accelerator))
            whole, used, unknown = whole + paid, used + covered[day, accelerator], unknown + lost
            idle = paid - covered[day, accelerator] - lost
            usd = None if usd is None or price is None else usd + paid * price / HOUR_S
            unused = None if unused is None or price is None else unused + idle * price / HOUR_S
        yield Pool(accelerator, gpus, whole, used, unknown, usd, unused)
