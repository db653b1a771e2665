"""A process that replays its share: `python -m fwctl.speculation.worker JOB.json` writes JOB.out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fwctl.records.atomic import replace_file
from fwctl.speculation.job import run_job
from fwctl.speculation.suffix import SuffixIndex


def main(name: str) -> None:
    """Read the job, replay, write the result in one step."""
    path = Path(name)
    job = json.loads(path.read_bytes())
    index = SuffixIndex.from_bytes((path.parent / job["index"]).read_bytes()) if job["index"] else None
    replace_file(path.with_suffix(".out"), json.dumps(run_job(job, index, _say)).encode())


def _say(done: int, total: int) -> None:
    """One line for each part; whoever started this counts them."""
    sys.stdout.write(f"{done}/{total}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
