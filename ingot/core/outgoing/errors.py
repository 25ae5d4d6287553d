"""Exceptions of outgoing requests."""


class OutgoingError(Exception):
    """Base of these exceptions; ``reason`` is a sentence for the author of the URL and contains no secret."""

    temporary = False
    """Whether a retry may succeed."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class RequestRefused(OutgoingError):
    """Refusal by the SSRF guard: the request must not be sent."""


class HostUnresolved(RequestRefused):
    """Failure to resolve the URL's host."""

    temporary = True


class RequestFailed(OutgoingError):
    """Lack of a usable response to a permitted request."""


class ServerUnreachable(RequestFailed):
    """Failure of the network or of the server, such as a timeout."""

    temporary = True


class ConnectionLost(ServerUnreachable):
    """End of the connection before the first byte of a response; a kept connection may just have been idle too long."""
