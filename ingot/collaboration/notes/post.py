"""Comments on commits: git reads first, then one transaction."""

from ingot.collaboration.notes.params import PostComment, WriteNote
from ingot.collaboration.notes.queries import commit_subject
from ingot.collaboration.notes.service import IN_DISCUSSION, CommitNotePosition, add_note, validate_body, write_note
from ingot.collaboration.notes.views import CommentView, DiscussionView, comment_views, discussion_view
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.access.actor import Actor
from ingot.core.api.params import MissingParameter
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.git.core.repository import Repository
from ingot.git.diffs.diffs import diff_between
from ingot.git.diffs.line_positions import changes_line
from ingot.git.history.commits import Commit, decode_text
from ingot.git.writing.pinned_commits import pin_commits
from ingot.repositories.commits.queries import find_commit
from ingot.repositories.context import RepositoryContext


def post_comment(
    database: Database, actor: Actor, context: RepositoryContext, name: str, params: PostComment, base: str
) -> CommentView:
    """Comment on the commit that an id, a branch or a tag refers to."""
    if params.path and params.line is None:
        raise MissingParameter("line")
    validate_body(params.note)
    commit = find_commit(context.repository, name)
    # A branch can move at any moment, so a line is only meaningful when the commit is given by its id.
    by_id = commit.oid.startswith(name.lower())
    position = _position(context.repository, commit, params) if by_id else None
    # Pinned before the comment is written, because otherwise garbage collection could remove the commit. A pin without
    # a comment does no harm.
    pin_commits(context.repository, [commit.oid])
    subject = commit_subject(context.project.id, commit.oid)

    def write(db: Connection) -> CommentView:
        return comment_views(db, [add_note(db, actor, subject, params.note, position)], base)[0]

    return database.write(write)


def create_discussion(
    database: Database,
    actor: Actor,
    context: RepositoryContext,
    subject_access: SubjectAccess,
    params: WriteNote,
    base: str,
) -> DiscussionView:
    """Start a discussion about a commit."""
    validate_body(params.body)
    if subject_access.subject.commit_oid is not None:
        pin_commits(context.repository, [subject_access.subject.commit_oid])

    def write(db: Connection) -> DiscussionView:
        note = write_note(db, actor, subject_access, params, IN_DISCUSSION)
        return discussion_view(db, subject_access.subject, [note], base)

    return database.write(write)


def _position(repository: Repository, commit: Commit, params: PostComment) -> CommitNotePosition | None:
    """Return the position of the line in the parameters if the commit's diff adds or removes it, else None."""
    if not params.path or params.line is None:
        return None
    parent = commit.parents[0] if commit.parents else None
    for change in diff_between(repository, parent, commit.oid).changes:
        old_path, new_path = decode_text(change.old_path), decode_text(change.new_path)
        path_matches = params.path == (old_path if params.line_type == "old" else new_path) or params.path == new_path
        if path_matches and changes_line(change.diff, params.line, params.line_type):
            side = {"old_line": params.line} if params.line_type == "old" else {"new_line": params.line}
            return CommitNotePosition(params.line_type, old_path, new_path, **side)
    return None
