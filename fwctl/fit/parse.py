"""A Hugging Face config.json becomes an Architecture, or the name of the field that stops it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fwctl.fit import feed_tensors, mixer_tensors
from fwctl.fit.architecture import Architecture, CacheLayers, Kind, Split, Tensor
from fwctl.fit.errors import ArchitectureError
from fwctl.fit.families import DEFAULT_TOWERS, FAMILIES, NOT_UNDERSTOOD, PUBLISHED_ISLANDS, Family
from fwctl.fit.fields import CONTEXT, HEADS, HIDDEN, VOCAB, Fields, text_fields
from fwctl.fit.layers import Mixer, Plan, layer_count, layer_plan
from fwctl.fit.quantization import mark, read_quantization

_TOWERS = ("vision_config", "audio_config", "vision_tower_config", "visual_config", "audio_tower_config")
_HEADLESS = ("ForSequenceClassification", "MistralModel", "LlamaModel", "Qwen2Model", "Qwen3Model")
_MTP_COUNT = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules")


def architecture_from_config(
    config: Mapping[str, Any], hf_quant_config: Mapping[str, Any] | None = None
) -> Architecture:
    """Understand a config.json (with the hf_quant_config.json that may lie beside it).

    Raises ArchitectureError with the field's name when a needed field is missing or malformed. A
    model type or a key that is not understood does not raise: it stands in `unknown`, and the figures
    are read from the fields as far as they go.
    """
    if not isinstance(config, Mapping):
        raise ArchitectureError("config", "is not a JSON object")
    fields = text_fields(config)
    model_type, family, unknown = _family(fields, config)
    count = layer_count(fields)
    plan = layer_plan(fields, family, count)
    tied = fields.flag("tie_word_embeddings", family.tied)
    hidden = fields.integer(*HIDDEN)
    tensors, caches = _layers(fields, family, plan)
    tensors[-1] += feed_tensors.embeddings(fields, family, tied or _headless(fields), count)
    tensors[-1].append(Tensor(Kind.NORM, hidden, split=Split.REPLICATED, module="norm"))
    towers = _towers(config, hidden)
    quantization = read_quantization(fields.values, hf_quant_config)
    marked = mark(tensors, quantization)
    mtp_tensors, mtp_caches = _mtp(fields, family, plan, hidden)
    return Architecture(
        model_type=model_type,
        vocab_size=fields.integer(*VOCAB),
        layers=count,
        attention_heads=_heads(fields),
        tensors=_collapse([*marked, *towers]),
        caches=_merge(_shared(fields, caches)),
        max_context=fields.optional(*CONTEXT),
        quantization=quantization.summary if quantization else None,
        tied=tied,
        mtp_tensors=_collapse(mtp_tensors),
        mtp_caches=_merge(mtp_caches),
        unknown=tuple(unknown),
    )


def _family(fields: Fields, config: Mapping[str, Any]) -> tuple[str, Family, list[tuple[str, str]]]:
    """The traits of the model type, and why it stops a verdict if it does."""
    names = [str(fields.values.get("model_type") or ""), str(config.get("model_type") or "")]
    for name in names:
        if name in NOT_UNDERSTOOD:
            return name, Family(), [("model_type", f"{name}: {NOT_UNDERSTOOD[name]}")]
    for name in names:
        if name in FAMILIES:
            return name, FAMILIES[name], []
    name = names[0] or names[1]
    if not name:
        return "", Family(), []
    return name, Family(), [("model_type", f"{name[:60]!r} is not a model type fwctl knows")]


def _heads(fields: Fields) -> int:
    value = fields.raw(*HEADS)
    return max(value) if isinstance(value, list) else fields.integer(*HEADS, default=1)


def _headless(fields: Fields) -> bool:
    """Embedding and reward models end before the output head."""
    names = fields.raw("architectures")
    return isinstance(names, list) and bool(names) and str(names[0]).endswith(_HEADLESS)


def _mixer(fields: Fields, family: Family, layer: int, mixer: Mixer) -> list[mixer_tensors.Built]:
    if mixer is Mixer.NONE:
        return []
    if mixer is Mixer.RECURRENT:
        kind = "kda" if fields.mapping("linear_attn_config") else family.recurrent
        builder = mixer_tensors.RECURRENT.get(kind)
        if builder is None:
            raise ArchitectureError("layer_types", "has recurrent layers whose state is not understood")
        return [builder(fields)]
    if mixer is Mixer.BOTH:
        return [
            mixer_tensors.attention(fields, family, layer, Mixer.FULL),
            mixer_tensors.RECURRENT[family.recurrent or "mamba2"](fields),
        ]
    if fields.raw("kv_lora_rank") is not None:
        return [mixer_tensors.latent_attention(fields, layer)]
    return [mixer_tensors.attention(fields, family, layer, mixer)]


def _layers(fields: Fields, family: Family, plan: Plan) -> tuple[list[list[Tensor]], list[list[CacheLayers]]]:
    """Tensors and caches of each layer, and one more (empty) list for what belongs to no layer."""
    hidden = fields.integer(*HIDDEN)
    norms = Tensor(Kind.NORM, (4 if family.sandwich else 2) * hidden, split=Split.REPLICATED)
    tensors: list[list[Tensor]] = []
    caches: list[list[CacheLayers]] = []
    rule = PUBLISHED_ISLANDS.get((fields.text("model_type"), len(plan), hidden), family.islands)
    islands = _islands(rule, plan)
    ends = {0, len(plan) - 1} if rule == "attention and ends" else set()
    for index, (mixer, feed) in enumerate(plan):
        built = _mixer(fields, family, index, mixer)
        feeds = feed_tensors.feed_forward(fields, family, index, feed)
        tensors.append(
            [
                norms,
                *(_island(t, index in islands) for part, _ in built for t in part),
                *(_island(t, index in ends) for t in feeds),
            ]
        )
        caches.append([cache for _, cache in built if cache is not None])
    tensors.append([])
    return tensors, caches


def _islands(rule: str, plan: Plan) -> set[int]:
    """Layers whose mixer quantised checkpoints leave in 16 bits."""
    attention = {i for i, (mixer, _) in enumerate(plan) if mixer in (Mixer.FULL, Mixer.WINDOW)}
    states = [i for i, (mixer, _) in enumerate(plan) if mixer is Mixer.RECURRENT]
    if rule == "state":
        return set(states)
    if rule == "attention and before":
        before = (max((i for i in states if i < layer), default=layer) for layer in attention)
        return attention | set(before)
    return attention if rule.startswith("attention") else set()


def _island(tensor: Tensor, island: bool) -> Tensor:
    return tensor._replace(island=True) if island else tensor


def _shared(fields: Fields, caches: list[list[CacheLayers]]) -> list[CacheLayers]:
    """Caches of the layers that keep one; the last num_kv_shared_layers read an earlier layer's."""
    shared = fields.integer("num_kv_shared_layers", default=0, minimum=0)
    if shared > len(caches):
        raise ArchitectureError("num_kv_shared_layers", f"is {shared} of {len(caches)} layers")
    own = caches[: len(caches) - shared]
    if fields.flag("use_cla"):  # Hunyuan: cross-layer attention, one cache for a few layers
        own = own[:: fields.integer("cla_share_factor", default=2)]
    return [cache for layer in own for cache in layer]


def _towers(config: Mapping[str, Any], hidden: int) -> list[Tensor]:
    """Encoders beside the language model, at the top level or one level down (omni models)."""
    missing = DEFAULT_TOWERS.get(str(config.get("model_type")))
    if missing is not None and not isinstance(config.get("vision_config"), Mapping):
        config = {**config, "vision_config": missing}
    levels = [config, *(config[k] for k in ("thinker_config",) if isinstance(config.get(k), Mapping))]
    return [
        tensor
        for level in levels
        for name in _TOWERS
        if isinstance(level.get(name), Mapping)
        for tensor in feed_tensors.tower(level[name], name, hidden)
    ]


def _mtp(fields: Fields, family: Family, plan: Plan, hidden: int) -> tuple[list[Tensor], list[CacheLayers]]:
    """One draft layer like the last attention layer; loaded only when speculation uses it."""
    if not fields.optional(*_MTP_COUNT, minimum=0):
        return [], []
    last = max(i for i, (mixer, _) in enumerate(plan) if mixer is not Mixer.NONE)
    kind = next((m for m, _ in reversed(plan) if m in (Mixer.FULL, Mixer.WINDOW)), plan[last][0])
    feeds = [feed for _, feed in plan if feed.value != "none"]
    built = _mixer(fields, family, last, kind)
    tensors = [Tensor(Kind.MLP, hidden, 2 * hidden, split=Split.REPLICATED, module="eh_proj")]
    tensors += [t for part, _ in built for t in part]
    if feeds:
        tensors += feed_tensors.feed_forward(fields, family, len(plan) - 1, feeds[-1])
    return tensors, [cache for _, cache in built if cache is not None]


def _collapse(tensors: list[Tensor]) -> tuple[Tensor, ...]:
    """Equal tensors become one with a higher count, so that sums over a model stay short."""
    counts: dict[Tensor, int] = {}
    for tensor in tensors:
        key = tensor._replace(copies=1, module=tensor.module.split(".")[-1])
        counts[key] = counts.get(key, 0) + tensor.copies
    return tuple(key._replace(copies=count) for key, count in counts.items())


def _merge(caches: list[CacheLayers]) -> tuple[CacheLayers, ...]:
    """Equal caches become one with their number of layers."""
    merged: dict[tuple[Any, ...], CacheLayers] = {}
    for cache in caches:
        key = (
            cache.kind,
            cache.heads,
            cache.key_dim,
            cache.value_dim,
            cache.window,
            cache.latent_dim,
            cache.rope_dim,
            cache.state,
        )
        known = merged.get(key)
        merged[key] = (
            cache
            if known is None
            else known._replace(
                layers=known.layers + cache.layers,
                index_layers=known.index_layers + cache.index_layers,
                index_dim=max(known.index_dim, cache.index_dim),
            )
        )
    return tuple(merged.values())
