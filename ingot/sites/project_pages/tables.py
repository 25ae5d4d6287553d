"""Table of the settings of sites; a project without a row has the defaults."""

from sqlalchemy import Column, ForeignKey, Table, UniqueConstraint

from ingot.core.db.schema import Identifier, Record, flag, metadata, text

project_pages = Table(
    "project_pages",
    metadata,
    Column("project_id", Identifier, ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    flag("unique_domain_enabled"),
    # First label of the host, which stays the same when the unique domain is disabled and enabled again.
    text("unique_domain", nullable=True),
    flag("https_only"),
    # URL to which requests with other hosts are redirected.
    text("primary_domain", nullable=True),
    UniqueConstraint("unique_domain"),
)


class ProjectPages(Record, frozen=True):
    """Settings of the site of a project."""

    project_id: int
    unique_domain_enabled: bool
    unique_domain: str | None
    https_only: bool
    primary_domain: str | None

    @property
    def host_label(self) -> str | None:
        """First label of the unique domain, if it is enabled."""
        return self.unique_domain if self.unique_domain_enabled else None
