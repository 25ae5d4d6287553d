"""What a request brings to prove who is calling."""

import msgspec


class Credentials(msgspec.Struct, frozen=True):
    """At most one of the tokens counts, in the order in which they stand here; the session comes last."""

    token: str | None = None
    """A private, personal access, impersonation or OAuth token; which one it is shows at the look-up."""
    job_token: str | None = None
    session: str | None = None
    csrf: str | None = None
    sudo: str | None = None
    writes: bool = False
    """A session alone does not prove a write: it takes its CSRF token too."""
