"""Resource names: `accounts/<a>/deployments/<id>` and the short forms a caller may write."""

from __future__ import annotations

import re

from fwctl.simulator.platform.errors import invalid

# Documented by the SDK (lower case, digits, hyphen) and by community regexes; at most 63 characters.
_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_RESOURCE = re.compile(r"accounts/([^/]+)/([A-Za-z]+)/([^/]+)")


def join(account: str, collection: str, resource_id: str) -> str:
    """The full name `accounts/<account>/<collection>/<id>`."""
    return f"accounts/{account}/{collection}/{resource_id}"


def account_of(name: str) -> str:
    """The account of a full resource name."""
    return name.split("/", 2)[1] if name.startswith("accounts/") and "/" in name[9:] else ""


def id_of(name: str) -> str:
    """The last part of a resource name."""
    return name.rsplit("/", 1)[-1]


def qualify(text: str, account: str, collection: str, what: str) -> str:
    """The full name of an ID or a full name of the right collection.

    Raises InvalidArgument on a name of another collection or another form.
    """
    if "/" not in text:
        return join(account, collection, text)
    match = _RESOURCE.fullmatch(text)
    if match is None or match[2] != collection:
        raise invalid(f'invalid {what} name "{text}", expected accounts/<account>/{collection}/<id>')
    return text


def check_id(text: str, what: str) -> None:
    """Raises InvalidArgument on an ID the platform does not take."""
    if not _ID.fullmatch(text):
        raise invalid(
            f'invalid {what} ID "{text}": must be 1-63 characters of a-z, 0-9 and hyphen, '
            "and start and end with a letter or digit"
        )
