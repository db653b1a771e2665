"""What is declared is used, what is used is declared and explained."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BROUGHT_BY_TYPER = {"pydantic"}  # declared for its bound
MODULE_OF = {"pyyaml": "yaml", "prometheus-client": "prometheus_client", "resvg-py": "resvg_py"}


def names(requirements: list[str]) -> set[str]:
    """Import names of requirements, extras of fwctl itself left out."""
    found = {re.split(r"[<>=!~\[; ]", item, maxsplit=1)[0].lower() for item in requirements} - {"fwctl"}
    return {MODULE_OF.get(name, name) for name in found}


def imported() -> set[str]:
    """Top-level modules from outside the standard library that the package imports anywhere."""
    found: set[str] = set()
    for path in (ROOT / "fwctl").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names) - {"fwctl"}


def test_every_dependency_that_is_always_installed_is_used() -> None:
    assert names(PROJECT["dependencies"]) - BROUGHT_BY_TYPER <= imported()


def test_every_import_is_declared() -> None:
    extras = PROJECT["optional-dependencies"]
    declared = names(PROJECT["dependencies"]).union(
        *(names(items) for name, items in extras.items() if name != "dev")
    )
    assert imported() <= declared


def test_every_declared_package_is_explained() -> None:
    page = (ROOT / "docs/dependencies.md").read_text().lower()
    declared = [
        *PROJECT["dependencies"],
        *(r for items in PROJECT["optional-dependencies"].values() for r in items),
    ]
    plain = {re.split(r"[<>=!~\[; ]", item, maxsplit=1)[0].lower() for item in declared} - {"fwctl"}
    missing = {name for name in plain if name not in page and not name.startswith(("types-", "pytest-"))}
    assert not missing
