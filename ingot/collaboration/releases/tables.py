"""Tables of release links and release milestones; releases themselves are stored by the tags package."""

from typing import Literal

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

LinkType = Literal["other", "runbook", "image", "package"]

release_links = Table(
    "release_links",
    metadata,
    row_id(),
    reference("release_id", "releases.id"),
    text("name"),
    text("url"),
    text("filepath", nullable=True),
    text("link_type"),
    text("created_at"),
    UniqueConstraint("release_id", "name"),
    UniqueConstraint("release_id", "url"),
    UniqueConstraint("release_id", "filepath"),
    sqlite_autoincrement=True,
)

# Only milestones of the release's own project; promoting a milestone to a group removes it from releases.
release_milestones = Table(
    "release_milestones",
    metadata,
    row_id(),
    reference("release_id", "releases.id"),
    reference("milestone_id", "milestones.id"),
    UniqueConstraint("release_id", "milestone_id"),
    Index("ix_release_milestones_milestone_id", "milestone_id"),
    sqlite_autoincrement=True,
)


class ReleaseLink(Record, frozen=True):
    """A link of a release to an asset or a page."""

    id: int
    release_id: int
    name: str
    url: str
    filepath: str | None
    link_type: LinkType
    created_at: Timestamp
