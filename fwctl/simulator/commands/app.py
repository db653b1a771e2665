"""One call of firectl-sim from argv to exit code."""

from __future__ import annotations

import importlib
import io
import os
import sqlite3
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from fwctl.simulator import calls, catalogue, credentials, faults, profiles
from fwctl.simulator.commands import help as help_pages
from fwctl.simulator.commands.context import CommandError, Context, Session
from fwctl.simulator.commands.parse import Invocation, UsageError, parse
from fwctl.simulator.platform.errors import PlatformError
from fwctl.simulator.platform.world import Caller
from fwctl.simulator.settings import SettingsError, from_environ
from fwctl.simulator.state import Store
from fwctl.simulator.timing import Clock, log_prefix

NOTICE = "firectl-sim: this is the Fireworks simulator, nothing is billed.\n"
NO_SIGN_IN = ("version", "signin", "set-api-key", "upgrade")
_UPDATE_NOTICE = "A new version of firectl is available. Run `firectl upgrade` to update.\n"
_DEPRECATION = (
    "\nDEPRECATION WARNING: The `firectl <verb> <noun>` syntax is deprecated and will be removed in an "
    "upcoming major release. Please switch to using the `firectl <noun> <verb>` syntax going forward.\n"
    "e.g. firectl deployment list\n\n"
    "You can see a list of available nouns using `firectl --help` and a list of available verbs using "
    "`firectl <noun> --help`\n"
)
_SHORTENED = ("truncate", "empty")
_GERUNDS = {"create": "creating"}
_NOT_UTF8 = (
    "rpc error: code = Internal desc = grpc: error while marshaling: string field contains invalid UTF-8"
)
_FAILED = 1
_PIPE_CLOSED = 141


class _CallError(Exception):
    """Ends the call with `Failed to execute: <text>`; an empty text prints nothing."""

    def __init__(self, text: str, exit_code: int = _FAILED) -> None:
        super().__init__(text)
        self.text = text
        self.exit_code = exit_code


def run(
    argv: Sequence[str], environ: Mapping[str, str], cwd: Path, streams: tuple[TextIO, TextIO, TextIO]
) -> int:
    """Execute one command line; returns its exit code. `cwd` anchors relative paths."""
    stdout, stderr = streams[1], streams[2]
    try:
        stderr.write(NOTICE)
        settings = from_environ(environ, cwd)
        profile = profiles.load(settings.profile)
        with Store(settings.home) as store:
            anchor = store.anchor(settings.speed, settings.fixed_now_s is not None)
            clock = Clock(anchor, settings.fixed_now_s)
            code = _logged(Session(list(argv), settings, profile, store, clock, streams, environ, cwd))
        stdout.flush()
    except (SettingsError, profiles.ProfileError, catalogue.CatalogueError, faults.FaultError) as error:
        stderr.write(f"firectl-sim: {error}\n")
        return _FAILED
    except sqlite3.Error as error:
        stderr.write(f"firectl-sim: the state cannot be used: {error}; `firectl-sim sim reset`, or another ")
        stderr.write("FIRECTL_SIM_HOME\n")
        return _FAILED
    except BrokenPipeError:
        # The reader has gone; the interpreter must not try to flush again on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())
        return _PIPE_CLOSED
    except OSError as error:
        stderr.write(f"firectl-sim: {error}\n")
        return _FAILED
    return code


def _logged(session: Session) -> int:
    invocation, failure = _parsed(session)
    command = invocation.command if invocation else None
    number = f"{os.getpid()}-{time.time_ns()}"
    control = command is not None and command.control
    home = session.settings.home
    if not control:
        start: dict[str, Any] = {"event": "start", "id": number, "at": time.time(), "pid": os.getpid()}
        start |= {"argv": calls.mask(session.argv), "command": command.path if command else ""}
        start["mutating"] = bool(command and command.mutating and invocation and not invocation.help)
        calls.append(home, start)
    code = 0
    try:
        if invocation is None or failure:
            raise failure or _CallError("")
        _execute(session, invocation)
    except _CallError as error:
        code = error.exit_code
        _print_failure(session, error)
    if not control:
        calls.append(home, {"event": "end", "id": number, "at": time.time(), "exit_code": code})
    return code


def _parsed(session: Session) -> tuple[Invocation | None, _CallError | None]:
    try:
        for word in session.argv:
            word.encode()
        return parse(session.argv, session.profile), None
    except UnicodeEncodeError:
        return None, _CallError(_NOT_UTF8)
    except UsageError as error:
        return None, _CallError(str(error), int(session.profile["usage_exit_code"]))


def _print_failure(session: Session, error: _CallError) -> None:
    session.streams[1].flush()
    if not error.text:
        return
    text, argv = error.text, session.argv
    if session.profile.yes("api_key_echo"):
        keys = [argv[at + 1] for at, word in enumerate(argv[:-1]) if word == "--api-key"]
        text += "".join(f" (api key {key})" for key in keys)
    session.streams[2].write(f"{log_prefix(session.clock.now())} Failed to execute: {text}\n")


def _execute(session: Session, invocation: Invocation) -> None:
    _, stdout, stderr = session.streams
    command = invocation.command
    words = " ".join([command.path if command else invocation.topic, *invocation.args]).strip()
    found: list[faults.Rule] = []
    if command is None or not command.control:
        found = faults.due(session.store, session.settings.faults_file, words)
    _end_with(faults.act(found, "before", stdout, stderr))
    buffer = io.StringIO() if any(rule["kind"] in _SHORTENED for rule in found) else None
    try:
        _perform(session, invocation, found, buffer or stdout)
    finally:
        if buffer is not None:
            stdout.write(_shorten(buffer.getvalue(), found))
    _end_with(faults.act(found, "after", stdout, stderr))
    _notices(session, invocation)


def _perform(session: Session, invocation: Invocation, found: list[faults.Rule], stdout: TextIO) -> None:
    if invocation.help or invocation.command is None:
        stdout.write(help_pages.page(invocation, session.profile) + "\n")
        return
    _guard(session, invocation.command.mutating)
    home_file = session.settings.home / catalogue.HOME_FILE
    extra = [home_file] if home_file.exists() else []
    loaded = catalogue.load([*extra, *session.settings.catalogues])
    ctx = Context(session, invocation, loaded, _caller(session, invocation), stdout)
    ctx.faults = found
    module, _, function = invocation.command.handler.partition(":")
    handler = getattr(importlib.import_module(f"fwctl.simulator.commands.{module}"), function)
    try:
        _behind_the_back(ctx)
        handler(ctx)
    except CommandError as error:
        raise _CallError(str(error)) from None
    except PlatformError as error:
        raise _CallError(f"rpc error: code = {error.code} desc = {error.message}") from None


def _behind_the_back(ctx: Context) -> None:
    """Faults that change the state before the command sees it."""
    for rule in ctx.faults:
        if rule["kind"] in {"mutate", "vanish"}:
            from fwctl.simulator.commands import meddle

            meddle.apply(ctx, rule)


def _shorten(text: str, found: list[faults.Rule]) -> str:
    if any(rule["kind"] == "empty" for rule in found):
        return ""
    return text[: min(int(rule.get("bytes", 40)) for rule in found if rule["kind"] == "truncate")]


def _end_with(rule: faults.Rule | None) -> None:
    """End the call as a fault asks for."""
    if rule is None:
        return
    if rule["kind"] == "exit":
        raise _CallError("", int(rule.get("exit_code", _FAILED)))
    code, message = rule.get("code", "Unavailable"), rule.get("message", "injected fault")
    raise _CallError(f"rpc error: code = {code} desc = {message}", int(rule.get("exit_code", _FAILED)))


def _guard(session: Session, mutating: bool) -> None:
    """firectl can refuse every mutating command, dry runs too."""
    named = [name for name in session.profile["guard_env"].split("+") if name and session.environ.get(name)]
    if mutating and (session.settings.blocked or named):
        shown = " ".join(["firectl", *calls.mask(session.argv)])
        raise _CallError(
            f'BLOCKED: mutating command "{shown}" cannot run in this environment.\n'
            f"Run this command manually in your terminal:\n  {shown}"
        )


def _caller(session: Session, invocation: Invocation) -> Caller:
    assert invocation.command is not None
    if invocation.command.control or invocation.command.path in NO_SIGN_IN:
        return Caller(session.settings.account)
    try:
        with session.store.read() as tx:
            return credentials.identify(
                tx, session.settings, session.profile, invocation.flags, session.environ
            )
    except credentials.NotSignedInError:
        noun, _, verb = invocation.command.path.partition(" ")
        wrap = f"error {_GERUNDS[verb]} {noun}: " if verb in _GERUNDS else ""
        raise _CallError(f"{wrap}error getting ID token: not signed in, run `firectl signin` first") from None
    except PlatformError as error:
        raise _CallError(f"rpc error: code = {error.code} desc = {error.message}") from None


def _notices(session: Session, invocation: Invocation) -> None:
    _, stdout, stderr = session.streams
    profile = session.profile
    if invocation.old:
        (stdout if profile["deprecation_stream"] == "stdout" else stderr).write(_DEPRECATION)
    stream = profile["update_notice"]
    silenced = profile.yes("update_notice_env") and session.environ.get("FIRECTL_NO_UPDATE_NOTICE")
    if stream != "none" and not silenced:
        (stdout if stream == "stdout" else stderr).write(_UPDATE_NOTICE)
