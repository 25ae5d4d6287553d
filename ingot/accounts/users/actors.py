"""Users as actors of work that is done for them after their request."""

from ingot.accounts.users.queries import users_by_ids
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection


def active_actor(db: Connection, user_id: int) -> Actor | None:
    """Return a user as an actor with their current rights, or None if they are not active."""
    user = users_by_ids(db, [user_id]).get(user_id)
    if user is None or user.state != "active":
        return None
    return Actor(user.id, user.username, user.name, admin=user.admin, external=user.external, bot=user.bot)
