"""Runs a GitHub workflow as far as it can be run without GitHub: shell steps and our composite action.

Actions of others (checkout, artifacts) are left out. Expressions are the few forms that the examples use.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
ACTION = ROOT / ".github/actions/fwctl"
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


def load(path: Path) -> dict[str, Any]:
    """A workflow; `on` is a word here, not the YAML 1.1 boolean."""
    found: dict[str, Any] = yaml.load(path.read_text(), yaml.BaseLoader)
    return found


@dataclass
class Scope:
    """What expressions can name."""

    values: dict[str, str]
    failed: bool = False

    def text(self, template: str) -> str:
        return EXPRESSION.sub(lambda match: str(self.value(match[1])), template)

    def value(self, expression: str) -> Any:
        """`a.b.c`, quoted text, `always()`, comparisons, `&&` and `||`."""
        for operator, join in (("||", any), ("&&", all)):
            if operator in expression:
                return join(bool(self.value(part.strip())) for part in expression.split(operator))
        for operator, same in (("==", True), ("!=", False)):
            if operator in expression:
                left, right = (self.value(part.strip()) for part in expression.split(operator))
                return (left == right) is same
        if expression == "always()":
            return True
        if expression.startswith("'"):
            return expression.strip("'")
        return self.values.get(expression, "")

    def wants(self, condition: str | None) -> bool:
        if condition is None:
            return not self.failed
        text = EXPRESSION.sub(r"\1", condition)
        return bool(self.value(text)) and (not self.failed or "always()" in text)


@dataclass
class Runner:
    """A machine with a checkout; `job(...)` runs one job of a workflow and returns its exit code."""

    checkout: Path
    home: Path
    secrets: Mapping[str, str]
    github: Mapping[str, str]
    variables: Mapping[str, str]
    log: str = ""
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        tools = self.home / "bin"
        tools.mkdir(parents=True)
        script = '#!/bin/sh\nexec "{python}" -m {module} "$@"\n'
        for name, module in (("fwctl", "fwctl"), ("firectl", "fwctl.simulator")):
            (tools / name).write_text(script.format(python=sys.executable, module=module))
        # pip would need a package index; the package is the checkout itself here.
        python = f'#!/bin/sh\n[ "$1 $2" = "-m pip" ] && exit 0\nexec "{sys.executable}" "$@"\n'
        (tools / "python3").write_text(python)
        (tools / "pip").write_text("#!/bin/sh\nexit 0\n")
        for tool in tools.iterdir():
            tool.chmod(0o755)

    def environ(self) -> dict[str, str]:
        temporary = self.home / "temp"
        temporary.mkdir(exist_ok=True)
        return {
            "PATH": f"{self.home / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": str(temporary),
            "GITHUB_WORKSPACE": str(self.checkout),
            "GITHUB_ACTIONS": "true",
            "CI": "true",
            **self.variables,
        }

    def run(self, script: str, folder: Path, variables: Mapping[str, str]) -> tuple[int, dict[str, str]]:
        """One shell step: its exit code and the outputs it wrote."""
        files = {name: self.home / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV")}
        for path in files.values():
            path.write_text("")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=folder,
            env={**self.environ(), **{name: str(path) for name, path in files.items()}, **variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.log += done.stdout + done.stderr
        self.log += files["GITHUB_STEP_SUMMARY"].read_text()
        self.variables = {**self.variables, **pairs(files["GITHUB_ENV"])}
        return done.returncode, pairs(files["GITHUB_OUTPUT"])

    def job(self, job: Mapping[str, Any]) -> int | None:
        """Exit code of the first step that failed, 0 for success, None when the job was not wanted."""
        scope = Scope(
            {
                **{f"github.{key}": text for key, text in self.github.items()},
                **{f"secrets.{key}": text for key, text in self.secrets.items()},
                "github.token": self.secrets["GITHUB_TOKEN"],
            }
        )
        if not scope.wants(job.get("if")):
            return None
        return self._steps(job["steps"], scope)

    def _steps(self, steps: list[Mapping[str, Any]], scope: Scope) -> int:
        first = 0
        for step in steps:
            if not scope.wants(step.get("if")):
                continue
            code, outputs = self._step(step, scope)
            name = step.get("id", "")
            scope.values[f"steps.{name}.outcome"] = "failure" if code else "success"
            scope.values |= {f"steps.{name}.outputs.{key}": text for key, text in outputs.items()}
            self.outputs[name] = outputs
            first = first or code
            scope.failed = bool(first)
        return first

    def _step(self, step: Mapping[str, Any], scope: Scope) -> tuple[int, dict[str, str]]:
        uses = step.get("uses", "")
        if uses == "./.github/actions/fwctl":
            return self._composite(step.get("with", {}), scope)
        if uses:
            return 0, {}
        given = {key: scope.text(text) for key, text in step.get("env", {}).items()}
        given |= {key: text for key, text in scope.values.items() if key == "GITHUB_ACTION_PATH"}
        folder = self.checkout / scope.text(step.get("working-directory", "."))
        return self.run(step["run"], folder, given)

    def _composite(self, given: Mapping[str, str], outer: Scope) -> tuple[int, dict[str, str]]:
        action = load(ACTION / "action.yml")
        unknown = given.keys() - action["inputs"].keys()
        assert not unknown, unknown
        inputs = {key: outer.text(row.get("default", "")) for key, row in action["inputs"].items()}
        inputs |= {key: outer.text(text) for key, text in given.items()}
        scope = Scope({f"inputs.{key}": text for key, text in inputs.items()})
        scope.values["GITHUB_ACTION_PATH"] = str(ACTION)
        code = self._steps(action["runs"]["steps"], scope)
        return code, {key: scope.text(row["value"]) for key, row in action["outputs"].items()}


def pairs(file: Path) -> dict[str, str]:
    """`name=value` lines that a step wrote."""
    return dict(line.split("=", 1) for line in file.read_text().splitlines())
