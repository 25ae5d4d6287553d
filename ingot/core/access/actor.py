"""The caller of a request after authentication."""

from typing import Literal

import msgspec

from ingot.core.access.restrictions import NO_RESTRICTIONS, GranularScope, TokenRestrictions

AuthMethod = Literal["nobody", "session", "private", "personal", "impersonation", "oauth", "job", "deploy"]


class JobIdentity(msgspec.Struct, frozen=True):
    """The running CI job whose token authenticated a caller; it limits the projects that the caller can access."""

    id: int
    project_id: int
    admin: bool
    """Whether the user of the job is an administrator; the rights apply only where the token gives access."""


class DeployTokenIdentity(msgspec.Struct, frozen=True):
    """The deploy token that authenticated a caller who is no user; it gives access to packages and images only."""

    id: int
    project_id: int | None
    group_id: int | None
    scopes: frozenset[str]


class Actor(msgspec.Struct, frozen=True):
    """An authenticated user or an anonymous caller; immutable."""

    user_id: int = 0
    username: str = ""
    name: str = ""
    admin: bool = False
    external: bool = False
    via: AuthMethod = "nobody"
    scopes: frozenset[str] | None = None
    """The scopes of the token; None for a session or a private token, which are not limited."""
    token_id: int = 0
    sudo_by: int = 0
    """The id of the administrator acting as this user, or 0."""
    job: JobIdentity | None = None
    """Set if the token of a job authenticated the caller, who then is never an administrator."""
    deploy_token: DeployTokenIdentity | None = None
    """Set if a deploy token authenticated the caller, who then is anonymous elsewhere."""
    bot: bool = False
    """Whether the user is the bot of a project or group access token, which changes nothing outside of it."""
    closed_groups: frozenset[str] = frozenset()
    """Paths in lower case of top-level groups that cannot be used from the caller's address."""
    restrictions: TokenRestrictions = NO_RESTRICTIONS
    """Restrictions of the token beyond its scopes."""
    boundary: tuple[GranularScope, ...] = ()
    """The fine-grained scopes of the token that permit the current call; without them it reaches no project."""
    tool_routes: frozenset[str] | None = None
    """Endpoints of the tools that an agent may call, which limit its quick actions; None for other callers."""

    @property
    def known(self) -> bool:
        """Whether the caller is a user, not anonymous."""
        return self.user_id != 0

    def has_scope(self, scope: str) -> bool:
        """Return whether the credential includes ``scope``."""
        return self.scopes is None or scope in self.scopes


# Marked as external, because anonymous callers see only public records in lists, as external users do.
ANONYMOUS = Actor(external=True)
