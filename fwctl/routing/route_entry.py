"""One route of a file: its targets, its policies, and the rules across them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from fwctl.routing.amounts import per_second, quantile, share
from fwctl.routing.fields import ROUTE
from fwctl.routing.model import BreakerPolicy, HedgePolicy, RetryPolicy, Route, Target, Timeouts
from fwctl.routing.target_entry import Around, TargetEntry, problem, timeouts
from fwctl.spec.groups import group_of
from fwctl.spec.mistakes import described
from fwctl.spec.nodes import Broken, Sequence, place
from fwctl.spec.nodes import Mapping as Tree
from fwctl.spec.reader import Reader
from fwctl.spec.report import shown
from fwctl.spec.sources import Span
from fwctl.units import parse_duration

_TARGETS = "targets"
_LONGEST_TARGETS = 64


class RouteEntry:
    """Reads what stands below one name of `routes`."""

    def __init__(self, reader: Reader, name: str, span: Span, around: Around) -> None:
        self.reader = reader
        self.name = name
        self.span = span
        self.around = around

    def route(self, node: Any) -> Route | None:
        if not isinstance(node, Tree):
            if not isinstance(node, Broken):
                message = f"route {shown(self.name)} must be a mapping, not {described(node)}"
                self.reader.problem("FW202", self.span, message, "indent its fields below its name")
            return None
        rest = Tree(node.start, node.end)
        rest.entries = {text: entry for text, entry in node.entries.items() if text != _TARGETS}
        self.reader.read(group_of(ROUTE), rest)
        found = timeouts(self.reader, Timeouts())
        targets = self._targets(node, found)
        return Route(
            self.name,
            tuple(targets),
            total_s=found.total_s,
            retry=self._retry(),
            breaker=self._breaker(),
            hedge=self._hedge(),
            report_model=self._report_model(),
            position=self.reader.run.report.sources.position(self.span),
        )

    def _wrong(self, code: str, path: str, message: str, suggestion: str | None = None) -> None:
        problem(self.reader, code, path, message, suggestion, span=self.span)

    def _get(self, path: str, default: Any = None) -> Any:
        return self.reader.checked.values.get(path, default)

    def _targets(self, node: Tree, base: Timeouts) -> list[Target]:
        entry = node.entries.get(_TARGETS)
        if entry is None:
            self._wrong(
                "FW204", "", f"route {shown(self.name)} needs targets", "targets: [{deployment: NAME}]"
            )
            return []
        key, value = entry
        self.reader.checked.places[_TARGETS] = place(key, value)
        if isinstance(value, Broken):
            return []
        if not isinstance(value, Sequence) or not value.items or len(value.items) > _LONGEST_TARGETS:
            message = f"targets takes a list of 1 to {_LONGEST_TARGETS} targets, first choice first"
            self._wrong("FW202", _TARGETS, message, "targets: [{deployment: NAME}]")
            return []
        return self._named([self._target(at, item, base) for at, item in enumerate(value.items)])

    def _target(self, at: int, item: Any, base: Timeouts) -> Target | None:
        span = place(None, item)
        reader = Reader(self.reader.run, f"{self.reader.prefix}/{_TARGETS}/{at}")
        if isinstance(item, Tree):
            return TargetEntry(reader, span, self.around, base).target(item)
        if not isinstance(item, Broken):
            message = f"a target must be a mapping, not {described(item)}"
            reader.problem("FW202", span, message, "write {deployment: NAME} or {model: STRING}")
        return None

    def _named(self, targets: list[Target | None]) -> list[Target]:
        """Targets of one name get a number, unless somebody wrote the same name twice."""
        there = [target for target in targets if target is not None]
        counts = Counter(target.name for target in there)
        seen: Counter[str] = Counter()
        named = []
        for target in there:
            seen[target.name] += 1
            number = f"-{seen[target.name]}" if counts[target.name] > 1 else ""
            named.append(replace(target, name=target.name + number))
        keys = [(target.key, target.payer) for target in there]
        if len(set(keys)) < len(keys):
            self._wrong("FW203", _TARGETS, "two targets are the same", "remove one")
        return named

    def _share(self, path: str, default: float) -> float:
        text = self._get(path)
        value = share(text) if text is not None else default
        if value is None:
            self._wrong("FW208", path, f"{path}: {shown(text)} is not a share", "for example 10%")
        return value or 0.0

    def _retry(self) -> RetryPolicy:
        plain = RetryPolicy()
        text = self._get("retry.floor")
        floor = per_second(text) if text is not None else plain.floor_per_s
        if floor is None:
            self._wrong(
                "FW208", "retry.floor", f"retry.floor: {shown(text)} is not a rate", "for example 10/s"
            )
        return RetryPolicy(
            self._get("retry.max_attempts", plain.max_attempts),
            self._share("retry.budget", plain.budget),
            floor or 0.0,
        )

    def _breaker(self) -> BreakerPolicy:
        plain = BreakerPolicy()
        policy = BreakerPolicy(
            window_s=self._seconds("breaker.window", plain.window_s),
            min_requests=self._get("breaker.min_requests", plain.min_requests),
            failure_ratio=self._get("breaker.failure_ratio", plain.failure_ratio),
            open_for_s=self._seconds("breaker.open_for", plain.open_for_s),
            max_open_for_s=self._seconds("breaker.max_open_for", plain.max_open_for_s),
            probes=self._get("breaker.probes", plain.probes),
            first_token_slo_s=self._seconds("breaker.first_token_slo", None),
        )
        if policy.max_open_for_s < policy.open_for_s:
            message = "breaker.max_open_for is shorter than breaker.open_for"
            self._wrong("FW203", "breaker.max_open_for", message, "make it at least as long")
        return policy

    def _seconds(self, path: str, default: Any) -> Any:
        text = self._get(path)
        if text is None:
            return default
        if parse_duration(text) <= 0:
            self._wrong("FW203", path, f"{path} must be above 0", "for example 30s")
        return parse_duration(text)

    def _hedge(self) -> HedgePolicy | None:
        after = self._get("hedge.after")
        written = [path for path in self.reader.checked.places if path.startswith("hedge.")]
        if not written:
            return None
        budget = self._share("hedge.budget", 0.02)
        at, seconds = (quantile(after), None) if after else (0.95, None)
        if at is None:
            try:
                seconds = parse_duration(after)
            except ValueError:
                message = f"hedge.after: {shown(after)} is neither a quantile nor a duration"
                self._wrong("FW208", "hedge.after", message, "for example p95 or 800ms")
        return HedgePolicy(budget, at, seconds)

    def _report_model(self) -> str:
        word = self._get("report_model", "target")
        if word not in ("target", "route"):
            message = f"report_model does not know {shown(word)}"
            self._wrong("FW205", "report_model", message, "known: target, route")
        return str(word)
