"""The ways to fail that rooms know; each door translates them once into its own words."""


class Failure(Exception):
    """What a caller did wrong, or may not do; never a fault of ours."""


class NotFound(Failure):
    """There is no such thing, or the caller may not know of it: both look the same."""

    def __init__(self, what: str = "", *, message: str = "") -> None:
        super().__init__(message or what)
        self.what = what
        self.message = message


class Denied(Failure):
    """The caller sees the subject but may not do this to it."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class Invalid(Failure):
    """A value does not do; ``errors`` says which and why, or ``message`` alone explains."""

    code = ""
    """A word for programs, where callers tell reasons apart."""

    def __init__(self, message: str = "", /, **errors: list[str]) -> None:
        reasons = [f"{field} {reason}" for field, several in errors.items() for reason in several]
        super().__init__(message or "; ".join(reasons))
        self.message = message
        self.errors = errors


class Conflict(Failure):
    """It clashes with something that exists already; ``errors`` says with which, or ``message`` alone explains."""

    def __init__(self, message: str = "", /, **errors: list[str]) -> None:
        super().__init__(message or str(errors))
        self.message = message
        self.errors = errors


class Unchanged(Failure):
    """It is so already."""


class Unauthenticated(Failure):
    """There is no valid credential where one is needed; ``reason`` is only for those who proved something already."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class Throttled(Failure):
    """Too many tries: all of ``limit`` (where there is one to tell) are used up for ``retry_after`` seconds."""

    def __init__(self, retry_after: int, limit: int | None = None) -> None:
        super().__init__("Retry later")
        self.retry_after = retry_after
        self.limit = limit


class Unavailable(Exception):
    """The store does not answer right now; the same call may succeed in a moment."""


def too_long_message(most: int, what: str = "characters") -> str:
    """The contract's words for a value that is longer than it may be."""
    return f"is too long (maximum is {most} {what})"
