"""Pages of the checks against the platform (FW5xx). They are found while planning, and by validate --online.

Each blocks one deployment and not the run.
"""

from __future__ import annotations

from fwctl.errors import Severity
from fwctl.spec.rules.registry import page

_E = Severity.ERROR

page(
    "FW501",
    _E,
    """The model does not exist.

    What it checks: `model`, `draft_model` and `addons.load` exist for this account.

    Why it is bad: the create fails, or the deployment comes up without its adapter.

    Example: a model of another account, or a misspelt one.

    Use instead: the name that `firectl model get` finds. A bare name means your own account.
    """,
)
page(
    "FW502",
    _E,
    """The shape does not exist.

    What it checks: the shape or its version exists and this account may see it.

    Why it is bad: the create fails.

    Example: a shape that was renamed or withdrawn.

    Use instead: one that `fwctl shapes MODEL` lists.
    """,
)
page(
    "FW503",
    _E,
    """The shape is not for this model.

    What it checks: the base model of the shape is the deployment's model, or the base of its LoRA.

    Why it is bad: the platform refuses the pair.

    Example: a shape of the 70B model on the 8B model.

    Use instead: one that `fwctl shapes MODEL` lists.
    """,
)
page(
    "FW504",
    _E,
    """The shape version is not validated.

    What it checks: the version that would run is validated by the vendor.

    Why it is bad: it may fail to load; the platform refuses it without a special flag.

    Example: a version that was withdrawn after `fwctl lock` recorded it.

    Use instead: the shape without a version, or `fwctl lock --upgrade`.
    """,
)
page(
    "FW505",
    _E,
    """An assertion differs from the shape.

    What it checks: fields that a shape has (accelerator, precision, context, speculation …) equal the
    snapshot of the version that will run, unless they are listed in `overrides`.

    Why it is bad: what is deployed is not what the spec says and reviewers have read.

    Example: `precision: FP8` beside a shape whose snapshot says FP4.

    Use instead: the snapshot's value, another shape, or `overrides: [precision]` to differ on purpose.
    """,
)
page(
    "FW506",
    _E,
    """The region does not have the accelerator.

    What it checks: the region, or some region of the area, offers the accelerator.

    Why it is bad: the deployment waits for capacity that will not come.

    Example: `region: US_UTAH_1` with H100.

    Use instead: a region that has it, or an area such as US.
    """,
)
page(
    "FW507",
    _E,
    """The quota does not suffice.

    What it checks: accelerators times maximum replicas of everything on the account, running or not, is
    within the quota of the accelerator type.

    Why it is bad: the platform refuses the create or the higher maximum.

    Example: `replicas: {min: 0, max: 4}` on 4 GPUs each with a quota of 8.

    Use instead: a lower maximum, a parked deployment elsewhere, or a higher quota (`firectl quota list`).
    """,
)
page(
    "FW508",
    _E,
    """The installed firectl lacks a flag.

    What it checks: every field that would be sent has its flag in the help of the installed firectl.

    Why it is bad: the call fails, or a build that is too old ignores the flag silently.

    Example: `preemptible: true` with firectl 1.7.16.

    Use instead: a newer firectl (`firectl upgrade`), or leave the field out.
    """,
)
