"""What a platform call sees: the state, the moment, the caller, the catalogue and the open questions."""

from __future__ import annotations

from typing import NamedTuple

from fwctl.simulator.catalogue import FIREWORKS, Catalogue
from fwctl.simulator.platform.errors import PlatformError, SuspendedError
from fwctl.simulator.profiles import Profile
from fwctl.simulator.state import Tx

_ID_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


class Caller(NamedTuple):
    """Who calls. role: admin, user or readonly."""

    account: str
    role: str = "admin"
    email: str = "user@example.com"


class World(NamedTuple):
    """now: epoch seconds. seed: fixes random IDs in tests; None takes the system's randomness."""

    tx: Tx
    now: float
    profile: Profile
    catalogue: Catalogue
    caller: Caller
    suspended: bool = False
    seed: int | None = None

    def readable(self, account: str) -> None:
        """Raises PermissionDenied unless the caller may read this account."""
        if account not in {self.caller.account, FIREWORKS}:
            raise PlatformError("PermissionDenied", f"caller does not have access to account {account}")

    def writable(self, account: str) -> None:
        """Raises PermissionDenied unless the caller may change this account, FailedPrecondition when it
        is suspended.
        """
        if account != self.caller.account:
            raise PlatformError("PermissionDenied", f"caller does not have access to account {account}")
        if self.caller.role == "readonly":
            raise PlatformError("PermissionDenied", "caller does not have permission to perform this action")
        if self.suspended or self.tx.meta(f"suspended/{account}"):
            raise SuspendedError(account)

    def random_id(self) -> str:
        """Eight characters, as the platform gives when the caller names none."""
        import random

        source = random.SystemRandom() if self.seed is None else random.Random(self.seed)  # noqa: S311
        return "".join(source.choice(_ID_ALPHABET) for _ in range(8))
