"""Sizes from safetensors headers; expectations are sums of the bytes written here by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fwctl.errors import UsageError
from fwctl.hub import safetensors
from fwctl.hub.safetensors import Tensor


def shard(entries: dict[str, Any]) -> bytes:
    header = json.dumps(entries).encode()
    return len(header).to_bytes(8, "little") + header


def entry(dtype: str, shape: list[int], start: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def write(folder: Path, name: str, entries: dict[str, Any]) -> None:
    (folder / name).write_bytes(shard(entries))


def test_a_single_file_is_summed_from_its_offsets(tmp_path: Path) -> None:
    write(
        tmp_path,
        "model.safetensors",
        {
            "__metadata__": {"format": "pt"},
            "model.embed_tokens.weight": entry("BF16", [10, 4], 0, 80),
            "model.layers.0.mlp.up_proj.weight": entry("F8_E4M3", [8, 4], 80, 112),
        },
    )
    sizes = safetensors.folder_sizes(tmp_path, 1)
    assert sizes is not None
    assert (sizes.stored_bytes, sizes.loaded_bytes) == (112, 112)


def test_draft_layers_are_on_disk_but_not_loaded(tmp_path: Path) -> None:
    write(
        tmp_path,
        "model.safetensors",
        {
            "model.layers.1.self_attn.q_proj.weight": entry("BF16", [4, 4], 0, 32),
            "model.layers.2.eh_proj.weight": entry("BF16", [4, 4], 32, 64),
            "mtp.fc.weight": entry("BF16", [4, 4], 64, 96),
            "model.decoder.mtp_block.weight": entry("BF16", [2, 4], 96, 112),
        },
    )
    sizes = safetensors.folder_sizes(tmp_path, 2)
    assert sizes is not None
    assert (sizes.stored_bytes, sizes.loaded_bytes) == (112, 32)


def test_large_float32_matrices_are_served_in_16_bits_but_scales_stay() -> None:
    tensors = [
        Tensor("a.q_proj.weight", "F32", (4, 4), 64),
        Tensor("a.q_proj.weight_scale_inv", "F32", (2, 2), 16),
        Tensor("a.mixer.A_log", "F32", (8,), 32),
        Tensor("model.layers.0.mlp.gate.weight", "F32", (4, 4), 64),
    ]
    assert safetensors.loaded(tensors, 1) == 32 + 16 + 32 + 64


def test_only_files_of_the_index_count(tmp_path: Path) -> None:
    write(tmp_path, "model-00001-of-00001.safetensors", {"a": entry("BF16", [4], 0, 8)})
    write(tmp_path, "consolidated.safetensors", {"a": entry("BF16", [4], 0, 8)})
    index = {"metadata": {"total_size": 8}, "weight_map": {"a": "model-00001-of-00001.safetensors"}}
    (tmp_path / safetensors.INDEX_NAME).write_text(json.dumps(index))
    sizes = safetensors.folder_sizes(tmp_path, None)
    assert sizes is not None
    assert sizes.stored_bytes == 8


def test_a_folder_without_safetensors_has_no_sizes(tmp_path: Path) -> None:
    assert safetensors.folder_sizes(tmp_path, 1) is None


def remote(files: dict[str, bytes]) -> safetensors.ReadBytes:
    def part(name: str, start: int, size: int) -> bytes:
        return files[name][start : start + size]

    return part


def test_the_total_of_an_index_is_taken_without_reading_shards_that_hold_no_draft_layer() -> None:
    index = {
        "metadata": {"total_size": 1000},
        "weight_map": {"model.layers.0.w": "a.safetensors", "model.layers.1.w": "b.safetensors"},
    }
    reads = remote({"b.safetensors": shard({"model.layers.1.w": entry("BF16", [4, 5], 0, 40)})})
    sizes = safetensors.index_sizes(index, "index", 1, reads)
    assert (sizes.stored_bytes, sizes.loaded_bytes) == (1000, 960)


def test_an_index_without_a_total_is_summed_from_headers() -> None:
    index = {"metadata": {"total_size": True}, "weight_map": {"w": "a.safetensors"}}
    reads = remote({"a.safetensors": shard({"w": entry("BF16", [4, 5], 0, 40)})})
    assert safetensors.index_sizes(index, "index", 1, reads).stored_bytes == 40


@pytest.mark.parametrize(
    "index",
    [
        {},
        {"weight_map": []},
        {"weight_map": {"w": 3}},
        {"weight_map": {"w": "../../etc/passwd"}},
        {"weight_map": {"w": "/abs.safetensors"}},
        {"weight_map": {str(i): f"s{i}.safetensors" for i in range(5000)}},
    ],
)
def test_a_hostile_index_is_one_clear_error(index: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="index"):
        safetensors.shard_names(index, "index")


@pytest.mark.parametrize("first", [b"", b"1234567", (1).to_bytes(8, "little"), (2**40).to_bytes(8, "little")])
def test_a_header_length_that_cannot_be_is_refused(first: bytes) -> None:
    with pytest.raises(UsageError, match=r"x\.safetensors"):
        safetensors.header_length(first, "x.safetensors")


@pytest.mark.parametrize(
    "bad",
    [
        None,
        [],
        {},
        {"data_offsets": [0], "shape": [1]},
        {"data_offsets": [8, 0], "shape": [1]},
        {"data_offsets": [0, 8], "shape": "x"},
        {"data_offsets": [0, True], "shape": [1]},
        {"data_offsets": [-1, 8], "shape": [1]},
        {"data_offsets": [0, 2**70], "shape": [1]},
    ],
)
def test_a_malformed_tensor_entry_names_the_tensor(bad: Any) -> None:
    with pytest.raises(UsageError, match="'w'"):
        safetensors.tensors_of({"w": bad}, "file")


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.safetensors"):
        safetensors.folder_reader(tmp_path)("gone.safetensors", 0, 8)
