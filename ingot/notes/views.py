"""How notes are shown."""

from collections.abc import Sequence

from ingot.api.views import View
from ingot.db.connection import Connection
from ingot.db.times import Timestamp
from ingot.git.diff_lines import Side
from ingot.notes.tables import Note
from ingot.users.accounts.queries import users_by_ids
from ingot.users.accounts.views import UserBrief, user_brief


class CommentView(View):
    """A comment on a commit, with the line that it is placed on, if any."""

    note: str
    path: str | None
    line: int | None
    line_type: Side | None
    author: UserBrief
    created_at: Timestamp


def comment_views(db: Connection, comments: Sequence[Note], base: str) -> list[CommentView]:
    """A page of comments, with one statement for all authors."""
    authors = users_by_ids(db, [comment.author_id for comment in comments])
    briefs = {number: user_brief(author, base) for number, author in authors.items()}
    return [
        CommentView(
            note=comment.body,
            path=comment.new_path,
            line=comment.old_line if comment.line_type == "old" else comment.new_line,
            line_type=comment.line_type,
            author=briefs[comment.author_id],
            created_at=comment.created_at,
        )
        for comment in comments
    ]
