"""What each engine leaves for the cache: usable memory, overhead band, prefill chunk, block size.

Every number has its source. None was measured on the platform's own engine, so `fireworks` is the
widest band. Logs: 174 vLLM and SGLang start-up logs of 2024 to 2026 (benchmarks/data).
"""

from __future__ import annotations

from typing import NamedTuple

from fwctl.catalog.accelerators import Accelerator
from fwctl.fit.errors import RequestError
from fwctl.units import GIB

BIG_GPU_GIB = 70  # vLLM 0.33 arg_utils: larger ones (A100 excepted) get 1,024 sequences and long chunks
HUGE_GPU_GIB = 160


class Band(NamedTuple):
    """low is the pessimistic end for the user, high the optimistic one."""

    low: float
    mid: float
    high: float

    def to_json(self, digits: int | None = None) -> dict[str, float]:
        values = {"low": self.low, "mid": self.mid, "high": self.high}
        return {k: (v if digits is None else round(v, digits)) for k, v in values.items()}


class Budget(NamedTuple):
    """One GPU: usable bytes (the most the policy takes), overhead band (low = largest overhead)."""

    usable_bytes: float
    overhead: Band
    chunk: int
    block_tokens: int
    alignment: int
    paged: bool
    sources: tuple[str, ...]


class Engine(NamedTuple):
    """A policy. utilization: share of visible memory that the engine takes, at the three ends."""

    name: str
    utilization: Band
    sampler_copies: Band
    extra: Band
    paged: bool
    source: str


# Peak of the profile run is the sampler: copies × max_num_seqs × vocabulary × 4 bytes. Printed peaks
# of vLLM 0.11 (4.76, 5.56, 7.38 GiB for vocabularies of 128,256, 151,936 and 201,088) give 9.4 copies
# + 0.15 GiB; totals of 0.18 and later give 3.8.
_COPIES = Band(9.4, 6.6, 3.8)
_NO_EXTRA = Band(0.0, 0.0, 0.0)

ENGINES: dict[str, Engine] = {
    e.name: e
    for e in (
        Engine("ideal", Band(1, 1, 1), _NO_EXTRA, _NO_EXTRA, False, "nominal memory, nothing taken off"),
        Engine(
            "vllm",
            Band(0.90, 0.92, 0.95),
            _COPIES,
            _NO_EXTRA,
            True,
            "vLLM: gpu_memory_utilization 0.90, 0.92 in newer ones, operators go to 0.95; overhead from logs",
        ),
        Engine(
            "sglang",
            Band(0.88, 0.90, 0.92),
            _NO_EXTRA,
            _NO_EXTRA,
            False,
            "SGLang 0.5.23: mem_fraction_static from its own reserve formula, no profile run",
        ),
        Engine(
            "fireworks",
            Band(0.88, 0.92, 0.96),
            _COPIES,
            Band(2.0, 0.5, 0.0),
            False,
            "not published: the widest of the measured engines and 2 GiB more",
        ),
    )
}

# GiB for communication buffers, CUDA graphs and what logs do not name, by vendor generation and GPUs of
# a replica: (low, mid, high). Medians and extremes of the logs after taking the sampler's peak off.
_REST_GIB: dict[str, dict[int, Band]] = {
    "nvidia": {
        1: Band(1.0, 0.4, 0.1),
        2: Band(2.4, 1.2, 0.2),
        4: Band(2.2, 1.7, 0.35),
        8: Band(3.4, 3.0, 0.9),
    },
    "blackwell": {
        1: Band(2.0, 1.2, 0.3),
        2: Band(2.4, 1.7, 0.4),
        4: Band(2.8, 2.2, 0.6),
        8: Band(3.4, 2.4, 0.9),
    },
    "amd": {
        1: Band(2.0, 1.1, 0.3),
        2: Band(3.0, 1.6, 0.4),
        4: Band(3.4, 2.2, 0.6),
        8: Band(6.6, 5.0, 2.0),
    },
}
_BLACKWELL = ("NVIDIA_B200_180GB", "NVIDIA_B300_288GB", "NVIDIA_GB200", "NVIDIA_GB300")


def find_engine(name: str) -> Engine:
    found = ENGINES.get(name.strip().lower())
    if found is None:
        raise RequestError("engine", f"{name[:40]!r} is not known; known are {', '.join(ENGINES)}")
    return found


def accelerator_class(accelerator: Accelerator) -> str:
    if accelerator.vendor == "amd":
        return "amd"
    return "blackwell" if accelerator.name in _BLACKWELL else "nvidia"


def is_big(accelerator: Accelerator) -> bool:
    return accelerator.visible_gib >= BIG_GPU_GIB and "A100" not in accelerator.name


def prefill_chunk(accelerator: Accelerator, engine: str) -> int:
    """Tokens of a prefill step. vLLM's server: 8,192 from 70 GiB, 2,048 below and on A100; its versions
    from 0.28 on take 16,384 from 160 GiB, which no log at hand shows. SGLang: 16,384 from 160 GiB."""
    if not is_big(accelerator):
        return 2048
    return 16384 if engine == "sglang" and accelerator.visible_gib >= HUGE_GPU_GIB else 8192


def sampler_bytes(accelerator: Accelerator, vocabulary: int) -> float:
    """One float32 copy of the logits of the profile run's sequences."""
    return (1024 if is_big(accelerator) else 256) * vocabulary * 4.0


def rest_gib(accelerator: Accelerator, gpus: int) -> Band:
    """The row of the next smaller measured GPU count."""
    table = _REST_GIB[accelerator_class(accelerator)]
    return table[max(count for count in table if count <= max(gpus, 1))]


def sglang_reserve_bytes(accelerator: Accelerator, gpus: int, chunk: int) -> float:
    """SGLang's reserve: 512 MB + 1.5 × chunk MB + 1,024 MB per 8 GPUs, at least 10 GiB above 60 GiB."""
    reserve = (512 + 1.5 * max(chunk, 2048) + 1024 * gpus / 8) * 2**20
    return max(reserve, 10 * GIB) if accelerator.visible_gib > 60 else reserve


def budget(
    engine: Engine,
    accelerator: Accelerator,
    gpus: int,
    *,
    vocabulary: int = 0,
    latent: bool = False,
    head_dim: int = 0,
    utilization: float | None = None,
) -> Budget:
    """Memory of one GPU under a policy. `utilization` replaces the policy's own share."""
    chunk = prefill_chunk(accelerator, engine.name)
    sources = (engine.source, f"{accelerator.name}: {accelerator.source}")
    if engine.name == "ideal":
        nominal = accelerator.nominal_bytes * (utilization or 1.0)
        return Budget(nominal, _NO_EXTRA, 0, 1, 1, False, sources)
    total = accelerator.visible_bytes
    if engine.name == "sglang":
        usable = total - sglang_reserve_bytes(accelerator, gpus, chunk)
        usable = usable if utilization is None else total * utilization
        return Budget(usable, Band(2 * GIB, 0.5 * GIB, 0.0), chunk, 1, 1, False, sources)
    taken = engine.utilization if utilization is None else Band(utilization, utilization, utilization)
    return Budget(
        total * taken.high,
        _overhead(engine, accelerator, gpus, vocabulary, taken),
        chunk,
        64 if latent else 16,
        state_alignment(accelerator, latent, head_dim),
        engine.paged,
        sources,
    )


def state_alignment(accelerator: Accelerator, latent: bool, head_dim: int) -> int:
    """Tokens that a block holding a recurrent state is a multiple of (vLLM platforms/interface.py):
    128 beside MLA, 32 for heads of 256 on Blackwell, else 16."""
    if latent:
        return 128
    return 32 if head_dim == 256 and accelerator_class(accelerator) == "blackwell" else 16


def _overhead(engine: Engine, accelerator: Accelerator, gpus: int, vocabulary: int, taken: Band) -> Band:
    """Sampler peak, buffers and graphs; a lower share of memory at one end counts as overhead there."""
    peak, rest = sampler_bytes(accelerator, vocabulary), rest_gib(accelerator, gpus)
    copies, extra, total = _copies(engine, accelerator), engine.extra, accelerator.visible_bytes

    def at(copies: float, rest_gib: float, extra_gib: float, share: float) -> float:
        return copies * peak + (rest_gib + extra_gib) * GIB + (taken.high - share) * total

    return Band(
        at(copies.low, rest.low, extra.low, taken.low),
        at(copies.mid, rest.mid, extra.mid, taken.mid),
        at(copies.high, rest.high, extra.high, taken.high),
    )


def _copies(engine: Engine, accelerator: Accelerator) -> Band:
    """Blackwell logs are all of engines with the lean sampler."""
    copies = engine.sampler_copies
    if accelerator_class(accelerator) != "blackwell":
        return copies
    return Band(copies.low, copies.high + 0.3, copies.high)
