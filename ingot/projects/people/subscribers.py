"""What stars do when users go."""

from sqlalchemy import bindparam, delete, select, update

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.projects.tables import projects, stars
from ingot.users.accounts.events import UserDeleting

subscriptions = Subscriptions()
_STARRED = select(stars.c.project_id).where(stars.c.user_id == bindparam("user"))
_UNCOUNT = update(projects).where(projects.c.id.in_(_STARRED)).values(star_count=projects.c.star_count - 1)

_DROP = delete(stars).where(stars.c.user_id == bindparam("user"))


@subscriptions.on(UserDeleting)
def take_stars_back(db: Connection, event: UserDeleting) -> None:
    """Stars go with their user, and the counts follow."""
    db.run(_UNCOUNT, user=event.user_id)
    db.run(_DROP, user=event.user_id)
