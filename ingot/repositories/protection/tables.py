"""What is stored of protected branches and tags."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import Record, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

# A name may hold ``*``, which stands for any signs; a level of 0 lets nobody.
protected_branches = Table(
    "protected_branches",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("name"),
    number("push_level"),
    number("merge_level"),
    flag("allow_force_push"),
    text("created_at"),
    UniqueConstraint("project_id", "name"),
    sqlite_autoincrement=True,
)

protected_tags = Table(
    "protected_tags",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("name"),
    number("create_level"),
    text("created_at"),
    UniqueConstraint("project_id", "name"),
    sqlite_autoincrement=True,
)


class ProtectedBranch(Record, frozen=True):
    """A rule on the branches that its name matches."""

    id: int
    project_id: int
    name: str
    push_level: int
    merge_level: int
    allow_force_push: bool
    created_at: Timestamp


class ProtectedTag(Record, frozen=True):
    """A rule on the tags that its name matches."""

    id: int
    project_id: int
    name: str
    create_level: int
    created_at: Timestamp
