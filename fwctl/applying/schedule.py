"""Which change may begin, which has to wait, and which never will. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fwctl.applying.effects import Ended, Procedure
from fwctl.applying.model import Outcome

Key = tuple[str, str]
RING = "it waits for itself through `lifecycle.after`"


@dataclass(slots=True)
class Item:
    """One change to carry out.

    after: addresses that must be done before. waits: addresses that must have ended, however they did.
    last: begins only when everything that is not last has ended. exclusive: keeps its place among the
    parallel ones until it has ended (waves of restarts).
    """

    name: str
    address: str
    deployment_id: str
    actions: tuple[str, ...]
    procedure: Callable[[], Procedure[Ended]]
    after: frozenset[str] = frozenset()
    waits: frozenset[str] = frozenset()
    last: bool = False
    exclusive: bool = False

    @property
    def key(self) -> Key:
        """What tells it apart: two deployments can carry one name, for example when both are pruned."""
        return (self.address, self.deployment_id)


class Schedule:
    """The items of a run by how far they are. `wait`: done means ready, not only accepted."""

    def __init__(self, items: Iterable[Item], *, wait: bool) -> None:
        self._todo = {item.key: item for item in items}
        self._unended = Counter(item.address for item in self._todo.values())
        self._before_last = sum(not item.last for item in self._todo.values())
        self._bad: dict[str, str] = {}  # address -> name of what ended otherwise than well
        self._good = {Outcome.DONE} if wait else {Outcome.DONE, Outcome.IN_PROGRESS}

    @property
    def todo(self) -> tuple[Item, ...]:
        """What has not begun, in order."""
        return tuple(self._todo.values())

    def begin(self, item: Item) -> None:
        del self._todo[item.key]

    def end(self, item: Item, outcome: Outcome) -> None:
        """Takes note of how an item ended, whether it had begun or not."""
        self._todo.pop(item.key, None)
        self._unended[item.address] -= 1
        self._before_last -= not item.last
        if outcome not in self._good:
            self._bad[item.address] = item.name

    def hopeless(self) -> tuple[Item, str] | None:
        """The first item that will never begin, with the reason."""
        if not self._bad:
            return None
        for item in self._todo.values():
            bad = sorted({self._bad[address] for address in item.after if address in self._bad})
            if bad:
                return item, f"{', '.join(bad)} did not get done first"
        return None

    def ready(self) -> Item | None:
        """The first item that nothing holds back."""
        return next((item for item in self._todo.values() if self._is_ready(item)), None)

    def _is_ready(self, item: Item) -> bool:
        if item.last and self._before_last:
            return False
        return not any(self._unended[address] for address in item.after | item.waits)
