"""Starts firectl: credentials, private files, deadline, masking, counting. Nothing else starts it."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fwctl.env import FIREWORKS_KEY, Env
from fwctl.errors import AuthError, FirectlFailedError, FirectlMissingError, FwctlError, UsageError
from fwctl.firectl.argv import FILE_PLACEHOLDER
from fwctl.firectl.locate import INSTALL_STEPS
from fwctl.firectl.outcome import Outcome, judge
from fwctl.firectl.private import PrivateFolder
from fwctl.process import Completed, Graces
from fwctl.process import run as run_process

# One public client sets it to keep update notices out of what it parses; no page documents it, and the
# parser does without.
_NO_NOTICE = "FIRECTL_NO_UPDATE_NOTICE"
DEFAULT_TIMEOUT_S = 120.0
_LONGEST_ARGUMENT_BYTES = 128 * 1024 - 1  # MAX_ARG_STRLEN of Linux


@dataclass(slots=True)
class Runner:
    """Runs firectl for one account. May be used from several threads at once.

    command: the words that start firectl (`locate`). auth: `env` hands the API key over in
    FIREWORKS_API_KEY; `file` writes it to an auth.ini of mode 0600 in a home folder that exists only
    while the child runs. interrupt: when set, running children are stopped. observe: called with every
    outcome.
    """

    command: Sequence[str]
    account: str
    env: Env
    timeout_s: float = DEFAULT_TIMEOUT_S
    auth: str = "env"
    profile: str | None = None
    interrupt: threading.Event | None = None
    observe: Callable[[Outcome], None] | None = None
    graces: Graces = field(default_factory=Graces)
    _private: PrivateFolder = field(init=False)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)
    _calls: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        if self.auth not in {"env", "file"}:
            raise UsageError(f"--auth is env or file, not {self.auth!r}")
        self.env.redactor.register(self.env.environ.get(FIREWORKS_KEY))
        self._private = PrivateFolder(self.env.environ)
        self._private.sweep()

    @property
    def calls(self) -> int:
        """How many children were started so far."""
        return self._calls

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Removes what this runner keeps on disk."""
        self._private.close()

    def call(
        self,
        argv: Sequence[str],
        *,
        file: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
    ) -> Outcome:
        """Runs firectl once and says how it ended; what firectl answers never raises.

        file: what `argv.file_content` gave; it replaces FILE_PLACEHOLDER in the words. Raises
        FirectlMissingError when the program cannot be started, AuthError for `--auth file` without a
        key, and FirectlFailedError for words that must not or cannot be handed to a process.
        """
        words = [*argv, *(["-p", self.profile] if self.profile else [])]
        self._register(file)
        self._check(words)
        deadline_s = self.timeout_s if timeout_s is None else timeout_s
        with self._prepared(file) as (environ, path):
            full = [*self.command, *(str(path) if word == FILE_PLACEHOLDER else word for word in words)]
            completed = self._start(full, environ, deadline_s)
        outcome = judge(completed, tuple(words), self.env.redactor, deadline_s)
        if self.observe is not None:
            self.observe(outcome)
        return outcome

    def _start(self, argv: list[str], environ: Mapping[str, str], deadline_s: float) -> Completed:
        with self._lock:
            self._calls += 1
        start: Callable[..., Completed] = self.env.start_firectl or run_process
        try:
            return start(
                argv,
                env=environ,
                deadline_s=deadline_s,
                cwd=self.env.cwd,
                interrupt=self.interrupt,
                graces=self.graces,
            )
        except (OSError, ValueError) as error:
            raise FirectlMissingError(
                f"cannot start {argv[0]}: {self.env.redactor.mask(str(error))}", next_steps=INSTALL_STEPS
            ) from error

    def _register(self, content: Any) -> None:
        """Everything in a private file is masked from now on."""
        if isinstance(content, Mapping):
            content = list(content.values())
        if isinstance(content, str):
            self.env.redactor.register(content)
        elif isinstance(content, list):
            for item in content:
                self._register(item)

    def _check(self, words: Sequence[str]) -> None:
        for word in words:
            if word.split("=")[0] == "--api-key" or self.env.redactor.holds(word):
                raise self._refusal("a secret would stand on its command line, where every user can read it")
            if "\0" in word:
                raise self._refusal("a value contains a NUL character")
            if len(word.encode("utf-8", "surrogatepass")) > _LONGEST_ARGUMENT_BYTES:
                raise self._refusal(f"a value is longer than {_LONGEST_ARGUMENT_BYTES} bytes")

    def _refusal(self, why: str) -> FwctlError:
        error = FirectlFailedError(
            f"firectl was not started: {why}", next_steps=("Correct the value in the spec.",)
        )
        error.error_class = "invalid"
        return error

    @contextlib.contextmanager
    def _prepared(self, file: Mapping[str, Any] | None) -> Iterator[tuple[dict[str, str], Path]]:
        """The child's environment and the path of its private file, both only for the block."""
        environ = {_NO_NOTICE: "1", **self.env.environ}
        contents: dict[str, str] = {}
        if file is not None:
            contents["config.json"] = json.dumps(file)
        if self.auth == "file":
            contents |= self._home(environ)
            environ.pop(FIREWORKS_KEY, None)
        if not contents:
            yield environ, Path()
            return
        with self._private.files(contents) as folder:
            if self.auth == "file":
                environ |= {"HOME": str(folder), "USERPROFILE": str(folder)}
            yield environ, folder / "config.json"

    def _home(self, environ: Mapping[str, str]) -> dict[str, str]:
        """A home with the key in auth.ini (no section header, keys as firectl writes them) and the
        user's own settings.ini, which names the gateway."""
        key = environ.get(FIREWORKS_KEY, "").strip()
        if not key or not key.isprintable():
            raise AuthError(
                f"--auth file needs the API key in {FIREWORKS_KEY}" + (", on one line" if key else ""),
                next_steps=(
                    f"export {FIREWORKS_KEY}=...",
                    "or sign in with `firectl signin` and use --auth env",
                ),
            )
        files = {".fireworks/auth.ini": f"api_key = {key}\naccount_id = {self.account}\n"}
        home = environ.get("HOME") or environ.get("USERPROFILE")
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if home:
                settings = Path(home) / ".fireworks" / "settings.ini"
                files[".fireworks/settings.ini"] = settings.read_text(encoding="utf-8")
        return files
