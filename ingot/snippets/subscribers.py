"""What becomes of snippets when users go."""

from sqlalchemy import bindparam, select

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.snippets.service import remove_snippet
from ingot.snippets.tables import Snippet, snippets
from ingot.users.accounts.events import UserDeleting

subscriptions = Subscriptions()
_BY_AUTHOR = select(snippets).where(snippets.c.author_id == bindparam("author"))


@subscriptions.on(UserDeleting)
def remove_snippets(db: Connection, event: UserDeleting) -> None:
    """Snippets go with whoever wrote them, also those in projects: nobody else may have read them."""
    for snippet in db.all(Snippet, _BY_AUTHOR, author=event.user_id):
        remove_snippet(db, event.user_id, snippet)
