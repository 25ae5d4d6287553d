"""Tables and records of merge requests."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, flag, index_where, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

_OPEN = index_where("state = 'opened' AND deleted_at IS NULL")

merge_requests = Table(
    "merge_requests",
    metadata,
    row_id(),
    number("iid"),
    reference("target_project_id", "projects.id"),
    # A fork may be deleted; its commits remain in the repository of the target.
    reference("source_project_id", "projects.id", ondelete="SET NULL", nullable=True),
    text("source_branch"),
    text("target_branch"),
    reference("author_id", "users.id", index=True),
    text("title"),
    text("description", nullable=True),
    text("state"),
    reference("milestone_id", "milestones.id", ondelete="SET NULL", nullable=True),
    flag("merge_when_pipeline_succeeds"),
    reference("merge_user_id", "users.id", ondelete="SET NULL", nullable=True),
    # Options of a scheduled merge, as JSON.
    text("merge_params", nullable=True),
    flag("squash"),
    flag("remove_source_branch"),
    # Head of the source branch after the last push; updated in the transaction that records the push.
    text("head_oid"),
    text("merge_commit_oid", nullable=True),
    text("squash_commit_oid", nullable=True),
    text("merged_at", nullable=True),
    reference("merged_by_id", "users.id", ondelete="SET NULL", nullable=True),
    text("closed_at", nullable=True),
    reference("closed_by_id", "users.id", ondelete="SET NULL", nullable=True),
    text("merge_error", nullable=True),
    # Mergeability, valid only for this pair of commits.
    text("verdict_source_oid", nullable=True),
    text("verdict_target_oid", nullable=True),
    text("verdict", nullable=True),
    # Stored counts, because every list shows them; updated with each note and award.
    number("user_notes_count"),
    number("upvotes"),
    number("downvotes"),
    number("time_estimate"),
    number("total_time_spent"),
    flag("discussion_locked"),
    text("created_at"),
    text("updated_at"),
    # Deleted merge requests keep their row, so that their iid is never reused.
    text("deleted_at", nullable=True),
    # Case-folded copies for searches.
    text("title_key"),
    text("description_key"),
    UniqueConstraint("target_project_id", "iid"),
    # Refuses the second of two concurrent requests to open a merge request between the same branches.
    Index(
        "uq_merge_requests_open",
        "source_project_id",
        "source_branch",
        "target_project_id",
        "target_branch",
        unique=True,
        **_OPEN,
    ),
    # For a push to a target, which looks up the open merge requests whose head is among the new commits.
    Index(
        "ix_merge_requests_open_target",
        "target_project_id",
        "target_branch",
        "head_oid",
        **_OPEN,
    ),
    Index("ix_merge_requests_source_project_id", "source_project_id", "source_branch"),
    Index("ix_merge_requests_target_project_id_id", "target_project_id", "id"),
    Index("ix_merge_requests_milestone_id", "milestone_id", "state", "target_project_id", "created_at", "id"),
    # Most lists are of open merge requests, which are few among many closed and merged ones.
    Index("ix_merge_requests_state", "target_project_id", "state", "created_at", "id", "deleted_at"),
    Index("ix_merge_requests_created_at", "target_project_id", "created_at", "id", "state", "deleted_at"),
    Index("ix_merge_requests_updated_at", "target_project_id", "updated_at", "id", "state", "deleted_at"),
    Index("ix_merge_requests_merge_commit_oid", "target_project_id", "merge_commit_oid"),
    sqlite_autoincrement=True,
)

# Columns of the record. The search keys are left out, because they would double the bytes that are read.
MERGE_REQUEST_COLUMNS = tuple(
    column for column in merge_requests.c if column.name not in ("title_key", "description_key")
)

merge_request_assignees = Table(
    "merge_request_assignees",
    metadata,
    row_id(),
    reference("merge_request_id", "merge_requests.id"),
    reference("user_id", "users.id"),
    UniqueConstraint("merge_request_id", "user_id"),
    Index("ix_merge_request_assignees_user_id", "user_id", "merge_request_id"),
    sqlite_autoincrement=True,
)

merge_request_reviewers = Table(
    "merge_request_reviewers",
    metadata,
    row_id(),
    reference("merge_request_id", "merge_requests.id"),
    reference("user_id", "users.id"),
    UniqueConstraint("merge_request_id", "user_id"),
    Index("ix_merge_request_reviewers_user_id", "user_id", "merge_request_id"),
    sqlite_autoincrement=True,
)

merge_request_approvals = Table(
    "merge_request_approvals",
    metadata,
    row_id(),
    reference("merge_request_id", "merge_requests.id"),
    reference("user_id", "users.id", index=True),
    text("created_at"),
    UniqueConstraint("merge_request_id", "user_id"),
    sqlite_autoincrement=True,
)

# Number of merge requests by state, so that no list has to count a hundred thousand rows.
merge_request_counts = Table(
    "merge_request_counts",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("state"),
    number("count"),
    UniqueConstraint("project_id", "state"),
    sqlite_autoincrement=True,
)

# Issues that the text or a commit of a merge request closes; whether they are closed is decided when it is merged.
merge_request_closings = Table(
    "merge_request_closings",
    metadata,
    row_id(),
    reference("merge_request_id", "merge_requests.id"),
    reference("issue_id", "issues.id"),
    flag("by_commits"),
    UniqueConstraint("merge_request_id", "issue_id", "by_commits"),
    Index("ix_merge_request_closings_issue_id", "issue_id", "merge_request_id"),
    sqlite_autoincrement=True,
)

# One row for each push to the source. Base and start are computed by git after the transaction; refs in the repository
# protect them and the head from garbage collection.
merge_request_versions = Table(
    "merge_request_versions",
    metadata,
    row_id(),
    reference("merge_request_id", "merge_requests.id"),
    text("head_oid"),
    text("base_oid", nullable=True),
    text("start_oid", nullable=True),
    text("state"),
    number("commits_count", nullable=True),
    # Text, because it has a plus sign if there are more files than are counted.
    text("files_count", nullable=True),
    # The author of the system note about the push.
    reference("pushed_by_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    text("created_at"),
    Index("ix_merge_request_versions_merge_request_id", "merge_request_id", "id"),
    sqlite_autoincrement=True,
)

# Commits of a merge request with their first version; only the newest of very many.
merge_request_commits = Table(
    "merge_request_commits",
    metadata,
    row_id(),
    reference("merge_request_id", "merge_requests.id"),
    reference("version_id", "merge_request_versions.id", index=True),
    text("oid"),
    UniqueConstraint("merge_request_id", "oid"),
    Index("ix_merge_request_commits_oid", "oid", "merge_request_id"),
    sqlite_autoincrement=True,
)

# Merges in progress: written before the target branch moves, read when the move is recorded.
merge_request_merges = Table(
    "merge_request_merges",
    metadata,
    row_id(),
    reference("merge_request_id", "merge_requests.id", index=True),
    reference("actor_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    text("method"),
    text("source_oid"),
    text("target_oid"),
    text("new_oid", index=True),
    text("merge_commit_oid", nullable=True),
    text("squash_commit_oid", nullable=True),
    flag("remove_source_branch"),
    text("created_at"),
    sqlite_autoincrement=True,
)

# Notes of a review that only their author sees until the review is submitted.
draft_notes = Table(
    "draft_notes",
    metadata,
    row_id(),
    reference("merge_request_id", "merge_requests.id"),
    reference("author_id", "users.id", index=True),
    # The discussion that it replies to, if any.
    text("discussion_id", nullable=True),
    flag("resolve_discussion"),
    text("note"),
    # The position in the diff, as JSON; it follows its line like that of a note.
    text("position", nullable=True),
    text("commit_oid", nullable=True),
    text("created_at"),
    text("updated_at"),
    Index("ix_draft_notes_merge_request_id", "merge_request_id", "author_id", "id"),
    sqlite_autoincrement=True,
)

# Files that a user has marked as viewed; the mark counts while the file has the same changes.
merge_request_viewed_files = Table(
    "merge_request_viewed_files",
    metadata,
    row_id(),
    reference("merge_request_id", "merge_requests.id"),
    reference("user_id", "users.id", index=True),
    text("path"),
    text("diff_digest"),
    UniqueConstraint("merge_request_id", "user_id", "path"),
    sqlite_autoincrement=True,
)


class MergeRequest(Record, frozen=True):
    """A merge request."""

    id: int
    iid: int
    target_project_id: int
    source_project_id: int | None
    source_branch: str
    target_branch: str
    author_id: int
    title: str
    description: str | None
    state: str
    milestone_id: int | None
    merge_when_pipeline_succeeds: bool
    merge_user_id: int | None
    merge_params: str | None
    squash: bool
    remove_source_branch: bool
    head_oid: str
    merge_commit_oid: str | None
    squash_commit_oid: str | None
    merged_at: Timestamp | None
    merged_by_id: int | None
    closed_at: Timestamp | None
    closed_by_id: int | None
    merge_error: str | None
    verdict_source_oid: str | None
    verdict_target_oid: str | None
    verdict: str | None
    user_notes_count: int
    upvotes: int
    downvotes: int
    time_estimate: int
    total_time_spent: int
    discussion_locked: bool
    created_at: Timestamp
    updated_at: Timestamp
    deleted_at: Timestamp | None


class DiffVersion(Record, frozen=True):
    """A push to the source of a merge request; ``collected`` after git has compared it with the target."""

    id: int
    merge_request_id: int
    head_oid: str
    base_oid: str | None
    start_oid: str | None
    state: str
    commits_count: int | None
    files_count: str | None
    pushed_by_id: int | None
    created_at: Timestamp


class PendingMerge(Record, frozen=True):
    """A merge in progress."""

    id: int
    merge_request_id: int
    actor_id: int | None
    method: str
    source_oid: str
    target_oid: str
    new_oid: str
    merge_commit_oid: str | None
    squash_commit_oid: str | None
    remove_source_branch: bool
    created_at: Timestamp


class DraftNote(Record, frozen=True):
    """A note of a review that is not submitted yet."""

    id: int
    merge_request_id: int
    author_id: int
    discussion_id: str | None
    resolve_discussion: bool
    note: str
    position: str | None
    commit_oid: str | None
    created_at: Timestamp
    updated_at: Timestamp
