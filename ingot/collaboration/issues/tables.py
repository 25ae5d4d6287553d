"""Tables and records of issues."""

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
    # Stored counts, because every list shows them; updated with each note and award.
    number("user_notes_count"),
    number("upvotes"),
    number("downvotes"),
    number("time_estimate"),
    number("total_time_spent"),
    reference("moved_to_id", "issues.id", ondelete="SET NULL", nullable=True),
    reference("closed_by_id", "users.id", ondelete="SET NULL", nullable=True),
    text("closed_at", nullable=True),
    flag("discussion_locked"),
    # Position in a board list; null until the issue is moved, and then its iid determines the position.
    number("position", nullable=True),
    text("created_at"),
    text("updated_at"),
    # Deleted issues keep their row, so that their iid is never reused.
    text("deleted_at", nullable=True),
    text("issue_type", server_default="issue"),
    # Numbers of tasks in the description; null in rows that a previous version has written.
    number("task_count", nullable=True),
    number("completed_task_count", nullable=True),
    # Of an incident; other types do not show it.
    text("severity", server_default="unknown"),
    # Case-folded copies for searches.
    text("title_key"),
    text("description_key"),
    UniqueConstraint("project_id", "iid"),
    Index("ix_issues_project_id_id", "project_id", "id"),
    # Covers the filters and the order of a milestone's list, so that only rows of the page are read.
    Index("ix_issues_milestone_id", "milestone_id", "state", "project_id", "created_at", "id", "deleted_at"),
    Index("ix_issues_project_id_created_at", "project_id", "created_at", "id", "state", "confidential", "deleted_at"),
    # Indexes for lists over all projects, and for the issues of one author.
    Index("ix_issues_created_at", "created_at", "id", "project_id", "state", "confidential", "deleted_at"),
    Index("ix_issues_updated_at", "updated_at", "id", "project_id", "state", "confidential", "deleted_at"),
    Index("ix_issues_author_id_created_at", "author_id", "created_at", "id", "project_id", "state", "deleted_at"),
    Index("ix_issues_author_id_updated_at", "author_id", "updated_at", "id", "project_id", "state", "deleted_at"),
    Index("ix_issues_project_id_updated_at", "project_id", "updated_at", "id", "state", "confidential", "deleted_at"),
    sqlite_autoincrement=True,
)

# Few issues are confidential; this index finds those that a user sees as their author.
Index(
    "ix_issues_confidential",
    issues.c.confidential,
    issues.c.author_id,
    issues.c.project_id,
    **index_where(issues.c.confidential.is_(True)),
)

# Gap between two issues that were never moved; it can be halved twenty times.
POSITION_SPACING = 2**20
# Position of an issue in its project, lowest first.
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

# Number of issues by state and confidentiality, so that no list has to count a hundred thousand rows.
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

# The issue that contains a task; both are in the same project unless the task was moved.
work_item_parents = Table(
    "work_item_parents",
    metadata,
    row_id(),
    reference("issue_id", "issues.id", unique=True),
    reference("parent_id", "issues.id", index=True),
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


# Columns of the record. The search keys are left out, because they would double the bytes that are read.
ISSUE_COLUMNS = tuple(column for column in issues.c if column.name not in ("title_key", "description_key"))


class Issue(Record, frozen=True):
    """Row of ``issues`` without the search keys."""

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
    issue_type: str
    task_count: int | None
    completed_task_count: int | None
    severity: str
