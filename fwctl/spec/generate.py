"""`python -m fwctl.spec.generate DOCS` writes what is generated from the tables of this room."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fwctl.spec.jsonschema import schema
from fwctl.spec.reference import reference
from fwctl.spec.rulebook import index, page, rules


def generated() -> dict[str, str]:
    """Path below docs/ -> text. A test keeps the files equal to this."""
    pages = {f"rules/{rule.code}.md": page(rule) for rule in rules()}
    return {
        "spec.md": reference(),
        "fwctl.schema.json": json.dumps(schema(), indent=2, ensure_ascii=False) + "\n",
        "rules/README.md": index(),
        **pages,
    }


def main(docs: Path) -> None:
    for name, text in generated().items():
        place = docs / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
