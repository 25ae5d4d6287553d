"""Subscriber that deletes the snippets of deleted users."""

from sqlalchemy import bindparam, select

from ingot.accounts.users.events import UserDeleting
from ingot.collaboration.snippets.service import remove_snippet
from ingot.collaboration.snippets.tables import Snippet, snippets
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions

subscriptions = Subscriptions()
_BY_AUTHOR = select(snippets).where(snippets.c.author_id == bindparam("author"))


@subscriptions.on(UserDeleting)
def delete_snippets_of_deleted_user(db: Connection, event: UserDeleting) -> None:
    """Delete a deleted user's snippets, also in projects, because they may be private."""
    for snippet in db.all(Snippet, _BY_AUTHOR, author=event.user_id):
        remove_snippet(db, event.user_id, snippet)
