"""Interface of a user directory."""

from typing import NamedTuple, Protocol

PROVIDER = "ldapmain"


class DirectoryError(Exception):
    """Failure of the directory; the message is for operators and must not be shown to other callers."""


class DirectoryEntry(NamedTuple):
    """User in the directory."""

    dn: str
    username: str
    name: str
    email: str
    disabled: bool


class Directory(Protocol):
    """Directory of users who may sign in; every method raises ``DirectoryError`` if the directory fails."""

    def find(self, login: str) -> DirectoryEntry | None:
        """Return the only user with this login; None if there is none or several."""

    def entry_at(self, dn: str) -> DirectoryEntry | None:
        """Return the user at this DN, if the filter still permits them."""

    def is_password(self, entry: DirectoryEntry, password: str) -> bool:
        """Return whether this is the user's password."""
