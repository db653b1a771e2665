"""A small evaluation set, one prompt for each grader that needs no endpoint and no file."""

from __future__ import annotations

import json

_ROWS = (
    {
        "id": "capital-1",
        "type": "chat",
        "prompt": "What is the capital of Norway? Answer with its name only.",
        "expected": "Oslo",
        "grader": {"type": "exact", "ignore_case": True},
    },
    {
        "id": "uses-1",
        "type": "chat",
        "prompt": "Say in one sentence what a lighthouse is for.",
        "expected": ["ship", "boat", "vessel", "sailor"],
        "grader": {"type": "contains", "any": True, "ignore_case": True},
    },
    {
        "id": "date-1",
        "type": "edit",
        "prompt": "Write 3 May 2026 as an ISO date and nothing else.",
        "expected": "2026-05-03",
        "grader": {"type": "regex", "pattern": "2026-05-03"},
    },
    {
        "id": "sum-1",
        "type": "math",
        "prompt": "A crate holds 48 bottles. How many bottles are in 27 crates?",
        "expected": 1296,
        "grader": "numeric",
    },
    {
        "id": "parcel-1",
        "type": "extract",
        "prompt": "Answer in JSON with the keys city and pieces: three parcels go to Oslo.",
        "expected": {"city": "Oslo", "pieces": 3},
        "grader": "json",
        "response_format": {"type": "json_object"},
    },
    {
        "id": "address-1",
        "type": "extract",
        "prompt": "Answer in JSON: Anna lives at Storgata 1, 0155 Oslo.",
        "grader": "json_schema",
        "response_format": {
            "type": "json_object",
            "schema": {
                "type": "object",
                "properties": {"street": {"type": "string"}, "postcode": {"type": "string"}},
                "required": ["street", "postcode"],
            },
        },
    },
)


def example() -> str:
    """The set as JSON lines; every prompt at temperature 0."""
    rows = ({**row, "max_tokens": 256, "temperature": 0} for row in _ROWS)
    return "".join(json.dumps(row) + "\n" for row in rows)
