"""One inference request, read from its JSON body: every field checked, defaults filled in."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from fwctl.simulator.http.engine.fields import RequestError, fail, typed, whole

# Length when the caller gives no max_tokens (docs, predicted outputs page).
DEFAULT_MAX_TOKENS = 2048
MAX_STOPS = 4
MAX_CHOICES = 128
_FORMATS = ("text", "json_object", "json_schema", "grammar")
_RANGES: dict[str, tuple[float, float]] = {
    # SDK 1.2.30, completion_create_params.
    "temperature": (0, 2),
    "top_p": (0, 1),
    "top_k": (0, 100),
    "min_p": (0, 1),
    "typical_p": (0, 1),
    "frequency_penalty": (-2, 2),
    "presence_penalty": (-2, 2),
    "repetition_penalty": (0, 2),
}


@dataclass
class Request:
    """A checked request. `messages` is empty for text completions, `prompt` for chat."""

    model: str
    chat: bool
    messages: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[str | list[int]] = field(default_factory=list)
    max_tokens: int = DEFAULT_MAX_TOKENS
    n: int = 1
    stop: tuple[str, ...] = ()
    stream: bool = False
    include_usage: bool | None = None
    seed: int | None = None
    temperature: float = 1.0
    logprobs: bool = False
    legacy_logprobs: bool = False
    top_logprobs: int = 0
    echo: bool = False
    tools: list[dict[str, Any]] = field(default_factory=list)
    tool_choice: Any = "auto"
    parallel_tool_calls: bool = True
    response_format: str = "text"
    schema: Any = None
    grammar: str | None = None
    prediction: str | list[int] | None = None
    perf_metrics: bool = False
    return_token_ids: bool = False
    raw_output: bool = False
    ignore_eos: bool = False
    reasoning_effort: Any = None
    user: str | None = None
    cache_key: str | None = None
    isolation_key: str | None = None
    on_overflow: str = "truncate"
    truncate_prompt_to: int | None = None


def text_of(content: Any, param: str = "messages") -> str:
    """The text of a message's content: a string, null, or a list of parts. Images become a marker."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise fail("content must be a string or a list of parts", param)
    out = []
    for part in content:
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            raise fail("each content part is an object with a type", param)
        out.append(part.get("text") or "" if part["type"] == "text" else f"<{part['type']}>")
    return "".join(str(piece) for piece in out)


def _messages(body: dict[str, Any]) -> list[dict[str, Any]]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise fail("messages must be a list with at least one message", "messages")
    for i, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise fail(f"messages[{i}] must be an object with a role", "messages")
        if message["role"] not in {"system", "developer", "user", "assistant", "tool", "function"}:
            raise fail(f"messages[{i}].role {message['role']!r} is not a role", "messages")
        text_of(message.get("content"), f"messages[{i}].content")
    return messages


def _prompts(body: dict[str, Any]) -> list[str | list[int]]:
    prompt = body.get("prompt")
    if isinstance(prompt, str):
        return [prompt]
    if not isinstance(prompt, list) or not prompt:
        raise fail("prompt must be a string, a list of strings or token IDs", "prompt")
    if all(isinstance(part, int) and not isinstance(part, bool) for part in prompt):
        return [prompt]
    for part in prompt:
        ids = isinstance(part, list) and all(isinstance(x, int) and not isinstance(x, bool) for x in part)
        if not isinstance(part, str) and not ids:
            raise fail("prompt must be a string, a list of strings or token IDs", "prompt")
    return prompt


def _max_tokens(body: dict[str, Any]) -> int:
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        raise fail("max_tokens and max_completion_tokens cannot be given together", "max_tokens")
    name = "max_completion_tokens" if body.get("max_completion_tokens") is not None else "max_tokens"
    value: int = whole(body, name, DEFAULT_MAX_TOKENS, 0, 2**31 - 1)
    return value


def _stops(body: dict[str, Any]) -> tuple[str, ...]:
    stop = body.get("stop")
    if stop is None:
        return ()
    stops = [stop] if isinstance(stop, str) else stop
    if not isinstance(stops, list) or not all(isinstance(s, str) for s in stops):
        raise fail("stop must be a string or a list of strings", "stop")
    if len(stops) > MAX_STOPS:
        raise fail(f"stop takes up to {MAX_STOPS} sequences, not {len(stops)}", "stop")
    return tuple(s for s in stops if s)


def _format(body: dict[str, Any], request: Request) -> None:
    given = typed(body, "response_format", (dict,), None)
    if given is None:
        return
    kind = given.get("type")
    if kind not in _FORMATS:
        raise fail(f"response_format.type must be one of {', '.join(_FORMATS)}", "response_format")
    request.response_format = kind
    if kind in {"json_object", "json_schema"}:
        wrapped = given.get("json_schema")
        schema = wrapped if wrapped is not None else given.get("schema")
        # OpenAI wraps the schema with a name; Fireworks takes it bare too (SDK 1.2.30).
        if isinstance(schema, dict) and "schema" in schema and isinstance(schema.get("name"), str):
            schema = schema["schema"]
        if kind == "json_schema" and schema is None:
            raise fail("response_format.json_schema is required for type json_schema", "response_format")
        request.schema = schema
    if kind == "grammar":
        if not isinstance(given.get("grammar"), str):
            raise fail("response_format.grammar must be a string for type grammar", "response_format")
        request.grammar = given["grammar"]


def _tools(body: dict[str, Any], request: Request) -> None:
    tools = typed(body, "tools", (list,), [])
    for i, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise fail(f"tools[{i}] must be {{type: function, function: {{name, …}}}}", "tools")
    choice = body.get("tool_choice", "auto" if tools else "none")
    if isinstance(choice, dict):
        name = (
            (choice.get("function") or choice).get("name")
            if isinstance(choice.get("function") or {}, dict)
            else None
        )
        if name not in [tool["function"]["name"] for tool in tools]:
            raise fail(f"tool_choice names {name!r}, which is not among the tools", "tool_choice")
        choice = {"name": name}
    elif choice not in ("auto", "none", "any", "required", None):
        raise fail("tool_choice must be auto, none, any, required or a function", "tool_choice")
    if choice in ("any", "required") and not tools:
        raise fail(f"tool_choice {choice} needs tools", "tool_choice")
    request.tools, request.tool_choice = tools, choice or "auto"
    request.parallel_tool_calls = typed(body, "parallel_tool_calls", (bool,), True)


def _logprobs(body: dict[str, Any], request: Request) -> None:
    given = typed(body, "logprobs", (bool, int), None)
    top = whole(body, "top_logprobs", None, 0, 5)
    if given is None or given is False:
        if top:
            raise fail("top_logprobs needs logprobs", "top_logprobs")
        return
    request.logprobs = True
    if given is True:
        request.top_logprobs = top or 0
    else:
        if not 0 <= given <= 5:
            raise fail(f"logprobs must be between 0 and 5, not {given}", "logprobs")
        request.legacy_logprobs = True
        request.top_logprobs = given if top is None else top


def _prediction(body: dict[str, Any]) -> str | list[int] | None:
    prediction, speculation = body.get("prediction"), body.get("speculation")
    if prediction is not None and speculation is not None:
        raise fail("prediction and speculation cannot be given together", "prediction")
    if isinstance(prediction, dict):
        if prediction.get("type", "content") != "content":
            raise fail("prediction.type must be content", "prediction")
        return text_of(prediction.get("content"), "prediction.content")
    if prediction is not None and not isinstance(prediction, str):
        raise fail("prediction must be a string or {type: content, content}", "prediction")
    if isinstance(speculation, list):
        if not all(isinstance(part, int) and not isinstance(part, bool) for part in speculation):
            raise fail("speculation must be a string or token IDs", "speculation")
        return speculation
    if speculation is not None and not isinstance(speculation, str):
        raise fail("speculation must be a string or token IDs", "speculation")
    return prediction if prediction is not None else speculation


def _effort(body: dict[str, Any]) -> Any:
    """`reasoning_effort`, or what the Anthropic-style `thinking` object means in its terms."""
    effort, thinking = body.get("reasoning_effort"), typed(body, "thinking", (dict,), None)
    if thinking is not None:
        if effort is not None:
            raise fail("thinking and reasoning_effort cannot be given together", "thinking")
        if thinking.get("type") == "disabled":
            return "none"
        if thinking.get("type") != "enabled":
            raise fail("thinking.type must be enabled or disabled", "thinking")
        budget = thinking.get("budget_tokens")
        if budget is None:
            return "medium"
        if not isinstance(budget, int) or budget < 1024:
            raise fail("thinking.budget_tokens must be at least 1024", "thinking")
        return budget
    if isinstance(effort, bool):
        return "medium" if effort else "none"
    if (
        effort is None
        or effort in ("low", "medium", "high", "none")
        or (isinstance(effort, int) and effort > 0)
    ):
        return effort
    raise fail(f"Invalid reasoning effort: {effort}", "reasoning_effort")


def read(body: Any, *, chat: bool) -> Request:
    """The request of a decoded JSON body. Raises RequestError with the field at fault."""
    if not isinstance(body, dict):
        raise RequestError("the request body must be a JSON object")
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise fail("model must be a non-empty string", "model")
    for name, (low, high) in _RANGES.items():
        value = typed(body, name, (int, float), None)
        if value is not None and not low <= value <= high:
            raise fail(f"{name} must be between {low:g} and {high:g}, not {value}", name)
    request = Request(model, chat)
    if chat:
        request.messages = _messages(body)
    else:
        request.prompts = _prompts(body)
    request.max_tokens = _max_tokens(body)
    request.n = whole(body, "n", 1, 1, MAX_CHOICES)
    request.stop = _stops(body)
    request.stream = typed(body, "stream", (bool,), False)
    options = typed(body, "stream_options", (dict,), None)
    if options is not None:
        request.include_usage = bool(options.get("include_usage"))
    request.seed = typed(body, "seed", (int,), None)
    request.temperature = float(typed(body, "temperature", (int, float), 1.0))
    _logprobs(body, request)
    _tools(body, request)
    _format(body, request)
    request.prediction = _prediction(body)
    request.reasoning_effort = _effort(body)
    _flags(body, request)
    return request


def _flags(body: dict[str, Any], request: Request) -> None:
    request.echo = typed(body, "echo", (bool,), False)
    request.perf_metrics = typed(body, "perf_metrics_in_response", (bool,), False)
    request.return_token_ids = typed(body, "return_token_ids", (bool,), False)
    request.raw_output = typed(body, "raw_output", (bool,), False)
    request.ignore_eos = typed(body, "ignore_eos", (bool,), False)
    request.user = typed(body, "user", (str,), None)
    request.cache_key = typed(body, "prompt_cache_key", (str,), None)
    request.isolation_key = typed(body, "prompt_cache_isolation_key", (str,), None)
    request.truncate_prompt_to = whole(body, "prompt_truncate_len", None, 1, 2**31 - 1)
    request.on_overflow = typed(body, "context_length_exceeded_behavior", (str,), "truncate")
    if request.on_overflow not in {"truncate", "error"}:
        raise fail(
            "context_length_exceeded_behavior must be error or truncate", "context_length_exceeded_behavior"
        )


def rendered(request: Request) -> str:
    """The prompt as one text: a plain chat template, tools included."""
    if not request.chat:
        raise ValueError("only a chat request is rendered")
    parts = [f"<|tools|>{json.dumps(request.tools, ensure_ascii=False)}<|end|>"] if request.tools else []
    for message in request.messages:
        calls = message.get("tool_calls")
        tail = json.dumps(calls, ensure_ascii=False) if calls else ""
        parts.append(f"<|{message['role']}|>{text_of(message.get('content'))}{tail}<|end|>")
    return "\n".join([*parts, "<|assistant|>"])
