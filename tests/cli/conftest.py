from __future__ import annotations

from pathlib import Path

import pytest

from fwctl.env import Env
from tests.cli.support import SPEC, Stream, make_env


class Box:
    """A folder with one spec and a simulator; each `env()` is a fresh environment in it."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.variables = {
            "FWCTL_FIRECTL": "sim",
            "FIRECTL_SIM_HOME": str(folder / "sim"),
            "FIRECTL_SIM_SPEED": "600",
            "FWCTL_POLL_INTERVAL": "1s",
            "XDG_CACHE_HOME": str(cache),
        }
        self.write()

    def write(self, text: str = SPEC, name: str = "chat.yaml") -> None:
        path = self.folder / "configs" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    @property
    def specs(self) -> str:
        """The folder of specs; absolute, because this process stands elsewhere."""
        return str(self.folder / "configs")

    def env(self, *, terminal: bool = False, stdin: str = "", **variables: str) -> Env:
        env = make_env(self.folder, {**self.variables, **variables}, terminal=terminal, stdin=stdin)
        assert isinstance(env.stdin, Stream)
        return env


@pytest.fixture(scope="session")
def help_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Help pages of the simulator are read once, as on one machine."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def box(tmp_path: Path, help_cache: Path) -> Box:
    return Box(tmp_path, help_cache)
