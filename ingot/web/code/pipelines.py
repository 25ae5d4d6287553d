"""Pipelines: what others report of commits."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.errors import NotFound
from ingot.repositories.commits.queries import overall_pipeline_status
from ingot.repositories.commits.views import CommitView
from ingot.repositories.pipelines.queries import pipelines_of_commits
from ingot.web.page_routes import PageResponse, PageRoutes, Visit
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()
_STATUSES = ("pending", "running", "success", "failed", "canceled", "skipped")


@pages.get("/:path/-/pipelines", open=True)
def show_pipelines(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page to read gets a connection.
    """The pipelines, newest first; ``status`` and ``ref`` leave out others."""
    place = project_context(visit)
    status = visit.query.get("status") if visit.query.get("status") in _STATUSES else ""
    ref = str(visit.query.get("ref", ""))
    asked = {"ref": ref, "page": str(visit.query.get("page", "1")), "per_page": "30"}
    context: dict[str, Any] = {
        "pipelines": place.get("/pipelines", {**asked, "status": status} if status else asked),
        "status": status,
        "ref": ref,
        "statuses": _STATUSES,
    }
    return place.page("code/pipelines.html", "code", context)


@pages.get("/:path/-/pipelines/:id", open=True)
def show_pipeline(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page to read gets a connection.
    """One pipeline, and what it is made of."""
    place, number = project_context(visit), visit.path["id"]
    if number_or_none(number) is None:
        raise NotFound("Pipeline")
    pipeline = place.get("/pipelines/:pipeline_id", pipeline_id=number)
    statuses = place.get("/pipelines/:pipeline_id/statuses", {"per_page": "100"}, pipeline_id=number)
    commit = None
    if place.may("GET", "/repository/tree"):
        try:
            commit = place.get("/repository/commits/:sha", {"stats": "false"}, sha=pipeline.sha)
        except NotFound:
            commit = None  # A push by force has left it behind.
    context = {"pipeline": pipeline, "statuses": statuses.items, "commit": commit}
    return place.page("code/pipeline.html", "code", context)


class PipelineOutcome(NamedTuple):
    """What became of a commit, and where that is told."""

    status: str | None
    address: str


def pipeline_outcomes(
    place: ProjectContext, db: Connection, commits: Sequence[CommitView]
) -> dict[str, PipelineOutcome]:
    """What became of the commits of a list, as far as anybody reported it; by one statement for all of them."""
    if not commits or not place.may("GET", "/pipelines"):
        return {}
    found = pipelines_of_commits(db, place.project.id, [commit.id for commit in commits])
    return {
        sha: PipelineOutcome(overall_pipeline_status(pipelines), f"{place.url}/-/pipelines/{pipelines[0].id}")
        for sha, pipelines in found.items()
    }
