"""`fwctl schema`, `fwctl explain` and `fwctl rules`: what the tables say."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from fwctl.cli.command import Call, command
from fwctl.report.model import Report


@command("fwctl schema > fwctl.schema.json")
def schema(call: Call) -> Report:  # noqa: ARG001 - every command takes the call
    """Print the JSON Schema of spec files, for editors.

    Write `# yaml-language-server: $schema=PATH` as the first line of a spec, and the editor completes
    and checks while you type. `fwctl validate` knows more rules than a schema can say.
    """
    from fwctl.spec.jsonschema import schema as build

    document = build()
    return Report(
        "schema", {"schema": document}, text=json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    )


@command(
    "fwctl explain replicas.max",
    "fwctl explain autoscaling",
    "fwctl explain settings.prices --format json",
)
def explain(
    call: Call,  # noqa: ARG001 - every command takes the call
    *,
    field: Annotated[
        str, typer.Argument(metavar="FIELD", help="A field or a group; the top when empty.")
    ] = "",
) -> Report:
    """Explain a field of the spec: type, bounds, example, flags, and what changing it does."""
    from fwctl.spec.explain import explain as find
    from fwctl.spec.explain import explain_text

    facts = find(field)
    return Report("explain", {"field": facts}, text=explain_text(facts).rstrip("\n") + "\n")


@command("fwctl rules", "fwctl rules FW301")
def rules(
    call: Call,  # noqa: ARG001 - every command takes the call
    *,
    code: Annotated[str, typer.Argument(metavar="CODE", help="Print the page of this rule.")] = "",
) -> Report:
    """List the rules of `fwctl validate`, or explain one: what, why, example, fix."""
    from fwctl.spec.rulebook import page, rule
    from fwctl.spec.rulebook import rules as every

    if code:
        found = rule(code)
        text = page(found)
        body = {"code": found.code, "severity": found.severity.value, "title": found.title, "page": text}
        return Report("rules", {"rules": [body]}, text=text)
    rows = [{"code": item.code, "severity": item.severity.value, "title": item.title} for item in every()]
    text = "".join(f"{row['code']}  {row['severity']:<7}  {row['title']}\n" for row in rows)
    return Report("rules", {"rules": rows}, text=text)
