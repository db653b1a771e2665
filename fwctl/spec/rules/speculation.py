"""Rules about speculative decoding and LoRA addons."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fwctl.catalog.precision_support import SIXTEEN_BIT
from fwctl.errors import Severity
from fwctl.spec.rules.registry import deployment_rule
from fwctl.spec.view import Finding, View

_MODEL, _TOKENS, _NGRAM = (f"speculation.{key}" for key in ("draft_model", "draft_tokens", "ngram_length"))
# Fields that belong to each mode; inherit keeps the model's own drafter and may change its token count.
_FIELDS_OF_MODE = {
    "draft": (_MODEL, _TOKENS),
    "ngram": (_NGRAM, _TOKENS),
    "inherit": (_TOKENS,),
    "disabled": (),
}
_NEEDED = {"draft": (_MODEL, _TOKENS), "ngram": (_NGRAM, _TOKENS)}
# Endings that publishers give to quantised checkpoints.
_QUANTISED_NAME = re.compile(r"[-_.](?:fp8|fp4|nf4|nvfp4|mxfp4|int8|int4|awq|gptq)\b", re.IGNORECASE)


def speculation_mode(d: View) -> str | None:
    """The mode as written, or the only one that what is written can mean; None when there is none."""
    mode = d.get("speculation.mode")
    if mode is not None or d.written("speculation.mode"):
        return str(mode) if mode is not None else None
    model, ngram = d.written(_MODEL), d.written(_NGRAM)
    if model != ngram:
        return "draft" if model else "ngram"
    return None


@deployment_rule("FW304", Severity.ERROR)
def speculation(d: View) -> Iterator[Finding]:
    """Speculation fields that do not make one mode.

    What it checks: `mode: draft` has `draft_model` and `draft_tokens`; `mode: ngram` has `ngram_length`
    and `draft_tokens`; no field of another mode is written. Without `mode` it is inferred when only one
    reading is possible.

    Why it is bad: draft model and n-gram exclude each other, and the platform needs the token count with
    either; it would refuse the deployment or run another drafter than meant.

    Example::

        speculation: {draft_model: accounts/acme/models/tiny, ngram_length: 3, draft_tokens: 4}

    Use instead::

        speculation: {draft_model: accounts/acme/models/tiny, draft_tokens: 4}
    """
    if not d.written("speculation"):
        return
    mode = speculation_mode(d)
    if mode is None:
        yield from _no_reading(d)
        return
    for path in (_MODEL, _NGRAM, _TOKENS):
        if d.written(path) and path not in _FIELDS_OF_MODE[mode]:
            key = path.rpartition(".")[2]
            yield d.finding(
                path, f"{key} does not belong to speculation mode {mode}", f"remove {key} or change the mode"
            )
    for path in _NEEDED.get(mode, ()):
        if not d.written(path):
            key = path.rpartition(".")[2]
            example = "4" if path == _TOKENS else "3" if path == _NGRAM else "accounts/…/models/…"
            yield d.finding("speculation", f"speculation mode {mode} needs {key}", f"add {key}: {example}")


def _no_reading(d: View) -> Iterator[Finding]:
    if d.written("speculation.mode"):
        return
    if d.written(_MODEL):
        yield d.finding(
            _NGRAM, "draft_model and ngram_length exclude each other", "keep one of the two, or write mode"
        )
    elif d.written(_TOKENS):
        yield d.finding(
            _TOKENS,
            "draft_tokens alone does not say what drafts",
            "add draft_model or ngram_length, or mode: inherit to keep the model's own drafter",
        )


@deployment_rule("FW305", Severity.ERROR)
def addons_need_sixteen_bit(d: View) -> Iterator[Finding]:
    """LoRA addons on a quantised precision.

    What it checks: `addons.mode: multi_lora`, or a list in `addons.load`, stands beside FP16, BF16 or no
    precision, and its draft model is not quantised (by its recorded precision, or by its name). Live
    merge is exempt.

    Why it is bad: the platform refuses it (addons cannot be enabled with quantized precisions). Older
    servers accepted it silently and every request then answered 404.

    Example::

        precision: FP8
        addons: {mode: multi_lora}

    Use instead::

        precision: BF16
        addons: {mode: multi_lora}
    """
    mode = d.get("addons.mode")
    if mode == "live_merge" or not (mode == "multi_lora" or d.get("addons.load")):
        return
    precision = d.get("precision")
    at = ("addons.mode", "addons.load", "addons")
    if precision is not None and precision not in SIXTEEN_BIT and precision not in d.accept_unknown:
        yield d.finding(
            at,
            f"LoRA addons need 16-bit precision, not {precision}",
            "write precision: BF16 with a 16-bit shape",
        )
    drafter = d.get(_MODEL)
    if drafter is None:
        return
    known = d.evidence.model_precision.get(drafter) if d.evidence is not None else None
    if (known is not None and known not in SIXTEEN_BIT) or (
        known is None and _QUANTISED_NAME.search(drafter)
    ):
        yield d.finding(
            _MODEL,
            f"LoRA addons are refused beside the quantised draft model {drafter}",
            "use a 16-bit draft model, or speculation: {mode: ngram, …}",
        )
