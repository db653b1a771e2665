"""One target of a route: its fields, and the rules across them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from fwctl.env import FIREWORKS_KEY
from fwctl.measure.key_entry import A_KEY_OF_ITS_OWN, KEY, NOT_THERE, named_variable, without_key
from fwctl.measure.target import is_fireworks, is_key, url_problem
from fwctl.routing.fields import CAPABILITIES, TARGET
from fwctl.routing.model import Target, Timeouts
from fwctl.spec.closest import did_you_mean, listed
from fwctl.spec.groups import group_of
from fwctl.spec.nodes import Mapping as Tree
from fwctl.spec.reader import Reader
from fwctl.spec.report import shown
from fwctl.spec.sources import Span
from fwctl.units import parse_duration


@dataclass(frozen=True, slots=True)
class Around:
    """What a target takes from its file. outputs: logical name -> model string, None without a file."""

    account: str | None
    url: str
    outputs: Mapping[str, str] | None


def timeouts(reader: Reader, base: Timeouts) -> Timeouts:
    """The timeouts that were written over `base`; each must be above 0."""
    seconds: dict[str, float] = {}
    for path, value in reader.checked.values.items():
        if path.startswith("timeouts."):
            seconds[f"{path.partition('.')[2]}_s"] = parse_duration(value)
            if parse_duration(value) <= 0:
                problem(reader, "FW203", path, f"{path} must be above 0", "for example 10s", span=(0, 0))
    return Timeouts(**{**{name: getattr(base, name) for name in Timeouts.__slots__}, **seconds})


def problem(
    reader: Reader, code: str, path: str, message: str, suggestion: str | None, *, span: Span
) -> None:
    """Report at the place of `path`, or at `span` where that was not written."""
    known = path in reader.checked.places
    at = reader.checked.places.get(path, span)
    reader.problem(code, at, message, suggestion, path=path if known else "")


class TargetEntry:
    """Reads one item of `targets`. base: the timeouts of the route."""

    def __init__(self, reader: Reader, span: Span, around: Around, base: Timeouts) -> None:
        self.reader = reader
        self.span = span
        self.around = around
        self.base = base

    def target(self, node: Tree) -> Target:
        self.reader.read(group_of(TARGET), without_key(node))
        get = self.reader.checked.values.get
        url = self._url()
        own = is_trusted(url)
        account = get("account") or (self.around.account if own else None)
        model = self._model(account)
        deployment = _deployment_of(model)
        return Target(
            name=str(get("name") or get("deployment") or model.rpartition("/")[2]),
            model=model,
            url=url,
            api_key=self._key(node, url),
            account=account,
            deployment=deployment,
            region=get("region"),
            weight=get("weight"),
            lacks=frozenset(self._lacks()),
            context_length=get("context_length"),
            timeouts=timeouts(self.reader, self.base),
            position=self.reader.run.report.sources.position(self.span),
        )

    def _wrong(self, code: str, path: str, message: str, suggestion: str | None = None) -> None:
        problem(self.reader, code, path, message, suggestion, span=self.span)

    def _model(self, account: str | None) -> str:
        places, get = self.reader.checked.places, self.reader.checked.values.get
        if ("model" in places) == ("deployment" in places):
            message = "a target needs either deployment or model"
            self._wrong(
                "FW204", "model", message, "deployment: a name of the specs; model: the string to send"
            )
            return "?"
        for path in ("model", "deployment"):
            if get(path) == "":
                self._wrong("FW203", path, f"{path} is empty")
        name = get("deployment")
        return str(get("model") or "?") if name is None else self._resolved(name, account)

    def _resolved(self, name: str, account: str | None) -> str:
        """The model string of a logical name: as the last apply wrote it, else by the rule for IDs."""
        outputs = self.around.outputs
        if outputs is not None and name in outputs:
            return outputs[name]
        if outputs:
            advice = did_you_mean(name, outputs) or listed(outputs, "see settings.outputs")
            self._wrong("FW205", "deployment", f"settings.outputs has no deployment {shown(name)}", advice)
        if account is None:
            advice = "write account: at the top of the file, or name settings.outputs"
            self._wrong("FW204", "deployment", f"deployment {shown(name)} needs an account", advice)
        return f"accounts/{account}/deployments/{name}"

    def _lacks(self) -> list[str]:
        given: list[str] = self.reader.checked.values.get("lacks") or []
        for at, word in enumerate(given):
            if word not in CAPABILITIES:
                advice = did_you_mean(word, CAPABILITIES) or listed(CAPABILITIES, "see docs/routing.md")
                self._wrong("FW205", f"lacks.{at}", f"lacks does not know {shown(word)}", advice)
        return given

    def _url(self) -> str:
        written = self.reader.checked.values.get("base_url")
        text = str(written or self.around.url).rstrip("/")
        wrong = url_problem(text)
        if wrong and written:
            self.reader.run.report.sources.hide(self.reader.checked.places["base_url"])
            self._wrong("FW203", "base_url", f"base_url {wrong}", "for example https://other.example/v1")
        return "http://invalid.example" if wrong else text

    def _key(self, node: Tree, url: str) -> str | None:
        """The value of the key. The Fireworks key goes to Fireworks and nowhere else by itself."""
        environ = self.reader.run.environ
        if KEY not in node.entries:
            return environ.get(FIREWORKS_KEY) if is_trusted(url) else None
        name = named_variable(self.reader, node)
        if name is None:
            return None
        if not environ.get(name):
            self._wrong("FW108", KEY, f"environment variable {name} is not set", "set it where fwctl runs")
        elif not is_key(environ[name]):
            self._wrong("FW208", KEY, f"environment variable {name} holds characters that no key has")
        elif name == FIREWORKS_KEY and not is_trusted(url):
            self._wrong("FW207", KEY, NOT_THERE, A_KEY_OF_ITS_OWN)
        return environ.get(name)


def is_trusted(url: str) -> bool:
    """True for Fireworks itself and for a simulator on this machine: they may get the Fireworks key."""
    return is_fireworks(url) or urlsplit(url).hostname in ("127.0.0.1", "::1", "localhost")


def _deployment_of(model: str) -> str | None:
    """The deployment in a model string: `accounts/A/deployments/D`, alone or behind `#`."""
    behind = model.rpartition("#")[2]
    if "/deployments/" in behind:
        return behind.rpartition("/")[2]
    return behind if "#" in model else None
