"""Rules across the deployments and files of a run."""

from __future__ import annotations

from collections.abc import Iterator

from fwctl.catalog.enums import is_multi_region
from fwctl.errors import Severity
from fwctl.spec.closest import did_you_mean
from fwctl.spec.pointers import pointer
from fwctl.spec.report import shown
from fwctl.spec.rules.registry import run_rule
from fwctl.spec.view import Finding, RunView, View

Found = Iterator[tuple[View | None, Finding]]


@run_rule("FW311", Severity.ERROR)
def declared_twice(run: RunView) -> Found:
    """The same deployment ID or logical name twice in a run.

    What it checks: over all files of a run no two deployments share a logical name or a deployment ID
    (`id:`, else the logical name).

    Why it is bad: both entries would mean one live deployment and undo each other on every apply.

    Example::

        apiVersion: fwctl/v1
        account: acme
        deployments:
          chat: &chat
            model: accounts/fireworks/models/llama-v3p1-8b-instruct
            shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
            replicas: {min: 1, max: 2}
          chat-two:
            <<: *chat
            id: chat

    Use instead::

        apiVersion: fwctl/v1
        account: acme
        deployments:
          chat: &chat
            model: accounts/fireworks/models/llama-v3p1-8b-instruct
            shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
            replicas: {min: 1, max: 2}
          chat-two:
            <<: *chat
    """
    by_name: dict[str, View] = {}
    by_id: dict[str, View] = {}
    for d in run.deployments:
        twin = by_name.setdefault(d.name, d)
        if twin is not d:
            yield (
                d,
                d.finding(
                    (), f"deployment {shown(d.name)} is declared twice in this run", "rename one of them"
                ),
            )
            continue
        given = d.deployment_id
        other = by_id.setdefault(given, d) if given else d
        if other is not d:
            message = f"deployment ID {shown(given or '')} is also the one of {shown(other.name)}"
            yield d, d.finding("id", message, "give it another id")


@run_rule("FW313", Severity.ERROR)
def one_run(run: RunView) -> Found:
    """Files or deployments that do not fit into one run.

    What it checks: all files name one account and one stack, and give a setting or budget one value;
    `router` stands on a deployment whose region is not a single one; `lifecycle.after` names deployments
    of the run and has no cycle.

    Why it is bad: firectl is called with one account, ownership has one name, native routers only take
    multi-region deployments, and a cycle has no order to apply in.

    Example::

        region: US_IOWA_1
        router: chat

    Use instead::

        region: US
        router: chat
    """
    yield from _files_agree(run)
    for d in run.deployments:
        region = d.get("region")
        if d.get("router") is not None and region is not None and not is_multi_region(region):
            message = f"a native router only takes multi-region deployments; region {region} is a single one"
            yield d, d.finding("router", message, "name an area such as US, or remove router")
    yield from _order(run)


def _files_agree(run: RunView) -> Found:
    first: dict[str, object] = {} if run.account is None else {"account": run.account}
    where = dict.fromkeys(first, "--account")
    for file in run.files:
        for path, value in file.checked.values.items():
            if not (path in ("account", "stack") or path.startswith(("settings.", "budget."))):
                continue
            if path == "settings.accept_unknown":
                continue
            if first.setdefault(path, value) == value:
                where.setdefault(path, file.file)
                continue
            message = f"{path} {shown(str(value))} differs from {shown(str(first[path]))} ({where[path]})"
            finding = Finding(
                file.checked.places[path], message, "one run has one; split it into two runs", pointer(path)
            )
            yield None, finding


def _order(run: RunView) -> Found:
    waits: dict[str, list[str]] = {}
    for d in run.deployments:
        after = d.get("lifecycle.after") or []
        waits.setdefault(d.name, [name for name in after if name in run.names])
        for at, name in enumerate(after):
            if name not in run.names:
                near = did_you_mean(name, run.names) or "name a deployment of this run"
                yield (
                    d,
                    d.finding(
                        d.item("lifecycle.after", at), f"after: no deployment {shown(name)} in this run", near
                    ),
                )
    for cycle in cycles(waits):
        d = run.names[cycle[0]]
        yield (
            d,
            d.finding("lifecycle.after", f"after goes round in a circle: {' -> '.join([*cycle, cycle[0]])}"),
        )


def cycles(waits: dict[str, list[str]]) -> list[list[str]]:
    """The circles of a graph, each once, beginning with its first name; found without recursion."""
    found: list[list[str]] = []
    done: set[str] = set()
    for start in waits:
        path: list[str] = []
        at: dict[str, int] = {}
        stack: list[tuple[str, int]] = [(start, 0)] if start not in done else []
        while stack:
            name, edge = stack.pop()
            if edge == 0:
                at[name] = len(path)
                path.append(name)
            if edge == len(waits[name]):
                done.add(name)
                at.pop(path.pop())
                continue
            stack.append((name, edge + 1))
            following = waits[name][edge]
            if following in at:
                found.append(path[at[following] :])
            elif following not in done:
                stack.append((following, 0))
    return found


@run_rule("FW315", Severity.ERROR)
def no_deployment(run: RunView) -> Found:
    """No deployment declared in a file of kind Deployments.

    What it checks: `deployments` has at least one entry.

    Why it is bad: an empty file is nearly always a mistake of a template or a merge; with `--prune` it
    would ask to delete everything.

    Example::

        apiVersion: fwctl/v1
        account: acme
        deployments: {}

    Use instead::

        apiVersion: fwctl/v1
        account: acme
        deployments:
          chat:
            model: accounts/fireworks/models/llama-v3p1-8b-instruct
            shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
            replicas: {min: 1, max: 2}
    """
    for file in run.files:
        written = file.checked.places.get("deployments")
        good = "deployments" in file.checked.values
        if not file.declares and (good or written is None):
            message = "this file declares no deployment"
            suggestion = "add one under deployments:, or remove the file"
            yield None, Finding(written or file.start, message, suggestion, "/deployments")
