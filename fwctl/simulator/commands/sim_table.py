"""The simulator's own verbs: control of state, clock, faults and the call log."""

from __future__ import annotations

from fwctl.simulator.commands.table import OUTPUT, Command, Flag


def _control(path: str, summary: str, handler: str, *flags: Flag, least: int = 0, most: int = 0) -> Command:
    return Command(path, summary, handler, flags, least, most, control=True)


_MESSAGE = Flag("message", "string", "The text to show.")
_CODE = Flag("code", "string", "A gRPC code such as Unavailable.")
COMMANDS = (
    _control("sim status", "Prints the state's size, clock and profile.", "sim:status", OUTPUT),
    _control("sim reset", "Empties the state.", "sim:reset"),
    _control("sim profile", "Prints every switch with its answer.", "sim:profile", OUTPUT),
    _control(
        "sim clock-advance", "Moves simulated time on by a duration.", "sim:clock_advance", least=1, most=1
    ),
    _control(
        "sim traffic",
        "Records inference requests on a deployment now.",
        "sim:record_traffic",
        Flag("concurrency", "string", "Concurrent requests from now on; 0 ends the load."),
        Flag("rps", "string", "Requests per second from now on."),
        least=1,
        most=1,
    ),
    _control("sim fail", "Ends a deployment in FAILED.", "sim:fail", _MESSAGE, _CODE, least=1, most=1),
    _control("sim stall", "Keeps a deployment in its present operation.", "sim:stall", least=1, most=1),
    _control("sim unstall", "Lets a stalled deployment go on.", "sim:unstall", least=1, most=1),
    _control(
        "sim vanish", "Removes a deployment at once, behind everyone's back.", "sim:vanish", least=1, most=1
    ),
    _control(
        "sim set-field",
        "Changes a field of a deployment behind everyone's back: NAME FIELD JSON.",
        "sim:set_field",
        least=3,
        most=3,
    ),
    _control(
        "sim shape-publish",
        "Adds a version to a shape; FIELD=JSON arguments change its snapshot.",
        "sim:shape_publish",
        Flag("version-id", "string", "The ID of the version."),
        Flag("unvalidated", "bool", "Do not make it the latest validated one."),
        least=1,
        most=20,
    ),
    _control(
        "sim shape-retire",
        "Withdraws the validation of a shape version.",
        "sim:shape_retire",
        least=1,
        most=1,
    ),
    _control("sim quota-set", "Sets a quota and its maximum: NAME VALUE.", "sim:quota_set", least=2, most=2),
    _control("sim suspend", "Suspends the account.", "sim:suspend"),
    _control("sim resume", "Ends the suspension of the account.", "sim:resume"),
    _control("sim account-add", "Adds an account: ID.", "sim:account_add", least=1, most=1),
    _control(
        "sim key-add",
        "Adds an API key, kept as a digest only: KEY.",
        "sim:key_add",
        Flag("account", "string", "The account of the key."),
        Flag("role", "string", "admin, user or readonly."),
        least=1,
        most=1,
    ),
    _control(
        "sim reservation-add",
        "Adds reserved capacity: ID.",
        "sim:reservation_add",
        Flag("accelerator-type", "string", "The accelerator."),
        Flag("accelerator-count", "int32", "How many."),
        Flag("end", "string", "The end, RFC 3339."),
        least=1,
        most=1,
    ),
    _control(
        "faults add",
        "Adds a fault: KIND.",
        "sim:fault_add",
        Flag("match", "string", "Commands it applies to, as a pattern such as `deployment create*`."),
        Flag("nth", "int32", "The matching call it starts with, 1 by default."),
        Flag("times", "int32", "How many calls it hits, 1 by default; 0 means all from there on."),
        Flag("when", "string", "before or after the effect."),
        Flag("stream", "string", "stdout or stderr."),
        Flag("seconds", "string", "Real seconds of a hang or a delay."),
        Flag("bytes", "int32", "How much is printed or kept."),
        Flag("exit-code", "int32", "The exit code."),
        _MESSAGE,
        _CODE,
        least=1,
        most=12,
    ),
    _control("faults list", "Prints the faults and how often each was hit.", "sim:fault_list", OUTPUT),
    _control("faults clear", "Removes all faults.", "sim:fault_clear"),
    _control(
        "calls list",
        "Prints the recorded calls.",
        "sim:calls_list",
        Flag("match", "string", "Only commands that fit this pattern."),
        OUTPUT,
    ),
    _control(
        "calls count",
        "Prints the number of recorded calls.",
        "sim:calls_count",
        Flag("match", "string", "Only commands that fit this pattern."),
        Flag("mutating", "bool", "Only calls that change something."),
    ),
    _control("calls clear", "Empties the log of calls.", "sim:calls_clear"),
)
