"""The same replay on Ray. Files must lie where every node can read them under the same name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fwctl.speculation.job import Progress, Work, job_of, run_job, unpacked
from fwctl.speculation.reading import Part
from fwctl.speculation.suffix import SuffixIndex
from fwctl.speculation.tally import Tally


def replay_on_ray(
    work: Work, todo: Sequence[Part], index: SuffixIndex | None, ray: Any, progress: Progress
) -> Tally:
    """One Ray task a part; whole numbers add up, so the order in which they end does not matter.

    RAY_ADDRESS names a running cluster; without it Ray starts `jobs` workers on this machine.
    """
    begun = not ray.is_initialized()
    if begun:
        here = {} if work.environ.get("RAY_ADDRESS") else {"num_cpus": work.jobs, "include_dashboard": False}
        ray.init(log_to_driver=False, logging_level="ERROR", **here)
    try:
        shared = ray.put(index.to_bytes() if index else b"")
        task = ray.remote(_task)
        waiting = [task.remote(job_of(work, [part], index is not None), shared) for part in todo]
        tally = Tally()
        while waiting:
            ended, waiting = ray.wait(waiting)
            tally.merge(unpacked(ray.get(ended[0])))
            progress(len(todo) - len(waiting), len(todo))
        return tally
    finally:
        if begun:
            ray.shutdown()


def _task(job: dict[str, Any], index: bytes) -> dict[str, Any]:
    return run_job(job, SuffixIndex.from_bytes(index) if index else None)
