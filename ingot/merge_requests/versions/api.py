"""What merge requests bring, over the API."""

from ingot.api.params import path_number
from ingot.api.routes import Call, Raw, Routes
from ingot.db.paging import Listing, Page, cut_page
from ingot.git.commits import read_commits
from ingot.git.repository import Repository
from ingot.merge_requests import policy
from ingot.merge_requests.api import merge_request_in_path, shown
from ingot.merge_requests.policy import Found
from ingot.merge_requests.versions import queries
from ingot.merge_requests.versions.params import GetChanges
from ingot.merge_requests.versions.views import (
    ChangesView,
    DiffVersionView,
    WholeDiffVersionView,
    changes_view,
    diff_views,
    version_view,
    whole_version_view,
)
from ingot.projects.api import store_of
from ingot.repository.commits.views import CommitView, DiffView, commit_view
from ingot.repository.place import project_url

routes = Routes("merge_requests")


def repository_of(call: Call, found: Found) -> Repository:
    """Where all lies that a merge request brings."""
    return store_of(call.settings).open(found.project.repository_key)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/commits",
    on=merge_request_in_path,
    may=policy.may_read_found,
    returns=list[CommitView],
)
def list_commits(call: Call, found: Found, page: Page) -> Listing[CommitView]:
    """List the commits that a merge request brings, the newest first."""
    repository, url = repository_of(call, found), project_url(call, found.project)
    span = queries.current_span(call.db, repository, found.merge_request)
    part = cut_page(queries.commits_in(repository, span), page)
    return part.of([commit_view(commit, url) for commit in read_commits(repository, part.items)])


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/changes",
    on=merge_request_in_path,
    may=policy.may_read_found,
    returns=ChangesView,
)
def get_changes(call: Call, found: Found, params: GetChanges) -> ChangesView:  # noqa: ARG001 - What clients send here has no effect.
    """Get a merge request with what it changes."""
    repository = repository_of(call, found)
    diff = queries.diff_of(repository, queries.current_span(call.db, repository, found.merge_request))
    return changes_view(shown(call, call.db, found.project, found.merge_request, asks_git=True), diff)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/diffs",
    on=merge_request_in_path,
    may=policy.may_read_found,
    returns=list[DiffView],
)
def list_diffs(call: Call, found: Found, params: GetChanges, page: Page) -> Listing[DiffView]:  # noqa: ARG001 - What clients send here has no effect.
    """List what a merge request changes, file by file."""
    repository = repository_of(call, found)
    diff = queries.diff_of(repository, queries.current_span(call.db, repository, found.merge_request))
    return cut_page(diff_views(diff), page)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/raw_diffs",
    on=merge_request_in_path,
    may=policy.may_read_found,
    returns=Raw,
)
def get_raw_diffs(call: Call, found: Found) -> Raw:
    """Get what a merge request changes as one patch."""
    repository = repository_of(call, found)
    return Raw(queries.patch_of(repository, queries.current_span(call.db, repository, found.merge_request)))


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/versions",
    on=merge_request_in_path,
    may=policy.may_read_found,
    returns=list[DiffVersionView],
)
def list_versions(call: Call, found: Found, page: Page) -> Listing[DiffVersionView]:
    """List what each push to the source of a merge request brought, the newest first."""
    versions = queries.list_versions(call.db, found.merge_request, page)
    return versions.of([version_view(version) for version in versions.items])


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/versions/:version_id",
    on=merge_request_in_path,
    may=policy.may_read_found,
    returns=WholeDiffVersionView,
)
def get_version(call: Call, found: Found) -> WholeDiffVersionView:
    """Get what a push brought, with its commits and changes."""
    version = queries.find_version(call.db, found.merge_request, path_number(call.path, "version_id"))
    repository, span = repository_of(call, found), queries.span_of(version)
    commits = read_commits(repository, queries.commits_in(repository, span))
    return whole_version_view(version, commits, queries.diff_of(repository, span), project_url(call, found.project))
