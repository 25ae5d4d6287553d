"""Recording below an issue where it is mentioned."""

from functools import partial

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.issues.events import IssueChanged
from ingot.issues.naming import acting, named_issues
from ingot.issues.queries import issue_by_id
from ingot.issues.service import subject_of
from ingot.issues.tables import Issue
from ingot.markup.references import may_name_issues, references
from ingot.notes.events import NoteAdded, NoteEdited
from ingot.notes.queries import find_note, naming_notes
from ingot.notes.service import Source, add_mention, drop_mentions
from ingot.projects.queries import paths_of_projects


def mention_subscriptions(base_url: str) -> Subscriptions:
    """Texts name issues by signs, and by addresses that begin at ``base_url``."""
    subscriptions = Subscriptions()
    subscriptions.on(NoteAdded)(partial(_hear_of_note, base_url=base_url))
    subscriptions.on(NoteEdited)(partial(_hear_of_edited_note, base_url=base_url))
    subscriptions.on(IssueChanged)(partial(_hear_of_issue, base_url=base_url))
    return subscriptions


def _hear_of_note(db: Connection, event: NoteAdded, base_url: str) -> None:
    """Issues that a note names hear of it, through the issue that it is about."""
    _record_note(db, event, event.author_id, event.body, base_url)


def _hear_of_edited_note(db: Connection, event: NoteEdited, base_url: str) -> None:
    """The same for those that it names only now."""
    note = find_note(db, event.note_id)
    _record_note(db, event, note.author_id, note.body, base_url)


def _record_note(db: Connection, event: NoteAdded | NoteEdited, writer_id: int, body: str, base_url: str) -> None:
    about_issue = event.subject_kind == "issue" and event.subject_id is not None and not event.internal
    if about_issue and may_name_issues(body):
        record_mentions(db, writer_id, issue_by_id(db, event.subject_id or 0), body, base_url)


def _hear_of_issue(db: Connection, event: IssueChanged, base_url: str) -> None:
    """The same for what an issue itself says; one that becomes confidential is named nowhere any more."""
    if event.action == "deleted":
        return
    if event.action == "opened" or event.changes.keys() & {"title", "description", "confidential"}:
        issue = event.issue or issue_by_id(db, event.issue_id)
        if issue.confidential:
            drop_mentions(db, "issue", issue.id)
        else:
            record_mentions(db, event.actor_id, issue, f"{issue.title}\n\n{issue.description or ''}", base_url)
            if "confidential" in event.changes:
                _record_notes(db, issue, base_url)


def _record_notes(db: Connection, issue: Issue, base_url: str) -> None:
    """What was said below an issue while it was confidential was told to nobody."""
    for note in naming_notes(db, subject_of(issue), "#"):
        record_mentions(db, note.author_id, issue, note.body, base_url)


def record_mentions(db: Connection, writer_id: int, source: Issue, text: str, base_url: str) -> None:
    """Tell the issues that a text of ``source`` names that it does, as far as who wrote it sees them.

    What is confidential is not told to anybody, also not its number.
    """
    if source.confidential or not may_name_issues(text):
        return
    writer = acting(db, writer_id)
    if writer is None:
        return
    own = paths_of_projects(db, [source.project_id])[source.project_id]
    for target in named_issues(db, writer, own, references(text, base_url)):
        if target.issue.id == source.id:
            continue
        near = target.issue.project_id == source.project_id
        add_mention(
            db,
            writer_id,
            subject_of(target.issue),
            f"mentioned in issue {'' if near else own}#{source.iid}",
            Source("issue", source.id, source.project_id),
        )
