"""docs/spec.md: every key of a spec file, from the field table."""

from __future__ import annotations

from typing import Any

from fwctl.catalog.enums import SHAPE_PRESETS, VALUES
from fwctl.catalog.field import Effect, Field, Kind, Owner
from fwctl.catalog.fields import FIELDS, PLATFORM_FIELDS
from fwctl.catalog.run_fields import FILE_KINDS, RUN_FIELDS
from fwctl.spec.explain import bounds

_INTRO = """# Spec files

<!-- Generated from the field table by `python -m fwctl.spec.generate docs`. -->

A spec file is YAML: one document, 16 MiB at most, UTF-8. A folder is the union of its `*.yaml` and
`*.yml` files, sorted, with subfolders; names that begin with a dot are skipped. One run is one account
and one stack.

- A key that is absent is not managed: never reset, never compared. Dropping a key stops managing it.
- `tags`, `load_targets`, `schedules`, `addons.load` and `direct_route.api_keys` are complete where they
  are declared.
- Fields that a shape has are assertions: the plan compares them with the shape version that will run and
  blocks the deployment when they differ, unless the field is listed in `overrides`.
- `${env:NAME}` works in any text and must be set. A sensitive field takes nothing else, and its value
  appears nowhere.
- `defaults:` is merged under every deployment of the file, key by key; `--defaults FILE` under those of
  all files.
- Keys that begin with `x-` are free at the top of a file, for anchors. Merge keys (`<<`) work.
- Nothing is converted: see [the rules](rules/README.md) for what is reported and how.

`fwctl explain FIELD` prints a row of these tables with everything that is known about it; `fwctl schema`
prints the JSON Schema for editors ([a copy](fwctl.schema.json)):

```yaml
# yaml-language-server: $schema=../docs/fwctl.schema.json
```
"""


def reference() -> str:
    """The whole page."""
    parts = [_INTRO, "## The top of a file\n", _table(RUN_FIELDS), "\n## Kinds of file\n"]
    parts += ["| kind | what it declares |\n|---|---|"]
    parts += [f"| {kind.name} | {kind.doc} |" for kind in FILE_KINDS]
    parts += ["\n## Fields of a deployment\n", _table(PLATFORM_FIELDS)]
    parts += ["\n## Keys of one schedule\n", _table(_schedule_rows())]
    parts += ["\n## fwctl's own keys of a deployment\n", "They are never sent to the platform.\n"]
    parts += [_table(tuple(row for row in FIELDS if row.owner is Owner.FWCTL)), "\n## Values\n"]
    used = {row.enum for row in (*RUN_FIELDS, *FIELDS) if row.enum}
    parts += ["| list | values |\n|---|---|", f"| shape presets | {_code(SHAPE_PRESETS)} |"]
    parts += [f"| {name.replace('_', ' ')} | {_code(VALUES[name])} |" for name in VALUES if name in used]
    return "\n".join(parts) + "\n"


def _schedule_rows() -> tuple[Field, ...]:
    return next(row.children for row in FIELDS if row.kind is Kind.SCHEDULES)


def _code(values: tuple[str, ...]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _table(rows: tuple[Field, ...]) -> str:
    lines = ["| key | type | meaning | a change | example |", "|---|---|---|---|---|"]
    return "\n".join([*lines, *(_line(row) for row in rows)])


def _line(row: Field) -> str:
    kind = row.kind.value + (f", {limit}" if (limit := bounds(row)) else "")
    kind += ", required" if row.required else ""
    words = " ".join(filter(None, (row.doc, row.note, f"Needs firectl {row.since}." if row.since else None)))
    effect = row.effect.value.replace("_", " ") if row.managed and row.effect is not Effect.NONE else ""
    effect += ", changes answers" if row.output else ""
    owner = " (shape)" if row.owner is Owner.SHAPE else ""
    example = f"`{_yaml(row.example)}`" if row.example is not None else ""
    cells = (f"`{row.path}`{owner}", kind, words, effect, example)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _yaml(value: Any) -> str:
    """An example as it is written in a spec, in flow style."""
    import yaml

    text: str = yaml.safe_dump(
        value, default_flow_style=True, width=10_000, allow_unicode=True, sort_keys=False
    )
    return text.removesuffix("...\n").strip()
