"""Credentials in a request, before authentication."""

import msgspec


class Credentials(msgspec.Struct, frozen=True):
    """The credentials of a request; at most one token counts, in the order of the fields, then the session."""

    token: str | None = None
    """A private, personal access, impersonation or OAuth token; its type is determined by the lookup."""
    job_token: str | None = None
    secret: str | None = None
    """A token of any kind, from a client of packages, with which it may send a username."""
    username: str | None = None
    session: str | None = None
    csrf: str | None = None
    sudo: str | None = None
    writes: bool = False
    """Whether the request writes; a session then needs its CSRF token too."""
