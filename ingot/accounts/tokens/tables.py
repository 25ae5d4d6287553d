"""Table of tokens of every kind, looked up by digest."""

from sqlalchemy import Index, Table

from ingot.core.access.actor import AuthMethod
from ingot.core.access.restrictions import TokenRestrictions
from ingot.core.db.schema import Record, binary, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

access_tokens = Table(
    "access_tokens",
    metadata,
    row_id(),
    reference("user_id", "users.id"),
    text("kind"),
    text("name"),
    text("scopes"),
    binary("digest", unique=True),
    # Set only for private tokens, which can be shown again; of all others only the digest is stored.
    binary("sealed", nullable=True),
    flag("revoked"),
    text("created_at"),
    text("expires_at", nullable=True),
    text("last_used_at", nullable=True),
    text("name_key"),
    # Id of the first token of those that replaced each other by rotation; null for a token that was never rotated.
    number("family_id", nullable=True),
    # JSON of TokenRestrictions; null for a token that only its scopes limit.
    text("restrictions", nullable=True),
    sqlite_autoincrement=True,
)
Index("ix_access_tokens_user_id_kind", access_tokens.c.user_id, access_tokens.c.kind)

# Calls that changed something. They remain when their token is deleted, which those of applications are.
token_audit_events = Table(
    "token_audit_events",
    metadata,
    row_id(),
    reference("user_id", "users.id"),
    number("token_id"),
    text("token_name"),
    text("method"),
    text("route"),
    # Path of the project or group at the time of the call; null for a call about neither.
    text("entity_path", nullable=True),
    number("status"),
    text("ip_address"),
    text("created_at", index=True),
    sqlite_autoincrement=True,
)
Index("ix_token_audit_events_token_id", token_audit_events.c.token_id, token_audit_events.c.id)
Index("ix_token_audit_events_user_id", token_audit_events.c.user_id, token_audit_events.c.id)


class AccessToken(Record, frozen=True):
    """A token; its scopes are separated by spaces, and an empty list means no restriction."""

    id: int
    user_id: int
    kind: AuthMethod
    name: str
    scopes: str
    digest: bytes
    sealed: bytes | None
    revoked: bool
    created_at: Timestamp
    expires_at: Timestamp | None
    last_used_at: Timestamp | None
    name_key: str
    family_id: int | None
    restrictions: str | None

    def active(self, now: Timestamp) -> bool:
        """Return whether the token is neither revoked nor expired."""
        return not self.revoked and (self.expires_at is None or self.expires_at > now)


class TokenAuditEvent(Record, frozen=True):
    """A call that changed something, made with a token."""

    id: int
    user_id: int
    token_id: int
    token_name: str
    method: str
    route: str
    entity_path: str | None
    status: int
    ip_address: str
    created_at: Timestamp


class TokenHolder(Record, frozen=True):
    """A token with the columns of its user that an actor needs."""

    token_id: int
    kind: AuthMethod
    scopes: str
    revoked: bool
    expires_at: Timestamp | None
    user_id: int
    username: str
    name: str
    admin: bool
    external: bool
    state: str
    password_expired: bool
    bot: bool
    terms_due: bool
    """Whether the user must accept the terms of service first."""
    restrictions: TokenRestrictions
