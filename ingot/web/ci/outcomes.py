"""Pipeline statuses of commits, for lists of commits, branches and tags."""

from collections.abc import Sequence
from typing import NamedTuple

from ingot.core.db.connection import Connection
from ingot.repositories.commit_statuses import api as statuses_api
from ingot.repositories.commits.views import CommitView, commit_outcomes
from ingot.web.projects.context import ProjectContext


class PipelineOutcome(NamedTuple):
    """Pipeline status of a commit, and the URL of the details."""

    status: str | None
    address: str


def pipeline_outcomes(
    parent: ProjectContext, db: Connection, commits: Sequence[CommitView]
) -> dict[str, PipelineOutcome]:
    """Return the pipeline statuses of a list of commits, with one query for all."""
    if not commits or not parent.may(statuses_api.list_pipelines):
        return {}
    outcomes = commit_outcomes(db, parent.project.id, [commit.id for commit in commits])
    return {
        sha: PipelineOutcome(outcome.status, f"{parent.url}/-/pipelines/{outcome.pipeline_id}")
        for sha, outcome in outcomes.items()
    }
