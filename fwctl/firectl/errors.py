"""What a failed firectl call means: text -> class -> next step and exit code.

One row of `RULES` is one kind of failure. Texts: public transcripts of firectl runs and the error
catalogue of docs.fireworks.ai, read 2026-11-30. firectl exits 1 for everything, so the text decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from fwctl.errors import AuthError, FirectlBlockedError, FirectlFailedError, FwctlError
from fwctl.firectl.text import last_line

PICKER = "create without using shape"  # an entry of the list that firectl offers in a terminal


class ErrorClass(StrEnum):
    AUTH = "auth"
    PERMISSION = "permission"
    QUOTA = "quota"
    CAPACITY = "capacity"
    SUSPENDED = "suspended"
    PRECONDITION = "precondition"
    RECENT_TRAFFIC = "recent_traffic"
    NOT_FOUND = "not_found"
    ALREADY_EXISTS = "already_exists"
    INVALID = "invalid"
    BLOCKED = "blocked"
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Rule:
    """A failure is of this kind when one of `patterns` occurs in its text (lower case, without
    resource names), or, if no row's pattern does, when its gRPC code is one of `codes`. A code of
    `DECISIVE` is believed before any pattern. `steps` holds one next step a line."""

    error_class: ErrorClass
    steps: str
    patterns: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()

    @property
    def next_steps(self) -> tuple[str, ...]:
        return tuple(self.steps.splitlines())


RULES: tuple[Rule, ...] = (
    Rule(
        ErrorClass.BLOCKED,
        "firectl refused to run the command itself; run it in your own terminal, then `fwctl plan`.",
        patterns=(r"^blocked:",),
    ),
    Rule(
        ErrorClass.SUSPENDED,
        "The account is suspended: check its balance and spending limit in the Fireworks console.",
        patterns=(r"\bis suspended\b", r"payment method is required", r"account.{0,40}suspended"),
    ),
    Rule(
        ErrorClass.AUTH,
        "Set FIREWORKS_API_KEY, or sign in with `firectl signin` or `firectl set-api-key KEY`.\n"
        "If the key is set, this firectl may not read it: try `--auth file`.\n"
        "`fwctl doctor` shows which credentials are used.",
        patterns=(
            r"not signed in",
            r"api key not valid",
            r"invalid api key",
            r"error getting id token",
            r"token (?:is |has )?expired",
        ),
        codes=("unauthenticated",),
    ),
    Rule(
        ErrorClass.PERMISSION,
        "The key's role or the account is wrong for this call: check `account:` in the spec and "
        "`firectl whoami`.",
        patterns=(r"permission ?denied", r"admin key required", r"only available to enterprise"),
        codes=("permissiondenied",),
    ),
    Rule(
        ErrorClass.RECENT_TRAFFIC,
        "The deployment served requests in the last hour: wait an hour, or name it with "
        "`--allow-traffic-loss NAME`.",
        patterns=(r"inference requests in the last hour", r"ignore[_-]checks"),
    ),
    Rule(
        ErrorClass.QUOTA,
        "Accelerators times max replicas of every deployment count, running or not; see `firectl quota "
        "list`.\n"
        "Lower replicas.max, delete a deployment, or ask Fireworks for more.",
        patterns=(r"\bquota\b", r"quota_exceeded"),
    ),
    Rule(
        ErrorClass.UNAVAILABLE,
        "The platform limits or drops requests at the moment: run the command again in a minute.",
        patterns=(
            r"rate limit",
            r"too many requests",
            r"connection (?:refused|reset|error)",
            r"no such host",
            r"i/o timeout",
            r"tls handshake",
            r"unexpected eof",
            r"network is unreachable",
            r"transport is closing",
        ),
        codes=("unavailable", "aborted"),
    ),
    Rule(
        ErrorClass.CAPACITY,
        "No free accelerators there at the moment: pin another region (`region:`), another accelerator "
        "or shape, or try again later.",
        patterns=(
            r"(?:insufficient|no available|not enough|no free|out of) (?:gpus?|accelerators?|resources)",
            r"\bcapacity\b",
        ),
        codes=("resourceexhausted",),
    ),
    Rule(
        ErrorClass.ALREADY_EXISTS,
        "The ID is taken. A deleted deployment keeps its ID until its purge time (7 days): `fwctl undo "
        "NAME`, another `id:`, or `lifecycle.reuse_deleted_id: hard_delete`.",
        patterns=(r"already exists",),
        codes=("alreadyexists",),
    ),
    Rule(
        ErrorClass.INVALID,
        "Choose a deployment shape in the spec: `fwctl shapes MODEL` lists those that fit. firectl "
        "asks for one only in a terminal.",
        patterns=(PICKER, r"select a deployment shape", r"accelerator_type must be"),
    ),
    Rule(
        ErrorClass.INVALID,
        "The installed firectl does not know this command or flag: `fwctl doctor` shows its version and "
        "what it lacks.",
        patterns=(r"unknown (?:shorthand )?flag", r"unknown command"),
    ),
    Rule(
        ErrorClass.NOT_FOUND,
        "Check the name and the account; `fwctl status` lists what exists.",
        patterns=(r"\bnot found\b", r"does not exist"),
        codes=("notfound",),
    ),
    Rule(
        ErrorClass.INVALID,
        "The platform refused a value: correct the field in the spec, then `fwctl validate`.",
        patterns=(
            r"unknown field",
            r"invalid value for enum",
            r"invalid deployment",
            r"invalid argument",
            r"addons cannot be enabled with quantized",
        ),
        codes=("invalidargument", "outofrange", "unimplemented"),
    ),
    Rule(
        ErrorClass.PRECONDITION,
        "The object is not in a state that allows this: `fwctl status` shows it; wait or correct it first.",
        patterns=(r"failed ?precondition",),
        codes=("failedprecondition",),
    ),
    Rule(
        ErrorClass.TIMEOUT,
        "The call may have gone through: `fwctl plan` shows what exists now.\n"
        "Give firectl more time with --firectl-timeout.",
        patterns=(r"deadline exceeded",),
        codes=("deadlineexceeded",),
    ),
)
UNKNOWN = Rule(
    ErrorClass.UNKNOWN,
    "`fwctl plan` shows what exists now; `-v` shows the whole output of firectl.",
    codes=("internal", "unknown", "cancelled", "dataloss"),
)
DECISIVE = frozenset({"unauthenticated", "alreadyexists", "notfound"})
TIMEOUT_STEPS = next(rule.next_steps for rule in RULES if rule.error_class is ErrorClass.TIMEOUT)

_FAILED = re.compile(
    r"^(?:\d{4}/\d\d/\d\d \d\d:\d\d:\d\d )?(?:Error: )?Failed to execute: ?(?P<text>.*)$", re.MULTILINE
)
_BLOCKED = re.compile(r"^(?:\d{4}/\d\d/\d\d \d\d:\d\d:\d\d )?(?P<text>BLOCKED:.*)$", re.MULTILINE)
_RPC = re.compile(r"rpc error: code = (?P<code>\w+) desc = (?P<text>.*)", re.DOTALL)
_NAME = re.compile(r"accounts/\S+")  # a name may hold any word, so none is looked for in it
_BARE_CODE = re.compile(r"^(?P<code>[A-Z][A-Za-z]+): ")
_BY_HAND = re.compile(r"run this command manually in your terminal:?\s*\n+(?P<command>[^\n]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Failure:
    """A classified failure. `line` is firectl's own line, `detail` the server's part of it."""

    error_class: ErrorClass
    line: str
    detail: str
    next_steps: tuple[str, ...]
    grpc_code: str | None = None


def failure_line(stdout: str, stderr: str, *, succeeded: bool = False) -> str | None:
    """The text behind the last `Failed to execute:` (or `BLOCKED:`) line of either stream.

    After an exit code of 0 (`succeeded`) such a line on stdout counts only as the very last one: a
    record there may quote a description of any number of lines.
    """
    for stream in (stderr, last_line(stdout) if succeeded else stdout):
        if "Failed to execute:" not in stream and "BLOCKED:" not in stream:
            continue  # much faster than the patterns on a list of megabytes
        found = list(_FAILED.finditer(stream)) or list(_BLOCKED.finditer(stream))
        if found:
            return found[-1]["text"].strip()
    return None


def classify(line: str, output: str = "") -> Failure:
    """What a failure line means. `output` is everything firectl printed, for hints that stand apart
    from the line (the command of a BLOCKED refusal, the shape picker)."""
    rpc = _RPC.search(line)
    bare = _BARE_CODE.match(line)
    code = rpc["code"] if rpc else bare["code"] if bare else None
    detail = rpc["text"].strip() if rpc else line
    rule = _rule_of(line + (f"\n{PICKER}" if PICKER in output.lower() else ""), code)
    steps = rule.next_steps
    by_hand = _BY_HAND.search(output)
    if rule.error_class is ErrorClass.BLOCKED and by_hand:
        steps = (by_hand["command"].strip(), *steps)
    return Failure(rule.error_class, line, detail, steps, code)


def _rule_of(text: str, grpc_code: str | None) -> Rule:
    code = (grpc_code or "").lower()
    by_code = next((rule for rule in (*RULES, UNKNOWN) if code in rule.codes), UNKNOWN)
    words = _NAME.sub("", text.lower())
    by_text = next((rule for rule in RULES if any(re.search(p, words) for p in rule.patterns)), by_code)
    return by_code if code in DECISIVE and by_text.error_class is not ErrorClass.SUSPENDED else by_text


_EXCEPTIONS: dict[ErrorClass, type[FwctlError]] = {
    ErrorClass.AUTH: AuthError,
    ErrorClass.PERMISSION: AuthError,
    ErrorClass.SUSPENDED: AuthError,
    ErrorClass.BLOCKED: FirectlBlockedError,
}


def to_error(
    error_class: ErrorClass, message: str, next_steps: tuple[str, ...], deployment: str | None = None
) -> FwctlError:
    """The exception of a class: it decides the exit code (5, 6 or 1) and the code in JSON."""
    error = _EXCEPTIONS.get(error_class, FirectlFailedError)(
        message, deployment=deployment, next_steps=next_steps
    )
    error.error_class = error_class.value
    return error
