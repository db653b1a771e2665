"""Files of a model repository on a Hugging Face compatible hub."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from fwctl.errors import NetworkError, UsageError
from fwctl.hub.cache import Cache, folder
from fwctl.hub.documents import MOST_CONFIG_BYTES, MOST_INDEX_BYTES, parse
from fwctl.hub.http import Response, get
from fwctl.hub.safetensors import INDEX_NAME, SINGLE_NAME, ReadBytes, Sizes, header_sizes, index_sizes

DEFAULT_ENDPOINT = "https://huggingface.co"
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
_REVISION = re.compile(r"[A-Za-z0-9][\w./-]{0,100}")

Get = Callable[..., Response]


class Repository:
    """One repository at one revision.

    environ: HF_ENDPOINT, HF_TOKEN and the cache's variables are read. get: how bytes are fetched.
    """

    def __init__(
        self, name: str, environ: Mapping[str, str], *, revision: str = "main", get: Get = get
    ) -> None:
        if not HUB_ID.fullmatch(name) or ".." in name:
            raise UsageError(f"{name[:100]!r} is no hub id; one looks like meta-llama/Llama-3.1-8B")
        if not _REVISION.fullmatch(revision) or ".." in revision:
            raise UsageError(f"{revision[:100]!r} is no revision")
        endpoint = (environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")
        self.name = name
        self._base = f"{endpoint}/{name}/resolve/{revision}"
        token = environ.get("HF_TOKEN")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._cache = Cache(folder(environ))
        self._get = get

    def document(self, file: str, most_bytes: int = MOST_CONFIG_BYTES) -> Mapping[str, Any] | None:
        """A JSON file of the repository, None when there is none.

        The copy of an earlier run serves when the hub cannot be reached. NetworkError otherwise, and
        when the hub refuses.
        """
        url = f"{self._base}/{file}"
        try:
            answer = self._get(url, headers=self._headers, most_bytes=most_bytes)
        except NetworkError:
            kept = self._cache.get(url)
            if kept is None:
                raise
            return parse(kept, f"{self.name}/{file} (from the cache)")
        if answer.status == 404:
            return None
        if answer.status != 200:
            raise NetworkError(f"{self.name}/{file}: {_refusal(answer.status)}")
        found = parse(answer.body, f"{self.name}/{file}")
        self._cache.put(url, answer.body)
        return found

    def sizes(self, layers: int | None) -> Sizes | None:
        """Exact bytes of the checkpoint; None when the repository has no safetensors.

        layers: the model's own number of layers; what lies beyond is a draft layer.
        """
        index = self.document(INDEX_NAME, MOST_INDEX_BYTES)
        if index is not None:
            return index_sizes(index, f"{self.name}/{INDEX_NAME}", layers, self._reader())
        try:
            return header_sizes([SINGLE_NAME], f"{self.name}/{SINGLE_NAME}", layers, self._reader())
        except FileNotFoundError:
            return None

    def _reader(self) -> ReadBytes:
        def part(file: str, start: int, size: int) -> bytes:
            url = f"{self._base}/{file}"
            span = (start, start + size - 1)
            answer = self._get(url, headers=self._headers, byte_range=span, most_bytes=size)
            if answer.status == 404:
                raise FileNotFoundError(file)
            if answer.status != 206:
                raise NetworkError(f"{self.name}/{file}: {_refusal(answer.status)}")
            return answer.body

        return part


def _refusal(status: int) -> str:
    if status in (401, 403):
        return "the hub refuses; a gated or private repository needs HF_TOKEN"
    if status == 200:
        return "the hub ignores ranges, so headers cannot be read alone"
    return f"the hub answered {status}"
