"""What callers may send to sign in over the API."""

from ingot.core.api.params import Params


class SignIn(Params):
    """A name or address, and the password."""

    login: str | None = None
    email: str | None = None
    password: str | None = None
