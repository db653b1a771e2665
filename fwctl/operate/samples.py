"""GPU time of deployments from rounds of samples: a step function, in which gaps stay gaps. Pure.

What a round saw holds until the next round. When that comes later than `max_gap_s`, nothing is known
about the time between, and nothing is counted. Times are whole microseconds, so sums are exact.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

from fwctl.records.samples import Round, Sample

# An exporter page older than three minutes is not trusted by public monitors of the platform; a round a
# minute may be missed twice.
MAX_GAP_S = 180.0
MICROSECONDS = 1_000_000
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, order=True, slots=True)
class Key:
    """What one figure is about: a day (UTC), a deployment, its model and accelerator. The deployment is
    empty where only the billing export knows about the use."""

    day: date
    deployment_id: str
    model: str
    accelerator: str


@dataclass(slots=True)
class Use:
    """Sums over one key, in GPU-microseconds where the name ends in `_us`.

    idle: no request in work. known: of which is known whether it was idle. slots: integral of the share
    of batch slots in use over `slots_known`. prompt, generated: tokens times microseconds a second;
    `tokens_known_us` is wall time with known rates, `wall_us` all wall time with a ready replica.
    reserved: covered by the reserved pool.
    """

    gpu_us: int = 0
    idle_us: int = 0
    known_us: int = 0
    slots: float = 0.0
    slots_known_us: int = 0
    prompt: float = 0.0
    generated: float = 0.0
    tokens_known_us: int = 0
    wall_us: int = 0
    starting_us: int = 0
    reserved_us: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Gap:
    """Time about which nothing is known. gpus: by accelerator the (least, most) GPUs that the rounds on
    either side saw; None at the ends of the range."""

    start: datetime
    end: datetime
    gpus: Mapping[str, tuple[int, int]] | None = None


@dataclass(slots=True)
class Sampled:
    """What the rounds of one account say. latest: the last sample of each deployment."""

    uses: dict[Key, Use] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    latest: dict[str, Sample] = field(default_factory=dict)
    rounds: int = 0


def integrate(
    rounds: Iterable[Round],
    *,
    start: datetime,
    end: datetime,
    max_gap_s: float = MAX_GAP_S,
    pools: Mapping[str, int] | None = None,
) -> Sampled:
    """Sum what ran from `start` to `end`. rounds: of one account, in order of time; the last before the
    start and the first after the end close the range.

    pools: reserved GPUs by accelerator; they cover what runs of that type first, in proportion.
    """
    found = Sampled()
    last: Round | None = None
    for item in rounds:
        at, until = max(last.time, start) if last else start, min(item.time, end)
        if until > at:
            if last is None:
                found.gaps.append(Gap(at, until))
            elif (item.time - last.time).total_seconds() > max_gap_s:
                found.gaps.append(Gap(at, until, _range(last, item)))
            else:
                _step(found, last, at, until, pools or {})
        if start <= item.time < end:
            found.rounds += 1
        last = item
    at = max(last.time, start) if last else start
    if at < end:
        found.gaps.append(Gap(at, end))
    return found


def _range(before: Round, after: Round) -> dict[str, tuple[int, int]]:
    one, other = _gpus(before), _gpus(after)
    return {
        name: (min(one[name], other[name]), max(one[name], other[name])) for name in sorted({*one, *other})
    }


def _gpus(item: Round) -> Counter[str]:
    """GPUs that serve, by accelerator."""
    total: Counter[str] = Counter()
    for sample in item.samples:
        if sample.accelerator and sample.gpus:
            total[sample.accelerator] += sample.gpus * sample.ready
    return total


def days(start: datetime, end: datetime) -> Iterator[tuple[date, int]]:
    """(day, microseconds) of a span cut at midnights, UTC."""
    at = start
    while at < end:
        midnight = datetime(at.year, at.month, at.day, tzinfo=UTC) + timedelta(days=1)
        turn = min(midnight, end)
        yield at.date(), (turn - at) // _TICK
        at = turn


def _step(found: Sampled, item: Round, at: datetime, until: datetime, pools: Mapping[str, int]) -> None:
    """Add what one round saw, up to the next round."""
    total = _gpus(item)
    found.latest |= {sample.deployment_id: sample for sample in item.samples}
    for day, length_us in days(at, until):
        for sample in item.samples:
            accelerator = sample.accelerator or "unknown"
            key = Key(day, sample.deployment_id, sample.model, accelerator)
            use = found.uses.setdefault(key, Use())
            gpu_us = (sample.gpus or 0) * sample.ready * length_us
            use.gpu_us += gpu_us
            use.starting_us += (sample.gpus or 0) * sample.starting * length_us
            pool = pools.get(accelerator, 0)
            if pool and gpu_us:
                use.reserved_us += gpu_us * min(Fraction(1), Fraction(pool, total[accelerator]))
            if sample.ready:
                _served(use, sample, gpu_us, length_us)


def _served(use: Use, sample: Sample, gpu_us: int, length_us: int) -> None:
    """Add what a deployment with ready replicas did."""
    use.wall_us += length_us
    idle = is_idle(sample)
    if idle is not None:
        use.known_us += gpu_us
        use.idle_us += gpu_us if idle else 0
    if sample.kv_slots is not None:
        use.slots += sample.kv_slots * gpu_us
        use.slots_known_us += gpu_us
    if sample.prompt_per_s is not None:
        use.tokens_known_us += length_us
        use.prompt += sample.prompt_per_s * length_us
        use.generated += (sample.generated_per_s or 0.0) * length_us


def is_idle(sample: Sample) -> bool | None:
    """True when nothing was in work and nothing came in the last minute; None when that is not known."""
    known = [value for value in (sample.concurrent, sample.requests_per_s) if value is not None]
    return None if not known else not any(known)


def gap_us_by_day(gaps: Iterable[Gap]) -> dict[date, int]:
    """Microseconds of gaps on each day."""
    total: dict[date, int] = defaultdict(int)
    for gap in gaps:
        for day, length_us in days(gap.start, gap.end):
            total[day] += length_us
    return dict(total)
