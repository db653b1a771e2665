from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.applying.fakes import Bench

IN_MEMORY = Path("/dev/shm")  # journals are fsynced; hundreds of them wait long for a disk


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """pytest's folder, in memory where the system has such a place."""
    if not IN_MEMORY.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as name:
        yield Path(name)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)
