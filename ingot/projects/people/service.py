"""Stars, and shares with groups."""

from sqlalchemy import bindparam, delete

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.db.connection import Connection
from ingot.db.times import Date, day_of
from ingot.errors import Conflict, Denied, Invalid, NotFound
from ingot.groups.namespaces.queries import ancestors_of, find_by_id
from ingot.groups.namespaces.tables import Namespace
from ingot.names import NAMESPACES
from ingot.projects.people.queries import share_or_none
from ingot.projects.tables import Project, Share, projects, shares, stars

LEVELS = frozenset({10, 20, 30, 40})
_COUNT_STARS = (
    projects.update()
    .where(projects.c.id == bindparam("counted"))
    .values(star_count=projects.c.star_count + bindparam("change"))
)
_DROP_ENDED = delete(shares).where(shares.c.expires_at <= bindparam("today"))


def star_project(db: Connection, user_id: int, project: Project) -> None:
    """Add a star, and count it."""
    db.insert(stars, user_id=user_id, project_id=project.id, created_at=db.now)
    db.run(_COUNT_STARS, counted=project.id, change=1)


def unstar_project(db: Connection, star_id: int, project: Project) -> bool:
    """Take a star back, and count it; says whether it was still there."""
    return db.delete(stars, star_id) > 0 and db.run(_COUNT_STARS, counted=project.id, change=-1) > 0


def share_project(
    db: Connection,
    actor: Actor,
    here: Access,
    project: Project,
    group: Namespace,
    level: int,
    expires_at: Date | None,
) -> Share:
    """Let the members of a group use a project, at most at this level; nobody gives more than they hold."""
    db.must_hold(NAMESPACES)
    if level not in LEVELS:
        raise Invalid(group_access=["is not included in the list"])
    if level > here.level and not actor.admin:
        raise Denied
    if find_by_id(db, project.namespace_id).share_with_group_lock:
        raise Invalid("The project sharing with group is disabled")
    if group.id in ancestors_of(db, project.namespace_id):
        raise Conflict("Project cannot be shared with the group it is in or one of its ancestors.")
    held = share_or_none(db, project, group.id)
    if held is not None and (held.expires_at is None or held.expires_at > day_of(db.now)):
        raise Conflict("Group already shared with this group")
    if held is not None:
        db.delete(shares, held.id)
    db.insert(
        shares,
        project_id=project.id,
        group_id=group.id,
        group_access=level,
        expires_at=expires_at,
        created_at=db.now,
    )
    share = share_or_none(db, project, group.id)
    if share is None:
        raise NotFound("Group Link")
    return share


def unshare_project(db: Connection, share: Share) -> None:
    """End a share."""
    db.delete(shares, share.id)


def drop_ended_shares(db: Connection) -> int:
    """Remove shares whose time is over; they have not counted since."""
    return db.run(_DROP_ENDED, today=day_of(db.now))
