"""What merge requests show of what is said about them, and what is recorded when they change."""

from sqlalchemy import bindparam, update

from ingot.db.connection import Connection
from ingot.emoji.events import VotesChanged
from ingot.events.bus import Subscriptions
from ingot.issues.events import FollowUpAsked, FollowUpOpened, IssueChanged
from ingot.issues.queries import issue_by_id
from ingot.issues.service import subject_of as subject_of_issue
from ingot.merge_requests.closing import note_closings_of_commits
from ingot.merge_requests.events import MergeRequestChanged
from ingot.merge_requests.filters import KIND
from ingot.merge_requests.queries import merge_request_by_id, open_from
from ingot.merge_requests.service import subject_of
from ingot.merge_requests.tables import merge_requests
from ingot.merge_requests.talk import wording
from ingot.merge_requests.talk.following_up import open_discussions, taken_over
from ingot.merge_requests.talk.mentions import record_mentions, record_mentions_of_merge_requests
from ingot.merge_requests.talk.recording import record_changes, record_opening
from ingot.merge_requests.talk.service import resolve_discussion_of
from ingot.merge_requests.versions.events import VersionCollected
from ingot.notes.events import NoteAdded, NoteEdited, NoteRemoved
from ingot.notes.queries import find_note, naming_notes
from ingot.notes.service import add_system_note
from ingot.repository.changes.events import RefsChanged

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
    """A merge request shows how much was said about it; what not everybody reads, not everybody may count."""
    if event.subject_kind == KIND and not event.internal:
        db.run(_COUNT_NOTES, merge_request=event.subject_id, more=1, now=db.now)


@subscriptions.on(NoteRemoved)
def count_note_no_more(db: Connection, event: NoteRemoved) -> None:
    """What is gone does not count."""
    if event.subject_kind == KIND and not event.internal:
        db.run(_COUNT_NOTES, merge_request=event.subject_id, more=-1, now=db.now)


@subscriptions.on(VotesChanged)
def count_votes(db: Connection, event: VotesChanged) -> None:
    """A merge request shows how many like it."""
    if event.subject_kind == KIND:
        db.run(_COUNT_VOTES, merge_request=event.subject_id, up=event.upvotes, down=event.downvotes)


@subscriptions.on(NoteAdded)
def record_mentions_of_note(db: Connection, event: NoteAdded) -> None:
    """What a note names hears of it, through what the note is about."""
    _note_mentions(db, event)


@subscriptions.on(NoteEdited)
def record_mentions_of_edited_note(db: Connection, event: NoteEdited) -> None:
    """The same for what it names only now."""
    _note_mentions(db, event)


def _note_mentions(db: Connection, event: NoteAdded | NoteEdited) -> None:
    if event.internal or event.subject_id is None or event.subject_kind not in (KIND, "issue"):
        return
    note = find_note(db, event.note_id)
    if event.subject_kind == KIND:
        record_mentions(db, note.author_id, merge_request_by_id(db, event.subject_id), note.body)
    elif "!" in note.body:
        source = subject_of_issue(issue_by_id(db, event.subject_id))
        record_mentions_of_merge_requests(db, note.author_id, source, note.body)


@subscriptions.on(IssueChanged)
def record_mentions_of_issue(db: Connection, event: IssueChanged) -> None:
    """Merge requests that the text of an issue names hear of it."""
    if event.action == "opened" or event.changes.keys() & {"title", "description", "confidential"}:
        issue = event.issue or issue_by_id(db, event.issue_id)
        text = f"{issue.title}\n\n{issue.description or ''}"
        record_mentions_of_merge_requests(db, event.actor_id, subject_of_issue(issue), text)
        if "confidential" in event.changes and not issue.confidential:
            # What was said below it meanwhile was told to nobody.
            for note in naming_notes(db, subject_of_issue(issue), "!"):
                record_mentions_of_merge_requests(db, note.author_id, subject_of_issue(issue), note.body)


@subscriptions.on(MergeRequestChanged)
def record_change(db: Connection, event: MergeRequestChanged) -> None:
    """Every change of a merge request is written down below it."""
    if event.action == "deleted":
        return
    merge_request = merge_request_by_id(db, event.merge_request_id)
    if event.action == "opened":
        record_opening(db, event, merge_request)
    else:
        record_changes(db, event, merge_request)
    if event.action == "opened" or event.changes.keys() & {"title", "description"}:
        text = f"{merge_request.title}\n\n{merge_request.description or ''}"
        record_mentions(db, event.actor_id, merge_request, text)


@subscriptions.on(VersionCollected)
def record_push(db: Connection, event: VersionCollected) -> None:
    """What was pushed is written down below, and what its commits close is known."""
    merge_request = merge_request_by_id(db, event.merge_request_id)
    pusher = event.pushed_by_id or merge_request.author_id
    note_closings_of_commits(db, pusher, merge_request, event.looked.messages)
    if event.before is not None and event.looked.added_count:
        add_system_note(db, pusher, subject_of(merge_request), wording.commits_added(event.looked), "commit")


@subscriptions.on(RefsChanged)
def record_branches(db: Connection, event: RefsChanged) -> None:
    """That a source branch is gone, or back, is written down below what came from it."""
    verbs = {update.branch: "deleted" for update in event.updates if update.branch and update.deletes}
    verbs |= {update.branch: "restored" for update in event.updates if update.branch and update.creates}
    for merge_request in open_from(db, event.project_id, list(verbs)) if verbs else ():
        text = f"{verbs[merge_request.source_branch]} source branch `{merge_request.source_branch}`"
        actor_id = event.actor_id or merge_request.author_id
        add_system_note(db, actor_id, subject_of(merge_request), text, "branch")


@subscriptions.on(FollowUpAsked)
def tell_what_follows(db: Connection, event: FollowUpAsked) -> None:
    """What an issue says by default that takes over from discussions of a merge request."""
    found = open_discussions(db, event.actor, event.project_id, event.merge_request_iid, event.discussion_id)
    if found is not None:
        event.found.append(taken_over(found))


@subscriptions.on(FollowUpOpened)
def settle_what_is_taken_over(db: Connection, event: FollowUpOpened) -> None:
    """Discussions that an issue takes over from are settled by that."""
    found = open_discussions(db, event.actor, event.project_id, event.merge_request_iid, event.discussion_id)
    if found is not None:
        for start in found.discussions:
            resolve_discussion_of(db, event.actor, subject_of(found.merge_request), start.discussion_id)
