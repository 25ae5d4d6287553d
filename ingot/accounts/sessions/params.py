"""Request parameters for signing in."""

from ingot.core.api.params import Params


class SignIn(Params):
    """Username or email address, and password."""

    login: str | None = None
    email: str | None = None
    password: str | None = None
