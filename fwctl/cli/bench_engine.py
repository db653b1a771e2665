"""Options of `bench run` about who makes the load, and the two sides of a run on Locust."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwctl.cli.bench_options import MOST_WORKERS, Running
from fwctl.cli.command import Call
from fwctl.errors import UsageError

if TYPE_CHECKING:
    from fwctl.measure.locust_fleet import Fleet
    from fwctl.measure.plan import Plan

ENGINES = ("fwctl", "locust")
EVERYWHERE = "*"


@dataclass(frozen=True)
class Machines:
    """Who makes the load: this machine, or several on Locust."""

    engine: Annotated[
        str, typer.Option("--engine", metavar="fwctl|locust", help="Who spreads the load [fwctl].")
    ] = "fwctl"
    master: Annotated[bool, typer.Option("--master", help="Locust: wait for workers of other machines.")] = (
        False
    )
    expect_workers: Annotated[
        int | None,
        typer.Option("--expect-workers", metavar="N", help="Of --master: start when N have joined [1]."),
    ] = None
    bind: Annotated[
        str | None,
        typer.Option("--bind", metavar="ADDRESS", help="Of --master: listen there only [all addresses]."),
    ] = None
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", help="Of --master: listen on this port [5557].")
    ] = None
    worker: Annotated[
        str | None,
        typer.Option(
            "--worker", metavar="HOST[:PORT]", help="Locust: make a share of the load for the master there."
        ),
    ] = None

    def check(self, running: Running) -> None:
        """Raises UsageError for options that do not go together."""
        if self.engine not in ENGINES:
            raise UsageError(f"--engine is {' or '.join(ENGINES)}")
        if self.engine == "fwctl" and (self.master or self.worker is not None):
            raise UsageError("--master and --worker need --engine locust")
        if self.master and self.worker is not None:
            raise UsageError("give one of --master and --worker")
        if not self.master and (self.expect_workers, self.bind, self.port) != (None, None, None):
            raise UsageError("--expect-workers, --bind and --port belong to --master")
        if (self.master or self.worker is not None) and running.workers != "auto":
            raise UsageError("--workers is for the workers of this machine; start one --worker for each")
        if self.expect_workers is not None and not 1 <= self.expect_workers <= MOST_WORKERS:
            raise UsageError(f"--expect-workers is a number from 1 to {MOST_WORKERS}")
        if self.port is not None and not 1 <= self.port <= 65535:
            raise UsageError("--port is a number from 1 to 65535")
        given = (running.out, running.resume, running.pin_replicas)
        if self.worker is not None and given != (None, None, None):
            raise UsageError("--out, --resume and --pin-replicas belong to the master, not to a --worker")

    @property
    def address(self) -> tuple[str, int]:
        """Host and port of --worker. Raises UsageError."""
        from fwctl.measure.locust_parts import PORT

        host, colon, port = (self.worker or "").rpartition(":")
        if not colon or "]" in port:
            host, port = self.worker or "", str(PORT)
        host = host.strip("[]")
        known = host and not any(c.isspace() or c in "/@" or not c.isprintable() for c in host)
        if not known or not port.isdecimal() or not 1 <= int(port[:6]) <= 65535:
            raise UsageError("--worker is the host of the master, such as 10.0.0.5 or 10.0.0.5:5557")
        return host, int(port)


@contextmanager
def fleet(call: Call, plan: Plan, machines: Machines) -> Iterator[Fleet | None]:
    """The workers on Locust, all of them ready; None for the engine of fwctl. Raises FwctlError."""
    if machines.engine == "fwctl":
        yield None
        return
    from fwctl.measure.locust_fleet import Crew, Fleet
    from fwctl.measure.locust_parts import PORT

    crew = Crew(local=plan.workers)
    if machines.master:
        bind, port = machines.bind or EVERYWHERE, machines.port or PORT
        crew = Crew(expect=machines.expect_workers or 1, bind=bind, port=port)
    with Fleet(plan, call.env.environ, crew, call.output.message) as found:
        yield found


def join(call: Call, plan: Plan, machines: Machines, selftest: dict[str, Any] | None) -> None:
    """Be a worker until the master says that all is done. Raises FwctlError."""
    from socket import gethostname

    from fwctl.measure.locust_children import join as join_master

    host, port = machines.address
    call.output.message(f"looking for the master at {host}:{port} ...")
    join_master(
        plan, call.env.environ, (host, port), name=gethostname(), selftest=selftest, say=call.output.message
    )
