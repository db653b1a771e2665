"""One short completion, to learn whether a deployment serves."""

from __future__ import annotations

from typing import Any

from fwctl.applying.model import Answer
from fwctl.env import FIREWORKS_KEY, Env

DEFAULT_BASE_URL = "https://api.fireworks.ai"
URL_VARIABLE = "FIREWORKS_BASE_URL"
_PATH = "/inference/v1"
_TIMEOUT_S = 60.0
_LONGEST_MESSAGE = 300

# Not yet, ask again (docs.fireworks.ai, inference error codes; 404 is answered while routes spread).
PROGRESS = frozenset({404, 408, 425, 429, 500, 502, 503, 504, 520})


def ask(model: str, env: Env) -> Answer:
    """Asks `model` for one token. The key comes from FIREWORKS_API_KEY, the address from
    FIREWORKS_BASE_URL."""
    key = env.environ.get(FIREWORKS_KEY)
    if not key:
        return Answer(ok=False, message=f"{FIREWORKS_KEY} is not set, so no request can be sent")
    import httpx

    request = {"model": model, "prompt": "1", "max_tokens": 1, "temperature": 0}
    try:
        response = httpx.post(
            f"{base_url(env)}/completions",
            json=request,
            headers={"Authorization": f"Bearer {key}"},
            timeout=_TIMEOUT_S,
        )
    except (httpx.UnsupportedProtocol, httpx.InvalidURL, ValueError) as error:
        return Answer(ok=False, message=env.redactor.mask(f"{URL_VARIABLE}: {error}"))
    except httpx.HTTPError as error:
        return Answer(ok=False, progress=True, message=env.redactor.mask(str(error) or type(error).__name__))
    return judge(response.status_code, _body(response), env)


def base_url(env: Env) -> str:
    """Where inference is, up to `/v1`: FIREWORKS_BASE_URL, else the platform."""
    base = (env.environ.get(URL_VARIABLE) or DEFAULT_BASE_URL).rstrip("/")
    return base if base.endswith(_PATH) else base + _PATH


def _body(response: Any) -> Any:
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def judge(status: int, body: Any, env: Env) -> Answer:
    """What a status and a JSON body (None when there is none) mean."""
    fields = body if isinstance(body, dict) else {}
    if status == 200 and fields.get("choices"):
        return Answer(ok=True)
    error = fields.get("error")
    said = error.get("message") if isinstance(error, dict) else error
    message = env.redactor.mask(f"HTTP {status} {said or ''}".strip())[:_LONGEST_MESSAGE]
    return Answer(ok=False, progress=status in PROGRESS or status == 200, message=message)
