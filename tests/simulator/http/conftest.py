from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulator.http.support import Sim, serving


@pytest.fixture
def sim(tmp_path: Path) -> Iterator[Sim]:
    with serving(tmp_path) as started:
        yield started
