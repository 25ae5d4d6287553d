"""Pipelines: the statuses that external CI systems report for commits."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.errors import NotFound
from ingot.repositories.commits import api as commits_api
from ingot.repositories.commits.views import CommitView, commit_outcomes
from ingot.repositories.statuses import api as statuses_api
from ingot.repositories.trees import api as trees_api
from ingot.web.page_routes import PageResponse, PageRoutes, Visit
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()
_STATUSES = ("pending", "running", "success", "failed", "canceled", "skipped")


@pages.get("/:path/-/pipelines", open=True)
def show_pipelines(visit: Visit) -> PageResponse:
    """List the pipelines, newest first, filtered by ``status`` and ``ref``."""
    parent = project_context(visit)
    status = visit.request.query.get("status") if visit.request.query.get("status") in _STATUSES else ""
    ref = str(visit.request.query.get("ref", ""))
    params = {"ref": ref, "page": str(visit.request.query.get("page", "1")), "per_page": "30"}
    context: dict[str, Any] = {
        "pipelines": parent.ask(statuses_api.list_pipelines, {**params, "status": status} if status else params),
        "status": status,
        "ref": ref,
        "statuses": _STATUSES,
    }
    return parent.page("code/pipelines.html", "code", context)


@pages.get("/:path/-/pipelines/:id", open=True)
def show_pipeline(visit: Visit) -> PageResponse:
    """Show a pipeline with its commit statuses."""
    parent, number = project_context(visit), visit.request.path["id"]
    if number_or_none(number) is None:
        raise NotFound("Pipeline")
    pipeline = parent.ask(statuses_api.get_pipeline, pipeline_id=number)
    statuses = parent.ask(statuses_api.list_pipeline_statuses, {"per_page": "100"}, pipeline_id=number)
    commit = None
    if parent.may(trees_api.list_tree):
        try:
            commit = parent.ask(commits_api.get_commit, {"stats": "false"}, sha=pipeline.sha)
        except NotFound:
            commit = None  # Removed by a force push.
    context = {"pipeline": pipeline, "statuses": statuses.items, "commit": commit}
    return parent.page("code/pipeline.html", "code", context)


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
