"""Rebases of layers of a stack without the commits that a merge has rewritten.

The job compares the row with the commits, so it may be killed and may run twice: the head that it writes is stored with
the intent to move the branch, and the transaction that records the move finishes the row.
"""

from functools import partial
from typing import NamedTuple

from ingot.accounts.users.actors import active_actor
from ingot.collaboration.merge_requests.merge.message_people import commit_signature
from ingot.collaboration.merge_requests.merge.stack_service import (
    automatic_state,
    forget_restack,
    mark_restack,
    note_rebased_head,
    retarget,
    set_restack_state,
)
from ingot.collaboration.merge_requests.merge.train_queries import car_or_none
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.source_branch import pushable_source
from ingot.collaboration.merge_requests.stacks.lower_layers import heads_below, restack_or_none
from ingot.collaboration.merge_requests.stacks.own_commits import own_head, rewritten_base
from ingot.collaboration.merge_requests.tables import MergeRequest, Restack
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Denied, NotFound
from ingot.core.jobs.handlers import RetryLater
from ingot.git.core.errors import MissingRepository
from ingot.git.history.commits import Signature, branch_tip
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.merge_commits import TooManyCommits
from ingot.git.writing.merge_request_commits import copy_commit
from ingot.git.writing.merge_trees import MergeConflict
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.policy import matching_branch_rules
from ingot.repositories.protection.queries import branch_rules
from ingot.repositories.ref_changes.apply import change_refs

_RETRY_SECONDS = 1.0
_CLEANUP_SECONDS = 60.0
_CONFLICT = "The changes conflict with the target branch. Please rebase locally."
_NOTHING = "The merge request has no commits of a merged layer below it."


class RestackContext(NamedTuple):
    """A merge request that may contain rewritten commits, read in one transaction."""

    restack: Restack
    merge_request: MergeRequest
    lower: MergeRequest
    project: Project
    lower_heads: tuple[str, ...]
    in_train: bool


class _PendingRestack(NamedTuple):
    """The source branch that the server may rebase."""

    source: Project
    committer: Signature


def run_restack(database: Database, store: RepositoryStore, merge_request_id: int) -> None:
    """Run the job for a merge request: finish its row, or rebase its source branch if that is due."""
    context = database.read(partial(read_restack, merge_request_id=merge_request_id))
    if context is None:
        return
    state = context.restack.state
    if state == "train":
        if not context.in_train:
            database.write(partial(_leave_train, context=context))
        return
    try:
        if not _has_rewritten_commits(store, context):
            database.write(partial(forget_restack, merge_request_id=merge_request_id))
        elif state == "waiting":
            actor = database.read(partial(active_actor, user_id=context.restack.actor_id or 0)) or Actor()
            _rebase(database, store, context, actor, unattended=True)
    except MissingRepository:  # A project was deleted.
        return
    except Denied:
        database.write(partial(set_restack_state, restack_id=context.restack.id, state="offered"))
    except MergeConflict:
        database.write(partial(set_restack_state, restack_id=context.restack.id, state="conflict"))
    except Conflict as error:  # A push was faster.
        raise RetryLater(_RETRY_SECONDS, str(error)) from None


def read_restack(db: Connection, merge_request_id: int) -> RestackContext | None:
    """Return a merge request that may contain rewritten commits, or None if it does not."""
    restack = restack_or_none(db, merge_request_id)
    if restack is None:
        return None
    try:
        merge_request, lower = (merge_request_by_id(db, each) for each in (merge_request_id, restack.lower_id))
    except NotFound:
        return None
    project = project_or_none(db, merge_request.target_project_id)
    if project is None or merge_request.state != "opened":
        return None
    car = car_or_none(db, merge_request_id)
    in_train = car is not None and not car.has_ended
    return RestackContext(restack, merge_request, lower, project, heads_below(db, merge_request), in_train)


def _leave_train(db: Connection, context: RestackContext) -> None:
    """Let a merge request that has left a train, or whose merge has failed, be rebased like any other."""
    if context.lower.state == "merged":
        mark_restack(
            db,
            context.merge_request.id,
            context.lower.id,
            context.restack.actor_id,
            automatic_state(context.project),
        )
        return
    forget_restack(db, context.merge_request.id)
    if context.lower.state == "opened":
        actor_id = context.restack.actor_id or context.merge_request.author_id
        retarget(db, actor_id, context.merge_request, context.lower.source_branch)


def _has_rewritten_commits(store: RepositoryStore, context: RestackContext) -> bool:
    target = store.open(context.project.repository_key)
    tip = branch_tip(target, context.merge_request.target_branch)
    head = context.merge_request.head_oid
    return tip is not None and rewritten_base(target, head, tip, context.lower_heads) is not None


def restack_now(database: Database, store: RepositoryStore, actor: Actor, merge_request: MergeRequest) -> None:
    """Rebase for a user; the layers above follow by jobs. Raises ``Denied`` and ``Conflict``."""

    def permitted(db: Connection) -> RestackContext | None:
        pushable_source(db, actor, merge_request, forced=True)
        return read_restack(db, merge_request.id)

    context = database.read(permitted)
    if context is None or context.in_train or not _has_rewritten_commits(store, context):
        raise Conflict(_NOTHING)

    def claim(db: Connection) -> bool:
        """Keep the job from rebasing meanwhile, unless it has begun; it looks later, if this process is killed."""
        pushable_source(db, actor, context.merge_request, forced=True)
        current = restack_or_none(db, merge_request.id)
        if current is None or current.rebased_oid is not None:
            return False
        mark_restack(db, merge_request.id, current.lower_id, actor.user_id, "waiting", _CLEANUP_SECONDS)
        return True

    if not database.write(claim):
        return
    try:
        _rebase(database, store, context, actor, unattended=False)
    except MergeConflict:
        database.write(partial(set_restack_state, restack_id=context.restack.id, state="conflict"))
        raise Conflict(_CONFLICT) from None
    except Conflict:
        current = database.read(permitted)
        if current is None or not _has_rewritten_commits(store, current):
            return  # The job was faster.
        earlier = context.restack
        database.write(lambda db: mark_restack(db, merge_request.id, earlier.lower_id, earlier.actor_id, earlier.state))
        raise


def _rebase(
    database: Database, store: RepositoryStore, context: RestackContext, actor: Actor, *, unattended: bool
) -> None:
    """Move the source branch to its own commits on top of the target.

    Raises ``Denied``, ``Conflict`` if a branch has moved, and ``MergeConflict``. An ``unattended`` rebase does not
    touch protected branches.
    """
    merge_request = context.merge_request

    def read_source(db: Connection) -> _PendingRestack:
        _, source = pushable_source(db, actor, merge_request, forced=True)
        if unattended and matching_branch_rules(branch_rules(db, source.id), merge_request.source_branch):
            raise Denied
        return _PendingRestack(source, commit_signature(db, actor.user_id))

    source, committer = database.read(read_source)
    target, repository = store.open(context.project.repository_key), store.open(source.repository_key)
    tip = branch_tip(target, merge_request.target_branch)
    if tip is None or branch_tip(repository, merge_request.source_branch) != merge_request.head_oid:
        raise Conflict("The branches have changed meanwhile. Please try again.")
    try:
        rebased = own_head(target, merge_request.head_oid, tip, context.lower_heads, committer)
    except TooManyCommits:
        raise MergeConflict from None
    if rebased in (merge_request.head_oid, tip):
        raise MergeConflict
    copy_commit(target, repository, rebased)
    update = RefUpdate(f"refs/heads/{merge_request.source_branch}", merge_request.head_oid, rebased)
    change_refs(
        database,
        repository,
        actor,
        source,
        [update],
        in_intent_transaction=partial(note_rebased_head, restack_id=context.restack.id, oid=rebased),
    )
