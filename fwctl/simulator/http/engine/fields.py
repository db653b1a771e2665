"""Reading single fields of a request body, each refusal naming its field."""

from __future__ import annotations

from typing import Any


class RequestError(Exception):
    """A body that the platform refuses with 400; `param` is the field at fault."""

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param


def fail(message: str, param: str) -> RequestError:
    return RequestError(message, param)


def typed(body: dict[str, Any], name: str, kinds: tuple[type, ...], default: Any) -> Any:
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        wanted = " or ".join(
            {
                "str": "string",
                "int": "integer",
                "float": "number",
                "bool": "boolean",
                "list": "list",
                "dict": "object",
            }[k.__name__]
            for k in kinds
        )
        raise fail(f"{name} must be a {wanted}", name)
    return value


def whole(body: dict[str, Any], name: str, default: int | None, low: int, high: int) -> Any:
    value = typed(body, name, (int,), default)
    if value is not None and not low <= value <= high:
        raise fail(f"{name} must be between {low} and {high}, not {value}", name)
    return value
