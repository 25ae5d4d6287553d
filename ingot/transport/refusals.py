"""Refusals of git and Git LFS requests, with messages that git prints in the user's terminal."""

from ingot.core.http.request import Header

RETRY_AFTER_SECONDS = 10
PROJECT_NOT_FOUND = "The project you were looking for could not be found or you don't have permission to view it."
PROJECT_DELETED = "The project has been deleted."
BASIC_CHALLENGE: Header = (b"www-authenticate", b'Basic realm="Ingot"')


class GitRequestRefused(Exception):
    """Refusal with a message; over HTTP also with a status and headers."""

    def __init__(self, status: int, text: str, *headers: Header) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = headers


def unauthorized(reason: str = "") -> GitRequestRefused:
    """Ask for credentials; ``reason`` says why a correct password does not suffice."""
    advice = reason or "Use your password, or a token with the scope read_repository or write_repository."
    return GitRequestRefused(401, f"HTTP Basic: Access denied. {advice}", BASIC_CHALLENGE)


def unavailable(text: str = "The server cannot answer right now. Retry later.") -> GitRequestRefused:
    """Ask the client to retry later."""
    return GitRequestRefused(503, text, (b"retry-after", b"%d" % RETRY_AFTER_SECONDS))
