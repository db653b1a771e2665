"""The `api_key` of a target in a file: a reference to a variable, never the key itself."""

from __future__ import annotations

from fwctl.env import FIREWORKS_KEY
from fwctl.spec.environment import variable_of
from fwctl.spec.nodes import Broken, Mapping, Scalar, place
from fwctl.spec.reader import Reader

KEY = "api_key"
HOW_TO_NAME = 'write api_key: "${env:NAME}"'
NOT_THERE = f"{FIREWORKS_KEY} is sent to Fireworks only, and base_url is another server"
A_KEY_OF_ITS_OWN = "give that server a key of its own"


def without_key(node: Mapping) -> Mapping:
    """The mapping without its key, which is read apart, so that nothing ever holds its value by accident."""
    rest = Mapping(node.start, node.end)
    rest.entries = {text: entry for text, entry in node.entries.items() if text != KEY}
    return rest


def named_variable(reader: Reader, node: Mapping) -> str | None:
    """The variable that holds the key; None when none is named. FW207 for a key that is written out: it is
    neither quoted nor shown."""
    if KEY not in node.entries:
        return None
    key, value = node.entries[KEY]
    reader.checked.places[KEY] = place(key, value)
    if isinstance(value, Broken):
        return None
    name = variable_of(value.text) if isinstance(value, Scalar) else None
    if name is None:
        reader.run.report.sources.hide((value.start, value.end))
        message = "api_key takes a reference to an environment variable and nothing else"
        reader.problem("FW207", reader.checked.places[KEY], message, HOW_TO_NAME, path=KEY)
    return name
