"""Words of a firectl call -> what it does to which deployment, and the mistakes in it. Pure.

Command tree and flags: firectl command pages, the older verb-noun form and the 2023 form
(docs.fireworks.ai, tools-sdks/firectl, read 2026-11-30).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fwctl.catalog.field import Field, Kind
from fwctl.catalog.fields import PLATFORM_FIELDS
from fwctl.importing.words import Word
from fwctl.spec.closest import closest

VERBS = frozenset(
    {
        "create", "get", "list", "update", "scale", "delete", "rm", "remove", "undelete", "tag", "match",
        "prepare", "download", "upload", "export", "import", "load-lora", "unload-lora", "export-metrics",
        "list-invoices", "get-usage", "set", "clear", "unset",
    }
)  # fmt: skip
NOUNS = frozenset(
    {
        "deployment", "deployment-shape", "ds", "deployment-shape-version", "deployment-metrics",
        "deployed-model", "model", "account", "quota", "billing", "secret", "api-key", "user",
        "reservation", "router", "policy", "dataset", "batch-inference-job", "evaluator",
        "evaluator-revision", "supervised-fine-tuning-job", "sftj", "reinforcement-fine-tuning-job",
        "rftj", "dpo-job", "identity-provider", "credit-redemption", "support", "training-shape", "ts",
        "rlor-trainer-job", "rlor", "billing-metrics", "peft-addon", "fine-tuning-job",
    }
)  # fmt: skip
TOP = frozenset(
    {
        "signin", "set-api-key", "whoami", "version", "upgrade", "load-lora", "unload-lora", "deploy",
        "undeploy", "prepare-model", "token", "session", "help",
    }
)  # fmt: skip
GLOBAL_VALUES = frozenset({"-a", "--account-id", "--api-key", "-p", "--profile", "-s", "-o", "--output"})
_VALUES = frozenset({"--wait-timeout", "--file", "--expire-time", "--multi-region", "--deployment"})
_SWITCHES = frozenset(
    {
        "--wait", "--dry-run", "--validate-only", "--ignore-checks", "--hard", "--enable-mtp", "--public",
        "--replace-merged-addon", "-h", "--help", "--no-paginate",
    }
)  # fmt: skip
# Flags that people write although firectl has none of that name -> the one that was meant.
INVENTED = {
    "--replicas": "--replica-count",
    "--replica": "--replica-count",
    "--model": "<model>",
    "--base-model": "<model>",
    "--gpu-type": "--accelerator-type",
    "--gpu": "--accelerator-type",
    "--accelerator": "--accelerator-type",
    "--gpu-count": "--accelerator-count",
    "--gpus": "--accelerator-count",
    "--num-gpus": "--accelerator-count",
    "--shape": "--deployment-shape",
    "--min-replicas": "--min-replica-count",
    "--max-replicas": "--max-replica-count",
    "--name": "--deployment-id",
    "--id": "--deployment-id",
    "--dtype": "--precision",
    "--quantization": "--precision",
    "--context-length": "--max-context-length",
    "--enable-lora": "--enable-addons",
}
GONE = {
    "--enable-mtp": "was removed in 2026; a shape decides about it",
    "--expire-time": "was removed in 2026; deployments no longer expire",
    "--enable-hot-reload-latest-addon": "was removed; `addons: {mode: live_merge}` with the LoRA as model, "
    "or --enable-addons with load-lora, take its place",
    "--max-peft-batch-size": "was removed in 2024",
    "--model-id": "was removed in 2024",
}


@dataclass(slots=True)
class Call:
    """One parsed call. verb: `deployment create`, or the words of a command without a deployment.
    flags: (row or None, flag, value) in order; the value of a switch is None. mistakes: (code, message)."""

    verb: str
    positionals: list[Word] = field(default_factory=list)
    flags: list[tuple[str, Word | None]] = field(default_factory=list)
    mistakes: list[tuple[str, str]] = field(default_factory=list)
    account: Word | None = None

    def value(self, flag: str) -> Word | None:
        return next((value for name, value in self.flags if name == flag and value is not None), None)

    def has(self, flag: str) -> bool:
        return any(name == flag for name, _ in self.flags)


ROWS: dict[str, Field] = {row.create: row for row in PLATFORM_FIELDS if row.create and row.create[0] == "-"}
ROWS |= {row.update: row for row in PLATFORM_FIELDS if row.update}
_SHORT = {"-c": "--cluster-id"}
_KNOWN = (
    *ROWS,
    "--replica-count",
    *sorted(_VALUES),
    *sorted(_SWITCHES),
    "--key",
    "--value",
    "--multi-region",
)


def parse(words: Sequence[Word]) -> Call | None:
    """The call, None when these words are prose or nothing that firectl ever had."""
    call = Call("")
    bare: list[Word] = []
    _read(call, bare, list(words))
    if bare and not bare[0].text.startswith("-"):
        call.verb, call.positionals = _verb(bare)
    elif any(item.array for item in words):
        call.verb = "computed"
    if call.verb == "deployment create" and _is_prose(call):
        return None
    return call if call.verb else None


def _is_prose(call: Call) -> bool:
    """True for a sentence that begins like a command: several bare words and no flag."""
    return len(call.positionals) > 2 and not call.flags and call.account is None


def is_usage(words: Sequence[Word]) -> bool:
    """True for a line of help such as `firectl deployment create MODEL [flags]`."""
    return any(item.text.startswith(("[-", "[flags", "[FLAGS", "[options", "[OPTIONS")) for item in words)


def _read(call: Call, bare: list[Word], words: list[Word]) -> None:
    """Flags to `call.flags`, the rest to `bare`."""
    while words:
        item = words.pop(0)
        if item.array:
            call.mistakes.append(("array", f"what {item.text} holds is known only when the script runs"))
        elif not item.text.startswith("-") or item.text == "-":
            bare.append(item)
        else:
            _flag(call, item, words, verb=bare[:2])


def _flag(call: Call, item: Word, words: list[Word], verb: list[Word]) -> None:
    name, equals, text = item.text.partition("=")
    if name in ("--", "-"):
        return
    name = _SHORT.get(name, name)
    given = Word(text, item.made) if equals else None
    name = _meant(call, name, verb)
    if given is None and _takes_value(name) and words and not _is_flag(words[0]):
        given = words.pop(0)
    if given is None and _takes_value(name):
        call.mistakes.append(("no_value", f"{name} has no value"))
    elif name in ("-a", "--account-id"):
        call.account = given
    elif name not in GLOBAL_VALUES:
        call.flags.append((name, given))


def _is_flag(item: Word) -> bool:
    return item.text.startswith("--") or item.array


def _takes_value(name: str) -> bool:
    row = ROWS.get(name)
    if row is not None:
        return row.kind is not Kind.BOOL and name not in ("--enable-addons", "--disable-speculative-decoding")
    if name in GLOBAL_VALUES or name in _VALUES or name in ("--replica-count", "--key", "--value", "<model>"):
        return True
    return name not in _SWITCHES and name not in GONE


def _meant(call: Call, name: str, verb: list[Word]) -> str:
    """The flag itself, or the one that was meant, with a remark."""
    words = {item.text for item in verb}
    of_deployment = bool(words & {"deployment", "deployments", "deploy", "scale", "load-lora"})
    if not of_deployment or name in GLOBAL_VALUES or name in ROWS or (name in _KNOWN and name not in GONE):
        return name
    if name in GONE:
        call.mistakes.append(("removed_flag", f"{name} {GONE[name]}"))
        return name
    meant = INVENTED.get(name) or closest(name, [flag for flag in _KNOWN if flag.startswith("--")])
    if meant == "--replica-count" and "scale" not in words:
        call.mistakes.append(
            ("unknown_flag", f"firectl has no {name}; --min-replica-count, --max-replica-count?")
        )
        return name
    hint = (
        "the model is the first argument" if meant == "<model>" else f"did you mean {meant}?" if meant else ""
    )
    call.mistakes.append(("unknown_flag", f"firectl has no {name}" + (f"; {hint}" if hint else "")))
    return meant if meant and name in INVENTED else name


def _verb(bare: list[Word]) -> tuple[str, list[Word]]:
    first = bare[0].text
    second = bare[1].text if len(bare) > 1 else ""
    if first in TOP:
        return first, bare[1:]
    for verb, noun in ((first, second), (second, first)):
        name = _noun(noun)
        if verb in VERBS and name is not None:
            if name == "deployment" and verb == "tag":
                word = bare[2].text if len(bare) > 2 else ""
                return f"deployment tag {word}", bare[3:]
            return f"{name} {verb}", bare[2:]
    if first == "scale":
        return "deployment scale", bare[1:]
    if _noun(first) is not None or first in VERBS:
        return f"? {first} {second}".strip(), bare[2:]
    if (second in VERBS and closest(first, NOUNS)) or (_noun(second) and closest(first, VERBS)):
        return f"? {first} {second}", bare[2:]
    return (f"? {first}", bare[1:]) if first in _WRONG or bare[0].made else ("", [])


_WRONG = {
    "login": "signin",
    "auth": "signin",
    "logout": "signin",
    "signup": "signin",
    "status": "deployment get",
}


def _noun(text: str) -> str | None:
    if text in NOUNS:
        return text
    single = text[:-1] if text.endswith("s") else ""
    return single if single in NOUNS else None


def unknown(verb: str) -> str:
    """What to say about a command that firectl does not have."""
    words = verb.removeprefix("? ").split()
    if words and words[0] in _WRONG:
        return f"firectl has no `{words[0]}`; did you mean `firectl {_WRONG[words[0]]}`?"
    wrong = next((word for word in words if word not in VERBS and _noun(word) is None), "")
    near = closest(wrong, [*sorted(VERBS), *sorted(TOP), *sorted(NOUNS)])
    hint = f"; did you mean {near}?" if near else ""
    return f"`firectl {' '.join(words)}` is no command that firectl has{hint}"
