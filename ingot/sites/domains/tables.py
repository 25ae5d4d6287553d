"""Tables of custom domains and of the orders of certificates."""

from typing import Literal

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, binary, flag, index_where, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

pages_domains = Table(
    "pages_domains",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("domain"),
    text("verification_code"),
    text("verified_at", nullable=True),
    # Until when the domain is served although its TXT record is missing.
    text("enabled_until", nullable=True),
    # When the domain is deleted unless it is verified before.
    text("remove_at", nullable=True),
    flag("auto_ssl_enabled"),
    flag("auto_ssl_failed"),
    text("certificate", nullable=True),
    binary("sealed_key", nullable=True),
    text("certificate_source", nullable=True),
    text("valid_until", nullable=True),
    text("created_at"),
    text("updated_at"),
    UniqueConstraint("domain"),
    Index("ix_pages_domains_project_id", "project_id", "id"),
    Index("ix_pages_domains_enabled_until", "enabled_until"),
    Index("ix_pages_domains_auto_ssl", "id", **index_where("auto_ssl_enabled")),
    sqlite_autoincrement=True,
)

# Answers to the ACME server, which asks for them at the domain; any node may be asked.
acme_challenges = Table(
    "acme_challenges",
    metadata,
    row_id(),
    reference("domain_id", "pages_domains.id", index=True),
    text("token"),
    text("response"),
    text("created_at"),
    UniqueConstraint("token"),
    sqlite_autoincrement=True,
)

# The account of the instance at an ACME server.
acme_accounts = Table(
    "acme_accounts",
    metadata,
    row_id(),
    text("directory"),
    text("email"),
    text("url"),
    binary("sealed_key"),
    text("created_at"),
    UniqueConstraint("directory", "email"),
    sqlite_autoincrement=True,
)


class PagesDomain(Record, frozen=True):
    """A host name of its own for the site of a project."""

    id: int
    project_id: int
    domain: str
    verification_code: str
    verified_at: Timestamp | None
    enabled_until: Timestamp | None
    remove_at: Timestamp | None
    auto_ssl_enabled: bool
    auto_ssl_failed: bool
    certificate: str | None
    sealed_key: bytes | None
    certificate_source: Literal["user", "acme"] | None
    valid_until: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp

    @property
    def is_verified(self) -> bool:
        """Whether the last check of the TXT record succeeded."""
        return self.verified_at is not None


class AcmeAccount(Record, frozen=True):
    """Account at an ACME server."""

    id: int
    directory: str
    email: str
    url: str
    sealed_key: bytes
    created_at: Timestamp
