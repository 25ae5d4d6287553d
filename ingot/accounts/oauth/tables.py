"""Tables of OAuth applications, authorization codes, and the OAuth part of access tokens."""

from sqlalchemy import Index, Table, false

from ingot.core.db.schema import Record, binary, flag, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

oauth_applications = Table(
    "oauth_applications",
    metadata,
    row_id(),
    # Null for applications of the instance.
    reference("owner_id", "users.id", nullable=True, index=True),
    text("uid", unique=True),
    binary("secret_digest"),
    text("name"),
    text("redirect_uri"),
    text("scopes"),
    flag("confidential"),
    # Registered by the client itself (RFC 7591), without a user.
    flag("dynamic", server_default=false()),
    text("created_at"),
    text("updated_at"),
    sqlite_autoincrement=True,
)

oauth_codes = Table(
    "oauth_codes",
    metadata,
    row_id(),
    reference("application_id", "oauth_applications.id", index=True),
    reference("user_id", "users.id", index=True),
    binary("digest", unique=True),
    # Shared by all tokens that originate from one consent, also after refreshes.
    text("family"),
    text("redirect_uri"),
    text("scopes"),
    text("code_challenge", nullable=True),
    text("code_challenge_method", nullable=True),
    text("nonce", nullable=True),
    text("signed_in_at"),
    flag("used"),
    text("created_at"),
    text("expires_at", index=True),
    sqlite_autoincrement=True,
)

oauth_tokens = Table(
    "oauth_tokens",
    metadata,
    row_id(),
    reference("access_token_id", "access_tokens.id", unique=True),
    # Null for the password grant without an application.
    reference("application_id", "oauth_applications.id", nullable=True),
    reference("user_id", "users.id"),
    text("family", index=True),
    binary("refresh_digest", nullable=True, unique=True),
    sqlite_autoincrement=True,
)
Index("ix_oauth_tokens_application_id_user_id", oauth_tokens.c.application_id, oauth_tokens.c.user_id)
Index("ix_oauth_tokens_user_id", oauth_tokens.c.user_id)


class Application(Record, frozen=True):
    """An OAuth application."""

    id: int
    owner_id: int | None
    uid: str
    secret_digest: bytes
    name: str
    redirect_uri: str
    """Registered redirect URIs, one per line."""
    scopes: str
    confidential: bool
    """Whether it can keep a secret; applications in browsers and on users' machines cannot."""
    dynamic: bool
    """Whether the client registered itself, so that nobody on this server vouches for its name."""
    created_at: Timestamp
    updated_at: Timestamp

    @property
    def redirect_uris(self) -> list[str]:
        """Return the registered redirect URIs."""
        return self.redirect_uri.split("\n")


class OAuthCode(Record, frozen=True):
    """An authorization code, which can be exchanged for a token once."""

    id: int
    application_id: int
    user_id: int
    digest: bytes
    family: str
    redirect_uri: str
    scopes: str
    code_challenge: str | None
    code_challenge_method: str | None
    nonce: str | None
    signed_in_at: Timestamp
    used: bool
    created_at: Timestamp
    expires_at: Timestamp


class OAuthToken(Record, frozen=True):
    """A token of an application, with the columns of its access token."""

    id: int
    access_token_id: int
    application_id: int | None
    user_id: int
    family: str
    scopes: str
    revoked: bool
    created_at: Timestamp
    expires_at: Timestamp | None
    application_uid: str | None


class AuthorizedApplication(Record, frozen=True):
    """An application that a user has authorized."""

    application_id: int
    name: str
    owner_username: str | None
    scopes: str
    since: Timestamp
    dynamic: bool
