"""Which shape version runs, and the spec's assertions against it."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.records.lockfile import LockedShape, LockFile
from tests.planning.support import (
    B200,
    FAST,
    MINIMAL,
    MODEL,
    OLD_CAPS,
    OTHER_MODEL,
    SHAPES,
    V1,
    V2,
    Platform,
    check_of,
    codes,
    entry,
    marked_row,
    moves,
    only,
    plan_of,
    shape_row,
    spec,
    words,
)

DRAFTING = {"draft_model": "accounts/fireworks/models/llama-v3p2-1b-instruct", "draft_token_count": 4}
DRAFT = "accounts/fireworks/models/llama-v3p2-1b-instruct"
WITH_DRAFT = {**Platform().models, DRAFT: {"name": DRAFT}}


def fast(*rows: dict[str, Any], **more: Any) -> Platform:
    return Platform(shapes={FAST: list(rows)}, models=WITH_DRAFT, **more)


def test_a_create_takes_the_latest_validated_version() -> None:
    platform = fast(shape_row(V1, latest=False), shape_row(V2, validated=False, latest=False))
    assert moves(only(plan_of(entry(), platform)))["shape"] == (None, V1)
    platform = fast(shape_row(V1, latest=False), shape_row(V2))
    assert moves(only(plan_of(entry(shape=f"{FAST}/versions/latest"), platform)))["shape"] == (None, V2)


def test_a_shape_that_does_not_exist_is_fw502() -> None:
    change = only(plan_of(entry(), Platform(shapes={})))
    assert codes(change) == ["FW502"]
    assert f"`fwctl shapes {MODEL}`" in str(change.blocked_by[0].suggestion)
    assert (change.blocked_by[0].position.line, change.blocked_by[0].path) == (6, "/deployments/chat/shape")


def test_a_version_that_does_not_exist_is_fw502() -> None:
    assert codes(only(plan_of(entry(shape=V2)))) == ["FW502"]


def test_a_shape_without_a_validated_version_is_fw504() -> None:
    assert codes(only(plan_of(entry(), fast(shape_row(V1, validated=False, latest=False))))) == ["FW504"]


def test_a_pinned_version_that_is_not_validated_is_fw504() -> None:
    platform = fast(shape_row(V1, validated=False, latest=False))
    assert codes(only(plan_of(entry(shape=V1), platform))) == ["FW504"]


def test_a_shape_of_another_model_is_fw503() -> None:
    assert codes(only(plan_of(entry(model=OTHER_MODEL)))) == ["FW503"]


def test_a_lora_may_use_the_shape_of_its_base() -> None:
    lora = "accounts/acme/models/mine"
    models = {**Platform().models, lora: {"name": lora, "peft_details": {"base_model": MODEL}}}
    assert only(plan_of(entry(model="mine"), Platform(models=models))).actions == ("create",)


@pytest.mark.parametrize(
    ("preset", "version"),
    [("fast", V1), ("minimal", f"{MINIMAL}/versions/m1"), ("throughput", f"{B200}/versions/b1")],
)
def test_a_preset_name_is_resolved_through_match(preset: str, version: str) -> None:
    platform = Platform()
    wanted = entry(shape=preset)
    assert moves(only(plan_of(wanted, platform)))["shape"] == (None, version)
    assert ("match_shapes", MODEL) in platform.calls
    platform.obey(plan_of(wanted, platform))
    assert only(plan_of(wanted, platform)).actions == ("no-op",)


def test_default_takes_the_shape_that_carries_every_pin() -> None:
    assert moves(only(plan_of(entry(shape="default"))))["shape"] == (None, f"{MINIMAL}/versions/m1")
    pinned = entry(shape="default", accelerator__type="NVIDIA_B200_180GB")
    assert moves(only(plan_of(pinned)))["shape"] == (None, f"{B200}/versions/b1")


def test_default_is_satisfied_by_whatever_runs_for_the_model() -> None:
    assert only(plan_of(entry(shape="default"), [marked_row()])).actions == ("no-op",)
    other = only(plan_of(entry(shape="default", model=OTHER_MODEL), [marked_row()]))
    assert codes(other) == ["FW502"]


def test_a_preset_nobody_offers_is_fw502() -> None:
    change = only(plan_of(entry(shape="fast"), Platform(shapes={MINIMAL: SHAPES[MINIMAL]})))
    assert codes(change) == ["FW502"]


def test_a_firectl_without_match_resolves_presets_from_the_list_of_versions() -> None:
    old = Platform(
        shapes={FAST: [shape_row(V1), shape_row(f"{FAST}/versions/v0", latest=False)], B200: SHAPES[B200]}
    )
    assert moves(only(plan_of(entry(shape="fast"), old, caps=OLD_CAPS)))["shape"] == (None, V1)
    assert ("list_shape_versions", MODEL) in old.calls
    assert ("match_shapes", MODEL) not in old.calls


def test_an_existing_preset_deployment_stays_where_it_is_without_match() -> None:
    assert only(plan_of(entry(shape="fast"), [marked_row()], caps=OLD_CAPS)).actions == ("no-op",)


def test_an_assertion_that_differs_from_the_snapshot_is_fw505_with_both_values() -> None:
    change = only(plan_of(entry(precision="BF16", accelerator__count=2)))
    assert codes(change) == ["FW505", "FW505"]
    messages = [cause.message for cause in change.blocked_by]
    assert f"accelerator.count is 2 in the spec, but {V1} carries 1" in messages
    assert f"precision is BF16 in the spec, but {V1} carries FP8" in messages


def test_one_blocked_deployment_does_not_block_the_others() -> None:
    plan = plan_of(spec(entry("a", precision="BF16"), entry("b")))
    assert [change.actions for change in plan.changes] == [("blocked",), ("create",)]


def test_an_existing_deployment_is_held_to_its_own_version() -> None:
    platform = fast(shape_row(V1, latest=False), shape_row(V2, precision="BF16"))
    platform.rows = [marked_row()]
    assert only(plan_of(entry(precision="FP8"), platform)).actions == ("no-op",)
    assert codes(only(plan_of(entry(precision="FP8"), platform, upgrade_shapes=True))) == ["FW505"]


def test_precision_families_match_their_members_and_full_names_only_themselves() -> None:
    platform = fast(shape_row(V1, precision="FP8_MM_V2"))
    assert only(plan_of(entry(precision="FP8"), platform)).actions == ("create",)
    assert codes(only(plan_of(entry(precision="FP8_MM"), platform))) == ["FW505"]


def test_a_pin_the_shape_carries_is_not_sent() -> None:
    change = only(plan_of(entry(precision="FP8", accelerator__type="NVIDIA_H100_80GB")))
    assert "--precision" not in words(change)
    assert "--accelerator-type" not in words(change)


def test_pins_are_sent_when_the_settings_say_so() -> None:
    wanted = spec(entry(precision="FP8"), settings={"send_pins": "always"})
    assert "--precision FP8" in words(only(plan_of(wanted)))


def test_a_pin_the_shape_does_not_carry_is_sent_unless_pins_never_are() -> None:
    platform = fast(shape_row(V1, precision="PRECISION_UNSPECIFIED"))
    assert "--precision BF16" in words(only(plan_of(entry(precision="BF16"), platform)))
    never = spec(entry(precision="BF16"), settings={"send_pins": "never"})
    assert "--precision" not in words(only(plan_of(never, platform)))


def test_an_override_is_sent_beside_the_shape() -> None:
    own = {"overrides": ["speculation", "max_context_length"]}
    wanted = entry(
        own=own,
        max_context_length=32768,
        speculation__mode="draft",
        speculation__draft_model=DRAFT,
        speculation__draft_tokens=4,
    )
    text = words(only(plan_of(wanted, fast(shape_row(V1, draft_model="x", draft_token_count=2)))))
    assert "--max-context-length 32768" in text
    assert f"--draft-model {DRAFT} --draft-token-count 4" in text


def test_hardware_cannot_be_overridden_beside_a_shape() -> None:
    assert codes(only(plan_of(entry(precision="BF16", own={"overrides": ["precision"]})))) == ["FW505"]


def test_speculation_switched_off_against_a_drafting_shape_needs_an_override() -> None:
    platform = fast(shape_row(V1, **DRAFTING))
    change = only(plan_of(entry(speculation__mode="disabled"), platform))
    assert codes(change) == ["FW505"]
    assert "carries draft" in change.reason
    allowed = entry(speculation__mode="disabled", own={"overrides": ["speculation.mode"]})
    assert "--disable-speculative-decoding" in words(only(plan_of(allowed, platform)))


def test_speculation_switched_off_where_the_shape_has_none_sends_nothing() -> None:
    assert "--disable-speculative" not in words(only(plan_of(entry(speculation__mode="disabled"))))


def test_one_kind_of_drafting_against_the_other_is_fw505() -> None:
    platform = fast(shape_row(V1, **DRAFTING))
    wanted = entry(speculation__mode="ngram", speculation__ngram_length=3)
    assert "FW505" in codes(only(plan_of(wanted, platform)))
    assert only(plan_of(entry(speculation__mode="inherit"), platform)).actions == ("create",)


def test_switching_speculation_off_on_a_running_deployment_is_a_replacement() -> None:
    wanted = entry(speculation__mode="disabled", own={"overrides": ["speculation"]})
    change = only(plan_of(wanted, [marked_row(draft_model=DRAFT, draft_token_count=4)]))
    assert codes(change) == ["replace_refused"]
    assert "speculation.mode" in change.reason


def test_switching_speculation_on_again_is_a_replacement_too() -> None:
    platform = fast(shape_row(V1))
    off = entry(speculation__mode="disabled")
    platform.obey(plan_of(off, platform))
    on = entry(speculation__mode="ngram", speculation__ngram_length=3)
    assert codes(only(plan_of(on, platform))) == ["replace_refused"]


def test_between_the_kinds_of_drafting_the_fields_decide_and_the_old_kind_is_given_up() -> None:
    rows = [marked_row(ngram_speculation_length=3)]
    wanted = entry(speculation__mode="draft", speculation__draft_model=DRAFT, speculation__draft_tokens=4)
    change = only(plan_of(wanted, _with_rows(rows)))
    assert moves(change) == {
        "speculation.draft_model": (None, DRAFT),
        "speculation.draft_tokens": (0, 4),
        "speculation.ngram_length": (3, 0),
    }
    assert "--ngram-speculation-length 0" in words(change)
    back = entry(speculation__mode="ngram", speculation__ngram_length=3)
    change = only(plan_of(back, _with_rows([marked_row(draft_model=DRAFT)])))
    assert moves(change)["speculation.draft_model"] == (DRAFT, "")


def _with_rows(rows: list[dict[str, Any]]) -> Platform:
    return Platform(rows, models=WITH_DRAFT)


def test_a_live_value_that_left_the_shape_is_moved_back() -> None:
    platform = fast(shape_row(V1, **DRAFTING))
    platform.rows = [marked_row(draft_model=DRAFT, draft_token_count=9)]
    change = only(plan_of(entry(speculation__draft_tokens=4), platform))
    assert moves(change) == {"speculation.draft_tokens": (9, 4)}
    assert "--draft-token-count 4" in words(change)


def test_what_comes_with_a_new_shape_is_shown_but_not_sent() -> None:
    shapes = {**SHAPES, FAST: [shape_row(V1, accelerator_count=2)]}
    rows = [marked_row(deployment_shape=f"{FAST}-old/versions/v1", accelerator_count=1)]
    change = only(plan_of(entry(accelerator__count=2), Platform(rows, shapes=shapes)))
    assert moves(change) == {"shape": (f"{FAST}-old/versions/v1", V1), "accelerator.count": (1, 2)}
    assert "--accelerator-count" not in words(change)
    assert f"--deployment-shape {V1}" in words(change)


def test_a_shape_is_given_to_a_deployment_that_had_none() -> None:
    rows = [marked_row(deployment_shape="")]
    assert moves(only(plan_of(entry(), rows))) == {"shape": (None, V1)}


LOCK = LockFile(shapes={FAST: LockedShape(V1, MODEL, "FP8")})


def test_a_create_takes_the_locked_version() -> None:
    platform = fast(shape_row(V1, latest=False), shape_row(V2))
    plan = plan_of(entry(), platform, lock=LOCK)
    assert moves(only(plan))["shape"] == (None, V1)
    assert check_of(plan, "lock") == [("pass", f"{V1} as locked")]
    assert moves(only(plan_of(entry(), platform, lock=LOCK, no_lock=True)))["shape"] == (None, V2)
    assert moves(only(plan_of(entry(), platform, lock=LOCK, upgrade_shapes=True)))["shape"] == (None, V2)


def test_a_locked_version_that_is_gone_or_withdrawn_is_refused() -> None:
    gone = only(plan_of(entry(), fast(shape_row(V2)), lock=LOCK))
    assert codes(gone) == ["FW502"]
    assert "--no-lock" in str(gone.blocked_by[0].suggestion)
    withdrawn = fast(shape_row(V1, validated=False, latest=False), shape_row(V2))
    assert codes(only(plan_of(entry(), withdrawn, lock=LOCK))) == ["FW504"]


def test_an_entry_that_the_lock_lacks_is_a_warning() -> None:
    plan = plan_of(entry(), lock=LockFile())
    assert check_of(plan, "lock") == [("warn", f"{FAST} is not in fwctl.lock; it takes {V1}")]


def test_the_lock_does_not_move_an_existing_deployment() -> None:
    platform = fast(shape_row(V1, latest=False), shape_row(V2))
    platform.rows = [marked_row(deployment_shape=V2)]
    assert only(plan_of(entry(), platform, lock=LOCK)).actions == ("no-op",)


def test_without_a_shape_the_hardware_is_compared_with_what_runs() -> None:
    wanted = entry(
        without=["shape"],
        accelerator__type="NVIDIA_H100_80GB",
        accelerator__count=2,
        accept_shapeless_risk=True,
    )
    assert "--accept-shapeless-risk" in words(only(plan_of(wanted)))
    change = only(plan_of(wanted, [marked_row(deployment_shape="")]))
    assert moves(change) == {"accelerator.count": (1, 2)}
    assert "--accelerator-count 2" in words(change)
