"""Calls about a deployment that an earlier call has created: merged into its entry."""

from __future__ import annotations

import re

from fwctl.importing.grammar import Call
from fwctl.importing.model import Entry
from fwctl.importing.words import Word
from fwctl.importing.work import Work, key_of, take_flags, target_of


def _named(work: Work, call: Call, what: str) -> tuple[Entry | None, Word | None]:
    """The entry that a call is about; a remark when there is none."""
    target = call.value("--deployment") if what.endswith("load-lora") else target_of(call)
    if target is None or target.text == "...":
        work.say("no_target", f"`{what}` names no deployment")
        return None, None
    if _is_model(target):
        message = f"{target.text} is a model, and `{what}` wants a deployment"
        work.say("model_as_deployment", f"{message}; `firectl deployment list` has the IDs")
        return None, target
    entry = work.by_target.get(key_of(target.text))
    if entry is None and key_of(target.text) in work.models:
        other = work.models[key_of(target.text)].name
        work.say(
            "model_as_deployment",
            f"{target.text} is the model of {other}, created without --deployment-id: its ID is random",
        )
    elif entry is None and target.made:
        work.say(
            "placeholder",
            f"`{what}` names the placeholder {' '.join(target.made)}: no deployment is known by it",
        )
    elif entry is None:
        work.say("unknown_deployment", f"`{what}` names {target.text}, which no create of these files makes")
    return entry, target


def _is_model(target: Word) -> bool:
    name = re.sub(r"\$\{env:(\w+)\}", r"\1", target.text)
    return "/models/" in name or bool(re.search(r"(?:^|_)MODEL(?:_ID|_NAME)?$", name))


def update(work: Work, call: Call) -> None:
    entry, _ = _named(work, call, call.verb)
    if entry is None:
        scratch = Entry("")
        take_flags(work, call, scratch)
        if scratch.values:
            wanted = ", ".join(f"{path}: {value}" for path, value in scratch.values.items())
            work.say("not_merged", f"in a spec this is `{wanted}` of that deployment")
        return
    entry.comments.append(f"changed by {work.file}:{work.line}")
    take_flags(work, call, entry)


def scale(work: Work, call: Call) -> None:
    entry, _ = _named(work, call, call.verb)
    given = call.value("--replica-count")
    if given is None or not re.fullmatch(r"[0-9]{1,4}", given.text):
        message = (
            "the replica count is no number here" if given else "`deployment scale` has no --replica-count"
        )
        work.say("bad_value" if given else "no_value", message)
        return
    count = int(given.text)
    if entry is None:
        work.say(
            "not_merged", f"in a spec this is `replicas: {{min: {count}, max: {count}}}` of that deployment"
        )
        return
    entry.values |= {"replicas.min": count, "replicas.max": count}
    work.say("scaled", f"scale sets a fixed count: min and max are {count}", entry)


def load_lora(work: Work, call: Call) -> None:
    model = target_of(call)
    entry, _ = _named(work, call, "load-lora")
    if model is None or entry is None:
        if model is not None:
            work.say("not_merged", f"in a spec this is `addons: {{mode: multi_lora, load: [{model.text}]}}`")
        return
    if model.made:
        work.say(
            "placeholder", f"the LoRA {' '.join(model.made)} is a placeholder: put the real name in", entry
        )
    work.mention(model, entry)
    entry.values["addons.mode"] = "multi_lora"
    entry.values["addons.load"] = sorted({*entry.values.get("addons.load", ()), model.text})


def unload_lora(work: Work, call: Call) -> None:
    model = target_of(call)
    entry, _ = _named(work, call, "unload-lora")
    if model is None or entry is None:
        return
    left = [name for name in entry.values.get("addons.load", ()) if key_of(name) != key_of(model.text)]
    if len(left) == len(entry.values.get("addons.load", ())):
        work.say("not_loaded", f"{model.text} was not loaded on {entry.name} by these files", entry)
    elif left:
        entry.values["addons.load"] = left
    else:
        del entry.values["addons.load"]


def tag_set(work: Work, call: Call) -> None:
    entry, _ = _named(work, call, call.verb)
    key, value = call.value("--key"), call.value("--value")
    pairs = {key.text: value.text} if key and value else {}
    pairs |= dict(item.text.split("=", 1) for item in call.positionals[1:] if "=" in item.text)
    if entry is not None:
        entry.values["tags"] = {**entry.values.get("tags", {}), **pairs}
    elif pairs:
        wanted = ", ".join(f"{name}: {text}" for name, text in pairs.items())
        work.say("not_merged", f"in a spec this is `tags: {{{wanted}}}` of that deployment")


def _means_model(work: Work, target: Word) -> bool:
    key = key_of(target.text)
    return _is_model(target) or (key in work.models and key not in work.by_target)


def looks_at(work: Work, call: Call) -> None:
    verb = call.verb.partition(" ")[2]
    target = target_of(call)
    named = verb in ("get", "delete", "rm", "remove", "undelete") and target is not None
    if named and target is not None and _means_model(work, target):
        _named(work, call, call.verb)
        return
    if verb in ("delete", "rm", "remove"):
        work.say(
            "deletes",
            "`deployment delete`: a spec says what is to run; leave the entry out, or `fwctl destroy`",
            work.by_target.get(key_of(target.text)) if target is not None else None,
        )
    elif verb == "undelete":
        work.say("undeletes", "`deployment undelete`: `fwctl undo NAME` does this")
    else:
        work.say(
            "reads_only", f"`firectl {call.verb.strip()}` only reads; `fwctl status` and `fwctl plan` show it"
        )
