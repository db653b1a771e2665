"""Which key goes to which server, for addresses of the command line."""

from __future__ import annotations

from fwctl.cli.command import Call
from fwctl.env import FIREWORKS_KEY
from fwctl.errors import AuthError, UsageError


def server_key(call: Call, url: str, variable: str | None, option: str) -> str | None:
    """As `key_for`, for an inference server up to /v1. Raises UsageError for what is no such address."""
    from fwctl.measure.target import url_problem

    if (problem := url_problem(url)) is not None:
        raise UsageError(f"{option}: the address {problem}")
    return key_for(call, url, variable, option)


def key_for(call: Call, url: str, variable: str | None, option: str) -> str | None:
    """The key for this address, which no output shows from now on. The Fireworks key goes to Fireworks
    only, unless its variable is named. option: what named the address, for messages.

    Raises UsageError for a variable that holds no key, and AuthError for Fireworks without a key, where
    every request would fail and be tried again.
    """
    from fwctl.measure.target import is_fireworks, is_key

    if variable is None and not is_fireworks(url):
        return None
    name = variable or FIREWORKS_KEY
    key = call.env.environ.get(name)
    call.env.redactor.register(key)
    if key and not is_key(key):
        raise UsageError(f"the environment variable {name} holds characters that no key has")
    if key:
        return key
    if variable is not None:
        raise UsageError(f"the environment variable {variable} is not set")
    raise AuthError(
        f"{FIREWORKS_KEY} is not set, so Fireworks would answer no request",
        next_steps=[f"export {FIREWORKS_KEY}=...", f"{option} URL for another server"],
    )
