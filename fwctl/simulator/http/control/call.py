"""One REST call: its path parameters, its query and its body, read as the gateway reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from fwctl.simulator.platform import names, protojson, schema, wire
from fwctl.simulator.platform.errors import PlatformError, invalid
from fwctl.simulator.platform.listing import Page, Query

Doc = dict[str, Any]

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False, "": False}


def _unparsed(kind: str, function: str, name: str, text: str) -> PlatformError:
    return invalid(f'parsing {kind} parameter {name}: strconv.{function}: parsing "{text}": invalid syntax')


class Call(NamedTuple):
    """path: parameters of the route. text: the body as it came."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    text: str

    @property
    def account(self) -> str:
        return self.path["account"]

    def name(self, collection: str) -> str:
        """The full name of the resource the path names."""
        return names.join(self.account, collection, self.path["id"])

    def _query(self, name: str) -> str:
        """A query parameter, in camel or snake case as the gateway takes both."""
        return self.query.get(name, self.query.get(schema.snake(name), ""))

    def flag(self, name: str) -> bool:
        text = self._query(name)
        if text.lower() not in _BOOLEANS:
            raise invalid(
                f'parsing bool parameter {name}: strconv.ParseBool: parsing "{text}": invalid syntax'
            )
        return _BOOLEANS[text.lower()]

    def word(self, name: str) -> str:
        return self._query(name)

    def number(self, name: str) -> int:
        text = self._query(name)
        if not text:
            return 0
        try:
            return int(text)
        except ValueError:
            raise invalid(
                f'parsing int32 parameter {name}: strconv.ParseInt: parsing "{text}": invalid syntax'
            ) from None

    def mask(self, name: str) -> list[str]:
        """A field mask, comma separated, as REST names; `autoscaling_policy.load_targets` keeps its dot."""
        return [schema.camel(part.strip()) for part in self._query(name).split(",") if part.strip()]

    def listing(self) -> Query:
        return Query(
            self.word("filter"), self.word("orderBy"), self.number("pageSize"), self.word("pageToken")
        )

    def body(self, message: str) -> Doc:
        """The body as a message, without what only the server writes. Raises InvalidArgument."""
        return writable(message, protojson.parse(message, self.text or "{}"))

    def document(self) -> Doc:
        """The body of a method without a message of its own. Raises InvalidArgument."""
        try:
            parsed: Any = orjson.loads(self.text or "{}")
        except orjson.JSONDecodeError as error:
            raise invalid(f"proto: syntax error: {error}") from None
        if not isinstance(parsed, dict):
            raise invalid("proto: syntax error (line 1:1): unexpected token")
        return parsed


def writable(message: str, doc: Doc) -> Doc:
    """Without output-only fields, which the gateway drops from requests."""
    known = schema.fields(message)
    return {key: value for key, value in doc.items() if not known[key].endswith("!")}


def shown(message: str, doc: Doc, mask: list[str] | None = None) -> Doc:
    """A resource as the gateway answers it, with empty values; a read mask keeps the named fields."""
    full = wire.full(message, {key: value for key, value in doc.items() if key != "_sim"})
    if mask and "*" not in mask:
        wanted = {path.partition(".")[0] for path in mask} | {"name"}
        return {key: value for key, value in full.items() if key in wanted}
    return full


def shown_page(message: str, key: str, page: Page, mask: list[str]) -> Doc:
    """A list answer: `{key: […], nextPageToken, totalSize}`."""
    return {
        key: [shown(message, doc, mask) for doc in page.items],
        "nextPageToken": page.next_token,
        "totalSize": page.total,
    }
