"""Permissions to search."""

from ingot.accounts.instance.all_settings import AllSettings, all_settings
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, Unauthenticated


def require_search_allowed(db: Connection, actor: Actor) -> None:
    """Raise Unauthenticated if the caller is anonymous and the settings reserve searches for users."""
    if actor.known:
        return
    settings = all_settings(db)
    if not settings.anonymous_searches_allowed or settings.global_search_block_anonymous_searches_enabled:
        raise Unauthenticated


def require_global_search(db: Connection, scope: str) -> None:
    """Raise Denied if the settings switch off searches of a scope in the whole instance."""
    if not is_global_search_enabled(all_settings(db), scope):
        raise Denied("Global Search is disabled for this scope")


def is_global_search_enabled(settings: AllSettings, scope: str) -> bool:
    """Return whether a scope can be searched in the whole instance."""
    enabled: bool = getattr(settings, f"global_search_{scope}_enabled", True)
    return enabled
