"""State changes of stars and of shares with groups."""

from sqlalchemy import bindparam, delete

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date
from ingot.core.errors import Conflict, Denied, Invalid, NotFound
from ingot.core.names import NAMESPACES
from ingot.projects.namespaces.group_rules import require_sharing_allowed, require_unlocked_sharing
from ingot.projects.namespaces.queries import ancestor_ids
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project, Share, projects, shares, stars
from ingot.projects.sharing.queries import share_or_none

SHARE_LEVELS = frozenset({10, 20, 30, 40})
_COUNT_STARS = (
    projects.update()
    .where(projects.c.id == bindparam("counted"))
    .values(star_count=projects.c.star_count + bindparam("change"))
)
_DELETE_EXPIRED = delete(shares).where(shares.c.expires_at <= bindparam("today"))


def star_project(db: Connection, user_id: int, project: Project) -> None:
    """Add a star and update the project's star count."""
    db.insert_row(stars, user_id=user_id, project_id=project.id, created_at=db.now)
    db.run(_COUNT_STARS, counted=project.id, change=1)


def unstar_project(db: Connection, star_id: int, project: Project) -> bool:
    """Delete a star and update the project's star count; return whether the star existed."""
    return db.delete_counted(stars, star_id) > 0 and db.run_counted(_COUNT_STARS, counted=project.id, change=-1) > 0


def share_project(
    db: Connection,
    actor: Actor,
    access: Access,
    project: Project,
    group: Namespace,
    level: int,
    expires_at: Date | None,
) -> Share:
    """Share a project with a group at most at this level; raise Denied if the caller's level is lower."""
    db.must_hold(NAMESPACES)
    if level not in SHARE_LEVELS:
        raise Invalid(group_access=["is not included in the list"])
    if level > access.level and not actor.admin:
        raise Denied
    require_unlocked_sharing(db, project.namespace_id)
    require_sharing_allowed(db, project.namespace_id, group.id)
    if group.id in ancestor_ids(db, project.namespace_id):
        raise Conflict("Project cannot be shared with the group it is in or one of its ancestors.")
    existing = share_or_none(db, project, group.id)
    if existing is not None and (existing.expires_at is None or existing.expires_at > db.today):
        raise Conflict("Group already shared with this group")
    if existing is not None:
        db.delete(shares, existing.id)
    db.insert_row(
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
    """Delete a share."""
    db.delete(shares, share.id)


def delete_expired_shares(db: Connection) -> int:
    """Delete expired shares, which have not counted since their expiry, and return their number."""
    return db.run_counted(_DELETE_EXPIRED, today=db.today)
