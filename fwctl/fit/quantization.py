"""What a checkpoint's own quantisation stores in which width, and what it leaves in 16 bits.

Understood: fp8 (block, channel, tensor), fbgemm_fp8, compressed-tensors, modelopt (FP8, NVFP4, mixed),
mxfp4, awq, gptq, bitsandbytes. Lists of excluded modules are matched per layer, so islands such as
"the first and the last block" are counted.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fwctl.fit.architecture import Kind, Quantization, Tensor
from fwctl.fit.errors import ArchitectureError
from fwctl.fit.formats import stored_format

LINEAR = frozenset(
    {
        Kind.ATTENTION,
        Kind.LATENT_DOWN,
        Kind.LATENT_UP,
        Kind.INDEXER,
        Kind.STATE,
        Kind.MLP,
        Kind.SHARED_EXPERT,
        Kind.EXPERT,
    }
)
_EXCLUDED_KEYS = (
    "modules_to_not_convert",
    "ignored_layers",
    "ignore",
    "exclude_modules",
    "exclude",
    "llm_int8_skip_modules",
)
_IN_LAYER = re.compile(r"(?:^|.*\.)(?:layers|h|blocks)\.(\d+|\*)\*?(?:\.(.*))?$")
_MAX_PATTERNS = 200_000
_MOST_REPETITIONS = 6
# Names that checkpoints use for the modules fwctl names like transformers' Llama.
_ALIASES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("self_attn.", ("mixer.", "attn.", "attention.", "linear_attn.")),
    ("linear_attn.", ("self_attn.", "mixer.", "attn.")),
    ("mixer.", ("mamba.", "self_attn.")),
    (
        "mlp.experts.",
        ("mixer.experts.", "block_sparse_moe.experts.", "feed_forward.experts.", "ffn.experts.", "experts."),
    ),
    (
        "mlp.shared_experts.",
        ("mixer.shared_experts.", "mlp.shared_expert.", "feed_forward.shared_expert.", "ffn.shared_experts."),
    ),
    ("mlp.", ("mixer.", "feed_forward.", "ffn.", "block_sparse_moe.")),
)


class Excluded:
    """Patterns of modules that stay in 16 bits, indexed by layer so that matching stays linear."""

    def __init__(self) -> None:
        self.everywhere: list[str] = []
        self.by_layer: dict[int, list[str]] = {}
        self.regexes: list[re.Pattern[str]] = []

    def matches(self, layer: int, module: str) -> bool:
        """True when a module of this layer (its path below the layer) is excluded."""
        names = [module, *_other_names(module)]
        tails = [*self.everywhere, *self.by_layer.get(layer, ())]
        if any(_tail_matches(tail, name) for tail in tails for name in names):
            return True
        return any(
            pattern.match(f"{prefix}.layers.{layer}.{name}")
            for pattern in self.regexes
            for name in names
            for prefix in ("model", "language_model.model")
        )


class Group(NamedTuple):
    """Modules of one format inside a mixed checkpoint; no targets means all linear modules."""

    bits: float
    targets: Excluded | None = None


class Reader(NamedTuple):
    """The summary, and what is needed to mark each tensor."""

    summary: Quantization
    excluded: Excluded
    groups: tuple[Group, ...] = ()


def _other_names(module: str) -> list[str]:
    for start, others in _ALIASES:
        if module.startswith(start):
            return [other + module[len(start) :] for other in others]
    return []


def _tail_matches(tail: str, name: str) -> bool:
    """A pattern below the layer: empty means the whole layer, globs match, a parent matches its children."""
    if not tail or tail == name or name.startswith(tail + "."):
        return True
    if "*" in tail or "?" in tail:
        return fnmatch.fnmatchcase(name, tail) or fnmatch.fnmatchcase(name, tail.rstrip("*") + ".*")
    return False


def _patterns(values: Mapping[str, Any]) -> Excluded:
    found = Excluded()
    for key in _EXCLUDED_KEYS:
        patterns = values.get(key)
        if patterns is None:
            continue
        if isinstance(patterns, str) or not isinstance(patterns, Sequence) or len(patterns) > _MAX_PATTERNS:
            raise ArchitectureError(f"quantization_config.{key}", "is not a list of module names")
        _index(found, [pattern for pattern in patterns if isinstance(pattern, str)])
    return found


def _index(found: Excluded, patterns: Sequence[str]) -> None:
    for pattern in patterns:
        if pattern.startswith("re:"):
            found.regexes.extend(_safe_regex(pattern[3:]))
            continue
        place = _IN_LAYER.match(pattern)
        if place is None:
            found.everywhere.append(_global_tail(pattern))
        elif place[1] == "*":
            found.everywhere.append(place[2] or "*")
        else:
            found.by_layer.setdefault(int(place[1][:9]), []).append(place[2] or "")


def _global_tail(pattern: str) -> str:
    """A pattern without a layer: `*.attn.*`, `lm_head`, `gate`, `model.vision_tower*`."""
    return pattern.removeprefix("*.").removeprefix("model.") or "lm_head"


def _safe_regex(text: str) -> list[re.Pattern[str]]:
    """The compiled expression; one that is invalid or could take long on a name is left out."""
    if len(text) > 400 or re.search(r"\)[*+{]", text) or len(re.findall(r"[*+{]", text)) > _MOST_REPETITIONS:
        return []
    try:
        return [re.compile(text)]
    except re.error:
        return []


def read_quantization(config: Mapping[str, Any], hf_quant_config: Mapping[str, Any] | None) -> Reader | None:
    """The checkpoint's quantisation, from quantization_config or hf_quant_config.json; None without one."""
    values = config.get("quantization_config")
    beside = hf_quant_config.get("quantization") if isinstance(hf_quant_config, Mapping) else None
    if not isinstance(values, Mapping) or not values:
        values = beside
    elif isinstance(beside, Mapping):
        values = {**beside, **values}
    if not isinstance(values, Mapping):
        return None
    method = str(values.get("quant_method") or values.get("quant_algo") or "").lower()
    excluded = _patterns(values)
    groups = _groups(values)
    stored = stored_format(method, values, min((group.bits for group in groups), default=8.0))
    experts_only = method == "mxfp4"
    summary = Quantization(
        method=method or "unknown",
        family=stored.family,
        bits=stored.bits,
        block=stored.block,
        scale_bytes=stored.scale_bytes,
        quantized=frozenset({Kind.EXPERT}) if experts_only else LINEAR,
    )
    return Reader(summary, excluded, groups)


def _groups(values: Mapping[str, Any]) -> tuple[Group, ...]:
    """compressed-tensors and modelopt list groups with targets; a mixed modelopt one lists layers."""
    groups: list[Group] = []
    listed = values.get("config_groups")
    if isinstance(listed, Mapping):
        for group in listed.values():
            weights = group.get("weights") if isinstance(group, Mapping) else None
            bits = weights.get("num_bits") if isinstance(weights, Mapping) else None
            if isinstance(bits, int) and 1 <= bits <= 16:
                names = group.get("targets")
                names = [n for n in names if isinstance(n, str)] if isinstance(names, list) else []
                targets = None if not names or "Linear" in names else Excluded()
                if targets is not None:
                    _index(targets, names)
                groups.append(Group(float(bits), targets))
    layers = values.get("quantized_layers")
    if isinstance(layers, Mapping):
        by_algorithm: dict[str, list[str]] = {}
        for name, entry in layers.items():
            algorithm = str(entry.get("quant_algo") if isinstance(entry, Mapping) else "").upper()
            by_algorithm.setdefault(algorithm, []).append(str(name))
        for algorithm, names in by_algorithm.items():
            targets = Excluded()
            _index(targets, names)
            groups.append(Group(4.0 if "4" in algorithm else 8.0, targets))
    return tuple(groups)


def mark(tensors: Sequence[Sequence[Tensor]], reader: Reader | None) -> list[Tensor]:
    """All tensors of all layers, with `pinned` and `stored_bits` set from the exclusion lists.

    The last sequence holds what belongs to no layer.
    """
    if reader is None:
        return [tensor for layer in tensors for tensor in layer]
    mixed = any(group.targets is not None for group in reader.groups)
    return [
        _mark_one(tensor, index, reader, mixed) for index, layer in enumerate(tensors) for tensor in layer
    ]


def _mark_one(tensor: Tensor, layer: int, reader: Reader, mixed: bool) -> Tensor:
    if tensor.kind is Kind.HEAD and mixed:
        named = next(
            (g for g in reader.groups if g.targets and g.targets.matches(layer, tensor.module)), None
        )
        return tensor if named is None else tensor._replace(stored_bits=named.bits)
    if tensor.kind not in reader.summary.quantized or not tensor.module:
        return tensor
    if reader.excluded.matches(layer, tensor.module):
        return tensor._replace(pinned=True)
    if not mixed:
        return tensor
    for group in reader.groups:
        if group.targets is None or group.targets.matches(layer, tensor.module):
            return tensor._replace(stored_bits=group.bits)
    return tensor._replace(pinned=True)
