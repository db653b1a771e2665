"""A JSON value that obeys a JSON Schema, drawn from a seed."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from typing import Any

from fwctl.simulator.http.engine.prose import pieces
from fwctl.simulator.http.engine.regexgen import PatternError, matching

# A schema that needs more values than this is refused; deeper than this only required parts are made.
_MOST_VALUES = 20_000
_DEEP = 6
_DEEPEST = 60
_TRIES = 100
_FORMATS: dict[str, str] = {
    "date-time": "2026-03-14T09:26:53Z",
    "date": "2026-03-14",
    "time": "09:26:53Z",
    "duration": "PT5M",
    "email": "person@example.com",
    "hostname": "www.example.com",
    "ipv4": "192.0.2.17",
    "ipv6": "2001:db8::17",
    "uri": "https://example.com/item/17",
    "uuid": "7f9c24e8-3b1a-4f0e-9d6c-2a5b8e1d4c70",
}


class SchemaError(Exception):
    """The schema is not one, or no value can be made for it. The text names the place."""


def _merged(base: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """`allOf` by hand: properties and required are joined, the rest of `extra` wins."""
    out = {**base, **extra}
    if "properties" in base and "properties" in extra:
        out["properties"] = {**base["properties"], **extra["properties"]}
    if "required" in base and "required" in extra:
        out["required"] = [*base["required"], *extra["required"]]
    return out


class _Maker:
    def __init__(self, root: Any, rng: random.Random) -> None:
        self.root = root
        self.rng = rng
        self.left = _MOST_VALUES
        self.types: dict[str, Callable[[dict[str, Any], int, str], Any]] = {
            "object": self.object,
            "array": self.array,
            "string": self.string,
            "integer": self.integer,
            "number": self.number,
            "boolean": lambda *_: self.rng.random() < 0.5,
            "null": lambda *_: None,
        }

    def value(self, schema: Any, depth: int, where: str) -> Any:
        self.left -= 1
        if self.left < 0 or depth > _DEEPEST:
            raise SchemaError(f"{where}: the schema needs too large a value")
        if schema is True or schema == {}:
            return " ".join(word.strip() for _, word in zip(range(2), pieces(self.rng), strict=False))
        if not isinstance(schema, dict):
            raise SchemaError(f"{where}: a schema is an object or true")
        schema = self.resolved(schema, where)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.choice(schema["enum"], where + "/enum")
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self.alternative(schema, key, depth, where)
        return self.typed(schema, depth, where)

    def choice(self, options: Any, where: str) -> Any:
        if not isinstance(options, list) or not options:
            raise SchemaError(f"{where}: not a list with at least one entry")
        return self.rng.choice(options)

    def resolved(self, schema: dict[str, Any], where: str) -> dict[str, Any]:
        """The schema with `$ref` and `allOf` put in."""
        for _ in range(_DEEPEST):
            if "$ref" in schema:
                rest = {key: value for key, value in schema.items() if key != "$ref"}
                schema = _merged(self.pointed(schema["$ref"], where), rest)
            elif "allOf" in schema:
                rest = {key: value for key, value in schema.items() if key != "allOf"}
                for part in schema["allOf"]:
                    if not isinstance(part, dict):
                        raise SchemaError(f"{where}/allOf: a schema is an object")
                    rest = _merged(rest, self.resolved(part, where) if "$ref" in part else part)
                schema = rest
            else:
                return schema
        raise SchemaError(f"{where}: $ref goes round in a circle")

    def pointed(self, reference: Any, where: str) -> dict[str, Any]:
        target = self.root
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise SchemaError(f"{where}: only references inside the schema are understood, not {reference!r}")
        for part in reference[1:].split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, dict) else None
        if not isinstance(target, dict):
            raise SchemaError(f"{where}: {reference!r} points to no schema")
        return target

    def alternative(self, schema: dict[str, Any], key: str, depth: int, where: str) -> Any:
        """One of the alternatives; deep down one that does not go deeper, where there is one."""
        rest = {name: value for name, value in schema.items() if name not in {"anyOf", "oneOf"}}
        options = schema[key]
        if not isinstance(options, list) or not options:
            raise SchemaError(f"{where}/{key}: not a list with at least one entry")
        if depth >= _DEEP:
            flat = [o for o in options if isinstance(o, dict) and o.get("type") not in {"object", "array"}]
            options = [o for o in flat if "$ref" not in o] or options
        chosen = self.rng.choice(options)
        return self.value(_merged(rest, chosen) if isinstance(chosen, dict) else rest, depth + 1, where)

    def typed(self, schema: dict[str, Any], depth: int, where: str) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list):
            flat = [name for name in kind if name not in {"object", "array"}] if depth >= _DEEP else kind
            kind = self.choice(flat or kind, where + "/type")
        if kind is None:
            kind = "object" if "properties" in schema else "array" if "items" in schema else "string"
        maker = self.types.get(kind) if isinstance(kind, str) else None
        if maker is None:
            raise SchemaError(f"{where}/type: {kind!r} is not a JSON type")
        return maker(schema, depth, where)

    def object(self, schema: dict[str, Any], depth: int, where: str) -> dict[str, Any]:
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        if not isinstance(properties, dict) or not isinstance(required, list):
            raise SchemaError(f"{where}: properties is an object and required a list")
        wanted = [
            name for name in properties if name in required or (depth < _DEEP and self.rng.random() < 0.7)
        ]
        out = {name: self.value(properties[name], depth + 1, f"{where}/{name}") for name in wanted}
        extra = schema.get("additionalProperties", {})
        names = [name for name in required if name not in properties]
        names += [f"key{i}" for i in range(schema.get("minProperties", 0) - len(out) - len(names))]
        for name in names:
            out[name] = self.value(extra or {}, depth + 1, f"{where}/{name}")
        return out

    def array(self, schema: dict[str, Any], depth: int, where: str) -> list[Any]:
        prefix = schema.get("prefixItems", [])
        low = schema.get("minItems", 0)
        high = schema.get("maxItems", max(low, 0 if depth >= _DEEP else low + 3))
        count = self.rng.randint(low, max(low, min(high, low + 3)))
        items = schema.get("items", {})
        unique = schema.get("uniqueItems") is True
        out: list[Any] = []
        for i in range(max(count, min(len(prefix), high))):
            part = prefix[i] if i < len(prefix) else items
            if part is False:
                break
            made, fresh = self.fresh(part, out, depth, f"{where}/{i}", unique)
            if not fresh:
                break
            out.append(made)
        if len(out) < low:
            raise SchemaError(f"{where}: too few different values for uniqueItems")
        return out

    def fresh(self, schema: Any, before: list[Any], depth: int, where: str, unique: bool) -> tuple[Any, bool]:
        """A value, and whether it may stand beside those before it."""
        for _ in range(_TRIES if unique else 1):
            made = self.value(schema, depth + 1, where)
            if not unique or made not in before:
                return made, True
        return None, False

    def string(self, schema: dict[str, Any], _: int, where: str) -> str:
        low, high = schema.get("minLength", 0), schema.get("maxLength", math.inf)
        if "pattern" in schema:
            return self.by_pattern(schema["pattern"], low, high, where)
        if schema.get("format") in _FORMATS:
            return _FORMATS[schema["format"]]
        words = pieces(self.rng)
        text = ""
        count = self.rng.randint(1, 5)
        while len(text) < low or count > 0:
            text += next(words)
            count -= 1
            if len(text) > 100_000:
                raise SchemaError(f"{where}/minLength: too long a text")
        return (
            text.rstrip(".")
            if high == math.inf and len(text.rstrip(".")) >= low
            else text[: int(min(high, len(text)))]
        )

    def by_pattern(self, pattern: Any, low: int, high: float, where: str) -> str:
        try:
            for _ in range(50):
                text = matching(str(pattern), self.rng)
                if low <= len(text) <= high:
                    return text
        except PatternError as error:
            raise SchemaError(f"{where}/pattern: {error}") from None
        raise SchemaError(f"{where}/pattern: no text of the right length was found")

    def bounds(self, schema: dict[str, Any], step: float) -> tuple[float, float]:
        low = schema.get("minimum", -math.inf)
        high = schema.get("maximum", math.inf)
        if isinstance(schema.get("exclusiveMinimum"), int | float):
            low = max(low, schema["exclusiveMinimum"] + step)
        if isinstance(schema.get("exclusiveMaximum"), int | float):
            high = min(high, schema["exclusiveMaximum"] - step)
        if low == -math.inf:
            low = min(0.0, high - 100) if high != math.inf else 0.0
        return low, (low + 1000 if high == math.inf else high)

    def integer(self, schema: dict[str, Any], _: int, where: str) -> int:
        low, high = self.bounds(schema, 1)
        step = int(schema.get("multipleOf", 1)) or 1
        first, last = math.ceil(low / step), math.floor(high / step)
        if first > last:
            raise SchemaError(f"{where}: no integer lies between {low} and {high}")
        return self.rng.randint(first, last) * step

    def number(self, schema: dict[str, Any], _: int, where: str) -> float:
        low, high = self.bounds(schema, 1e-6)
        step = schema.get("multipleOf")
        if low > high:
            raise SchemaError(f"{where}: no number lies between {low} and {high}")
        if step:
            return self.rng.randint(
                math.ceil(low / step), max(math.ceil(low / step), math.floor(high / step))
            ) * float(step)
        return min(high, max(low, round(self.rng.uniform(low, high), 2)))


def value_for(schema: Any, rng: random.Random) -> Any:
    """A value of `schema` (an object, `true`, or the JSON text of one). Raises SchemaError."""
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except ValueError as error:
            raise SchemaError(f"the schema is not JSON: {error}") from None
    try:
        return _Maker(schema, rng).value(schema, 0, "#")
    except (TypeError, AttributeError, KeyError, ValueError, RecursionError) as error:
        raise SchemaError(f"the schema is malformed: {error}") from None


def any_object(rng: random.Random) -> dict[str, Any]:
    """A small object, for `json_object` without a schema."""
    words = pieces(rng)
    names = [next(words).strip().lower() or "key" for _ in range(rng.randint(2, 4))]
    return {name: " ".join(next(words).strip() for _ in range(2)) for name in names if name.isalpha()} or {
        "answer": 1
    }
