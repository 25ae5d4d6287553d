"""Why a request does not leave the house."""


class OutgoingRequestBlocked(Exception):
    """The request may not be made; ``reason`` is a sentence for whoever gave the URL, without any secret."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class HostNotResolved(OutgoingRequestBlocked):
    """The name that a URL holds leads nowhere at this moment; later it may."""
