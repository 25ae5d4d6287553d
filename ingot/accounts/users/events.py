"""What is announced of users."""

from ingot.core.events.bus import Event


class UserCreated(Event, frozen=True):
    """A user exists now; some must first choose a password, or confirm their address."""

    user_id: int
    username: str
    name: str
    chooses_password: bool = False
    confirms_address: bool = False


class UserRenamed(Event, frozen=True):
    """A user has another username or name."""

    user_id: int
    username: str
    name: str


class UserBlocked(Event, frozen=True):
    """A user may not act any more."""

    user_id: int


class PasswordChanged(Event, frozen=True):
    """A user has another password; sessions that knew the old one end, but for the one that changed it."""

    user_id: int
    kept_session_id: int = 0


class UserDeleting(Event, frozen=True):
    """A user is about to go: rooms hand what lasts to the placeholder, or remove it when ``hard``."""

    user_id: int
    placeholder_id: int
    hard: bool


class PrimaryEmailChanged(Event, frozen=True):
    """A user has another first address; what was mailed to the one before proves nothing of this one."""

    user_id: int


class EmailAdded(Event, frozen=True):
    """A user has a further address, which they must confirm."""

    email_id: int
