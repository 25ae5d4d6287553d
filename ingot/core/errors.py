"""Errors raised by domain code, without status codes; the API, the pages and SSH each translate them in one place."""


class Failure(Exception):
    """Base class of errors that the caller caused: invalid, not permitted or not found; never a server fault."""


class NotFound(Failure):
    """An object that does not exist or that the caller may not see: both look the same."""

    def __init__(self, what: str = "", *, message: str = "") -> None:
        super().__init__(message or what)
        self.what = what
        self.message = message


class Denied(Failure):
    """An action that the caller may not perform on a visible object."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class Invalid(Failure):
    """Invalid input: ``errors`` lists the reasons by field, or ``message`` alone explains it."""

    code = ""
    """Machine-readable reason, for callers that distinguish between reasons."""

    def __init__(self, message: str = "", /, **errors: list[str]) -> None:
        reasons = [f"{field} {reason}" for field, field_errors in errors.items() for reason in field_errors]
        super().__init__(message or "; ".join(reasons))
        self.message = message
        self.errors = errors


class Conflict(Failure):
    """A conflict with an existing object: ``errors`` lists the reasons by field, or ``message`` alone explains it."""

    def __init__(self, message: str = "", /, **errors: list[str]) -> None:
        super().__init__(message or str(errors))
        self.message = message
        self.errors = errors


class Unchanged(Failure):
    """A request that would change nothing."""


class Unauthenticated(Failure):
    """A missing or invalid credential; ``reason`` is set only after the password or token has been verified."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class Throttled(Failure):
    """Too many attempts: all of ``limit`` (None if not published) are used up for ``retry_after`` seconds.

    ``text`` is the message that an administrator has set, or empty.
    """

    status = 429

    def __init__(self, retry_after: int, limit: int | None = None, text: str = "") -> None:
        super().__init__(text or "Retry later")
        self.retry_after = retry_after
        self.limit = limit
        self.text = text


class TooManyAddresses(Throttled):
    """A user who has used as many addresses as the instance allows; GitLab answers 403."""

    status = 403


class Unavailable(Exception):
    """A resource outside the process, such as the database, that does not respond; a retry may succeed."""


FULL_RETRY_AFTER_SECONDS = 60


class TransfersBusy(Unavailable):
    """No slot for a transfer became free in time, or too many transfers wait for one."""

    def __init__(self) -> None:
        super().__init__("The server is busy with other transfers. Retry later.")


class StorageFull(Unavailable):
    """A disk without free space; nothing was stored, and a retry succeeds once space has been freed."""


class CommitUncertain(Unavailable):
    """A connection lost during the commit, when it is unknown whether the transaction has committed."""

    def __init__(self) -> None:
        super().__init__(
            "The connection to the database was lost while the change was saved, so it may have been made. "
            "Check before you repeat the request."
        )


def too_long_message(maximum: int, unit: str = "characters") -> str:
    """Return the specification's message for a value that exceeds its maximum length."""
    return f"is too long (maximum is {maximum} {unit})"
