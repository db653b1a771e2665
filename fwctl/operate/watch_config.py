"""Files of kind Watch: thresholds of the rules and sinks, with places in every message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fwctl.errors import InvalidSpecError, Severity
from fwctl.operate.rules import RULES
from fwctl.operate.rules_model import LEVELS, Rule
from fwctl.operate.sinks import KINDS, Sink
from fwctl.spec.closest import did_you_mean, listed
from fwctl.spec.environment import is_reference, resolve
from fwctl.spec.files import read_file
from fwctl.spec.mistakes import described
from fwctl.spec.nodes import Broken, Node, Scalar, Sequence, place
from fwctl.spec.nodes import Mapping as Tree
from fwctl.spec.parse import ParsedFile, parse_all, text_at
from fwctl.spec.reader import Run
from fwctl.spec.report import Report, shown
from fwctl.spec.sources import Sources, Span
from fwctl.units import parse_duration

KIND = "Watch"
MOST = 1_000_000  # of any threshold; as many days from now are still a date
API_VERSION = "fwctl/v1"
TOP = ("apiVersion", "kind", "account", "rules", "sinks", "records")
_SEVERITIES = {level: Severity(value) for value, level in LEVELS.items()}
_COMMON = ("hold", "resolve", "severity", "enabled")


@dataclass(frozen=True, slots=True)
class WatchConfig:
    """rules: the table with the file's thresholds, disabled ones left out. records: files of benches or
    of a router, for the rules about drafts. account: None when the file names none."""

    rules: tuple[Rule, ...] = RULES
    sinks: tuple[Sink, ...] = ()
    records: tuple[str, ...] = ()
    account: str | None = None


def load_config(path: Path, environ: Mapping[str, str], cwd: Path) -> WatchConfig:
    """Read a file. path: as the user wrote it. Raises InvalidSpecError with every problem in it."""
    report = Report(Sources())
    file = parse_all([replace(read_file(cwd / path), file=str(path))], None, report)[0]
    config = _Reader(report, environ).config(file) if file.root is not None else WatchConfig()
    diagnostics = report.finish(strict=False)
    if any(item.severity is Severity.ERROR for item in diagnostics):
        raise InvalidSpecError(f"{path} is not valid", diagnostics=diagnostics)
    return config


class _Reader:
    def __init__(self, report: Report, environ: Mapping[str, str]) -> None:
        self.report, self.run = report, Run(report, environ, need_secrets=True)

    def wrong(self, span: Span, message: str, suggestion: str | None = None, code: str = "FW202") -> None:
        self.report.add(code, span, message, suggestion=suggestion)

    def config(self, file: ParsedFile) -> WatchConfig:
        assert file.root is not None
        root = file.root
        for key, words in (("kind", KIND), ("apiVersion", API_VERSION)):
            if text_at(root, key) != words:
                span = place(*root.entries[key]) if key in root.entries else file.start
                self.wrong(span, f"`{key}` of this file is {words}", f"{key}: {words}", "FW205")
        self.known(root, TOP, "a file of kind Watch")
        parts = {key: value for key, (_, value) in root.entries.items()}
        return WatchConfig(
            self.rules(parts.get("rules")),
            tuple(self.sinks(parts.get("sinks"))),
            tuple(self.texts(parts.get("records"), "records")),
            text_at(root, "account"),
        )

    def known(self, tree: Tree, names: Iterable[str], what: str) -> None:
        names = list(names)
        for name, (key, _) in tree.entries.items():
            if name not in names:
                hint = did_you_mean(name, names) or listed(names, "see docs/watch.md")
                self.wrong((key.start, key.end), f"{what} has no {shown(name)}", hint or None, "FW201")

    def tree(self, node: Node | None, what: str) -> dict[str, tuple[Scalar, Node]]:
        if node is None or isinstance(node, Broken):
            return {}
        if not isinstance(node, Tree):
            self.wrong((node.start, node.end), f"{what} takes a mapping, not {described(node)}")
            return {}
        return node.entries

    def items(self, node: Node | None, what: str) -> list[Node]:
        if node is None or isinstance(node, Broken):
            return []
        if not isinstance(node, Sequence):
            self.wrong((node.start, node.end), f"{what} takes a list, not {described(node)}")
            return []
        return list(node.items)

    def texts(self, node: Node | None, what: str) -> Iterable[str]:
        for item in self.items(node, what):
            if isinstance(item, Scalar) and item.text:
                yield item.text
            elif not isinstance(item, Broken):
                self.wrong((item.start, item.end), f"{what} takes texts, not {described(item)}")

    def rules(self, node: Node | None) -> tuple[Rule, ...]:
        entries = self.tree(node, "rules")
        by_name = {rule.name: rule for rule in RULES}
        if isinstance(node, Tree):
            self.known(node, by_name, "the table of rules")
        found = []
        for rule in RULES:
            if rule.name not in entries:
                found.append(rule)
            elif (changed := self.rule(rule, entries[rule.name][1])) is not None:
                found.append(changed)
        return tuple(found)

    def rule(self, rule: Rule, node: Node) -> Rule | None:
        """The rule with the file's values; None when it is switched off."""
        entries = self.tree(node, rule.name)
        if isinstance(node, Tree):
            self.known(node, (*_COMMON, *_limit_names(rule)), rule.name)
        values = {name: (self.text(value), place(key, value)) for name, (key, value) in entries.items()}
        if (enabled := values.get("enabled")) is not None and enabled[0] not in ("true", "false"):
            self.wrong(enabled[1], "enabled is true or false")
        limits = {
            name: self.number(name, *values[name]) if name in values else rule.limits.get(name)
            for name in _limit_names(rule)
        }
        changed = replace(
            rule,
            hold_s=self.seconds(values.get("hold"), rule.hold_s),
            resolve_s=self.seconds(values.get("resolve"), rule.resolve_s),
            severity=self.severity(values.get("severity"), rule.severity),
            limits={name: value for name, value in limits.items() if value is not None},
        )
        return None if enabled is not None and enabled[0] == "false" else changed

    def text(self, node: Node) -> str | None:
        return node.text if isinstance(node, Scalar) else None

    def number(self, name: str, text: str | None, span: Span) -> float | None:
        try:
            value = float(text or "")
        except ValueError:
            value = -1.0
        if not 0 <= value <= MOST:
            self.wrong(span, f"{name} is a number from 0 to {MOST:,}")
            return None
        return value

    def seconds(self, given: tuple[str | None, Span] | None, default: float) -> float:
        if given is None:
            return default
        try:
            return parse_duration(given[0] or "")
        except ValueError as error:
            self.wrong(given[1], str(error))
            return default

    def severity(self, given: tuple[str | None, Span] | None, default: Severity) -> Severity:
        if given is None:
            return default
        if given[0] not in _SEVERITIES:
            self.wrong(given[1], f"severity is one of {', '.join(_SEVERITIES)}")
            return default
        return _SEVERITIES[given[0]]

    def sinks(self, node: Node | None) -> Iterable[Sink]:
        keys: set[str] = set()
        for number, item in enumerate(self.items(node, "sinks"), start=1):
            entries = self.tree(item, "a sink")
            if isinstance(item, Tree):
                self.known(item, ("type", "url"), "a sink")
            kind = self.text(entries["type"][1]) if "type" in entries else None
            if kind not in KINDS:
                self.wrong((item.start, item.end), f"the type of a sink is one of {', '.join(KINDS)}")
            elif "url" not in entries:
                self.wrong((item.start, item.end), "a sink needs a url", "url: ${env:WEBHOOK_URL}")
            elif (url := self.url(kind, *entries["url"])) is not None:
                sink = Sink(kind, url, f"{kind} {number}")
                if sink.key in keys:
                    self.wrong((item.start, item.end), "another sink has the same type and address")
                keys.add(sink.key)
                yield sink

    def url(self, kind: str, key: Scalar, node: Node) -> str | None:
        """The address. That of a webhook is a secret, so that it may only come from the environment."""
        span, text = place(key, node), self.text(node) or ""
        if not is_reference(text) and (kind != "alertmanager" or "@" in text):
            self.report.sources.hide((node.start, node.end))
            self.wrong(
                span,
                "the address of a webhook is a secret; it may stand in the environment only",
                "url: ${env:WEBHOOK_URL}",
                "FW207",
            )
            return None
        found, problems = resolve(text, self.run.environ)
        for problem in problems:
            self.wrong(span, problem)
        if not problems and not _is_address(found):
            self.wrong(span, "url is no address that begins with https:// or http://")
            return None
        return None if problems else found


def _limit_names(rule: Rule) -> list[str]:
    """Thresholds that a file may set; `limit` for a rule whose default is an objective of the spec."""
    return list(rule.limits) if rule.limits or not rule.objective else ["limit"]


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and text.isprintable()
    except ValueError:
        return False


def secrets(config: WatchConfig) -> list[str]:
    """What must never be shown: the addresses of webhooks."""
    return [sink.url for sink in config.sinks if sink.kind != "alertmanager"]


def described_rules(rules: Iterable[Rule]) -> list[dict[str, Any]]:
    """The table as JSON."""
    return [
        {
            "name": rule.name,
            "severity": rule.severity.value,
            "scope": rule.scope.value,
            "summary": rule.summary,
            "hold_s": rule.hold_s,
            "resolve_s": rule.resolve_s,
            "limits": dict(rule.limits),
            "objective": rule.objective,
            "prometheus": rule.expr is not None,
        }
        for rule in rules
    ]
