"""The one place that starts a child process.

No shell, stdin closed, an own session (so that a Ctrl-C in the terminal does not reach the child), a
deadline, and nothing left behind: neither a grandchild that holds a pipe nor one that went quiet.
"""

from __future__ import annotations

import contextlib
import locale
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

KEPT_BYTES = 64 * 2**20  # of each stream; the rest is read and dropped, so that the child never blocks
_CHUNK_BYTES = 64 * 1024
_TICK_S = 0.05  # how late a deadline or an interrupt may be noticed
_POSIX = sys.platform != "win32"


@dataclass(frozen=True, slots=True)
class Graces:
    """How long each step of stopping a child waits before the next, in seconds.

    interrupt: after SIGINT. terminate: after SIGTERM. pipe: how long a pipe may stay open, held by a
    grandchild, after the child itself is gone.
    """

    interrupt_s: float = 2.0
    terminate_s: float = 1.0
    pipe_s: float = 0.3


@dataclass(frozen=True, slots=True)
class Completed:
    """What became of a child. `returncode` is negative for a signal, None when it could not be reaped;
    `cut` tells that a stream was longer than `KEPT_BYTES`."""

    argv: tuple[str, ...]
    returncode: int | None
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False
    interrupted: bool = False
    cut: bool = False


class Running:
    """A child that goes on beside the caller, such as a load worker or a local server.

    A context manager: leaving it stops the child and everything it started. own_session: false where
    the system has no sessions; then only the child itself can be stopped. Raises OSError when the child
    cannot be started, ValueError for an argument that no process can receive.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path | str | None = None,
        input_fds: Sequence[int] = (),
        graces: Graces | None = None,
        kept_bytes: int = KEPT_BYTES,
        own_session: bool = _POSIX,
    ) -> None:
        self._own_session = own_session
        self._result: Completed | None = None
        self._argv = tuple(argv)
        self._graces = graces or Graces()
        self._started = time.monotonic()
        self._child = _spawn(argv, env, cwd, input_fds, own_session)
        self._streams = _Streams(self._child, kept_bytes)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._started

    def ended(self, wait_s: float = 0.0) -> bool:
        """True when the child is gone, and then all it left behind is gone too; waits up to `wait_s`
        for it. The end of both pipes usually tells at once."""
        if wait_s > 0 and self._streams.wait(wait_s):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(wait_s)
        if self._result is None and self._child.poll() is not None:
            self._finish()  # right away: later the number of the group may belong to somebody else
        return self._result is not None

    def output(self) -> tuple[str, str]:
        """What it printed so far on stdout and stderr."""
        stdout, stderr = self._streams.read()
        return _decode(stdout), _decode(stderr)

    def stop(self) -> Completed:
        """Interrupt, terminate and kill in turn, as far as needed; the result of the child."""
        if not self.ended():
            try:
                self._interrupt()
            finally:
                self._finish()
        assert self._result is not None
        return self._result

    def _interrupt(self) -> None:
        for name, grace_s in (
            ("SIGINT", self._graces.interrupt_s),
            ("SIGTERM", self._graces.terminate_s),
        ):
            self._signal(name)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(grace_s)
                return

    def _finish(self) -> None:
        """Give grandchildren that still write a moment, end whatever is left, and keep the result."""
        pipe_s = self._graces.pipe_s
        if not self._streams.wait(pipe_s if self._child.poll() is not None else 0):
            self._signal("SIGTERM")
            self._streams.wait(pipe_s)
        self._signal("SIGKILL")
        self._streams.wait(pipe_s)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(self._graces.terminate_s)
        stdout, stderr = self.output()
        self._streams.close()
        code, cut = self._child.returncode, self._streams.cut
        self._result = Completed(self._argv, code, stdout, stderr, self.seconds, cut=cut)

    def _signal(self, name: str) -> None:
        """Send a signal to every process of the child's session, or to the child where it has none;
        nothing happens when all are gone."""
        with contextlib.suppress(OSError):
            if self._own_session:
                os.killpg(self._child.pid, getattr(signal, name))
            else:
                self._child.kill() if name == "SIGKILL" else self._child.terminate()


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    deadline_s: float,
    cwd: Path | str | None = None,
    interrupt: threading.Event | None = None,
    input_fds: Sequence[int] = (),
    graces: Graces | None = None,
    kept_bytes: int = KEPT_BYTES,
) -> Completed:
    """Run a child to its end and return its output, whatever it does.

    After `deadline_s` seconds, or as soon as `interrupt` is set, the whole process group gets
    interrupt, terminate and kill in turn. A first Ctrl-C is the caller's business (finish the call,
    start no other); `interrupt` is for the second. A KeyboardInterrupt in the calling thread stops the
    child the same way and is raised again.

    `env` is the child's whole environment. `input_fds` stay open in the child (POSIX). Safe to call
    from several threads. Raises what `Running` raises.
    """
    timed_out = interrupted = False
    child = Running(argv, env=env, cwd=cwd, input_fds=input_fds, graces=graces, kept_bytes=kept_bytes)
    with child:
        while not child.ended(_TICK_S):
            if interrupt is not None and interrupt.is_set():
                interrupted = True
                break
            if child.seconds >= deadline_s:
                timed_out = True
                break
        stopped = child.stop()
    return replace(stopped, timed_out=timed_out, interrupted=interrupted)


def _spawn(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: Path | str | None,
    fds: Sequence[int],
    own_session: bool,
) -> subprocess.Popen[bytes]:
    flags: int = 0 if own_session else getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    return subprocess.Popen(
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=dict(env),
        cwd=cwd,
        start_new_session=own_session,
        pass_fds=tuple(fds),
        creationflags=flags,
    )


class _Streams:
    """Reads both pipes in threads, so that neither can fill up, on every platform alike.

    A thread whose pipe is held by a process that left the group stays behind, reading and dropping,
    until that process ends; it is a daemon and never delays the caller.
    """

    def __init__(self, child: subprocess.Popen[bytes], kept_bytes: int) -> None:
        self._kept_bytes = kept_bytes
        self._lock = threading.Lock()
        self._open = 2
        self._closed = threading.Event()
        self._dropping = False
        self._buffers = (bytearray(), bytearray())
        self.cut = False
        assert child.stdout is not None
        assert child.stderr is not None
        for pipe, buffer in zip((child.stdout, child.stderr), self._buffers, strict=True):
            threading.Thread(target=self._drain, args=(pipe, buffer), daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """True when both pipes are at their end."""
        return self._closed.wait(seconds)

    def read(self) -> tuple[bytes, bytes]:
        """What came so far."""
        with self._lock:
            return bytes(self._buffers[0]), bytes(self._buffers[1])

    def close(self) -> None:
        """Drop what comes from now on."""
        with self._lock:
            self._dropping = True

    def _drain(self, pipe: IO[bytes], buffer: bytearray) -> None:
        with contextlib.suppress(OSError, ValueError), pipe:
            while chunk := pipe.read(_CHUNK_BYTES):
                with self._lock:
                    room = self._kept_bytes - len(buffer)
                    if not self._dropping:
                        buffer += chunk[: max(room, 0)]
                        self.cut = self.cut or len(chunk) > room
        with self._lock:
            self._open -= 1
            if not self._open:
                self._closed.set()


def _decode(data: bytes) -> str:
    """UTF-8 (a byte order mark is dropped), else the system's encoding, else UTF-8 with marks for
    what cannot be read."""
    for encoding in ("utf-8-sig", locale.getpreferredencoding(False)):
        with contextlib.suppress(UnicodeDecodeError, LookupError):
            return data.decode(encoding)
    return data.decode("utf-8", "replace")
