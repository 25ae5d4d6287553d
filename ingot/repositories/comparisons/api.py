"""Endpoints of comparisons, contributors and merge bases."""

from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Invalid
from ingot.repositories.commits.views import CommitView, commit_view
from ingot.repositories.comparisons import queries
from ingot.repositories.comparisons.params import CompareRefs, GetMergeBase, ListContributors
from ingot.repositories.comparisons.views import ComparisonView, ContributorView, comparison_view, contributor_view
from ingot.repositories.context import (
    RepositoryContext,
    may_read_code,
    project_url,
    repository_in_path,
    repository_state,
)
from ingot.repositories.diff_limits import diff_limits

routes = Routes("comparing")


@routes.get(
    "/projects/:id/repository/compare",
    on=repository_in_path,
    may=may_read_code,
    returns=ComparisonView,
    open=True,
    cached=repository_state,
)
def compare_refs(call: Call, context: RepositoryContext, params: CompareRefs) -> ComparisonView:
    """Compare two branches, tags or commits."""
    if params.from_project_id not in (None, context.project.id):
        raise Invalid(from_project_id=["can only be this project"])
    limits = diff_limits(call.db)
    comparison = queries.compare_refs(context.repository, params.from_ref, params.to, limits, straight=params.straight)
    return comparison_view(comparison, project_url(call, context.project), straight=params.straight)


@routes.get(
    "/projects/:id/repository/contributors",
    on=repository_in_path,
    may=may_read_code,
    returns=list[ContributorView],
    open=True,
)
def list_contributors(
    call: Call,  # noqa: ARG001 - The kernel passes the call to every handler.
    context: RepositoryContext,
    params: ListContributors,
    page: Page,
) -> Listing[ContributorView]:
    """List the authors of the commits of a branch."""
    listing = queries.list_contributors(context.repository, context.project, params, page)
    return listing.of([contributor_view(contributor) for contributor in listing.items])


@routes.get(
    "/projects/:id/repository/merge_base",
    on=repository_in_path,
    may=may_read_code,
    returns=CommitView,
    open=True,
    cached=repository_state,
)
def get_merge_base(call: Call, context: RepositoryContext, params: GetMergeBase) -> CommitView:
    """Get the common ancestor of branches, tags or commits."""
    return commit_view(queries.find_merge_base(context.repository, params.refs), project_url(call, context.project))
