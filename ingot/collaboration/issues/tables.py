"""What is stored of issues."""

from sqlalchemy import Index, Table, UniqueConstraint, func, literal_column

from ingot.core.db.schema import Record, flag, index_where, metadata, number, reference, row_id, text
from ingot.core.db.times import Date, Timestamp

issues = Table(
    "issues",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    number("iid"),
    reference("author_id", "users.id", index=True),
    text("title"),
    text("description", nullable=True),
    text("state"),
    flag("confidential"),
    reference("milestone_id", "milestones.id", ondelete="SET NULL", nullable=True),
    text("due_date", nullable=True),
    # Kept by whoever adds or removes one, since every list shows them.
    number("user_notes_count"),
    number("upvotes"),
    number("downvotes"),
    number("time_estimate"),
    number("total_time_spent"),
    reference("moved_to_id", "issues.id", ondelete="SET NULL", nullable=True),
    reference("closed_by_id", "users.id", ondelete="SET NULL", nullable=True),
    text("closed_at", nullable=True),
    flag("discussion_locked"),
    # Where it stands in a list of a board; those that nobody has moved stand by their number.
    number("position", nullable=True),
    text("created_at"),
    text("updated_at"),
    # Deleted ones keep their row, so that their number is never given again.
    text("deleted_at", nullable=True),
    # Folded, for searches.
    text("title_key"),
    text("description_key"),
    UniqueConstraint("project_id", "iid"),
    Index("ix_issues_project_id_id", "project_id", "id"),
    # With all that a list of one milestone asks and is ordered by, so that it reads no row that it does not show.
    Index("ix_issues_milestone_id", "milestone_id", "state", "project_id", "created_at", "id", "deleted_at"),
    Index("ix_issues_project_id_created_at", "project_id", "created_at", "id", "state", "confidential", "deleted_at"),
    # Through all that there are, and through one's own.
    Index("ix_issues_created_at", "created_at", "id", "project_id", "state", "confidential", "deleted_at"),
    Index("ix_issues_updated_at", "updated_at", "id", "project_id", "state", "confidential", "deleted_at"),
    Index("ix_issues_author_id_created_at", "author_id", "created_at", "id", "project_id", "state", "deleted_at"),
    Index("ix_issues_author_id_updated_at", "author_id", "updated_at", "id", "project_id", "state", "deleted_at"),
    Index("ix_issues_project_id_updated_at", "project_id", "updated_at", "id", "state", "confidential", "deleted_at"),
    sqlite_autoincrement=True,
)

# Few are, and who may not see all of them still sees their own.
Index(
    "ix_issues_confidential",
    issues.c.confidential,
    issues.c.author_id,
    issues.c.project_id,
    **index_where(issues.c.confidential.is_(True)),
)

# Between two that nobody has moved there is room for others, twenty times in the same gap.
POSITION_SPACING = 2**20
# Where an issue stands among those of its project, lowest first.
EFFECTIVE_POSITION = func.coalesce(issues.c.position, issues.c.iid * literal_column(str(POSITION_SPACING)))

issue_assignees = Table(
    "issue_assignees",
    metadata,
    row_id(),
    reference("issue_id", "issues.id"),
    reference("user_id", "users.id"),
    UniqueConstraint("issue_id", "user_id"),
    Index("ix_issue_assignees_user_id", "user_id", "issue_id"),
    sqlite_autoincrement=True,
)

# How many there are of each sort, so that no page has to count a hundred thousand rows.
issue_counts = Table(
    "issue_counts",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("state"),
    flag("confidential"),
    number("count"),
    UniqueConstraint("project_id", "state", "confidential"),
    sqlite_autoincrement=True,
)

issue_origins = Table(
    "issue_origins",
    metadata,
    row_id(),
    reference("issue_id", "issues.id", unique=True),
    text("user_agent"),
    text("ip_address"),
    flag("submitted"),
    sqlite_autoincrement=True,
)


# What a record holds: to whoever shows an issue, its texts as searches fold them would only cost twice the bytes.
ISSUE_COLUMNS = tuple(column for column in issues.c if column.name not in ("title_key", "description_key"))


class Issue(Record, frozen=True):
    """An issue, without what only searches look at."""

    id: int
    project_id: int
    iid: int
    author_id: int
    title: str
    description: str | None
    state: str
    confidential: bool
    milestone_id: int | None
    due_date: Date | None
    user_notes_count: int
    upvotes: int
    downvotes: int
    time_estimate: int
    total_time_spent: int
    moved_to_id: int | None
    closed_by_id: int | None
    closed_at: Timestamp | None
    discussion_locked: bool
    position: int | None
    created_at: Timestamp
    updated_at: Timestamp
    deleted_at: Timestamp | None
