"""Subscribers that record mentions of issues and merge requests in texts and commits."""

from ingot.collaboration.issues.events import CommitReferencesFound, IssueChanged
from ingot.collaboration.issues.queries import issue_by_id
from ingot.collaboration.issues.service import subject_of as subject_of_issue
from ingot.collaboration.merge_requests.closes_issues import (
    delete_closings_of_issue,
    record_closing_issues,
    record_closing_issues_of_commits,
    text_of,
)
from ingot.collaboration.merge_requests.discussions.mentions import (
    record_mentions,
    record_mentions_by_commit,
    record_mentions_of_merge_requests,
)
from ingot.collaboration.merge_requests.events import MergeRequestChanged
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.versions.events import VersionCollected
from ingot.collaboration.notes.events import NoteAdded, NoteEdited
from ingot.collaboration.notes.queries import find_note, notes_containing
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.core.markup.references import can_mention_subjects


class ReferenceSubscriber:
    """Records references in texts; URLs that begin with ``base_url`` count as references."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self.subscriptions = Subscriptions()
        self.subscriptions.on(NoteAdded)(self.on_note)
        self.subscriptions.on(NoteEdited)(self.on_note)
        self.subscriptions.on(IssueChanged)(self.on_issue)
        self.subscriptions.on(MergeRequestChanged)(self.on_merge_request)
        self.subscriptions.on(VersionCollected)(self.on_version_collected)
        self.subscriptions.on(CommitReferencesFound)(self.on_commit)

    def on_note(self, db: Connection, event: NoteAdded | NoteEdited) -> None:
        """Record mentions in a new or edited note."""
        if event.internal or event.subject_id is None or event.subject_kind not in (KIND, "issue"):
            return
        note = find_note(db, event.note_id)
        if not can_mention_subjects(note.body):
            return
        if event.subject_kind == KIND:
            merge_request = merge_request_by_id(db, event.subject_id)
            record_mentions(db, note.author_id, merge_request, note.body, self._base_url)
        else:
            source = subject_of_issue(issue_by_id(db, event.subject_id))
            record_mentions_of_merge_requests(db, note.author_id, source, note.body, self._base_url)

    def on_issue(self, db: Connection, event: IssueChanged) -> None:
        """Record mentions of merge requests in an issue's title and description; forget an issue that was deleted."""
        if event.action == "deleted":
            delete_closings_of_issue(db, event.issue_id)
            return
        if event.action == "opened" or event.changes.keys() & {"title", "description", "confidential"}:
            issue = event.issue or issue_by_id(db, event.issue_id)
            source, text = subject_of_issue(issue), f"{issue.title}\n\n{issue.description or ''}"
            record_mentions_of_merge_requests(db, event.actor_id, source, text, self._base_url)
            if "confidential" in event.changes and not issue.confidential:
                # Notes that were written while the issue was confidential caused no mentions.
                for note in notes_containing(db, source, "!"):
                    record_mentions_of_merge_requests(db, note.author_id, source, note.body, self._base_url)

    def on_merge_request(self, db: Connection, event: MergeRequestChanged) -> None:
        """Record mentions in a merge request's title and description, and the issues that it closes."""
        if event.action == "opened" or event.changes.keys() & {"title", "description"}:
            merge_request = merge_request_by_id(db, event.merge_request_id)
            record_closing_issues(db, event.actor_id, merge_request, self._base_url)
            record_mentions(db, event.actor_id, merge_request, text_of(merge_request), self._base_url)

    def on_version_collected(self, db: Connection, event: VersionCollected) -> None:
        """Record the issues that the commits of a version close."""
        merge_request = merge_request_by_id(db, event.merge_request_id)
        pusher = event.pushed_by_id or merge_request.author_id
        record_closing_issues_of_commits(db, pusher, merge_request, event.comparison.messages, self._base_url)

    def on_commit(self, db: Connection, event: CommitReferencesFound) -> None:
        """Record mentions of merge requests in a commit message."""
        record_mentions_by_commit(db, event)
