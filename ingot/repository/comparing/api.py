"""Comparing over the API."""

from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page
from ingot.errors import Invalid
from ingot.repository.commits.views import CommitView, commit_view
from ingot.repository.comparing import queries
from ingot.repository.comparing.params import Compare, GetMergeBase, ListContributors
from ingot.repository.comparing.views import ComparisonView, ContributorView, comparison_view, contributor_view
from ingot.repository.place import Place, may_read_code, place_in_path, project_url

routes = Routes("comparing")


@routes.get("/projects/:id/repository/compare", on=place_in_path, may=may_read_code, returns=ComparisonView, open=True)
def compare_refs(call: Call, place: Place, params: Compare) -> ComparisonView:
    """Compare two branches, tags or commits."""
    if params.from_project_id not in (None, place.project.id):
        raise Invalid(from_project_id=["can only be this project"])
    found = queries.compare(place.repository, params.from_ref, params.to, straight=params.straight)
    return comparison_view(found, project_url(call, place.project), straight=params.straight)


@routes.get(
    "/projects/:id/repository/contributors",
    on=place_in_path,
    may=may_read_code,
    returns=list[ContributorView],
    open=True,
)
def list_contributors(call: Call, place: Place, params: ListContributors, page: Page) -> Listing[ContributorView]:  # noqa: ARG001 - Every handler gets its call.
    """List who wrote the commits of a branch."""
    found = queries.list_contributors(place.repository, place.project, params, page)
    return found.of([contributor_view(contributor) for contributor in found.items])


@routes.get("/projects/:id/repository/merge_base", on=place_in_path, may=may_read_code, returns=CommitView, open=True)
def get_merge_base(call: Call, place: Place, params: GetMergeBase) -> CommitView:
    """Get the commit in which branches, tags or commits have parted."""
    return commit_view(queries.find_merge_base(place.repository, params.refs), project_url(call, place.project))
