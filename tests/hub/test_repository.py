"""Reading a repository over real HTTP on localhost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fwctl.errors import NetworkError, UsageError
from fwctl.hub import http
from fwctl.hub.repository import Repository
from tests.hub.conftest import Hub
from tests.hub.test_safetensors import entry, shard

NAME = "maker/model"
PREFIX = f"/{NAME}/resolve/main"


def environ(hub: Hub, tmp_path: Path, **more: str) -> dict[str, str]:
    return {"HF_ENDPOINT": hub.url, "FWCTL_CACHE_DIR": str(tmp_path), **more}


def test_a_config_is_fetched_and_kept_for_a_run_without_network(hub: Hub, tmp_path: Path) -> None:
    hub.files[f"{PREFIX}/config.json"] = b'{"model_type": "llama"}'
    assert Repository(NAME, environ(hub, tmp_path)).document("config.json") == {"model_type": "llama"}

    def unreachable(url: str, **_: object) -> http.Response:
        raise NetworkError("down")

    offline = Repository(NAME, environ(hub, tmp_path), get=unreachable)
    assert offline.document("config.json") == {"model_type": "llama"}
    with pytest.raises(NetworkError, match="down"):
        offline.document("other.json")


def test_a_missing_file_is_none_and_a_refusal_names_the_token(hub: Hub, tmp_path: Path) -> None:
    repository = Repository(NAME, environ(hub, tmp_path))
    assert repository.document("config.json") is None
    hub.statuses[f"{PREFIX}/config.json"] = 401
    with pytest.raises(NetworkError, match="HF_TOKEN"):
        repository.document("config.json")
    hub.statuses[f"{PREFIX}/config.json"] = 503
    with pytest.raises(NetworkError, match="503"):
        repository.document("config.json")


def test_the_token_goes_to_the_hub_and_not_to_the_host_it_redirects_to(
    hub: Hub, storage: Hub, tmp_path: Path
) -> None:
    token = "hf_canary_token_value"
    hub.redirects[f"{PREFIX}/config.json"] = f"{storage.url.replace('127.0.0.1', 'localhost')}/blob?sig=1"
    storage.files["/blob"] = b"{}"
    repository = Repository(NAME, environ(hub, tmp_path, HF_TOKEN=token))
    assert repository.document("config.json") == {}
    assert hub.asked[0][1]["authorization"] == f"Bearer {token}"
    assert "authorization" not in storage.asked[0][1]
    hub.redirects.clear()
    hub.statuses[f"{PREFIX}/config.json"] = 403
    with pytest.raises(NetworkError) as error:
        repository.document("config.json")
    assert token not in str(error.value)


def test_headers_are_read_over_ranges_through_a_redirect(hub: Hub, storage: Hub, tmp_path: Path) -> None:
    data = shard({"model.layers.0.w": entry("BF16", [4, 5], 0, 40), "mtp.w": entry("BF16", [2], 40, 44)})
    hub.redirects[f"{PREFIX}/model.safetensors"] = f"{storage.url}/blob?signature=abc"
    storage.files["/blob"] = data + b"\0" * 44
    sizes = Repository(NAME, environ(hub, tmp_path)).sizes(1)
    assert sizes is not None
    assert (sizes.stored_bytes, sizes.loaded_bytes) == (44, 40)
    assert [headers["range"] for _, headers in storage.asked] == ["bytes=0-7", f"bytes=8-{len(data) - 1}"]


def test_an_index_gives_the_total(hub: Hub, tmp_path: Path) -> None:
    index = {"metadata": {"total_size": 1234}, "weight_map": {"w": "a.safetensors"}}
    hub.files[f"{PREFIX}/model.safetensors.index.json"] = json.dumps(index).encode()
    sizes = Repository(NAME, environ(hub, tmp_path)).sizes(32)
    assert sizes is not None
    assert sizes.loaded_bytes == 1234


def test_a_repository_without_safetensors_has_no_sizes(hub: Hub, tmp_path: Path) -> None:
    assert Repository(NAME, environ(hub, tmp_path)).sizes(1) is None


def test_a_hub_that_ignores_ranges_is_said_so(hub: Hub, tmp_path: Path) -> None:
    hub.files[f"{PREFIX}/model.safetensors"] = b"12345678"
    hub.ignore_ranges = True
    with pytest.raises(NetworkError, match="ranges"):
        Repository(NAME, environ(hub, tmp_path)).sizes(1)


@pytest.mark.parametrize("name", ["", "model", "a/b/c", "../etc", "a/..", "a b/c", "x" * 300 + "/y"])
def test_a_name_that_is_no_hub_id_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="hub id"):
        Repository(name, {})


def test_a_revision_that_leaves_the_repository_is_refused() -> None:
    with pytest.raises(UsageError, match="revision"):
        Repository(NAME, {}, revision="../../other")


def test_a_body_above_the_limit_is_cut_off(hub: Hub) -> None:
    hub.files["/big"] = b"x" * 1000
    with pytest.raises(NetworkError, match="more than 999 bytes"):
        http.get(f"{hub.url}/big", most_bytes=999)


def test_a_redirect_loop_ends(hub: Hub) -> None:
    hub.redirects["/loop"] = "/loop"
    with pytest.raises(NetworkError, match="redirects"):
        http.get(f"{hub.url}/loop", most_bytes=10)


def test_a_host_that_is_not_there_and_an_address_that_is_none_are_network_errors() -> None:
    with pytest.raises(NetworkError, match=r"127\.0\.0\.1 cannot be reached"):
        http.get("http://127.0.0.1:1/x", most_bytes=10)
    with pytest.raises(NetworkError):
        http.get("nonsense", most_bytes=10)


def test_a_host_that_does_not_answer_in_time_is_a_network_error() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(NetworkError, match="within"):
            http.get(url, most_bytes=10, timeout_s=0.05)


def test_the_address_of_an_answer_has_no_signature(hub: Hub) -> None:
    hub.files["/blob"] = b"{}"
    assert http.get(f"{hub.url}/blob?sig=secret", most_bytes=10).url == f"{hub.url}/blob"


def test_a_body_that_is_not_packed_as_it_says_is_named(hub: Hub) -> None:
    hub.files["/metrics"] = b"up 1\n"
    hub.packed.add("/metrics")
    with pytest.raises(NetworkError, match="sent what cannot be unpacked"):
        http.get(f"{hub.url}/metrics", most_bytes=999)
