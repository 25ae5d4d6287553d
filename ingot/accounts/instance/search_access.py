"""Permission of anonymous callers to search."""

from ingot.accounts.instance.all_settings import all_settings
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.errors import Unauthenticated


def require_search_allowed(db: Connection, actor: Actor) -> None:
    """Raise Unauthenticated if the caller is anonymous and the settings reserve searches for users."""
    if not actor.known and not all_settings(db).anonymous_searches_allowed:
        raise Unauthenticated
