"""Every figure of docs/performance.md, with the command that makes it: `python -m benchmarks`."""

from __future__ import annotations

import subprocess
import sys

# Heading -> module with its own bars; each exits 1 when one is missed.
TABLE = {
    "start-up": "benchmarks.start_up",
    "validate and plan": "benchmarks.scale",
    "apply": "benchmarks.apply_wall",
    "fit check, speed": "benchmarks.fit_speed",
    "fit check, accuracy": "benchmarks.fit_accuracy",
    "measuring client": "benchmarks.harness",
    "fallback router": "benchmarks.router",
    "trace replay": "benchmarks.trace_replay",
}


def main() -> int:
    missed = []
    for heading, module in TABLE.items():
        print(f"\n== {heading}: python -m {module}", flush=True)
        if subprocess.run([sys.executable, "-m", module], check=False).returncode:
            missed.append(heading)
    print("\nall bars hold" if not missed else f"\nmissed: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
