"""Pipelines: what others report of commits."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ingot.api.params import number_or_none
from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.repository.commits.queries import status_of
from ingot.repository.commits.views import CommitView
from ingot.repository.pipelines.queries import pipelines_of_commits
from ingot.web.pages import Pages, Reply, Visit
from ingot.web.projects.place import Place, place_of

pages = Pages()
_STATUSES = ("pending", "running", "success", "failed", "canceled", "skipped")


@pages.get("/:path/-/pipelines", open=True)
def show_pipelines(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """The pipelines, newest first; ``status`` and ``ref`` leave out others."""
    place = place_of(visit)
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
def show_pipeline(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """One pipeline, and what it is made of."""
    place, number = place_of(visit), visit.path["id"]
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


class Outcome(NamedTuple):
    """What became of a commit, and where that is told."""

    status: str | None
    address: str


def outcomes_of(place: Place, db: Connection, commits: Sequence[CommitView]) -> dict[str, Outcome]:
    """What became of the commits of a list, as far as anybody reported it; by one statement for all of them."""
    if not commits or not place.may("GET", "/pipelines"):
        return {}
    found = pipelines_of_commits(db, place.project.id, [commit.id for commit in commits])
    return {
        sha: Outcome(status_of(pipelines), f"{place.url}/-/pipelines/{pipelines[0].id}")
        for sha, pipelines in found.items()
    }
