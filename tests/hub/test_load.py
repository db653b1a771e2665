"""Which source of a config wins, and what is said when none has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fwctl.errors import NetworkError, UsageError
from fwctl.hub import cache
from fwctl.hub.http import Response
from fwctl.hub.load import Found, layers_of, load
from tests.hub.test_safetensors import entry, write


def refuse(url: str, **_: object) -> Response:
    raise NetworkError("no route")


def find(reference: str, folder: Path, **more: object) -> Found:
    return load(reference, folder=folder, environ={}, get=refuse, **more)  # type: ignore[arg-type]


def serve(files: dict[str, object]) -> object:
    def get(url: str, **_: object) -> Response:
        name = url.rsplit("/", 1)[1]
        if name not in files:
            return Response(404, url, b"")
        return Response(200, url, json.dumps(files[name]).encode())

    return get


def test_a_file_is_read_with_the_quantisation_beside_it(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    (tmp_path / "hf_quant_config.json").write_text('{"quantization": {"quant_algo": "FP8"}}')
    found = find("config.json", tmp_path)
    assert found.config == {"model_type": "llama"}
    assert found.hf_quant_config == {"quantization": {"quant_algo": "FP8"}}
    assert find(".", tmp_path).config == found.config


def test_a_quantisation_named_after_the_config_belongs_to_it(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    (tmp_path / "x.hf_quant_config.json").write_text('{"quantization": {}}')
    assert find("x.json", tmp_path).hf_quant_config == {"quantization": {}}


def test_headers_beside_a_config_give_exact_sizes(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"num_hidden_layers": 1}')
    write(tmp_path, "model.safetensors", {"model.layers.1.w": entry("BF16", [4], 0, 8)})
    found = find(".", tmp_path, exact_sizes=True)
    assert found.sizes is not None
    assert (found.sizes.stored_bytes, found.sizes.loaded_bytes) == (8, 0)


@pytest.mark.parametrize(
    "reference",
    [
        "accounts/fireworks/models/llama-v3p1-70b-instruct",
        "llama-v3p1-70b-instruct",
        "meta-llama/Llama-3.3-70B-Instruct",
        "Llama-3.1-70B-Instruct",
    ],
)
def test_a_catalogue_name_needs_no_network(reference: str, tmp_path: Path) -> None:
    found = find(reference, tmp_path)
    assert found.config is not None
    assert found.config["num_hidden_layers"] == 80
    assert found.origin.startswith("catalogue")


def test_a_path_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        find("nowhere/config.json", tmp_path)


@pytest.mark.parametrize("text", ["[]", "{", '{"a":' * 100_000, "\xff"])
def test_a_file_that_is_no_config_is_one_clear_error(text: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(text, encoding="latin-1")
    with pytest.raises(UsageError, match=r"c\.json"):
        find("c.json", tmp_path)


def test_an_unreadable_and_an_endless_file_are_errors(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="cannot be read"):
        find("folder", tmp_path)
    with (tmp_path / "big.json").open("wb") as stream:
        stream.truncate(17 * 2**20)
    with pytest.raises(UsageError, match="larger than 16 MiB"):
        find("big.json", tmp_path)


def test_an_unknown_name_says_what_to_do(tmp_path: Path) -> None:
    found = find("accounts/acme/models/mine", tmp_path)
    assert found.config is None
    assert "config.json" in found.missing[0]


def test_a_hub_id_is_fetched(tmp_path: Path) -> None:
    get = serve({"config.json": {"model_type": "llama"}, "hf_quant_config.json": {"quantization": {}}})
    found = load("maker/new-model", folder=tmp_path, environ={}, get=get)  # type: ignore[arg-type]
    assert found.config == {"model_type": "llama"}
    assert found.hf_quant_config == {"quantization": {}}
    assert found.origin == "hub: maker/new-model"


def test_a_repository_without_config_says_so(tmp_path: Path) -> None:
    found = load("hub:maker/empty", folder=tmp_path, environ={}, get=serve({}))  # type: ignore[arg-type]
    assert found.missing == ("maker/empty has no config.json",)


def test_the_catalogue_serves_when_the_hub_does_not_answer(tmp_path: Path) -> None:
    found = find("https://huggingface.co/Qwen/Qwen3-8B/tree/main", tmp_path)
    assert found.config is not None
    assert "no route" in found.origin
    assert find("hub:maker/unknown", tmp_path).missing[0].startswith("maker/unknown was not read: no route")


def test_without_network_a_hub_id_is_only_looked_up(tmp_path: Path) -> None:
    assert find("maker/unknown", tmp_path, network=False).config is None
    assert find("hub:Qwen/Qwen3-8B", tmp_path, network=False).config is not None
    assert find("qwen3-8b", tmp_path, network=False, exact_sizes=True).config is not None


def test_layers_are_found_in_nested_configs() -> None:
    assert layers_of({"text_config": {"num_hidden_layers": 3}}) == 3
    assert layers_of({"n_layer": 4}) == 4
    assert layers_of({"num_hidden_layers": True}) is None


def test_the_cache_lives_where_the_environment_says() -> None:
    assert cache.folder({"FWCTL_CACHE_DIR": "/c"}) == Path("/c/hub")
    assert cache.folder({"XDG_CACHE_HOME": "/x"}) == Path("/x/fwctl/hub")
    assert cache.folder({"HOME": "/h"}) == Path("/h/.cache/fwctl/hub")
    assert cache.folder({}) is None


def test_a_cache_that_cannot_be_written_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    broken = cache.Cache(tmp_path / "file")
    broken.put("u", b"x")
    assert broken.get("u") is None
    nowhere = cache.Cache(None)
    nowhere.put("u", b"x")
    assert nowhere.get("u") is None
