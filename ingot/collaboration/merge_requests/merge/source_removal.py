"""Removal of source branches after merges."""

from functools import partial

from ingot.accounts.users.queries import user_or_none
from ingot.collaboration.merge_requests.merge.queries import merge_with_leftover_branch
from ingot.collaboration.merge_requests.merge.service import (
    MergePlan,
    actor_for,
    delete_pending_merges,
)
from ingot.collaboration.merge_requests.merge.stack_service import retarget_layers_above
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.versions.source_tracker import HeadTracker
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Failure, Unavailable
from ingot.core.log import log_failure
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.history.commits import NO_OID
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.policy import matching_branch_rules
from ingot.repositories.protection.queries import branch_rules
from ingot.repositories.ref_changes.apply import change_refs


def remove_source_after_merge(database: Database, store: RepositoryStore, actor: Actor, merged: MergePlan) -> None:
    """Remove the source branch of a completed merge, if that was requested."""
    if merged.remove_source_branch:
        try:
            _finish_removal(database, store, actor, merged.merge_request)
        except Unavailable as error:  # The merge is complete; the job removes the branch.
            log_failure("source branch not removed yet", error, merge_request=merged.merge_request.id)


def remove_source_branch(database: Database, store: RepositoryStore, actor: Actor, merge_request: MergeRequest) -> None:
    """Remove the merged source branch if that is permitted; failures are logged.

    The branch is removed only at the merged commit, so that later commits are not lost.
    """
    branch, ref = merge_request.source_branch, f"refs/heads/{merge_request.source_branch}"

    def read_remover(db: Connection) -> tuple[Project, Actor] | None:
        source = project_or_none(db, merge_request.source_project_id or 0)
        if (
            source is None
            or branch == source.default_branch
            or matching_branch_rules(branch_rules(db, source.id), branch)
        ):
            return None
        author = user_or_none(db, merge_request.author_id)
        # The author has requested the removal in advance, and may own a fork to which the merging user cannot push.
        requested = merge_request.remove_source_branch and author is not None and author.state == "active"
        return source, actor_for(author) if requested and author is not None else actor

    try:
        context = database.read(read_remover)
        if context is None:
            return
        source, remover = context
        repository, updates = store.open(source.repository_key), [RefUpdate(ref, merge_request.head_oid, NO_OID)]
        if repository.tip(ref) is not None:  # Else it is removed already, perhaps before a crash.
            change_refs(database, repository, remover, source, updates)
        retargeting_actor = actor if actor.known else remover
        # Nearly always the merge has done so; this is for merge requests that were opened meanwhile.
        for layer in database.write(lambda db: retarget_layers_above(db, retargeting_actor.user_id, merge_request)):
            HeadTracker(store).collect(database, layer.id)
    except (Failure, GitError, MissingRepository) as error:  # The merge itself is complete.
        log_failure("source branch not removed", error, merge_request=merge_request.id)


def remove_leftover_branch(database: Database, store: RepositoryStore, merge_request_id: int) -> None:
    """Remove the source branch of a merge whose process crashed before the removal; may run twice."""

    def read_merge(db: Connection) -> tuple[MergeRequest, Actor] | None:
        pending = merge_with_leftover_branch(db, merge_request_id)
        merge_request = merge_request_by_id(db, merge_request_id) if pending else None
        if pending is None or merge_request is None or merge_request.state != "merged":
            return None
        user = user_or_none(db, pending.actor_id or 0)
        actor = actor_for(user) if user is not None and user.state == "active" else Actor()
        return merge_request, actor

    context = database.read(read_merge)
    if context is not None:
        _finish_removal(database, store, context[1], context[0])


def _finish_removal(database: Database, store: RepositoryStore, actor: Actor, merge_request: MergeRequest) -> None:
    """Remove the source branch and the pending merge."""
    remove_source_branch(database, store, actor, merge_request)
    database.write(partial(delete_pending_merges, merge_request_id=merge_request.id))
