"""Table and record of deploy tokens."""

from sqlalchemy import Table

from ingot.core.db.schema import Record, binary, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

# Exactly one of project and group is set.
deploy_tokens = Table(
    "deploy_tokens",
    metadata,
    row_id(),
    reference("project_id", "projects.id", nullable=True, index=True),
    reference("group_id", "namespaces.id", nullable=True, index=True),
    reference("creator_id", "users.id", ondelete="SET NULL", nullable=True),
    text("name"),
    text("given_username", nullable=True),
    text("scopes"),
    binary("digest", unique=True),
    text("expires_at", nullable=True),
    text("created_at"),
    sqlite_autoincrement=True,
)


class DeployToken(Record, frozen=True):
    """Deploy token; the scopes are separated by spaces."""

    id: int
    project_id: int | None
    group_id: int | None
    creator_id: int | None
    name: str
    given_username: str | None
    scopes: str
    digest: bytes
    expires_at: Timestamp | None
    created_at: Timestamp

    @property
    def username(self) -> str:
        """Username for authentication: the chosen one, or GitLab's default, which scripts expect."""
        return self.given_username or f"gitlab+deploy-token-{self.id}"

    def expired(self, now: Timestamp) -> bool:
        """Check whether the token has expired."""
        return self.expires_at is not None and self.expires_at <= now
