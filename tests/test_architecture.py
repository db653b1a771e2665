"""The picture in docs/architecture.md is true: ranks, rooms and who imports whom."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "fwctl"
BESIDE = "simulator"
SIMULATOR_MAY_IMPORT = ("fwctl.catalog", "fwctl.fit", "fwctl.units", "fwctl.simulator")


def picture() -> dict[str, int | None]:
    """Room -> rank as drawn; None for what stands beside the house."""
    text = (ROOT / "docs/architecture.md").read_text()
    block = re.search(r"```rooms\n(.*?)```", text, re.DOTALL)
    assert block
    rooms: dict[str, int | None] = {}
    for line in block[1].splitlines():
        rank, *names = line.split()
        rooms |= dict.fromkeys(names, None if rank == "-" else int(rank))
    return rooms


RANKS = picture()
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    """Every imported module of a file, those inside functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms_imported(path: Path) -> set[str]:
    names = {name.split(".")[1] for name in imports(path) if name.startswith("fwctl.")}
    return names - {"__version__"}


def test_the_picture_shows_every_room_and_no_other() -> None:
    built = {room_of(path) for path in FILES} - {"__init__", "__main__"}
    assert set(RANKS) == built


def test_the_table_says_who_imports_whom() -> None:
    text = (ROOT / "docs/architecture.md").read_text()
    told = {
        room: set(re.findall(r"`(\w+)`", cell))
        for room, cell in re.findall(r"^\| `(\w+)` \|.*\|([^|]*)\|$", text, re.MULTILINE)
    }
    built: dict[str, set[str]] = {room: set() for room, rank in RANKS.items() if rank != 0 and room != "cli"}
    for path in FILES:
        if (room := room_of(path)) in built:
            built[room] |= {other for other in rooms_imported(path) - {room} if RANKS[other] != 0}
    assert {room: told[room] for room in built} == built


def test_every_module_that_the_page_names_is_there() -> None:
    text = (ROOT / "docs/architecture.md").read_text()
    rooms = "|".join(RANKS)
    named = {path.removesuffix(".py") for path in re.findall(rf"`((?:{rooms})/[\w/]+\.py)`", text)}
    named |= {
        f"{room}/{module}" for room, module in re.findall(rf"`({rooms})\.(?!py`|jsonl`)(\w+)[\w.]*`", text)
    }
    assert len(named) > 20
    assert named <= {str(path.relative_to(PACKAGE)).removesuffix(".py") for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_rooms_of_lower_rank(path: Path) -> None:
    room = room_of(path)
    others = rooms_imported(path) - {room}
    if room == "__main__":
        assert others <= {"cli"}
    elif room == BESIDE:
        own = [name for name in imports(path) if name.startswith("fwctl.")]
        assert all(name.startswith(SIMULATOR_MAY_IMPORT) for name in own)
    elif room == "cli":
        assert BESIDE in RANKS
    else:
        rank = RANKS.get(room)
        assert BESIDE not in others
        higher = {other for other in others if rank is None or (RANKS[other] or 0) >= rank > 0}
        assert not higher, f"{room} (rank {rank}) imports {sorted(higher)}"
        if rank == 0:
            assert all(RANKS[other] == 0 for other in others)


def test_only_one_module_starts_child_processes() -> None:
    starters = {
        str(path.relative_to(PACKAGE))
        for path in FILES
        if room_of(path) != BESIDE and {"subprocess", "multiprocessing"} & set(imports(path))
    }
    assert starters == {"process.py"}


@pytest.mark.parametrize("module", ["os", "time", "subprocess", "socket", "httpx", "random", "pathlib", "io"])
def test_planning_is_pure(module: str) -> None:
    users = [path.name for path in FILES if room_of(path) == "planning" and module in set(imports(path))]
    assert users == []


def test_nobody_imports_click() -> None:
    assert not [path.name for path in FILES if any(name.split(".")[0] == "click" for name in imports(path))]
