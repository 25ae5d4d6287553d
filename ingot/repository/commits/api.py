"""Commits over the API."""

from typing import Any

from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page, cut_page
from ingot.errors import NotFound
from ingot.events.bus import emit
from ingot.git.commits import decoded
from ingot.git.history import count_commits
from ingot.git.refs import HEADS, TAGS
from ingot.git.signatures import signature_kind
from ingot.git.stats import stats_of
from ingot.repository.commits import queries
from ingot.repository.commits.events import MergeRequestsOfCommitAsked
from ingot.repository.commits.params import GetCommit, GetSequence, ListCommitRefs, ListCommits
from ingot.repository.commits.views import (
    CommitDetailView,
    CommitView,
    DiffView,
    ListedCommitView,
    RefView,
    SequenceView,
    SignatureView,
    detail_view,
    diff_view,
    listed_views,
)
from ingot.repository.pipelines.queries import pipelines_of_commit
from ingot.repository.pipelines.views import pipeline_brief
from ingot.repository.place import Place, may_read_code, place_in_path, project_url

routes = Routes("commits")


@routes.get("/projects/:id/repository/commits", on=place_in_path, may=may_read_code, returns=list[ListedCommitView])
def list_commits(call: Call, place: Place, params: ListCommits, page: Page) -> Listing[CommitView]:
    """List the commits of a branch or tag, newest first."""
    found = queries.list_commits(place.repository, place.project, params, page)
    stats = stats_of(place.repository, found.items) if params.with_stats else None
    return found.of(listed_views(found.items, stats, project_url(call, place.project)))


@routes.get("/projects/:id/repository/commits/:sha", on=place_in_path, may=may_read_code, returns=CommitDetailView)
def get_commit(call: Call, place: Place, params: GetCommit) -> CommitDetailView:
    """Get the commit that an id, a branch or a tag leads to."""
    commit = queries.find_commit(place.repository, call.path["sha"])
    stats = stats_of(place.repository, [commit])[0] if params.stats else None
    pipelines = pipelines_of_commit(call.db, place.project.id, commit.oid)
    url = project_url(call, place.project)
    last = pipeline_brief(pipelines[0], url) if pipelines else None
    return detail_view(commit, stats, queries.status_of(pipelines), place.project.id, url, last)


@routes.get("/projects/:id/repository/commits/:sha/diff", on=place_in_path, may=may_read_code, returns=list[DiffView])
def get_commit_diff(call: Call, place: Place, page: Page) -> Listing[DiffView] | list[DiffView]:
    """Get what a commit changed against its first parent; all of it, unless a page is asked for."""
    changes = queries.changes_of(place.repository, queries.find_commit(place.repository, call.path["sha"]))
    if not page.asked:
        return [diff_view(change) for change in changes]
    found = cut_page(changes, page)
    return found.of([diff_view(change) for change in found.items])


@routes.get("/projects/:id/repository/commits/:sha/refs", on=place_in_path, may=may_read_code, returns=list[RefView])
def list_commit_refs(call: Call, place: Place, params: ListCommitRefs, page: Page) -> Listing[RefView]:
    """List the branches and tags that lead to a commit."""
    commit = queries.find_commit(place.repository, call.path["sha"])
    found = queries.list_refs(place.repository, place.project, commit, params.type, page)
    return found.of([_ref_view(name) for name in found.items])


def _ref_view(name: bytes) -> RefView:
    kind, folder = ("branch", HEADS) if name.startswith(HEADS) else ("tag", TAGS)
    return RefView(kind, decoded(name.removeprefix(folder)))


@routes.get(
    "/projects/:id/repository/commits/:sha/merge_requests",
    on=place_in_path,
    may=may_read_code,
    returns=list[dict[str, Any]],
)
def list_commit_merge_requests(call: Call, place: Place, page: Page) -> Listing[dict[str, Any]]:
    """List the merge requests that brought a commit."""
    commit, answers = queries.find_commit(place.repository, call.path["sha"]), list[Listing[Any]]()
    asked = place.project.id, commit.oid, call.actor, call.origin.base, page
    emit(call.db, MergeRequestsOfCommitAsked(*asked, answers))
    return answers[0] if answers else cut_page([], page)


@routes.get(
    "/projects/:id/repository/commits/:sha/signature", on=place_in_path, may=may_read_code, returns=SignatureView
)
def get_commit_signature(call: Call, place: Place) -> SignatureView:
    """Get how a commit is signed."""
    commit = queries.find_commit(place.repository, call.path["sha"])
    kind = signature_kind(place.repository, commit.oid)
    if kind is None:
        raise NotFound("GPG Signature")
    return SignatureView(kind, "unknown_key" if kind == "PGP" else "unverified")


@routes.get("/projects/:id/repository/commits/:sha/sequence", on=place_in_path, may=may_read_code, returns=SequenceView)
def get_commit_sequence(call: Call, place: Place, params: GetSequence) -> SequenceView:
    """Count the commits up to one, itself included."""
    commit = queries.find_commit(place.repository, call.path["sha"])
    return SequenceView(count_commits(place.repository, commit.oid, first_parent=params.first_parent))
