"""`fwctl bench init|selftest`: something to begin with, and the error of the measurement."""

from __future__ import annotations

from typing import Any

from fwctl.cli.command import Call, command
from fwctl.report.model import Report


@command("fwctl bench init > prompts.jsonl")
def bench_init(call: Call) -> Report:  # noqa: ARG001 - every command takes the call
    """Print a small example prompt set."""
    from fwctl.measure.suite import EXAMPLE

    return Report("bench init", {"suite": EXAMPLE.splitlines()}, text=EXAMPLE)


@command("fwctl bench selftest", "fwctl bench selftest --format json")
def bench_selftest(call: Call) -> Report:
    """Measure the error of the harness itself against a server that knows the truth; takes 10 s."""
    from fwctl.measure.selftest import selftest

    found = selftest(call.env.environ, call.env.clock)
    return Report("bench selftest", {"selftest": found}, text=_lines(found))


def _lines(found: dict[str, Any]) -> str:
    return "".join(f"{key}: {value}\n" for key, value in found.items())
