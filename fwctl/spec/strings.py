"""The text of a scalar, with its references to the environment resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fwctl.catalog.field import Field
from fwctl.spec import environment
from fwctl.spec.mistakes import wrong_type
from fwctl.spec.nodes import Scalar, Written
from fwctl.spec.scalars import Form, form_of

if TYPE_CHECKING:
    from fwctl.spec.reader import Reader


def string(reader: Reader, row: Field, node: Written, path: str) -> str | None:
    """The text of a scalar with its references resolved."""
    if not isinstance(node, Scalar) or (node.plain and form_of(node.text) is not Form.TEXT):
        wrong_type(reader, row, node, path)
        return None
    if environment.OPENING not in node.text:
        return node.text
    reader.referenced = True
    text, problems = environment.resolve(node.text, reader.run.environ)
    for problem in problems:
        reader.problem(
            "FW108",
            reader.checked.places[path],
            f"{path}: {problem}",
            "set the variable where fwctl runs, or write the value",
            path=path,
        )
    return None if problems else text
