"""One target of a file: its fields, how they are read, and the rules across them."""

from __future__ import annotations

import re
from typing import Any

from fwctl.catalog.field import Field, Kind
from fwctl.env import FIREWORKS_KEY
from fwctl.inference.client import FIREWORKS_URL, Timeouts
from fwctl.measure.key_entry import (
    A_KEY_OF_ITS_OWN,
    HOW_TO_NAME,
    KEY,
    NOT_THERE,
    named_variable,
    without_key,
)
from fwctl.measure.objectives import slo_seconds
from fwctl.measure.target import Target, is_fireworks, is_key, url_problem
from fwctl.spec import environment, values
from fwctl.spec.groups import Group, group_of
from fwctl.spec.mistakes import described
from fwctl.spec.nodes import Broken, Scalar
from fwctl.spec.nodes import Mapping as Tree
from fwctl.spec.reader import Checked, Reader, Run, layered
from fwctl.spec.report import escape, shown
from fwctl.spec.scalars import Form, form_of
from fwctl.units import parse_duration

# What a target says. Bodies (`extra`, `response_format`) are taken as they are written.
FIELDS: tuple[Field, ...] = (
    Field("deployment", Kind.TEXT, "Logical name of a deployment of the specs.", example="chat"),
    Field("model", Kind.TEXT, "Model string that is sent; MODEL#DEPLOYMENT for an addon.", example="m"),
    Field("base_url", Kind.TEXT, "OpenAI-compatible server, up to /v1.", example=FIREWORKS_URL),
    Field("account", Kind.TEXT, "Account of the deployment.", example="acme"),
    Field("predictions", Kind.BOOL, "Send the `prediction` of a prompt.", example=True),
    Field("schema_in_prompt", Kind.BOOL, "Tell the model the schema in words too.", example=True),
    Field("response_format", Kind.OBJECT, "Instead of the prompt's own.", example={"type": "json_object"}),
    Field("extra", Kind.OBJECT, "Joins every request body.", example={"top_p": 0.9}),
    Field("headers", Kind.TAGS, "Sent with every request; no secrets.", example={"x-team": "search"}),
    Field("timeouts.connect", Kind.DURATION, "To connect.", example="10s"),
    Field("timeouts.ttft", Kind.DURATION, "Until the first token.", example="2m"),
    Field("timeouts.idle", Kind.DURATION, "Between two reads.", example="1m"),
    Field("timeouts.total", Kind.DURATION, "For everything.", example="10m"),
    Field("usd_per_hour", Kind.NUMBER, "Cost of all its replicas.", minimum=0, example=8.0),
    Field("slo.ttft_p95_ms", Kind.NUMBER, "Objective of goodput.", minimum=0, example=800),
    Field("slo.tpot_p95_ms", Kind.NUMBER, "Objective of goodput.", minimum=0, example=25),
    Field("slo.total_p95_ms", Kind.NUMBER, "Objective of goodput.", minimum=0, example=12000),
    Field("price.input", Kind.NUMBER, "USD per million prompt tokens.", minimum=0, example=0.2),
    Field("price.cached_input", Kind.NUMBER, "USD per million cached ones.", minimum=0, example=0.1),
    Field("price.output", Kind.NUMBER, "USD per million output tokens.", minimum=0, example=0.8),
)
_SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"})
# What frames a request: another value would break it, or bring answers that are not read.
_OWN_HEADERS = frozenset(
    {"content-length", "transfer-encoding", "content-encoding", "accept-encoding", "connection", "expect"}
)
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 9110, section 5.1
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def _group() -> Group:
    group = group_of(FIELDS)
    group.children[KEY] = Field(KEY, Kind.TEXT, "Reference to the variable that holds the key.")
    return group


def read_fields(reader: Reader, node: Tree) -> Checked:
    """Values of one mapping; that of `api_key` is the name of its variable."""
    checked = reader.read(_group(), without_key(node))
    if (name := named_variable(reader, node)) is not None:
        checked.values[KEY] = name
    for path in ("extra", "response_format"):
        if path in checked.values:
            checked.values[path] = plain(checked.values[path])
    for name, text in checked.references.get("headers", {}).items():
        if environment.OPENING in str(text):
            _no_secret(reader, f"headers.{name}")
    for name, text in checked.values.get("headers", {}).items():
        if name.lower() in _SECRET_HEADERS:
            _no_secret(reader, f"headers.{name}")
        elif problem := _header_problem(name, text):
            reader.problem("FW203", checked.places[f"headers.{name}"], problem, path="headers")
    if "response_format" in checked.values.get("extra", {}):
        message = "response_format stands in extra, where answers are not judged by it"
        reader.problem("FW203", checked.places["extra"], message, "write it beside extra", path="extra")
    return checked


def _header_problem(name: str, text: str) -> str | None:
    """What keeps a header from being sent as it is written."""
    if not _HEADER.fullmatch(name):
        return f"{shown(name)} is no name of a header"
    if name.lower() in _OWN_HEADERS:
        return f"{name} follows from the request and cannot be given"
    return f"the header {name} must be one line" if _CONTROL.search(text) else None


def _no_secret(reader: Reader, path: str) -> None:
    reader.run.report.sources.hide(reader.checked.places[path])
    message = f"{path} is written to the files of a run, so it takes no secret"
    reader.problem("FW207", reader.checked.places[path], message, HOW_TO_NAME, path="headers")


def plain(node: Any) -> Any:
    """A tree as the JSON value that YAML 1.2 makes of it."""
    if not isinstance(node, Scalar):
        if isinstance(node, Tree):
            return {text: plain(value) for text, (_, value) in node.entries.items()}
        return [plain(item) for item in getattr(node, "items", ())]
    form = form_of(node.text) if node.plain else Form.TEXT
    if form in (Form.FLOAT, Form.EXPONENT):
        return float(node.text)
    return None if form is Form.NULL else values.raw(node)


class Entry:
    """One target: its own fields over the defaults, and the rules across them."""

    def __init__(self, run: Run, name: str, key: Scalar, defaults: Checked) -> None:
        self.reader = Reader(run, "/targets/" + escape(name), name)
        self.name = name
        self.span = (key.start, key.end)
        self.defaults = defaults

    def target(self, node: Any) -> Target | None:
        if not isinstance(node, Tree):
            if not isinstance(node, Broken):
                message = f"target {shown(self.name)} must be a mapping of fields, not {described(node)}"
                self.reader.problem("FW202", self.span, message, "indent its fields below its name")
            return None
        if not self.name.strip():
            self.reader.problem("FW203", self.span, "the name of a target is empty", "give it a name")
        self.checked = layered([self.defaults, read_fields(self.reader, node)])
        self._model()
        key, url = self._key(), self._url()
        get = self.checked.values.get
        return Target(
            self.name,
            url,
            get("model") or "",
            self.reader.run.environ.get(key) if key else None,
            self._timeouts(),
            extra=get("extra") or {},
            headers=get("headers") or {},
            predictions=get("predictions", True),
            response_format=get("response_format"),
            schema_in_prompt=get("schema_in_prompt", True),
            deployment=get("deployment"),
            usd_per_hour=get("usd_per_hour"),
            api_key_env=key,
            account=get("account"),
            slo_s=slo_seconds(self.checked.values),
            token_prices={
                path.partition(".")[2]: value
                for path, value in self.checked.values.items()
                if path.startswith("price.")
            },
        )

    def _wrong(self, code: str, path: str, message: str, suggestion: str | None = None) -> None:
        span = self.checked.places.get(path, self.span)
        self.reader.problem(code, span, message, suggestion, path=path if path in self.checked.places else "")

    def _model(self) -> None:
        places = self.checked.places
        if ("model" in places) == ("deployment" in places):
            message = f"target {shown(self.name)} needs either deployment or model"
            self._wrong(
                "FW204", "model", message, "deployment: a name of the specs; model: the string to send"
            )
        for path in ("model", "deployment"):
            if self.checked.values.get(path) == "":
                self._wrong("FW203", path, f"{path} is empty")

    def _url(self) -> str:
        written = self.checked.values.get("base_url")
        if written is None:
            return FIREWORKS_URL
        text = str(written).rstrip("/")
        problem = url_problem(text)
        if problem:
            self.reader.run.report.sources.hide(self.checked.places["base_url"])
            self._wrong("FW203", "base_url", f"base_url {problem}", f"for example {FIREWORKS_URL}")
        return text

    def _key(self) -> str | None:
        """Name of the variable. The Fireworks key goes to Fireworks and nowhere else."""
        key, url = self.checked.values.get(KEY), self._fireworks()
        if key is None and (not url or KEY in self.checked.places):  # the latter is wrong, and told
            return None
        if key == FIREWORKS_KEY and not url:
            self._wrong("FW207", KEY, NOT_THERE, A_KEY_OF_ITS_OWN)
        elif self.reader.run.need_secrets:
            self._require_set(key or FIREWORKS_KEY)
        return str(key or FIREWORKS_KEY)

    def _require_set(self, variable: str) -> None:
        """Without its key a server answers no request, and each would be sent."""
        found = self.reader.run.environ.get(variable)
        if not found:
            advice = "set the variable where fwctl runs"
            if variable == FIREWORKS_KEY:
                advice += ", or write base_url: for another server"
            self._wrong("FW108", KEY, f"environment variable {variable} is not set", advice)
        elif not is_key(found):
            self._wrong("FW108", KEY, f"environment variable {variable} holds characters that no key has")

    def _fireworks(self) -> bool:
        return is_fireworks(str(self.checked.values.get("base_url", FIREWORKS_URL)))

    def _timeouts(self) -> Timeouts:
        seconds = {
            f"{path.partition('.')[2]}_s": parse_duration(value)
            for path, value in self.checked.values.items()
            if path.startswith("timeouts.")
        }
        for name, value in seconds.items():
            if value <= 0:
                path = f"timeouts.{name.removesuffix('_s')}"
                self._wrong("FW203", path, f"{path} must be above 0")
        return Timeouts(**seconds)
