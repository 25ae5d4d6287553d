"""Comparison by git before a merge request is edited."""

from functools import partial

from ingot.collaboration.merge_requests import policy, queries
from ingot.collaboration.merge_requests.params import EditMergeRequest
from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.versions.inspection import VersionComparison, compare_with_target
from ingot.core.access.rules import require
from ingot.core.api.routes import PrepareContext
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.git.core.errors import MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project

_GONE = "cannot be reopened, because its source branch does not exist"


def compare_for_edit(context: PrepareContext, params: EditMergeRequest) -> VersionComparison | None:
    """Compare the branches if an edit changes the target branch or reopens; return None otherwise."""
    if not params.target_branch and params.state_event != "reopen":
        return None
    lookup, source = context.database.read(partial(_find, context), ahead_of_change=True)
    merge_request = lookup.merge_request
    reopens = params.state_event == "reopen" and merge_request.state == "closed"
    branch = params.target_branch or merge_request.target_branch
    retargets = branch != merge_request.target_branch and merge_request.state == "opened"
    if not reopens and not retargets:
        return None
    if source is not None and source.id == lookup.project.id and branch == merge_request.source_branch:
        raise Invalid(target_branch=["cannot be the source branch"])
    store = repository_store(context.settings)
    target = store.open(lookup.project.repository_key)
    if branch_tip(target, branch) is None:
        raise Invalid(target_branch=["does not exist"])
    head = _head(store, merge_request, source) if reopens else merge_request.head_oid
    return compare_with_target(_fork_repository(store, source, target), target, head, branch)


def _find(context: PrepareContext, db: Connection) -> tuple[MergeRequestLookup, Project | None]:
    lookup = queries.find_merge_request(db, context.actor, context.path["id"], context.path["merge_request_iid"])
    require(policy.may_edit_merge_request(context.actor, lookup.access, lookup))
    source_id = lookup.merge_request.source_project_id
    return lookup, project_or_none(db, source_id) if source_id is not None else None


def _head(store: RepositoryStore, merge_request: MergeRequest, source: Project | None) -> str:
    try:
        head = branch_tip(store.open(source.repository_key), merge_request.source_branch) if source else None
    except MissingRepository:  # Deleted since the row was read.
        head = None
    if head is None:
        raise Invalid(state_event=[_GONE])
    return head


def _fork_repository(store: RepositoryStore, source: Project | None, target: Repository) -> Repository | None:
    """Return the repository of the source, or None if it is the target itself or was deleted."""
    try:
        repository = store.open(source.repository_key) if source else None
    except MissingRepository:  # Deleted since the row was read.
        return None
    return None if repository is None or repository.path == target.path else repository
