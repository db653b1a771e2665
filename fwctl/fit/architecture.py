"""What a model needs memory for: weight tensors by class, and what each layer keeps per sequence.

Both are plain counts of elements. Bytes come later, when a precision and a parallel layout are known.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """Classes of weight tensors that quantisation methods treat alike."""

    EMBEDDING = "embedding"
    HEAD = "head"
    NORM = "norm"
    ROUTER = "router"
    ATTENTION = "attention"
    LATENT_DOWN = "latent_down"
    LATENT_UP = "latent_up"
    INDEXER = "indexer"
    STATE = "state"
    STATE_PARAMETER = "state_parameter"
    MLP = "mlp"
    SHARED_EXPERT = "shared_expert"
    EXPERT = "expert"
    TOWER = "tower"


class Split(StrEnum):
    """How tensor parallelism divides a tensor: not at all, evenly, or by whole heads."""

    REPLICATED = "replicated"
    TENSOR = "tensor"
    HEADS = "heads"


class Tensor(NamedTuple):
    """`copies` equal matrices of rows × cols elements.

    heads: for Split.HEADS the number of units that cannot be cut; with more ranks than units each
    rank holds one. experts and active: for routed experts, how many there are in a layer and how
    many a token visits. pinned: the checkpoint's own quantisation leaves it in 16 bits; stored_bits
    when it stores it in another width. island: quantised checkpoints of this family usually leave it
    in 16 bits, for configs that do not say. fixed_bits: the engine keeps it in this width whatever
    the precision.
    """

    kind: Kind
    rows: int
    cols: int = 1
    copies: int = 1
    split: Split = Split.TENSOR
    heads: int = 0
    experts: int = 0
    active: int = 0
    module: str = ""
    pinned: bool = False
    island: bool = False
    stored_bits: float | None = None
    fixed_bits: float | None = None

    @property
    def elements(self) -> int:
        return self.rows * self.cols * self.copies


class CacheKind(StrEnum):
    """How a layer's memory grows with the sequence."""

    FULL = "full"
    WINDOW = "window"
    LATENT = "latent"
    STATE = "state"


class State(NamedTuple):
    """Fixed memory of a recurrent layer, per sequence.

    heads × per_head recurrent elements of `recurrent_bytes`; conv lists (units, elements per unit,
    copies) kept for conv_width − 1 steps in 16 bits. Units are divided among ranks whole.
    """

    heads: int
    per_head: int
    recurrent_bytes: int
    conv: tuple[tuple[int, int, int], ...] = ()
    conv_width: int = 1


class CacheLayers(NamedTuple):
    """`layers` layers that keep the same thing.

    FULL and WINDOW: `heads` KV heads of key_dim + value_dim elements a token; WINDOW holds the last
    `window` tokens. LATENT: one latent of latent_dim + rope_dim elements a token, plus, on
    `index_layers` of the layers, an indexer key of index_dim elements. STATE: see State.
    """

    kind: CacheKind
    layers: int
    heads: int = 1
    key_dim: int = 0
    value_dim: int = 0
    window: int | None = None
    latent_dim: int = 0
    rope_dim: int = 0
    index_layers: int = 0
    index_dim: int = 0
    state: State | None = None


class Quantization(NamedTuple):
    """What a checkpoint says about its own weights.

    family: FP8, FP4, INT8 or INT4. scale_bytes_per_block with block (rows, cols): bytes of scale for
    each block of weights; a zero dimension spans the whole tensor. quantized: the classes that are
    stored in this format at all.
    """

    method: str
    family: str
    bits: float
    block: tuple[int, int] = (0, 0)
    scale_bytes: float = 0.0
    quantized: frozenset[Kind] = frozenset()


class Architecture(NamedTuple):
    """A model, understood. unknown: names of fields (with the reason) that stop a verdict."""

    model_type: str
    vocab_size: int
    layers: int
    attention_heads: int
    tensors: tuple[Tensor, ...]
    caches: tuple[CacheLayers, ...]
    max_context: int | None = None
    quantization: Quantization | None = None
    tied: bool = False
    mtp_tensors: tuple[Tensor, ...] = ()
    mtp_caches: tuple[CacheLayers, ...] = ()
    unknown: tuple[tuple[str, str], ...] = ()

    @property
    def parameters(self) -> int:
        """Number of weights; a draft layer that is only loaded for speculation is not counted."""
        return sum(tensor.elements for tensor in self.tensors)

    @property
    def active_parameters(self) -> int:
        """Weights that one token passes through: its experts, not all of them; no embedding rows."""
        return sum(
            tensor.elements * tensor.active // tensor.experts if tensor.experts else tensor.elements
            for tensor in self.tensors
            if tensor.kind not in (Kind.EMBEDDING, Kind.TOWER)
            or (tensor.kind is Kind.EMBEDDING and self.tied)
        )

    @property
    def mixture(self) -> bool:
        """True for a mixture of experts."""
        return any(tensor.kind is Kind.EXPERT for tensor in self.tensors)

    @property
    def latent(self) -> bool:
        """True when some layer caches one latent for all heads (MLA)."""
        return any(cache.kind is CacheKind.LATENT for cache in self.caches)
