"""One bounded HTTP GET. httpx stays behind this module."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from fwctl.errors import NetworkError

TIMEOUT_S = 20.0
MOST_REDIRECTS = 5


class Response(NamedTuple):
    """Status, final address without its query (which may be signed), body."""

    status: int
    url: str
    body: bytes


def get(
    url: str,
    *,
    most_bytes: int,
    headers: Mapping[str, str] | None = None,
    byte_range: tuple[int, int] | None = None,
    timeout_s: float = TIMEOUT_S,
    total_s: float = math.inf,
) -> Response:
    """GET with redirects followed; Authorization goes to the first host only.

    byte_range: first and last byte, both included. timeout_s: seconds between two bytes, total_s: of the
    whole body. NetworkError when the host cannot be reached, does not answer in time, redirects too often,
    or sends more than `most_bytes` or what is not packed as it says.
    """
    import httpx

    asked = dict(headers or {})
    if byte_range is not None:
        asked["Range"] = f"bytes={byte_range[0]}-{byte_range[1]}"
    host, ends = urlsplit(url).hostname or url, time.monotonic() + total_s
    try:
        with (
            httpx.Client(follow_redirects=True, max_redirects=MOST_REDIRECTS, timeout=timeout_s) as client,
            client.stream("GET", url, headers=asked) as answer,
        ):
            return Response(
                answer.status_code,
                _plain(str(answer.url)),
                _body(answer.iter_bytes(), most_bytes, host, ends),
            )
    except httpx.TooManyRedirects:
        raise NetworkError(f"{host} redirects more than {MOST_REDIRECTS} times") from None
    except httpx.TimeoutException:
        raise NetworkError(f"{host} did not answer within {timeout_s:g} s") from None
    except httpx.DecodingError:
        raise NetworkError(f"{host} sent what cannot be unpacked") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NetworkError(f"{host} cannot be reached: {type(error).__name__}") from None


def _body(chunks: Iterable[bytes], most_bytes: int, host: str, ends: float) -> bytes:
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > most_bytes:
            raise NetworkError(f"{host} sent more than {most_bytes:,} bytes")
        if time.monotonic() > ends:
            raise NetworkError(f"{host} did not answer in time")
    return bytes(body)


def _plain(url: str) -> str:
    return urlsplit(url)._replace(query="", fragment="").geturl()
