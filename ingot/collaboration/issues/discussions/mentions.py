"""System notes on issues that a text mentions."""

from functools import partial

from ingot.accounts.users.actors import active_actor
from ingot.collaboration.issues.events import IssueChanged
from ingot.collaboration.issues.queries import issue_by_id
from ingot.collaboration.issues.service import subject_of
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.issues.text_references import referenced_issues
from ingot.collaboration.notes.events import NoteAdded, NoteEdited
from ingot.collaboration.notes.queries import find_note, notes_containing
from ingot.collaboration.notes.service import MentionSource, add_mention, delete_mentions
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.core.markup.references import can_mention_issues, extract_references
from ingot.projects.projects.queries import paths_of_projects


def mention_subscriptions(base_url: str) -> Subscriptions:
    """Return the subscriptions; references are recognized by sign and by URLs that begin with ``base_url``."""
    subscriptions = Subscriptions()
    subscriptions.on(NoteAdded)(partial(_record_mentions_in_note, base_url=base_url))
    subscriptions.on(NoteEdited)(partial(_record_mentions_in_edited_note, base_url=base_url))
    subscriptions.on(IssueChanged)(partial(_record_mentions_in_issue, base_url=base_url))
    return subscriptions


def _record_mentions_in_note(db: Connection, event: NoteAdded, base_url: str) -> None:
    """Record mentions in a new note."""
    _record_mentions_in_body(db, event, event.author_id, event.body, base_url)


def _record_mentions_in_edited_note(db: Connection, event: NoteEdited, base_url: str) -> None:
    """Record mentions that an edit added to a note."""
    note = find_note(db, event.note_id)
    _record_mentions_in_body(db, event, note.author_id, note.body, base_url)


def _record_mentions_in_body(
    db: Connection, event: NoteAdded | NoteEdited, writer_id: int, body: str, base_url: str
) -> None:
    about_issue = event.subject_kind == "issue" and event.subject_id is not None and not event.internal
    if about_issue and can_mention_issues(body):
        record_mentions(db, writer_id, issue_by_id(db, event.subject_id or 0), body, base_url)


def _record_mentions_in_issue(db: Connection, event: IssueChanged, base_url: str) -> None:
    """Record mentions in an issue's title and description.

    An issue that becomes confidential loses the mentions that it caused.
    """
    if event.action == "deleted":
        return
    if event.action == "opened" or event.changes.keys() & {"title", "description", "confidential"}:
        issue = event.issue or issue_by_id(db, event.issue_id)
        if issue.confidential:
            delete_mentions(db, "issue", issue.id)
        else:
            record_mentions(db, event.actor_id, issue, f"{issue.title}\n\n{issue.description or ''}", base_url)
            if "confidential" in event.changes:
                _record_mentions_in_notes(db, issue, base_url)


def _record_mentions_in_notes(db: Connection, issue: Issue, base_url: str) -> None:
    """Record mentions in the notes of an issue that is no longer confidential."""
    for note in notes_containing(db, subject_of(issue), "#"):
        record_mentions(db, note.author_id, issue, note.body, base_url)


def record_mentions(db: Connection, writer_id: int, source: Issue, text: str, base_url: str) -> None:
    """Add system notes to the issues that a text of ``source`` mentions and its author may see.

    A confidential issue causes no mentions, because they would reveal its iid.
    """
    if source.confidential or not can_mention_issues(text):
        return
    writer = active_actor(db, writer_id)
    if writer is None:
        return
    own_path = paths_of_projects(db, [source.project_id])[source.project_id]
    for target in referenced_issues(db, writer, own_path, extract_references(text, base_url)):
        if target.issue.id == source.id:
            continue
        same_project = target.issue.project_id == source.project_id
        add_mention(
            db,
            writer_id,
            subject_of(target.issue),
            f"mentioned in issue {'' if same_project else own_path}#{source.iid}",
            MentionSource("issue", source.id, source.project_id),
        )
