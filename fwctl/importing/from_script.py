"""firectl calls of scripts -> a draft: each create is an entry, later calls change the one they name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from fwctl.importing import later
from fwctl.importing.grammar import Call, is_usage, parse, unknown
from fwctl.importing.model import Draft, Entry
from fwctl.importing.sources import Beside, Found, read
from fwctl.importing.words import Word, is_open, reference
from fwctl.importing.work import Work, key_of, take_flags, target_of

_ACCOUNT = "FIREWORKS_ACCOUNT_ID"
_MODEL_NAME = re.compile(r"accounts/[^/]+/models/[^/]+")
_MENTION = (
    "nothing here calls firectl in a form that is understood; expected e.g. `firectl deployment create MODEL`"
)


def draft_of(files: Iterable[tuple[str, str]], account: str | None, stack: str | None) -> Draft:
    """Entries and remarks of these (name, text) files. account, stack: as given on the command line."""
    draft = Draft("", stack or "default")
    work = Work(draft, account)
    names = []
    for file, text in files:
        names.append(file)
        before = len(draft.remarks) + len(draft.entries)
        source = read(file, text)
        work.known = source.known
        for found in source.items:
            work.file, work.line = found.file, found.line
            if isinstance(found, Beside):
                work.say(found.code, found.message)
            else:
                _take(work, found)
        if len(draft.remarks) + len(draft.entries) == before:
            work.file, work.line = file, 1
            work.say("nothing_found", _MENTION)
    draft.comments.append(
        f"Made from the firectl lines of {', '.join(names)}; read the comments before applying."
    )
    draft.account = work.account or reference(_ACCOUNT)
    if work.account is None:
        draft.comments.append(f"No line names the account: set {_ACCOUNT}, or write the account here.")
    return draft


def _take(work: Work, found: Found) -> None:
    call = parse(found.words)
    if is_usage(found.words):
        work.say("usage_line", "a line of help that shows how firectl is called, not a call")
    elif call is not None and found.commented:
        work.say(
            "commented_out", f"`firectl {_shown(call)}` stands in a comment: nothing is imported from it"
        )
    elif call is not None and found.printed:
        work.say("printed", f"`firectl {_shown(call)}` is text that is shown: nothing is imported from it")
    elif call is not None:
        if found.retyped:
            work.say("retyped", "a text program changed quotes, dashes or blanks of this line; read as meant")
        _carry_over(work, call)


def _carry_over(work: Work, call: Call) -> None:
    for code, message in call.mistakes if call.verb in _CHECKED else ():
        work.say(code, message)
    handler = _HANDLERS.get(call.verb)
    if call.verb == "computed":
        work.say("computed", "which firectl command this is exists only when the program runs")
    elif call.verb in _GUESSED:
        work.say("unknown_command", _GUESSED[call.verb])
    elif handler is not None:
        handler(work, call)
    elif call.verb.startswith("?"):
        work.say("unknown_command", unknown(call.verb))
    elif call.verb.startswith("deployment "):
        later.looks_at(work, call)
    else:
        _other(work, call)


_CHECKED = (
    "deployment update",
    "deployment scale",
    "deployment tag set",
    *("load-lora", "model load-lora", "unload-lora", "model unload-lora"),
)


def _shown(call: Call) -> str:
    return call.verb.removeprefix("? ")


_GUESSED = {
    "deployed-model create": "firectl has no `deployed-model create`; `firectl load-lora MODEL` with "
    "--deployment ID loads a LoRA, in a spec `addons: {mode: multi_lora, load: [MODEL]}`"
}


def _other(work: Work, call: Call) -> None:
    work.say("not_a_deployment", f"`firectl {_shown(call)}` says nothing about what a deployment is")


def _create(work: Work, call: Call) -> None:
    model = target_of(call) or call.value("<model>")
    if model is None or model.text in ("", "..."):
        work.say("no_model", "`deployment create` names no model, so there is nothing to write down")
        return
    if model.computed:
        work.say(
            "computed", f"the model {model.text} exists only when the script runs: nothing is written down"
        )
        return
    _account(work, call, model)
    entry = _new_entry(work, call, model)
    entry.comments.append(f"from {work.file}:{work.line}")
    work.mention(model, entry)
    _around(work, call, entry)
    for code, message in call.mistakes:
        work.say(code, message, entry)
    entry.values["model"] = model.text
    if model.made:
        names = " ".join(model.made)
        work.say("placeholder", f"the model holds the placeholder {names}: put the real name in", entry)
    if "/" in model.text and not is_open(model.text) and not _MODEL_NAME.fullmatch(model.text):
        _short_model(work, entry, model.text)
    take_flags(work, call, entry)
    _replicas(entry)
    _shapeless(work, call, entry)
    work.draft.entries.append(entry)


def _around(work: Work, call: Call, entry: Entry) -> None:
    """What stands on the line beside the model and its fields."""
    for extra in call.positionals[1:]:
        if extra.text in ("...", "\u2026"):
            work.say("left_open", "the line ends in `...`: what else it says is not known", entry)
        else:
            work.say("extra_word", f"{extra.text[:60]}: `deployment create` takes one model", entry)
    trial = next((flag for flag in ("--dry-run", "--validate-only") if call.has(flag)), None)
    if trial is not None:
        work.say("trial", f"{trial}: this line creates nothing; it is written down all the same", entry)


def _short_model(work: Work, entry: Entry, text: str) -> None:
    parts = text.split("/")
    if len(parts) == 2:
        entry.values["model"] = f"accounts/{parts[0]}/models/{parts[1]}"
        work.say("old_form", f"{text} is an old short form; written as {entry.values['model']}", entry)
    else:
        work.say("bad_value", f"{text} is no model name; expected accounts/ACCOUNT/models/MODEL", entry)


def _account(work: Work, call: Call, model: Word) -> None:
    named = call.account
    if named is not None and not named.computed:
        if work.account is None:
            work.account = named.text
            work.mention(named)
        elif _filled(work, named.text) != _filled(work, work.account):
            work.say("other_account", f"-a {named.text} differs from {work.account}; one spec is one account")
        if named.made:
            work.say("placeholder", f"-a {' '.join(named.made)} is a placeholder: put the account in")
        return
    owner = re.match(r"accounts/([^/]+)/models/", model.text)
    if work.account is None and owner and owner[1] != "fireworks":
        work.account = owner[1]


def _filled(work: Work, text: str) -> str:
    return work.resolved(Word(text)) or text


def _new_entry(work: Work, call: Call, model: Word) -> Entry:
    given = call.value("--deployment-id")
    wanted = given if given is not None and not given.computed else None
    source = wanted.text if wanted else model.text
    name = _slug(re.sub(r"\$\{env:(\w+)\}", r"\1", source.rsplit("/", 1)[-1]))
    taken = {entry.name for entry in work.draft.entries}
    unique = next(n for n in (name, *(f"{name}-{i}" for i in range(2, len(taken) + 3))) if n not in taken)
    entry = Entry(unique)
    if wanted is None:
        work.say("no_id", f"no --deployment-id: firectl draws a random one, fwctl uses {unique}", entry)
        work.models[key_of(model.text)] = entry
    else:
        work.by_target[key_of(wanted.text)] = entry
        if wanted.text != unique:
            entry.values["id"] = wanted.text
            work.mention(wanted, entry)
    return entry


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:58].strip("-") or "deployment"


def _replicas(entry: Entry) -> None:
    """What firectl takes when the flags are absent: min 0, max the larger of min and 1."""
    said = " ".join(entry.comments)
    if "replicas.min" not in entry.values and "--min-replica-count" not in said:
        entry.values["replicas.min"] = 0
        entry.comments.append("replicas.min: 0 is what firectl takes without --min-replica-count")
    if "replicas.max" not in entry.values and "--max-replica-count" not in said:
        entry.values["replicas.max"] = max(entry.values.get("replicas.min", 0), 1)
        entry.comments.append("replicas.max: the larger of 1 and min is what firectl takes")


def _shapeless(work: Work, call: Call, entry: Entry) -> None:
    if "shape" in entry.values or any(n == "--deployment-shape" for n, _ in call.flags):
        return
    if call.has("--accept-shapeless-risk"):
        entry.values |= {"shape": "none", "accept_shapeless_risk": True}
        return
    model = entry.values["model"]
    work.say(
        "no_shape", f"no --deployment-shape: `fwctl shapes {model}` lists them; write one as `shape:`", entry
    )


def _deploy(work: Work, call: Call) -> None:
    """The form of 2023: a model is put on a default deployment."""
    work.say("old_form", "`firectl deploy MODEL` is gone; read as `firectl deployment create MODEL`")
    _create(work, call)


def _undeploy(work: Work, _call: Call) -> None:
    work.say(
        "old_form", "`firectl undeploy` is gone; leave the entry out of the spec, or `fwctl destroy NAME`"
    )


_HANDLERS: Mapping[str, Callable[[Work, Call], None]] = {
    "deployment create": _create,
    "deployment update": later.update,
    "deployment scale": later.scale,
    "deployment tag set": later.tag_set,
    "load-lora": later.load_lora,
    "model load-lora": later.load_lora,
    "unload-lora": later.unload_lora,
    "model unload-lora": later.unload_lora,
    "deploy": _deploy,
    "undeploy": _undeploy,
}
