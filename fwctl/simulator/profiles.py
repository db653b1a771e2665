"""Switches for everything about firectl that public material leaves open, and named sets of answers.

`FIRECTL_SIM_PROFILE=latest` picks a set; `latest,json_list=object` changes single answers. Each row
names the question, the possible answers, and the answer of each set in the order of `NAMES`.
docs/simulator.md prints this table.
"""

from __future__ import annotations

from typing import NamedTuple

NAMES = ("2025", "2026-07", "latest", "hostile")


class Switch(NamedTuple):
    """question: what is not known. answers: the values it may take; () means any text."""

    question: str
    answers: tuple[str, ...]
    by_profile: tuple[str, str, str, str]


def _same(question: str, answers: tuple[str, ...], usual: str, hostile: str) -> Switch:
    return Switch(question, answers, (usual, usual, usual, hostile))


_STREAMS = ("stderr", "stdout")
_YES_NO = ("yes", "no")

SWITCHES: dict[str, Switch] = {
    # The build itself. 1.7.25 stands for the captured help page of 2026-07-13: it has no
    # --preemptible, which came with 1.7.26.
    "version": Switch("which build", (), ("1.7.16", "1.7.25", "1.8.9", "1.8.9")),
    "era": Switch("which flag pages", ("2025", "2026-07", "latest"), ("2025", "2026-07", "latest", "latest")),
    "verb_noun": _same("old `create deployment` form", ("warn", "refuse"), "warn", "warn"),
    "deprecation_stream": _same("stream of the deprecation warning", _STREAMS, "stderr", "stdout"),
    "hint_stream": _same("stream of the shape hint block", _STREAMS, "stdout", "stderr"),
    "shape_hint": _same("hint block on a create without a shape", _YES_NO, "yes", "yes"),
    "update_notice": _same("update notice", ("none", "stderr", "stdout"), "none", "stdout"),
    "update_notice_env": _same("FIRECTL_NO_UPDATE_NOTICE silences it", _YES_NO, "yes", "no"),
    "json_list": _same("`-o json` of a list", ("array", "object"), "array", "object"),
    "json_case": _same("keys of `-o json`", ("snake", "camel"), "snake", "camel"),
    "json_zeros": _same("zero values in `-o json`", ("dropped", "present"), "dropped", "present"),
    "json_int64": _same("64-bit numbers in `-o json`", ("string", "number"), "string", "number"),
    "json_empty_list": _same("`-o json` of an empty list", ("brackets", "nothing"), "brackets", "nothing"),
    "output_flag": _same("meaning of `-o flag`", ("flags", "refuse"), "flags", "refuse"),
    "text_zeros": _same("zero values in text records", ("dropped", "present"), "present", "dropped"),
    "version_output": _same("`version` prints", ("bare", "prefixed"), "bare", "prefixed"),
    "whoami_output": _same("`whoami` prints", ("labels", "line"), "labels", "line"),
    "error_texts": _same("unknown error texts", ("a", "b"), "a", "b"),
    "error_wrapper": _same("calls other than create wrap errors", _YES_NO, "yes", "no"),
    "usage_exit_code": _same("exit code of a flag error", ("1", "2"), "1", "2"),
    "unknown_verb": _same("unknown verb after a known noun", ("error", "help"), "error", "help"),
    "wait_output": _same("`--wait` prints", ("silent", "progress"), "silent", "progress"),
    "delete_prompt": _same("delete asks on a terminal", ("never", "tty"), "never", "tty"),
    "api_key_echo": _same("error messages repeat --api-key", _YES_NO, "no", "yes"),
    "env_api_key": Switch("FIREWORKS_API_KEY is read", _YES_NO, ("no", "no", "yes", "yes")),
    "guard_env": _same("variables that make the guard refuse", (), "", ""),
    "skip_shape_validation_flag": _same("--skip-shape-validation exists", _YES_NO, "no", "yes"),
    "list_show_deleted": _same("`deployment list --show-deleted` exists", _YES_NO, "yes", "yes"),
    "update_file": _same("`deployment update --file` exists", _YES_NO, "yes", "no"),
    # Server habits
    "shapeless": Switch(
        "create without a shape", ("allow", "refuse"), ("allow", "allow", "refuse", "refuse")
    ),
    "accelerator_default": Switch(
        "accelerator of a create without shape and type",
        ("a100", "none"),
        ("a100", "none", "none", "none"),
    ),
    "pins_with_shape": Switch(
        "accelerator, count or precision beside a shape",
        ("accept", "equal", "refuse"),
        ("accept", "equal", "refuse", "refuse"),
    ),
    "pins_on_update": _same(
        "precision or accelerator change under a shape", ("allow", "refuse"), "refuse", "allow"
    ),
    "accelerator_type_update": _same(
        "update of the accelerator type", ("allow", "refuse"), "refuse", "allow"
    ),
    "region_update": Switch(
        "update of the region", ("allow", "refuse", "no_flag"), ("no_flag", "no_flag", "allow", "refuse")
    ),
    "region_unset": _same(
        "create without --region", ("global", "default_region"), "global", "default_region"
    ),
    "addons_on_quantised": Switch(
        "addons on FP8/FP4", ("accept", "refuse"), ("accept", "accept", "refuse", "refuse")
    ),
    "lora_as_draft": _same("a LoRA as draft model", ("accept", "refuse"), "accept", "refuse"),
    "match_filters_addons": _same("match with addons lists only shapes with addons", _YES_NO, "yes", "no"),
    "max_replica_default": _same(
        "max replicas when only min is given", ("max_min_1", "zero"), "max_min_1", "zero"
    ),
    "first_replica": _same("a min-0 create starts one replica", _YES_NO, "yes", "no"),
    "ready_means_serving": _same("READY only with a ready replica", _YES_NO, "yes", "no"),
    "update_in_flight": _same("update while CREATING or UPDATING", ("accept", "refuse"), "accept", "refuse"),
    "scale_outside_bounds": _same("scale beyond min and max", ("accept", "refuse"), "refuse", "accept"),
    "base_model_filter": _same("list filter on base_model works", _YES_NO, "no", "no"),
    "deleting_s": Switch("seconds a deleted deployment stays DELETING", (), ("98", "98", "98", "98")),
    "hard_delete_s": _same("seconds until a hard delete frees the ID", (), "4", "30"),
    "job_s": _same("seconds that a training job takes", (), "1800", "1800"),
    "undelete_failed": Switch("undelete works from FAILED", _YES_NO, ("yes", "no", "no", "no")),
    "preemptible_unknown_flag": _same(
        "--preemptible on old builds", ("unknown", "ignored"), "unknown", "ignored"
    ),
}


class ProfileError(Exception):
    """FIRECTL_SIM_PROFILE names a profile, switch or answer that does not exist."""


class Profile:
    """One answer to every switch."""

    def __init__(self, name: str, answers: dict[str, str]) -> None:
        self.name = name
        self._answers = answers

    def __getitem__(self, switch: str) -> str:
        return self._answers[switch]

    def yes(self, switch: str) -> bool:
        return self._answers[switch] == "yes"

    def number(self, switch: str) -> float:
        return float(self._answers[switch])

    @property
    def version(self) -> tuple[int, ...]:
        return version_tuple(self._answers["version"])

    def answers(self) -> dict[str, str]:
        return dict(self._answers)


def version_tuple(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _check(switch: str, answer: str) -> None:
    known = SWITCHES.get(switch)
    if known is None:
        raise ProfileError(f"FIRECTL_SIM_PROFILE: no switch {switch!r}; one of {', '.join(SWITCHES)}")
    if known.answers and answer not in known.answers:
        raise ProfileError(f"FIRECTL_SIM_PROFILE: {switch} is one of {', '.join(known.answers)}")
    try:
        if switch == "version":
            version_tuple(answer)
        elif switch.endswith("_s"):
            float(answer)
    except ValueError:
        raise ProfileError(f"FIRECTL_SIM_PROFILE: {switch}={answer!r} is not a number") from None


def load(text: str) -> Profile:
    """The profile of `NAME[,switch=answer…]`. Raises ProfileError."""
    name, *changes = text.split(",")
    if name not in NAMES:
        raise ProfileError(f"FIRECTL_SIM_PROFILE: no profile {name!r}; one of {', '.join(NAMES)}")
    at = NAMES.index(name)
    answers = {switch: row.by_profile[at] for switch, row in SWITCHES.items()}
    for change in changes:
        switch, _, answer = change.partition("=")
        _check(switch, answer)
        answers[switch] = answer
    return Profile(name, answers)
