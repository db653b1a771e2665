"""Pages of the checks of routes (FW6xx). They are found by `fwctl route check`."""

from __future__ import annotations

from fwctl.errors import Severity
from fwctl.spec.rules.registry import page

page(
    "FW601",
    Severity.WARNING,
    """Targets of a route share their fate.

    What it checks: a route has more than one target, not all of them are paid by one account, and the
    first two are not in one region.

    Why it is bad: an account that is over its limit or suspended takes all its targets with it, and so
    does a region. The route then has no way out.

    Example: `targets: [{deployment: chat-prod}, {deployment: chat-eu}]`, both of the file's account.

    Use instead: one more target of another provider, `{base_url: "https://other.example/v1", model: m,
    api_key: "${env:OTHER_KEY}"}`.
    """,
)
page(
    "FW602",
    Severity.WARNING,
    """A fallback lacks a capability of the first target.

    What it checks: what the first target of a route can do, the others can do too: `lacks` and
    `context_length` as the file declares them.

    Why it is bad: requests that need it have no fallback, or are answered without it.

    Example: a second target with `lacks: [tools]` behind a first one that has tools.

    Use instead: a fallback that has it, or leave the warning as the record of a decision.
    """,
)
page(
    "FW603",
    Severity.ERROR,
    """A custom LoRA on serverless.

    What it checks: a target that names an adapter of an account names the deployment that it is loaded on.

    Why it is bad: serverless no longer serves custom LoRA adapters, so the target answers 404.

    Example: `model: accounts/acme/models/support-v3`.

    Use instead: `model: accounts/acme/models/support-v3#accounts/acme/deployments/support`.
    """,
)
page(
    "FW604",
    Severity.WARNING,
    """The deadline leaves no time for a second target.

    What it checks: `timeouts.first_token` of every target but the last is shorter than `timeouts.total`.

    Why it is bad: the first target that hangs uses up the whole request.

    Example: `timeouts: {first_token: 60s, total: 60s}`.

    Use instead: `timeouts: {first_token: 10s, total: 60s}`.
    """,
)
page(
    "FW605",
    Severity.WARNING,
    """A target without a key.

    What it checks: a target on another machine has an `api_key`.

    Why it is bad: the server answers 401, and the target is left out for minutes.

    Example: `{base_url: "https://other.example/v1", model: m}`.

    Use instead: `{base_url: "https://other.example/v1", model: m, api_key: "${env:OTHER_KEY}"}`.
    """,
)
