"""The one error a platform call can end with: a gRPC status."""

from __future__ import annotations

# gRPC code name -> (number, HTTP status); docs.fireworks.ai, OpenAPI "Gateway REST API" 5.10.0.
CODES: dict[str, tuple[int, int]] = {
    "Canceled": (1, 499),
    "Unknown": (2, 500),
    "InvalidArgument": (3, 400),
    "DeadlineExceeded": (4, 504),
    "NotFound": (5, 404),
    "AlreadyExists": (6, 409),
    "PermissionDenied": (7, 403),
    "ResourceExhausted": (8, 429),
    "FailedPrecondition": (9, 400),
    "Aborted": (10, 409),
    "OutOfRange": (11, 400),
    "Unimplemented": (12, 501),
    "Internal": (13, 500),
    "Unavailable": (14, 503),
    "DataLoss": (15, 500),
    "Unauthenticated": (16, 401),
}


class PlatformError(Exception):
    """A refused call. `code` is a gRPC code in Go's spelling (a key of CODES)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def number(self) -> int:
        return CODES[self.code][0]

    @property
    def http_status(self) -> int:
        return CODES[self.code][1]

    def to_rest(self) -> dict[str, object]:
        """The REST error body."""
        return {"code": self.number, "message": self.message, "details": []}


class SuspendedError(PlatformError):
    """The account is suspended: FailedPrecondition over gRPC, 412 over HTTP."""

    def __init__(self, account: str) -> None:
        super().__init__(
            "FailedPrecondition",
            f"Account {account} is suspended, possibly due to reaching the monthly spending limit "
            "or failure to pay past invoices",
        )

    @property
    def http_status(self) -> int:
        return 412


def invalid(message: str) -> PlatformError:
    """An InvalidArgument error."""
    return PlatformError("InvalidArgument", message)


def precondition(message: str) -> PlatformError:
    """A FailedPrecondition error."""
    return PlatformError("FailedPrecondition", message)
