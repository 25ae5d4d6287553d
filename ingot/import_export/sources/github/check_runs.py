"""Statuses and check runs of commits of GitHub."""

from msgspec import Struct

from ingot.import_export.records import StatusRecord
from ingot.import_export.sources.commit_statuses import HeadCommit, HostedStatus
from ingot.import_export.sources.github.shapes import GitHubUser

_CONCLUSIONS = {
    "success": "success",
    "neutral": "success",
    "failure": "failed",
    "timed_out": "failed",
    "startup_failure": "failed",
    "action_required": "manual",
    "cancelled": "canceled",
    "stale": "canceled",
    "skipped": "skipped",
}


class GitHubStatus(HostedStatus, kw_only=True):
    """Status of a commit."""

    creator: GitHubUser | None = None


class GitHubCheckRun(Struct):
    """Result of a job of a workflow or of another app."""

    id: int
    name: str
    head_sha: str
    status: str = "completed"
    conclusion: str | None = None
    details_url: str | None = None
    html_url: str | None = None
    started_at: str | None = None
    completed_at: str | None = None


class GitHubCheckRuns(Struct):
    """Page of the check runs of a commit."""

    check_runs: list[GitHubCheckRun] = []


def check_run_record(run: GitHubCheckRun, head: HeadCommit) -> StatusRecord:
    """Build the record of a check run."""
    running = "running" if run.status == "in_progress" else "pending"
    return StatusRecord(
        key=f"check:{run.id}",
        sha=head.sha,
        ref=head.branch,
        name=run.name,
        state=_CONCLUSIONS.get(run.conclusion or "", "canceled") if run.status == "completed" else running,
        target_url=run.details_url or run.html_url,
        created_at=run.started_at,
        started_at=run.started_at,
        finished_at=run.completed_at,
    )
