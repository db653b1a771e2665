"""One apply in a process of its own, killed with SIGKILL at the nth crash point (0: never).

`python -m tests.contract.apply_child STORY FOLDER NTH`; the environment is the cell's. Prints the number
of crash points that it passed. With a negative number it says so at that point and goes on, so that the
caller can kill it while the call runs.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.contract.apply_stories import STORIES
from tests.contract.apply_support import Cell


def main() -> None:
    name, folder, nth = sys.argv[1:]
    story = STORIES[name]
    passed = 0

    def crash(point: str) -> None:
        nonlocal passed
        passed += 1
        if passed == -int(nth):
            print("here", flush=True)
        if passed == int(nth):
            os.kill(os.getpid(), signal.SIGKILL)

    cell = Cell(Path(folder), dict(os.environ), children=True)
    cell.apply(
        story.wanted, plan_options=dict(story.plan_options), crash=crash, parallelism=1, wait_timeout_s=20.0
    )
    print(passed)


if __name__ == "__main__":
    main()
