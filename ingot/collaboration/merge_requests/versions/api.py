"""Endpoints of the commits, changes and versions of merge requests."""

from ingot.collaboration.merge_requests import policy
from ingot.collaboration.merge_requests.detail_views import merge_request_as_view
from ingot.collaboration.merge_requests.finders import merge_request_in_path
from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.versions import queries
from ingot.collaboration.merge_requests.versions.params import GetChanges
from ingot.collaboration.merge_requests.versions.views import (
    ChangesView,
    DiffVersionDetailView,
    DiffVersionView,
    changes_view,
    diff_views,
    version_detail_view,
    version_view,
)
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, RawResponse, Routes
from ingot.core.db.paging import Listing, Page, slice_page
from ingot.git.core.repository import Repository
from ingot.git.history.commits import read_commits
from ingot.projects.projects.api import repository_store
from ingot.repositories.commits.views import CommitView, DiffView, commit_view
from ingot.repositories.context import project_url, repository_state
from ingot.repositories.diff_limits import diff_limits

routes = Routes("merge_requests")


def repository_of(call: Call, lookup: MergeRequestLookup) -> Repository:
    """Return the target repository, which contains all commits of a merge request."""
    return repository_store(call.settings).open(lookup.project.repository_key)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/commits",
    on=merge_request_in_path,
    may=policy.may_read_merge_request,
    returns=list[CommitView],
    cached=repository_state,
)
def list_commits(call: Call, lookup: MergeRequestLookup, page: Page) -> Listing[CommitView]:
    """List the commits of a merge request, the newest first."""
    repository, url = repository_of(call, lookup), project_url(call, lookup.project)
    span = queries.current_commit_range(call.db, repository, lookup.merge_request)
    listing = slice_page(queries.commits_in(repository, span), page)
    return listing.of([commit_view(commit, url) for commit in read_commits(repository, listing.items)])


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/changes",
    on=merge_request_in_path,
    may=policy.may_read_merge_request,
    returns=ChangesView,
    cached=repository_state,
)
def get_changes(call: Call, lookup: MergeRequestLookup, params: GetChanges) -> ChangesView:  # noqa: ARG001 - The parameters are validated, and have no effect.
    """Get a merge request with its changes."""
    repository = repository_of(call, lookup)
    span = queries.current_commit_range(call.db, repository, lookup.merge_request)
    diff = queries.diff_of(repository, span, diff_limits(call.db))
    return changes_view(merge_request_as_view(call, call.db, lookup.project, lookup.merge_request, asks_git=True), diff)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/diffs",
    on=merge_request_in_path,
    may=policy.may_read_merge_request,
    returns=list[DiffView],
    cached=repository_state,
)
def list_diffs(call: Call, lookup: MergeRequestLookup, params: GetChanges, page: Page) -> Listing[DiffView]:  # noqa: ARG001 - The parameters are validated, and have no effect.
    """List the changed files of a merge request with their diffs."""
    repository = repository_of(call, lookup)
    span = queries.current_commit_range(call.db, repository, lookup.merge_request)
    diff = queries.diff_of(repository, span, diff_limits(call.db))
    return slice_page(diff_views(diff), page)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/raw_diffs",
    on=merge_request_in_path,
    may=policy.may_read_merge_request,
    returns=RawResponse,
)
def get_raw_diffs(call: Call, lookup: MergeRequestLookup) -> RawResponse:
    """Get the changes of a merge request as one patch."""
    repository = repository_of(call, lookup)
    return RawResponse(
        queries.patch_of(repository, queries.current_commit_range(call.db, repository, lookup.merge_request))
    )


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/versions",
    on=merge_request_in_path,
    may=policy.may_read_merge_request,
    returns=list[DiffVersionView],
)
def list_versions(call: Call, lookup: MergeRequestLookup, page: Page) -> Listing[DiffVersionView]:
    """List the versions of a merge request, the newest first."""
    versions = queries.list_versions(call.db, lookup.merge_request, page)
    return versions.of([version_view(version) for version in versions.items])


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/versions/:version_id",
    on=merge_request_in_path,
    may=policy.may_read_merge_request,
    returns=DiffVersionDetailView,
)
def get_version(call: Call, lookup: MergeRequestLookup) -> DiffVersionDetailView:
    """Get a version of a merge request with its commits and changes."""
    version = queries.find_version(call.db, lookup.merge_request, path_number(call.path, "version_id"))
    repository, span = repository_of(call, lookup), queries.commit_range_of(version)
    commits = read_commits(repository, queries.commits_in(repository, span))
    diff = queries.diff_of(repository, span, diff_limits(call.db))
    return version_detail_view(version, commits, diff, project_url(call, lookup.project))
