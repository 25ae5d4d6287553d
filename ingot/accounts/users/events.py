"""Events of users."""

from ingot.core.events.bus import Event


class UserCreated(Event, frozen=True):
    """A user was created; ``chooses_password`` and ``confirms_address`` request the matching email."""

    user_id: int
    username: str
    name: str
    chooses_password: bool = False
    confirms_address: bool = False
    bot: bool = False


class UserRenamed(Event, frozen=True):
    """A user's username or name changed."""

    user_id: int
    username: str
    name: str


class UserBlocked(Event, frozen=True):
    """A user was blocked, banned or deactivated."""

    user_id: int


class PasswordChanged(Event, frozen=True):
    """A user's password changed; all their sessions end except ``kept_session_id``."""

    user_id: int
    kept_session_id: int = 0


class UserDeleting(Event, frozen=True):
    """A user is about to be deleted: subscribers reassign records to the placeholder, or delete them if ``hard``."""

    user_id: int
    placeholder_id: int
    hard: bool


class PrimaryEmailChanged(Event, frozen=True):
    """A user's primary email address changed; links that were sent to the previous one prove nothing about it."""

    user_id: int


class AddressProven(Event, frozen=True):
    """A user proved to own an email address: by a link, or because an administrator or identity provider vouches."""

    user_id: int
    address: str


class EmailAdded(Event, frozen=True):
    """A user added a secondary email address that must be confirmed."""

    email_id: int
