"""Files that a CI runner names by variable and that a format adds to: step summary and outputs."""

from __future__ import annotations

from pathlib import Path

from fwctl.env import Env
from fwctl.errors import FwctlError
from fwctl.report.formats import FORMATS, appender
from fwctl.report.model import Report

_ROOTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")  # root of the checkout on GitHub and GitLab
SUMMARY_BYTES = 1024 * 1024  # a longer summary of one step is refused as a whole


def root_of(env: Env) -> str:
    """Root of the repository: what the runner says when the folder is inside, else the folder itself."""
    for name in _ROOTS:
        root = env.environ.get(name)
        if root and env.cwd.is_relative_to(root):
            return root
    return str(env.cwd)


def append(env: Env, format_name: str, report: Report) -> None:
    """Add what the format has for each file that the runner names. Raises FwctlError.

    The report is masked already.
    """
    paths = {name: env.environ[name] for name in FORMATS[format_name].appends if env.environ.get(name)}
    if not paths:
        return
    room = SUMMARY_BYTES - _size(paths.get("GITHUB_STEP_SUMMARY"))
    for name, text in appender(format_name).appended(report, max(room, 0)).items():
        if name in paths and text:
            _append(Path(paths[name]), name, text)


def _append(path: Path, name: str, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise FwctlError(f"{name}: cannot write {path}: {error.strerror}") from None


def _size(path: str | None) -> int:
    try:
        return Path(path).stat().st_size if path else 0
    except OSError:
        return 0
