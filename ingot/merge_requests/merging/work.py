"""Merging: git works between short transactions, and whoever finds the target moved meanwhile merges anew upon that.

What is about to happen is written down in the transaction of the intent to move the target; whoever records that it
has moved, be it after a crash, marks the merge request merged by that.
"""

import threading
from functools import partial
from typing import NamedTuple

import msgspec

from ingot.access.actor import Actor
from ingot.access.rules import require
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.db.times import moment
from ingot.errors import Conflict, Denied, Failure, Invalid, NotFound, Unavailable
from ingot.git.bases import merge_base
from ingot.git.commits import NO_OID, Signature, branch_tip
from ingot.git.faults import GitFailed, MissingRepository
from ingot.git.history import commits_between
from ingot.git.merge_commits import Merge, merge_commit, squash_commit, squash_merge
from ingot.git.merge_trees import CannotMerge
from ingot.git.offered import bring_commit
from ingot.git.repository import Repository
from ingot.git.store import Store
from ingot.git.updating import RefUpdate
from ingot.git.writing import Words
from ingot.issues.tables import Issue
from ingot.jobs.handling import Later
from ingot.merge_requests.merging import policy
from ingot.merge_requests.merging.judging import has_source, judge_upon, keep_verdict
from ingot.merge_requests.merging.policy import Candidate
from ingot.merge_requests.merging.queries import head_pipeline, left_branch, open_issues_to_close
from ingot.merge_requests.merging.service import (
    Outdated,
    Plan,
    actor_of,
    forget_merges,
    give_up,
    merge_later,
    note_merge,
    retarget,
)
from ingot.merge_requests.merging.wishes import Wish, decode_wish
from ingot.merge_requests.merging.wording import merge_message, squash_message
from ingot.merge_requests.obstacles import UNDER_WAY, Obstacle, obstacle_ahead, obstacle_found
from ingot.merge_requests.policy import Found
from ingot.merge_requests.queries import merge_request_by_id, undecided
from ingot.merge_requests.tables import MergeRequest
from ingot.merge_requests.verdicts import Verdict
from ingot.merge_requests.versions.tracking import Tracker
from ingot.projects.queries import find_project, project_or_none
from ingot.projects.tables import Project
from ingot.repository.changes.work import change_refs, settle_predecessors
from ingot.repository.pipelines.tables import Status
from ingot.repository.protection.policy import branch_rules_on
from ingot.repository.protection.queries import branch_rules
from ingot.users.accounts.queries import find_user, user_or_none

_MOST_TRIES = 100
_AGAIN_SECONDS = 5.0
_REASONS: dict[Obstacle, str] = {
    "not_open": "It is not open.",
    "draft_status": "It is a draft.",
    "ci_must_pass": "The pipeline of its head has to succeed first.",
    "ci_still_running": "The pipeline of its head is still running.",
    "discussions_not_resolved": "There are discussions about it that are not resolved.",
    "commits_status": "Branch cannot be merged: it brings nothing, or one of its branches is gone.",
    "conflict": "Branch cannot be merged",
    "need_rebase": "Branch cannot be merged: it has to be rebased first.",
}
# Within a process those who want the same target go one after the other, since all but one would try in vain.
_TURNS = tuple(threading.Lock() for _ in range(64))


class CannotMergeNow(Invalid):
    """Something stands in the way; ``code`` says what, in the words that clients know."""

    def __init__(self, obstacle: Obstacle) -> None:
        super().__init__(_REASONS[obstacle])
        self.code: Obstacle = obstacle


class _Taken(Exception):
    """Somebody else has moved the target meanwhile."""


class _Ground(NamedTuple):
    """All that a merge follows from, as it is at one moment."""

    project: Project
    merge_request: MergeRequest
    pipeline: Status | None
    undecided: bool
    repository: Repository
    tip: str
    sourced: bool
    """Whether the source branch is still there."""
    closes: list[Issue]
    caller: Signature
    author: Signature


def merge(
    database: Database,
    store: Store,
    actor: Actor,
    merge_request: MergeRequest,
    wish: Wish,
    *,
    later: bool = False,
    waited: bool = False,
) -> None:
    """Merge, or with ``later`` let it be merged when the pipeline succeeds, where that is under way.

    One that has ``waited`` for that is not merged any more where somebody has cancelled it. Raises ``CannotMergeNow``,
    ``Conflict`` where the head is another one than the caller knows of, and ``Denied``.
    """
    turn = hash((merge_request.target_project_id, merge_request.target_branch)) % len(_TURNS)
    with _TURNS[turn]:
        merged = _merge_in_turn(database, store, actor, merge_request, wish, later=later, waited=waited)
    if merged is not None and merged.remove_source_branch:
        try:
            _finish_removal(database, store, actor, merged.merge_request)
        except Unavailable:  # It is merged; the job removes it.
            return


def _merge_in_turn(
    database: Database,
    store: Store,
    actor: Actor,
    merge_request: MergeRequest,
    wish: Wish,
    *,
    later: bool,
    waited: bool,
) -> Plan | None:
    """What was merged; nothing where that is left to the pipeline, or is not wanted any more."""
    for _ in range(_MOST_TRIES):
        ground = _look(database, store, actor, merge_request.id)
        if waited and not ground.merge_request.merge_when_pipeline_succeeds:
            return None
        _require_wanted(ground, wish, later=later)
        try:
            if later and ground.pipeline in UNDER_WAY:
                _require_verdict(database, ground)
                database.write(partial(merge_later, actor=actor, merge_request=ground.merge_request, wish=wish))
                return None
            return _move_target(database, actor, ground, wish, waited=waited)
        except (_Taken, Outdated):
            continue
    raise Conflict("Others change the target branch all the time. Please try again.")


def _look(database: Database, store: Store, actor: Actor, merge_request_id: int) -> _Ground:
    def look(db: Connection) -> _Ground:
        merge_request = merge_request_by_id(db, merge_request_id)
        if merge_request.deleted_at is not None:
            raise NotFound("Merge Request")
        here, project = find_project(db, actor, merge_request.target_project_id)
        rules = branch_rules(db, project.id)
        require(policy.may_merge(actor, here, Candidate(Found(here, project, merge_request, ()), rules)))
        repository = store.open(project.repository_key)
        source = project_or_none(db, merge_request.source_project_id or 0)
        if source is not None and source.id != project.id:
            # Whoever pushed it brings it over too, but may not have come to it yet.
            bring_commit(store.open(source.repository_key), repository, merge_request.head_oid)
        tip = branch_tip(repository, merge_request.target_branch)
        pipeline = head_pipeline(db, merge_request)
        return _Ground(
            project,
            merge_request,
            pipeline.status if pipeline else None,
            bool(undecided(db, [merge_request.id])),
            repository,
            tip or NO_OID,
            has_source(db, store, repository, merge_request),
            open_issues_to_close(db, merge_request),
            signature(db, actor.user_id),
            signature(db, merge_request.author_id),
        )

    return database.read(look)


def _require_wanted(ground: _Ground, wish: Wish, *, later: bool) -> None:
    """Stop what does not depend on how the commits go together."""
    merge_request = ground.merge_request
    ahead = obstacle_ahead(ground.project, merge_request, ground.pipeline, undecided=ground.undecided, later=later)
    if ahead is not None:
        raise CannotMergeNow(ahead)
    if wish.sha is not None and wish.sha.lower() != merge_request.head_oid:
        raise Conflict(f"SHA does not match HEAD of source branch: {merge_request.head_oid}")


def _require_verdict(database: Database, ground: _Ground) -> None:
    """Stop what could not be merged now either."""
    _require_source(database, ground)
    judged = partial(judge_upon, repository=ground.repository, merge_request=ground.merge_request, tip=ground.tip)
    verdict: Verdict | None = "nothing" if ground.tip == NO_OID else database.read(judged)
    found = obstacle_found(ground.project, verdict or "conflict")
    if found is not None:
        raise CannotMergeNow(found)


def _require_source(database: Database, ground: _Ground) -> None:
    """Stop what nobody offers any more: the commits are kept to be read, and not to be merged behind people's backs."""
    if not ground.sourced:
        _settle(database, ground)
        raise CannotMergeNow("commits_status")


def _require_fit(database: Database, ground: _Ground) -> None:
    """Stop what is there already, and what has to stand upon the target and does not."""
    _require_source(database, ground)
    tip, head = ground.tip, ground.merge_request.head_oid
    if tip == NO_OID:
        raise CannotMergeNow("commits_status")
    parted = merge_base(ground.repository, [tip, head])
    if parted == head:
        _settle(database, ground)
        raise CannotMergeNow("commits_status")
    if ground.project.merge_method != "merge" and parted != tip:
        raise CannotMergeNow("need_rebase")


def _settle(database: Database, ground: _Ground) -> None:
    """Where whoever brought the target to where it is has not recorded that yet, do it; then look again.

    It may have been a merge of the very same, which is over then, and no conflict.
    """
    arrived = RefUpdate(f"refs/heads/{ground.merge_request.target_branch}", ground.tip, NO_OID)
    settle_predecessors(database, ground.repository, ground.project.id, [arrived])
    now = database.read(partial(merge_request_by_id, merge_request_id=ground.merge_request.id))
    if now.state != ground.merge_request.state:
        raise Outdated


def _move_target(database: Database, actor: Actor, ground: _Ground, wish: Wish, *, waited: bool) -> Plan:
    """Make the commits of a merge, and let the target have them; raises where somebody was faster."""
    project, merge_request, repository = ground.project, ground.merge_request, ground.repository
    _require_fit(database, ground)
    try:
        made = _build(repository, ground, wish)
    except CannotMerge:
        known = partial(keep_verdict, merge_request=merge_request, tip=ground.tip, found="conflict")
        database.write(known)
        _settle(database, ground)
        raise CannotMergeNow("conflict") from None
    removes = merge_request.remove_source_branch
    if wish.should_remove_source_branch is not None:
        removes = wish.should_remove_source_branch
    plan = Plan(merge_request, project.merge_method, ground.tip, made.commit, made.squashed, removes, waited)
    moved = [RefUpdate(f"refs/heads/{merge_request.target_branch}", ground.tip, made.commit)]
    along = partial(note_merge, actor=actor, plan=plan)
    try:
        change_refs(database, repository, actor, project, moved, merges=True, along=along)
    except Conflict:
        raise _Taken from None
    return plan


def _build(repository: Repository, ground: _Ground, wish: Wish) -> Merge:
    project, merge_request, tip = ground.project, ground.merge_request, ground.tip
    head = merge_request.head_oid
    said = (wish.commit_message or "").strip() or merge_message(project, merge_request, ground.closes)
    words = Words(said, ground.caller, ground.caller)
    if not _squashes(repository, ground, wish):
        return Merge(head) if project.merge_method == "ff" else merge_commit(repository, tip, head, words)
    single = (wish.squash_commit_message or "").strip() or squash_message(merge_request)
    squashed = Words(single, ground.author, ground.caller)
    if project.merge_method == "ff":
        commit = squash_commit(repository, tip, head, squashed)
        return Merge(commit, commit)
    return squash_merge(repository, tip, head, squashed, words)


def _squashes(repository: Repository, ground: _Ground, wish: Wish) -> bool:
    """Whether many commits become one; one alone stays what it is, unless somebody has other words for it."""
    option = ground.project.squash_option
    wanted = ground.merge_request.squash if wish.squash is None else wish.squash
    if option in ("always", "never"):
        wanted = option == "always"
    if not wanted or wish.squash_commit_message:
        return wanted
    return len(commits_between(repository, ground.tip, ground.merge_request.head_oid, 2)) > 1


def remove_source_branch(database: Database, store: Store, actor: Actor, merge_request: MergeRequest) -> None:
    """Remove the branch that was merged, where that may be; else it stays.

    Only at the commit that was merged: what came after it, be it by another merge, is not lost.
    """
    branch, ref = merge_request.source_branch, f"refs/heads/{merge_request.source_branch}"

    def look(db: Connection) -> tuple[Project, Actor] | None:
        source = project_or_none(db, merge_request.source_project_id or 0)
        if source is None or branch == source.default_branch or branch_rules_on(branch_rules(db, source.id), branch):
            return None
        author = user_or_none(db, merge_request.author_id)
        # Who opened it has asked for that in advance, and may have a fork in which the other one may do nothing.
        asked_before = merge_request.remove_source_branch and author is not None and author.state == "active"
        return source, actor_of(author) if asked_before and author is not None else actor

    try:
        found = database.read(look)
        if found is None:
            return
        source, remover = found
        repository, gone = store.open(source.repository_key), [RefUpdate(ref, merge_request.head_oid, NO_OID)]
        if repository.tip(ref) is not None:  # Else somebody has removed it, and may have died then.
            change_refs(database, repository, remover, source, gone)
        turner = actor if actor.known else remover
        for number in database.write(lambda db: retarget(db, turner, merge_request)):
            Tracker(store).collect(database, number)
    except (Failure, GitFailed, MissingRepository):  # It is merged all the same.
        return


def remove_left_branch(database: Database, store: Store, merge_request_id: int) -> None:
    """Remove the branch of a merge after which nobody came to it; safe to do twice."""

    def look(db: Connection) -> tuple[MergeRequest, Actor] | None:
        left = left_branch(db, merge_request_id)
        merge_request = merge_request_by_id(db, merge_request_id) if left else None
        if left is None or merge_request is None or merge_request.state != "merged":
            return None
        user = user_or_none(db, left.actor_id or 0)
        actor = actor_of(user) if user is not None and user.state == "active" else Actor()
        return merge_request, actor

    found = database.read(look)
    if found is not None:
        _finish_removal(database, store, found[1], found[0])


def _finish_removal(database: Database, store: Store, actor: Actor, merge_request: MergeRequest) -> None:
    """Remove it, and forget that it was to be removed."""
    remove_source_branch(database, store, actor, merge_request)
    database.write(partial(forget_merges, merge_request_id=merge_request.id))


def merge_when_ready(database: Database, store: Store, merge_request_id: int) -> None:
    """Merge what was to be merged when its pipeline succeeds, in the name of whoever wanted it; safe to do twice."""

    def look(db: Connection) -> tuple[MergeRequest, Actor, Status | None] | None:
        try:
            merge_request = merge_request_by_id(db, merge_request_id)
        except NotFound:
            return None
        if not merge_request.merge_when_pipeline_succeeds or merge_request.state != "opened":
            return None
        user = user_or_none(db, merge_request.merge_user_id or 0)
        pipeline = head_pipeline(db, merge_request)
        actor = actor_of(user) if user is not None and user.state == "active" else Actor()
        return merge_request, actor, pipeline.status if pipeline else None

    found = database.read(look)
    if found is None:
        return
    merge_request, actor, pipeline = found
    if pipeline not in (None, "success"):  # It began anew meanwhile: its end will be heard of.
        return
    # The head that was seen: what was pushed since drops the wish.
    wish = msgspec.structs.replace(decode_wish(merge_request.merge_params), sha=merge_request.head_oid)
    try:
        merge(database, store, actor, merge_request, wish, waited=True)
    except Conflict as error:
        raise Later(_AGAIN_SECONDS, str(error)) from None
    except CannotMergeNow as error:
        if error.code != "not_open":
            database.write(partial(give_up, merge_request=merge_request, reason=str(error)))
    except (Denied, NotFound):
        reason = "Whoever wanted it to be merged may not merge it any more."
        database.write(partial(give_up, merge_request=merge_request, reason=reason))


def signature(db: Connection, user_id: int) -> Signature:
    """Somebody as the commits name them that are made for them now."""
    user = find_user(db, user_id)
    return Signature(user.name or user.username, user.email, int(moment(db.now).timestamp()), 0)
