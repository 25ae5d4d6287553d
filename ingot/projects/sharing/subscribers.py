"""Subscribers that update stars when users are deleted."""

from sqlalchemy import bindparam, delete, select, update

from ingot.accounts.users.events import UserDeleting
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.projects.tables import projects, stars

subscriptions = Subscriptions()
_STARRED = select(stars.c.project_id).where(stars.c.user_id == bindparam("user"))
_DECREMENT_STAR_COUNT = update(projects).where(projects.c.id.in_(_STARRED)).values(star_count=projects.c.star_count - 1)

_DELETE_STARS = delete(stars).where(stars.c.user_id == bindparam("user"))


@subscriptions.on(UserDeleting)
def delete_stars_of_deleted_user(db: Connection, event: UserDeleting) -> None:
    """Delete the stars of a deleted user and update the star counts."""
    db.run(_DECREMENT_STAR_COUNT, user=event.user_id)
    db.run(_DELETE_STARS, user=event.user_id)
