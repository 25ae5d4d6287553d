"""Subscribers that look at scheduled merges again when a check may have passed, or does not pass any more."""

from ingot.accounts.users.actors import active_actor
from ingot.accounts.users.events import UserBlocked
from ingot.collaboration.merge_requests.events import ApprovalRulesChanged, MergeRequestChanged, ThreadsResolved
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.merge.context import find_merge_access, rule_obstacle
from ingot.collaboration.merge_requests.merge.merge_options import decode_merge_options
from ingot.collaboration.merge_requests.merge.queries import (
    scheduled_merge_or_none,
    scheduled_merges_from,
    scheduled_merges_into,
)
from ingot.collaboration.merge_requests.merge.service import abort_auto_merge, enqueue_auto_merge
from ingot.collaboration.merge_requests.merge.train_queries import cars_of_user, merge_requests_by_ids
from ingot.collaboration.merge_requests.merge.train_service import expel_from_train
from ingot.collaboration.merge_requests.merge_checks import scheduled_strategy
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.notes.events import NoteAdded, NoteRemoved
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, NotFound
from ingot.core.events.bus import Subscriptions
from ingot.projects.members.events import MemberRemoved
from ingot.projects.projects.events import ProjectDeleted, ProjectEdited
from ingot.projects.projects.queries import project_or_none

_NOT_PERMITTED = "The user who added it may no longer merge it."
subscriptions = Subscriptions()
_REVIEWS = ("approved", "unapproved", "changes_requested")


@subscriptions.on(MergeRequestChanged)
def check_changed(db: Connection, event: MergeRequestChanged) -> None:
    """Look at a scheduled merge after a review, and after a change of the title or the reviewers."""
    if event.action in _REVIEWS or (event.action == "updated" and not {"title", "reviewers"}.isdisjoint(event.changes)):
        _check(db, event.merge_request_id)


@subscriptions.on(ThreadsResolved)
def check_threads(db: Connection, event: ThreadsResolved) -> None:
    """Look at a scheduled merge after threads were resolved."""
    _check(db, event.merge_request_id)


@subscriptions.on(NoteAdded)
def check_new_thread(db: Connection, event: NoteAdded) -> None:
    """Look at a scheduled merge after a note, which may be an unresolved thread."""
    if event.subject_kind == KIND and event.subject_id is not None:
        _check(db, event.subject_id)


@subscriptions.on(NoteRemoved)
def check_without_thread(db: Connection, event: NoteRemoved) -> None:
    """Look at a scheduled merge after a note was deleted, which may have been the last unresolved thread."""
    if event.subject_kind == KIND and event.subject_id is not None:
        _check(db, event.subject_id)


@subscriptions.on(ProjectEdited)
def check_project(db: Connection, event: ProjectEdited) -> None:
    """Look at the scheduled merges of a project, whose checks may have changed."""
    _check_project(db, event.project_id)


@subscriptions.on(ApprovalRulesChanged)
def check_approvals(db: Connection, event: ApprovalRulesChanged) -> None:
    """Look at the scheduled merges of a project after a change of its approval rules."""
    _check_project(db, event.project_id)


@subscriptions.on(UserBlocked)
def remove_cars_of_blocked_user(db: Connection, event: UserBlocked) -> None:
    """Take the merge requests of a blocked user off their trains."""
    _check_user(db, event.user_id)


@subscriptions.on(MemberRemoved)
def remove_cars_of_former_member(db: Connection, event: MemberRemoved) -> None:
    """Take merge requests off their trains that the user who added them may no longer merge."""
    _check_user(db, event.user_id)


def _check_project(db: Connection, project_id: int) -> None:
    for merge_request in scheduled_merges_into(db, project_id):
        _check_scheduled(db, merge_request)


def _check(db: Connection, merge_request_id: int) -> None:
    merge_request = scheduled_merge_or_none(db, merge_request_id)
    if merge_request is not None:
        _check_scheduled(db, merge_request)


def _check_scheduled(db: Connection, merge_request: MergeRequest) -> None:
    """Take a merge request off its train if it must not be merged; let another one merge if it may be."""
    options = decode_merge_options(merge_request.merge_params)
    if options.strategy == "merge_train":
        obstacle = rule_obstacle(db, merge_request)
        if obstacle is not None:
            expel_from_train(db, merge_request, str(obstacle))
    elif options.waits_for_checks:
        enqueue_auto_merge(db, merge_request.id)


def _check_user(db: Connection, user_id: int) -> None:
    cars = cars_of_user(db, user_id)
    if not cars:
        return
    actor = active_actor(db, user_id)
    for merge_request in merge_requests_by_ids(db, [car.merge_request_id for car in cars]):
        try:
            find_merge_access(db, actor or Actor(), merge_request)
        except (Denied, NotFound):
            expel_from_train(db, merge_request, _NOT_PERMITTED)


@subscriptions.on(ProjectDeleted)
def cancel_merges_of_deleted_fork(db: Connection, event: ProjectDeleted) -> None:
    """Cancel the scheduled merges from a deleted project into others."""
    for merge_request in scheduled_merges_from(db, event.project_id):
        target_id = merge_request.target_project_id
        if target_id == event.project_id or project_or_none(db, target_id) is None:
            continue
        if scheduled_strategy(merge_request) == "merge_train":
            expel_from_train(db, merge_request, "The source project was deleted.")
        else:
            abort_auto_merge(db, merge_request, "The source project was deleted.")
