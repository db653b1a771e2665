"""A file of `kind: Routes` -> `Routes`, with every problem of the file and its place in one pass."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fwctl.errors import Diagnostic, InvalidSpecError, Severity
from fwctl.inference.client import FIREWORKS_URL
from fwctl.redact import Secret
from fwctl.routing.amounts import share
from fwctl.routing.fields import SETTINGS
from fwctl.routing.model import Route, Routes, Settings, Trace
from fwctl.routing.route_entry import RouteEntry
from fwctl.routing.target_entry import Around
from fwctl.spec.files import Given, read_file
from fwctl.spec.groups import group_of
from fwctl.spec.kinds import parse_kind
from fwctl.spec.mistakes import described
from fwctl.spec.nodes import Broken, place
from fwctl.spec.nodes import Mapping as Tree
from fwctl.spec.parse import ParsedFile, text_at
from fwctl.spec.reader import Checked, Reader, Run
from fwctl.spec.report import Report, escape, shown
from fwctl.spec.sources import Sources
from fwctl.units import parse_duration

KIND = "Routes"
_LARGEST_OUTPUTS_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Read:
    """What a file says. `routes` is None when it has an error."""

    routes: Routes | None
    diagnostics: tuple[Diagnostic, ...]


def load_routes(path: Path, environ: Mapping[str, str], cwd: Path) -> Routes:
    """The routes of a file. path: as the user wrote it, relative to `cwd`.

    Raises InvalidSpecError with every problem.
    """
    found = read_routes(path, environ, cwd)
    if found.routes is None:
        raise InvalidSpecError(
            f"{path} is not valid",
            next_steps=[f"fwctl route check --offline --config {path}"],
            diagnostics=found.diagnostics,
        )
    return found.routes


def read_routes(path: Path, environ: Mapping[str, str], cwd: Path) -> Read:
    """The same, with warnings, and without raising for what the file holds."""
    given = replace(read_file(cwd / path), file=str(path))
    return read_given(given, environ, (cwd / path).parent)


def read_given(given: Given, environ: Mapping[str, str], folder: Path) -> Read:
    """From bytes. folder: what file names inside are relative to."""
    report = Report(Sources())
    file = parse_kind(given, KIND, "routes stand", report, environ)
    routes = _routes(file, report, environ, folder) if file.root is not None else None
    diagnostics = report.finish(strict=False)
    failed = any(item.severity is Severity.ERROR for item in diagnostics)
    return Read(None if failed else routes, diagnostics)


def _routes(file: ParsedFile, report: Report, environ: Mapping[str, str], folder: Path) -> Routes | None:
    assert file.root is not None
    run = Run(report, environ, need_secrets=True)
    settings = _mapping(file.root, "settings", Reader(run, "/settings"))
    checked = _settings(settings, run)
    account = text_at(file.root, "account")
    get = checked.values.get
    around = Around(account, str(get("base_url") or FIREWORKS_URL), _outputs(checked, report, folder))
    node = _mapping(file.root, "routes", Reader(run, "/routes"))
    found: dict[str, Route] = {}
    for name, (key, value) in (node.entries if node else {}).items():
        reader = Reader(run, "/routes/" + escape(name))
        route = RouteEntry(reader, name, (key.start, key.end), around).route(value)
        if route is not None:
            found[name] = route
    if node is not None and not node.entries:
        report.add("FW204", (node.start, node.end), "routes is empty", suggestion="see docs/routing.md")
    secrets = [target.api_key for route in found.values() for target in route.targets if target.api_key]
    own = _own(checked, folder)
    return Routes(file.source.file, account, found, own, (*secrets, *own.client_keys)) if found else None


def _mapping(root: Tree, key: str, reader: Reader) -> Tree | None:
    entry = root.entries.get(key)
    if entry is None or isinstance(entry[1], Tree | Broken):
        return entry[1] if entry is not None and isinstance(entry[1], Tree) else None
    reader.problem("FW202", place(*entry), f"{key} takes a mapping, not {described(entry[1])}")
    return None


def _settings(node: Tree | None, run: Run) -> Checked:
    reader = Reader(run, "/settings")
    return reader.read(group_of(SETTINGS), node) if node is not None else reader.checked


def _own(checked: Checked, folder: Path) -> Settings:
    get = checked.values.get
    plain = Settings()
    secrets: list[Secret] = get("client_keys") or []
    file = get("trace.file")
    return Settings(
        client_keys=tuple(secret.value for secret in secrets if secret.value),
        trace=Trace(folder / file, share(get("trace.share", "1%")) or 0.0) if file else None,
        max_body_bytes=get("max_body_mib", plain.max_body_bytes // 2**20) * 2**20,
        drain_delay_s=_seconds(get("drain.delay"), plain.drain_delay_s),
        drain_s=_seconds(get("drain.limit"), plain.drain_s),
        keep_headers=tuple(name.lower() for name in get("keep_headers", ())),
    )


def _seconds(text: str | None, default: float) -> float:
    return default if text is None else parse_duration(text)


def _outputs(checked: Checked, report: Report, folder: Path) -> dict[str, str] | None:
    """Logical name -> model string, from the file that an apply wrote; None when none is named."""
    name = checked.values.get("outputs")
    if name is None:
        return None
    path = folder / posixpath.normpath(name)
    try:
        if path.stat().st_size > _LARGEST_OUTPUTS_BYTES:
            raise ValueError("it is too large")
        models = json.loads(path.read_bytes())["models"]
        return {key: str(found.get("router") or found["base"]) for key, found in models.items()}
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        problem = "was not written by fwctl apply"
    span = checked.places["outputs"]
    report.add(
        "FW112", span, f"settings.outputs: {shown(name)} {problem}", suggestion="run fwctl apply first"
    )
    return {}
