"""Tables and records of merge requests."""

from typing import Literal

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, flag, index_where, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

Strategy = Literal["merge_when_checks_pass", "merge_train", "add_to_merge_train_when_checks_pass"]
"""How a scheduled merge happens; GitLab's names of ``auto_merge_strategy``."""
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
    # Numbers of tasks in the description; null in rows that a previous version has written.
    number("task_count", nullable=True),
    number("completed_task_count", nullable=True),
    # Number of reviewers who have requested changes, which block the merge; null counts as none.
    number("change_requests", nullable=True),
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
    # Result of the review besides an approval: "reviewed" or "requested_changes"; null before the first.
    text("state", nullable=True),
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
    # Without one: versions from before the column, without changes, or with too many of them.
    text("patch_id", nullable=True),
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
    # The commit for which the merge train takes the new tip, if the merge skips the train or follows one that did.
    text("train_oid", nullable=True),
    text("created_at"),
    sqlite_autoincrement=True,
)

# Merge requests in merge trains, in the order of their ids, and those that trains have merged.
merge_train_cars = Table(
    "merge_train_cars",
    metadata,
    row_id(),
    reference("merge_request_id", "merge_requests.id"),
    reference("project_id", "projects.id"),
    text("target_branch"),
    reference("user_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    text("status"),
    text("head_oid"),
    # The tested commit: built on the commit of the car before it, or on the tip of the target branch.
    text("base_oid", nullable=True),
    text("commit_oid", nullable=True),
    text("squash_oid", nullable=True),
    # The merge method and whether to squash, by which it was built; null in rows of a previous version.
    text("built_by", nullable=True),
    # The tip after the merge, if the train takes it for the commit above: it has changes that skipped the train.
    text("merged_oid", nullable=True),
    reference("pipeline_id", "pipelines.id", ondelete="SET NULL", nullable=True, index=True),
    text("created_at"),
    text("updated_at"),
    text("merged_at", nullable=True),
    UniqueConstraint("merge_request_id"),
    Index("ix_merge_train_cars_project_id", "project_id", "target_branch", "status", "id"),
    Index("ix_merge_train_cars_merged_oid", "merged_oid"),
    sqlite_autoincrement=True,
)

# Open merge requests whose target changed because the layer below them was merged or has joined a merge train, until
# they no longer contain commits of that layer that the target branch has in another form.
merge_request_restacks = Table(
    "merge_request_restacks",
    metadata,
    row_id(),
    reference("merge_request_id", "merge_requests.id"),
    # The layer below, whose versions are the commits to leave out.
    reference("lower_id", "merge_requests.id", index=True),
    # The user in whose name the source branch is rebased.
    reference("actor_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    text("state"),
    # The head after the rebase, written with the intent to move the branch.
    text("rebased_oid", nullable=True),
    text("created_at"),
    UniqueConstraint("merge_request_id"),
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


RestackState = Literal["train", "waiting", "offered", "conflict"]
"""``train``: the layer below is in a merge train; ``waiting``: a job rebases; ``offered``: a user may do so."""


class Restack(Record, frozen=True):
    """A merge request that may contain commits of a merged layer below it."""

    id: int
    merge_request_id: int
    lower_id: int
    actor_id: int | None
    state: RestackState
    rebased_oid: str | None
    created_at: Timestamp


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
    task_count: int | None
    completed_task_count: int | None
    change_requests: int | None


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
    patch_id: str | None
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
    train_oid: str | None
    created_at: Timestamp


CarStatus = Literal["idle", "fresh", "merged", "skip_merged"]
"""``idle``: without a pipeline; ``fresh``: with one for the current state of the train."""


class MergeTrainCar(Record, frozen=True):
    """A merge request in a merge train, or merged by one."""

    id: int
    merge_request_id: int
    project_id: int
    target_branch: str
    user_id: int | None
    status: CarStatus
    head_oid: str
    base_oid: str | None
    commit_oid: str | None
    squash_oid: str | None
    built_by: str | None
    merged_oid: str | None
    pipeline_id: int | None
    created_at: Timestamp
    updated_at: Timestamp
    merged_at: Timestamp | None

    @property
    def has_ended(self) -> bool:
        """Whether the merge request is merged."""
        return self.status in ("merged", "skip_merged")


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
