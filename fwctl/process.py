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
from dataclasses import dataclass
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
    from several threads. Raises OSError when the child cannot be started, ValueError for an argument
    that no process can receive (a NUL byte, for example).
    """
    steps = graces or Graces()
    started = time.monotonic()
    child = _spawn(argv, env, cwd, input_fds)
    streams = _Streams(child, kept_bytes)
    timed_out = interrupted = False
    try:
        while not _ended(child, streams):
            if interrupt is not None and interrupt.is_set():
                interrupted = True
            elif time.monotonic() - started >= deadline_s:
                timed_out = True
            else:
                continue
            _stop(child, steps)
            break
    except BaseException:
        _stop(child, steps)
        raise
    finally:
        _clear_group(child, streams, steps)
    stdout, stderr = streams.taken()
    return Completed(
        tuple(argv),
        child.returncode,
        _decode(stdout),
        _decode(stderr),
        time.monotonic() - started,
        timed_out,
        interrupted,
        streams.cut,
    )


def _spawn(
    argv: Sequence[str], env: Mapping[str, str], cwd: Path | str | None, fds: Sequence[int]
) -> subprocess.Popen[bytes]:
    flags = 0 if _POSIX else getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    return subprocess.Popen(
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=dict(env),
        cwd=cwd,
        start_new_session=_POSIX,
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
        self._taken = False
        self._buffers = (bytearray(), bytearray())
        self.cut = False
        assert child.stdout is not None
        assert child.stderr is not None
        for pipe, buffer in zip((child.stdout, child.stderr), self._buffers, strict=True):
            threading.Thread(target=self._drain, args=(pipe, buffer), daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """True when both pipes are at their end."""
        return self._closed.wait(seconds)

    def taken(self) -> tuple[bytes, bytes]:
        """What was read so far; later output is dropped."""
        with self._lock:
            self._taken = True
            return bytes(self._buffers[0]), bytes(self._buffers[1])

    def _drain(self, pipe: IO[bytes], buffer: bytearray) -> None:
        with contextlib.suppress(OSError, ValueError), pipe:
            while chunk := pipe.read(_CHUNK_BYTES):
                with self._lock:
                    room = self._kept_bytes - len(buffer)
                    if not self._taken:
                        buffer += chunk[: max(room, 0)]
                        self.cut = self.cut or len(chunk) > room
        with self._lock:
            self._open -= 1
            if not self._open:
                self._closed.set()


def _ended(child: subprocess.Popen[bytes], streams: _Streams) -> bool:
    """Wait one tick; True when the child is gone. The end of both pipes usually tells at once."""
    if streams.wait(_TICK_S):
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_TICK_S)
    return child.poll() is not None


def _stop(child: subprocess.Popen[bytes], graces: Graces) -> None:
    """Interrupt, terminate, kill: each to the whole group, each with its time."""
    for name, grace_s in (("SIGINT", graces.interrupt_s), ("SIGTERM", graces.terminate_s)):
        _signal_group(child, name)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(grace_s)
            return
    _signal_group(child, "SIGKILL")
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(graces.terminate_s)


def _clear_group(child: subprocess.Popen[bytes], streams: _Streams, graces: Graces) -> None:
    """Give grandchildren that still write a moment, then end whatever is left of the group."""
    if not streams.wait(graces.pipe_s):
        _signal_group(child, "SIGTERM")
        streams.wait(graces.pipe_s)
    _signal_group(child, "SIGKILL")
    streams.wait(graces.pipe_s)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(graces.terminate_s)


def _signal_group(child: subprocess.Popen[bytes], name: str) -> None:
    """Send a signal to every process of the child's session; nothing happens when all are gone."""
    with contextlib.suppress(OSError):
        if _POSIX:
            os.killpg(child.pid, getattr(signal, name))
        elif child.poll() is None:
            child.terminate() if name == "SIGTERM" else child.kill()


def _decode(data: bytes) -> str:
    """UTF-8 (a byte order mark is dropped), else the system's encoding, else UTF-8 with marks for
    what cannot be read."""
    for encoding in ("utf-8-sig", locale.getpreferredencoding(False)):
        with contextlib.suppress(UnicodeDecodeError, LookupError):
            return data.decode(encoding)
    return data.decode("utf-8", "replace")
