"""Pages of the codes that are found elsewhere: while reading YAML, against the field table, in comments.

An example that begins with `apiVersion` or with a comment is a whole file; others stand inside a deployment.
"""

from __future__ import annotations

from fwctl.errors import Severity
from fwctl.spec.rules import online, route_pages, yaml_pages  # noqa: F401 - importing registers their pages
from fwctl.spec.rules.registry import page

_E = Severity.ERROR

page(
    "FW201",
    _E,
    """Unknown key.

    What it checks: every key is one of the field table (`fwctl explain`). Keys that begin with `x-` are
    allowed at the top of a file, for anchors.

    Why it is bad: a misspelt key would be ignored, and the field it was meant for stays unmanaged.

    Example::

        precison: FP8

    Use instead::

        precision: FP8
    """,
)
page(
    "FW202",
    _E,
    """Wrong type.

    What it checks: every value has the type of its field. Nothing is converted: "1" and 1.0 are no whole
    numbers, a number is no text, a duration carries a unit, a key without a value has no type at all.

    Why it is bad: a conversion that is right today hides the mistake of tomorrow.

    Example::

        accelerator: {type: NVIDIA_H100_80GB, count: "1"}

    Use instead::

        accelerator: {type: NVIDIA_H100_80GB, count: 1}
    """,
)
page(
    "FW203",
    _E,
    """Number out of bounds, or a list entry twice.

    What it checks: numbers are finite and within the bounds of `fwctl explain`; a 95th percentile is not
    below its median; lists of names name each once.

    Why it is bad: the platform refuses the value.

    Example::

        accelerator: {type: NVIDIA_H100_80GB, count: 0}

    Use instead::

        accelerator: {type: NVIDIA_H100_80GB, count: 1}
    """,
)
page(
    "FW204",
    _E,
    """Required key missing.

    What it checks: a file has `apiVersion`, a run names its `account`, a deployment has `model` and
    `replicas: {min, max}`, a schedule its four keys. `defaults` and merge keys count. The place is the
    parent's key. A missing shape is FW301.

    Why it is bad: fwctl does not guess what a deployment costs or serves.

    Example::

        replicas: {min: 1}

    Use instead::

        replicas: {min: 1, max: 2}
    """,
)
page(
    "FW205",
    _E,
    """Unknown value.

    What it checks: the value is one of the field's list, in the platform's spelling (regions: any case, -
    or _). A value that is newer than this fwctl is accepted when `settings.accept_unknown` names it.

    Why it is bad: the platform refuses another spelling (invalid value for enum field).

    Example::

        accelerator: {type: h200-141gb, count: 1}

    Use instead::

        accelerator: {type: NVIDIA_H200_141GB, count: 1}
    """,
)
page(
    "FW206",
    _E,
    """The file is not a mapping.

    What it checks: a spec file is a mapping of keys, not a list and not a single value.

    Why it is bad: there is nothing in it that could be read.

    Example::

        # specs
        - chat
        - support

    Use instead::

        apiVersion: fwctl/v1
        account: acme
        deployments:
          chat:
            model: accounts/fireworks/models/llama-v3p1-8b-instruct
            shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
            replicas: {min: 1, max: 2}
    """,
)
page(
    "FW207",
    _E,
    """A secret is written out.

    What it checks: a sensitive field takes exactly one reference to an environment variable for each
    value.

    Why it is bad: the secret is in git, and in everything that reads the file. Change it, then refer to
    it.

    Example::

        region: US_IOWA_1
        direct_route: {type: INTERNET, api_keys: [the-key-itself]}

    Use instead::

        region: US_IOWA_1
        direct_route: {type: INTERNET, api_keys: ["${env:DIRECT_ROUTE_KEY}"]}
    """,
)
page(
    "FW208",
    _E,
    """Text of the wrong form.

    What it checks: durations (30s, 5m, 1h30m), percentages (0.5%), times (2026-12-01T08:00Z), version
    conditions (>=1.8.2), and texts that must not be empty.

    Why it is bad: it has no meaning that could be sent or compared.

    Example::

        autoscaling: {scale_up_window: 30 seconds}

    Use instead::

        autoscaling: {scale_up_window: 30s}
    """,
)
page(
    "FW407",
    Severity.WARNING,
    """An ignore without a reason.

    What it checks: behind `# fwctl: ignore[...]` stands why.

    Why it is bad: in a year nobody knows whether it may go.

    Example::

        replicas: {min: 0, max: 2}  # fwctl: ignore[FW401]

    Use instead::

        replicas: {min: 0, max: 2}  # fwctl: ignore[FW401] nightly job
    """,
)
page(
    "FW408",
    Severity.WARNING,
    """A comment that silences nothing.

    What it checks: every code of an ignore silences a warning on its line, or on the next line with
    content when the comment stands alone. Errors cannot be silenced. Codes that need measurements, or
    facts of `fwctl.lock`, are only judged where those are there.

    Why it is bad: it hides the next warning of that code, which nobody has seen yet.

    Example::

        replicas: {min: 1, max: 2}  # fwctl: ignore[FW401] nightly job

    Use instead::

        replicas: {min: 1, max: 2}
    """,
)
