"""Endpoints of commits."""

from typing import Any

from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page, slice_page
from ingot.core.errors import NotFound
from ingot.git.core.refs import HEADS, TAGS
from ingot.git.diffs.stats import commit_stats
from ingot.git.history.commits import decode_text
from ingot.git.history.log import count_commits
from ingot.git.history.signatures import commit_signature_or_none
from ingot.pipelines.policy import may_read_project_pipelines
from ingot.pipelines.queries import pipelines_of_commit
from ingot.pipelines.views import pipeline_brief
from ingot.repositories.commits import queries
from ingot.repositories.commits.params import GetCommit, GetSequence, ListCommitRefs, ListCommits
from ingot.repositories.commits.ports import CommitMergeRequests
from ingot.repositories.commits.signatures import check_signature
from ingot.repositories.commits.views import (
    CommitDetailView,
    CommitView,
    DiffView,
    ListedCommitView,
    RefView,
    SequenceView,
    SignatureView,
    commit_detail_view,
    commit_list_views,
    diff_view,
    signature_view,
)
from ingot.repositories.context import (
    RepositoryContext,
    may_read_code,
    project_url,
    repository_in_path,
    repository_state,
)
from ingot.repositories.diff_limits import diff_limits

routes = Routes("commits")


@routes.get(
    "/projects/:id/repository/commits",
    on=repository_in_path,
    may=may_read_code,
    returns=list[ListedCommitView],
    cached=repository_state,
)
def list_commits(call: Call, context: RepositoryContext, params: ListCommits, page: Page) -> Listing[CommitView]:
    """List the commits of a branch or tag, newest first."""
    listing = queries.list_commits(context.repository, context.project, params, page)
    stats = commit_stats(context.repository, listing.items) if params.with_stats else None
    return listing.of(commit_list_views(listing.items, stats, project_url(call, context.project)))


@routes.get(
    "/projects/:id/repository/commits/:sha",
    on=repository_in_path,
    may=may_read_code,
    returns=CommitDetailView,
    cached=repository_state,
)
def get_commit(call: Call, context: RepositoryContext, params: GetCommit) -> CommitDetailView:
    """Get a commit by its id, branch or tag."""
    commit = queries.find_commit(context.repository, call.path["sha"])
    stats = commit_stats(context.repository, [commit])[0] if params.stats else None
    readable = may_read_project_pipelines(call.actor, context.access, context.project)
    pipelines = pipelines_of_commit(call.db, context.project.id, commit.oid) if readable else []
    url = project_url(call, context.project)
    last_pipeline = pipeline_brief(pipelines[0], url) if pipelines else None
    return commit_detail_view(
        commit, stats, queries.overall_pipeline_status(pipelines), context.project.id, url, last_pipeline
    )


@routes.get(
    "/projects/:id/repository/commits/:sha/diff",
    on=repository_in_path,
    may=may_read_code,
    returns=list[DiffView],
    cached=repository_state,
)
def get_commit_diff(call: Call, context: RepositoryContext, page: Page) -> Listing[DiffView] | list[DiffView]:
    """Get the diff of a commit against its first parent; complete unless a page is requested."""
    commit = queries.find_commit(context.repository, call.path["sha"])
    changes = queries.commit_changes(context.repository, commit, diff_limits(call.db))
    if not page.explicit:
        return [diff_view(change) for change in changes]
    listing = slice_page(changes, page)
    return listing.of([diff_view(change) for change in listing.items])


@routes.get(
    "/projects/:id/repository/commits/:sha/refs",
    on=repository_in_path,
    may=may_read_code,
    returns=list[RefView],
    cached=repository_state,
)
def list_commit_refs(call: Call, context: RepositoryContext, params: ListCommitRefs, page: Page) -> Listing[RefView]:
    """List the branches and tags that contain a commit."""
    commit = queries.find_commit(context.repository, call.path["sha"])
    listing = queries.list_refs(context.repository, context.project, commit, params.type, page)
    return listing.of([_ref_view(name) for name in listing.items])


def _ref_view(name: bytes) -> RefView:
    kind, folder = ("branch", HEADS) if name.startswith(HEADS) else ("tag", TAGS)
    return RefView(kind, decode_text(name.removeprefix(folder)))


@routes.get(
    "/projects/:id/repository/commits/:sha/merge_requests",
    on=repository_in_path,
    may=may_read_code,
    returns=list[dict[str, Any]],
)
def list_commit_merge_requests(call: Call, context: RepositoryContext, page: Page) -> Listing[dict[str, Any]]:
    """List the merge requests that introduced a commit."""
    commit = queries.find_commit(context.repository, call.path["sha"])
    list_introducing = call.db.ports[CommitMergeRequests].list_introducing
    return list_introducing(call.db, call.actor, context.project.id, commit.oid, call.origin.base, page)


@routes.get(
    "/projects/:id/repository/commits/:sha/signature", on=repository_in_path, may=may_read_code, returns=SignatureView
)
def get_commit_signature(call: Call, context: RepositoryContext) -> SignatureView:
    """Get the type and verification status of a commit's signature."""
    commit = queries.find_commit(context.repository, call.path["sha"])
    signature = commit_signature_or_none(context.repository, commit.oid)
    if signature is None:
        raise NotFound("Signature")
    return signature_view(signature.kind, check_signature(call.db, signature))


@routes.get(
    "/projects/:id/repository/commits/:sha/sequence", on=repository_in_path, may=may_read_code, returns=SequenceView
)
def get_commit_sequence(call: Call, context: RepositoryContext, params: GetSequence) -> SequenceView:
    """Count the commits up to and including a commit."""
    commit = queries.find_commit(context.repository, call.path["sha"])
    return SequenceView(count_commits(context.repository, commit.oid, first_parent=params.first_parent))
