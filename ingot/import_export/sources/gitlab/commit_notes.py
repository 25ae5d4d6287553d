"""Comments on commits of a GitLab project.

No list contains them all: the activity of the project tells which commits have comments, and each of these commits has
a list of its discussions. GitLab does not keep the activity forever, so that the oldest comments can be missing.
"""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from msgspec import Struct

from ingot.import_export.records import CommitNoteRecord
from ingot.import_export.source import Batch
from ingot.import_export.sources.client import SourceClient
from ingot.import_export.sources.gitlab.item_shapes import GitLabDiscussion, GitLabNote, GitLabPosition
from ingot.import_export.sources.gitlab.notes import position_record
from ingot.import_export.sources.gitlab.shapes import GitLabUser
from ingot.import_export.sources.gitlab.users import GitLabUsers

_PAGE = {"per_page": 100}
_MAX_SAME_TITLE = 20
"""Commits with the same title of which the discussions are requested."""
_ON_LINES = ("DiffNote", "LegacyDiffNote")


class GitLabEventNote(Struct):
    """Note of an event; older versions of GitLab, and Ingot, name its commit."""

    noteable_type: str | None = None
    commit_id: str | None = None
    position: GitLabPosition | None = None


class GitLabNoteEvent(Struct):
    """Comment in the activity of a project."""

    target_title: str | None = None
    note: GitLabEventNote | None = None


class GitLabFoundCommit(Struct):
    """Commit that a search has found."""

    id: str
    title: str = ""


class GitLabCommitComment(Struct):
    """Comment on a commit in its older list, which has the lines but no ids."""

    note: str
    created_at: str
    author: GitLabUser | None = None
    path: str | None = None
    line: int | None = None
    line_type: str | None = None


class CommentedLine(NamedTuple):
    """Line of a diff that a comment is about."""

    old_path: str | None = None
    path: str | None = None
    old_line: int | None = None
    new_line: int | None = None


class CommitNoteReader:
    """Reader of comments on commits."""

    def __init__(self, client: SourceClient, users: GitLabUsers, project_path: str) -> None:
        self._client = client
        self._users = users
        self._path = project_path
        self._read: set[str] = set()

    def batches(self, cursor: str | None, since: str | None) -> Iterator[Batch]:
        """Yield the comments of the commits that each page of the activity names."""
        parameters: dict[str, str | int] = {**_PAGE, "target_type": "note", "action": "commented", "sort": "asc"}
        if since:
            # The filter excludes the day that it names.
            parameters["after"] = (date.fromisoformat(since[:10]) - timedelta(days=1)).isoformat()
        target: str | None = self._client.target(f"{self._path}/events", parameters) if cursor is None else cursor
        while target:
            events, target = self._client.page(target, GitLabNoteEvent)
            commits = [sha for sha in self._commits(events) if sha not in self._read]
            self._read.update(commits)
            yield Batch(self._records(commits), target or "")

    def _commits(self, events: Sequence[GitLabNoteEvent]) -> list[str]:
        """Return the commits that the events name, each once; newer versions of GitLab name only their titles."""
        commits: dict[str, None] = {}
        titles: dict[str, None] = {}
        for event in events:
            note = event.note
            if note is None or note.noteable_type != "Commit":
                continue
            sha = note.commit_id or (note.position.head_sha if note.position else None)
            if sha:
                commits[sha] = None
            elif event.target_title:
                titles[event.target_title] = None
        for title in titles:
            parameters: dict[str, str | int] = {"scope": "commits", "search": title, "per_page": _MAX_SAME_TITLE}
            (found,) = self._client.lists([self._client.target(f"{self._path}/search", parameters)], GitLabFoundCommit)
            commits.update((commit.id, None) for commit in found[:_MAX_SAME_TITLE] if commit.title == title)
        return list(commits)

    def _records(self, commits: Sequence[str]) -> list[CommitNoteRecord]:
        paths = [f"{self._path}/repository/commits/{sha}" for sha in commits]
        found = self._client.lists(
            [self._client.target(f"{path}/discussions", _PAGE) for path in paths], GitLabDiscussion
        )
        records = []
        for sha, path, discussions in zip(commits, paths, found, strict=True):
            notes = [note for discussion in discussions for note in discussion.notes if not note.system]
            lines = self._lines(path) if any(note.type in _ON_LINES and not note.position for note in notes) else {}
            for discussion in discussions:
                records += [
                    self._record(sha, discussion.id, note, lines) for note in discussion.notes if not note.system
                ]
        return records

    def _lines(self, path: str) -> dict[tuple[str, str], CommentedLine]:
        """Return the lines of the comments on a commit that have no position, by time and text."""
        (comments,) = self._client.lists([self._client.target(f"{path}/comments", _PAGE)], GitLabCommitComment)
        return {
            (comment.created_at, comment.note): CommentedLine(
                comment.path,
                comment.path,
                comment.line if comment.line_type == "old" else None,
                comment.line if comment.line_type != "old" else None,
            )
            for comment in comments
            if comment.path and comment.line
        }

    def _record(
        self, sha: str, discussion: str, note: GitLabNote, lines: dict[tuple[str, str], CommentedLine]
    ) -> CommitNoteRecord:
        line = lines.get((note.created_at, note.body), CommentedLine())
        position = position_record(note.position) if note.position is not None else None
        if position is not None:
            line = CommentedLine(position.old_path, position.new_path, position.old_line, position.new_line)
        return CommitNoteRecord(
            key=str(note.id),
            sha=sha,
            author=self._users.record(note.author),
            body=note.body,
            created_at=note.created_at,
            updated_at=note.updated_at,
            discussion=discussion,
            **line._asdict(),
        )
