"""What master and workers on Locust share: how it is loaded, and the words of their messages."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from fwctl import __version__
from fwctl.errors import FwctlError
from fwctl.measure.resume import difference

HELLO, WELCOME, REFUSED, BYE = "fwctl_hello", "fwctl_welcome", "fwctl_refused", "fwctl_bye"
DONE, PART, READY, GO, STOP = "fwctl_done", "fwctl_part", "fwctl_ready", "fwctl_go", "fwctl_stop"
ROWS, ACK = "fwctl_rows", "fwctl_ack"

PORT = 5557  # the one Locust uses itself
POLL_S = 0.05
# No child of this kind needs patched modules: greenlets wait for messages only, the load has its own process.
UNPATCHED = {"LOCUST_SKIP_MONKEY_PATCH": "1"}


def require_locust() -> None:
    """Raises FwctlError when it is not installed. Not imported: that would change this process."""
    from importlib.util import find_spec

    if find_spec("locust") is None:
        raise FwctlError(
            "--engine locust needs locust, which is not installed", next_steps=["pip install 'fwctl[load]'"]
        )


def environment() -> Any:
    """A Locust environment without web page, arguments and users.

    Locust moves users between workers when a worker comes or goes. A share of a fixed list of requests must
    stay where it is, so it is no user: a worker makes its share in a process of its own.
    """
    return import_module("locust.env").Environment(user_classes=[])


def hello(plan: Mapping[str, Any], name: str, selftest: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a worker says first. The plan holds neither keys nor values of headers."""
    return {"version": __version__, "plan": dict(plan), "name": name, "selftest": selftest}


def refusal(plan: Mapping[str, Any], said: object) -> str | None:
    """Why a worker cannot take part in a plan, None when it can: nothing but shares goes by message."""
    if not isinstance(said, Mapping) or not isinstance(said.get("plan"), Mapping):
        return "it is no worker of fwctl"
    if said.get("version") != __version__:
        return f"it is fwctl {str(said.get('version'))[:40]}, the master is {__version__}"
    what = difference(plan, said["plan"])
    return None if what is None else f"it has other options: {what} is not the same"


def told(event: str, **more: Any) -> None:
    """Print one line for the process that started this one."""
    sys.stdout.write(json.dumps({"event": event, **more}) + "\n")
    sys.stdout.flush()
