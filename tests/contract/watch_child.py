"""`fwctl` as a process whose clock is the simulator's, so that a day of it is short."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from fwctl.cli.failure import Terminated
from fwctl.cli.main import run
from fwctl.env import Env
from fwctl.simulator.state import Store


class PlatformClock:
    """The clock of a simulator's home, as fast as it runs."""

    def __init__(self, home: Path) -> None:
        with Store(home) as store:
            self.anchor = store.anchor(None, fixed=False)

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.monotonic(), UTC)

    def monotonic(self) -> float:
        return self.anchor.at(time.time())

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds / self.anchor.speed)


def _terminate(_signum: int, _frame: FrameType | None) -> None:
    raise Terminated


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(
        run(sys.argv[1:], replace(Env.system(), clock=PlatformClock(Path(os.environ["FIRECTL_SIM_HOME"]))))
    )
