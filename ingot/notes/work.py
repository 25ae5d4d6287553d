"""Commenting on commits: what git has to say first, then one transaction."""

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.git.commits import Commit, decoded
from ingot.git.diff_lines import changes_line
from ingot.git.diffs import diff_between
from ingot.git.kept_commits import keep_commit
from ingot.git.repository import Repository
from ingot.notes.params import PostComment, WriteNote
from ingot.notes.queries import commit_subject
from ingot.notes.service import IN_DISCUSSION, Position, add_note, validate_body, write_note
from ingot.notes.views import CommentView, DiscussionView, comment_views, discussion_view
from ingot.repository.commits.queries import find_commit
from ingot.repository.place import Place
from ingot.subjects import Reached


def post_comment(
    database: Database, actor: Actor, place: Place, name: str, wanted: PostComment, base: str
) -> CommentView:
    """Comment on the commit that an id, a branch or a tag leads to."""
    validate_body(wanted.note)
    commit = find_commit(place.repository, name)
    # A branch may be elsewhere in a moment, and its lines with it: only who names the commit names a line.
    named = commit.oid.startswith(name.lower())
    position = _position(place.repository, commit, wanted) if named else None
    # Kept even where nothing is then written, which harms nobody; the other way round it could be lost.
    keep_commit(place.repository, commit.oid)
    subject = commit_subject(place.project.id, commit.oid)

    def write(db: Connection) -> CommentView:
        return comment_views(db, [add_note(db, actor, subject, wanted.note, position)], base)[0]

    return database.write(write)


def begin_discussion(
    database: Database, actor: Actor, place: Place, reached: Reached, wanted: WriteNote, base: str
) -> DiscussionView:
    """Begin a discussion about a commit."""
    validate_body(wanted.body)
    if reached.subject.commit_oid is not None:
        keep_commit(place.repository, reached.subject.commit_oid)

    def write(db: Connection) -> DiscussionView:
        note = write_note(db, actor, reached, wanted, IN_DISCUSSION)
        return discussion_view(db, reached.subject, [note], base)

    return database.write(write)


def _position(repository: Repository, commit: Commit, wanted: PostComment) -> Position | None:
    """The line that is meant, where the commit adds or removes it and its diff shows so."""
    if not wanted.path or wanted.line is None:
        return None
    parent = commit.parents[0] if commit.parents else None
    for change in diff_between(repository, parent, commit.oid).changes:
        old_path, new_path = decoded(change.old_path), decoded(change.new_path)
        meant = wanted.path == (old_path if wanted.line_type == "old" else new_path) or wanted.path == new_path
        if meant and changes_line(change.diff, wanted.line, wanted.line_type):
            side = {"old_line": wanted.line} if wanted.line_type == "old" else {"new_line": wanted.line}
            return Position(wanted.line_type, old_path, new_path, **side)
    return None
