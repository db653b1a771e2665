"""Exact sizes of a checkpoint from safetensors headers and indexes, without reading weights.

A file begins with 8 bytes, the little-endian length of a JSON header, which names each tensor's type,
shape and byte offsets (huggingface.co/docs/safetensors).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fwctl.errors import UsageError
from fwctl.hub.documents import MOST_INDEX_BYTES, parse, read

MOST_HEADER_BYTES = 64 * 2**20
MOST_SHARDS = 4096
INDEX_NAME = "model.safetensors.index.json"
SINGLE_NAME = "model.safetensors"

_LAYER = re.compile(r"(?:^|\.)layers\.(\d{1,6})\.")
_KEPT_WIDE = re.compile(r"scale|bias|A_log|dt_bias|correction|\.gate\.weight$|router", re.IGNORECASE)
_SHARD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.safetensors")

ReadBytes = Callable[[str, int, int], bytes]


class Tensor(NamedTuple):
    """One tensor of a header: its type as written, its shape, the bytes it takes in the file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    size_bytes: int


class Sizes(NamedTuple):
    """Bytes of a checkpoint. loaded_bytes: without draft (MTP) layers, and with large float32 matrices
    in the 16 bits they are served in; None when only a total is known and a draft layer may be in it."""

    stored_bytes: int
    loaded_bytes: int | None
    source: str


def header_length(first: bytes, origin: str) -> int:
    """Length of the header from a file's first 8 bytes. UsageError when it cannot be one."""
    if len(first) < 8:
        raise UsageError(f"{origin} is too short for a safetensors file")
    length = int.from_bytes(first[:8], "little")
    if not 2 <= length <= MOST_HEADER_BYTES:
        raise UsageError(f"{origin} is no safetensors file: its header would have {length:,} bytes")
    return length


def tensors_of(header: Mapping[str, Any], origin: str) -> list[Tensor]:
    """The tensors of a parsed header. UsageError when an entry is malformed."""
    return [_tensor(name, entry, origin) for name, entry in header.items() if name != "__metadata__"]


def _tensor(name: str, entry: Any, origin: str) -> Tensor:
    values = entry if isinstance(entry, Mapping) else {}
    offsets, shape = _whole_numbers(values.get("data_offsets")), _whole_numbers(values.get("shape"))
    if offsets is None or shape is None or len(offsets) != 2 or not offsets[0] <= offsets[1] < 2**63:
        raise UsageError(f"{origin}: the entry of tensor {name[:80]!r} is malformed")
    return Tensor(name, str(values.get("dtype")), shape, offsets[1] - offsets[0])


def _whole_numbers(value: Any) -> tuple[int, ...] | None:
    """A list of whole numbers from 0 up, None for anything else."""
    if not isinstance(value, list):
        return None
    if not all(isinstance(item, int) and not isinstance(item, bool) and item >= 0 for item in value):
        return None
    return tuple(value)


def is_draft(name: str, layers: int | None) -> bool:
    """Whether a tensor belongs to a draft layer: `mtp.…`, or a layer beyond the model's own."""
    if name.startswith(("mtp.", "model.mtp.", "language_model.mtp.")) or ".mtp_" in name:
        return True
    place = _LAYER.search(name)
    return layers is not None and place is not None and int(place[1]) >= layers


def loaded(tensors: Iterable[Tensor], layers: int | None) -> int:
    """Bytes in memory: no draft layers, and large float32 matrices halved."""
    total = 0
    for tensor in tensors:
        if is_draft(tensor.name, layers):
            continue
        wide = tensor.dtype == "F32" and len(tensor.shape) > 1 and not _KEPT_WIDE.search(tensor.name)
        total += math.ceil(tensor.size_bytes / 2) if wide else tensor.size_bytes
    return total


def shard_names(index: Mapping[str, Any], origin: str) -> dict[str, list[str]]:
    """Shard -> its tensors, from an index. UsageError when the map is missing or names odd files."""
    weights = index.get("weight_map")
    if not isinstance(weights, Mapping) or not weights:
        raise UsageError(f"{origin} has no weight_map")
    shards: dict[str, list[str]] = {}
    for tensor, shard in weights.items():
        if not isinstance(shard, str) or not _SHARD_NAME.fullmatch(shard):
            raise UsageError(f"{origin} names a file that is no shard: {str(shard)[:80]!r}")
        shards.setdefault(shard, []).append(tensor)
    if len(shards) > MOST_SHARDS:
        raise UsageError(f"{origin} names {len(shards):,} shards, more than {MOST_SHARDS:,}")
    return shards


def index_sizes(index: Mapping[str, Any], origin: str, layers: int | None, read_bytes: ReadBytes) -> Sizes:
    """Total of an index; the headers of shards that hold draft layers are read to take those off."""
    shards = shard_names(index, origin)
    metadata = index.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, Mapping) else None
    if isinstance(total, bool) or not isinstance(total, int) or not 0 < total < 2**60:
        return header_sizes(shards, origin, layers, read_bytes)
    drafts = [shard for shard, names in shards.items() if any(is_draft(n, layers) for n in names)]
    draft_bytes = 0
    for shard in drafts:
        tensors = read_header(shard, read_bytes)
        draft_bytes += sum(t.size_bytes for t in tensors if is_draft(t.name, layers))
    return Sizes(total, max(0, total - draft_bytes), f"{origin} (total_size)")


def header_sizes(shards: Iterable[str], origin: str, layers: int | None, read_bytes: ReadBytes) -> Sizes:
    """Sum over the headers of all shards."""
    stored = in_memory = 0
    for shard in shards:
        tensors = read_header(shard, read_bytes)
        stored += sum(tensor.size_bytes for tensor in tensors)
        in_memory += loaded(tensors, layers)
    return Sizes(stored, in_memory, f"{origin} (headers)")


def read_header(shard: str, read_bytes: ReadBytes) -> list[Tensor]:
    """The tensors of one shard."""
    length = header_length(read_bytes(shard, 0, 8), shard)
    return tensors_of(parse(read_bytes(shard, 8, length), shard), shard)


def folder_reader(folder: Path) -> ReadBytes:
    """Reads parts of files of a folder. UsageError when a shard cannot be read."""

    def part(name: str, start: int, size: int) -> bytes:
        try:
            with (folder / name).open("rb") as stream:
                stream.seek(start)
                return stream.read(size)
        except OSError as error:
            raise UsageError(f"{folder / name} cannot be read: {error.strerror}") from None

    return part


def folder_sizes(folder: Path, layers: int | None) -> Sizes | None:
    """Sizes of a checkpoint on disk, from its headers; None when the folder has no safetensors.

    The index decides which files count, so that a second export in the same folder does not.
    """
    index = folder / INDEX_NAME
    if index.is_file():
        shards: Iterable[str] = shard_names(read(index, MOST_INDEX_BYTES), str(index))
    elif (folder / SINGLE_NAME).is_file():
        shards = [SINGLE_NAME]
    else:
        return None
    return header_sizes(shards, str(folder), layers, folder_reader(folder))
