"""Subscribers that update a merge request's counts and record its changes as system notes."""

from sqlalchemy import bindparam, update

from ingot.accounts.users.actors import active_actor
from ingot.collaboration.emoji.events import VotesChanged
from ingot.collaboration.issues.events import FollowUpIssueOpened
from ingot.collaboration.merge_requests.discussions import system_note_texts
from ingot.collaboration.merge_requests.discussions.follow_up_issues import open_discussions_or_none
from ingot.collaboration.merge_requests.discussions.service import discussions_of_notes, resolve_whole_discussion
from ingot.collaboration.merge_requests.discussions.system_notes import record_changes, record_opening
from ingot.collaboration.merge_requests.events import MergeFailed, MergeRequestChanged
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.queries import merge_request_by_id, open_merge_requests_from
from ingot.collaboration.merge_requests.service import subject_of
from ingot.collaboration.merge_requests.tables import merge_requests
from ingot.collaboration.merge_requests.versions.events import DiffNotesOutdated, VersionCollected
from ingot.collaboration.notes.events import NoteAdded, NoteRemoved
from ingot.collaboration.notes.service import add_system_note
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.projects.queries import project_or_none
from ingot.repositories.ref_changes.events import RefsChanged

subscriptions = Subscriptions()
_THIS = merge_requests.c.id == bindparam("merge_request")
_COUNT_NOTES = (
    update(merge_requests)
    .where(_THIS)
    .values(user_notes_count=merge_requests.c.user_notes_count + bindparam("more"), updated_at=bindparam("now"))
)
_COUNT_VOTES = (
    update(merge_requests)
    .where(_THIS)
    .values(
        upvotes=merge_requests.c.upvotes + bindparam("up"), downvotes=merge_requests.c.downvotes + bindparam("down")
    )
)


@subscriptions.on(NoteAdded)
def count_note(db: Connection, event: NoteAdded) -> None:
    """Count a new note; internal notes are not counted, because not all readers see them."""
    if event.subject_kind == KIND and not event.internal:
        db.run(_COUNT_NOTES, merge_request=event.subject_id, more=1, now=db.now)


@subscriptions.on(NoteRemoved)
def uncount_note(db: Connection, event: NoteRemoved) -> None:
    """Subtract a deleted note from the count."""
    if event.subject_kind == KIND and not event.internal:
        db.run(_COUNT_NOTES, merge_request=event.subject_id, more=-1, now=db.now)


@subscriptions.on(VotesChanged)
def count_votes(db: Connection, event: VotesChanged) -> None:
    """Update the number of up- and downvotes."""
    if event.subject_kind == KIND:
        db.run(_COUNT_VOTES, merge_request=event.subject_id, up=event.upvotes, down=event.downvotes)


@subscriptions.on(MergeRequestChanged)
def record_change(db: Connection, event: MergeRequestChanged) -> None:
    """Record a change as system notes and resource events."""
    if event.action == "deleted":
        return
    merge_request = merge_request_by_id(db, event.merge_request_id)
    if event.action == "opened":
        record_opening(db, event, merge_request)
    else:
        record_changes(db, event, merge_request)


@subscriptions.on(MergeFailed)
def record_aborted_merge(db: Connection, event: MergeFailed) -> None:
    """Add a system note that says why a scheduled merge did not happen."""
    merge_request = merge_request_by_id(db, event.merge_request_id)
    text = system_note_texts.auto_merge_aborted(merge_request.merge_error or "it failed", from_train=event.from_train)
    add_system_note(db, event.merge_user_id or merge_request.author_id, subject_of(merge_request), text, "merge")


@subscriptions.on(VersionCollected)
def record_push(db: Connection, event: VersionCollected) -> None:
    """Add a system note about pushed commits."""
    if event.before is not None and event.comparison.added_count:
        merge_request = merge_request_by_id(db, event.merge_request_id)
        pusher = event.pushed_by_id or merge_request.author_id
        add_system_note(
            db, pusher, subject_of(merge_request), system_note_texts.commits_added(event.comparison), "commit"
        )


@subscriptions.on(DiffNotesOutdated)
def resolve_outdated_discussions(db: Connection, event: DiffNotesOutdated) -> None:
    """Resolve the discussions on lines that a push has changed, in projects that are set so."""
    merge_request = merge_request_by_id(db, event.merge_request_id)
    project = project_or_none(db, merge_request.target_project_id)
    pusher = active_actor(db, event.pushed_by_id or merge_request.author_id)
    if project is None or pusher is None or not project.options.resolve_outdated_diff_discussions:
        return
    for discussion_id in discussions_of_notes(db, event.note_ids):
        resolve_whole_discussion(db, pusher, subject_of(merge_request), discussion_id)


@subscriptions.on(RefsChanged)
def add_source_branch_notes(db: Connection, event: RefsChanged) -> None:
    """Add a system note when the source branch is deleted or restored."""
    verbs = {update.branch: "deleted" for update in event.updates if update.branch and update.deletes}
    verbs |= {update.branch: "restored" for update in event.updates if update.branch and update.creates}
    for merge_request in open_merge_requests_from(db, event.project_id, list(verbs)) if verbs else ():
        text = f"{verbs[merge_request.source_branch]} source branch `{merge_request.source_branch}`"
        actor_id = event.actor_id or merge_request.author_id
        add_system_note(db, actor_id, subject_of(merge_request), text, "branch")


@subscriptions.on(FollowUpIssueOpened)
def resolve_followed_up_discussions(db: Connection, event: FollowUpIssueOpened) -> None:
    """Resolve the discussions that a follow-up issue takes over, unless the caller may not resolve them."""
    merge_request = event.project_id, event.merge_request_iid
    unresolved = open_discussions_or_none(db, event.actor, *merge_request, event.discussion_id)
    if unresolved is not None and unresolved.resolvable:
        for note in unresolved.discussions:
            resolve_whole_discussion(db, event.actor, subject_of(unresolved.merge_request), note.discussion_id)
