"""Start-up of fwctl against `python -c "import typer"`, side by side in one run.

    python -m benchmarks.start_up

Bars: --version 1.3 times, --help 1.6 times, completion 3 times, validate of one spec 4.5 times. Each
round runs every command once in turn, so that a busy moment hits all of them. The figure is the median
of the rounds' ratios. Exit 1 when a bar is missed.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 15
FWCTL = (sys.executable, "-m", "fwctl")
REFERENCE = (sys.executable, "-c", "import typer")
# As after an installation by pip, which compiles what it installs: a checkout is compiled by its first run.
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
SPEC = Path(__file__).parents[1] / "configs" / "chat.yaml"

# What -> (words after fwctl, bar as a multiple of the reference).
BARS: dict[str, tuple[tuple[str, ...], float]] = {
    "--version": (("--version",), 1.3),
    "--help": (("--help",), 1.6),
    "completion": (("__complete", "plan", "--tar"), 3.0),
    "validate": (("validate", str(SPEC)), 4.5),
}


def seconds(argv: tuple[str, ...]) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env=COMPILED)
    return time.perf_counter() - start


def main() -> int:
    ratios: dict[str, list[float]] = {name: [] for name in BARS}
    for argv in (REFERENCE, *((*FWCTL, *words) for words, _ in BARS.values())):
        seconds(argv)
    for _ in range(ROUNDS):
        reference = seconds(REFERENCE)
        for name, (words, _) in BARS.items():
            ratios[name].append(seconds((*FWCTL, *words)) / reference)
    missed = False
    for name, (_, bar) in BARS.items():
        ratio = statistics.median(ratios[name])
        missed = missed or ratio > bar
        print(f"fwctl {name}: {ratio:.2f} x, bar {bar} x: {'holds' if ratio <= bar else 'MISSED'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
